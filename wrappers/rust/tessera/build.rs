// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Gives this crate's own examples a run path to the library. Programs of other crates need their
//! own run path, see the guide.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if let Ok(folder) = env::var("DEP_TESSERA_LIBDIR") {
        println!("cargo:rustc-link-arg-examples=-Wl,-rpath,{folder}");
        println!("cargo:libdir={folder}");
    }
}
