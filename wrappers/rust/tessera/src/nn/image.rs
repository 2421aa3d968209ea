// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Layers of images without parameters: other sizes, shuffles, windows as columns.

use super::{Module, PerAxis};
use crate::{Result, Tensor};

/// An image of another size: a number of times as large by [`Upsample::by`], or as large as
/// [`Upsample::to`] says.
#[derive(Clone, Debug)]
pub struct Upsample {
    size: Option<Vec<i64>>,
    scale_factor: Vec<f64>,
    mode: String,
    align_corners: Option<bool>,
    recompute_scale_factor: bool,
}

impl Upsample {
    /// Sizes of the result: one number, or one for each spatial axis.
    #[must_use]
    pub fn to(size: &[i64]) -> Self {
        Self::new(Some(size.to_vec()), Vec::new())
    }

    /// Sizes of the result over those of the input: one number, or one for each spatial axis.
    #[must_use]
    pub fn by(scale_factor: &[f64]) -> Self {
        Self::new(None, scale_factor.to_vec())
    }

    fn new(size: Option<Vec<i64>>, scale_factor: Vec<f64>) -> Self {
        Self {
            size,
            scale_factor,
            mode: "nearest".to_owned(),
            align_corners: None,
            recompute_scale_factor: false,
        }
    }

    /// nearest, nearest-exact, area, linear, bilinear, bicubic or trilinear; default nearest.
    #[must_use]
    pub fn mode(mut self, mode: &str) -> Self {
        mode.clone_into(&mut self.mode);
        self
    }

    /// Whether the centres of the first and last elements stay where they are; default no.
    #[must_use]
    pub fn align_corners(mut self, align: bool) -> Self {
        self.align_corners = Some(align);
        self
    }

    setters! {
        /// Whether positions follow from the sizes and not from the factors; default no.
        recompute_scale_factor: bool;
    }
}

impl Module for Upsample {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.interpolate_with(&self.scale_factor, |mut o| {
            if let Some(size) = &self.size {
                o = o.size(size);
            }
            if let Some(align) = self.align_corners {
                o = o.align_corners(align);
            }
            o.mode(&self.mode).recompute_scale_factor(self.recompute_scale_factor)
        })
    }
}

/// Groups of channels become blocks of elements, as many as this number squared.
#[derive(Clone, Copy, Debug)]
pub struct PixelShuffle(pub i64);

impl Module for PixelShuffle {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.pixel_shuffle(self.0)
    }
}

/// The reverse of [`PixelShuffle`].
#[derive(Clone, Copy, Debug)]
pub struct PixelUnshuffle(pub i64);

impl Module for PixelUnshuffle {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.pixel_unshuffle(self.0)
    }
}

/// Channels in the order first of each of so many groups, second of each, and so on.
#[derive(Clone, Copy, Debug)]
pub struct ChannelShuffle(pub i64);

impl Module for ChannelShuffle {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.channel_shuffle(self.0)
    }
}

/// The windows of an image as columns.
#[derive(Clone, Copy, Debug)]
pub struct Unfold {
    kernel_size: [i64; 2],
    dilation: [i64; 2],
    padding: [i64; 2],
    stride: [i64; 2],
}

impl Unfold {
    /// Windows of this size, one element apart.
    #[must_use]
    pub fn new(kernel_size: impl PerAxis<2>) -> Self {
        let kernel_size = kernel_size.per_axis();
        Self { kernel_size, dilation: [1; 2], padding: [0; 2], stride: [1; 2] }
    }

    axis_setters! {
        2;
        /// Distances of the elements in a window; default 1.
        dilation;
        /// Zeros around the image; default none.
        padding;
        /// Distances of the windows; default 1.
        stride;
    }
}

impl Module for Unfold {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.im2col_with(&self.kernel_size, |o| {
            o.dilation(&self.dilation).padding(&self.padding).stride(&self.stride)
        })
    }
}

/// The sums of windows that are given as columns.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    output_size: [i64; 2],
    windows: Unfold,
}

impl Fold {
    /// An image of `output_size` of the columns that [`Unfold`] makes of one.
    #[must_use]
    pub fn new(output_size: impl PerAxis<2>, windows: Unfold) -> Self {
        Self { output_size: output_size.per_axis(), windows }
    }
}

impl Module for Fold {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let w = &self.windows;
        input.col2im_with(&self.output_size, &w.kernel_size, |o| {
            o.dilation(&w.dilation).padding(&w.padding).stride(&w.stride)
        })
    }
}
