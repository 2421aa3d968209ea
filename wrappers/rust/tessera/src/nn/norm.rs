// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Normalisation over the batch, samples, groups of channels, rows and neighbouring channels.

use super::module::described;
use super::{Module, Training, Visitor};
use crate::distributed::{functional::all_reduce, Group, ReduceOp};
use crate::{no_grad, DType, Error, ErrorKind, Result, Tensor};

struct Running {
    mean: Tensor,
    var: Tensor,
    batches: Tensor,
}

/// What the layers with a statistic per channel have in common.
struct Channels {
    affine: Option<(Tensor, Tensor)>,
    running: Option<Running>,
    training: Training,
}

fn ones_and_zeros(shape: &[i64]) -> Result<(Tensor, Tensor)> {
    let weight = Tensor::ones(shape)?.requiring_grad()?;
    Ok((weight, Tensor::zeros(shape)?.requiring_grad()?))
}

impl Channels {
    fn new(channels: i64, affine: bool, track: bool) -> Result<Self> {
        let shape = [channels];
        let running = || -> Result<_> {
            let batches = Tensor::zeros_with(&[], |o| o.dtype(DType::I64))?;
            Ok(Running { mean: Tensor::zeros(&shape)?, var: Tensor::ones(&shape)?, batches })
        };
        Ok(Self {
            affine: affine.then(|| ones_and_zeros(&shape)).transpose()?,
            running: track.then(running).transpose()?,
            training: Training::default(),
        })
    }

    /// Whether the statistics are those of the input.
    fn own_statistics(&self) -> bool {
        self.training.is_on() || self.running.is_none()
    }

    /// Counts a batch in training; `momentum` if given, else the weight of a plain mean.
    fn count_batch(&self, momentum: Option<f64>) -> Result<f64> {
        let Some(running) = self.running.as_ref().filter(|_| self.training.is_on()) else {
            return Ok(momentum.unwrap_or(0.0));
        };
        let _guard = no_grad();
        running.batches.add_(1)?;
        momentum.map_or_else(|| Ok(1.0 / running.batches.item::<f64>()?), Ok)
    }

