// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Optimizers. The library does the arithmetic and keeps state and files; each step is one call for
//! all parameters.

#[forbid(unsafe_code)]
mod averaged;
#[forbid(unsafe_code)]
mod lbfgs;
#[forbid(unsafe_code)]
mod plateau;
mod rules;
#[forbid(unsafe_code)]
mod schedules;

use crate::arguments::{count, handles, many, sparse_handles};
use crate::error::done;
use crate::io::{path_bytes, TensorMap};
use crate::memory::buffer_text;
use crate::{json, Result, Tensor};
use std::fmt;
use std::path::Path;
use std::ptr::{null_mut, NonNull};
use tessera_sys as sys;

pub use averaged::AveragedModel;
pub use lbfgs::{Lbfgs, LbfgsOptions};
pub use plateau::ReduceLrOnPlateau;
pub use rules::{
    Adadelta, Adagrad, Adam, AdamW, Adamax, Asgd, Lamb, Lion, Muon, NAdam, RAdam, RmsProp, Rprop,
    Rule, Sgd,
};
pub use schedules::{
    ChainedLr, ConstantLr, CosineAnnealingLr, CosineAnnealingWarmRestarts, CyclicLr, CyclicMode,
    ExponentialLr, LinearLr, MultiStepLr, MultiplicativeLr, OneCycleLr, PolynomialLr, Rates,
    Schedule, Scheduler, SequentialLr, StepLr,
};

pub use crate::ops::{
    clip_grad_norm, clip_grad_norm_with, clip_grad_value, clip_norm, clip_norm_with,
};

/// Updates parameters by their gradients, according to a [`Rule`].
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{nn::{Linear, Module}, optim::{Optimizer, Sgd}};
/// let model = Linear::new(2, 1)?;
/// let mut optimizer = Optimizer::new(Sgd::new(0.1).momentum(0.9), &model.parameters())?;
/// optimizer.step()?;
/// # Ok(())
/// # }
/// ```
pub struct Optimizer<R: Rule> {
    handle: NonNull<sys::tsr_optimizer_s>,
    _rule: std::marker::PhantomData<R>,
}

// SAFETY: the ABI lets any handle be used from any thread, one at a time: what changes takes `&mut`.
unsafe impl<R: Rule> Send for Optimizer<R> {}
// SAFETY: as above; what takes `&self` reads.
unsafe impl<R: Rule> Sync for Optimizer<R> {}

impl<R: Rule> Drop for Optimizer<R> {
    fn drop(&mut self) {
        // SAFETY: this is our reference.
        unsafe { sys::tsr_optimizer_release(self.raw()) };
    }
}

/// The state of an optimizer as it is saved to a file: kind and options as JSON, and tensors by
/// name, which share memory with the optimizer.
#[derive(Clone, Debug)]
pub struct State {
    /// Kind and options, as JSON.
    pub description: String,
    /// `<group>.<index in the group>.<state>`.
    pub tensors: TensorMap,
}

impl<R: Rule> Optimizer<R> {
    /// An optimizer with these parameters as its first group.
    pub fn new(rule: R, parameters: &[Tensor]) -> Result<Self> {
        let (options, list) = (rule.to_raw(), handles(parameters));
        let mut handle = null_mut();
        // SAFETY: a list with its length, a writable pointer.
        done(unsafe {
            sys::tsr_optimizer_new(&options, list.as_ptr(), count(list.len()), &mut handle)
        })?;
        let handle = NonNull::new(handle).expect("a handle after a success");
        Ok(Self { handle, _rule: std::marker::PhantomData })
    }

    pub(crate) fn raw(&self) -> sys::tsr_optimizer {
        self.handle.as_ptr()
    }

    /// Takes over the reference of a call; `None` for null.
    pub(crate) fn from_raw(handle: sys::tsr_optimizer) -> Option<Self> {
        Some(Self { handle: NonNull::new(handle)?, _rule: std::marker::PhantomData })
    }

    /// Adds parameters with their own options.
    pub fn add_group(&mut self, rule: R, parameters: &[Tensor]) -> Result<()> {
        let (options, list) = (rule.to_raw(), handles(parameters));
        // SAFETY: a valid handle, a list with its length.
        done(unsafe {
            sys::tsr_optimizer_add_group(self.raw(), &options, list.as_ptr(), count(list.len()))
        })
    }

