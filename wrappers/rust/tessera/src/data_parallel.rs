// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Data-parallel training, optimizers whose state is divided among ranks, and checkpoints that ranks
//! write together. All ranks of a group call the functions together.

use crate::amp::GradScaler;
use crate::arguments::{count, handles};
use crate::distributed::{rank_number, Group};
use crate::error::done;
use crate::handle::owner;
use crate::io::{path_bytes, TensorMap};
use crate::memory::buffer_text;
use crate::nn::Module;
use crate::optim::{Optimizer, Rates, Rule, State};
use crate::{json, DType, Result, Tensor};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::ptr::null_mut;
use tessera_sys as sys;

/// How [`DataParallel`] averages gradients.
#[derive(Clone, Copy, Debug)]
pub struct DataParallelOptions {
    /// In some steps some parameters get no gradient.
    pub find_unused: bool,
    /// Gradients of so many bytes are reduced together.
    pub bucket_bytes: i64,
    /// The same for the gradients that are ready first.
    pub first_bucket_bytes: i64,
    /// All ranks get the buffers of rank 0 before each forward.
    pub broadcast_buffers: bool,
    /// Gradients are memory of the buckets.
    pub gradient_as_bucket_view: bool,
    /// The dtype in which wider gradients travel.
    pub reduce_dtype: Option<DType>,
}

impl Default for DataParallelOptions {
    fn default() -> Self {
        Self {
            find_unused: false,
            bucket_bytes: 25 << 20,
            first_bucket_bytes: 1 << 20,
            broadcast_buffers: true,
            gradient_as_bucket_view: false,
            reduce_dtype: None,
        }
    }
}

owner! {
    /// Averages the gradients of parameters over the ranks of a group while the backward runs. At
    /// first all ranks get the parameters and buffers of rank 0.
    #[derive(Debug)]
    DataParallel, tsr_data_parallel_s, tsr_data_parallel_release
}

impl DataParallel {
    /// With the default options.
    pub fn new(group: &Group, parameters: &[Tensor], buffers: &[Tensor]) -> Result<Self> {
        Self::with(group, parameters, buffers, DataParallelOptions::default())
    }

    /// Of the parameters and buffers of a module, with the default options.
    pub fn of(group: &Group, module: &(impl Module + ?Sized)) -> Result<Self> {
        Self::new(group, &module.parameters(), &module.buffers())
    }

    /// With these options.
    pub fn with(
        group: &Group,
        parameters: &[Tensor],
        buffers: &[Tensor],
        options: DataParallelOptions,
    ) -> Result<Self> {
        let raw = sys::tsr_data_parallel_options {
            find_unused: i32::from(options.find_unused),
            bucket_bytes: options.bucket_bytes,
            first_bucket_bytes: options.first_bucket_bytes,
            broadcast_buffers: i32::from(options.broadcast_buffers),
            gradient_as_bucket_view: i32::from(options.gradient_as_bucket_view),
            reduce_dtype: options.reduce_dtype.map_or(-1, |dtype| dtype as i32),
            ..Default::default()
        };
        let (params, others) = (handles(parameters), handles(buffers));
        // SAFETY: a valid handle, lists with their lengths, a struct with its size; `out` is writable.
        Self::made(|out| unsafe {
            sys::tsr_data_parallel_new(
                group.raw(),
                params.as_ptr(),
                count(params.len()),
                others.as_ptr(),
                count(others.len()),
                &raw,
                out,
            )
        })
    }

    /// Calls a function that computes the output; the backward from it averages the gradients.
    pub fn forward(&mut self, compute: impl FnOnce() -> Result<Tensor>) -> Result<Tensor> {
        self.begin_forward()?;
        let output = compute()?;
        self.end_forward(std::slice::from_ref(&output))?;
        Ok(output)
    }

