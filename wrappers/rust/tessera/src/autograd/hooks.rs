// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Hooks: closures that see, and may replace, gradients.
//!
//! They run on the thread that called backward. Their errors and panics come out of that call
//! unchanged.

use crate::error::{callback, done, drop_box};
use crate::{Error, ErrorKind, Result, Tensor};
use std::ffi::c_void;
use tessera_sys as sys;

type GradHook = Box<dyn Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync>;
type LeafHook = Box<dyn Fn(&Tensor) -> Result<()> + Send + Sync>;
type FinalHook = Box<dyn FnOnce() -> Result<()> + Send>;

/// A registered hook. Dropping this object does not remove the hook; [`Hook::remove`] does.
#[derive(Debug)]
pub struct Hook {
    tensor: Tensor,
    id: i64,
}

impl Hook {
    /// Removes the hook from its tensor.
    pub fn remove(self) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_tensor_hook_remove(self.tensor.raw(), self.id) })
    }
}

/// The tensor that a callback was lent.
///
/// # Safety
/// The handle is valid for as long as the reference to it.
pub(super) unsafe fn lent(handle: &sys::tsr_tensor) -> Result<&Tensor> {
    // SAFETY: as promised by the caller.
    let tensors = unsafe { Tensor::lent(handle, 1) };
    tensors[0]
        .as_ref()
        .ok_or_else(|| Error::new(ErrorKind::Internal, "a hook was called without a tensor"))
}

unsafe extern "C" fn run_grad_hook(
    user: *mut c_void,
    grad: sys::tsr_tensor,
    replacement: *mut sys::tsr_tensor,
) -> i32 {
    callback(|| {
        // SAFETY: user is the box of `register_hook`; grad is lent for the call; what is written to
        // replacement is a reference that the library takes over.
        unsafe {
            let hook = &*user.cast::<GradHook>();
            if let Some(tensor) = hook(lent(&grad)?)? {
                *replacement = tensor.into_raw();
            }
        }
        Ok(())
    })
}

unsafe extern "C" fn run_leaf_hook(user: *mut c_void, leaf: sys::tsr_tensor) -> i32 {
    callback(|| {
        // SAFETY: user is the box of `register_post_accumulate_hook`; leaf is lent for the call.
        unsafe { (*user.cast::<LeafHook>())(lent(&leaf)?) }
    })
}

unsafe extern "C" fn run_final(user: *mut c_void) -> i32 {
    callback(|| {
        // SAFETY: user is the box of `on_backward_end`, and a final callback runs at most once.
        let work = unsafe { &mut *user.cast::<Option<FinalHook>>() }.take();
        work.map_or(Ok(()), |work| work())
    })
}

impl Tensor {
    /// Calls the closure with the gradient of this tensor each time it is computed; a returned
    /// tensor replaces the gradient.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// let x = tessera::Tensor::ones(&[3])?.requiring_grad()?;
    /// x.register_hook(|grad| Ok(Some(grad * 10.0)))?;
    /// x.sum()?.backward()?;
    /// assert_eq!(x.grad()?.unwrap().to_vec::<f32>()?, [10.0; 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn register_hook(
        &self,
        hook: impl Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync + 'static,
    ) -> Result<Hook> {
        self.add_hook(Box::new(hook) as GradHook, |user, drop, id| {
            // SAFETY: a valid handle; the box of a GradHook, which drop frees.
            unsafe { sys::tsr_tensor_hook_add(self.raw(), Some(run_grad_hook), user, drop, id) }
        })
    }

    /// Calls the closure with this leaf each time its gradient was updated.
    pub fn register_post_accumulate_hook(
        &self,
        hook: impl Fn(&Tensor) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Hook> {
        self.add_hook(Box::new(hook) as LeafHook, |user, drop, id| {
            let run = Some(run_leaf_hook as _);
            // SAFETY: a valid handle; the box of a LeafHook, which drop frees.
            unsafe { sys::tsr_tensor_accumulate_hook_add(self.raw(), run, user, drop, id) }
        })
    }

    /// `add` gets a box of the hook and the function that frees it, also when it fails.
    fn add_hook<H>(
        &self,
        hook: H,
        add: impl FnOnce(*mut c_void, sys::tsr_drop_fn, *mut i64) -> i32,
    ) -> Result<Hook> {
        let user = Box::into_raw(Box::new(hook)).cast();
        let mut id = 0;
        done(add(user, Some(drop_box::<H>), &mut id))?;
        Ok(Hook { tensor: self.clone(), id })
    }
}

/// Runs the closure when the innermost backward that is running on this thread has finished.
pub fn on_backward_end(work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
    let user: *mut Option<FinalHook> = Box::into_raw(Box::new(Some(Box::new(work))));
    // SAFETY: the box is freed by drop_box once, also when this fails.
    done(unsafe {
        sys::tsr_backward_queue(Some(run_final), user.cast(), Some(drop_box::<Option<FinalHook>>))
    })
}
