// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Distributions over a few outcomes, given by probabilities or by logits.

use super::{
    broadcast, clamp_probs, expect, expect_between, expect_real, extended, limits_of, no_rsample,
    Distribution,
};
use crate::{no_grad, DType, Error, ErrorKind, Operand, Result, Tensor};

/// `p log(p / q)`, 0 where `p` is 0 and infinite where only `q` is.
fn relative(p: &Tensor, q: &Tensor) -> Result<Tensor> {
    let terms = p.xlogy(p)?.subtract(&p.xlogy(q)?)?;
    q.equal(0)?.logical_and(&p.greater(0)?)?.where_cond(f64::INFINITY, &terms)
}

/// 1 with the probability `probs`, else 0. Probabilities and log-odds are both computed when the
/// distribution is made, with the gradient mode of that time.
#[derive(Clone, Debug)]
pub struct Bernoulli {
    /// Probabilities of 1.
    pub probs: Tensor,
    /// Their log-odds.
    pub logits: Tensor,
}

impl Bernoulli {
    /// With probabilities from 0 to 1.
    pub fn new<'a>(probs: impl Into<Operand<'a>>) -> Result<Self> {
        let [probs] = broadcast([probs.into()])?;
        expect_between("Bernoulli: probs", &probs, 0.0, 1.0)?;
        let inside = clamp_probs(&probs)?;
        let logits = inside.log()?.subtract(&inside.negative()?.log1p()?)?;
        Ok(Self { probs, logits })
    }

    /// With log-odds.
    pub fn with_logits<'a>(logits: impl Into<Operand<'a>>) -> Result<Self> {
        let [logits] = broadcast([logits.into()])?;
        expect_real("Bernoulli: logits", &logits)?;
        Ok(Self { probs: logits.sigmoid()?, logits })
    }
}

impl Distribution for Bernoulli {
    fn batch_shape(&self) -> Vec<i64> {
        self.probs.shape()
    }

    fn mean(&self) -> Result<Tensor> {
        Ok(self.probs.clone())
    }

    fn variance(&self) -> Result<Tensor> {
        self.probs.multiply(&self.probs.subtract_left(1)?)
    }

    fn sample(&self, shape: &[i64]) -> Result<Tensor> {
        let _guard = no_grad();
        self.probs.broadcast_to(&extended(shape, self))?.bernoulli()
    }

    fn rsample(&self, _: &[i64]) -> Result<Tensor> {
        Err(no_rsample("Bernoulli"))
    }

    fn log_prob(&self, value: &Tensor) -> Result<Tensor> {
        expect("Bernoulli: value", "0 or 1", &value.equal(0)?.logical_or(&value.equal(1)?)?)?;
        value.multiply(&self.logits)?.subtract(&self.logits.softplus()?)
    }

    fn entropy(&self) -> Result<Tensor> {
        self.logits.softplus()?.subtract(&self.probs.multiply(&self.logits)?)
    }

    fn kl_divergence(&self, other: &Self) -> Result<Tensor> {
        let failure = relative(&self.probs.subtract_left(1)?, &other.probs.subtract_left(1)?)?;
        relative(&self.probs, &other.probs)?.add(&failure)
    }
}

/// The number of one outcome of several, from 0: those of the last axis of the parameters.
/// Probabilities and their logarithms are both computed when the distribution is made, with the
/// gradient mode of that time.
#[derive(Clone, Debug)]
pub struct Categorical {
    /// Probabilities, which add up to 1 along the last axis.
    pub probs: Tensor,
    /// Their logarithms.
    pub logits: Tensor,
}

impl Categorical {
    /// With weights of at least 0, which are divided by their sum.
    pub fn new(weights: &Tensor) -> Result<Self> {
        check_axes(weights)?;
        let total = weights.sum_with(|o| o.axes(&[-1]).keepdims(true))?;
        let probs = weights.divide(&total)?;
        let sums = total.greater(0)?.logical_and(&total.isfinite()?)?;
        let met = weights.greater_equal(0)?.logical_and(&sums)?;
        expect("Categorical: probs", "weights of at least 0 with a finite sum above 0", &met)?;
        let logits = clamp_probs(&probs)?.log()?;
        Ok(Self { probs, logits })
    }

