// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Distributions made of gamma numbers: Gamma, Dirichlet and Beta.

use super::{
    broadcast, clamp_probs, expect, expect_between, expect_event, expect_positive, extended,
    limits_of, Distribution,
};
use crate::{Error, ErrorKind, Operand, Result, Tensor};

/// Gamma numbers of rate 1, none of them 0.
fn gamma_numbers(concentration: &Tensor, shape: &[i64]) -> Result<Tensor> {
    let drawn = concentration.broadcast_to(shape)?.standard_gamma()?;
    let tiny = limits_of(&drawn)?.tiny;
    drawn.clip_with(|o| o.min(tiny))
}

/// Density `rate^a x^(a - 1) exp(-rate x) / gamma(a)` with the concentration `a`.
#[derive(Clone, Debug)]
pub struct Gamma {
    /// The shape of the density.
    pub concentration: Tensor,
    /// The inverse of its width.
    pub rate: Tensor,
}

impl Gamma {
    /// With a concentration and a rate above 0.
    pub fn new<'a>(
        concentration: impl Into<Operand<'a>>,
        rate: impl Into<Operand<'a>>,
    ) -> Result<Self> {
        let [concentration, rate] = broadcast([concentration.into(), rate.into()])?;
        expect_positive("Gamma: concentration", &concentration)?;
        expect_positive("Gamma: rate", &rate)?;
        Ok(Self { concentration, rate })
    }
}

impl Distribution for Gamma {
    fn batch_shape(&self) -> Vec<i64> {
        self.rate.shape()
    }

    fn mean(&self) -> Result<Tensor> {
        self.concentration.divide(&self.rate)
    }

    fn variance(&self) -> Result<Tensor> {
        self.concentration.divide(&self.rate.square()?)
    }

    fn rsample(&self, shape: &[i64]) -> Result<Tensor> {
        let drawn = gamma_numbers(&self.concentration, &extended(shape, self))?;
        let tiny = limits_of(&drawn)?.tiny;
        drawn.divide(&self.rate)?.clip_with(|o| o.min(tiny))
    }

    fn log_prob(&self, value: &Tensor) -> Result<Tensor> {
        expect("Gamma: value", "numbers of at least 0", &value.greater_equal(0)?)?;
        let a = &self.concentration;
        let scale = a.xlogy(&self.rate)?.subtract(&a.lgamma()?)?;
        let power = a.subtract(1)?.xlogy(value)?;
        scale.add(&power)?.subtract(&self.rate.multiply(value)?)
    }

    fn entropy(&self) -> Result<Tensor> {
        let a = &self.concentration;
        let rest = a.subtract_left(1)?.multiply(&a.digamma()?)?;
        a.subtract(&self.rate.log()?)?.add(&a.lgamma()?)?.add(&rest)
    }

    fn kl_divergence(&self, other: &Self) -> Result<Tensor> {
        let (a, b) = (&self.concentration, &other.concentration);
        let scale = b.multiply(&self.rate.divide(&other.rate)?.log()?)?;
        let shape = a.subtract(b)?.multiply(&a.digamma()?)?;
        let mean = other.rate.subtract(&self.rate)?.multiply(&a.divide(&self.rate)?)?;
        scale.add(&b.lgamma()?)?.subtract(&a.lgamma()?)?.add(&shape)?.add(&mean)
    }
}

/// Shares that add up to 1, along the last axis: gamma numbers divided by their sum.
#[derive(Clone, Debug)]
pub struct Dirichlet {
    /// The shapes of the gamma numbers.
    pub concentration: Tensor,
}

impl Dirichlet {
    /// With concentrations above 0, which have at least one axis.
    pub fn new(concentration: &Tensor) -> Result<Self> {
        if concentration.ndim() == 0 {
            let text = "Dirichlet: expected concentrations with at least one axis, got shape []";
            return Err(Error::refused(ErrorKind::Shape, text));
        }
        expect_positive("Dirichlet: concentration", concentration)?;
        Ok(Self { concentration: concentration.clone() })
    }

    fn total(&self) -> Result<Tensor> {
        self.concentration.sum_with(|o| o.axes(&[-1]).keepdims(true))
    }

    /// The logarithm of the beta function of several variables, the factor of the density.
    fn log_beta(&self) -> Result<Tensor> {
        let parts = self.concentration.lgamma()?.sum_with(|o| o.axes(&[-1]))?;
        parts.subtract(&self.concentration.sum_with(|o| o.axes(&[-1]))?.lgamma()?)
    }

