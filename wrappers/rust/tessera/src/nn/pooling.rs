// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Pooling along one, two and three axes of (N, C, spatial...) or (C, spatial...).

use super::{Module, PerAxis};
use crate::{Result, Tensor};

/// A layer of windows of one size; its options are fields.
macro_rules! windows {
    (
        $doc:expr, $name:ident, $axes:literal axes $(, $norm:ident)?;
        $($(#[$own_doc:meta])* $own:ident: $kind:ty = $default:expr),*
    ) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $(
                /// The order of the norm, above 0.
                pub $norm: f64,
            )?
            /// Sizes of the windows.
            pub kernel_size: [i64; $axes],
            /// Steps of the windows.
            pub stride: [i64; $axes],
            /// Whether a last window that reaches beyond the padded input counts.
            pub ceil_mode: bool,
            $($(#[$own_doc])* pub $own: $kind,)*
        }

        impl $name {
            /// Windows of this size side by side.
            pub fn new($($norm: f64,)? kernel_size: impl PerAxis<$axes>) -> Self {
                let kernel_size = kernel_size.per_axis();
                Self { $($norm,)? kernel_size, stride: kernel_size, ceil_mode: false, $($own: $default,)* }
            }
        }
    };
}

/// All layers for a number of axes, with the methods of `Tensor` that they call.
macro_rules! pooling {
    (
        $axes:literal axes, $along:literal;
        $max:ident: $max_op:ident, $max_positions_op:ident;
        $unpool:ident: $unpool_op:ident;
        $avg:ident: $avg_op:ident;
        $lp:ident: $lp_op:ident;
        $adaptive_avg:ident: $adaptive_avg_op:ident;
        $adaptive_max:ident: $adaptive_max_op:ident, $adaptive_positions_op:ident;
    ) => {
        windows! {
            concat!("The maximum of each window along ", $along, "."), $max, $axes axes;
            /// Elements of -inf on both sides.
            padding: [i64; $axes] = [0; $axes],
            /// Distance of the window's elements.
            dilation: [i64; $axes] = [1; $axes]
        }

        impl $max {
            /// The maxima, and their positions in the flattened spatial axes.
            pub fn with_positions(&self, input: &Tensor) -> Result<(Tensor, Tensor)> {
                input.$max_positions_op(&self.kernel_size, |o| {
                    let o = o.stride(&self.stride).padding(&self.padding);
                    o.dilation(&self.dilation).ceil_mode(self.ceil_mode)
                })
            }
        }

        impl Module for $max {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                input.$max_op(&self.kernel_size, |o| {
                    let o = o.stride(&self.stride).padding(&self.padding);
                    o.dilation(&self.dilation).ceil_mode(self.ceil_mode)
                })
            }
        }

        #[doc = concat!("Zeros with the maxima at the positions that [`", stringify!($max), "::with_positions`] gave.")]
        #[derive(Clone, Copy, Debug)]
        pub struct $unpool {
            /// Sizes of the windows.
            pub kernel_size: [i64; $axes],
            /// Steps of the windows.
            pub stride: [i64; $axes],
            /// Elements around the input of the pooling.
            pub padding: [i64; $axes],
        }

        impl $unpool {
            /// Windows of this size side by side.
            pub fn new(kernel_size: impl PerAxis<$axes>) -> Self {
                let kernel_size = kernel_size.per_axis();
                Self { kernel_size, stride: kernel_size, padding: [0; $axes] }
            }

            /// The smallest result, or the one of these spatial sizes.
            pub fn unpool(
                &self,
                input: &Tensor,
                positions: &Tensor,
                output_size: Option<&[i64]>,
            ) -> Result<Tensor> {
                input.$unpool_op(positions, &self.kernel_size, |o| {
                    let o = o.stride(&self.stride).padding(&self.padding);
                    output_size.iter().fold(o, |o, sizes| o.output_size(sizes))
                })
            }
        }

        windows! {
            concat!("The mean of each window along ", $along, "."), $avg, $axes axes;
            /// Zeros on both sides.
            padding: [i64; $axes] = [0; $axes],
            /// Whether padding counts.
            count_include_pad: bool = true,
            /// Replaces the number of elements in a window.
            divisor_override: Option<i64> = None
        }

        impl Module for $avg {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                input.$avg_op(&self.kernel_size, |o| {
                    let o = o.stride(&self.stride).padding(&self.padding).ceil_mode(self.ceil_mode);
                    let o = o.count_include_pad(self.count_include_pad);
                    self.divisor_override.iter().fold(o, |o, divisor| o.divisor_override(*divisor))
                })
            }
        }

        windows! {
            concat!("`(sum of x^p)^(1/p)` for each window along ", $along, "."), $lp, $axes axes, norm_type;
        }

        impl Module for $lp {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                input.$lp_op(self.norm_type, &self.kernel_size, |o| {
                    o.stride(&self.stride).ceil_mode(self.ceil_mode)
                })
            }
        }

        #[doc = concat!("The means of the given number of windows along ", $along, ", which cover the input evenly.")]
        #[derive(Clone, Copy, Debug)]
        pub struct $adaptive_avg(pub [i64; $axes]);

        impl Module for $adaptive_avg {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                input.$adaptive_avg_op(&self.0)
            }
        }

        #[doc = concat!("The maxima of the given number of windows along ", $along, ", which cover the input evenly.")]
        #[derive(Clone, Copy, Debug)]
        pub struct $adaptive_max(pub [i64; $axes]);

        impl $adaptive_max {
            /// The maxima, and their positions in the flattened spatial axes.
            pub fn with_positions(&self, input: &Tensor) -> Result<(Tensor, Tensor)> {
                input.$adaptive_positions_op(&self.0)
            }
        }

        impl Module for $adaptive_max {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                input.$adaptive_max_op(&self.0)
            }
        }
    };
}

pooling! {
    1 axes, "one axis";
    MaxPool1d: max_pool1d_with, max_pool1d_with_positions_with;
    MaxUnpool1d: max_unpool1d_with;
    AvgPool1d: avg_pool1d_with;
    LpPool1d: lp_pool1d_with;
    AdaptiveAvgPool1d: adaptive_avg_pool1d;
    AdaptiveMaxPool1d: adaptive_max_pool1d, adaptive_max_pool1d_with_positions;
}

pooling! {
    2 axes, "two axes";
    MaxPool2d: max_pool2d_with, max_pool2d_with_positions_with;
    MaxUnpool2d: max_unpool2d_with;
    AvgPool2d: avg_pool2d_with;
    LpPool2d: lp_pool2d_with;
    AdaptiveAvgPool2d: adaptive_avg_pool2d;
    AdaptiveMaxPool2d: adaptive_max_pool2d, adaptive_max_pool2d_with_positions;
}

pooling! {
    3 axes, "three axes";
    MaxPool3d: max_pool3d_with, max_pool3d_with_positions_with;
    MaxUnpool3d: max_unpool3d_with;
    AvgPool3d: avg_pool3d_with;
    LpPool3d: lp_pool3d_with;
    AdaptiveAvgPool3d: adaptive_avg_pool3d;
    AdaptiveMaxPool3d: adaptive_max_pool3d, adaptive_max_pool3d_with_positions;
}