    /// With logarithms of weights.
    pub fn with_logits(logits: &Tensor) -> Result<Self> {
        check_axes(logits)?;
        expect_real("Categorical: logits", logits)?;
        let total = logits.logsumexp_with(|o| o.axes(&[-1]).keepdims(true))?;
        let logits = logits.subtract(&total)?;
        Ok(Self { probs: logits.softmax()?, logits })
    }

    fn outcomes(&self) -> i64 {
        self.probs.size(-1)
    }
}

fn check_axes(weights: &Tensor) -> Result<()> {
    let shape = weights.shape();
    if shape.last().is_some_and(|outcomes| *outcomes > 0) {
        return Ok(());
    }
    let text = "Categorical: expected weights with at least one axis and one outcome";
    let text = format!("{text}, got shape {shape:?}");
    Err(Error::refused(ErrorKind::Shape, text))
}

impl Distribution for Categorical {
    fn batch_shape(&self) -> Vec<i64> {
        let mut shape = self.probs.shape();
        shape.pop();
        shape
    }

    /// NaN: the numbers are names of outcomes.
    fn mean(&self) -> Result<Tensor> {
        let like = &self.probs;
        Tensor::full_with(&self.batch_shape(), f64::NAN, |o| {
            o.dtype(like.dtype()).device(like.device())
        })
    }

    /// NaN.
    fn variance(&self) -> Result<Tensor> {
        self.mean()
    }

    fn sample(&self, shape: &[i64]) -> Result<Tensor> {
        let _guard = no_grad();
        let whole = extended(shape, self);
        if whole.contains(&0) {
            let device = self.probs.device();
            return Tensor::empty_with(&whole, |o| o.dtype(DType::I64).device(device));
        }
        let draws = shape.iter().try_fold(1, |draws, &size| i64::checked_mul(draws, size));
        let draws = draws.ok_or_else(|| {
            let text =
                format!("Categorical: sample: expected fewer than 2^63 draws, got {shape:?}");
            Error::refused(ErrorKind::Shape, text)
        })?;
        let rows = self.probs.reshape(&[-1, self.outcomes()])?;
        rows.multinomial_with(draws, |o| o.replacement(true))?.matrix_transpose()?.reshape(&whole)
    }

    fn rsample(&self, _: &[i64]) -> Result<Tensor> {
        Err(no_rsample("Categorical"))
    }

    fn log_prob(&self, value: &Tensor) -> Result<Tensor> {
        let count = self.outcomes();
        let index = value.astype(DType::I64)?;
        let known = index.greater_equal(0)?.logical_and(&index.less(count)?)?;
        let met = known.logical_and(&index.equal(value)?)?;
        expect("Categorical: value", &format!("whole numbers from 0 to {}", count - 1), &met)?;
        let index = index.unsqueeze(-1)?;
        let both = Tensor::broadcast_tensors(&[&index, &self.logits.narrow(-1, 0, 1)?])?;
        let mut shape = both[0].shape();
        *shape.last_mut().expect("the axis of outcomes") = count;
        self.logits.broadcast_to(&shape)?.gather(-1, &both[0])?.squeeze(&[-1])
    }

    fn entropy(&self) -> Result<Tensor> {
        // An outcome of probability 0 adds nothing, whatever its logarithm.
        let lowest = -limits_of(&self.logits)?.max;
        let terms = self.probs.multiply(&self.logits.clip_with(|o| o.min(lowest))?)?;
        terms.sum_with(|o| o.axes(&[-1]))?.negative()
    }

    fn kl_divergence(&self, other: &Self) -> Result<Tensor> {
        let terms = self.probs.multiply(&self.logits.subtract(&other.logits)?)?;
        let excluded = other.probs.equal(0)?.logical_and(&self.probs.greater(0)?)?;
        let terms = excluded.where_cond(f64::INFINITY, &terms)?;
        self.probs.equal(0)?.where_cond(0.0, &terms)?.sum_with(|o| o.axes(&[-1]))
    }
}
