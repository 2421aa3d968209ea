// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Runs the repository's generator, which writes the calls as Rust.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    let capi = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../capi");
    for part in ["schema", "generator", "generate.py"] {
        println!("cargo:rerun-if-changed={}", capi.join(part).display());
    }
    println!("cargo:rerun-if-env-changed=TSR_SYSTEM_PYTHON");
    // The system's interpreter has PyYAML.
    let python = env::var("TSR_SYSTEM_PYTHON").unwrap_or_else(|_| "/usr/bin/python3".into());
    let folder = env::var("OUT_DIR").expect("cargo names OUT_DIR");
    let status = Command::new(&python)
        .arg(capi.join("generate.py"))
        .args(["--tests", "rust", &folder])
        .status()
        .unwrap_or_else(|error| panic!("{python} does not run: {error}"));
    assert!(status.success(), "{python} capi/generate.py --tests rust: {status}");
}