    /// The first half of [`DataParallel::forward`], for several outputs.
    pub fn begin_forward(&mut self) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_data_parallel_forward_begin(self.raw()) })
    }

    /// The second half.
    pub fn end_forward(&mut self, outputs: &[Tensor]) -> Result<()> {
        let list = handles(outputs);
        // SAFETY: a valid handle, a list with its length.
        done(unsafe {
            sys::tsr_data_parallel_forward_end(self.raw(), list.as_ptr(), count(list.len()))
        })
    }

    /// With `false`, backwards of forwards from now on only add to the gradients of this rank; the
    /// next one that averages takes the sums. Returns what held before.
    pub fn set_sync(&mut self, sync: bool) -> Result<bool> {
        let mut before = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_data_parallel_sync_set(self.raw(), i32::from(sync), &mut before) })?;
        Ok(before != 0)
    }

    /// From here to [`DataParallel::end_join`] ranks may have different numbers of forwards.
    pub fn begin_join(
        &mut self,
        divide_by_initial_size: bool,
        fail_when_uneven: bool,
    ) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe {
            sys::tsr_data_parallel_join_begin(
                self.raw(),
                i32::from(divide_by_initial_size),
                i32::from(fail_when_uneven),
            )
        })
    }

    /// Takes part in what the other ranks still do. Then all have the model of one that ran to the
    /// end.
    pub fn end_join(&mut self) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_data_parallel_join_end(self.raw()) })
    }

    /// The buckets and the events of the last backward that averaged, as JSON.
    pub fn report(&self) -> Result<String> {
        let mut json = null_mut();
        // SAFETY: a valid handle, a writable pointer; the buffer of a success is given away.
        unsafe {
            done(sys::tsr_data_parallel_report(self.raw(), &mut json))?;
            buffer_text(json)
        }
    }
}

owner! {
    /// A handle of the division.
    #[derive(Debug)]
    Division, tsr_sharded_optimizer_s, tsr_sharded_optimizer_release
}

/// Each rank keeps the state of its share of the parameters, updates them, and then all get the new
/// values. The gradients must be equal on all ranks, as [`DataParallel`] makes them.
///
/// The optimizer inside cannot be replaced, because the division belongs to it:
/// ```compile_fail,E0616
/// # use tessera::{data_parallel::ShardedOptimizer, optim::{Optimizer, Sgd}};
/// fn swap(a: &mut ShardedOptimizer<Sgd>, b: &mut Optimizer<Sgd>) {
///     std::mem::swap(&mut a.optimizer, b);
/// }
/// ```
pub struct ShardedOptimizer<R: Rule> {
    // Never given out as `&mut`: swapped with another, it could be used here and there at once.
    optimizer: Optimizer<R>,
    division: Division,
}

impl<R: Rule> Rates for ShardedOptimizer<R> {
    fn group_count(&self) -> usize {
        self.optimizer.group_count()
    }

    fn lr(&self, group: usize) -> Result<f64> {
        self.optimizer.lr(group)
    }

    fn set_group_lr(&mut self, group: usize, lr: f64) -> Result<()> {
        self.optimizer.set_group_lr(group, lr)
    }
}

impl<R: Rule + fmt::Debug> fmt::Debug for ShardedOptimizer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ShardedOptimizer").field(&self.optimizer).finish()
    }
}

impl<R: Rule> ShardedOptimizer<R> {
    /// Divides the state of an optimizer among the ranks of a group.
    pub fn new(optimizer: Optimizer<R>, group: &Group) -> Result<Self> {
        // SAFETY: valid handles; `out` is writable.
        let division = Division::made(|out| unsafe {
            sys::tsr_optimizer_shard(optimizer.raw(), group.raw(), out)
        })?;
        Ok(Self { optimizer, division })
    }

    /// The optimizer that is divided, for reading its options and its state on this rank.
    pub fn optimizer(&self) -> &Optimizer<R> {
        &self.optimizer
    }

    /// Clears the gradients of the parameters.
    pub fn zero_grad(&mut self) -> Result<()> {
        self.optimizer.zero_grad()
    }

    /// Sets the options of a group, from its next step on.
    pub fn set_rule(&mut self, group: usize, rule: R) -> Result<()> {
        self.optimizer.set_rule(group, rule)
    }

    /// Sets the learning rate of all groups; a [`Scheduler`](crate::optim::Scheduler) sets it by a
    /// schedule.
    pub fn set_lr(&mut self, lr: f64) -> Result<()> {
        self.optimizer.set_lr(lr)
    }

    /// Loads options and state from a file that any language saved.
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<()> {
        self.optimizer.load(path)
    }

    /// Loads the options and a copy of the tensors; after an error nothing has changed.
    pub fn load_state(&mut self, state: &State) -> Result<()> {
        self.optimizer.load_state(state)
    }

