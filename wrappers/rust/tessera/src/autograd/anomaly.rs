// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Anomaly mode: errors of a backward say where the forward was called.

use crate::error::done;
use crate::host_stack::give_host_stack;
use crate::Result;
use std::marker::PhantomData;
use tessera_sys as sys;

/// Ends anomaly mode on this thread when it is dropped. Guards end in reverse order.
#[must_use = "the mode ends with the guard"]
#[derive(Debug)]
pub struct AnomalyGuard {
    previous: i32,
    _thread: PhantomData<*const ()>,
}

impl Drop for AnomalyGuard {
    fn drop(&mut self) {
        let mut ignored = 0;
        // SAFETY: a number and a place for a number; the mode of this thread.
        unsafe { sys::tsr_anomaly_mode_set(self.previous, &mut ignored) };
    }
}

/// Whether this thread is in anomaly mode.
pub fn is_anomaly_enabled() -> bool {
    // SAFETY: takes nothing.
    unsafe { sys::tsr_anomaly_mode() & sys::TSR_ANOMALY_ENABLED != 0 }
}

/// Until the guard is dropped, nodes that this thread makes keep a backtrace in their metadata under
/// `stack`, and a backward that fails says where the forward of the failing node was called. With
/// `check_nan` a backward fails when a node returns nan though the gradients that it got have none.
///
/// The mode makes every function slower; use it to find errors.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd::detect_anomaly, Tensor};
/// let _guard = detect_anomaly(true)?;
/// let x = Tensor::from([0.0]).requiring_grad()?;
/// let y = (x.sqrt()? * 0.0).sum()?;
/// let error = y.backward().unwrap_err();
/// assert!(error.message().contains("'SqrtBackward' returned nan"));
/// # Ok(())
/// # }
/// ```
pub fn detect_anomaly(check_nan: bool) -> Result<AnomalyGuard> {
    give_host_stack()?;
    let nan = if check_nan { sys::TSR_ANOMALY_CHECK_NAN } else { 0 };
    let mut previous = 0;
    // SAFETY: a number and a place for a number.
    done(unsafe { sys::tsr_anomaly_mode_set(sys::TSR_ANOMALY_ENABLED | nan, &mut previous) })?;
    Ok(AnomalyGuard { previous, _thread: PhantomData })
}
