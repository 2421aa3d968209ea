// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The caching allocator: statistics, limits, and closures that free memory when it runs short.

use crate::error::{done, drop_box, drop_quietly, text};
use crate::{Device, Result};
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::{null, null_mut};
use tessera_sys as sys;

mod history;
pub use history::{
    holders, is_recording, on_out_of_memory, record_history, set_limit_fraction, set_settings,
    settings, viewer, viewer_of, HistoryGuard, HistoryOptions, OutOfMemoryGuard, Settings,
};
mod stats;
pub use stats::{stats, PoolStat, Stat, Stats};

/// A number of bytes for "no bound".
const NO_BOUND: i64 = i64::MAX;

fn bound_from(nbytes: i64) -> Option<i64> {
    Some(nbytes).filter(|&nbytes| nbytes != NO_BOUND)
}

/// Every segment and block and the recorded history, as one JSON object.
pub fn snapshot(device: Device) -> Result<String> {
    let mut buffer = null_mut();
    // SAFETY: `buffer` is writable and released after its text was copied.
    unsafe {
        done(sys::tsr_memory_snapshot(device.kind as i32, device.index, &mut buffer))?;
        buffer_text(buffer)
    }
}

/// The text of a buffer; releases the buffer.
///
/// # Safety
/// A valid handle, whose reference the caller passes.
pub(crate) unsafe fn buffer_text(buffer: sys::tsr_buffer) -> Result<String> {
    // SAFETY: passed on.
    unsafe { copied(buffer, |data, length| text(data, length)) }
}

/// The bytes of a buffer; releases the buffer.
///
/// # Safety
/// A valid handle, whose reference the caller passes.
pub(crate) unsafe fn buffer_bytes(buffer: sys::tsr_buffer) -> Result<Vec<u8>> {
    // SAFETY: passed on.
    unsafe {
        copied(buffer, |data, length| {
            std::slice::from_raw_parts(data.cast::<u8>(), length as usize).to_vec()
        })
    }
}

/// What `copy` makes of a buffer's data and their length; releases the buffer.
unsafe fn copied<T>(
    buffer: sys::tsr_buffer,
    copy: impl FnOnce(*const std::ffi::c_char, i64) -> T,
) -> Result<T> {
    let (mut data, mut length) = (null(), 0);
    // SAFETY: the buffer is valid until it is released at the end.
    unsafe {
        let status = sys::tsr_buffer_data(buffer, &mut data, &mut length);
        let made = done(status).map(|()| copy(data, length));
        sys::tsr_buffer_release(buffer);
        made
    }
}

/// Returns all cached memory to the device; the result is the number of bytes.
pub fn empty_cache(device: Device) -> Result<i64> {
    let mut freed = 0;
    // SAFETY: `freed` is writable.
    done(unsafe { sys::tsr_memory_empty_cache(device.kind as i32, device.index, &mut freed) })?;
    Ok(freed)
}

/// Returns cached memory to the device until at most `keep` bytes are held, as far as possible.
pub fn trim(device: Device, keep: i64) -> Result<i64> {
    let mut freed = 0;
    // SAFETY: `freed` is writable.
    done(unsafe { sys::tsr_memory_trim(device.kind as i32, device.index, keep, &mut freed) })?;
    Ok(freed)
}

/// The most bytes the allocator may hold; `None` for no limit.
pub fn limit(device: Device) -> Result<Option<i64>> {
    let mut nbytes = 0;
    // SAFETY: `nbytes` is writable.
    done(unsafe { sys::tsr_memory_limit(device.kind as i32, device.index, &mut nbytes) })?;
    Ok(bound_from(nbytes))
}

/// Sets the most bytes the allocator may hold; `None` lifts the limit. Memory in use stays.
pub fn set_limit(device: Device, nbytes: Option<i64>) -> Result<()> {
    let nbytes = nbytes.unwrap_or(NO_BOUND);
    // SAFETY: plain numbers.
    done(unsafe { sys::tsr_memory_set_limit(device.kind as i32, device.index, nbytes) })
}

