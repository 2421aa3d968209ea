// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Elements of tensors from and to Rust memory: vectors, slices, single values.

use crate::arguments::{count, one};
use crate::error::{done, drop_box};
use crate::{DType, Device, Element, Error, ErrorKind, Result, Tensor};
use std::ptr::{null, null_mut};
use tessera_sys as sys;

// ---- From memory of the host ----

impl Tensor {
    /// A tensor on the elements of a vector. Takes over the vector without a copy.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// let x = tessera::Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;
    /// assert_eq!(x.sum()?.item::<f32>()?, 10.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_vec<T: Element>(data: Vec<T>, shape: &[i64]) -> Result<Self> {
        check_filled("from_vec", data.len(), shape)?;
        let mut owner = Box::new(data);
        let start = owner.as_mut_ptr();
        // SAFETY: the vector has as many elements as the shape says, and lives in the box until the
        // library calls drop.
        unsafe { Self::on_memory(start, shape, None, owner) }
    }

    /// A tensor with a copy of a slice.
    pub fn from_slice<T: Element>(data: &[T], shape: &[i64]) -> Result<Self> {
        check_filled("from_slice", data.len(), shape)?;
        Self::from_vec(data.to_vec(), shape)
    }

    /// A 0-dim tensor.
    pub fn scalar<T: Element>(value: T) -> Result<Self> {
        Self::from_vec(vec![value], &[])
    }

    /// A tensor on the caller's memory. `strides` are in elements and may be negative: `data`
    /// points to the element whose indices are all 0. `owner` is dropped when the last tensor on
    /// the memory is gone, or at once when this fails.
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
            return Err(Error::refused(ErrorKind::Shape, text));
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

fn check_filled(operation: &str, length: usize, shape: &[i64]) -> Result<()> {
    let expected = shape.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
    if expected == i64::try_from(length).ok() && shape.iter().all(|&d| d >= 0) {
        return Ok(());
    }
    let text = format!("{operation}: {length} elements do not fill shape {shape:?}");
    Err(Error::refused(ErrorKind::Shape, text))
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
    [] T, value => vec![value], [];
    [] Vec<T>, data => data, [data.len() as i64];
    [] &[T], data => data.to_vec(), [data.len() as i64];
    [const N: usize] [T; N], data => data.to_vec(), [N as i64];
    [const N: usize, const M: usize] [[T; M]; N], data => data.concat(), [N as i64, M as i64];
    [const N: usize, const M: usize, const L: usize] [[[T; L]; M]; N], data => data.concat().concat(),
        [N as i64, M as i64, L as i64];
    [const N: usize, const M: usize, const L: usize, const K: usize] [[[[T; K]; L]; M]; N],
        data => data.concat().concat().concat(), [N as i64, M as i64, L as i64, K as i64];
}

impl<T: Element> TryFrom<Vec<Vec<T>>> for Tensor {
    type Error = Error;

    /// A matrix of rows, which must have equal lengths.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// let rows = vec![vec![1.0f32, 2.0], vec![3.0, 4.0], vec![5.0, 6.0]];
    /// assert_eq!(tessera::Tensor::try_from(rows)?.shape(), [3, 2]);
    /// # Ok(())
    /// # }
    /// ```
    fn try_from(rows: Vec<Vec<T>>) -> Result<Self> {
        let width = rows.first().map_or(0, Vec::len);
        if let Some(other) = rows.iter().find(|row| row.len() != width) {
            let text = format!(
                "try_from: rows: expected rows of equal lengths, got {width} and {}",
                other.len()
            );
            return Err(Error::refused(ErrorKind::Shape, text));
        }
        let shape = [rows.len() as i64, width as i64];
        Tensor::from_vec(rows.concat(), &shape)
    }
}

impl<T: Element> FromIterator<T> for Tensor {
    /// A tensor with one axis.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// let squares: tessera::Tensor = (0..4).map(|n| (n * n) as f32).collect();
    /// assert_eq!(squares.to_vec::<f32>()?, [0.0, 1.0, 4.0, 9.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// If memory runs out.
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        items.into_iter().collect::<Vec<T>>().into()
    }
}

// ---- To memory of the host ----

impl Tensor {
    fn expect_dtype<T: Element>(&self, operation: &str) -> Result<()> {
        let dtype = self.dtype();
        if dtype == T::DTYPE {
            return Ok(());
        }
        let text = format!("{operation}: expected a tensor of {}, got {dtype}", T::DTYPE);
        Err(Error::refused(ErrorKind::Dtype, text))
    }

