// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The run path of this program, as docs/guide/rust.md has it.

fn main() {
    let folder =
        std::env::var("DEP_TESSERA_LIBDIR").expect("tessera-sys tells where the library is");
    println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{folder}");
}
