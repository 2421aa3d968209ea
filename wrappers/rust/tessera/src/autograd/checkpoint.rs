// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Calls that save only their arguments; the backward runs them again.

use super::modes::is_grad_enabled;
use crate::arguments::{count, handles};
use crate::error::{callback, done, drop_box};
use crate::{Error, ErrorKind, Result, Tensor};
use std::borrow::Borrow;
use std::ffi::c_void;
use std::sync::Arc;
use tessera_sys as sys;

/// How [`checkpoint_with`] runs.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointOptions {
    flags: i32,
}

impl Default for CheckpointOptions {
    fn default() -> Self {
        CheckpointOptions { flags: sys::TSR_CHECKPOINT_RUN_TO_END }
    }
}

impl CheckpointOptions {
    fn with(mut self, flag: i32, on: bool) -> Self {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
        self
    }

    /// The second run gets the random numbers of the first; so it is without this call.
    #[must_use]
    pub fn preserve_random(self, on: bool) -> Self {
        self.with(sys::TSR_CHECKPOINT_FRESH_RANDOM, !on)
    }

    /// The second run ends when it has computed the last tensor that is needed: a method inside
    /// returns an error ([`ErrorKind::Cancelled`]) that the function must hand on with `?`. Off
    /// without this call, because an operator would panic.
    #[must_use]
    pub fn early_stop(self, on: bool) -> Self {
        self.with(sys::TSR_CHECKPOINT_RUN_TO_END, !on)
    }

    /// The two runs must save tensors of the same number, shapes, dtypes and devices; so it is
    /// without this call.
    #[must_use]
    pub fn check(self, on: bool) -> Self {
        self.with(sys::TSR_CHECKPOINT_UNCHECKED, !on)
    }
}

type Run = Box<dyn Fn(&[Tensor]) -> Result<()> + Send + Sync>;

unsafe extern "C" fn run_again(
    user: *mut c_void,
    inputs: *const sys::tsr_tensor,
    n_inputs: i32,
) -> i32 {
    callback(|| {
        // SAFETY: user is the box of `checkpoint_with`; the tensors are lent for the call.
        let lent = unsafe { Tensor::lent(inputs, n_inputs) };
        let tensors: Option<Vec<Tensor>> = lent.iter().cloned().collect();
        let tensors = tensors
            .ok_or_else(|| Error::refused(ErrorKind::Internal, "a checkpoint got no tensor"))?;
        // SAFETY: as above.
        unsafe { (*user.cast::<Run>())(&tensors) }
    })
}

struct End;

impl Drop for End {
    fn drop(&mut self) {
        // SAFETY: takes nothing; the matching begin was on this thread, in the same function.
        unsafe { sys::tsr_saved_hooks_pop() };
    }
}

/// Returns `function(inputs)` without keeping what its nodes save: the backward calls the function
/// again, with tensors of the same values. The function must do the same each time; random numbers
/// are the same. For derivatives of any order; checkpoints can be nested.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd::checkpoint, Tensor};
/// let x = Tensor::from([1.0, 2.0]).requiring_grad()?;
/// let y = checkpoint(|inputs| inputs[0].square()?.exp(), &[&x])?;
/// y.sum()?.backward()?;
/// assert!(x.grad()?.is_some());
/// # Ok(())
/// # }
/// ```
pub fn checkpoint<R>(
    function: impl Fn(&[Tensor]) -> Result<R> + Send + Sync + 'static,
    inputs: &[impl Borrow<Tensor>],
) -> Result<R> {
    checkpoint_with(function, inputs, |options| options)
}

/// As [`checkpoint`], with options.
pub fn checkpoint_with<R>(
    function: impl Fn(&[Tensor]) -> Result<R> + Send + Sync + 'static,
    inputs: &[impl Borrow<Tensor>],
    options: impl FnOnce(CheckpointOptions) -> CheckpointOptions,
) -> Result<R> {
    let given: Vec<Tensor> = inputs.iter().map(|input| input.borrow().clone()).collect();
    if !is_grad_enabled() {
        return function(&given);
    }
    let function = Arc::new(function);
    let again = Arc::clone(&function);
    let run: Run = Box::new(move |tensors| again(tensors).map(drop));
    let raw = handles(inputs);
    // SAFETY: a list of valid handles and its length; the box is freed by its drop once, also when
    // this fails.
    done(unsafe {
        sys::tsr_checkpoint_begin(
            raw.as_ptr(),
            count(raw.len()),
            Some(run_again),
            Box::into_raw(Box::new(run)).cast(),
            Some(drop_box::<Run>),
            options(CheckpointOptions::default()).flags,
        )
    })?;
    let _end = End;
    function(&given)
}
