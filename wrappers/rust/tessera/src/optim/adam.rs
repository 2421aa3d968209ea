// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Adam and AdamW.

use super::{
    check_entries, check_not_negative, check_parameters, describe, follow, live, restored,
    Optimizer,
};
use crate::io::TensorMap;
use crate::ops::{adam_step_with, adamw_step_with};
use crate::{no_grad, Error, ErrorKind, Result, Tensor};
use std::collections::BTreeMap;
use std::fmt;

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

struct Moments {
    step: i64,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    max_exp_avg_sq: Option<Tensor>,
}

/// What Adam and AdamW share: everything but where the weight decay goes.
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
            let state = self.state.get_mut(&number).expect("made above or before");
            follow(&mut state.exp_avg, &parameter)?;
            follow(&mut state.exp_avg_sq, &parameter)?;
            if let Some(maximum) = &mut state.max_exp_avg_sq {
                follow(maximum, &parameter)?;
            }
            let step = state.step + 1;
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
        let names = ["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"];
        check_entries(state, &names, &self.parameters)?;
        let mut loaded = BTreeMap::new();
        for (number, parameter) in self.parameters.iter().enumerate() {
            let Some(step) = state.get(&format!("step.{number}")) else { continue };
            let get = |name: &str| {
                restored(state, name, number, parameter)?.ok_or_else(|| {
                    let text = format!("load_state_dict: the state has no {name}.{number}");
                    Error::new(ErrorKind::Value, text)
                })
            };
            let moments = Moments {
                step: step.item()?,
                exp_avg: get("exp_avg")?,
                exp_avg_sq: get("exp_avg_sq")?,
                max_exp_avg_sq: self.config.amsgrad.then(|| get("max_exp_avg_sq")).transpose()?,
            };
            loaded.insert(number, moments);
        }
        self.state = loaded;
        Ok(())
    }
}

macro_rules! adam {
    ($(#[$doc:meta])* $name:ident, $decoupled:expr) => {
        $(#[$doc])*
        pub struct $name(Moment);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                describe(f, stringify!($name), self, &self.0.config)
            }
        }

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
