// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Streams (queues of work on a device) and events (marks in a stream).
//!
//! On the CPU work is done when a function returns: every stream is the default stream, every event
//! is done, and a wait returns at once.

use crate::arguments::one;
use crate::error::done;
use crate::handle::handle;
use crate::{Device, DeviceType, Result, Tensor};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::null_mut;
use tessera_sys as sys;

handle! {
    /// A queue of work on a device. The work of one stream runs in order; different streams run
    /// concurrently.
    #[derive(Debug)]
    Stream, tsr_stream_s, tsr_stream_retain, tsr_stream_release
}

handle! {
    /// A mark in a stream, to query or wait for the work that was queued before it.
    #[derive(Debug)]
    Event, tsr_event_s, tsr_event_retain, tsr_event_release
}

impl Stream {
    /// A stream from the library's pool.
    pub fn new(device: Device) -> Result<Self> {
        let (kind, index) = (device.kind as i32, device.index);
        // SAFETY: `out` is writable.
        Self::made(|out| unsafe { sys::tsr_stream_create(kind, index, out) })
    }

    /// The current stream of this thread.
    pub fn current(device: Device) -> Result<Self> {
        let (kind, index) = (device.kind as i32, device.index);
        // SAFETY: `out` is writable.
        Self::made(|out| unsafe { sys::tsr_stream_current(kind, index, out) })
    }

    /// Wraps a stream made by other code, such as a `cudaStream_t`; null is the default stream.
    ///
    /// # Safety
    /// `native` is a valid stream of that device, and its owner keeps it while this library's
    /// memory is used on it.
    pub unsafe fn from_native(device: Device, native: *mut c_void) -> Result<Self> {
        let (kind, index) = (device.kind as i32, device.index);
        // SAFETY: as promised by the caller.
        Self::made(|out| unsafe { sys::tsr_stream_wrap(kind, index, native, out) })
    }

    /// The device's own handle; null for the default stream.
    pub fn native(&self) -> Result<*mut c_void> {
        let mut native = null_mut();
        // SAFETY: a valid handle, a writable pointer.
        done(unsafe { sys::tsr_stream_native(self.raw(), &mut native) })?;
        Ok(native)
    }

    /// Its device.
    pub fn device(&self) -> Result<Device> {
        let (mut kind, mut index) = (0, 0);
        // SAFETY: a valid handle, two writable numbers.
        done(unsafe { sys::tsr_stream_device(self.raw(), &mut kind, &mut index) })?;
        Ok(Device::new(DeviceType::from_raw(kind), index))
    }

    /// Makes this the current stream of the thread, for its device, until the guard is dropped.
    pub fn enter(&self) -> Result<StreamGuard> {
        // SAFETY: a valid handle; `out` is writable.
        let previous = Self::made(|out| unsafe { sys::tsr_stream_set_current(self.raw(), out) })?;
        Ok(StreamGuard { previous, _thread: PhantomData })
    }

    /// Whether all work queued so far is done; does not wait.
    pub fn is_done(&self) -> Result<bool> {
        let mut value = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_stream_query(self.raw(), &mut value) })?;
        Ok(value != 0)
    }

    /// Waits until all work queued so far is done, and reports its failures.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_stream_synchronize(self.raw()) })
    }

    /// Makes work queued from now on start after the marked work; does not wait itself.
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        // SAFETY: valid handles.
        done(unsafe { sys::tsr_stream_wait_event(self.raw(), event.raw()) })
    }
}

/// Restores the thread's former stream when it is dropped.
#[must_use = "the stream is current until the guard is dropped"]
#[derive(Debug)]
pub struct StreamGuard {
    previous: Stream,
    _thread: PhantomData<*const ()>,
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        let mut between = null_mut();
        // SAFETY: a valid handle; the reference that comes out is given back.
        unsafe {
            sys::tsr_stream_set_current(self.previous.raw(), &mut between);
            sys::tsr_stream_release(between);
        }
    }
}

impl Event {
    /// An event that marks nothing yet.
    pub fn new(device: Device) -> Result<Self> {
        let (kind, index) = (device.kind as i32, device.index);
        // SAFETY: `out` is writable.
        Self::made(|out| unsafe { sys::tsr_event_create(kind, index, out) })
    }

    /// Marks the work queued on the stream so far; replaces an earlier mark.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        // SAFETY: valid handles.
        done(unsafe { sys::tsr_event_record(self.raw(), stream.raw()) })
    }

    /// Whether the marked work is done; does not wait.
    pub fn is_done(&self) -> Result<bool> {
        let mut value = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_event_query(self.raw(), &mut value) })?;
        Ok(value != 0)
    }

    /// Waits until the marked work is done, and reports its failures.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_event_synchronize(self.raw()) })
    }
}

impl Tensor {
    /// A copy in pinned (page-locked) host memory, from and to which the device (by default the
    /// thread's default device, or the first CUDA device) copies asynchronously, see `non_blocking`
    /// of [`Tensor::to_with`] and [`Tensor::copy_`]. Returns the tensor itself if it is pinned.
    pub fn pin_memory(&self, device: Option<Device>) -> Result<Tensor> {
        // SAFETY: a valid handle; -1 stands for no device.
        one(|out| unsafe {
            sys::tsr_tensor_pin_memory(
                self.raw(),
                device.map_or(-1, |d| d.kind as i32),
                device.map_or(-1, |d| d.index),
                out,
            )
        })
    }

    /// Whether the tensor is in memory of [`Tensor::pin_memory`].
    pub fn is_pinned(&self) -> Result<bool> {
        let mut value = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_tensor_is_pinned(self.raw(), &mut value) })?;
        Ok(value != 0)
    }

    /// Tells the allocator that the stream also uses this memory: after the tensor is gone, the
    /// memory is reused only once the work queued on the stream by then is done.
    pub fn record_stream(&self, stream: &Stream) -> Result<()> {
        // SAFETY: valid handles.
        done(unsafe { sys::tsr_tensor_record_stream(self.raw(), stream.raw()) })
    }
}
