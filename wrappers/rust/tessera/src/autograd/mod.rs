// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Differentiation: backward, gradients as values, modes of recording, hooks, custom functions.

mod anomaly;
mod checkpoint;
mod edges;
mod forward_ad;
mod function;
mod gradcheck;
mod hooks;
mod inspect;
mod modes;
mod node;
mod saved;

pub use anomaly::{detect_anomaly, is_anomaly_enabled, AnomalyGuard};
pub use checkpoint::{checkpoint, checkpoint_with, CheckpointOptions};
pub use edges::{backward_to_edges, grad_at_edges, GradientEdge};
pub use forward_ad::{hessian, jacobian, jacrev, jvp, vjp, DualLevel};
pub use function::{
    custom_function, custom_function_with_jvp, BackwardContext, NodeBuilder, NodeOptions, Saver,
};
pub use gradcheck::gradcheck;
pub use hooks::{on_backward_end, register_any_grad_hook, register_multi_grad_hook, Hook};
pub use inspect::{draw_graph, graph_nodes, GraphFormat, NodeOutput};
pub use modes::{
    enable_grad, inference_mode, is_grad_enabled, is_inference_mode, no_grad, ModeGuard,
};
pub use node::Node;
pub use saved::{
    disable_saved_tensor_hooks, save_copies, save_on_device, save_to_disk, saved_tensor_hooks,
    SavedHooksGuard,
};

use crate::arguments::{count, handles, sparse_handles};
use crate::error::done;
use crate::{Result, Tensor};
use std::borrow::Borrow;
use std::ptr::null_mut;
use tessera_sys as sys;

/// Whether the backward that is running on this thread, and those around it, add to all leaves;
/// false inside [`grad`] and for a backward with given inputs. An error outside a backward.
pub fn backward_reaches_all() -> Result<bool> {
    let mut value = 0;
    // SAFETY: `value` is writable.
    done(unsafe { sys::tsr_backward_reaches_all(&mut value) })?;
    Ok(value != 0)
}

/// How [`backward`] and [`grad`] run.
#[derive(Clone, Copy, Debug, Default)]
pub struct BackwardOptions {
    flags: i32,
}

impl BackwardOptions {
    fn with(mut self, flag: i32, on: bool) -> Self {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
        self
    }

    /// Keeps the saved tensors of the nodes, so that a second backward can run.
    #[must_use]
    pub fn retain_graph(self, on: bool) -> Self {
        self.with(sys::TSR_BACKWARD_RETAIN_GRAPH, on)
    }

    /// Records the backward itself, for derivatives of derivatives; retains the graph, too.
    #[must_use]
    pub fn create_graph(self, on: bool) -> Self {
        self.with(sys::TSR_BACKWARD_CREATE_GRAPH, on)
    }

    /// With [`grad`]: an input that was not used gets `None` instead of an error.
    #[must_use]
    pub fn allow_unused(self, on: bool) -> Self {
        self.with(sys::TSR_BACKWARD_ALLOW_UNUSED, on)
    }

    /// With [`grad`]: the gradients of the outputs have an axis of samples in front, and so have those
    /// of the inputs. One backward computes what one for each sample would.
    #[must_use]
    pub fn batched(self, on: bool) -> Self {
        self.with(sys::TSR_BACKWARD_BATCHED, on)
    }
}

/// Adds the gradients of the roots to the leaves that require grad, or, when `inputs` are given, to
/// those tensors only. `grads` has an entry for each root, or is empty; `None` means 1 and needs a
/// root of one element.
pub fn backward(
    roots: &[impl Borrow<Tensor>],
    grads: &[Option<&Tensor>],
    inputs: &[impl Borrow<Tensor>],
    options: impl FnOnce(BackwardOptions) -> BackwardOptions,
) -> Result<()> {
    let (roots, grads, inputs) = (handles(roots), sparse_handles(grads), handles(inputs));
    // SAFETY: lists of valid handles and their lengths.
    done(unsafe {
        sys::tsr_backward(
            roots.as_ptr(),
            count(roots.len()),
            grads.as_ptr(),
            count(grads.len()),
            inputs.as_ptr(),
            count(inputs.len()),
            options(BackwardOptions::default()).flags,
        )
    })
}

