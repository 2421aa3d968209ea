// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Pooling along one, two and three axes of (N, C, spatial...) or (C, spatial...).

use super::Module;
use crate::{Result, Tensor};

/// A layer of windows of one size; its options are fields.
macro_rules! windows {
    (
        $(#[$doc:meta])* $name:ident, $axes:literal axes $(, $norm:ident)?;
        $($(#[$own_doc:meta])* $own:ident: $kind:ty = $default:expr),*
    ) => {
        $(#[$doc])*
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
            pub fn new($($norm: f64,)? kernel_size: [i64; $axes]) -> Self {
                Self { $($norm,)? kernel_size, stride: kernel_size, ceil_mode: false, $($own: $default,)* }
            }
        }
    };
}

windows! {
    /// The maximum of each window along one axis.
    MaxPool1d, 1 axes;
    /// Elements of -inf on both sides.
    padding: [i64; 1] = [0; 1],
    /// Distance of the window's elements.
    dilation: [i64; 1] = [1; 1]
}

impl MaxPool1d {
    /// The maxima, and their positions in the flattened spatial axes.
    pub fn with_positions(&self, input: &Tensor) -> Result<(Tensor, Tensor)> {
        input.max_pool1d_with_positions_with(&self.kernel_size, |o| {
            let o = o.stride(&self.stride).padding(&self.padding);
            o.dilation(&self.dilation).ceil_mode(self.ceil_mode)
        })
    }
}

impl Module for MaxPool1d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.max_pool1d_with(&self.kernel_size, |o| {
            let o = o.stride(&self.stride).padding(&self.padding);
            o.dilation(&self.dilation).ceil_mode(self.ceil_mode)
        })
    }
}

windows! {
    /// The mean of each window along one axis.
    AvgPool1d, 1 axes;
    /// Zeros on both sides.
    padding: [i64; 1] = [0; 1],
    /// Whether padding counts.
    count_include_pad: bool = true,
    /// Replaces the number of elements in a window.
    divisor_override: Option<i64> = None
}

impl Module for AvgPool1d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.avg_pool1d_with(&self.kernel_size, |o| {
            let o = o.stride(&self.stride).padding(&self.padding).ceil_mode(self.ceil_mode);
            let o = o.count_include_pad(self.count_include_pad);
            self.divisor_override.iter().fold(o, |o, divisor| o.divisor_override(*divisor))
        })
    }
}

windows! {
    /// `(sum of x^p)^(1/p)` for each window along one axis.
    LpPool1d, 1 axes, norm_type;
}

impl Module for LpPool1d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.lp_pool1d_with(self.norm_type, &self.kernel_size, |o| {
            o.stride(&self.stride).ceil_mode(self.ceil_mode)
        })
    }
}

/// The means of so many windows along one axis, which cover the input evenly.
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveAvgPool1d(pub [i64; 1]);

impl Module for AdaptiveAvgPool1d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.adaptive_avg_pool1d(&self.0)
    }
}

/// The maxima of so many windows along one axis, which cover the input evenly.
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveMaxPool1d(pub [i64; 1]);

impl AdaptiveMaxPool1d {
    /// The maxima, and their positions in the flattened spatial axes.
    pub fn with_positions(&self, input: &Tensor) -> Result<(Tensor, Tensor)> {
        input.adaptive_max_pool1d_with_positions(&self.0)
    }
}

impl Module for AdaptiveMaxPool1d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.adaptive_max_pool1d(&self.0)
    }
}

/// Zeros with the maxima at the positions that [`MaxPool1d::with_positions`] gave.
#[derive(Clone, Copy, Debug)]
pub struct MaxUnpool1d {
    /// Sizes of the windows.
    pub kernel_size: [i64; 1],
    /// Steps of the windows.
    pub stride: [i64; 1],
    /// Elements around the input of the pooling.
    pub padding: [i64; 1],
}

impl MaxUnpool1d {
    /// Windows of this size side by side.
    pub fn new(kernel_size: [i64; 1]) -> Self {
        Self { kernel_size, stride: kernel_size, padding: [0; 1] }
    }

