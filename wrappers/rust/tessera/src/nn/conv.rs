// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Convolutions of images.

use super::{init, Module, Visitor};
use crate::{Error, ErrorKind, Result, Tensor};

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

/// Options of [`Conv2d`].
#[derive(Clone, Copy, Debug)]
pub struct Conv2dConfig {
    stride: [i64; 2],
    padding: [i64; 2],
    dilation: [i64; 2],
    groups: i64,
    bias: bool,
}

impl Default for Conv2dConfig {
    fn default() -> Self {
        Self { stride: [1; 2], padding: [0; 2], dilation: [1; 2], groups: 1, bias: true }
    }
}

impl Conv2dConfig {
    setters! {
        /// Steps of the kernel; default 1.
        stride: [i64; 2];
        /// Zeros around the image; default none.
        padding: [i64; 2];
        /// Distance of the kernel's elements; default 1.
        dilation: [i64; 2];
        /// Parts that channels are divided into; default 1.
        groups: i64;
        /// Whether there is a bias; default yes.
        bias: bool;
    }
}

/// The two tensors of a convolution, with their initial values.
fn make(shape: [i64; 4], outputs: i64, bias: bool) -> Result<(Tensor, Option<Tensor>)> {
    let weight = Tensor::empty(&shape)?;
    let bias = bias.then(|| Tensor::empty(&[outputs])).transpose()?;
    init::layer(&weight, bias.as_ref())?;
    Ok((weight.requiring_grad()?, bias.map(Tensor::requiring_grad).transpose()?))
}

fn check_groups(inputs: i64, outputs: i64, groups: i64) -> Result<()> {
    if groups > 0 && inputs % groups == 0 && outputs % groups == 0 {
        return Ok(());
    }
    let text = format!("{inputs} and {outputs} channels cannot be divided into {groups} groups");
    Err(Error::new(ErrorKind::Value, text))
}

/// Cross-correlation of images (N, C, H, W) with a weight (outputs, inputs / groups, height, width).
#[derive(Debug)]
pub struct Conv2d {
    /// (outputs, inputs / groups, height, width)
    pub weight: Tensor,
    /// (outputs)
    pub bias: Option<Tensor>,
    config: Conv2dConfig,
}

impl Conv2d {
    /// With a step of 1 and no padding.
    pub fn new(inputs: i64, outputs: i64, kernel: [i64; 2]) -> Result<Self> {
        Self::with(inputs, outputs, kernel, |c| c)
    }

    /// With options.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// let conv = tessera::nn::Conv2d::with(3, 8, [3, 3], |c| c.padding([1, 1]).stride([2, 2]))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn with(
        inputs: i64,
        outputs: i64,
        kernel: [i64; 2],
        config: impl FnOnce(Conv2dConfig) -> Conv2dConfig,
    ) -> Result<Self> {
        let config = config(Conv2dConfig::default());
        check_groups(inputs, outputs, config.groups)?;
        let shape = [outputs, inputs / config.groups, kernel[0], kernel[1]];
        let (weight, bias) = make(shape, outputs, config.bias)?;
        Ok(Self { weight, bias, config })
    }
}

impl Module for Conv2d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let c = &self.config;
        input.conv2d_with(&self.weight, |o| {
            let o = o.stride(&c.stride).padding(&c.padding).dilation(&c.dilation).groups(c.groups);
            match &self.bias {
                Some(bias) => o.bias(bias),
                None => o,
            }
        })
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.parameter("weight", &self.weight);
        self.bias.iter().for_each(|bias| visitor.parameter("bias", bias));
    }
}

/// Options of [`ConvTranspose2d`].
#[derive(Clone, Copy, Debug)]
pub struct ConvTranspose2dConfig {
    stride: [i64; 2],
    padding: [i64; 2],
    output_padding: [i64; 2],
    dilation: [i64; 2],
    groups: i64,
    bias: bool,
}

impl Default for ConvTranspose2dConfig {
    fn default() -> Self {
        let (ones, zeros) = ([1; 2], [0; 2]);
        let (output_padding, groups, bias) = (zeros, 1, true);
        Self { stride: ones, padding: zeros, output_padding, dilation: ones, groups, bias }
    }
}

impl ConvTranspose2dConfig {
    setters! {
        /// Steps of the kernel; default 1.
        stride: [i64; 2];
        /// Rows and columns cut off around the result; default none.
        padding: [i64; 2];
        /// Rows and columns added at the end of the result; default none.
        output_padding: [i64; 2];
        /// Distance of the kernel's elements; default 1.
        dilation: [i64; 2];
        /// Parts that channels are divided into; default 1.
        groups: i64;
        /// Whether there is a bias; default yes.
        bias: bool;
    }
}

/// The gradient of a convolution as a layer of its own; the weight is (inputs, outputs / groups, height,
/// width).
#[derive(Debug)]
pub struct ConvTranspose2d {
    /// (inputs, outputs / groups, height, width)
    pub weight: Tensor,
    /// (outputs)
    pub bias: Option<Tensor>,
    config: ConvTranspose2dConfig,
}

impl ConvTranspose2d {
    /// With a step of 1 and no padding.
    pub fn new(inputs: i64, outputs: i64, kernel: [i64; 2]) -> Result<Self> {
        Self::with(inputs, outputs, kernel, |c| c)
    }

    /// With options.
    pub fn with(
        inputs: i64,
        outputs: i64,
        kernel: [i64; 2],
        config: impl FnOnce(ConvTranspose2dConfig) -> ConvTranspose2dConfig,
    ) -> Result<Self> {
        let config = config(ConvTranspose2dConfig::default());
        check_groups(inputs, outputs, config.groups)?;
        let shape = [inputs, outputs / config.groups, kernel[0], kernel[1]];
        let (weight, bias) = make(shape, outputs, config.bias)?;
        Ok(Self { weight, bias, config })
    }
}

impl Module for ConvTranspose2d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let c = &self.config;
        input.conv_transpose2d_with(&self.weight, |o| {
            let o = o.stride(&c.stride).padding(&c.padding).output_padding(&c.output_padding);
            let o = o.dilation(&c.dilation).groups(c.groups);
            match &self.bias {
                Some(bias) => o.bias(bias),
                None => o,
            }
        })
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.parameter("weight", &self.weight);
        self.bias.iter().for_each(|bias| visitor.parameter("bias", bias));
    }
}
