// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Edges of the graph as inputs of backward and grad.

use super::{BackwardOptions, Node};
use crate::arguments::{count, handles, sparse_handles};
use crate::error::done;
use crate::{Result, Tensor};
use std::borrow::Borrow;
use std::ptr::null_mut;
use tessera_sys as sys;

/// Where the gradient of a tensor goes: a node and the number of one of its outputs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GradientEdge {
    /// The node.
    pub node: Node,
    /// The number of its output.
    pub output: i64,
}

impl Tensor {
    /// The edge of a tensor that requires grad; for a leaf, its AccumulateGrad node.
    pub fn gradient_edge(&self) -> Result<GradientEdge> {
        let mut output = 0;
        let node = Node::made(|node| {
            // SAFETY: a valid handle, two writable places.
            unsafe { sys::tsr_tensor_gradient_edge(self.raw(), node, &mut output) }
        })?;
        Ok(GradientEdge { node, output })
    }

    /// Says that the memory was written outside the library: raises its version.
    pub fn increment_version(&self) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_tensor_version_increment(self.raw()) })
    }
}

fn lists(edges: &[GradientEdge]) -> (Vec<sys::tsr_node>, Vec<i64>) {
    edges.iter().map(|edge| (edge.node.raw(), edge.output)).unzip()
}

/// As [`backward`](super::backward) with inputs, for edges. At an edge that belongs to no leaf only
/// hooks run.
pub fn backward_to_edges(
    roots: &[impl Borrow<Tensor>],
    grads: &[Option<&Tensor>],
    edges: &[GradientEdge],
    options: impl FnOnce(BackwardOptions) -> BackwardOptions,
) -> Result<()> {
    let (roots, grads, (nodes, numbers)) = (handles(roots), sparse_handles(grads), lists(edges));
    // SAFETY: lists of valid handles and their lengths.
    done(unsafe {
        sys::tsr_backward_edges(
            roots.as_ptr(),
            count(roots.len()),
            grads.as_ptr(),
            count(grads.len()),
            nodes.as_ptr(),
            count(nodes.len()),
            numbers.as_ptr(),
            count(numbers.len()),
            options(BackwardOptions::default()).flags,
        )
    })
}

/// As [`grad`](super::grad), for edges.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd, Tensor};
/// let x = Tensor::from([2.0]).requiring_grad()?;
/// let y = &x * &x;
/// let edge = x.gradient_edge()?;
/// let grad = autograd::grad_at_edges(&[y], &[edge], &[], |o| o)?.remove(0).unwrap();
/// assert_eq!(grad.to_vec::<f64>()?, [4.0]);
/// # Ok(())
/// # }
/// ```
pub fn grad_at_edges(
    outputs: &[impl Borrow<Tensor>],
    edges: &[GradientEdge],
    grads: &[Option<&Tensor>],
    options: impl FnOnce(BackwardOptions) -> BackwardOptions,
) -> Result<Vec<Option<Tensor>>> {
    let (outputs, grads, (nodes, numbers)) =
        (handles(outputs), sparse_handles(grads), lists(edges));
    let mut results = vec![null_mut(); edges.len()];
    // SAFETY: lists of valid handles and their lengths; one result for each edge.
    done(unsafe {
        sys::tsr_grad_edges(
            outputs.as_ptr(),
            count(outputs.len()),
            grads.as_ptr(),
            count(grads.len()),
            nodes.as_ptr(),
            count(nodes.len()),
            numbers.as_ptr(),
            count(numbers.len()),
            options(BackwardOptions::default()).flags,
            results.as_mut_ptr(),
        )
    })?;
    // SAFETY: a success hands out a new reference each, or null.
    Ok(results.into_iter().map(|handle| unsafe { Tensor::adopt_optional(handle) }).collect())
}
