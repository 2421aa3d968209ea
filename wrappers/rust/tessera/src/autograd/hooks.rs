// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Hooks: closures that see, and may replace, gradients.
//!
//! They run on the thread that called backward. Their errors and panics come out of that call
//! unchanged.
//!
//! # Cycles
//!
//! A tensor owns the closures of its hooks, and a graph those of its nodes. A closure that owns that
//! tensor, or something that leads to it, such as the module whose parameter the tensor is, keeps
//! itself alive: nothing of the cycle is freed until [`Hook::remove`] is called. Let such a closure
//! hold a [`Weak`](std::sync::Weak):
//!
//! ```
//! # fn main() -> tessera::Result<()> {
//! use std::sync::{Arc, Mutex};
//! use tessera::Tensor;
//! struct Model { weight: Tensor, calls: Mutex<i32> }
//! let weight = Tensor::ones(&[3])?.requiring_grad()?;
//! let model = Arc::new(Model { weight, calls: Mutex::new(0) });
//! let weak = Arc::downgrade(&model); // a clone of the Arc would keep the model alive for ever
//! model.weight.register_hook(move |_grad| {
//!     if let Some(model) = weak.upgrade() { *model.calls.lock().unwrap() += 1; }
//!     Ok(None)
//! })?;
//! model.weight.sum()?.backward()?;
//! assert_eq!(*model.calls.lock().unwrap(), 1);
//! # Ok(())
//! # }
//! ```

use super::Node;
use crate::arguments::{count, handles};
use crate::error::{callback, done, drop_box};
use crate::{Error, ErrorKind, Result, Tensor};
use std::borrow::Borrow;
use std::ffi::c_void;
use std::ptr::null_mut;
use tessera_sys as sys;

type GradHook = Box<dyn Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync>;
type LeafHook = Box<dyn Fn(&Tensor) -> Result<()> + Send + Sync>;
type PreHook = Box<dyn Fn(&[Option<Tensor>]) -> Result<Option<Vec<Option<Tensor>>>> + Send + Sync>;
type PostHook = Box<
    dyn Fn(&[Option<Tensor>], &[Option<Tensor>]) -> Result<Option<Vec<Option<Tensor>>>>
        + Send
        + Sync,
>;
type AllHook = Box<dyn Fn(&[Option<Tensor>]) -> Result<()> + Send + Sync>;
type FinalHook = Box<dyn FnOnce() -> Result<()> + Send>;

/// A registered hook. Dropping this object does not remove the hook; [`Hook::remove`] does.
#[derive(Debug)]
pub struct Hook {
    tensor: Option<Tensor>, // none: the hook of a node or of several tensors
    id: i64,
}

impl Hook {
    /// Removes the hook from its tensor, its node, or all of its tensors.
    pub fn remove(self) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe {
            match &self.tensor {
                Some(tensor) => sys::tsr_tensor_hook_remove(tensor.raw(), self.id),
                None => sys::tsr_hook_remove(self.id),
            }
        })
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
        .ok_or_else(|| Error::refused(ErrorKind::Internal, "a hook was called without a tensor"))
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
        Ok(Hook { tensor: Some(self.clone()), id })
    }
}

// ---- Hooks on nodes ----

/// Writes what a hook returned to the places of C.
///
/// # Safety
/// There are `length` writable places, and one for `replaced`.
unsafe fn give_replaced(
    returned: Option<Vec<Option<Tensor>>>,
    length: i32,
    replacements: *mut sys::tsr_tensor,
    replaced: *mut i32,
) -> Result<()> {
    let Some(tensors) = returned else { return Ok(()) };
    if tensors.len() != length as usize {
        let text =
            format!("a hook of a node returned {} gradients in place of {length}", tensors.len());
        return Err(Error::refused(ErrorKind::Autograd, text));
    }
    for (index, tensor) in tensors.into_iter().enumerate() {
        // SAFETY: as promised by the caller; the library takes the references over.
        unsafe { *replacements.add(index) = tensor.map_or(null_mut(), Tensor::into_raw) };
    }
    // SAFETY: as promised by the caller.
    unsafe { *replaced = 1 };
    Ok(())
}

unsafe extern "C" fn run_prehook(
    user: *mut c_void,
    grads: *const sys::tsr_tensor,
    n_grads: i32,
    replacements: *mut sys::tsr_tensor,
    replaced: *mut i32,
) -> i32 {
    callback(|| {
        // SAFETY: user is the box of `register_prehook`; the gradients are lent for the call; there
        // is a place for each.
        unsafe {
            let returned = (*user.cast::<PreHook>())(Tensor::lent(grads, n_grads))?;
            give_replaced(returned, n_grads, replacements, replaced)
        }
    })
}

unsafe extern "C" fn run_posthook(
    user: *mut c_void,
    results: *const sys::tsr_tensor,
    n_results: i32,
    grads: *const sys::tsr_tensor,
    n_grads: i32,
    replacements: *mut sys::tsr_tensor,
    replaced: *mut i32,
) -> i32 {
    callback(|| {
        // SAFETY: user is the box of `register_hook`; the tensors are lent for the call; there is a
        // place for each result.
        unsafe {
            let (results, grads) = (Tensor::lent(results, n_results), Tensor::lent(grads, n_grads));
            let returned = (*user.cast::<PostHook>())(results, grads)?;
            give_replaced(returned, n_results, replacements, replaced)
        }
    })
}

