//! Where a run lives: its temporary folder, its key file, and the binaries it starts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Names a folder of binaries to use as they are, instead of building them.
pub(crate) const BINARIES: &str = "GOBLIN_BINARIES";

/// How the pair is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Quick to build; what tests use.
    Debug,
    /// What is measured and shown.
    Release,
}

/// A temporary folder with a fresh key file, removed when dropped, and the binaries to start there.
#[derive(Debug)]
pub struct Place {
    folder: PathBuf,
    binaries: PathBuf,
}

impl Place {
    /// A fresh place for the debug build of the pair, which is brought up to date first, once for
    /// each test program.
    pub fn new() -> Place {
        static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        let built = BUILT.get_or_init(|| match std::env::var_os(BINARIES) {
            Some(folder) => Ok(folder.into()),
            None => build(Profile::Debug),
        });
        match built {
            Ok(binaries) => Place::with_binaries(binaries),
            Err(problem) => panic!("building the pair: {problem}"),
        }
    }

    /// A fresh place for the binaries in `binaries`.
    pub fn with_binaries(binaries: &Path) -> Place {
        static PLACES: AtomicU32 = AtomicU32::new(0);
        // Short, because the paths of Unix sockets stand in it and may have 107 bytes.
        let name = format!(
            "goblin-{}-{}",
            std::process::id(),
            PLACES.fetch_add(1, Ordering::Relaxed)
        );
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a temporary folder can be created");
        let place = Place {
            folder,
            binaries: binaries.to_path_buf(),
        };
        place.write("key", &random_bytes());
        place
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The path of a file in the folder, as text for a command line.
    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Writes a file into the folder and returns its path as text.
    pub fn write(&self, name: &str, bytes: &[u8]) -> String {
        fs::write(self.path(name), bytes).expect("the temporary folder can be written");
        self.text(name)
    }

    /// The key file that both sides of the link share.
    pub fn key(&self) -> String {
        self.text("key")
    }

    /// The path of one of the workspace's programs.
    pub fn binary(&self, name: &str) -> PathBuf {
        self.binaries.join(name)
    }
}

impl Default for Place {
    fn default() -> Place {
        Place::new()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Nobody depends on it any more; a folder that cannot be removed harms nobody either.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Builds host and edge into the target folder that the running program came from, and returns the
/// folder with the binaries.
///
/// # Errors
/// What went wrong, in one line; the compiler's own words went to standard error.
pub fn build(profile: Profile) -> Result<PathBuf, String> {
    let target = target_folder()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(repository())
        .args(["build", "--package", "goblin-host"])
        .args(["--package", "goblin-edge", "--bins", "--target-dir"])
        .arg(&target);
    if profile == Profile::Release {
        command.arg("--release");
    }
    let status = command
        .status()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    if !status.success() {
        return Err(format!("cargo build ended with {status}"));
    }
    Ok(target.join(match profile {
        Profile::Debug => "debug",
        Profile::Release => "release",
    }))
}

/// The root of the repository.
pub fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

/// Programs stand in `target/PROFILE`, tests in `target/PROFILE/deps`.
fn target_folder() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("current program: {error}"))?;
    let mut profile = program.parent();
    if let Some(folder) = profile
        && folder.ends_with("deps")
    {
        profile = folder.parent();
    }
    profile
        .and_then(Path::parent)
        .map(Path::to_path_buf)
        .ok_or_else(|| format!("{} stands in no target folder", program.display()))
}

fn random_bytes() -> [u8; 64] {
    use std::io::Read;
    let mut bytes = [0; 64];
    fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .expect("the kernel gives random bytes");
    bytes
}
