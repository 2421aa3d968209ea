// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The statistics of an allocator.

use crate::error::done;
use crate::{Device, Result};
use tessera_sys as sys;

pub use sys::{tsr_memory_pool_stat as PoolStat, tsr_memory_stat as Stat};

macro_rules! stats {
    ($($(#[$doc:meta])* $field:ident: $kind:ty,)*) => {
        /// The statistics of one allocator.
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub struct Stats {
            $($(#[$doc])* pub $field: $kind,)*
            /// Blocks of at least this size are not split; `None` if every block may be.
            pub max_split_size: Option<i64>,
        }

        /// The statistics of a device's allocator. Bytes in use now:
        /// `stats.allocated_bytes.all.current`.
        pub fn stats(device: Device) -> Result<Stats> {
            let mut found = sys::tsr_memory_stats::default();
            // SAFETY: the struct has its size.
            done(unsafe {
                sys::tsr_memory_stats_get(device.kind as i32, device.index, &mut found)
            })?;
            Ok(Stats {
                $($field: found.$field,)*
                max_split_size: Some(found.max_split_size).filter(|&size| size >= 0),
            })
        }
    };
}

stats! {
    /// Blocks in use.
    allocated: PoolStat,
    /// Bytes in use.
    allocated_bytes: PoolStat,
    /// Pieces held from the device.
    segment: PoolStat,
    /// Bytes held from the device.
    reserved_bytes: PoolStat,
    /// Blocks in use, or still used by a stream.
    active: PoolStat,
    /// The bytes of these blocks.
    active_bytes: PoolStat,
    /// Free blocks that are part of a segment.
    inactive_split: PoolStat,
    /// The bytes of these blocks.
    inactive_split_bytes: PoolStat,
    /// Bytes in use, before rounding.
    requested_bytes: PoolStat,
    /// Blocks in use of at least `max_split_size` bytes.
    oversize_allocations: Stat,
    /// Pieces held of at least that size.
    oversize_segments: Stat,
    /// Requests that the device refused at first.
    num_alloc_retries: i64,
    /// Out-of-memory errors.
    num_ooms: i64,
    /// How often the allocator waited for frees that a stream held back.
    num_sync_all_streams: i64,
    /// How often it took memory from the device.
    num_device_alloc: i64,
    /// How often it gave memory back.
    num_device_free: i64,
}
