// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Custom differentiable functions.
//!
//! [`custom_function`] takes two closures; [`NodeBuilder`] is the lower-level form, for forwards
//! that do not fit a closure. The forward is plain Rust code, not a callback.

use super::forward_ad::ForwardOff;
use super::{is_grad_enabled, Node};
use crate::arguments::{count, handles, sparse_handles};
use crate::error::{callback, done, drop_box, text};
use crate::{no_grad, Error, ErrorKind, Result, Tensor};
use std::borrow::Borrow;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::{null, null_mut};
use tessera_sys as sys;

// ---- The backward of a custom function ----

type Backward = Box<
    dyn Fn(&BackwardContext<'_>, &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> + Send + Sync,
>;

/// The context of a custom backward.
#[derive(Debug)]
pub struct BackwardContext<'a> {
    node: sys::tsr_node,
    _lent: PhantomData<&'a ()>,
}

impl BackwardContext<'_> {
    /// The tensor that was saved as number `index`; an error if it was changed in place since then,
    /// or if `None` was saved.
    pub fn saved(&self, index: usize) -> Result<Tensor> {
        let mut tensor = null_mut();
        // SAFETY: the node is lent for the call of the backward, which the lifetime says; a success
        // gives a new reference or null.
        let tensor = unsafe {
            done(sys::tsr_node_saved(self.node, index as i64, &mut tensor))?;
            Tensor::adopt_optional(tensor)
        };
        tensor.ok_or_else(|| {
            let text = format!("saved: index: expected the number of a tensor, got {index}: None");
            Error::refused(ErrorKind::Value, text)
        })
    }

    /// Whether the gradient of input number `index` is needed.
    pub fn needs_input_grad(&self, index: usize) -> Result<bool> {
        let mut value = 0;
        // SAFETY: as above.
        done(unsafe { sys::tsr_node_needs_input_grad(self.node, index as i64, &mut value) })?;
        Ok(value != 0)
    }
}

