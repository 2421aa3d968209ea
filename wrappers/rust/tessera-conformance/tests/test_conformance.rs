// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! One test for each call of tests/conformance, written by the build.

#[allow(clippy::all)]
#[rustfmt::skip]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/conformance.rs"));
}
