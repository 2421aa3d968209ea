// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]
#![deny(unsafe_code)] // but for the modules below that say otherwise
#![warn(missing_debug_implementations)]

#[allow(unsafe_code)]
mod ambient;
#[allow(unsafe_code)]
pub mod amp;
#[allow(unsafe_code)]
mod arguments;
#[allow(unsafe_code)]
pub mod autograd;
pub mod data;
#[allow(unsafe_code)]
pub mod data_parallel;
#[allow(unsafe_code)]
pub mod determinism;
#[allow(unsafe_code)]
mod device;
#[allow(unsafe_code)]
pub mod distributed;
pub mod distributions;
#[allow(unsafe_code)]
pub mod dlpack;
mod element;
#[allow(unsafe_code)]
mod error;
mod format;
mod forms;
#[allow(unsafe_code)]
#[rustfmt::skip]
mod generated;
mod handle;
#[allow(unsafe_code)]
mod host;
#[allow(unsafe_code)]
mod host_stack;
mod index;
#[allow(unsafe_code)]
pub mod io;
mod json;
#[allow(unsafe_code)]
mod log;
#[allow(unsafe_code)]
pub mod memory;
pub mod nn;
mod operators;
#[allow(unsafe_code)]
pub mod optim;
#[allow(unsafe_code)]
pub mod profiler;
#[allow(unsafe_code)]
pub mod program;
#[allow(unsafe_code)]
mod promotion;
#[allow(unsafe_code)]
mod random;
#[allow(unsafe_code)]
pub mod share;
#[allow(unsafe_code)]
mod stream;
#[allow(unsafe_code)]
mod tensor;
#[allow(unsafe_code)]
pub mod tracing;

pub use ambient::{scope, Ambient, AmbientGuard};
pub use arguments::{Operand, Scalar};
pub use autograd::{enable_grad, inference_mode, no_grad};
pub use device::{
    defer_drops, float32_matmul_precision, load_plugin, num_threads, poll,
    set_float32_matmul_precision, set_num_threads, version, Device, DeviceGuard, Precision,
};
pub use element::Element;
pub use error::{Error, Result};
pub use generated::{ops, DType, DeviceType, ErrorKind};
pub use index::{Ellipsis, Index, Item, NewAxis, Slice};
pub use log::{set_log, LogLevel};
pub use random::{manual_seed, Generator, GeneratorGuard};
pub use stream::{Event, Stream, StreamGuard};
pub use tensor::Tensor;
pub use tessera_sys as sys;

// The crates of element types, so that a program names the version that this crate was built with.
#[cfg(feature = "half")]
pub use half;
#[cfg(feature = "num-complex")]
pub use num_complex;
