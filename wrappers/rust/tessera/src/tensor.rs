// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The tensor: its life, its metadata, its data. Ops stand in `generated`.

use crate::arguments::{count, one};
use crate::device::in_scope;
use crate::error::{done, drop_box};
use crate::{DType, Device, DeviceType, Element, Error, ErrorKind, Result};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::{null, null_mut, NonNull};
use tessera_sys as sys;

/// An n-dimensional array that can be differentiated.
///
/// A tensor is a counted reference: [`Clone`] makes another reference to the same elements, in a few
/// nanoseconds, and [`Tensor::deep_clone`] copies them. Memory is free the moment the last reference
/// goes. As with [`Cell`](std::cell::Cell), writing needs no `&mut`: methods whose names end in `_`
/// change the elements in place, for every reference and every view.
///
/// # Threads
/// Any tensor may be used, cloned and dropped on any thread, and reading at the same time is safe.
/// Writing needs exclusive access, for which the caller synchronises; if two threads do write at
/// once, the elements are unspecified, as with a shared memory map, while the tensor stays valid.
/// The references that Rust makes to elements, [`Tensor::as_slice`], are therefore unsafe to get.
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
    /// `handle` is a valid handle, and the caller gives one reference away. A handle that was handed
    /// out while a scope was open belongs to that scope: retain it first.
    pub unsafe fn from_raw(handle: sys::tsr_tensor) -> Self {
        Self(NonNull::new(handle).expect("a tensor handle that is not null"))
    }

    /// The handle, with the reference that it stands for.
    pub fn into_raw(self) -> sys::tsr_tensor {
        ManuallyDrop::new(self).raw()
    }

    /// The handle, borrowed, for calls of `tessera_sys`.
    #[inline(always)]
    pub fn raw(&self) -> sys::tsr_tensor {
        self.0.as_ptr()
    }

    /// Takes over what a call handed out: inside a scope that is a reference of the scope's.
    ///
    /// # Safety
    /// The library just handed `handle` out on this thread.
    #[inline(always)]
    pub(crate) unsafe fn adopt(handle: sys::tsr_tensor) -> Self {
        debug_assert!(!handle.is_null());
        if in_scope() {
            // SAFETY: a valid handle.
            unsafe { sys::tsr_tensor_retain(handle) };
        }
        // SAFETY: a success never hands out null here.
        Self(unsafe { NonNull::new_unchecked(handle) })
    }

    /// As `adopt`, for functions that answer null for "none".
    ///
    /// # Safety
    /// As for `adopt`, or null.
    pub(crate) unsafe fn adopt_optional(handle: sys::tsr_tensor) -> Option<Self> {
        // SAFETY: as promised by the caller.
        (!handle.is_null()).then(|| unsafe { Self::adopt(handle) })
    }

    /// Handles that a callback was lent, as tensors that are lent.
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
        // SAFETY: `sizes` has `ndim` entries and is read before the tensor can change.
        unsafe { copied(info.sizes, info.ndim) }
    }

    /// The size of one axis; negative numbers count from the end.
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn size(&self, axis: i64) -> i64 {
        let shape = self.shape();
        let rank = shape.len() as i64;
        let wrapped = if axis < 0 { axis + rank } else { axis };
        assert!((0..rank).contains(&wrapped), "axis {axis} of a tensor with {rank} axes");
        shape[wrapped as usize]
    }

    /// The distance of neighbours along each axis, in elements; may be 0 or negative.
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

    /// What the elements are.
    ///
    /// # Panics
    /// If a library newer than this crate made a tensor of a dtype that this crate does not know.
    pub fn dtype(&self) -> DType {
        DType::from_raw(self.info().dtype)
    }

    /// Where the tensor lives.
    ///
    /// # Panics
    /// If a library newer than this crate has a device type that this crate does not know.
    pub fn device(&self) -> Device {
        let info = self.info();
        let kind = DeviceType::ALL.iter().find(|kind| **kind as i32 == info.device_type);
        Device::new(*kind.expect("a known device type"), info.device_index)
    }

    fn has_flag(&self, flag: i32) -> bool {
        self.info().flags & flag != 0
    }

    /// Whether the elements lie in row-major order without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.has_flag(sys::TSR_TENSOR_CONTIGUOUS)
    }

    /// Whether the memory must not be written.
    pub fn is_read_only(&self) -> bool {
        self.has_flag(sys::TSR_TENSOR_READ_ONLY)
    }

    /// Whether the tensor takes part in differentiation.
    pub fn requires_grad(&self) -> bool {
        self.has_flag(sys::TSR_TENSOR_REQUIRES_GRAD)
    }

    /// Whether the tensor was made in inference mode.
    pub fn is_inference(&self) -> bool {
        self.has_flag(sys::TSR_TENSOR_INFERENCE)
    }

    /// How often the memory was changed in place; shared by all views of it.
    pub fn version(&self) -> Result<i64> {
        let mut version = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_tensor_version(self.raw(), &mut version) })?;
        Ok(version)
    }

    /// How many references there are to this tensor.
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

