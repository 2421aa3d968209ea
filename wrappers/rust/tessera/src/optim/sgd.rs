// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Gradient descent.

use super::{
    check_entries, check_not_negative, check_parameters, describe, follow, live, restored,
    Optimizer,
};
use crate::io::TensorMap;
use crate::ops::sgd_step_with;
use crate::{no_grad, Error, ErrorKind, Result, Tensor};
use std::collections::BTreeMap;
use std::fmt;

/// Options of [`Sgd`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)] // the words of the literature
pub struct SgdConfig {
    pub momentum: f64,
    pub dampening: f64,
    pub weight_decay: f64,
    pub nesterov: bool,
    pub maximize: bool,
}

/// Gradient descent, with momentum and weight decay.
pub struct Sgd {
    parameters: Vec<Tensor>,
    rate: f64,
    config: SgdConfig,
    buffers: BTreeMap<usize, Tensor>,
}

impl fmt::Debug for Sgd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "Sgd", self, &self.config)
    }
}

impl Sgd {
    /// For these parameters, with this learning rate.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// use tessera::{nn::{Linear, Module}, optim::{Optimizer, Sgd, SgdConfig}};
    /// let model = Linear::new(2, 1)?;
    /// let config = SgdConfig { momentum: 0.9, ..Default::default() };
    /// let mut optimizer = Sgd::new(model.parameters(), 0.1, config)?;
    /// optimizer.step()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(parameters: Vec<Tensor>, rate: f64, config: SgdConfig) -> Result<Self> {
        check_parameters(&parameters)?;
        check_not_negative(&[
            ("rate", rate),
            ("momentum", config.momentum),
            ("weight_decay", config.weight_decay),
        ])?;
        if config.nesterov && (config.momentum <= 0.0 || config.dampening != 0.0) {
            let text = "nesterov needs a momentum and no dampening";
            return Err(Error::new(ErrorKind::Value, text));
        }
        Ok(Self { parameters, rate, config, buffers: BTreeMap::new() })
    }

    /// One call for parameters that all have a buffer, or all have none yet.
    fn update(&mut self, chosen: &[(usize, Tensor, Tensor)], first: bool) -> Result<()> {
        if chosen.is_empty() {
            return Ok(());
        }
        let c = self.config;
        let mut buffers = Vec::new();
        if c.momentum != 0.0 {
            for (number, parameter, _) in chosen {
                if first {
                    self.buffers.insert(*number, Tensor::zeros_like(parameter)?);
                }
                let buffer = self.buffers.get_mut(number).expect("made above or before");
                follow(buffer, parameter)?;
                buffers.push(buffer.clone());
            }
        }
        let params: Vec<&Tensor> = chosen.iter().map(|(_, parameter, _)| parameter).collect();
        let grads: Vec<&Tensor> = chosen.iter().map(|(_, _, grad)| grad).collect();
        sgd_step_with(&params, &grads, &buffers, self.rate, |o| {
            o.momentum(c.momentum)
                .dampening(c.dampening)
                .weight_decay(c.weight_decay)
                .nesterov(c.nesterov)
                .maximize(c.maximize)
                .first_step(first)
        })
    }
}

impl Optimizer for Sgd {
    fn step(&mut self) -> Result<()> {
        let _guard = no_grad();
        let (known, new): (Vec<_>, Vec<_>) = live(&self.parameters)?
            .into_iter()
            .partition(|(number, ..)| self.buffers.contains_key(number));
        self.update(&new, true)?;
        self.update(&known, false)
    }

    fn parameters(&self) -> &[Tensor] {
        &self.parameters
    }

    fn learning_rate(&self) -> f64 {
        self.rate
    }

    fn set_learning_rate(&mut self, rate: f64) {
        self.rate = rate;
    }

    fn state_dict(&self) -> Result<TensorMap> {
        let named = self.buffers.iter();
        Ok(named.map(|(n, buffer)| (format!("momentum_buffer.{n}"), buffer.clone())).collect())
    }

    fn load_state_dict(&mut self, state: &TensorMap) -> Result<()> {
        check_entries(state, &["momentum_buffer"], &self.parameters)?;
        let mut buffers = BTreeMap::new();
        for (number, parameter) in self.parameters.iter().enumerate() {
            if let Some(buffer) = restored(state, "momentum_buffer", number, parameter)? {
                buffers.insert(number, buffer);
            }
        }
        self.buffers = buffers;
        Ok(())
    }
}
