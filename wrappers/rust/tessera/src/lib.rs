// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_debug_implementations)]

mod arguments;
pub mod autograd;
pub mod data;
mod device;
pub mod dlpack;
mod element;
mod error;
mod format;
#[rustfmt::skip]
mod generated;
mod index;
pub mod io;
pub mod memory;
pub mod nn;
mod operators;
pub mod optim;
mod random;
mod tensor;

pub use arguments::{Operand, Scalar};
pub use autograd::{enable_grad, inference_mode, no_grad};
pub use device::{
    defer_drops, load_plugin, num_threads, poll, scope, set_log, set_num_threads, version, Ambient,
    AmbientGuard, Device, LogLevel,
};
pub use element::Element;
pub use error::{Error, Result};
pub use generated::*;
pub use index::{Ellipsis, Index, Item, NewAxis, Slice};
pub use random::{manual_seed, Generator};
pub use tensor::Tensor;
pub use tessera_sys as sys;
