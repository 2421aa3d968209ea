// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Finds libtessera: an environment variable, else pkg-config. Downloads nothing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{exit, Command};

/// The oldest library that has every function of the bindings: the crate's version follows it.
const MINIMUM: &str =
    concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"), ".0");
/// The name of its newest version node; every later library has this node, too.
const NEWEST_NODE: &str =
    concat!("TSR_", env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"), "\0");
const SONAME: &str = "libtessera.so.0";

fn main() {
    for name in ["TESSERA_LIB_DIR", "TESSERA_BUILD_DIR", "PKG_CONFIG", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_DOC_ONLY").is_some() || env::var_os("DOCS_RS").is_some() {
        return;
    }
    let folder = match find() {
        Ok(folder) => folder,
        Err(problem) => {
            eprintln!("\n{problem}\n");
            exit(1);
        }
    };
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=dylib=tessera");
    println!("cargo:libdir={}", folder.display());
    link_into_target(&folder);
}

fn find() -> Result<PathBuf, String> {
    for name in ["TESSERA_LIB_DIR", "TESSERA_BUILD_DIR"] {
        if let Some(value) = env::var_os(name).filter(|value| !value.is_empty()) {
            return checked(Path::new(&value), &format!("{name}={}", value.to_string_lossy()));
        }
    }
    checked(&ask_pkg_config()?, "pkg-config")
}

fn ask_pkg_config() -> Result<PathBuf, String> {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let run = |argument: &str| Command::new(&program).args([argument, "tessera"]).output();
    let version = run("--modversion").map_err(|error| {
        missing(&format!("neither variable is set and `{program}` does not run: {error}"))
    })?;
    if !version.status.success() {
        let text = String::from_utf8_lossy(&version.stderr);
        return Err(missing(&format!("`{program} tessera` finds nothing: {}", text.trim())));
    }
    let found = String::from_utf8_lossy(&version.stdout).trim().to_string();
    if numbers(&found) < numbers(MINIMUM) {
        return Err(too_old(&format!("pkg-config finds version {found}")));
    }
    let folder = run("--variable=libdir").map_err(|error| missing(&error.to_string()))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&folder.stdout).trim()))
}

/// The folder itself, after a check that it holds a library that is new enough.
fn checked(folder: &Path, source: &str) -> Result<PathBuf, String> {
    let library = folder.join("libtessera.so");
    println!("cargo:rerun-if-changed={}", library.display());
    let bytes = fs::read(&library)
        .map_err(|error| missing(&format!("{source}: {}: {error}", library.display())))?;
    if !contains(&bytes, SONAME.as_bytes()) {
        return Err(too_old(&format!("{source}: {} is not {SONAME}", library.display())));
    }
    if !contains(&bytes, NEWEST_NODE.as_bytes()) {
        return Err(too_old(&format!("{source}: {} lacks its functions", library.display())));
    }
    folder.canonicalize().map_err(|error| missing(&format!("{source}: {error}")))
}

/// Cargo adds folders below its target folder to the library path of the programs that it runs,
/// also for crates that only depend on this one. A link in there lets them all run without a run
/// path.
fn link_into_target(folder: &Path) {
    let Some(out) = env::var_os("OUT_DIR").map(PathBuf::from) else { return };
    let link = out.join(SONAME);
    let _ = fs::remove_file(&link);
    #[cfg(unix)]
    if std::os::unix::fs::symlink(folder.join(SONAME), &link).is_ok() {
        println!("cargo:rustc-link-search=native={}", out.display());
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

fn missing(why: &str) -> String {
    format!(
        "tessera-sys: libtessera was not found.\n  {why}\n\
         Install it, so that `pkg-config --modversion tessera` answers, or set TESSERA_LIB_DIR to the\n\
         folder of libtessera.so, or TESSERA_BUILD_DIR to a build tree of it."
    )
}

fn too_old(why: &str) -> String {
    format!("tessera-sys: libtessera is too old for this crate, which needs {MINIMUM}.\n  {why}")
}
