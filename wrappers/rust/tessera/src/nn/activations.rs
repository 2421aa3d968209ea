// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Layers without parameters, for [`Sequential`](super::Sequential).

use super::Module;
use crate::{Result, Tensor};
use std::fmt;

macro_rules! activations {
    ($($(#[$doc:meta])* $name:ident $fields:tt, |$layer:pat_param, $x:ident| $call:expr;)*) => {$(
        activations!(@declare $(#[$doc])* $name $fields);

        impl Module for $name {
            fn forward(&self, $x: &Tensor) -> Result<Tensor> {
                let $layer = self;
                $call
            }
        }
    )*};
    (@declare $(#[$doc:meta])* $name:ident ()) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
    };
    (@declare $(#[$doc:meta])* $name:ident ($($kind:ty),+)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name($(pub $kind),+);
    };
}

activations! {
    /// `max(x, 0)`.
    Relu (), |_, x| x.relu();
    /// Gaussian error linear unit.
    Gelu (), |_, x| x.gelu();
    /// `x * sigmoid(x)`.
    Silu (), |_, x| x.silu();
    /// `1 / (1 + exp(-x))`.
    Sigmoid (), |_, x| x.sigmoid();
    /// Hyperbolic tangent.
    Tanh (), |_, x| x.tanh();
    /// `x` where positive, else this slope times `x`.
    LeakyRelu (f64), |Self(slope), x| x.leaky_relu_with(|o| o.negative_slope(*slope));
    /// `x` where positive, else this factor times `exp(x) - 1`.
    Elu (f64), |Self(alpha), x| x.elu_with(|o| o.alpha(*alpha));
    /// `x` where positive, else this factor `a` times `exp(x / a) - 1`.
    Celu (f64), |Self(alpha), x| x.celu_with(|o| o.alpha(*alpha));
    /// Elu with the scales that keep mean 0 and variance 1.
    Selu (), |_, x| x.selu();
    /// `x * tanh(softplus(x))`.
    Mish (), |_, x| x.mish();
    /// `x * relu6(x + 3) / 6`.
    Hardswish (), |_, x| x.hardswish();
    /// `relu6(x + 3) / 6`.
    Hardsigmoid (), |_, x| x.hardsigmoid();
    /// The input limited to 0 and 6.
    Relu6 (), |_, x| x.relu6();
    /// The input limited to these two numbers.
    Hardtanh (f64, f64), |Self(low, high), x| x.hardtanh_with(|o| o.min_val(*low).max_val(*high));
    /// `log(1 + exp(b * x)) / b` for this number `b`.
    Softplus (f64), |Self(beta), x| x.softplus_with(|o| o.beta(*beta));
    /// `x / (1 + |x|)`.
    Softsign (), |_, x| x.softsign();
    /// `x - tanh(x)`.
    Tanhshrink (), |_, x| x.tanhshrink();
    /// `x` nearer to 0 by this number, 0 within it.
    Softshrink (f64), |Self(lambd), x| x.softshrink_with(|o| o.lambd(*lambd));
    /// `x`, and 0 where it is at most this number away from 0.
    Hardshrink (f64), |Self(lambd), x| x.hardshrink_with(|o| o.lambd(*lambd));
    /// `x` above the first number, else the second.
    Threshold (f64, f64), |Self(limit, value), x| x.threshold(*limit, *value);
    /// The logarithm of the sigmoid function.
    LogSigmoid (), |_, x| x.logsigmoid();
    /// `a * sigmoid(b)` for the halves of the input along this axis.
    Glu (i64), |Self(axis), x| x.glu_with(|o| o.axis(*axis));
    /// Softmax of the negative input over this axis.
    Softmin (i64), |Self(axis), x| x.softmin_with(|o| o.axis(*axis));
    /// Softmax over this axis.
    Softmax (i64), |Self(axis), x| x.softmax_with(|o| o.axis(*axis));
    /// The logarithm of softmax over this axis.
    LogSoftmax (i64), |Self(axis), x| x.log_softmax_with(|o| o.axis(*axis));
    /// Returns the input.
    Identity (), |_, x| Ok(x.clone());
    /// Joins all axes from this one on.
    Flatten (i64), |Self(start), x| x.flatten_with(|o| o.start(*start));
    /// Divides this axis into two of these sizes, of which one may be -1.
    Unflatten (i64, [i64; 2]), |Self(axis, sizes), x| x.unflatten(*axis, sizes);
}

/// A function as a module.
///
/// ```
/// use tessera::nn::{Func, Sequential};
/// let twice = Sequential::new().with(Func::new(|x| x.multiply(2)));
/// ```
pub struct Func(Box<Function>);

type Function = dyn Fn(&Tensor) -> Result<Tensor> + Send + Sync;

impl Func {
    /// The function as a module.
    pub fn new(function: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static) -> Self {
        Self(Box::new(function))
    }
}

impl fmt::Debug for Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Func")
    }
}

impl Module for Func {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        (self.0)(input)
    }
}
