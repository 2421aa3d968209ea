// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Normalisation over the batch and over the last axes.

use super::module::described;
use super::{Module, Training, Visitor};
use crate::{no_grad, DType, Error, ErrorKind, Result, Tensor};

/// Options of [`BatchNorm2d`].
#[derive(Clone, Copy, Debug)]
pub struct BatchNorm2dConfig {
    eps: f64,
    momentum: Option<f64>,
    affine: bool,
    track_running_stats: bool,
}

impl Default for BatchNorm2dConfig {
    fn default() -> Self {
        Self { eps: 1e-5, momentum: Some(0.1), affine: true, track_running_stats: true }
    }
}

impl BatchNorm2dConfig {
    setters! {
        /// Added to the variance; default 1e-5.
        eps: f64;
        /// The weight of a new batch in the running statistics, or `None` for the plain mean of all
        /// batches; default 0.1.
        momentum: Option<f64>;
        /// Whether there are a weight and a bias; default yes.
        affine: bool;
        /// Whether there are running statistics; default yes.
        track_running_stats: bool;
    }
}

struct Running {
    mean: Tensor,
    var: Tensor,
    batches: Tensor,
}

/// Normalises each channel over the batch; in evaluation with the running statistics, which are
/// never 16-bit floats.
pub struct BatchNorm2d {
    affine: Option<(Tensor, Tensor)>,
    running: Option<Running>,
    config: BatchNorm2dConfig,
    training: Training,
}

impl BatchNorm2d {
    /// For images of so many channels.
    pub fn new(channels: i64) -> Result<Self> {
        Self::with(channels, |c| c)
    }

    /// With options.
    pub fn with(
        channels: i64,
        config: impl FnOnce(BatchNorm2dConfig) -> BatchNorm2dConfig,
    ) -> Result<Self> {
        let config = config(BatchNorm2dConfig::default());
        let shape = [channels];
        let affine = || -> Result<_> {
            let weight = Tensor::ones(&shape)?.requiring_grad()?;
            Ok((weight, Tensor::zeros(&shape)?.requiring_grad()?))
        };
        let running = || -> Result<_> {
            let batches = Tensor::zeros_with(&[], |o| o.dtype(DType::I64))?;
            Ok(Running { mean: Tensor::zeros(&shape)?, var: Tensor::ones(&shape)?, batches })
        };
        Ok(Self {
            affine: config.affine.then(affine).transpose()?,
            running: config.track_running_stats.then(running).transpose()?,
            config,
            training: Training::default(),
        })
    }
}

impl Module for BatchNorm2d {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        if input.ndim() != 4 {
            let text =
                format!("BatchNorm2d: expected 4 axes (N, C, H, W), got {:?}", input.shape());
            return Err(Error::new(ErrorKind::Shape, text));
        }
        let training = self.training.is_on();
        let mut momentum = self.config.momentum;
        if let Some(running) = self.running.as_ref().filter(|_| training) {
            let _guard = no_grad();
            running.batches.add_(1)?;
            if momentum.is_none() {
                momentum = Some(1.0 / running.batches.item::<f64>()?);
            }
        }
        input.batch_norm_with(|mut o| {
            if let Some((weight, bias)) = &self.affine {
                o = o.weight(weight).bias(bias);
            }
            if let Some(running) = &self.running {
                o = o.running_mean(&running.mean).running_var(&running.var);
            }
            o.training(training || self.running.is_none())
                .momentum(momentum.unwrap_or(0.0))
                .eps(self.config.eps)
        })
    }

    fn visit(&self, visitor: &mut Visitor) {
        if let Some((weight, bias)) = &self.affine {
            visitor.weight_and_bias(weight, Some(bias));
        }
        if let Some(running) = &self.running {
            visitor.statistic("running_mean", &running.mean);
            visitor.statistic("running_var", &running.var);
            visitor.buffer("num_batches_tracked", &running.batches);
        }
        visitor.training(&self.training);
    }
}

/// Normalises over the last axes, whose sizes are given.
pub struct LayerNorm {
    /// The factor, of the shape of the normalised axes.
    pub weight: Tensor,
    /// The summand, of the shape of the normalised axes.
    pub bias: Tensor,
    shape: Vec<i64>,
    eps: f64,
}

impl LayerNorm {
    /// Over axes of these sizes.
    pub fn new(shape: &[i64]) -> Result<Self> {
        Self::with_eps(shape, 1e-5)
    }

    /// With another number added to the variance than 1e-5.
    pub fn with_eps(shape: &[i64], eps: f64) -> Result<Self> {
        let weight = Tensor::ones(shape)?.requiring_grad()?;
        let bias = Tensor::zeros(shape)?.requiring_grad()?;
        Ok(Self { weight, bias, shape: shape.to_vec(), eps })
    }
}

impl Module for LayerNorm {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input
            .layer_norm_with(&self.shape, |o| o.weight(&self.weight).bias(&self.bias).eps(self.eps))
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.weight_and_bias(&self.weight, Some(&self.bias));
    }
}

described! { BatchNorm2d(config) LayerNorm }