    /// Normalises over the batch or, in evaluation, with the running statistics.
    fn batch_norm(&self, eps: f64, momentum: Option<f64>, input: &Tensor) -> Result<Tensor> {
        let momentum = self.count_batch(momentum)?;
        input.batch_norm_with(|mut o| {
            if let Some((weight, bias)) = &self.affine {
                o = o.weight(weight).bias(bias);
            }
            if let Some(running) = &self.running {
                o = o.running_mean(&running.mean).running_var(&running.var);
            }
            o.training(self.own_statistics()).momentum(momentum).eps(eps)
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

fn check_rank(layer: &str, axes: &str, ranks: &[usize], input: &Tensor) -> Result<()> {
    if ranks.contains(&input.shape().len()) {
        return Ok(());
    }
    let text = format!("{layer}: expected {axes}, got {:?}", input.shape());
    Err(Error::refused(ErrorKind::Shape, text))
}

/// A layer with its options, made of [`Channels`].
macro_rules! channel_norm {
    (
        $(#[$doc:meta])* $name:ident, $config:ident, affine $affine:literal, momentum $momentum:expr => $kind:ty,
        |$layer:ident, $input:ident| $forward:expr
    ) => {
        #[doc = concat!("Options of [`", stringify!($name), "`].")]
        #[derive(Clone, Copy, Debug)]
        pub struct $config {
            eps: f64,
            momentum: $kind,
            affine: bool,
            track_running_stats: bool,
        }

        impl Default for $config {
            fn default() -> Self {
                Self { eps: 1e-5, momentum: $momentum, affine: $affine, track_running_stats: $affine }
            }
        }

        impl $config {
            setters! {
                /// Added to the variance; default 1e-5.
                eps: f64;
                /// The weight of a new batch in the running statistics, or, where it may be `None`, that
                /// for the plain mean of all batches; default 0.1.
                momentum: $kind;
                #[doc = concat!("Whether there are a weight and a bias; default ", stringify!($affine), ".")]
                affine: bool;
                #[doc = concat!("Whether there are running statistics; default ", stringify!($affine), ".")]
                track_running_stats: bool;
            }
        }

        $(#[$doc])*
        pub struct $name {
            channels: Channels,
            config: $config,
        }

        impl $name {
            /// For inputs of so many channels.
            pub fn new(channels: i64) -> Result<Self> {
                Self::with(channels, |c| c)
            }

            /// With options.
            pub fn with(channels: i64, config: impl FnOnce($config) -> $config) -> Result<Self> {
                let config = config($config::default());
                let channels = Channels::new(channels, config.affine, config.track_running_stats)?;
                Ok(Self { channels, config })
            }
        }

        described! { $name(config) }

        impl Module for $name {
            fn forward(&self, $input: &Tensor) -> Result<Tensor> {
                let $layer = self;
                $forward
            }

            fn visit(&self, visitor: &mut Visitor) {
                self.channels.visit(visitor);
            }
        }
    };
}

macro_rules! batch_norm {
    ($(#[$doc:meta])* $name:ident, $config:ident, $ranks:expr, $axes:literal) => {
        channel_norm! {
            $(#[$doc])*
            $name, $config, affine true, momentum Some(0.1) => Option<f64>,
            |layer, input| {
                check_rank(stringify!($name), $axes, &$ranks, input)?;
                layer.channels.batch_norm(layer.config.eps, layer.config.momentum, input)
            }
        }
    };
}

batch_norm! {
    /// Normalises each channel of (N, C) or (N, C, L) over the batch; in evaluation with the running
    /// statistics, which are never 16-bit floats.
    BatchNorm1d, BatchNorm1dConfig, [2, 3], "2 or 3 axes (N, C) or (N, C, L)"
}
batch_norm! {
    /// Normalises each channel over the batch; in evaluation with the running statistics, which are
    /// never 16-bit floats.
    BatchNorm2d, BatchNorm2dConfig, [4], "4 axes (N, C, H, W)"
}
batch_norm! {
    /// Normalises each channel of (N, C, D, H, W) over the batch; in evaluation with the running
    /// statistics, which are never 16-bit floats.
    BatchNorm3d, BatchNorm3dConfig, [5], "5 axes (N, C, D, H, W)"
}

/// Normalises each channel of (N, C, ...) over the batches of all ranks of a group, as one process
/// with the whole batch would. Ranks may have batches of different sizes. All of them call it
/// together, and their backward passes too. In evaluation it is a batch normalisation.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::distributed::{Group, GroupOptions};
/// use tessera::{nn::{Module, SyncBatchNorm}, Tensor};
/// let alone = GroupOptions { rank: Some(0), size: Some(1), address: "norm", ..Default::default() };
/// let layer = SyncBatchNorm::new(3, &Group::new("threads", &alone)?)?;
/// assert_eq!(layer.forward(&Tensor::ones(&[4, 3])?)?.shape(), [4, 3]);
/// # Ok(())
/// # }
/// ```
pub struct SyncBatchNorm {
    channels: Channels,
    config: BatchNorm1dConfig,
    features: i64,
    group: Group,
}

impl SyncBatchNorm {
    /// For inputs of so many channels.
    pub fn new(channels: i64, group: &Group) -> Result<Self> {
        Self::with(channels, group, |c| c)
    }

    /// With options.
    pub fn with(
        channels: i64,
        group: &Group,
        config: impl FnOnce(BatchNorm1dConfig) -> BatchNorm1dConfig,
    ) -> Result<Self> {
        let config = config(BatchNorm1dConfig::default());
        let made = Channels::new(channels, config.affine, config.track_running_stats)?;
        Ok(Self { channels: made, config, features: channels, group: group.clone() })
    }

    fn over_ranks(&self, input: &Tensor) -> Result<Tensor> {
        let narrow = matches!(input.dtype(), DType::F16 | DType::Bf16);
        let x = if narrow { input.astype(DType::F32)? } else { input.clone() };
        let axes: Vec<i64> = (0..x.ndim() as i64).filter(|axis| *axis != 1).collect();
        let mut shape = vec![1; x.ndim()];
        shape[1] = self.features;
        // Two reductions instead of one of sums and squares, whose difference would lose the digits
        // of a small variance.
        let own = x.numel() as i64 / self.features.max(1);
        let own = Tensor::full_with(&[1], own, |o| o.dtype(x.dtype()).device(x.device()))?;
        let sums = Tensor::concat(&[x.sum_with(|o| o.axes(&axes))?, own])?;
        let sums = all_reduce(&self.group, &sums, ReduceOp::Sum)?;
        let count = sums.select(0, -1)?.detach()?;
        let values = count.item::<f64>()?;
        if values <= 1.0 {
            let text = "SyncBatchNorm: expected more than 1 value for each channel";
            let text = format!("{text}, got {values}");
            return Err(Error::refused(ErrorKind::Value, text));
        }
        let mean = sums.narrow(0, 0, self.features)?.divide(&count)?;
        let apart = x.subtract(&mean.reshape(&shape)?)?;
        let squares = apart.square()?.sum_with(|o| o.axes(&axes))?;
        let var = all_reduce(&self.group, &squares, ReduceOp::Sum)?.divide(&count)?;
        self.track(&mean, &var, &count)?;
        let factor = var.add(self.config.eps)?.rsqrt()?;
        let mut result = apart.multiply(&factor.reshape(&shape)?)?;
        if let Some((weight, bias)) = &self.channels.affine {
            result = result.multiply(&weight.reshape(&shape)?)?.add(&bias.reshape(&shape)?)?;
        }
        result.astype(input.dtype())
    }

    /// Moves the running statistics towards those of this batch.
    fn track(&self, mean: &Tensor, var: &Tensor, count: &Tensor) -> Result<()> {
        let share = self.channels.count_batch(self.config.momentum)?;
        let Some(running) = &self.channels.running else {
            return Ok(());
        };
        let _guard = no_grad();
        let unbiased = var.multiply(&count.divide(&count.subtract(1)?)?)?;
        running.mean.lerp_(&mean.detach()?.astype(running.mean.dtype())?, share)?;
        running.var.lerp_(&unbiased.astype(running.var.dtype())?, share)?;
        Ok(())
    }
}

described! { SyncBatchNorm(config) }

impl Module for SyncBatchNorm {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let shape = input.shape();
        if shape.len() < 2 || shape[1] != self.features {
            let text =
                format!("SyncBatchNorm: expected (N, {}, ...), got {shape:?}", self.features);
            return Err(Error::refused(ErrorKind::Shape, text));
        }
        if self.channels.training.is_on() && self.group.size() > 1 {
            return self.over_ranks(input);
        }
        self.channels.batch_norm(self.config.eps, self.config.momentum, input)
    }

    fn visit(&self, visitor: &mut Visitor) {
        self.channels.visit(visitor);
    }
}

macro_rules! instance_norm {
    ($(#[$doc:meta])* $name:ident, $config:ident, $rank:literal, $axes:literal) => {
        channel_norm! {
            $(#[$doc])*
            $name, $config, affine false, momentum 0.1 => f64,
            |layer, input| {
                check_rank(stringify!($name), $axes, &[$rank - 1, $rank], input)?;
                let channels = &layer.channels;
                let normalize = |x: &Tensor| {
                    x.instance_norm_with(|mut o| {
                        if let Some((weight, bias)) = &channels.affine {
                            o = o.weight(weight).bias(bias);
                        }
                        if let Some(running) = &channels.running {
                            o = o.running_mean(&running.mean).running_var(&running.var);
                        }
                        let c = &layer.config;
                        o.use_input_stats(channels.own_statistics()).momentum(c.momentum).eps(c.eps)
                    })
                };
                if input.shape().len() == $rank {
                    return normalize(input);
                }
                normalize(&input.expand_dims(&[0])?)?.select(0, 0)
            }
        }
    };
}

instance_norm! {
    /// Normalises each channel of each sample of (N, C, L) or (C, L).
    InstanceNorm1d, InstanceNorm1dConfig, 3, "2 or 3 axes (C, L) or (N, C, L)"
}
instance_norm! {
    /// Normalises each channel of each sample of (N, C, H, W) or (C, H, W).
    InstanceNorm2d, InstanceNorm2dConfig, 4, "3 or 4 axes (C, H, W) or (N, C, H, W)"
}
instance_norm! {
    /// Normalises each channel of each sample of (N, C, D, H, W) or (C, D, H, W).
    InstanceNorm3d, InstanceNorm3dConfig, 5, "4 or 5 axes (C, D, H, W) or (N, C, D, H, W)"
}

/// Normalises groups of neighbouring channels of each sample of (N, C, ...).
pub struct GroupNorm {
    affine: Option<(Tensor, Tensor)>,
    groups: i64,
    eps: f64,
}

impl GroupNorm {
    /// With a weight and a bias per channel.
    pub fn new(groups: i64, channels: i64) -> Result<Self> {
        Self::with(groups, channels, 1e-5, true)
    }

    /// With another number added to the variance than 1e-5, and with or without parameters.
    pub fn with(groups: i64, channels: i64, eps: f64, affine: bool) -> Result<Self> {
        if groups < 1 || channels % groups != 0 {
            let text = format!(
                "GroupNorm: expected a divisor of {channels} channels, got {groups} groups"
            );
            return Err(Error::refused(ErrorKind::Value, text));
        }
        let affine = affine.then(|| ones_and_zeros(&[channels])).transpose()?;
        Ok(Self { affine, groups, eps })
    }
}

impl Module for GroupNorm {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.group_norm_with(self.groups, |o| {
            let o = o.eps(self.eps);
            self.affine.iter().fold(o, |o, (weight, bias)| o.weight(weight).bias(bias))
        })
    }

    fn visit(&self, visitor: &mut Visitor) {
        if let Some((weight, bias)) = &self.affine {
            visitor.weight_and_bias(weight, Some(bias));
        }
    }
}

/// Divides by the root of the mean square over the last axes, whose sizes are given.
pub struct RmsNorm {
    weight: Option<Tensor>,
    shape: Vec<i64>,
    eps: Option<f64>,
}

impl RmsNorm {
    /// Over axes of these sizes, with a weight; the machine epsilon of the input's dtype is added to
    /// the mean square.
    pub fn new(shape: &[i64]) -> Result<Self> {
        Self::with(shape, None, true)
    }

    /// With another number added to the mean square, and with or without a weight.
    pub fn with(shape: &[i64], eps: Option<f64>, affine: bool) -> Result<Self> {
        let weight = affine.then(|| Tensor::ones(shape)?.requiring_grad()).transpose()?;
        Ok(Self { weight, shape: shape.to_vec(), eps })
    }
}

impl Module for RmsNorm {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.rms_norm_with(&self.shape, |o| {
            let o = self.weight.iter().fold(o, |o, weight| o.weight(weight));
            self.eps.iter().fold(o, |o, eps| o.eps(*eps))
        })
    }

    fn visit(&self, visitor: &mut Visitor) {
        self.weight.iter().for_each(|weight| visitor.parameter("weight", weight));
    }
}

/// Divides by a power of the mean square over neighbouring channels.
#[derive(Clone, Copy, Debug)]
pub struct LocalResponseNorm {
    /// Number of channels.
    pub size: i64,
    /// Factor of the mean square.
    pub alpha: f64,
    /// The power.
    pub beta: f64,
    /// Added before the power is taken.
    pub k: f64,
}

impl LocalResponseNorm {
    /// With alpha 1e-4, beta 0.75 and k 1.
    pub fn new(size: i64) -> Self {
        Self { size, alpha: 1e-4, beta: 0.75, k: 1.0 }
    }
}

impl Module for LocalResponseNorm {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.local_response_norm_with(self.size, |o| o.alpha(self.alpha).beta(self.beta).k(self.k))
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
        let (weight, bias) = ones_and_zeros(shape)?;
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

described! { GroupNorm LayerNorm RmsNorm }
