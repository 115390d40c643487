//! The transport on the emulation: against the one test body of all transports, and at its limits.

mod limits;
mod world;

use std::process::Command;

use goblin_transport::conformance_tests;
use goblin_xlio::XlioOptions;

use world::Emulated;

conformance_tests!(emulated, [Emulated::new(XlioOptions::default())]);
conformance_tests!(
    emulated_with_little_memory,
    [Emulated::new(XlioOptions {
        outstanding_bytes_max: 1,
        send_memory_bytes: 3 * 64 * 1024,
        ..XlioOptions::default()
    })]
);

conformance_tests!(
    emulated_version_six,
    [Emulated::on("[::1]", XlioOptions::default())]
);

/// Marks the children of the test below, which must not start any themselves. The library reads its
/// settings once, so each seed is a process.
const CHILD: &str = "GOBLIN_XLIO_TEST_CHILD";
const SEEDS: u32 = 3;

#[test]
fn everything_holds_in_every_strict_mode() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    for seed in 1..=SEEDS {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["emulated::", "--test-threads=2"])
            .env(CHILD, "1");
        command
            .env("XLIO_EMU_STRICT", "1")
            .env("XLIO_EMU_RX_MAX", "4000");
        let output = command
            .env("XLIO_EMU_SEED", seed.to_string())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "seed {seed}: {said}{complained}");
        assert!(said.contains(" 11 passed"), "seed {seed}: {said}");
    }
}
