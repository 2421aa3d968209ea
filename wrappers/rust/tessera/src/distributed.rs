// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Groups of ranks, processes or threads, that exchange tensors.
//!
//! ```
//! # fn main() -> tessera::Result<()> {
//! use tessera::{distributed::{Group, GroupOptions, ReduceOp}, Tensor};
//! // Processes that mpirun has started: Group::new("mpi", &GroupOptions::default())?
//! let alone = GroupOptions { rank: Some(0), size: Some(1), address: "example", ..Default::default() };
//! let group = Group::new("threads", &alone)?;
//! let x = Tensor::ones(&[3])?;
//! group.all_reduce(&[&x], ReduceOp::Sum)?.wait()?;
//! # Ok(())
//! # }
//! ```

pub mod functional;

use crate::arguments::{count, handles, list_count, list_pointer, one, ABSENT};
use crate::error::done;
use crate::handle::handle;
use crate::{Result, Tensor};
use std::borrow::Borrow;
use std::time::Duration;
use tessera_sys as sys;

/// How a collective reduces the elements of the ranks. For bool, `Sum` and `Max` are "or", `Prod`
/// and `Min` are "and".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum ReduceOp {
    /// The sum.
    Sum = sys::TSR_REDUCE_OP_SUM,
    /// The sum divided by the number of ranks; of floating and complex dtypes.
    Avg = sys::TSR_REDUCE_OP_AVG,
    /// The minimum; a NaN wins.
    Min = sys::TSR_REDUCE_OP_MIN,
    /// The maximum; a NaN wins.
    Max = sys::TSR_REDUCE_OP_MAX,
    /// The product.
    Prod = sys::TSR_REDUCE_OP_PROD,
    /// Bitwise, of integers and bool.
    BitAnd = sys::TSR_REDUCE_OP_BIT_AND,
    /// Bitwise, of integers and bool.
    BitOr = sys::TSR_REDUCE_OP_BIT_OR,
    /// Bitwise, of integers and bool.
    BitXor = sys::TSR_REDUCE_OP_BIT_XOR,
}

/// How a [`Group`] begins.
#[derive(Clone, Copy, Debug)]
pub struct GroupOptions<'a> {
    /// The rank of the caller, from 0; `None`: the backend knows.
    pub rank: Option<usize>,
    /// The number of ranks; `None`: the backend knows.
    pub size: Option<usize>,
    /// For the ranks to meet, and for operations.
    pub timeout: Duration,
    /// Whether ranks are asked whether they want the same before data move, where the backend can.
    pub checked: bool,
    /// Where the ranks meet; its meaning is the backend's.
    pub address: &'a str,
}

impl Default for GroupOptions<'_> {
    fn default() -> Self {
        let timeout = Duration::from_secs(1800);
        Self { rank: None, size: None, timeout, checked: true, address: "" }
    }
}

/// The number of a rank in the C ABI; one that is too large is one that no group has.
pub(crate) fn rank_number<N: TryFrom<usize> + From<i32>>(rank: usize) -> N {
    N::try_from(rank).unwrap_or(N::from(i32::MAX))
}

/// The same, of a rank or a number of ranks that may be left to the backend.
fn given<N: TryFrom<usize> + From<i32>>(number: Option<usize>) -> N {
    number.map_or(N::from(-1), rank_number)
}

handle! {
    /// An operation under way or done. Its tensors must not be used until [`Work::wait`] has
    /// returned; one that nobody waits for goes on and keeps its tensors.
    #[derive(Debug)]
    #[must_use = "the tensors must not be used before wait()"]
    Work, tsr_work_s, tsr_work_retain, tsr_work_release
}

impl Work {
    /// Waits until the operation is done, at most for the timeout of the group.
    pub fn wait(&self) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_work_wait(self.raw(), 0.0, 0) })
    }

    /// Waits until the operation is done; `ErrorKind::Cancelled` after this time, which aborts the
    /// group.
    pub fn wait_for(&self, time: Duration) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_work_wait(self.raw(), time.as_secs_f64(), 1) })
    }

    /// Whether `wait` would return at once. A failed operation is done.
    pub fn is_done(&self) -> Result<bool> {
        let mut found = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_work_done(self.raw(), &mut found) })?;
        Ok(found != 0)
    }

    /// The rank that a receive came from, after `wait`.
    pub fn source(&self) -> Result<Option<usize>> {
        let mut found = -1;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_work_source(self.raw(), &mut found) })?;
        Ok(usize::try_from(found).ok())
    }
}

