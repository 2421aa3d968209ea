// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Neural networks: layers that know their parameters by name.
//!
//! Losses and activations are methods of [`Tensor`](crate::Tensor), such as
//! [`cross_entropy`](crate::Tensor::cross_entropy) and [`relu`](crate::Tensor::relu).
//!
//! ```
//! # fn main() -> tessera::Result<()> {
//! use tessera::nn::{Linear, Module, Relu, Sequential};
//! use tessera::Tensor;
//! let model = Sequential::new().with(Linear::new(3, 16)?).with(Relu).with(Linear::new(16, 1)?);
//! let y = model.forward(&Tensor::ones(&[8, 3])?)?;
//! assert_eq!(y.shape(), [8, 1]);
//! let names: Vec<_> = model.named_parameters().into_iter().map(|(name, _)| name).collect();
//! assert_eq!(names, ["0.weight", "0.bias", "2.weight", "2.bias"]);
//! # Ok(())
//! # }
//! ```

/// Setters of options, for structs whose fields they are.
macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $kind:ty;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: $kind) -> Self {
            self.$field = $field;
            self
        }
    )*};
}

mod activations;
mod conv;
#[allow(unsafe_code)]
mod convert;
pub mod init;
mod layers;
mod module;
mod norm;

pub use activations::{
    AdaptiveAvgPool2d, AvgPool2d, Celu, Dropout, Elu, Flatten, Func, Gelu, Glu, Hardshrink,
    Hardsigmoid, Hardswish, Hardtanh, Identity, LeakyRelu, LogSigmoid, LogSoftmax, MaxPool2d, Mish,
    Relu, Relu6, Selu, Sigmoid, Silu, Softmax, Softmin, Softplus, Softshrink, Softsign, Tanh,
    Tanhshrink,
};
pub use conv::{Conv2d, Conv2dConfig, ConvTranspose2d, ConvTranspose2dConfig};
pub use convert::convert;
pub use layers::{Embedding, Linear, Sequential};
pub use module::{Module, Training, Visitor};
pub use norm::{BatchNorm2d, BatchNorm2dConfig, LayerNorm};
