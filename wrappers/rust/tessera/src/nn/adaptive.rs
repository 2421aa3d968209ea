// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The adaptive softmax of Grave et al., "Efficient softmax approximation for GPUs" (2017): rare
//! classes stand in clusters, which are computed only for the rows that need them.

use super::module::described;
use super::{Linear, Module, Sequential, Visitor};
use crate::{DType, Error, ErrorKind, Result, Tensor};

/// What [`AdaptiveLogSoftmaxWithLoss::run`] returns.
#[derive(Clone, Debug)]
pub struct AdaptiveLogSoftmaxResult {
    /// The log-probability of each row's target.
    pub output: Tensor,
    /// The mean of their negatives.
    pub loss: Tensor,
}

/// Log-probabilities of many classes, which must be sorted from the most frequent to the rarest.
/// Those below `cutoffs[0]` are scored by `head`, together with one score for each cluster; cluster
/// `i` has the classes from `cutoffs[i]` on and `in_features / div_value.powi(i + 1)` inner features.
pub struct AdaptiveLogSoftmaxWithLoss {
    /// Scores of the frequent classes and of the clusters.
    pub head: Linear,
    /// Two layers for each cluster.
    pub tail: Vec<Sequential>,
    cutoffs: Vec<i64>, // the last one is the number of classes
    in_features: i64,
}

impl AdaptiveLogSoftmaxWithLoss {
    /// With PyTorch's `div_value` of 4, and a head without a bias.
    pub fn new(in_features: i64, n_classes: i64, cutoffs: &[i64]) -> Result<Self> {
        Self::with(in_features, n_classes, cutoffs, 4.0, false)
    }

    /// With options.
    pub fn with(
        in_features: i64,
        n_classes: i64,
        cutoffs: &[i64],
        div_value: f64,
        head_bias: bool,
    ) -> Result<Self> {
        let mut ends = vec![0];
        ends.extend(cutoffs);
        ends.push(n_classes);
        if cutoffs.is_empty() || ends.windows(2).any(|pair| pair[0] >= pair[1]) {
            let text = format!(
                "AdaptiveLogSoftmaxWithLoss: cutoffs: expected rising numbers from 1 to {}",
                n_classes - 1
            );
            return Err(Error::refused(ErrorKind::Value, format!("{text}, got {cutoffs:?}")));
        }
        if div_value.is_nan() || div_value <= 0.0 {
            let text = format!(
                "AdaptiveLogSoftmaxWithLoss: div_value: expected a number above 0, got {div_value}"
            );
            return Err(Error::refused(ErrorKind::Value, text));
        }
        let cutoffs = ends.split_off(1);
        let head_size = cutoffs[0] + cutoffs.len() as i64 - 1;
        let make = if head_bias { Linear::new } else { Linear::without_bias };
        let head = make(in_features, head_size)?;
        let cluster = |(number, pair): (usize, &[i64])| -> Result<_> {
            // How often the width goes into in_features, without the rounding of their quotient.
            let (size, width) = (in_features as f64, div_value.powf(number as f64 + 1.0));
            let inner = ((size - size % width) / width).round() as i64;
            let first = Linear::without_bias(in_features, inner)?;
            Ok(Sequential::new().with(first).with(Linear::without_bias(inner, pair[1] - pair[0])?))
        };
        let tail = cutoffs.windows(2).enumerate().map(cluster).collect::<Result<_>>()?;
        Ok(Self { head, tail, cutoffs, in_features })
    }

    /// The log-probability of the class of each row, and the loss. `target` has a class number for
    /// each row; it has no axes for an input that is one row.
    pub fn run(&self, input: &Tensor, target: &Tensor) -> Result<AdaptiveLogSoftmaxResult> {
        self.check(input)?;
        let (rows, shape) = (input.shape(), target.shape());
        if rows[..rows.len() - 1] != shape {
            let text =
                format!("target: expected one class for each row of {rows:?}, got {shape:?}");
            return Err(Error::refused(ErrorKind::Shape, text));
        }
        let rows = input.reshape(&[-1, self.in_features])?;
        let classes = target.reshape(&[-1])?.astype(DType::I64)?;
        let count = self.cutoffs[self.cutoffs.len() - 1];
        let outside = classes.less(0)?.logical_or(&classes.greater_equal(count)?)?;
        if outside.any()?.item::<bool>()? {
            let (low, high) = (classes.min()?.item::<i64>()?, classes.max()?.item::<i64>()?);
            let text = format!(
                "target: expected classes from 0 to {}, got numbers from {low} to {high}",
                count - 1
            );
            return Err(Error::refused(ErrorKind::Index, text));
        }
        let options = |o: crate::ops::ZerosOptions| o.dtype(input.dtype()).device(input.device());
        let mut tails = Tensor::zeros_with(&classes.shape(), options)?;
        let mut columns = classes.clone();
        for (number, layers) in self.tail.iter().enumerate() {
            let (low, high) = (self.cutoffs[number], self.cutoffs[number + 1]);
            let inside = classes.greater_equal(low)?.logical_and(&classes.less(high)?)?;
            columns = inside.where_cond(self.cutoffs[0] + number as i64, &columns)?;
            let found = inside.nonzero()?.remove(0);
            if found.numel() > 0 {
                let scores = layers.forward(&rows.index_select(0, &found)?)?.log_softmax()?;
                let own = classes.index_select(0, &found)?.subtract(low)?.unsqueeze(1)?;
                tails = tails.index_add(0, &found, &scores.gather(1, &own)?.reshape(&[-1])?)?;
            }
        }
        let head = self.head.forward(&rows)?.log_softmax()?;
        let output = head.gather(1, &columns.unsqueeze(1)?)?.reshape(&[-1])?.add(&tails)?;
        let loss = output.mean()?.negative()?;
        Ok(AdaptiveLogSoftmaxResult { output: output.reshape(&shape)?, loss })
    }

    /// The log-probabilities of all classes.
    pub fn log_prob(&self, input: &Tensor) -> Result<Tensor> {
        self.check(input)?;
        let head = self.head.forward(input)?.log_softmax()?;
        let mut parts = vec![head.narrow(-1, 0, self.cutoffs[0])?];
        for (number, layers) in self.tail.iter().enumerate() {
            let cluster = head.narrow(-1, self.cutoffs[0] + number as i64, 1)?;
            parts.push(layers.forward(input)?.log_softmax()?.add(&cluster)?);
        }
        Tensor::concat_with(&parts, |o| o.axis(-1))
    }

    /// The most probable class of each row.
    pub fn predict(&self, input: &Tensor) -> Result<Tensor> {
        self.log_prob(input)?.argmax_with(|o| o.axis(-1))
    }

    fn check(&self, input: &Tensor) -> Result<()> {
        let shape = input.shape();
        if matches!(shape.len(), 1 | 2) && shape[shape.len() - 1] == self.in_features {
            return Ok(());
        }
        let features = self.in_features;
        let text = format!("input: expected (batch, {features}) or ({features}), got {shape:?}");
        Err(Error::refused(ErrorKind::Shape, text))
    }
}

described! { AdaptiveLogSoftmaxWithLoss }

/// `forward` gives the log-probabilities of all classes.
impl Module for AdaptiveLogSoftmaxWithLoss {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.log_prob(input)
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.part("head", &self.head);
        visitor.part("tail", &self.tail);
    }
}