impl Node {
    /// Calls the closure with the gradients of this node's outputs before a backward runs the node,
    /// after the hooks of its tensors; `None` stands for a gradient that is not there. Returned
    /// gradients replace them.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// let x = tessera::Tensor::ones(&[3])?.requiring_grad()?;
    /// let y = x.sum()?;
    /// let node = y.grad_fn()?.unwrap();
    /// node.register_prehook(|grads| Ok(Some(vec![grads[0].as_ref().map(|g| g * 10.0)])))?;
    /// y.backward()?;
    /// assert_eq!(x.grad()?.unwrap().to_vec::<f32>()?, [10.0; 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn register_prehook(
        &self,
        hook: impl Fn(&[Option<Tensor>]) -> Result<Option<Vec<Option<Tensor>>>> + Send + Sync + 'static,
    ) -> Result<Hook> {
        let user = Box::into_raw(Box::new(Box::new(hook) as PreHook)).cast();
        let (run, drop, mut id) = (Some(run_prehook as _), Some(drop_box::<PreHook> as _), 0);
        // SAFETY: a valid handle; the box of a PreHook, which drop frees, also on failure.
        done(unsafe { sys::tsr_node_prehook_add(self.raw(), run, user, drop, &mut id) })?;
        Ok(Hook { tensor: None, id })
    }

    /// Calls the closure after a backward has run this node, with the gradients of its inputs, which
    /// it computed, and those of its outputs, which it got. Returned gradients replace the computed
    /// ones.
    pub fn register_hook(
        &self,
        hook: impl Fn(&[Option<Tensor>], &[Option<Tensor>]) -> Result<Option<Vec<Option<Tensor>>>>
            + Send
            + Sync
            + 'static,
    ) -> Result<Hook> {
        let user = Box::into_raw(Box::new(Box::new(hook) as PostHook)).cast();
        let (run, drop, mut id) = (Some(run_posthook as _), Some(drop_box::<PostHook> as _), 0);
        // SAFETY: a valid handle; the box of a PostHook, which drop frees, also on failure.
        done(unsafe { sys::tsr_node_posthook_add(self.raw(), run, user, drop, &mut id) })?;
        Ok(Hook { tensor: None, id })
    }
}

// ---- Hooks on several tensors ----

unsafe extern "C" fn run_all(user: *mut c_void, grads: *const sys::tsr_tensor, n: i32) -> i32 {
    // SAFETY: user is the box of `register_multi_grad_hook`; the gradients are lent for the call.
    callback(|| unsafe { (*user.cast::<AllHook>())(Tensor::lent(grads, n)) })
}

unsafe extern "C" fn run_any(user: *mut c_void, grads: *const sys::tsr_tensor, n: i32) -> i32 {
    callback(|| {
        // SAFETY: user is the box of `register_any_grad_hook`; the gradients are lent for the call.
        unsafe {
            let hook = &*user.cast::<LeafHook>();
            Tensor::lent(grads, n).iter().flatten().try_for_each(hook)
        }
    })
}

fn add_multi_hook<H>(
    tensors: &[impl Borrow<Tensor>],
    hook: H,
    mode: i32,
    run: unsafe extern "C" fn(*mut c_void, *const sys::tsr_tensor, i32) -> i32,
) -> Result<Hook> {
    let tensors = handles(tensors);
    let table = sys::tsr_multi_hook_vtable {
        mode,
        run: Some(run),
        drop: Some(drop_box::<H>),
        ..Default::default()
    };
    let user = Box::into_raw(Box::new(hook)).cast();
    let mut id = 0;
    // SAFETY: valid handles and their number; the box is freed by the table's drop, also on failure.
    done(unsafe {
        sys::tsr_multi_hook_add(tensors.as_ptr(), count(tensors.len()), &table, user, &mut id)
    })?;
    Ok(Hook { tensor: None, id })
}

/// Calls the closure once in each backward that reaches any of the tensors, with the gradients of
/// all; `None` for those that get none. It runs when the last is there, or, if some get none, after
/// the last node.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd::register_multi_grad_hook, Tensor};
/// let x = Tensor::ones(&[3])?.requiring_grad()?;
/// let y = Tensor::ones(&[3])?.requiring_grad()?;
/// let hook = register_multi_grad_hook(&[&x, &y], |grads| {
///     assert!(grads.iter().all(Option::is_some));
///     Ok(())
/// })?;
/// (&x * &y).sum()?.backward()?;
/// hook.remove()?;
/// # Ok(())
/// # }
/// ```
pub fn register_multi_grad_hook(
    tensors: &[impl Borrow<Tensor>],
    hook: impl Fn(&[Option<Tensor>]) -> Result<()> + Send + Sync + 'static,
) -> Result<Hook> {
    add_multi_hook(tensors, Box::new(hook) as AllHook, sys::TSR_MULTI_HOOK_ALL, run_all)
}

/// Calls the closure once in each backward, with the first gradient of one of the tensors.
pub fn register_any_grad_hook(
    tensors: &[impl Borrow<Tensor>],
    hook: impl Fn(&Tensor) -> Result<()> + Send + Sync + 'static,
) -> Result<Hook> {
    add_multi_hook(tensors, Box::new(hook) as LeafHook, sys::TSR_MULTI_HOOK_ANY, run_any)
}

/// Runs the closure when the innermost backward that is running on this thread has finished.
pub fn on_backward_end(work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
    let user: *mut Option<FinalHook> = Box::into_raw(Box::new(Some(Box::new(work))));
    // SAFETY: the box is freed by drop_box once, also when this fails.
    done(unsafe {
        sys::tsr_backward_queue(Some(run_final), user.cast(), Some(drop_box::<Option<FinalHook>>))
    })
}
