// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Distributions of real numbers: Normal, Uniform and Exponential.

use super::{broadcast, expect, expect_positive, expect_real, extended, Distribution};
use crate::{Operand, Result, Tensor};
use std::f64::consts::PI;

/// Density `exp(-z^2 / 2) / (scale sqrt(2 pi))` with `z = (x - loc) / scale`.
#[derive(Clone, Debug)]
pub struct Normal {
    /// The mean.
    pub loc: Tensor,
    /// The standard deviation.
    pub scale: Tensor,
}

impl Normal {
    /// With a mean and a standard deviation above 0.
    pub fn new<'a>(loc: impl Into<Operand<'a>>, scale: impl Into<Operand<'a>>) -> Result<Self> {
        let [loc, scale] = broadcast([loc.into(), scale.into()])?;
        expect_real("Normal: loc", &loc)?;
        expect_positive("Normal: scale", &scale)?;
        Ok(Self { loc, scale })
    }
}

impl Distribution for Normal {
    fn batch_shape(&self) -> Vec<i64> {
        self.loc.shape()
    }

    fn mean(&self) -> Result<Tensor> {
        Ok(self.loc.clone())
    }

    fn variance(&self) -> Result<Tensor> {
        self.scale.square()
    }

    fn rsample(&self, shape: &[i64]) -> Result<Tensor> {
        let options = |o: crate::ops::RandnOptions<'static>| {
            o.dtype(self.loc.dtype()).device(self.loc.device())
        };
        let drawn = Tensor::randn_with(&extended(shape, self), options)?;
        self.loc.add(&self.scale.multiply(&drawn)?)
    }

    fn log_prob(&self, value: &Tensor) -> Result<Tensor> {
        expect_real("Normal: value", value)?;
        let z = value.subtract(&self.loc)?.divide(&self.scale)?;
        z.square()?.multiply(-0.5)?.subtract(&self.scale.log()?)?.subtract(0.5 * (2.0 * PI).ln())
    }

    fn entropy(&self) -> Result<Tensor> {
        self.scale.log()?.add(0.5 + 0.5 * (2.0 * PI).ln())
    }

    fn kl_divergence(&self, other: &Self) -> Result<Tensor> {
        let ratio = self.scale.divide(&other.scale)?.square()?;
        let shift = self.loc.subtract(&other.loc)?.divide(&other.scale)?.square()?;
        ratio.add(&shift)?.subtract(1)?.subtract(&ratio.log()?)?.multiply(0.5)
    }
}

/// All numbers from `low` to below `high` are equally likely.
#[derive(Clone, Debug)]
pub struct Uniform {
    /// The least number.
    pub low: Tensor,
    /// The end of the numbers.
    pub high: Tensor,
}

impl Uniform {
    /// Between two bounds, of which the first is lower.
    pub fn new<'a>(low: impl Into<Operand<'a>>, high: impl Into<Operand<'a>>) -> Result<Self> {
        let [low, high] = broadcast([low.into(), high.into()])?;
        expect("Uniform: high", "numbers above low", &low.less(&high)?)?;
        Ok(Self { low, high })
    }

    fn width(&self) -> Result<Tensor> {
        self.high.subtract(&self.low)
    }
}

impl Distribution for Uniform {
    fn batch_shape(&self) -> Vec<i64> {
        self.low.shape()
    }

    fn mean(&self) -> Result<Tensor> {
        self.high.add(&self.low)?.divide(2)
    }

    fn variance(&self) -> Result<Tensor> {
        self.width()?.square()?.divide(12)
    }

    fn rsample(&self, shape: &[i64]) -> Result<Tensor> {
        let options =
            |o: crate::ops::EmptyOptions| o.dtype(self.low.dtype()).device(self.low.device());
        let drawn = Tensor::empty_with(&extended(shape, self), options)?;
        drawn.uniform_(|o| o)?;
        self.low.add(&drawn.multiply(&self.width()?)?)
    }

    fn log_prob(&self, value: &Tensor) -> Result<Tensor> {
        let inside = value.greater_equal(&self.low)?.logical_and(&value.less_equal(&self.high)?)?;
        expect("Uniform: value", "numbers from low to high", &inside)?;
        let density = self.width()?.log()?.negative()?;
        value.less(&self.high)?.where_cond(&density, f64::NEG_INFINITY)
    }

    fn entropy(&self) -> Result<Tensor> {
        self.width()?.log()
    }

    /// Infinite where the other distribution excludes some values.
    fn kl_divergence(&self, other: &Self) -> Result<Tensor> {
        let inside =
            other.low.less_equal(&self.low)?.logical_and(&other.high.greater_equal(&self.high)?)?;
        let ratio = other.width()?.divide(&self.width()?)?.log()?;
        inside.where_cond(&ratio, f64::INFINITY)
    }
}

/// Density `rate exp(-rate x)` for `x >= 0`.
#[derive(Clone, Debug)]
pub struct Exponential {
    /// The inverse of the mean.
    pub rate: Tensor,
}

impl Exponential {
    /// With a rate above 0.
    pub fn new<'a>(rate: impl Into<Operand<'a>>) -> Result<Self> {
        let [rate] = broadcast([rate.into()])?;
        expect_positive("Exponential: rate", &rate)?;
        Ok(Self { rate })
    }
}

impl Distribution for Exponential {
    fn batch_shape(&self) -> Vec<i64> {
        self.rate.shape()
    }

    fn mean(&self) -> Result<Tensor> {
        self.rate.reciprocal()
    }

    fn variance(&self) -> Result<Tensor> {
        self.rate.pow(-2)
    }

    fn rsample(&self, shape: &[i64]) -> Result<Tensor> {
        let options =
            |o: crate::ops::EmptyOptions| o.dtype(self.rate.dtype()).device(self.rate.device());
        let drawn = Tensor::empty_with(&extended(shape, self), options)?;
        drawn.exponential_(|o| o)?;
        drawn.divide(&self.rate)
    }

    fn log_prob(&self, value: &Tensor) -> Result<Tensor> {
        expect("Exponential: value", "numbers of at least 0", &value.greater_equal(0)?)?;
        self.rate.log()?.subtract(&self.rate.multiply(value)?)
    }

    fn entropy(&self) -> Result<Tensor> {
        self.rate.log()?.subtract_left(1)
    }

    fn kl_divergence(&self, other: &Self) -> Result<Tensor> {
        let ratio = other.rate.divide(&self.rate)?;
        ratio.subtract(1)?.subtract(&ratio.log()?)
    }
}
