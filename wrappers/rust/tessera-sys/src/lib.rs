// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#![doc = include_str!("../README.md")]
#![allow(non_camel_case_types)]
#![deny(missing_docs)]

#[rustfmt::skip]
mod generated;

pub use generated::*;
