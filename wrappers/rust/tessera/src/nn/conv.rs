// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Convolutions of images.

use super::module::described;
use super::{init, Module, Visitor};
use crate::{Error, ErrorKind, Result, Tensor};

fn check_groups(layer: &str, inputs: i64, outputs: i64, groups: i64) -> Result<()> {
    if groups > 0 && inputs % groups == 0 && outputs % groups == 0 {
        return Ok(());
    }
    let text = format!(
        "{layer}: expected groups that divide {inputs} and {outputs} channels, got {groups}"
    );
    Err(Error::new(ErrorKind::Value, text))
}

fn check_same(layer: &str, stride: [i64; 2], padding: [i64; 2]) -> Result<()> {
    if stride == [1; 2] && padding == [0; 2] {
        return Ok(());
    }
    let text = format!(
        "{layer}: expected stride 1 and no padding with `same`, got stride {stride:?} and padding {padding:?}"
    );
    Err(Error::new(ErrorKind::Value, text))
}

/// A layer and its options: the first two sizes of its weight, and the layer's own options, which
/// default to zeros.
macro_rules! convolution {
    (
        $(#[$doc:meta])* $name:ident, $config:ident, $op:ident,
        $weight:literal = |$inputs:ident, $outputs:ident, $groups:ident| $sizes:expr;
        $($(#[$own_doc:meta])* $own:ident),*
        $(; $(#[$flag_doc:meta])* $flag:ident)?
    ) => {
        #[doc = concat!("Options of [`", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug)]
        pub struct $config {
            stride: [i64; 2],
            $($own: [i64; 2],)*
            dilation: [i64; 2],
            groups: i64,
            bias: bool,
            $($flag: bool,)?
        }

        impl Default for $config {
            fn default() -> Self {
                Self {
                    stride: [1; 2], $($own: [0; 2],)* dilation: [1; 2], groups: 1, bias: true,
                    $($flag: false,)?
                }
            }
        }

        impl $config {
            setters! {
                /// Steps of the kernel; default 1.
                stride: [i64; 2];
                $($(#[$own_doc])* $own: [i64; 2];)*
                /// Distance of the kernel's elements; default 1.
                dilation: [i64; 2];
                /// Number of groups of channels; default 1.
                groups: i64;
                /// Whether there is a bias; default yes.
                bias: bool;
                $($(#[$flag_doc])* $flag: bool;)?
            }
        }

        $(#[$doc])*
        ///
        /// ```
        /// # fn main() -> tessera::Result<()> {
        #[doc = concat!("use tessera::nn::{", stringify!($name), ", Module};")]
        /// use tessera::Tensor;
        #[doc = concat!("let layer = ", stringify!($name), "::with(3, 8, [3, 3], |c| c.padding([1, 1]))?;")]
        /// assert_eq!(layer.forward(&Tensor::ones(&[1, 3, 6, 6])?)?.shape(), [1, 8, 6, 6]);
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
            pub fn new(inputs: i64, outputs: i64, kernel: [i64; 2]) -> Result<Self> {
                Self::with(inputs, outputs, kernel, |c| c)
            }

            /// With options.
            pub fn with(
                $inputs: i64,
                $outputs: i64,
                kernel: [i64; 2],
                config: impl FnOnce($config) -> $config,
            ) -> Result<Self> {
                let config = config($config::default());
                let $groups = config.groups;
                check_groups(stringify!($name), $inputs, $outputs, $groups)?;
                $(if config.$flag {
                    check_same(stringify!($name), config.stride, config.padding)?;
                })?
                let [first, second]: [i64; 2] = $sizes;
                let shape = [first, second, kernel[0], kernel[1]];
                let (weight, bias) = init::layer(&shape, $outputs, config.bias)?;
                Ok(Self { weight, bias, config })
            }
        }

        described! { $name(config) }

        impl Module for $name {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                let c = &self.config;
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
    /// Cross-correlation of images (N, C, H, W) with a weight.
    Conv2d, Conv2dConfig, conv2d_with,
    "(outputs, inputs / groups, height, width)" =
        |inputs, outputs, groups| [outputs, inputs / groups];
    /// Zeros around the image; default none.
    padding;
    /// Whether to pad so that the result has the image's size, with stride 1; default no.
    same
}

convolution! {
    /// The gradient of a convolution with respect to its input, as a layer.
    ConvTranspose2d, ConvTranspose2dConfig, conv_transpose2d_with,
    "(inputs, outputs / groups, height, width)" =
        |inputs, outputs, groups| [inputs, outputs / groups];
    /// Rows and columns cut off around the result; default none.
    padding,
    /// Rows and columns added at the end of the result; default none.
    output_padding
}
