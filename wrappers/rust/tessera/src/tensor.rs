// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The tensor: its lifetime and its metadata. Its elements are in `host`, its ops in `generated`.

use crate::ambient::in_scope;
use crate::error::done;
use crate::{DType, Device, DeviceType, Result};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use tessera_sys as sys;

/// An n-dimensional array that can be differentiated.
///
/// A tensor is a counted reference: [`Clone`] makes another reference to the same elements, in a few
/// nanoseconds, and [`Tensor::deep_clone`] copies them. Memory is freed as soon as the last
/// reference is gone. As with [`Cell`](std::cell::Cell), writing needs no `&mut`: methods whose
/// names end in `_` change the elements in place, for every reference and every view.
///
/// # Threads
/// Any tensor may be used, cloned and dropped on any thread, and concurrent reading is safe.
/// Writing needs exclusive access, which the caller must arrange. If two threads write at the same
/// time, the elements are unspecified, as with shared memory, but the tensor stays valid. Therefore
/// getting a Rust reference to elements, [`Tensor::as_slice`], is unsafe.
#[repr(transparent)]
pub struct Tensor(NonNull<sys::tsr_tensor_s>);

// SAFETY: the ABI promises that any handle may be used and released on any thread, and that counts
// and metadata are safe to read concurrently.
unsafe impl Send for Tensor {}
// SAFETY: as above.
unsafe impl Sync for Tensor {}

impl Clone for Tensor {
    #[inline]
    fn clone(&self) -> Self {
        // SAFETY: a valid handle.
        unsafe { sys::tsr_tensor_retain(self.raw()) };
        Self(self.0)
    }
}

impl Drop for Tensor {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this is our reference.
        unsafe { sys::tsr_tensor_release(self.raw()) };
    }
}

// ---- Handles ----

impl Tensor {
    /// Takes over a reference.
    ///
    /// # Safety
    /// `handle` is a valid handle, and the caller passes one reference. A handle that was returned
    /// while a scope was open belongs to that scope: retain it first.
    pub unsafe fn from_raw(handle: sys::tsr_tensor) -> Self {
        Self(NonNull::new(handle).expect("a tensor handle that is not null"))
    }

    /// The handle, with its reference, which the caller must release.
    pub fn into_raw(self) -> sys::tsr_tensor {
        ManuallyDrop::new(self).raw()
    }

    /// The handle, borrowed, for calls of `tessera_sys`.
    #[inline(always)]
    pub fn raw(&self) -> sys::tsr_tensor {
        self.0.as_ptr()
    }

    /// Takes over the handle that a call returned; inside a scope its reference belongs to the
    /// scope.
    ///
    /// # Safety
    /// The library has just returned `handle` on this thread.
    #[inline(always)]
    pub(crate) unsafe fn adopt(handle: sys::tsr_tensor) -> Self {
        debug_assert!(!handle.is_null());
        if in_scope() {
            // SAFETY: a valid handle. The reference added is ours; the release takes the handle out of
            // the scope.
            unsafe {
                sys::tsr_tensor_retain(handle);
                sys::tsr_tensor_release(handle);
            }
        }
        // SAFETY: a success never hands out null here.
        Self(unsafe { NonNull::new_unchecked(handle) })
    }

    /// Like `adopt`, for functions that return null for "none".
    ///
    /// # Safety
    /// As for `adopt`, or null.
    pub(crate) unsafe fn adopt_optional(handle: sys::tsr_tensor) -> Option<Self> {
        // SAFETY: as promised by the caller.
        (!handle.is_null()).then(|| unsafe { Self::adopt(handle) })
    }

    /// The borrowed handles of a callback as borrowed tensors.
    ///
    /// # Safety
    /// `handles` points to `length` valid or null handles, for as long as `'a`.
    pub(crate) unsafe fn lent<'a>(
        handles: *const sys::tsr_tensor,
        length: i32,
    ) -> &'a [Option<Tensor>] {
        if length <= 0 {
            return &[];
        }
        // SAFETY: Tensor is a transparent NonNull, so that an Option of it is a nullable handle.
        unsafe { std::slice::from_raw_parts(handles.cast(), length as usize) }
    }

    /// Whether two references are to the same tensor.
    pub fn is_same(&self, other: &Tensor) -> bool {
        self.0 == other.0
    }
}

