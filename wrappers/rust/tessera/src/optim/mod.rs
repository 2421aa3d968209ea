// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Optimizers: SGD, Adam, AdamW. Each step is one call of the library for all parameters.

use crate::io::TensorMap;
use crate::ops::{adam_step_with, adamw_step_with, sgd_step_with};
use crate::{no_grad, DType, Error, ErrorKind, Result, Tensor};
use std::collections::BTreeMap;

pub use crate::ops::{clip_grad_norm, clip_grad_norm_with};

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

    /// Takes over the state of an optimizer of the same parameters.
    fn load_state_dict(&mut self, state: &TensorMap) -> Result<()>;

    /// Clears the gradients of the parameters.
    fn zero_grad(&self) -> Result<()> {
        self.parameters().iter().try_for_each(|parameter| parameter.set_grad(None))
    }
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

/// The tensor of a state under this name and number, as a copy.
fn restored(state: &TensorMap, name: &str, number: usize) -> Result<Option<Tensor>> {
    state.get(&format!("{name}.{number}")).map(|tensor| tensor.detach()?.deep_clone()).transpose()
}

// ---- SGD ----

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
#[derive(Debug)]
pub struct Sgd {
    parameters: Vec<Tensor>,
    rate: f64,
    config: SgdConfig,
    buffers: BTreeMap<usize, Tensor>,
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
                buffers.push(self.buffers[number].clone());
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
        self.buffers.clear();
        for number in 0..self.parameters.len() {
            if let Some(buffer) = restored(state, "momentum_buffer", number)? {
                self.buffers.insert(number, buffer);
            }
        }
        Ok(())
    }
}

// ---- Adam and AdamW ----

/// Options of [`Adam`] and [`AdamW`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // the words of the literature
pub struct AdamConfig {
    pub betas: (f64, f64),
    pub eps: f64,
    /// `None`: 0 for Adam, 0.01 for AdamW.
    pub weight_decay: Option<f64>,
    pub amsgrad: bool,
    pub maximize: bool,
}

impl Default for AdamConfig {
    fn default() -> Self {
        let (amsgrad, maximize) = (false, false);
        Self { betas: (0.9, 0.999), eps: 1e-8, weight_decay: None, amsgrad, maximize }
    }
}

#[derive(Clone, Debug)]
struct Moments {
    step: i64,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    max_exp_avg_sq: Option<Tensor>,
}

/// What Adam and AdamW share: everything but where the weight decay goes.
#[derive(Debug)]
struct Moment {
    parameters: Vec<Tensor>,
    rate: f64,
    config: AdamConfig,
    decay: f64,
    decoupled: bool,
    state: BTreeMap<usize, Moments>,
}

impl Moment {
    fn new(
        parameters: Vec<Tensor>,
        rate: f64,
        config: AdamConfig,
        decoupled: bool,
    ) -> Result<Self> {
        check_parameters(&parameters)?;
        let decay = config.weight_decay.unwrap_or(if decoupled { 1e-2 } else { 0.0 });
        check_not_negative(&[("rate", rate), ("eps", config.eps), ("weight_decay", decay)])?;
        let (first, second) = config.betas;
        if !(0.0..1.0).contains(&first) || !(0.0..1.0).contains(&second) {
            let text = format!("betas: expected numbers from 0 below 1, got {:?}", config.betas);
            return Err(Error::new(ErrorKind::Value, text));
        }
        Ok(Self { parameters, rate, config, decay, decoupled, state: BTreeMap::new() })
    }

    fn step(&mut self) -> Result<()> {
        let _guard = no_grad();
        let mut by_step: BTreeMap<i64, Vec<(usize, Tensor, Tensor)>> = BTreeMap::new();
        for (number, parameter, grad) in live(&self.parameters)? {
            if !self.state.contains_key(&number) {
                let zeros = || Tensor::zeros_like(&parameter);
                let max_exp_avg_sq = self.config.amsgrad.then(zeros).transpose()?;
                let (exp_avg, exp_avg_sq) = (zeros()?, zeros()?);
                let new = Moments { step: 0, exp_avg, exp_avg_sq, max_exp_avg_sq };
                self.state.insert(number, new);
            }
            let step = self.state[&number].step + 1;
            by_step.entry(step).or_default().push((number, parameter, grad));
        }
        for (step, chosen) in by_step {
            self.update(step, &chosen)?;
            for (number, ..) in &chosen {
                self.state.get_mut(number).expect("made above").step = step;
            }
        }
        Ok(())
    }