type Jvp = Box<dyn Fn(&[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> + Send + Sync>;

/// What a node owns.
struct Rules {
    backward: Backward,
    jvp: Option<Jvp>,
}

unsafe extern "C" fn run_jvp(
    user: *mut c_void,
    _node: sys::tsr_node,
    tangents: *const sys::tsr_tensor,
    n_tangents: i32,
    results: *mut sys::tsr_tensor,
    n_results: i32,
) -> i32 {
    callback(|| {
        // SAFETY: user is the box of `NodeBuilder::made`; the tangents are lent for the call.
        let (rules, tangents) =
            unsafe { (&*user.cast::<Rules>(), Tensor::lent(tangents, n_tangents)) };
        let jvp = rules.jvp.as_ref().expect("the table has a jvp only with this closure");
        let found = jvp(tangents)?;
        if found.len() != n_results as usize {
            let text = format!("a jvp returned {} tangents for {n_results} outputs", found.len());
            return Err(Error::refused(ErrorKind::Autograd, text));
        }
        for (index, tangent) in found.into_iter().enumerate() {
            // SAFETY: there are n_results places; the library takes the references over.
            unsafe { *results.add(index) = tangent.map_or(null_mut(), Tensor::into_raw) };
        }
        Ok(())
    })
}

unsafe extern "C" fn run_backward(
    user: *mut c_void,
    node: sys::tsr_node,
    grad_out: *const sys::tsr_tensor,
    n_grad_out: i32,
    grad_in: *mut sys::tsr_tensor,
    n_grad_in: i32,
) -> i32 {
    callback(|| {
        // SAFETY: user is the box of `NodeBuilder::made`; the gradients are lent for the call.
        let (rules, grads) =
            unsafe { (&*user.cast::<Rules>(), Tensor::lent(grad_out, n_grad_out)) };
        let context = BackwardContext { node, _lent: PhantomData };
        let results = (rules.backward)(&context, grads)?;
        if results.len() != n_grad_in as usize {
            let (mut name, mut length) = (null(), 0);
            // SAFETY: a lent node; the name is copied at once.
            let name = unsafe {
                done(sys::tsr_node_name(node, &mut name, &mut length))?;
                text(name, length)
            };
            let count = results.len();
            let text =
                format!("{name}: expected {n_grad_in} gradients, one for each input, got {count}");
            return Err(Error::refused(ErrorKind::Autograd, text));
        }
        for (index, result) in results.into_iter().enumerate() {
            // SAFETY: there are n_grad_in places; the library takes the references over.
            unsafe { *grad_in.add(index) = result.map_or(null_mut(), Tensor::into_raw) };
        }
        Ok(())
    })
}

// ---- Node form ----

/// How the backward of a custom function is called.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeOptions {
    flags: u32,
}

impl NodeOptions {
    /// The derivative is not itself differentiable: a second derivative is an error instead of a
    /// wrong value.
    #[must_use]
    pub fn once_differentiable(mut self) -> Self {
        self.flags |= sys::TSR_NODE_ONCE_DIFFERENTIABLE as u32;
        self
    }

    /// Unused outputs have the gradient `None` instead of zeros.
    #[must_use]
    pub fn undefined_grads(mut self) -> Self {
        self.flags |= sys::TSR_NODE_UNDEFINED_GRADS as u32;
        self
    }
}

/// A custom function whose outputs are computed by the caller: create the builder, save tensors,
/// attach the outputs. If no input requires grad, all of this does nothing.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd::NodeBuilder, no_grad, Tensor};
/// let x = Tensor::from([1.0, 2.0]).requiring_grad()?;
/// let y = { let _guard = no_grad(); &x * &x };
/// let node = NodeBuilder::new("Square", &[&x], |context, grads| {
///     let grad = grads[0].as_ref().expect("zeros stand in for a missing gradient");
///     Ok(vec![Some(context.saved(0)? * grad * 2.0)])
/// })?;
/// node.save(&[Some(&x)])?;
/// node.attach(&[&y])?;
/// y.sum()?.backward()?;
/// assert_eq!(x.grad()?.unwrap().to_vec::<f64>()?, [2.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct NodeBuilder(Node);

impl NodeBuilder {
    /// Begins a function of these inputs. The backward gets a gradient for each output and returns one
    /// for each input.
    pub fn new(
        name: &str,
        inputs: &[impl Borrow<Tensor>],
        backward: impl Fn(&BackwardContext<'_>, &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>>
            + Send
            + Sync
            + 'static,
    ) -> Result<Self> {
        Self::with(name, inputs, |o| o, backward)
    }

    /// Like [`NodeBuilder::new`], with options.
    pub fn with(
        name: &str,
        inputs: &[impl Borrow<Tensor>],
        options: impl FnOnce(NodeOptions) -> NodeOptions,
        backward: impl Fn(&BackwardContext<'_>, &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>>
            + Send
            + Sync
            + 'static,
    ) -> Result<Self> {
        let rules = Rules { backward: Box::new(backward), jvp: None };
        Self::made(name, inputs, options(NodeOptions::default()), rules)
    }

    fn made(
        name: &str,
        inputs: &[impl Borrow<Tensor>],
        options: NodeOptions,
        rules: Rules,
    ) -> Result<Self> {
        let inputs = handles(inputs);
        let table = sys::tsr_node_vtable {
            flags: options.flags,
            backward: Some(run_backward),
            drop: Some(drop_box::<Rules>),
            jvp: if rules.jvp.is_some() { Some(run_jvp) } else { None },
            ..Default::default()
        };
        let user = Box::into_raw(Box::new(rules)).cast();
        let node = Node::made(|node| {
            // SAFETY: valid lists and lengths; the box is freed by the table's drop, also on failure.
            unsafe {
                sys::tsr_node_create(
                    name.as_ptr().cast(),
                    name.len() as i64,
                    &table,
                    user,
                    inputs.as_ptr(),
                    count(inputs.len()),
                    node,
                )
            }
        })?;
        Ok(Self(node))
    }

    /// Saves tensors for the backward; they may be inputs and outputs.
    pub fn save(&self, tensors: &[Option<&Tensor>]) -> Result<()> {
        let tensors = sparse_handles(tensors);
        // SAFETY: a valid handle, a list and its length.
        done(unsafe { sys::tsr_node_save(self.0.raw(), tensors.as_ptr(), count(tensors.len())) })
    }

    /// Declares the inputs that the forward changed in place; they must be attached as outputs.
    pub fn mark_dirty(&self, tensors: &[impl Borrow<Tensor>]) -> Result<()> {
        let tensors = handles(tensors);
        // SAFETY: as above.
        done(unsafe {
            sys::tsr_node_mark_dirty(self.0.raw(), tensors.as_ptr(), count(tensors.len()))
        })
    }

    /// Declares the outputs that have no gradient.
    pub fn mark_non_differentiable(&self, tensors: &[impl Borrow<Tensor>]) -> Result<()> {
        let tensors = handles(tensors);
        // SAFETY: as above.
        done(unsafe {
            let length = count(tensors.len());
            sys::tsr_node_mark_non_differentiable(self.0.raw(), tensors.as_ptr(), length)
        })
    }

    /// Whether the gradient of input number `index` is needed.
    pub fn needs_input_grad(&self, index: usize) -> Result<bool> {
        let mut value = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_node_needs_input_grad(self.0.raw(), index as i64, &mut value) })?;
        Ok(value != 0)
    }

    /// Makes the outputs the results of this function.
    pub fn attach(self, outputs: &[impl Borrow<Tensor>]) -> Result<()> {
        let outputs = handles(outputs);
        // SAFETY: as above.
        done(unsafe { sys::tsr_node_attach(self.0.raw(), outputs.as_ptr(), count(outputs.len())) })
    }
}

// ---- Closures ----

/// Collects what the forward of a [`custom_function`] saves and declares about its tensors.
#[derive(Debug, Default)]
pub struct Saver {
    saved: Vec<Option<Tensor>>,
    dirty: Vec<Tensor>,
    non_differentiable: Vec<Tensor>,
    options: NodeOptions,
    needs: Vec<bool>,
}

impl Saver {
    /// Whether the backward will be asked for the gradient of input number `index`; false for a number
    /// that no input has.
    pub fn needs_input_grad(&self, index: usize) -> bool {
        self.needs.get(index).copied().unwrap_or(false)
    }

    /// Sets options for the calls of the backward.
    pub fn set_options(&mut self, options: impl FnOnce(NodeOptions) -> NodeOptions) {
        self.options = options(self.options);
    }

    /// Saves a tensor for the backward, which gets it by its number: 0 for the first.
    pub fn save(&mut self, tensor: &Tensor) {
        self.saved.push(Some(tensor.clone()));
    }

    /// Declares that this input was changed in place; it must be among the outputs.
    pub fn mark_dirty(&mut self, tensor: &Tensor) {
        self.dirty.push(tensor.clone());
    }

    /// Declares that this output has no gradient.
    pub fn mark_non_differentiable(&mut self, tensor: &Tensor) {
        self.non_differentiable.push(tensor.clone());
    }
}

/// A differentiable function made of two closures. The forward runs at once and unrecorded, and
/// returns the outputs; the backward runs in each backward, on the thread that called it.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd::custom_function, Tensor};
/// let x = Tensor::from([1.0, 2.0]).requiring_grad()?;
/// let y = custom_function(
///     "Exp",
///     &[&x],
///     |saver| {
///         let y = x.exp()?;
///         saver.save(&y);
///         Ok(vec![y])
///     },
///     |context, grads| Ok(vec![Some(context.saved(0)? * grads[0].as_ref().unwrap())]),
/// )?
/// .remove(0);
/// y.sum()?.backward()?;
/// assert_eq!(x.grad()?.unwrap().to_vec::<f64>()?, y.to_vec::<f64>()?);
/// # Ok(())
/// # }
/// ```
pub fn custom_function(
    name: &str,
    inputs: &[impl Borrow<Tensor>],
    forward: impl FnOnce(&mut Saver) -> Result<Vec<Tensor>>,
    backward: impl Fn(&BackwardContext<'_>, &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>>
        + Send
        + Sync
        + 'static,
) -> Result<Vec<Tensor>> {
    apply(name, inputs, forward, Rules { backward: Box::new(backward), jvp: None })
}

/// As [`custom_function`], with a rule for forward mode: `jvp` gets a tangent for each input, `None` where
/// there is none, and returns one for each output.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd::{custom_function_with_jvp, jvp}, Tensor};
/// let double = |x: &Tensor| -> tessera::Result<Tensor> {
///     let y = custom_function_with_jvp(
///         "Double",
///         &[x],
///         |_| Ok(vec![x * 2.0]),
///         |_, grads| Ok(vec![grads[0].as_ref().map(|g| g * 2.0)]),
///         |tangents| Ok(vec![tangents[0].as_ref().map(|t| t * 2.0)]),
///     )?;
///     Ok(y[0].clone())
/// };
/// let (_, tangent) = jvp(double, &Tensor::from([1.0]), &Tensor::from([3.0]))?;
/// assert_eq!(tangent.to_vec::<f64>()?, [6.0]);
/// # Ok(())
/// # }
/// ```
pub fn custom_function_with_jvp(
    name: &str,
    inputs: &[impl Borrow<Tensor>],
    forward: impl FnOnce(&mut Saver) -> Result<Vec<Tensor>>,
    backward: impl Fn(&BackwardContext<'_>, &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>>
        + Send
        + Sync
        + 'static,
    jvp: impl Fn(&[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> + Send + Sync + 'static,
) -> Result<Vec<Tensor>> {
    apply(name, inputs, forward, Rules { backward: Box::new(backward), jvp: Some(Box::new(jvp)) })
}

fn apply(
    name: &str,
    inputs: &[impl Borrow<Tensor>],
    forward: impl FnOnce(&mut Saver) -> Result<Vec<Tensor>>,
    rules: Rules,
) -> Result<Vec<Tensor>> {
    let recording = is_grad_enabled();
    let needs = inputs.iter().map(|input| recording && input.borrow().requires_grad()).collect();
    let mut saver = Saver { needs, ..Saver::default() };
    let outputs = {
        let _guard = no_grad();
        let _no_tangents = ForwardOff::new()?;
        forward(&mut saver)?
    };
    let node = NodeBuilder::made(name, inputs, saver.options, rules)?;
    node.save(&saver.saved.iter().map(Option::as_ref).collect::<Vec<_>>())?;
    node.mark_dirty(&saver.dirty)?;
    node.mark_non_differentiable(&saver.non_differentiable)?;
    node.attach(&outputs)?;
    Ok(outputs)
}