    /// Copies the elements, in row-major order, to a vector. The dtype must be that of `T`.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.expect_dtype::<T>("to_vec")?;
        // An expanded tensor may have more elements than there is memory, and vec! would abort.
        let mut values = Vec::new();
        values.try_reserve_exact(self.numel()).map_err(|error| {
            Error::refused(
                ErrorKind::OutOfMemory,
                format!("to_vec: {} elements: {error}", self.numel()),
            )
        })?;
        values.resize(self.numel(), T::default());
        self.read_into(&mut values)?;
        Ok(values)
    }

    /// Copies the elements, in row-major order, to a slice of exactly that length.
    pub fn read_into<T: Element>(&self, values: &mut [T]) -> Result<()> {
        self.expect_dtype::<T>("read_into")?;
        let nbytes = std::mem::size_of_val(values);
        let start = values.as_mut_ptr();
        // SAFETY: `nbytes` bytes are writable; the library refuses any other size than the tensor's.
        let status = unsafe { sys::tsr_tensor_read(self.raw(), start.cast(), nbytes as i64) };
        if T::DTYPE == DType::Bool {
            // Imported memory may hold other bytes than 0 and 1, which no Rust bool may be.
            // SAFETY: a bool is a byte, and bytes may be anything.
            let bytes = unsafe { std::slice::from_raw_parts_mut(start.cast::<u8>(), nbytes) };
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        done(status)
    }

    /// Fills the tensor, in row-major order, from a slice of exactly its length.
    pub fn write_from<T: Element>(&self, values: &[T]) -> Result<()> {
        self.expect_dtype::<T>("write_from")?;
        let nbytes = std::mem::size_of_val(values) as i64;
        // SAFETY: `nbytes` bytes are readable; the library refuses any other size.
        done(unsafe { sys::tsr_tensor_write(self.raw(), values.as_ptr().cast(), nbytes) })
    }

    /// The value of a tensor with one element, converted to `T`. An integer type takes integers and
    /// bools that it can hold.
    pub fn item<T: Element>(&self) -> Result<T> {
        let numel = self.numel();
        if numel != 1 {
            let text = format!("item: tensor: expected one element, got shape {:?}", self.shape());
            return Err(Error::refused(ErrorKind::Value, text));
        }
        let mut value = [T::default()];
        if self.dtype() == T::DTYPE {
            self.read_into(&mut value)?;
        } else {
            self.expect_integer_for(T::DTYPE)?;
            self.detach()?.astype(T::DTYPE)?.read_into(&mut value)?;
        }
        Ok(value[0])
    }

    /// Refuses to convert the one element to an integer dtype that cannot hold it.
    fn expect_integer_for(&self, wanted: DType) -> Result<()> {
        let bits = 8 * wanted.size() as u32;
        let (low, high) = match wanted {
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => (0, (1i128 << bits) - 1),
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => {
                (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
            }
            _ => return Ok(()),
        };
        let mut number = sys::tsr_number::default();
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_tensor_item(self.raw(), &mut number) })?;
        if number.kind > sys::TSR_NUMBER_INTEGER {
            let text =
                format!("item: expected an integer or bool, got a tensor of {}", self.dtype());
            return Err(Error::refused(ErrorKind::Dtype, text));
        }
        let is_unsigned = self.dtype() == DType::U64;
        let held =
            if is_unsigned { i128::from(number.integer as u64) } else { number.integer.into() };
        if (low..=high).contains(&held) {
            return Ok(());
        }
        let text = format!("item: expected a number that {wanted} can hold, got {held}");
        Err(Error::refused(ErrorKind::Value, text))
    }

    /// The elements of a contiguous tensor on the CPU, without a copy.
    ///
    /// # Safety
    /// While the slice is used nothing writes to this memory: not through this tensor, nor another
    /// reference, nor a view, nor a backward that runs meanwhile, nor, for tensors of an
    /// [`Archive`](crate::io::Archive), whoever changes the file; nor moves it
    /// ([`Tensor::share_memory`]). For `bool`, every byte is 0 or 1,
    /// which memory of others does not promise.
    pub unsafe fn as_slice<T: Element>(&self) -> Result<&[T]> {
        self.expect_plain::<T>("as_slice")?;
        let mut data = null();
        // SAFETY: a valid handle, a writable pointer.
        done(unsafe { sys::tsr_tensor_data(self.raw(), &mut data) })?;
        let numel = self.numel();
        if numel == 0 {
            return Ok(&[]);
        }
        // SAFETY: that many elements of this type, aligned as the library demands of all memory; the
        // caller promises that they do not change.
        Ok(unsafe { std::slice::from_raw_parts(data.cast(), numel) })
    }

    /// Like [`Tensor::as_slice`], for writing; counts as one in-place change.
    ///
    /// # Safety
    /// While the slice is used nothing else reads or writes this memory. For `bool`, as above.
    #[allow(clippy::mut_from_ref)] // a tensor is a reference to shared memory, see its documentation
    pub unsafe fn as_mut_slice<T: Element>(&self) -> Result<&mut [T]> {
        self.expect_plain::<T>("as_mut_slice")?;
        let mut data = null_mut();
        // SAFETY: a valid handle, a writable pointer.
        done(unsafe { sys::tsr_tensor_mutable_data(self.raw(), &mut data) })?;
        let numel = self.numel();
        if numel == 0 {
            return Ok(&mut []);
        }
        // SAFETY: as in as_slice; the caller promises exclusive access.
        Ok(unsafe { std::slice::from_raw_parts_mut(data.cast(), numel) })
    }

    fn expect_plain<T: Element>(&self, operation: &str) -> Result<()> {
        self.expect_dtype::<T>(operation)?;
        let (contiguous, device) = (self.is_contiguous(), self.device());
        if contiguous && device == Device::CPU {
            return Ok(());
        }
        let (shape, strides) = (self.shape(), self.strides());
        let text = format!(
            "{operation}: expected a contiguous tensor on the CPU, got shape {shape:?} with strides \
             {strides:?} on {device}"
        );
        Err(Error::refused(ErrorKind::Buffer, text))
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
        let mut value = sys::tsr_number::default();
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_tensor_item(self.raw(), &mut value) })?;
        Ok((value.real, value.imaginary))
    }
}