    /// `digamma(concentration) - digamma(total)`: the means of the logarithms of the shares.
    fn mean_logs(&self) -> Result<Tensor> {
        self.concentration.digamma()?.subtract(&self.total()?.digamma()?)
    }
}

impl Distribution for Dirichlet {
    fn batch_shape(&self) -> Vec<i64> {
        let mut shape = self.concentration.shape();
        shape.pop();
        shape
    }

    fn event_shape(&self) -> Vec<i64> {
        vec![self.concentration.size(-1)]
    }

    fn mean(&self) -> Result<Tensor> {
        self.concentration.divide(&self.total()?)
    }

    fn variance(&self) -> Result<Tensor> {
        let (a, total) = (&self.concentration, self.total()?);
        let size = total.square()?.multiply(&total.add(1)?)?;
        a.multiply(&total.subtract(a)?)?.divide(&size)
    }

    fn rsample(&self, shape: &[i64]) -> Result<Tensor> {
        let drawn = gamma_numbers(&self.concentration, &extended(shape, self))?;
        drawn.divide(&drawn.sum_with(|o| o.axes(&[-1]).keepdims(true))?)
    }

    fn log_prob(&self, value: &Tensor) -> Result<Tensor> {
        expect_event("Dirichlet", value, &self.event_shape())?;
        let off = value.sum_with(|o| o.axes(&[-1]).keepdims(true))?.subtract(1)?.abs()?;
        let met = value.greater_equal(0)?.logical_and(&off.less(1e-6)?)?;
        expect("Dirichlet: value", "shares that add up to 1", &met)?;
        let terms = self.concentration.subtract(1)?.xlogy(value)?;
        terms.sum_with(|o| o.axes(&[-1]))?.subtract(&self.log_beta()?)
    }

    fn entropy(&self) -> Result<Tensor> {
        let parts = self.concentration.subtract(1)?.multiply(&self.mean_logs()?)?;
        self.log_beta()?.subtract(&parts.sum_with(|o| o.axes(&[-1]))?)
    }

    fn kl_divergence(&self, other: &Self) -> Result<Tensor> {
        let apart = self.concentration.subtract(&other.concentration)?;
        let parts = apart.multiply(&self.mean_logs()?)?.sum_with(|o| o.axes(&[-1]))?;
        other.log_beta()?.subtract(&self.log_beta()?)?.add(&parts)
    }
}

/// Density `x^(a - 1) (1 - x)^(b - 1) / B(a, b)`: the first share of a [`Dirichlet`] distribution of
/// two.
#[derive(Clone, Debug)]
pub struct Beta {
    /// The number `a`.
    pub concentration1: Tensor,
    /// The number `b`.
    pub concentration0: Tensor,
    both: Dirichlet,
}

impl Beta {
    /// With the numbers `a` and `b` above 0.
    pub fn new<'a>(
        concentration1: impl Into<Operand<'a>>,
        concentration0: impl Into<Operand<'a>>,
    ) -> Result<Self> {
        let [a, b] = broadcast([concentration1.into(), concentration0.into()])?;
        expect_positive("Beta: concentration1", &a)?;
        expect_positive("Beta: concentration0", &b)?;
        let both = Dirichlet { concentration: Tensor::stack_with(&[&a, &b], |o| o.axis(-1))? };
        Ok(Self { concentration1: a, concentration0: b, both })
    }
}

impl Distribution for Beta {
    fn batch_shape(&self) -> Vec<i64> {
        self.concentration1.shape()
    }

    fn mean(&self) -> Result<Tensor> {
        self.both.mean()?.select(-1, 0)
    }

    fn variance(&self) -> Result<Tensor> {
        self.both.variance()?.select(-1, 0)
    }

    fn rsample(&self, shape: &[i64]) -> Result<Tensor> {
        clamp_probs(&self.both.rsample(shape)?.select(-1, 0)?)
    }

    fn log_prob(&self, value: &Tensor) -> Result<Tensor> {
        expect_between("Beta: value", value, 0.0, 1.0)?;
        let low = self.concentration1.subtract(1)?.xlogy(value)?;
        let high = self.concentration0.subtract(1)?.xlog1py(&value.negative()?)?;
        low.add(&high)?.subtract(&self.both.log_beta()?)
    }

    fn entropy(&self) -> Result<Tensor> {
        self.both.entropy()
    }

    fn kl_divergence(&self, other: &Self) -> Result<Tensor> {
        self.both.kl_divergence(&other.both)
    }
}
