// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Recordings: which operation asked for each block, where in the program, and a page about it.

use super::{bound_from, buffer_text, Pressure, NO_BOUND};
use crate::error::{done, drop_box, drop_quietly};
use crate::host_stack::give_host_stack;
use crate::{Device, Result};
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;
use tessera_sys as sys;

/// What a recording keeps.
#[derive(Clone, Copy, Debug)]
pub struct HistoryOptions {
    /// The number of events that are kept, the latest ones.
    pub entries: i64,
    /// Notes the operation, dtype and shape of each block.
    pub operations: bool,
    /// The number of frames kept of the backtrace of each block; 0 for none. A backtrace costs
    /// some milliseconds.
    pub stacks: i32,
}

impl Default for HistoryOptions {
    fn default() -> Self {
        Self { entries: 100_000, operations: true, stacks: 0 }
    }
}

/// A recording of a device's memory, which ends when this is dropped.
#[must_use = "the recording ends with the guard"]
#[derive(Debug)]
pub struct HistoryGuard(Device);

impl Drop for HistoryGuard {
    fn drop(&mut self) {
        // SAFETY: plain numbers. A failure means that there is no such device any more.
        unsafe { sys::tsr_memory_history_stop(self.0.kind as i32, self.0.index) };
    }
}

/// Records the memory of a device until the guard is dropped. What was recorded before is dropped.
pub fn record_history(device: Device, options: HistoryOptions) -> Result<HistoryGuard> {
    let given = sys::tsr_memory_history_options {
        context: if options.operations {
            sys::TSR_MEMORY_CONTEXT_OPERATIONS
        } else {
            sys::TSR_MEMORY_CONTEXT_NONE
        },
        entries: options.entries,
        stacks: options.stacks,
        ..Default::default()
    };
    if options.stacks > 0 {
        give_host_stack()?;
    }
    // SAFETY: the struct has its size.
    done(unsafe { sys::tsr_memory_history_start(device.kind as i32, device.index, &given) })?;
    Ok(HistoryGuard(device))
}

/// Whether the memory of the device is recorded now.
pub fn is_recording(device: Device) -> Result<bool> {
    let mut running = 0;
    // SAFETY: `running` is writable.
    done(unsafe {
        sys::tsr_memory_history_running(device.kind as i32, device.index, &mut running)
    })?;
    Ok(running != 0)
}

/// Who holds the memory now, the largest first, as a JSON array; needs a recording.
pub fn holders(device: Device, count: i64) -> Result<String> {
    let mut buffer = null_mut();
    // SAFETY: `buffer` is writable and released after its text was copied.
    unsafe {
        done(sys::tsr_memory_holders(device.kind as i32, device.index, count, &mut buffer))?;
        buffer_text(buffer)
    }
}

/// The memory of the device as an HTML page that needs no network.
pub fn viewer(device: Device) -> Result<String> {
    let mut buffer = null_mut();
    // SAFETY: `buffer` is writable and released after its text was copied.
    unsafe {
        done(sys::tsr_memory_viewer_html(device.kind as i32, device.index, &mut buffer))?;
        buffer_text(buffer)
    }
}

/// The same page about the text of an earlier [`snapshot`](super::snapshot).
pub fn viewer_of(snapshot: &str) -> Result<String> {
    let mut buffer = null_mut();
    // SAFETY: the text is valid during the call; `buffer` is released after its text was copied.
    unsafe {
        let (data, length) = (snapshot.as_ptr().cast(), snapshot.len() as i64);
        done(sys::tsr_memory_viewer_page(data, length, &mut buffer))?;
        buffer_text(buffer)
    }
}

// ---- Settings ----

/// How the caching allocator of a device keeps memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Rounds sizes up to this many steps per power of two, so that similar sizes share blocks; a
    /// power of two, or 0.
    pub roundup_power2_divisions: i32,
    /// Blocks of at least this size, above 20 MiB, are not split and do not serve smaller requests.
    pub max_split_size: Option<i64>,
    /// Such a block may be larger than a request by less than this.
    pub max_non_split_rounding: i64,
    /// Above this fraction of the limit, the segments unused for longest go back first; 0 for never.
    pub garbage_collection_threshold: f64,
    /// Segments grow in place, so that blocks of all sizes share a range of addresses; excludes
    /// `max_split_size`.
    pub expandable_segments: bool,
}

/// The settings that hold now.
pub fn settings(device: Device) -> Result<Settings> {
    let mut found = sys::tsr_memory_settings::default();
    // SAFETY: the struct has its size.
    done(unsafe { sys::tsr_memory_settings_get(device.kind as i32, device.index, &mut found) })?;
    Ok(Settings {
        roundup_power2_divisions: found.roundup_power2_divisions,
        max_split_size: bound_from(found.max_split_size),
        max_non_split_rounding: found.max_non_split_rounding,
        garbage_collection_threshold: found.garbage_collection_threshold,
        expandable_segments: found.expandable_segments != 0,
    })
}

/// Changes how the caching allocator keeps memory; begin with what [`settings`] gives.
pub fn set_settings(device: Device, settings: &Settings) -> Result<()> {
    let given = sys::tsr_memory_settings {
        roundup_power2_divisions: settings.roundup_power2_divisions,
        max_split_size: settings.max_split_size.unwrap_or(NO_BOUND),
        max_non_split_rounding: settings.max_non_split_rounding,
        garbage_collection_threshold: settings.garbage_collection_threshold,
        expandable_segments: settings.expandable_segments.into(),
        ..Default::default()
    };
    // SAFETY: the struct has its size.
    done(unsafe { sys::tsr_memory_settings_set(device.kind as i32, device.index, &given) })
}

/// Limits what the allocator may hold to a fraction of the device's memory.
pub fn set_limit_fraction(device: Device, fraction: f64) -> Result<()> {
    // SAFETY: plain numbers.
    done(unsafe { sys::tsr_memory_set_limit_fraction(device.kind as i32, device.index, fraction) })
}

// ---- Out of memory ----

type Observer = Box<dyn Fn(&Pressure) + Send + Sync>;

/// A registered observer, removed when this is dropped.
#[must_use = "the closure is removed with the guard"]
#[derive(Debug)]
pub struct OutOfMemoryGuard(i64);

impl Drop for OutOfMemoryGuard {
    fn drop(&mut self) {
        // SAFETY: a plain number. A failure means that it is gone already.
        unsafe { sys::tsr_memory_out_of_memory_remove(self.0) };
    }
}

unsafe extern "C" fn observe(user: *mut c_void, event: *const sys::tsr_memory_event) {
    // SAFETY: user is the box of `on_out_of_memory`, the event is valid during the call.
    let (observer, event) = unsafe { (&*user.cast::<Observer>(), &*event) };
    let told = Pressure::of(event);
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| observer(&told))) {
        drop_quietly(panic);
    }
}

/// Calls the closure with every out-of-memory error of the device, just before it is returned, on
/// the allocating thread and with no lock held. A panic is ignored.
pub fn on_out_of_memory(
    device: Device,
    observer: impl Fn(&Pressure) + Send + Sync + 'static,
) -> Result<OutOfMemoryGuard> {
    let user = Box::into_raw(Box::new(Box::new(observer) as Observer)).cast();
    let mut id = 0;
    // SAFETY: the box is freed by drop_box once, also when this fails.
    done(unsafe {
        sys::tsr_memory_out_of_memory_add(
            device.kind as i32,
            device.index,
            Some(observe),
            user,
            Some(drop_box::<Observer>),
            &mut id,
        )
    })?;
    Ok(OutOfMemoryGuard(id))
}