handle! {
    /// Ranks that exchange tensors. Every rank calls the same collectives in the same order; each
    /// returns at once with a [`Work`]. A clone is the same group.
    #[derive(Debug)]
    Group, tsr_group_s, tsr_group_retain, tsr_group_release
}

impl Group {
    /// Waits until all ranks are there. Backends: `"mpi"`, for processes that mpirun has started;
    /// `"threads"`, for threads of this process, with rank and size in the options; `"nccl"`, for
    /// one GPU for each rank.
    pub fn new(backend: &str, options: &GroupOptions<'_>) -> Result<Self> {
        let raw = sys::tsr_group_options {
            rank: given(options.rank),
            size: given(options.size),
            timeout: options.timeout.as_secs_f64(),
            unchecked: i32::from(!options.checked),
            ..Default::default()
        };
        let address = options.address;
        // SAFETY: texts with their lengths, a struct with its size; `out` is writable.
        Self::made(|out| unsafe {
            sys::tsr_group_init(
                backend.as_ptr().cast(),
                backend.len() as i64,
                address.as_ptr().cast(),
                address.len() as i64,
                &raw,
                out,
            )
        })
    }

    fn info(&self) -> sys::tsr_group_info {
        let mut info = sys::tsr_group_info::default();
        // SAFETY: a valid handle, a struct with its size.
        let status = unsafe { sys::tsr_group_describe(self.raw(), &mut info) };
        assert_eq!(status, sys::TSR_OK, "the description of a valid group");
        info
    }

    /// The rank of the caller.
    pub fn rank(&self) -> usize {
        self.info().rank as usize
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.info().size as usize
    }

    /// Whether the group was aborted; every operation then fails with the first reason.
    pub fn is_aborted(&self) -> bool {
        self.info().aborted != 0
    }

