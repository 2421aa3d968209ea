// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Optimizers: SGD, Adam, AdamW. Each step is one call of the library for all parameters.

mod adam;
mod sgd;

use crate::io::TensorMap;
use crate::{Error, ErrorKind, Result, Tensor};
use std::fmt;

pub use adam::{Adam, AdamConfig, AdamW};
pub use sgd::{Sgd, SgdConfig};

pub use crate::ops::{
    clip_grad_norm, clip_grad_norm_with, clip_grad_value, clip_norm, clip_norm_with,
};

/// Changes parameters by their gradients.
pub trait Optimizer {
    /// One step. Parameters without a gradient stay as they are.
    fn step(&mut self) -> Result<()>;

    /// The parameters.
    fn parameters(&self) -> &[Tensor];

    /// The factor of a step.
    fn learning_rate(&self) -> f64;

    /// Sets the factor of a step, for a schedule.
    fn set_learning_rate(&mut self, rate: f64);

    /// The state beyond the parameters, for a file: `<name>.<number of the parameter>`.
    fn state_dict(&self) -> Result<TensorMap>;

    /// Takes over a copy of the state of an optimizer of the same parameters; after an error the state
    /// is what it was.
    fn load_state_dict(&mut self, state: &TensorMap) -> Result<()>;

    /// Clears the gradients of the parameters.
    fn zero_grad(&self) -> Result<()> {
        self.parameters().iter().try_for_each(|parameter| parameter.set_grad(None))
    }
}

/// Prints an optimizer without the elements of anything.
fn describe(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    optimizer: &dyn Optimizer,
    config: &dyn fmt::Debug,
) -> fmt::Result {
    let (count, rate) = (optimizer.parameters().len(), optimizer.learning_rate());
    write!(f, "{name}({count} parameters, rate={rate}, {config:?})")
}

/// The parameters that have a gradient now: their numbers, themselves, their gradients.
fn live(parameters: &[Tensor]) -> Result<Vec<(usize, Tensor, Tensor)>> {
    let mut found = Vec::with_capacity(parameters.len());
    for (number, parameter) in parameters.iter().enumerate() {
        if let Some(grad) = parameter.grad()? {
            found.push((number, parameter.clone(), grad));
        }
    }
    Ok(found)
}

/// Brings what is kept for a parameter to where and what the parameter is now: it may have been
/// converted since.
fn follow(kept: &mut Tensor, parameter: &Tensor) -> Result<()> {
    if kept.dtype() != parameter.dtype() || kept.device() != parameter.device() {
        *kept = kept.to_with(|o| o.dtype(parameter.dtype()).device(parameter.device()))?;
    }
    Ok(())
}

fn check_parameters(parameters: &[Tensor]) -> Result<()> {
    if parameters.is_empty() {
        return Err(Error::new(ErrorKind::Value, "an optimizer needs at least one parameter"));
    }
    for (number, parameter) in parameters.iter().enumerate() {
        if !parameter.is_leaf()? {
            return Err(Error::new(ErrorKind::Value, "only leaves can be optimized"));
        }
        if parameters[..number].iter().any(|other| other.is_same(parameter)) {
            return Err(Error::new(ErrorKind::Value, "a parameter is given twice"));
        }
    }
    Ok(())
}

fn check_not_negative(options: &[(&str, f64)]) -> Result<()> {
    match options.iter().find(|(_, value)| value.is_nan() || *value < 0.0) {
        None => Ok(()),
        Some((name, value)) => {
            Err(Error::new(ErrorKind::Value, format!("{name}: expected at least 0, got {value}")))
        }
    }
}

/// An error for entries of a state that this optimizer has no use for.
fn check_entries(state: &TensorMap, names: &[&str], parameters: &[Tensor]) -> Result<()> {
    let known = |entry: &str| {
        let (name, number) = entry.rsplit_once('.')?;
        let number: usize = number.parse().ok()?;
        (names.contains(&name) && number < parameters.len()).then_some(())
    };
    let unexpected: Vec<_> = state.keys().filter(|entry| known(entry).is_none()).collect();
    if unexpected.is_empty() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Value, format!("load_state_dict: unexpected: {unexpected:?}")))
}

/// What a state says of one parameter under a name, as a copy.
fn restored(
    state: &TensorMap,
    name: &str,
    number: usize,
    parameter: &Tensor,
) -> Result<Option<Tensor>> {
    let entry = format!("{name}.{number}");
    let Some(found) = state.get(&entry) else { return Ok(None) };
    let (have, got) = (parameter.shape(), found.shape());
    if have != got {
        let text = format!(
            "load_state_dict: {entry}: the parameter has shape {have:?}, the state {got:?}"
        );
        return Err(Error::new(ErrorKind::Shape, text));
    }
    found.detach()?.deep_clone().map(Some)
}
