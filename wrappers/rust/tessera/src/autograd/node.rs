// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Nodes of the graph, for inspection.

use crate::arguments::{count, sparse_handles};
use crate::error::{done, text};
use crate::handle::handle;
use crate::{Result, Tensor};
use std::fmt;
use std::ptr::{null, null_mut};
use tessera_sys as sys;

handle! {
    /// A node of the autograd graph.
    Node, tsr_node_s, tsr_node_retain, tsr_node_release
}

impl Node {
    /// Its name, such as `ExpBackward`.
    pub fn name(&self) -> Result<String> {
        let (mut name, mut length) = (null(), 0);
        // SAFETY: a valid handle; the name is copied while the node lives.
        unsafe {
            done(sys::tsr_node_name(self.raw(), &mut name, &mut length))?;
            Ok(text(name, length))
        }
    }

    /// Nodes made later on one thread have larger numbers and run earlier in a backward.
    pub fn sequence(&self) -> Result<u64> {
        let mut number = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_node_sequence(self.raw(), &mut number) })?;
        Ok(number)
    }

    /// For each input: the node that gets its gradient and the number of that node's output; `None`
    /// if the gradient is not needed.
    pub fn next(&self) -> Result<Vec<Option<(Node, i64)>>> {
        let mut length = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_node_next_count(self.raw(), &mut length) })?;
        (0..length)
            .map(|index| {
                let mut output = 0;
                let next = Node::made_optional(|next| {
                    // SAFETY: a valid handle, two writable places.
                    unsafe { sys::tsr_node_next(self.raw(), index, next, &mut output) }
                })?;
                Ok(next.map(|node| (node, output)))
            })
            .collect()
    }

    /// The leaf that an AccumulateGrad node adds to; `None` for other nodes.
    pub fn variable(&self) -> Result<Option<Tensor>> {
        let mut leaf = null_mut();
        // SAFETY: a valid handle; a success gives a new reference or null.
        unsafe {
            done(sys::tsr_node_variable(self.raw(), &mut leaf))?;
            Ok(Tensor::adopt_optional(leaf))
        }
    }

    /// The derivative of this node alone: the gradients of the function's inputs for these of its
    /// outputs. `None` stands for a gradient that is zero, or not needed. No hook of the node runs,
    /// and what it saved is kept. The AccumulateGrad node of a leaf adds to its gradient.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// let x = tessera::Tensor::from([3.0]).requiring_grad()?;
    /// let square = x.square()?.grad_fn()?.unwrap();
    /// let gradient = square.run(&[Some(&tessera::Tensor::from([1.0]))])?.remove(0).unwrap();
    /// assert_eq!(gradient.to_vec::<f64>()?, [6.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn run(&self, grads: &[Option<&Tensor>]) -> Result<Vec<Option<Tensor>>> {
        let mut length = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_node_next_count(self.raw(), &mut length) })?;
        let given = sparse_handles(grads);
        let mut results = vec![null_mut(); length as usize];
        // SAFETY: lists of valid or null handles with their lengths; a success gives new references
        // or nulls.
        unsafe {
            done(sys::tsr_node_run(
                self.raw(),
                given.as_ptr(),
                count(given.len()),
                count(results.len()),
                results.as_mut_ptr(),
            ))?;
            Ok(results.into_iter().map(|result| Tensor::adopt_optional(result)).collect())
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.name().unwrap_or_default())
    }
}