/// Sets every peak to the current value.
pub fn reset_peak(device: Device) -> Result<()> {
    // SAFETY: plain numbers.
    done(unsafe { sys::tsr_memory_reset_peak(device.kind as i32, device.index) })
}

/// How many tensors are alive in the process.
pub fn live_tensors() -> i64 {
    // SAFETY: takes nothing.
    unsafe { sys::tsr_live_handles() }
}

/// How many nodes of the autograd graph are alive in the process.
pub fn live_nodes() -> i64 {
    // SAFETY: takes nothing.
    unsafe { sys::tsr_live_nodes() }
}

// ---- Pressure ----

/// The argument of a pressure closure.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Pressure {
    /// Bytes the failing call asked for.
    pub requested: i64,
    /// Bytes held but not in use.
    pub cached_free: i64,
    /// Bytes in use.
    pub live_bytes: i64,
    /// Tensors alive in the process.
    pub live_tensors: i64,
}

impl Pressure {
    fn of(event: &sys::tsr_memory_event) -> Self {
        Self {
            requested: event.requested,
            cached_free: event.cached_free,
            live_bytes: event.live_bytes,
            live_tensors: event.live_handles,
        }
    }
}

type Callback = Box<dyn Fn(&Pressure) -> bool + Send + Sync>;

/// A registered pressure closure, removed when this is dropped.
#[must_use = "the closure is removed with the guard"]
#[derive(Debug)]
pub struct PressureGuard(i64);

impl Drop for PressureGuard {
    fn drop(&mut self) {
        // SAFETY: a plain number. A failure means that it is gone already.
        unsafe { sys::tsr_memory_pressure_remove(self.0) };
    }
}

unsafe extern "C" fn run_pressure(user: *mut c_void, event: *const sys::tsr_memory_event) -> i32 {
    // SAFETY: user is the box of `on_pressure`, the event is valid during the call.
    let (callback, event) = unsafe { (&*user.cast::<Callback>(), &*event) };
    let told = Pressure::of(event);
    match catch_unwind(AssertUnwindSafe(|| callback(&told))) {
        Ok(true) => sys::TSR_PRESSURE_FREED_MAYBE,
        Ok(false) => sys::TSR_PRESSURE_NOTHING,
        Err(panic) => {
            drop_quietly(panic);
            sys::TSR_PRESSURE_NOTHING
        }
    }
}

/// The number of held bytes above which the pressure closures run before the allocator grows;
/// `None` for never.
pub fn pressure_threshold(device: Device) -> Result<Option<i64>> {
    let (kind, index, mut nbytes) = (device.kind as i32, device.index, 0);
    // SAFETY: `nbytes` is writable.
    done(unsafe { sys::tsr_memory_pressure_threshold(kind, index, &mut nbytes) })?;
    Ok(bound_from(nbytes))
}

/// Makes pressure closures run also before the allocator takes memory from the device that would
/// raise the held bytes above this number; `None`, the state at the start, means only when memory
/// runs out.
pub fn set_pressure_threshold(device: Device, nbytes: Option<i64>) -> Result<()> {
    let (kind, nbytes) = (device.kind as i32, nbytes.unwrap_or(NO_BOUND));
    // SAFETY: plain numbers.
    done(unsafe { sys::tsr_memory_pressure_threshold_set(kind, device.index, nbytes) })
}

/// Calls the closure before the allocator fails, on the allocating thread and with no lock held.
/// The closure may drop tensors, and returns whether it did. A panic counts as "no".
pub fn on_pressure(
    device: Device,
    callback: impl Fn(&Pressure) -> bool + Send + Sync + 'static,
) -> Result<PressureGuard> {
    let user = Box::into_raw(Box::new(Box::new(callback) as Callback)).cast();
    let mut id = 0;
    // SAFETY: the box is freed by drop_box once, also when this fails.
    done(unsafe {
        sys::tsr_memory_pressure_add(
            device.kind as i32,
            device.index,
            Some(run_pressure),
            user,
            Some(drop_box::<Callback>),
            &mut id,
        )
    })?;
    Ok(PressureGuard(id))
}
