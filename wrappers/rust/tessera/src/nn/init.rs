// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Initial values of parameters, in place and unrecorded.

use crate::{no_grad, Error, ErrorKind, Result, Tensor};

/// The fan that determines the spread of initial values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FanMode {
    /// Inputs of an output: keeps the variance of the forward.
    #[default]
    In,
    /// Outputs of an input: keeps the variance of the backward.
    Out,
}

/// What follows the layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nonlinearity {
    /// Nothing, a convolution, or a sigmoid.
    Linear,
    /// tanh.
    Tanh,
    /// relu.
    Relu,
    /// leaky_relu with this slope.
    LeakyRelu(f64),
    /// selu.
    Selu,
}

impl Nonlinearity {
    /// The factor that keeps the variance through it.
    pub fn gain(self) -> f64 {
        match self {
            Self::Linear => 1.0,
            Self::Tanh => 5.0 / 3.0,
            Self::Relu => 2f64.sqrt(),
            Self::LeakyRelu(slope) => (2.0 / (1.0 + slope * slope)).sqrt(),
            Self::Selu => 0.75,
        }
    }
}

/// The number of inputs of one output of a weight, and of outputs of one input.
pub fn fan_in_and_fan_out(tensor: &Tensor) -> Result<(i64, i64)> {
    let shape = tensor.shape();
    if shape.len() < 2 {
        let text = format!("fan in and out need at least 2 axes, got shape {shape:?}");
        return Err(Error::refused(ErrorKind::Shape, text));
    }
    let field: i64 = shape[2..].iter().product();
    Ok((shape[1] * field, shape[0] * field))
}

/// Uniform between two numbers.
pub fn uniform_(tensor: &Tensor, low: f64, high: f64) -> Result<()> {
    let _guard = no_grad();
    tensor.uniform_(|o| o.low(low).high(high)).map(|_| ())
}

/// Normal with this mean and standard deviation.
pub fn normal_(tensor: &Tensor, mean: f64, std: f64) -> Result<()> {
    let _guard = no_grad();
    tensor.normal_(|o| o.mean(mean).std(std)).map(|_| ())
}

/// One number everywhere.
pub fn constant_(tensor: &Tensor, value: f64) -> Result<()> {
    let _guard = no_grad();
    tensor.fill_(value).map(|_| ())
}

/// Zeros.
pub fn zeros_(tensor: &Tensor) -> Result<()> {
    constant_(tensor, 0.0)
}

/// Ones.
pub fn ones_(tensor: &Tensor) -> Result<()> {
    constant_(tensor, 1.0)
}

/// Normal numbers, given that they lie within these bounds.
pub fn trunc_normal_(tensor: &Tensor, mean: f64, std: f64, low: f64, high: f64) -> Result<()> {
    let _guard = no_grad();
    tensor.trunc_normal_(|o| o.mean(mean).std(std).low(low).high(high)).map(|_| ())
}

/// The identity, of two axes.
pub fn eye_(tensor: &Tensor) -> Result<()> {
    let _guard = no_grad();
    tensor.eye_fill_().map(|_| ())
}

/// The weight of a convolution (3 to 5 axes) that gives back its input channels, in each group.
pub fn dirac_(tensor: &Tensor, groups: i64) -> Result<()> {
    let _guard = no_grad();
    tensor.dirac_(|o| o.groups(groups)).map(|_| ())
}

/// Random orthonormal rows or columns, whichever are fewer, times `gain`.
pub fn orthogonal_(tensor: &Tensor, gain: f64) -> Result<()> {
    let _guard = no_grad();
    tensor.orthogonal_(|o| o.gain(gain)).map(|_| ())
}

/// Normal numbers of which this share in each column is 0.
pub fn sparse_(tensor: &Tensor, sparsity: f64, std: f64) -> Result<()> {
    let _guard = no_grad();
    tensor.sparse_normal_(sparsity, |o| o.std(std)).map(|_| ())
}

/// 1 for a fan of 0: such a weight has no elements, so any spread will do.
fn nonzero(fan: i64) -> f64 {
    fan.max(1) as f64
}

fn xavier(tensor: &Tensor, gain: f64) -> Result<f64> {
    let (fan_in, fan_out) = fan_in_and_fan_out(tensor)?;
    Ok(gain * (2.0 / nonzero(fan_in + fan_out)).sqrt())
}

/// Glorot's uniform values.
pub fn xavier_uniform_(tensor: &Tensor, gain: f64) -> Result<()> {
    let bound = 3f64.sqrt() * xavier(tensor, gain)?;
    uniform_(tensor, -bound, bound)
}

/// Glorot's normal values.
pub fn xavier_normal_(tensor: &Tensor, gain: f64) -> Result<()> {
    normal_(tensor, 0.0, xavier(tensor, gain)?)
}

fn kaiming(tensor: &Tensor, mode: FanMode, nonlinearity: Nonlinearity) -> Result<f64> {
    let (fan_in, fan_out) = fan_in_and_fan_out(tensor)?;
    let fan = if mode == FanMode::In { fan_in } else { fan_out };
    Ok(nonlinearity.gain() / nonzero(fan).sqrt())
}

/// He's uniform values.
pub fn kaiming_uniform_(tensor: &Tensor, mode: FanMode, nonlinearity: Nonlinearity) -> Result<()> {
    let bound = 3f64.sqrt() * kaiming(tensor, mode, nonlinearity)?;
    uniform_(tensor, -bound, bound)
}

/// He's normal values.
pub fn kaiming_normal_(tensor: &Tensor, mode: FanMode, nonlinearity: Nonlinearity) -> Result<()> {
    normal_(tensor, 0.0, kaiming(tensor, mode, nonlinearity)?)
}

/// The initial weight and bias of Linear and the convolutions: uniform within 1 / sqrt(fan in), as
/// in PyTorch.
pub(super) fn layer(shape: &[i64], outputs: i64, bias: bool) -> Result<(Tensor, Option<Tensor>)> {
    let weight = Tensor::empty(shape)?;
    kaiming_uniform_(&weight, FanMode::In, Nonlinearity::LeakyRelu(5f64.sqrt()))?;
    let make_bias = || {
        let bias = Tensor::empty(&[outputs])?;
        let fan_in = fan_in_and_fan_out(&weight)?.0;
        let bound = if fan_in > 0 { 1.0 / (fan_in as f64).sqrt() } else { 0.0 };
        uniform_(&bias, -bound, bound)?;
        bias.requiring_grad()
    };
    let bias = bias.then(make_bias).transpose()?;
    Ok((weight.requiring_grad()?, bias))
}
