// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Convolutions along one, two and three axes.

use super::module::described;
use super::{init, Module, PerAxis, Visitor};
use crate::{Error, ErrorKind, Result, Tensor};

fn check_groups(layer: &str, inputs: i64, outputs: i64, groups: i64) -> Result<()> {
    if groups > 0 && inputs % groups == 0 && outputs % groups == 0 {
        return Ok(());
    }
    let text = format!(
        "{layer}: expected groups that divide {inputs} and {outputs} channels, got {groups}"
    );
    Err(Error::refused(ErrorKind::Value, text))
}

fn check_same(layer: &str, stride: &[i64], padding: &[i64]) -> Result<()> {
    if stride.iter().all(|n| *n == 1) && padding.iter().all(|n| *n == 0) {
        return Ok(());
    }
    let text = format!(
        "{layer}: expected stride 1 and no padding with `same`, got stride {stride:?} and padding {padding:?}"
    );
    Err(Error::refused(ErrorKind::Value, text))
}

/// What stands in the padding of a convolution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaddingMode {
    /// Zeros.
    #[default]
    Zeros,
    /// The input mirrored at its edge, without the edge.
    Reflect,
    /// The edge.
    Replicate,
    /// The input's other end.
    Circular,
}

impl PaddingMode {
    /// The mode of the op `pad`, for all but zeros.
    fn of_pad(self) -> Option<&'static str> {
        match self {
            Self::Zeros => None,
            Self::Reflect => Some("reflect"),
            Self::Replicate => Some("replicate"),
            Self::Circular => Some("circular"),
        }
    }
}

/// The elements before and after each axis, the last axis first.
fn around(kernel: &[i64], padding: &[i64], dilation: &[i64], same: bool) -> Vec<i64> {
    let both = |axis: usize| match same {
        true => dilation[axis] * (kernel[axis] - 1),
        false => 2 * padding[axis],
    };
    (0..kernel.len()).rev().flat_map(|axis| [both(axis) / 2, both(axis) - both(axis) / 2]).collect()
}

