//! Generates the SBE codec from the schema, and for tests the same from a schema one version newer.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use goblin_sbe_generator::{Schema, codec, samples};

fn main() -> Result<(), Box<dyn Error>> {
    let out = env::var("OUT_DIR")?;
    for (xml, name) in [
        ("schema/goblin.xml", "messages"),
        ("tests/sbe/next.xml", "next"),
    ] {
        println!("cargo::rerun-if-changed={xml}");
        let schema = Schema::parse(&fs::read_to_string(xml)?);
        let schema = schema.map_err(|error| format!("{xml}: {error}"))?;
        let out = Path::new(&out);
        fs::write(out.join(format!("{name}.rs")), codec(&schema))?;
        fs::write(out.join(format!("{name}_samples.rs")), samples(&schema))?;
    }
    Ok(())
}