    /// The number of groups.
    pub fn group_count(&self) -> usize {
        let mut found = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_optimizer_group_count(self.raw(), &mut found) })
            .expect("an optimizer can be counted");
        found as usize
    }

    /// The options of a group.
    pub fn rule(&self, group: usize) -> Result<R> {
        let (mut rule, mut options) = (R::default(), sys::tsr_optimizer_options::default());
        // SAFETY: a valid handle, a struct with its size.
        done(unsafe { sys::tsr_optimizer_options_get(self.raw(), group as i64, &mut options) })?;
        rule.set_raw(&options);
        Ok(rule)
    }

    /// Sets the options of a group, from its next step on.
    pub fn set_rule(&mut self, group: usize, rule: R) -> Result<()> {
        // SAFETY: a valid handle, a struct with its size.
        done(unsafe { sys::tsr_optimizer_options_set(self.raw(), group as i64, &rule.to_raw()) })
    }

    /// The learning rate of a group.
    pub fn lr(&self, group: usize) -> Result<f64> {
        Ok(self.rule(group)?.to_raw().lr)
    }

    /// Sets the learning rate of a group.
    pub fn set_group_lr(&mut self, group: usize, lr: f64) -> Result<()> {
        let mut options = self.rule(group)?.to_raw();
        options.lr = lr;
        // SAFETY: as in set_rule.
        done(unsafe { sys::tsr_optimizer_options_set(self.raw(), group as i64, &options) })
    }

    /// Sets the learning rate of all groups.
    pub fn set_lr(&mut self, lr: f64) -> Result<()> {
        (0..self.group_count()).try_for_each(|group| self.set_group_lr(group, lr))
    }

    /// The parameters of a group.
    pub fn parameters(&self, group: usize) -> Result<Vec<Tensor>> {
        // SAFETY: a valid handle; `many` gives places with their number.
        many(|out, capacity, found| unsafe {
            sys::tsr_optimizer_params_get(self.raw(), group as i64, out, capacity, found)
        })
    }

    /// Sets the parameters of a group; those that stay keep their state.
    pub fn set_parameters(&mut self, group: usize, parameters: &[Tensor]) -> Result<()> {
        let list = handles(parameters);
        // SAFETY: a valid handle, a list with its length.
        done(unsafe {
            sys::tsr_optimizer_params_set(
                self.raw(),
                group as i64,
                list.as_ptr(),
                count(list.len()),
            )
        })
    }

    /// One step. Parameters without a gradient do not change.
    pub fn step(&mut self) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_optimizer_step(self.raw()) })
    }

    /// One step down a loss: clears the gradients, calls the backward of the loss, and steps.
    pub fn backward_step(&mut self, loss: &Tensor) -> Result<()> {
        self.zero_grad()?;
        loss.backward()?;
        self.step()
    }

    /// One step with these gradients: one for each parameter, in the order of the groups; with
    /// `None` the parameter does not change.
    pub fn step_with(&mut self, gradients: &[Option<&Tensor>]) -> Result<()> {
        let list = sparse_handles(gradients);
        // SAFETY: a valid handle, a list with its length.
        done(unsafe { sys::tsr_optimizer_step_with(self.raw(), list.as_ptr(), count(list.len())) })
    }

    /// Clears the gradients of the parameters.
    pub fn zero_grad(&mut self) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_optimizer_zero_grad(self.raw(), 1) })
    }

    /// The state for a file: see [`State`].
    pub fn state(&self) -> Result<State> {
        let (mut description, mut names) = (null_mut(), null_mut());
        // SAFETY: a valid handle; `many` gives places with their number.
        let tensors = many(|out, capacity, found| unsafe {
            sys::tsr_optimizer_state(self.raw(), &mut description, &mut names, out, capacity, found)
        })?;
        // SAFETY: buffers of the call that succeeded, given away.
        let (description, names) = unsafe { (buffer_text(description), buffer_text(names)) };
        let names = json::list(&names?)?;
        Ok(State { description: description?, tensors: names.into_iter().zip(tensors).collect() })
    }

    /// Loads the options and a copy of the tensors; after an error nothing has changed.
    pub fn load_state(&mut self, state: &State) -> Result<()> {
        let names = json::quote_list(state.tensors.keys().map(String::as_str));
        let list = handles(&state.tensors.values().collect::<Vec<_>>());
        // SAFETY: a valid handle; texts and a list with their lengths.
        done(unsafe {
            sys::tsr_optimizer_state_load(
                self.raw(),
                state.description.as_ptr().cast(),
                state.description.len() as i64,
                names.as_ptr().cast(),
                names.len() as i64,
                list.as_ptr(),
                count(list.len()),
            )
        })
    }

    /// Writes options and state to a file that every language loads.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path_bytes(&path);
        // SAFETY: a valid handle, text and its length.
        done(unsafe {
            sys::tsr_optimizer_save(self.raw(), path.as_ptr().cast(), path.len() as i64)
        })
    }

    /// Loads options and state from a file that any language saved.
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let path = path_bytes(&path);
        // SAFETY: a valid handle, text and its length.
        done(unsafe {
            sys::tsr_optimizer_load(self.raw(), path.as_ptr().cast(), path.len() as i64)
        })
    }
}

/// Does not print elements.
impl<R: Rule + fmt::Debug> fmt::Debug for Optimizer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups: Vec<_> = (0..self.group_count()).filter_map(|g| self.rule(g).ok()).collect();
        write!(f, "Optimizer({groups:?})")
    }
}