    /// Divides the gradients by the scale of a scaler, which then tells whether all were finite
    /// ([`GradScaler::found_inf`]).
    pub fn unscale(&mut self, scaler: &mut GradScaler) -> Result<()> {
        scaler.unscale(&mut self.optimizer)
    }

    /// Updates this rank's share, and gives all ranks the new values.
    pub fn step(&mut self) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_sharded_optimizer_step(self.division.raw()) })
    }

    /// An optimizer with the states of all parameters on rank `to`, on every rank if `to` is `None`;
    /// `None` on the others.
    pub fn gather(&mut self, to: Option<usize>) -> Result<Option<Optimizer<R>>> {
        let mut whole = null_mut();
        let to = to.map_or(-1, rank_number);
        // SAFETY: a valid handle, a writable pointer.
        done(unsafe { sys::tsr_sharded_optimizer_gather(self.division.raw(), to, &mut whole) })?;
        Ok(Optimizer::from_raw(whole))
    }

    /// The rank of each parameter and the bytes of this rank's states, as JSON.
    pub fn report(&self) -> Result<String> {
        let mut json = null_mut();
        // SAFETY: a valid handle, a writable pointer; the buffer of a success is given away.
        unsafe {
            done(sys::tsr_sharded_optimizer_report(self.division.raw(), &mut json))?;
            buffer_text(json)
        }
    }
}

/// The part of a tensor that a rank has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Where it begins in the whole.
    pub offset: Vec<i64>,
    /// The shape of the whole.
    pub shape: Vec<i64>,
}

/// The parts of tensors that a rank has, by name; other tensors are whole.
pub type SliceMap = BTreeMap<String, Slice>;

fn lists(tensors: &TensorMap, slices: &SliceMap) -> (String, String) {
    let names = json::quote_list(tensors.keys().map(String::as_str));
    let parts: Vec<String> = slices
        .iter()
        .map(|(name, Slice { offset, shape })| {
            format!("{}:{{\"offset\":{offset:?},\"shape\":{shape:?}}}", json::quote(name))
        })
        .collect();
    (names, format!("{{{}}}", parts.join(",")))
}

/// Writes tensors into a folder, on all ranks together; one that several ranks have completely is
/// written once. Without a group one process writes all.
pub fn save_shards(
    tensors: &TensorMap,
    path: impl AsRef<Path>,
    group: Option<&Group>,
    slices: &SliceMap,
    metadata: &BTreeMap<String, String>,
) -> Result<()> {
    let path = path_bytes(&path);
    let (names, parts) = lists(tensors, slices);
    let texts = json::quote_map(metadata);
    let list = handles(&tensors.values().collect::<Vec<_>>());
    // SAFETY: texts and a list with their lengths, a valid handle or null.
    done(unsafe {
        sys::tsr_shards_save(
            path.as_ptr().cast(),
            path.len() as i64,
            names.as_ptr().cast(),
            names.len() as i64,
            list.as_ptr(),
            count(list.len()),
            parts.as_ptr().cast(),
            parts.len() as i64,
            texts.as_ptr().cast(),
            texts.len() as i64,
            group.map_or(null_mut(), Group::raw),
        )
    })
}

/// Copies the saved values into the tensors, or into the parts that they are. The number of ranks
/// that saved does not matter.
pub fn load_shards(tensors: &TensorMap, path: impl AsRef<Path>, slices: &SliceMap) -> Result<()> {
    let path = path_bytes(&path);
    let (names, parts) = lists(tensors, slices);
    let list = handles(&tensors.values().collect::<Vec<_>>());
    // SAFETY: texts and a list with their lengths.
    done(unsafe {
        sys::tsr_shards_load(
            path.as_ptr().cast(),
            path.len() as i64,
            names.as_ptr().cast(),
            names.len() as i64,
            list.as_ptr(),
            count(list.len()),
            parts.as_ptr().cast(),
            parts.len() as i64,
        )
    })
}

/// What a folder contains, as JSON.
pub fn shards_index(path: impl AsRef<Path>) -> Result<String> {
    let path = path_bytes(&path);
    let mut json = null_mut();
    // SAFETY: a text with its length, a writable pointer; the buffer of a success is given away.
    unsafe {
        done(sys::tsr_shards_index(path.as_ptr().cast(), path.len() as i64, &mut json))?;
        buffer_text(json)
    }
}