// ---- From memory of the host ----

impl Tensor {
    /// A tensor on the elements of a vector, which it takes over without a copy.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// let x = tessera::Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;
    /// assert_eq!(x.sum()?.item::<f32>()?, 10.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_vec<T: Element>(data: Vec<T>, shape: &[i64]) -> Result<Self> {
        let expected = shape.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
        if expected != i64::try_from(data.len()).ok() || shape.iter().any(|&d| d < 0) {
            let text = format!("from_vec: {} elements do not fill shape {shape:?}", data.len());
            return Err(Error::new(ErrorKind::Shape, text));
        }
        let mut owner = Box::new(data);
        let start = owner.as_mut_ptr();
        // SAFETY: the vector has as many elements as the shape says, and lives in the box until the
        // library calls drop.
        unsafe { Self::on_memory(start, shape, None, owner) }
    }

    /// A tensor with a copy of a slice.
    pub fn from_slice<T: Element>(data: &[T], shape: &[i64]) -> Result<Self> {
        Self::from_vec(data.to_vec(), shape)
    }

    /// A tensor without axes.
    pub fn scalar<T: Element>(value: T) -> Result<Self> {
        Self::from_vec(vec![value], &[])
    }

    /// A tensor on memory of the caller's. `strides` are in elements and may be negative: `data`
    /// points to the element whose indices are all 0. `owner` is dropped when the last tensor on the
    /// memory is gone, or at once when this fails.
    ///
    /// # Safety
    /// Every element that shape and strides reach is valid for reads and writes while `owner` lives,
    /// and no Rust reference is used to write or, while a tensor writes, to read it.
    pub unsafe fn from_raw_parts<T: Element, O: Send + 'static>(
        data: *mut T,
        shape: &[i64],
        strides: &[i64],
        owner: O,
    ) -> Result<Self> {
        if shape.len() != strides.len() {
            let text = format!("from_raw_parts: {shape:?} and {strides:?} differ in length");
            return Err(Error::new(ErrorKind::Shape, text));
        }
        // SAFETY: as promised by the caller.
        unsafe { Self::on_memory(data, shape, Some(strides), Box::new(owner)) }
    }

    unsafe fn on_memory<T: Element, O>(
        data: *mut T,
        shape: &[i64],
        strides: Option<&[i64]>,
        owner: Box<O>,
    ) -> Result<Self> {
        // SAFETY: the caller vouches for the memory; drop_box frees the owner exactly once.
        one(|out| unsafe {
            sys::tsr_tensor_from_data(
                data.cast(),
                T::DTYPE as i32,
                sys::TSR_DEVICE_CPU,
                0,
                shape.as_ptr(),
                count(shape.len()),
                strides.map_or(null(), <[i64]>::as_ptr),
                strides.map_or(-1, |list| count(list.len())),
                0,
                Box::into_raw(owner).cast(),
                Some(drop_box::<O>),
                out,
            )
        })
    }
}

macro_rules! from_arrays {
    ($([$($generics:tt)*] $from:ty, $data:ident => $flat:expr, $shape:expr;)*) => {$(
        impl<T: Element, $($generics)*> From<$from> for Tensor {
            /// # Panics
            /// If memory runs out.
            #[track_caller]
            fn from($data: $from) -> Self {
                let shape = $shape;
                Tensor::from_vec($flat, &shape).expect("a tensor from an array")
            }
        }
    )*};
}
from_arrays! {
    [] Vec<T>, data => data, [data.len() as i64];
    [] &[T], data => data.to_vec(), [data.len() as i64];
    [const N: usize] [T; N], data => data.to_vec(), [N as i64];
    [const N: usize, const M: usize] [[T; M]; N], data => data.concat(), [N as i64, M as i64];
    [const N: usize, const M: usize, const L: usize] [[[T; L]; M]; N], data => data.concat().concat(),
        [N as i64, M as i64, L as i64];
}

// ---- To memory of the host ----

impl Tensor {
    fn expect_dtype<T: Element>(&self, operation: &str) -> Result<()> {
        let dtype = self.dtype();
        if dtype == T::DTYPE {
            return Ok(());
        }
        let text = format!("{operation}: expected a tensor of {}, got {dtype}", T::DTYPE);
        Err(Error::new(ErrorKind::Dtype, text))
    }

