// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Modes: whether functions record on a thread.

use std::marker::PhantomData;
use tessera_sys as sys;

/// Whether functions record on this thread.
pub fn is_grad_enabled() -> bool {
    // SAFETY: takes nothing.
    unsafe { sys::tsr_grad_mode() != 0 }
}

/// Whether this thread is in inference mode.
pub fn is_inference_mode() -> bool {
    // SAFETY: takes nothing.
    unsafe { sys::tsr_inference_mode() != 0 }
}

type Switch = unsafe extern "C" fn(i32, *mut i32) -> i32;

/// Restores this thread's former mode when it is dropped. Guards must be dropped in reverse order,
/// as variables are by themselves.
#[must_use = "the mode ends with the guard"]
#[derive(Debug)]
pub struct ModeGuard {
    switch: Switch,
    previous: i32,
    _thread: PhantomData<*const ()>, // the mode belongs to this thread
}

impl ModeGuard {
    fn new(switch: Switch, on: bool) -> Self {
        let mut previous = 0;
        // SAFETY: a number and a place for a number.
        let status = unsafe { switch(i32::from(on), &mut previous) };
        assert_eq!(status, sys::TSR_OK, "switching a mode of recording");
        Self { switch, previous, _thread: PhantomData }
    }
}

impl Drop for ModeGuard {
    fn drop(&mut self) {
        let mut ignored = 0;
        // SAFETY: as in `new`.
        unsafe { (self.switch)(self.previous, &mut ignored) };
    }
}

/// Stops recording on this thread until the guard is dropped.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// let x = tessera::Tensor::ones(&[2])?.requiring_grad()?;
/// {
///     let _guard = tessera::no_grad();
///     assert!(!x.exp()?.requires_grad());
/// }
/// assert!(x.exp()?.requires_grad());
/// # Ok(())
/// # }
/// ```
///
/// The guard cannot leave its thread:
///
/// ```compile_fail
/// let guard = tessera::no_grad();
/// std::thread::spawn(move || drop(guard));
/// ```
pub fn no_grad() -> ModeGuard {
    ModeGuard::new(sys::tsr_grad_mode_set, false)
}

/// Records on this thread until the guard is dropped, also inside [`no_grad`].
pub fn enable_grad() -> ModeGuard {
    ModeGuard::new(sys::tsr_grad_mode_set, true)
}

/// Inference mode on this thread until the guard is dropped: results have no version counter and can
/// never be differentiated.
pub fn inference_mode() -> ModeGuard {
    ModeGuard::new(sys::tsr_inference_mode_set, true)
}