// ---- Metadata ----

impl Tensor {
    fn info(&self) -> sys::tsr_info {
        let mut info = sys::tsr_info::default();
        // SAFETY: a valid handle, a struct with its size.
        let status = unsafe { sys::tsr_tensor_info(self.raw(), &mut info) };
        assert_eq!(status, sys::TSR_OK, "the metadata of a valid tensor");
        info
    }

    /// The size of each axis.
    pub fn shape(&self) -> Vec<i64> {
        let info = self.info();
        // SAFETY: `sizes` has `ndim` entries and stays as it is while the tensor lives.
        unsafe { copied(info.sizes, info.ndim) }
    }

    /// The size of one axis; negative numbers count from the end.
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn size(&self, axis: i64) -> i64 {
        let info = self.info();
        let rank = i64::from(info.ndim);
        let wrapped = if axis < 0 { axis + rank } else { axis };
        assert!((0..rank).contains(&wrapped), "axis {axis} of a tensor with {rank} axes");
        // SAFETY: `sizes` has `ndim` entries and is as old as the tensor.
        unsafe { *info.sizes.add(wrapped as usize) }
    }

    /// The distance between neighbours along each axis, in elements; may be 0 or negative.
    pub fn strides(&self) -> Vec<i64> {
        let info = self.info();
        // SAFETY: as for `shape`.
        unsafe { copied(info.strides, info.ndim) }
    }

    /// The number of axes.
    pub fn ndim(&self) -> usize {
        self.info().ndim as usize
    }

    /// The number of elements.
    pub fn numel(&self) -> usize {
        self.info().numel as usize
    }

    /// The bytes of all elements.
    pub fn nbytes(&self) -> usize {
        self.info().nbytes as usize
    }

    /// The type of the elements.
    ///
    /// # Panics
    /// If a library newer than this crate made a tensor of a dtype that this crate does not know.
    pub fn dtype(&self) -> DType {
        DType::from_raw(self.info().dtype)
    }

    /// The device of the tensor's memory.
    ///
    /// # Panics
    /// If a library newer than this crate has a device type that this crate does not know.
    pub fn device(&self) -> Device {
        let info = self.info();
        Device::new(DeviceType::from_raw(info.device_type), info.device_index)
    }

    fn has_flag(&self, flag: i32) -> bool {
        self.info().flags & flag != 0
    }

    /// Whether the elements are in row-major order without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.has_flag(sys::TSR_TENSOR_CONTIGUOUS)
    }

    /// Whether the memory must not be written.
    pub fn is_read_only(&self) -> bool {
        self.has_flag(sys::TSR_TENSOR_READ_ONLY)
    }

    /// Whether the tensor requires grad.
    pub fn requires_grad(&self) -> bool {
        self.has_flag(sys::TSR_TENSOR_REQUIRES_GRAD)
    }

    /// Whether the tensor was made in inference mode.
    pub fn is_inference(&self) -> bool {
        self.has_flag(sys::TSR_TENSOR_INFERENCE)
    }

    /// The number of in-place changes of the memory; shared by all its views.
    pub fn version(&self) -> Result<i64> {
        let mut version = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_tensor_version(self.raw(), &mut version) })?;
        Ok(version)
    }

    /// The number of references to this tensor.
    pub fn use_count(&self) -> Result<i64> {
        let mut count = 0;
        // SAFETY: as above.
        done(unsafe { sys::tsr_tensor_use_count(self.raw(), &mut count) })?;
        Ok(count)
    }
}

unsafe fn copied(list: *const i64, length: i32) -> Vec<i64> {
    if length == 0 {
        return Vec::new();
    }
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts(list, length as usize) }.to_vec()
}

impl DType {
    pub(crate) fn from_raw(bits: i32) -> Self {
        let known = DType::ALL.iter().find(|dtype| **dtype as i32 == bits);
        *known.unwrap_or_else(|| panic!("a dtype this crate does not know: {bits:#x}"))
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
