// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Probability distributions: random values, densities, moments and divergences, with the names,
//! formulas and errors of Python's `tessera.distributions`.
//!
//! A distribution is a batch of independent ones, which differ in their parameters. Parameters are
//! tensors or numbers, and broadcast.
//!
//! ```
//! # fn main() -> tessera::Result<()> {
//! use tessera::distributions::{kl_divergence, Distribution, Normal};
//! use tessera::Tensor;
//! let mean = Tensor::from([0.0, 1.0]).requiring_grad()?;
//! let posterior = Normal::new(&mean, 0.5)?;
//! let z = posterior.rsample(&[10])?; // ten draws from each; gradients flow to `mean`
//! assert_eq!(z.shape(), [10, 2]);
//! let cost = kl_divergence(&posterior, &Normal::new(0.0, 1.0)?)?.sum()?;
//! cost.subtract(&posterior.log_prob(&z)?.mean()?)?.backward()?;
//! # Ok(())
//! # }
//! ```

mod continuous;
mod discrete;
mod gamma;
mod multivariate;

use crate::{no_grad, DType, Error, ErrorKind, Operand, Result, Scalar, Tensor};

pub use continuous::{Exponential, Normal, Uniform};
pub use discrete::{Bernoulli, Categorical};
pub use gamma::{Beta, Dirichlet, Gamma};
pub use multivariate::MultivariateNormal;

/// A batch of independent distributions of one kind.
///
/// A sample has the shape `shape`, then [`Distribution::batch_shape`], then
/// [`Distribution::event_shape`]: so many draws, so many distributions, and the axes of one value.
pub trait Distribution {
    /// One size for each axis of the parameters.
    fn batch_shape(&self) -> Vec<i64>;

    /// The shape of one value; empty for distributions of numbers.
    fn event_shape(&self) -> Vec<i64> {
        Vec::new()
    }

    /// The mean of each distribution.
    fn mean(&self) -> Result<Tensor>;

    /// The variance of each distribution, of vectors that of each element.
    fn variance(&self) -> Result<Tensor>;

    /// Random values, which take no part in any graph.
    fn sample(&self, shape: &[i64]) -> Result<Tensor> {
        let _guard = no_grad();
        self.rsample(shape)
    }

    /// Random values that can be differentiated with respect to the parameters. An error of kind
    /// `NotImplemented` where the values are discrete.
    fn rsample(&self, shape: &[i64]) -> Result<Tensor>;

    /// The logarithm of the density, or of the probability, at each value. An error of kind `Value`
    /// for values that the distribution cannot have, of kind `Shape` unless the shape of the values
    /// ends in `event_shape`.
    fn log_prob(&self, value: &Tensor) -> Result<Tensor>;

    /// The entropy of each distribution.
    fn entropy(&self) -> Result<Tensor>;

    /// The expectation under this distribution of the difference of the two logarithms of the
    /// density.
    fn kl_divergence(&self, other: &Self) -> Result<Tensor>
    where
        Self: Sized;
}

/// The divergence of Kullback and Leibler of two distributions of one kind.
pub fn kl_divergence<D: Distribution>(p: &D, q: &D) -> Result<Tensor> {
    p.kl_divergence(q)
}

// ---- Parameters ----