    fn update(&self, step: i64, chosen: &[(usize, Tensor, Tensor)]) -> Result<()> {
        let states: Vec<&Moments> = chosen.iter().map(|(number, ..)| &self.state[number]).collect();
        let params: Vec<&Tensor> = chosen.iter().map(|(_, parameter, _)| parameter).collect();
        let grads: Vec<&Tensor> = chosen.iter().map(|(_, _, grad)| grad).collect();
        let exp_avgs: Vec<&Tensor> = states.iter().map(|s| &s.exp_avg).collect();
        let exp_avg_sqs: Vec<&Tensor> = states.iter().map(|s| &s.exp_avg_sq).collect();
        let maxima: Vec<&Tensor> =
            states.iter().filter_map(|s| s.max_exp_avg_sq.as_ref()).collect();
        let c = &self.config;
        macro_rules! call {
            ($function:ident) => {
                $function(&params, &grads, &exp_avgs, &exp_avg_sqs, &maxima, step, self.rate, |o| {
                    o.beta1(c.betas.0)
                        .beta2(c.betas.1)
                        .eps(c.eps)
                        .weight_decay(self.decay)
                        .maximize(c.maximize)
                })
            };
        }
        if self.decoupled {
            call!(adamw_step_with)
        } else {
            call!(adam_step_with)
        }
    }

    fn state_dict(&self) -> Result<TensorMap> {
        let mut found = TensorMap::new();
        for (number, state) in &self.state {
            found.insert(format!("step.{number}"), Tensor::scalar(state.step)?);
            found.insert(format!("exp_avg.{number}"), state.exp_avg.clone());
            found.insert(format!("exp_avg_sq.{number}"), state.exp_avg_sq.clone());
            if let Some(maximum) = &state.max_exp_avg_sq {
                found.insert(format!("max_exp_avg_sq.{number}"), maximum.clone());
            }
        }
        Ok(found)
    }

    fn load_state_dict(&mut self, state: &TensorMap) -> Result<()> {
        self.state.clear();
        for number in 0..self.parameters.len() {
            let Some(step) = state.get(&format!("step.{number}")) else { continue };
            let get = |name: &str| {
                restored(state, name, number)?.ok_or_else(|| {
                    Error::new(ErrorKind::Value, format!("the state has no {name}.{number}"))
                })
            };
            let moments = Moments {
                step: step.astype(DType::I64)?.item()?,
                exp_avg: get("exp_avg")?,
                exp_avg_sq: get("exp_avg_sq")?,
                max_exp_avg_sq: restored(state, "max_exp_avg_sq", number)?,
            };
            self.state.insert(number, moments);
        }
        Ok(())
    }
}

macro_rules! adam {
    ($(#[$doc:meta])* $name:ident, $decoupled:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name(Moment);

        impl $name {
            /// For these parameters, with this learning rate.
            pub fn new(parameters: Vec<Tensor>, rate: f64, config: AdamConfig) -> Result<Self> {
                Moment::new(parameters, rate, config, $decoupled).map(Self)
            }
        }

        impl Optimizer for $name {
            fn step(&mut self) -> Result<()> {
                self.0.step()
            }

            fn parameters(&self) -> &[Tensor] {
                &self.0.parameters
            }

            fn learning_rate(&self) -> f64 {
                self.0.rate
            }

            fn set_learning_rate(&mut self, rate: f64) {
                self.0.rate = rate;
            }

            fn state_dict(&self) -> Result<TensorMap> {
                self.0.state_dict()
            }

            fn load_state_dict(&mut self, state: &TensorMap) -> Result<()> {
                self.0.load_state_dict(state)
            }
        }
    };
}

adam! {
    /// Steps scaled by running moments of the gradients; weight decay adds to the gradient.
    Adam, false
}
adam! {
    /// As [`Adam`], but weight decay shrinks the parameters directly.
    AdamW, true
}