/// A layer and its options: the first two sizes of its weight, and the layer's own options, which
/// default to zeros.
macro_rules! convolution {
    (
        $(#[$doc:meta])* $name:ident, $config:ident, $op:ident, $axes:literal axes,
        $kernel:literal, $padding:literal, $image:literal, $result:literal;
        $weight:literal = |$inputs:ident, $outputs:ident, $groups:ident| $sizes:expr;
        $($(#[$own_doc:meta])* $own:ident),*
        $(; $(#[$flag_doc:meta])* $flag:ident)?
    ) => {
        #[doc = concat!("Options of [`", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug)]
        pub struct $config {
            stride: [i64; $axes],
            $($own: [i64; $axes],)*
            dilation: [i64; $axes],
            groups: i64,
            bias: bool,
            $($flag: bool, padding_mode: PaddingMode,)?
        }

        impl Default for $config {
            fn default() -> Self {
                Self {
                    stride: [1; $axes], $($own: [0; $axes],)* dilation: [1; $axes], groups: 1, bias: true,
                    $($flag: false, padding_mode: PaddingMode::Zeros,)?
                }
            }
        }

        impl $config {
            axis_setters! {
                $axes;
                /// Steps of the kernel; default 1.
                stride;
                $($(#[$own_doc])* $own;)*
                /// Distance of the kernel's elements; default 1.
                dilation;
            }
            setters! {
                /// Number of groups of channels; default 1.
                groups: i64;
                /// Whether there is a bias; default yes.
                bias: bool;
                $($(#[$flag_doc])* $flag: bool;
                /// What stands in the padding; default zeros.
                padding_mode: PaddingMode;)?
            }
        }

        $(#[$doc])*
        ///
        /// ```
        /// # fn main() -> tessera::Result<()> {
        #[doc = concat!("use tessera::nn::{", stringify!($name), ", Module};")]
        /// use tessera::Tensor;
        #[doc = concat!("let layer = ", stringify!($name), "::with(3, 8, ", $kernel, ", |c| c.padding(", $padding, "))?;")]
        #[doc = concat!("assert_eq!(layer.forward(&Tensor::ones(&", $image, ")?)?.shape(), ", $result, ");")]
        /// # Ok(())
        /// # }
        /// ```
        pub struct $name {
            #[doc = $weight]
            pub weight: Tensor,
            /// (outputs)
            pub bias: Option<Tensor>,
            config: $config,
        }

        impl $name {
            /// A layer with stride 1 and no padding.
            pub fn new(inputs: i64, outputs: i64, kernel: impl PerAxis<$axes>) -> Result<Self> {
                Self::with(inputs, outputs, kernel, |c| c)
            }

            /// With options.
            pub fn with(
                $inputs: i64,
                $outputs: i64,
                kernel: impl PerAxis<$axes>,
                config: impl FnOnce($config) -> $config,
            ) -> Result<Self> {
                let config = config($config::default());
                let kernel: [i64; $axes] = kernel.per_axis();
                let $groups = config.groups;
                check_groups(stringify!($name), $inputs, $outputs, $groups)?;
                $(if config.$flag {
                    check_same(stringify!($name), &config.stride, &config.padding)?;
                })?
                let [first, second]: [i64; 2] = $sizes;
                let shape = [&[first, second], kernel.as_slice()].concat();
                let (weight, bias) = init::layer(&shape, $outputs, config.bias)?;
                Ok(Self { weight, bias, config })
            }
        }

        described! { $name(config) }

        impl Module for $name {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                let c = &self.config;
                $(if let Some(mode) = c.padding_mode.of_pad() {
                    let kernel = &self.weight.shape()[2..];
                    let around = around(kernel, &c.padding, &c.dilation, c.$flag);
                    return input.pad_with(&around, |o| o.mode(mode))?.$op(&self.weight, |o| {
                        let o = o.stride(&c.stride).dilation(&c.dilation).groups(c.groups);
                        self.bias.iter().fold(o, |o, bias| o.bias(bias))
                    });
                })?
                input.$op(&self.weight, |o| {
                    let o = o.stride(&c.stride).dilation(&c.dilation).groups(c.groups);
                    let o = self.bias.iter().fold(o, |o, bias| o.bias(bias));
                    $(if c.$flag {
                        return o.$flag(true);
                    })?
                    o$(.$own(&c.$own))*
                })
            }

            fn visit(&self, visitor: &mut Visitor) {
                visitor.weight_and_bias(&self.weight, self.bias.as_ref());
            }
        }
    };
}

convolution! {
    /// Cross-correlation of sequences (N, C, L) with a weight.
    Conv1d, Conv1dConfig, conv1d_with, 1 axes, "[3]", "[1]", "[1, 3, 6]", "[1, 8, 6]";
    "(outputs, inputs / groups, length)" =
        |inputs, outputs, groups| [outputs, inputs / groups];
    /// Zeros around the input; default none.
    padding;
    /// Whether to pad so that the result has the input's size, with stride 1; default no.
    same
}

convolution! {
    /// The gradient of [`Conv1d`] with respect to its input, as a layer.
    ConvTranspose1d, ConvTranspose1dConfig, conv_transpose1d_with, 1 axes, "[3]", "[1]", "[1, 3, 6]", "[1, 8, 6]";
    "(inputs, outputs / groups, length)" =
        |inputs, outputs, groups| [inputs, outputs / groups];
    /// Elements cut off around the result; default none.
    padding,
    /// Elements added at the end of each axis of the result; default none.
    output_padding
}

convolution! {
    /// Cross-correlation of images (N, C, H, W) with a weight.
    Conv2d, Conv2dConfig, conv2d_with, 2 axes, "[3, 3]", "[1, 1]", "[1, 3, 6, 6]", "[1, 8, 6, 6]";
    "(outputs, inputs / groups, height, width)" =
        |inputs, outputs, groups| [outputs, inputs / groups];
    /// Zeros around the input; default none.
    padding;
    /// Whether to pad so that the result has the input's size, with stride 1; default no.
    same
}

convolution! {
    /// The gradient of [`Conv2d`] with respect to its input, as a layer.
    ConvTranspose2d, ConvTranspose2dConfig, conv_transpose2d_with, 2 axes, "[3, 3]", "[1, 1]", "[1, 3, 6, 6]", "[1, 8, 6, 6]";
    "(inputs, outputs / groups, height, width)" =
        |inputs, outputs, groups| [inputs, outputs / groups];
    /// Elements cut off around the result; default none.
    padding,
    /// Elements added at the end of each axis of the result; default none.
    output_padding
}

convolution! {
    /// Cross-correlation of volumes (N, C, D, H, W) with a weight.
    Conv3d, Conv3dConfig, conv3d_with, 3 axes, "[3, 3, 3]", "[1, 1, 1]", "[1, 3, 6, 6, 6]", "[1, 8, 6, 6, 6]";
    "(outputs, inputs / groups, depth, height, width)" =
        |inputs, outputs, groups| [outputs, inputs / groups];
    /// Zeros around the input; default none.
    padding;
    /// Whether to pad so that the result has the input's size, with stride 1; default no.
    same
}

convolution! {
    /// The gradient of [`Conv3d`] with respect to its input, as a layer.
    ConvTranspose3d, ConvTranspose3dConfig, conv_transpose3d_with, 3 axes, "[3, 3, 3]", "[1, 1, 1]", "[1, 3, 6, 6, 6]", "[1, 8, 6, 6, 6]";
    "(inputs, outputs / groups, depth, height, width)" =
        |inputs, outputs, groups| [inputs, outputs / groups];
    /// Elements cut off around the result; default none.
    padding,
    /// Elements added at the end of each axis of the result; default none.
    output_padding
}