/// The parameters as tensors of one shape; numbers take dtype and device of the tensors.
fn broadcast<const N: usize>(values: [Operand<'_>; N]) -> Result<[Tensor; N]> {
    let like = values.iter().find_map(|value| match value {
        Operand::Tensor(tensor) => Some(*tensor),
        Operand::Scalar(_) => None,
    });
    let made: Vec<Tensor> = values
        .iter()
        .map(|value| match value {
            Operand::Tensor(tensor) => Ok((*tensor).clone()),
            Operand::Scalar(number) => of_number(*number, like),
        })
        .collect::<Result<_>>()?;
    let made = Tensor::broadcast_tensors(&made)?;
    Ok(made.try_into().expect("as many tensors as given"))
}

fn of_number(number: Scalar, like: Option<&Tensor>) -> Result<Tensor> {
    let value = match number {
        Scalar::Bool(value) => f64::from(u8::from(value)),
        Scalar::I64(value) => value as f64,
        Scalar::U64(value) => value as f64,
        Scalar::F64(value) => value,
        Scalar::C128(..) => {
            return Err(Error::refused(ErrorKind::Dtype, "a parameter: expected a real number"));
        }
    };
    let Some(like) = like else {
        return Tensor::full(&[], value);
    };
    let dtype = if limits(like.dtype()).is_some() { like.dtype() } else { DType::default_float() };
    Tensor::full_with(&[], value, |o| o.dtype(dtype).device(like.device()))
}

/// What a floating dtype can represent.
struct Limits {
    /// The distance of 1 to the next number.
    eps: f64,
    /// The smallest normal number.
    tiny: f64,
    /// The largest number.
    max: f64,
}

fn limits(dtype: DType) -> Option<Limits> {
    let single = f64::from(f32::MIN_POSITIVE);
    let (eps, tiny, max) = match dtype {
        DType::F16 => (2f64.powi(-10), 2f64.powi(-14), 65504.0),
        DType::Bf16 => (2f64.powi(-7), single, (1.0 - 2f64.powi(-8)) * 2f64.powi(128)),
        DType::F32 => (f64::from(f32::EPSILON), single, f64::from(f32::MAX)),
        DType::F64 => (f64::EPSILON, f64::MIN_POSITIVE, f64::MAX),
        _ => return None,
    };
    Some(Limits { eps, tiny, max })
}

fn limits_of(tensor: &Tensor) -> Result<Limits> {
    limits(tensor.dtype()).ok_or_else(|| {
        let text = format!("a parameter: expected a floating dtype, got {}", tensor.dtype());
        Error::refused(ErrorKind::Dtype, text)
    })
}

/// Moves probabilities away from 0 and 1 by one unit of their dtype.
fn clamp_probs(probs: &Tensor) -> Result<Tensor> {
    let eps = limits_of(probs)?.eps;
    probs.clip_with(|o| o.min(eps).max(1.0 - eps))
}

/// The shape of a sample.
fn extended(shape: &[i64], distribution: &impl Distribution) -> Vec<i64> {
    [shape, &distribution.batch_shape(), &distribution.event_shape()].concat()
}

// ---- Checks ----

/// An error of kind `Value` unless all elements are true.
fn expect(what: &str, expected: &str, met: &Tensor) -> Result<()> {
    if met.all()?.item::<bool>()? {
        return Ok(());
    }
    let shape = met.shape();
    let text =
        format!("{what}: expected {expected}, got one outside in a tensor of shape {shape:?}");
    Err(Error::refused(ErrorKind::Value, text))
}

fn expect_positive(what: &str, tensor: &Tensor) -> Result<()> {
    expect(what, "numbers above 0", &tensor.greater(0)?)
}

fn expect_real(what: &str, tensor: &Tensor) -> Result<()> {
    expect(what, "numbers that are not NaN", &tensor.equal(tensor)?)
}

fn expect_between(what: &str, tensor: &Tensor, low: f64, high: f64) -> Result<()> {
    let met = tensor.greater_equal(low)?.logical_and(&tensor.less_equal(high)?)?;
    expect(what, &format!("numbers from {low} to {high}"), &met)
}

/// An error of kind `Shape` unless the last axes of a value are those of one value of the
/// distribution.
fn expect_event(kind: &str, value: &Tensor, event: &[i64]) -> Result<()> {
    let shape = value.shape();
    if shape.ends_with(event) {
        return Ok(());
    }
    let text = format!("{kind}: value: expected a shape that ends in {event:?}, got {shape:?}");
    Err(Error::refused(ErrorKind::Shape, text))
}

fn no_rsample(kind: &str) -> Error {
    Error::refused(ErrorKind::NotImplemented, format!("{kind} has no rsample"))
}
