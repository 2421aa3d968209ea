// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Collectives that return new tensors and have derivatives, which are collectives themselves: the
//! derivative is that of the sum of all ranks' losses.
//!
//! They wait for their results. A result requires grad on all ranks if the input of one rank does;
//! the backward must then run on every rank, and grad mode must be equal on all.
//!
//! ```
//! # fn main() -> tessera::Result<()> {
//! use tessera::{distributed::{functional, Group, GroupOptions, ReduceOp}, Tensor};
//! let alone = GroupOptions { rank: Some(0), size: Some(1), address: "functional", ..Default::default() };
//! let group = Group::new("threads", &alone)?;
//! let x = Tensor::ones(&[3])?.requiring_grad()?;
//! functional::all_reduce(&group, &x, ReduceOp::Sum)?.sum()?.backward()?;
//! # Ok(())
//! # }
//! ```

use super::{rank_number, Group, ReduceOp};
use crate::arguments::{list_count, list_pointer, one};
use crate::{Result, Tensor};
use tessera_sys as sys;

/// The reduction of the ranks' inputs. `Min` and `Max` share the gradient among equal elements.
pub fn all_reduce(group: &Group, input: &Tensor, op: ReduceOp) -> Result<Tensor> {
    // SAFETY: valid handles; `out` is writable.
    one(|out| unsafe { sys::tsr_collective_all_reduce(group.raw(), input.raw(), op as i32, out) })
}

/// The reduction at the root, zeros elsewhere. `Sum` or `Avg`, where an input requires grad.
pub fn reduce(group: &Group, input: &Tensor, op: ReduceOp, root: usize) -> Result<Tensor> {
    let root = rank_number(root);
    // SAFETY: valid handles; `out` is writable.
    one(|out| unsafe { sys::tsr_collective_reduce(group.raw(), input.raw(), op as i32, root, out) })
}

/// The root's input; the others' tell shape and dtype.
pub fn broadcast(group: &Group, input: &Tensor, root: usize) -> Result<Tensor> {
    let root = rank_number(root);
    // SAFETY: valid handles; `out` is writable.
    one(|out| unsafe { sys::tsr_collective_broadcast(group.raw(), input.raw(), root, out) })
}

/// The ranks' inputs, concatenated along axis 0.
pub fn all_gather(group: &Group, input: &Tensor) -> Result<Tensor> {
    // SAFETY: valid handles; `out` is writable.
    one(|out| unsafe { sys::tsr_collective_all_gather(group.raw(), input.raw(), out) })
}

/// This rank's part of the reduced inputs, along axis 0.
pub fn reduce_scatter(group: &Group, input: &Tensor, op: ReduceOp) -> Result<Tensor> {
    // SAFETY: valid handles; `out` is writable.
    one(|out| unsafe {
        sys::tsr_collective_reduce_scatter(group.raw(), input.raw(), op as i32, out)
    })
}

/// The parts along axis 0 that all ranks have for this one. Without `input_splits` parts are equal;
/// without `output_splits` the ranks tell each other.
pub fn all_to_all(
    group: &Group,
    input: &Tensor,
    output_splits: Option<&[i64]>,
    input_splits: Option<&[i64]>,
) -> Result<Tensor> {
    // SAFETY: valid handles, lists with their lengths; `out` is writable.
    one(|out| unsafe {
        sys::tsr_collective_all_to_all(
            group.raw(),
            input.raw(),
            list_pointer(output_splits),
            list_count(output_splits),
            list_pointer(input_splits),
            list_count(input_splits),
            out,
        )
    })
}

/// A 0-dim zero that stands for the message, to be added to the loss: a backward that reaches it
/// waits for the gradient. Several messages between two ranks need tags of their own.
pub fn send(group: &Group, input: &Tensor, peer: usize, tag: i64) -> Result<Tensor> {
    let peer = rank_number(peer);
    // SAFETY: valid handles; `out` is writable.
    one(|out| unsafe { sys::tsr_collective_send(group.raw(), input.raw(), peer, tag, out) })
}

/// A new tensor like `like` with what `peer` sends. `requires_grad`: its tensor requires grad.
pub fn recv(
    group: &Group,
    like: &Tensor,
    peer: usize,
    tag: i64,
    requires_grad: bool,
) -> Result<Tensor> {
    let (peer, wanted) = (rank_number(peer), i32::from(requires_grad));
    // SAFETY: valid handles; `out` is writable.
    one(|out| unsafe { sys::tsr_collective_recv(group.raw(), like.raw(), peer, tag, wanted, out) })
}