    /// The smallest result, or the one of these spatial sizes.
    pub fn unpool(
        &self,
        input: &Tensor,
        positions: &Tensor,
        output_size: Option<&[i64]>,
    ) -> Result<Tensor> {
        input.max_unpool1d_with(positions, &self.kernel_size, |o| {
            let o = o.stride(&self.stride).padding(&self.padding);
            output_size.iter().fold(o, |o, sizes| o.output_size(sizes))
        })
    }
}

windows! {
    /// The maximum of each window along two axes.
    MaxPool2d, 2 axes;
    /// Elements of -inf on both sides.
    padding: [i64; 2] = [0; 2],
    /// Distance of the window's elements.
    dilation: [i64; 2] = [1; 2]
}

impl MaxPool2d {
    /// The maxima, and their positions in the flattened spatial axes.
    pub fn with_positions(&self, input: &Tensor) -> Result<(Tensor, Tensor)> {
        input.max_pool2d_with_positions_with(&self.kernel_size, |o| {
            let o = o.stride(&self.stride).padding(&self.padding);
            o.dilation(&self.dilation).ceil_mode(self.ceil_mode)
        })
    }
}

impl Module for MaxPool2d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.max_pool2d_with(&self.kernel_size, |o| {
            let o = o.stride(&self.stride).padding(&self.padding);
            o.dilation(&self.dilation).ceil_mode(self.ceil_mode)
        })
    }
}

windows! {
    /// The mean of each window along two axes.
    AvgPool2d, 2 axes;
    /// Zeros on both sides.
    padding: [i64; 2] = [0; 2],
    /// Whether padding counts.
    count_include_pad: bool = true,
    /// Replaces the number of elements in a window.
    divisor_override: Option<i64> = None
}

impl Module for AvgPool2d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.avg_pool2d_with(&self.kernel_size, |o| {
            let o = o.stride(&self.stride).padding(&self.padding).ceil_mode(self.ceil_mode);
            let o = o.count_include_pad(self.count_include_pad);
            self.divisor_override.iter().fold(o, |o, divisor| o.divisor_override(*divisor))
        })
    }
}

windows! {
    /// `(sum of x^p)^(1/p)` for each window along two axes.
    LpPool2d, 2 axes, norm_type;
}

impl Module for LpPool2d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.lp_pool2d_with(self.norm_type, &self.kernel_size, |o| {
            o.stride(&self.stride).ceil_mode(self.ceil_mode)
        })
    }
}

/// The means of so many windows along two axes, which cover the input evenly.
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveAvgPool2d(pub [i64; 2]);

impl Module for AdaptiveAvgPool2d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.adaptive_avg_pool2d(&self.0)
    }
}

/// The maxima of so many windows along two axes, which cover the input evenly.
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveMaxPool2d(pub [i64; 2]);

impl AdaptiveMaxPool2d {
    /// The maxima, and their positions in the flattened spatial axes.
    pub fn with_positions(&self, input: &Tensor) -> Result<(Tensor, Tensor)> {
        input.adaptive_max_pool2d_with_positions(&self.0)
    }
}

impl Module for AdaptiveMaxPool2d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.adaptive_max_pool2d(&self.0)
    }
}

/// Zeros with the maxima at the positions that [`MaxPool2d::with_positions`] gave.
#[derive(Clone, Copy, Debug)]
pub struct MaxUnpool2d {
    /// Sizes of the windows.
    pub kernel_size: [i64; 2],
    /// Steps of the windows.
    pub stride: [i64; 2],
    /// Elements around the input of the pooling.
    pub padding: [i64; 2],
}

impl MaxUnpool2d {
    /// Windows of this size side by side.
    pub fn new(kernel_size: [i64; 2]) -> Self {
        Self { kernel_size, stride: kernel_size, padding: [0; 2] }
    }

