// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The normal distribution of vectors.

use super::{expect, expect_event, expect_real, extended, Distribution};
use crate::{Error, ErrorKind, Result, Tensor};
use std::f64::consts::PI;

/// Normal vectors with a covariance matrix.
#[derive(Clone, Debug)]
pub struct MultivariateNormal {
    /// The means.
    pub loc: Tensor,
    /// The lower triangular matrix `L`; the covariance is `L` times its transpose.
    pub scale_tril: Tensor,
}

impl MultivariateNormal {
    /// With a mean of shape (..., n) and a positive definite covariance of shape (..., n, n).
    pub fn new(loc: &Tensor, covariance: &Tensor) -> Result<Self> {
        Self::check(loc, covariance)?;
        let (matrix, what) = (covariance.detach()?, "MultivariateNormal: covariance");
        let symmetric =
            matrix.isclose_with(&matrix.matrix_transpose()?, |o| o.rtol(1e-5).atol(1e-6))?;
        expect(what, "a symmetric matrix", &symmetric)?;
        let positive = matrix.eigvalsh()?.greater(0)?;
        expect(what, "a positive definite matrix (eigenvalues above 0)", &positive)?;
        Self::with_scale_tril(loc, &covariance.cholesky()?)
    }

    /// With the lower triangular factor of the covariance, whose diagonal is above 0.
    pub fn with_scale_tril(loc: &Tensor, scale_tril: &Tensor) -> Result<Self> {
        Self::check(loc, scale_tril)?;
        expect_real("MultivariateNormal: loc", loc)?;
        let lower = scale_tril.equal(&scale_tril.tril()?)?;
        expect("MultivariateNormal: scale_tril", "a lower triangular matrix", &lower)?;
        let positive = diagonal(scale_tril)?.greater(0)?;
        expect("MultivariateNormal: scale_tril", "a diagonal above 0", &positive)?;
        let size = loc.size(-1);
        let ends = [loc.select(-1, 0)?, scale_tril.select(-1, 0)?.select(-1, 0)?];
        let mut shape = Tensor::broadcast_tensors(&ends)?[0].shape();
        shape.push(size);
        let loc = loc.broadcast_to(&shape)?;
        shape.push(size);
        Ok(Self { loc, scale_tril: scale_tril.broadcast_to(&shape)? })
    }

    fn check(loc: &Tensor, matrix: &Tensor) -> Result<()> {
        let (vector, square) = (loc.shape(), matrix.shape());
        let ends = vector.last().map(|size| [*size, *size]);
        if ends.is_some_and(|ends| square.ends_with(&ends) && ends[0] > 0) {
            return Ok(());
        }
        let text = "MultivariateNormal: expected a vector loc and a square matrix of its length";
        Err(Error::refused(
            ErrorKind::Shape,
            format!("{text}, got shapes {vector:?} and {square:?}"),
        ))
    }

    /// The logarithm of the determinant of `scale_tril`.
    fn half_log_det(&self) -> Result<Tensor> {
        diagonal(&self.scale_tril)?.log()?.sum_with(|o| o.axes(&[-1]))
    }

    /// The squared length of `L^-1 d` for vectors `d`.
    fn distance(&self, difference: &Tensor) -> Result<Tensor> {
        let both = [self.scale_tril.select(-1, 0)?, difference.clone()];
        let mut shape = Tensor::broadcast_tensors(&both)?[0].shape();
        let column = difference.broadcast_to(&shape)?.unsqueeze(-1)?;
        shape.push(self.loc.size(-1));
        let solved = self.scale_tril.broadcast_to(&shape)?.solve_triangular(&column, false)?;
        solved.square()?.sum_with(|o| o.axes(&[-2, -1]))
    }
}

fn diagonal(matrix: &Tensor) -> Result<Tensor> {
    matrix.diagonal_with(|o| o.axis1(-2).axis2(-1))
}

impl Distribution for MultivariateNormal {
    fn batch_shape(&self) -> Vec<i64> {
        let mut shape = self.loc.shape();
        shape.pop();
        shape
    }

    fn event_shape(&self) -> Vec<i64> {
        vec![self.loc.size(-1)]
    }

    fn mean(&self) -> Result<Tensor> {
        Ok(self.loc.clone())
    }

    fn variance(&self) -> Result<Tensor> {
        self.scale_tril.square()?.sum_with(|o| o.axes(&[-1]))
    }

    fn rsample(&self, shape: &[i64]) -> Result<Tensor> {
        let options = |o: crate::ops::RandnOptions<'static>| {
            o.dtype(self.loc.dtype()).device(self.loc.device())
        };
        let drawn = Tensor::randn_with(&extended(shape, self), options)?;
        self.loc.add(&self.scale_tril.matmul(&drawn.unsqueeze(-1)?)?.squeeze(&[-1])?)
    }

    fn log_prob(&self, value: &Tensor) -> Result<Tensor> {
        expect_event("MultivariateNormal", value, &self.event_shape())?;
        expect_real("MultivariateNormal: value", value)?;
        let distance = self.distance(&value.subtract(&self.loc)?)?;
        let constant = 0.5 * self.loc.size(-1) as f64 * (2.0 * PI).ln();
        distance.multiply(-0.5)?.subtract(&self.half_log_det()?)?.subtract(constant)
    }

    fn entropy(&self) -> Result<Tensor> {
        self.half_log_det()?.add(0.5 * self.loc.size(-1) as f64 * (1.0 + (2.0 * PI).ln()))
    }

    fn kl_divergence(&self, other: &Self) -> Result<Tensor> {
        let (own, size) = (&self.scale_tril, self.loc.size(-1));
        let others = other.loc.size(-1);
        if others != size {
            let text =
                format!("kl_divergence: expected vectors of one length, got {size} and {others}");
            return Err(Error::refused(ErrorKind::Shape, text));
        }
        let both = Tensor::broadcast_tensors(&[own, &other.scale_tril])?;
        let solved = both[1].solve_triangular(&both[0], false)?;
        let trace = solved.square()?.sum_with(|o| o.axes(&[-2, -1]))?;
        let distance = other.distance(&other.loc.subtract(&self.loc)?)?;
        let halves = other.half_log_det()?.subtract(&self.half_log_det()?)?;
        halves.add(&trace.add(&distance)?.subtract(size)?.multiply(0.5)?)
    }
}