/// The gradients of the outputs with respect to the inputs; changes no accumulated gradient. `grads`
/// has an entry for each output, or is empty; `None` means 1 and needs an output of one element. An
/// entry of the result is `None` only with [`BackwardOptions::allow_unused`].
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd, Tensor};
/// let x = Tensor::from([1.0, 2.0]).requiring_grad()?;
/// let y = x.pow(3)?.sum()?;
/// let first = autograd::grad(&[&y], &[&x], &[], |o| o.create_graph(true))?.remove(0).unwrap();
/// let second = autograd::grad(&[first.sum()?], &[&x], &[], |o| o)?.remove(0).unwrap();
/// assert_eq!(second.to_vec::<f64>()?, [6.0, 12.0]);
/// # Ok(())
/// # }
/// ```
pub fn grad(
    outputs: &[impl Borrow<Tensor>],
    inputs: &[impl Borrow<Tensor>],
    grads: &[Option<&Tensor>],
    options: impl FnOnce(BackwardOptions) -> BackwardOptions,
) -> Result<Vec<Option<Tensor>>> {
    let (outputs, grads, inputs) = (handles(outputs), sparse_handles(grads), handles(inputs));
    let mut results = vec![null_mut(); inputs.len()];
    // SAFETY: lists of valid handles and their lengths; one result for each input.
    done(unsafe {
        sys::tsr_grad(
            outputs.as_ptr(),
            count(outputs.len()),
            grads.as_ptr(),
            count(grads.len()),
            inputs.as_ptr(),
            count(inputs.len()),
            options(BackwardOptions::default()).flags,
            results.as_mut_ptr(),
        )
    })?;
    // SAFETY: a success hands out a new reference each, or null.
    Ok(results.into_iter().map(|handle| unsafe { Tensor::adopt_optional(handle) }).collect())
}

impl Tensor {
    /// Adds the gradients of this tensor, which has one element, to the leaves that require grad.
    pub fn backward(&self) -> Result<()> {
        self.backward_with(None, |o| o)
    }

    /// Like [`Tensor::backward`], with the gradient of this tensor and options.
    pub fn backward_with(
        &self,
        gradient: Option<&Tensor>,
        options: impl FnOnce(BackwardOptions) -> BackwardOptions,
    ) -> Result<()> {
        backward(&[self], &[gradient], &[] as &[Tensor], options)
    }

    /// The accumulated gradient.
    pub fn grad(&self) -> Result<Option<Tensor>> {
        let mut grad = null_mut();
        // SAFETY: a valid handle, a writable pointer.
        done(unsafe { sys::tsr_tensor_grad(self.raw(), &mut grad) })?;
        // SAFETY: a new reference or null.
        Ok(unsafe { Tensor::adopt_optional(grad) })
    }

    /// Replaces the accumulated gradient; `None` clears it.
    pub fn set_grad(&self, grad: Option<&Tensor>) -> Result<()> {
        // SAFETY: valid handles, or null.
        done(unsafe { sys::tsr_tensor_set_grad(self.raw(), grad.map_or(null_mut(), Tensor::raw)) })
    }

    /// Gives this leaf the memory, shape, dtype and device of another tensor. It stays the same
    /// tensor for all its clones, such as those in an optimizer.
    ///
    /// # Safety
    ///
    /// No other thread may use the tensor or a clone of it during the call.
    pub unsafe fn set_data(&self, data: &Tensor) -> Result<()> {
        // SAFETY: valid handles; the caller sees to it that nobody reads the layout meanwhile.
        done(unsafe { sys::tsr_tensor_set_data(self.raw(), data.raw()) })
    }

    /// Sets whether a leaf requires grad.
    pub fn set_requires_grad(&self, on: bool) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_tensor_set_requires_grad(self.raw(), i32::from(on)) })
    }

    /// The tensor itself, after [`Tensor::set_requires_grad`].
    pub fn requiring_grad(self) -> Result<Self> {
        self.set_requires_grad(true)?;
        Ok(self)
    }

    /// Whether the tensor has no node: no recorded op computed it.
    pub fn is_leaf(&self) -> Result<bool> {
        let mut value = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_tensor_is_leaf(self.raw(), &mut value) })?;
        Ok(value != 0)
    }

    /// Makes a backward keep the gradient of this computed tensor, too.
    pub fn retain_grad(&self) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_tensor_retain_grad(self.raw()) })
    }

    /// Whether a backward keeps the gradient of this computed tensor.
    pub fn retains_grad(&self) -> Result<bool> {
        let mut value = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_tensor_retains_grad(self.raw(), &mut value) })?;
        Ok(value != 0)
    }

    /// The tensor into whose memory autograd knows this view to look: not another view, but the one
    /// that has the memory. `None` for a tensor with memory of its own, for integers and for what
    /// `detach` gives.
    pub fn base(&self) -> Result<Option<Tensor>> {
        let mut base = null_mut();
        // SAFETY: a valid handle; a success gives a new reference or null.
        unsafe {
            done(sys::tsr_tensor_base(self.raw(), &mut base))?;
            Ok(Tensor::adopt_optional(base))
        }
    }

    /// The node that computed the tensor; `None` for a leaf.
    pub fn grad_fn(&self) -> Result<Option<Node>> {
        // SAFETY: a valid handle, a writable pointer.
        Node::made_optional(|node| unsafe { sys::tsr_tensor_grad_fn(self.raw(), node) })
    }
}