    /// The smallest result, or the one of these spatial sizes.
    pub fn unpool(
        &self,
        input: &Tensor,
        positions: &Tensor,
        output_size: Option<&[i64]>,
    ) -> Result<Tensor> {
        input.max_unpool2d_with(positions, &self.kernel_size, |o| {
            let o = o.stride(&self.stride).padding(&self.padding);
            output_size.iter().fold(o, |o, sizes| o.output_size(sizes))
        })
    }
}

windows! {
    /// The maximum of each window along three axes.
    MaxPool3d, 3 axes;
    /// Elements of -inf on both sides.
    padding: [i64; 3] = [0; 3],
    /// Distance of the window's elements.
    dilation: [i64; 3] = [1; 3]
}

impl MaxPool3d {
    /// The maxima, and their positions in the flattened spatial axes.
    pub fn with_positions(&self, input: &Tensor) -> Result<(Tensor, Tensor)> {
        input.max_pool3d_with_positions_with(&self.kernel_size, |o| {
            let o = o.stride(&self.stride).padding(&self.padding);
            o.dilation(&self.dilation).ceil_mode(self.ceil_mode)
        })
    }
}

impl Module for MaxPool3d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.max_pool3d_with(&self.kernel_size, |o| {
            let o = o.stride(&self.stride).padding(&self.padding);
            o.dilation(&self.dilation).ceil_mode(self.ceil_mode)
        })
    }
}

windows! {
    /// The mean of each window along three axes.
    AvgPool3d, 3 axes;
    /// Zeros on both sides.
    padding: [i64; 3] = [0; 3],
    /// Whether padding counts.
    count_include_pad: bool = true,
    /// Replaces the number of elements in a window.
    divisor_override: Option<i64> = None
}

impl Module for AvgPool3d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.avg_pool3d_with(&self.kernel_size, |o| {
            let o = o.stride(&self.stride).padding(&self.padding).ceil_mode(self.ceil_mode);
            let o = o.count_include_pad(self.count_include_pad);
            self.divisor_override.iter().fold(o, |o, divisor| o.divisor_override(*divisor))
        })
    }
}

windows! {
    /// `(sum of x^p)^(1/p)` for each window along three axes.
    LpPool3d, 3 axes, norm_type;
}

impl Module for LpPool3d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.lp_pool3d_with(self.norm_type, &self.kernel_size, |o| {
            o.stride(&self.stride).ceil_mode(self.ceil_mode)
        })
    }
}

/// The means of so many windows along three axes, which cover the input evenly.
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveAvgPool3d(pub [i64; 3]);

impl Module for AdaptiveAvgPool3d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.adaptive_avg_pool3d(&self.0)
    }
}

/// The maxima of so many windows along three axes, which cover the input evenly.
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveMaxPool3d(pub [i64; 3]);

impl AdaptiveMaxPool3d {
    /// The maxima, and their positions in the flattened spatial axes.
    pub fn with_positions(&self, input: &Tensor) -> Result<(Tensor, Tensor)> {
        input.adaptive_max_pool3d_with_positions(&self.0)
    }
}

impl Module for AdaptiveMaxPool3d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.adaptive_max_pool3d(&self.0)
    }
}

/// Zeros with the maxima at the positions that [`MaxPool3d::with_positions`] gave.
#[derive(Clone, Copy, Debug)]
pub struct MaxUnpool3d {
    /// Sizes of the windows.
    pub kernel_size: [i64; 3],
    /// Steps of the windows.
    pub stride: [i64; 3],
    /// Elements around the input of the pooling.
    pub padding: [i64; 3],
}

impl MaxUnpool3d {
    /// Windows of this size side by side.
    pub fn new(kernel_size: [i64; 3]) -> Self {
        Self { kernel_size, stride: kernel_size, padding: [0; 3] }
    }

    /// The smallest result, or the one of these spatial sizes.
    pub fn unpool(
        &self,
        input: &Tensor,
        positions: &Tensor,
        output_size: Option<&[i64]>,
    ) -> Result<Tensor> {
        input.max_unpool3d_with(positions, &self.kernel_size, |o| {
            let o = o.stride(&self.stride).padding(&self.padding);
            output_size.iter().fold(o, |o, sizes| o.output_size(sizes))
        })
    }
}
