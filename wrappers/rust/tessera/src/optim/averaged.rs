// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Averages of a model's parameters over training (Izmailov and others, "Averaging weights leads to
//! wider optima and better generalization", 2018), and exponential moving averages.

use crate::nn::{Module, Visitor};
use crate::{no_grad, DType, Error, ErrorKind, Result, Tensor};
use std::fmt;

/// A model whose parameters are averages of those that another model of the same kind had at each
/// [`AveragedModel::update`]. State dicts have the names of Python's AveragedModel.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{nn::{Linear, Module}, optim::AveragedModel, Tensor};
/// let model = Linear::new(2, 1)?;
/// let average = AveragedModel::exponential(Linear::new(2, 1)?, 0.99)?;
/// average.update(&model)?; // after each step of the optimizer
/// let x = Tensor::ones(&[3, 2])?;
/// assert_eq!(average.forward(&x)?.to_vec::<f32>()?, model.forward(&x)?.to_vec::<f32>()?);
/// # Ok(())
/// # }
/// ```
pub struct AveragedModel<M: Module> {
    module: M,
    count: Tensor,
    decay: Option<f64>,
    use_buffers: bool,
}

impl<M: Module> AveragedModel<M> {
    /// The mean of all models. The given one is for the result: its values are overwritten.
    pub fn new(module: M) -> Result<Self> {
        let count = Tensor::zeros_with(&[], |o| o.dtype(DType::I64))?;
        Ok(Self { module, count, decay: None, use_buffers: false })
    }

    /// At each update `decay` times the average and `1 - decay` times the model.
    pub fn exponential(module: M, decay: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&decay) {
            let text = format!("decay: expected a number between 0 and 1, got {decay}");
            return Err(Error::refused(ErrorKind::Value, text));
        }
        Ok(Self { decay: Some(decay), ..Self::new(module)? })
    }

    /// Whether buffers are averaged, too, instead of copied.
    #[must_use]
    pub fn use_buffers(mut self, on: bool) -> Self {
        self.use_buffers = on;
        self
    }

    /// The averaged model.
    pub fn module(&self) -> &M {
        &self.module
    }

    /// Takes the parameters of a model into the average; the first ones are copied.
    pub fn update(&self, model: &impl Module) -> Result<()> {
        let _guard = no_grad();
        let count = self.count.item::<i64>()?;
        // All are compared before the first one is written.
        let parameters = pairs("parameter", self.module.parameters(), model.parameters())?;
        let buffers = pairs("buffer", self.module.buffers(), model.buffers())?;
        for (own, new) in &parameters {
            self.average(own, new, count)?;
        }
        for (own, new) in &buffers {
            self.average(own, new, if self.use_buffers { count } else { 0 })?;
        }
        self.count.add_(1)?;
        Ok(())
    }

    fn average(&self, own: &Tensor, new: &Tensor, count: i64) -> Result<()> {
        let (own, new) = (own.detach()?, new.detach()?.to_with(|o| o.device(own.device()))?);
        let mean = match self.decay {
            _ if count == 0 => new,
            None => own.add(&new.subtract(&own)?.divide(count + 1)?)?,
            Some(decay) => own.multiply(decay)?.add(&new.multiply(1.0 - decay)?)?,
        };
        own.copy_(&mean, |o| o)?;
        Ok(())
    }
}

/// The tensors of the average, each with that of the model.
fn pairs(what: &str, own: Vec<Tensor>, new: Vec<Tensor>) -> Result<Vec<(Tensor, Tensor)>> {
    let refuse =
        |text: String| Err(Error::refused(ErrorKind::Value, format!("AveragedModel: {text}")));
    if own.len() != new.len() {
        let (wanted, found) = (own.len(), new.len());
        return refuse(format!("expected a model with {wanted} {what}s, got {found}"));
    }
    for (place, (a, b)) in own.iter().zip(&new).enumerate() {
        if a.shape() != b.shape() {
            let (wanted, found) = (a.shape(), b.shape());
            return refuse(format!("{what} {place}: expected shape {wanted:?}, got {found:?}"));
        }
    }
    Ok(own.into_iter().zip(new).collect())
}

impl<M: Module> Module for AveragedModel<M> {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.module.forward(input)
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.buffer("n_averaged", &self.count);
        visitor.module("module", &self.module);
    }
}

impl<M: Module> fmt::Debug for AveragedModel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("AveragedModel");
        out.field("decay", &self.decay).field("use_buffers", &self.use_buffers);
        out.finish_non_exhaustive()
    }
}