    /// The rank that a member has in the group from which this one was split.
    pub fn first_rank(&self, rank: usize) -> Result<usize> {
        let (rank, mut found) = (rank_number(rank), 0);
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_group_first_rank(self.raw(), rank, &mut found) })?;
        Ok(found as usize)
    }

    /// A collective of all members: those of one color form a group, in the order of `(key, rank)`;
    /// `None` for those without a color.
    pub fn split(&self, color: Option<u32>, key: i64) -> Result<Option<Self>> {
        let color = color.map_or(-1, i64::from);
        // SAFETY: a valid handle; `out` is writable.
        Self::made_optional(|out| unsafe { sys::tsr_group_split(self.raw(), color, key, out) })
    }

    /// Ends the operations under way; later ones fail with `ErrorKind::Cancelled` and the reason.
    pub fn abort(&self, reason: &str) -> Result<()> {
        // SAFETY: a valid handle, text with its length.
        done(unsafe {
            sys::tsr_group_abort(self.raw(), reason.as_ptr().cast(), reason.len() as i64)
        })
    }

    /// Reduces tensors over all ranks, in place; those of one dtype and device travel together.
    pub fn all_reduce(&self, tensors: &[impl Borrow<Tensor>], op: ReduceOp) -> Result<Work> {
        let list = handles(tensors);
        // SAFETY: valid handles; `out` is writable.
        Work::made(|out| unsafe {
            let length = count(list.len());
            sys::tsr_group_all_reduce(self.raw(), list.as_ptr(), length, op as i32, out)
        })
    }

    /// As `all_reduce` for one tensor, with the result only at the root.
    pub fn reduce(&self, tensor: &Tensor, op: ReduceOp, root: usize) -> Result<Work> {
        let root = rank_number(root);
        // SAFETY: valid handles; `out` is writable.
        Work::made(|out| unsafe {
            sys::tsr_group_reduce(self.raw(), tensor.raw(), op as i32, root, out)
        })
    }

    /// Copies the root's tensors into those of the other ranks.
    pub fn broadcast(&self, tensors: &[impl Borrow<Tensor>], root: usize) -> Result<Work> {
        let (list, root) = (handles(tensors), rank_number(root));
        // SAFETY: valid handles; `out` is writable.
        Work::made(|out| unsafe {
            sys::tsr_group_broadcast(self.raw(), list.as_ptr(), count(list.len()), root, out)
        })
    }

    /// Collects every rank's input on every rank: one output for each, or a single one for all.
    pub fn all_gather(&self, outputs: &[impl Borrow<Tensor>], input: &Tensor) -> Result<Work> {
        let list = handles(outputs);
        // SAFETY: valid handles; `out` is writable.
        Work::made(|out| unsafe {
            let length = count(list.len());
            sys::tsr_group_all_gather(self.raw(), list.as_ptr(), length, input.raw(), out)
        })
    }

    /// Reduces the ranks' inputs, one for each rank or a single one; each rank gets its part.
    pub fn reduce_scatter(
        &self,
        output: &Tensor,
        inputs: &[impl Borrow<Tensor>],
        op: ReduceOp,
    ) -> Result<Work> {
        let list = handles(inputs);
        let length = count(list.len());
        // SAFETY: valid handles; `out` is writable.
        Work::made(|out| unsafe {
            let (group, result) = (self.raw(), output.raw());
            sys::tsr_group_reduce_scatter(group, result, list.as_ptr(), length, op as i32, out)
        })
    }

    /// Collects every rank's input at the root, which alone has outputs.
    pub fn gather(
        &self,
        outputs: &[impl Borrow<Tensor>],
        input: &Tensor,
        root: usize,
    ) -> Result<Work> {
        let (list, root) = (handles(outputs), rank_number(root));
        // SAFETY: valid handles; `out` is writable.
        Work::made(|out| unsafe {
            let length = count(list.len());
            sys::tsr_group_gather(self.raw(), list.as_ptr(), length, input.raw(), root, out)
        })
    }

    /// Gives each rank one input of the root, which alone has inputs.
    pub fn scatter(
        &self,
        output: &Tensor,
        inputs: &[impl Borrow<Tensor>],
        root: usize,
    ) -> Result<Work> {
        let (list, root) = (handles(inputs), rank_number(root));
        // SAFETY: valid handles; `out` is writable.
        Work::made(|out| unsafe {
            let length = count(list.len());
            sys::tsr_group_scatter(self.raw(), output.raw(), list.as_ptr(), length, root, out)
        })
    }

    /// Gives rank r the r-th input of every rank. Shapes may differ.
    pub fn all_to_all(
        &self,
        outputs: &[impl Borrow<Tensor>],
        inputs: &[impl Borrow<Tensor>],
    ) -> Result<Work> {
        let (to, from) = (handles(outputs), handles(inputs));
        // SAFETY: valid handles; `out` is writable.
        Work::made(|out| unsafe {
            let (n, m) = (count(to.len()), count(from.len()));
            sys::tsr_group_all_to_all(self.raw(), to.as_ptr(), n, from.as_ptr(), m, out)
        })
    }

    /// As `all_to_all`, with parts of single tensors along axis 0; without sizes they are equal.
    pub fn all_to_all_single(
        &self,
        output: &Tensor,
        input: &Tensor,
        output_splits: Option<&[i64]>,
        input_splits: Option<&[i64]>,
    ) -> Result<Work> {
        // SAFETY: valid handles, lists with their lengths; `out` is writable.
        Work::made(|out| unsafe {
            sys::tsr_group_all_to_all_single(
                self.raw(),
                output.raw(),
                input.raw(),
                list_pointer(output_splits),
                list_count(output_splits),
                list_pointer(input_splits),
                list_count(input_splits),
                out,
            )
        })
    }

    /// Is done when every rank has called it.
    pub fn barrier(&self) -> Result<Work> {
        // SAFETY: a valid handle; `out` is writable.
        Work::made(|out| unsafe { sys::tsr_group_barrier(self.raw(), out) })
    }

    /// Sends a tensor to one rank. Messages between two ranks with one tag arrive in their order.
    pub fn send(&self, tensor: &Tensor, peer: usize, tag: i64) -> Result<Work> {
        let peer = rank_number(peer);
        // SAFETY: valid handles; `out` is writable.
        Work::made(|out| unsafe { sys::tsr_group_send(self.raw(), tensor.raw(), peer, tag, out) })
    }

    /// Receives a tensor from one rank, or from whichever sends first.
    pub fn recv(&self, tensor: &Tensor, peer: Option<usize>, tag: i64) -> Result<Work> {
        let peer = peer.map_or(ABSENT, rank_number);
        // SAFETY: valid handles; `out` is writable.
        Work::made(|out| unsafe { sys::tsr_group_recv(self.raw(), tensor.raw(), peer, tag, out) })
    }
}

/// The positions of one rank's samples; `None`: in the order of the dataset.
pub(crate) fn rank_positions(
    count: i64,
    ranks: i64,
    rank: i64,
    seed: Option<i64>,
    drop_last: bool,
) -> Result<Tensor> {
    let (seed, drop_last) = (seed.unwrap_or(ABSENT), i32::from(drop_last));
    // SAFETY: `out` is writable.
    one(|out| unsafe { sys::tsr_rank_positions(count, ranks, rank, seed, drop_last, out) })
}