    /// Copies the elements, in row-major order, to a vector. The dtype must be that of `T`.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let mut values = vec![T::default(); self.numel()];
        self.read_into(&mut values)?;
        Ok(values)
    }

    /// Copies the elements, in row-major order, to a slice of exactly that length.
    pub fn read_into<T: Element>(&self, values: &mut [T]) -> Result<()> {
        self.expect_dtype::<T>("read_into")?;
        let nbytes = std::mem::size_of_val(values);
        let start = values.as_mut_ptr();
        // SAFETY: `nbytes` bytes are writable; the library refuses any other size than the tensor's.
        done(unsafe { sys::tsr_tensor_read(self.raw(), start.cast(), nbytes as i64) })?;
        if T::DTYPE == DType::Bool {
            // Imported memory may hold other bytes than 0 and 1, which no Rust bool may be.
            // SAFETY: a bool is a byte, and bytes may be anything.
            let bytes = unsafe { std::slice::from_raw_parts_mut(start.cast::<u8>(), nbytes) };
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(())
    }

    /// Fills the tensor, in row-major order, from a slice of exactly its length.
    pub fn write_from<T: Element>(&self, values: &[T]) -> Result<()> {
        self.expect_dtype::<T>("write_from")?;
        let nbytes = std::mem::size_of_val(values) as i64;
        // SAFETY: `nbytes` bytes are readable; the library refuses any other size.
        done(unsafe { sys::tsr_tensor_write(self.raw(), values.as_ptr().cast(), nbytes) })
    }

    /// The value of a tensor with one element, converted to `T`.
    pub fn item<T: Element>(&self) -> Result<T> {
        let numel = self.numel();
        if numel != 1 {
            let text = format!("item: expected one element, got {numel}");
            return Err(Error::new(ErrorKind::Value, text));
        }
        let mut value = [T::default()];
        if self.dtype() == T::DTYPE {
            self.read_into(&mut value)?;
        } else {
            self.detach()?.astype(T::DTYPE)?.read_into(&mut value)?;
        }
        Ok(value[0])
    }

    /// The elements of a contiguous tensor on the CPU, without a copy.
    ///
    /// # Safety
    /// While the slice is used nothing writes to this memory: not through this tensor, nor another
    /// reference, nor a view, nor a backward that runs meanwhile. For `bool`, every byte is 0 or 1.
    pub unsafe fn as_slice<T: Element>(&self) -> Result<&[T]> {
        self.expect_dtype::<T>("as_slice")?;
        let mut data = null();
        self.expect_plain("as_slice")?;
        // SAFETY: a valid handle, a writable pointer.
        done(unsafe { sys::tsr_tensor_data(self.raw(), &mut data) })?;
        let numel = self.numel();
        if numel == 0 {
            return Ok(&[]);
        }
        // SAFETY: that many elements of this type; the caller promises that they do not change.
        Ok(unsafe { std::slice::from_raw_parts(data.cast(), numel) })
    }

    /// As [`Tensor::as_slice`], for writing; counts as one change in place.
    ///
    /// # Safety
    /// While the slice is used nothing else reads or writes this memory. For `bool`, as above.
    #[allow(clippy::mut_from_ref)] // a tensor is a reference to shared memory, see its documentation
    pub unsafe fn as_mut_slice<T: Element>(&self) -> Result<&mut [T]> {
        self.expect_dtype::<T>("as_mut_slice")?;
        self.expect_plain("as_mut_slice")?;
        let mut data = null_mut();
        // SAFETY: a valid handle, a writable pointer.
        done(unsafe { sys::tsr_tensor_mutable_data(self.raw(), &mut data) })?;
        let numel = self.numel();
        if numel == 0 {
            return Ok(&mut []);
        }
        // SAFETY: that many elements of this type; the caller promises exclusive access.
        Ok(unsafe { std::slice::from_raw_parts_mut(data.cast(), numel) })
    }

    fn expect_plain(&self, operation: &str) -> Result<()> {
        if self.is_contiguous() && self.device() == Device::CPU {
            return Ok(());
        }
        let text = format!("{operation}: expected a contiguous tensor on the CPU");
        Err(Error::new(ErrorKind::Buffer, text))
    }
}

impl<T: Element> TryFrom<&Tensor> for Vec<T> {
    type Error = Error;

    fn try_from(tensor: &Tensor) -> Result<Self> {
        tensor.to_vec()
    }
}

impl Tensor {
    /// Real and imaginary part of a tensor with one element.
    pub fn item_complex(&self) -> Result<(f64, f64)> {
        let (mut re, mut im) = (0.0, 0.0);
        // SAFETY: a valid handle, two writable numbers.
        done(unsafe { sys::tsr_tensor_item_c128(self.raw(), &mut re, &mut im) })?;
        Ok((re, im))
    }
}
