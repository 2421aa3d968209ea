// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Memory of several processes: tensors that another process opens by a file descriptor or a name.
//!
//! ```
//! # fn main() -> tessera::Result<()> {
//! use tessera::share::{from_shared, Strategy};
//! use tessera::{DType, Tensor};
//! let x = Tensor::from(vec![1.0f32, 2.0, 3.0]);
//! x.share_memory(Strategy::FileSystem)?;
//! let handle = x.shared_handle(false)?; // what another process gets
//! let same = from_shared(&handle, 1, &[2], None, DType::F32)?;
//! assert_eq!(same.to_vec::<f32>()?, [2.0, 3.0]);
//! # Ok(())
//! # }
//! ```

use crate::arguments::{count, done, one, sys};
use crate::memory::buffer_text;
use crate::{DType, Error, ErrorKind, Result, Tensor};
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

/// How another process finds shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// By a file descriptor, which is sent through a socket or inherited.
    FileDescriptor = sys::TSR_SHARE_FILE_DESCRIPTOR as isize,
    /// By a name in `/dev/shm`.
    FileSystem = sys::TSR_SHARE_FILE_SYSTEM as isize,
    /// As `FileDescriptor`, for a stream of tensors to another process: memory that its receivers
    /// have released holds the next tensor. Send handles in transit; another handle ends the
    /// recycling.
    Recycled = sys::TSR_SHARE_RECYCLED as isize,
}

/// What another process needs to open the storage of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedHandle {
    /// Where the memory is found.
    pub place: Place,
    /// The size of the storage.
    pub nbytes: i64,
    /// The handle counts as a user, of a name or of recycled memory, until [`from_shared`] opens it,
    /// which must happen once.
    pub in_transit: bool,
    /// Set by [`Tensor::shared_handle`] for memory of [`Strategy::Recycled`]; tell the other process.
    pub recycled: bool,
}

/// The shared memory that this process has mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedMemoryCounts {
    /// Number of storages.
    pub blocks: i64,
    /// Their size.
    pub nbytes: i64,
    /// File descriptors that are kept open, so that a storage can be sent again.
    pub descriptors: i64,
}

/// Where shared memory is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file descriptor of this process, borrowed from the tensor.
    FileDescriptor(i32),
    /// A name.
    Name(String),
}

/// While it lives, the tensor's memory does not move, for an array of another library that uses it.
#[must_use = "the memory may move when the guard is dropped"]
#[derive(Debug)]
pub struct MemoryLoan(Tensor);

impl Drop for MemoryLoan {
    fn drop(&mut self) {
        // SAFETY: a valid handle, which was lent once.
        unsafe { sys::tsr_storage_give_back(self.0.raw()) };
    }
}

impl Tensor {
    /// Keeps the memory where it is until the guard is dropped: [`Tensor::share_memory`] fails.
    pub fn lend_memory(&self) -> Result<MemoryLoan> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_storage_lend(self.raw()) })?;
        Ok(MemoryLoan(self.clone()))
    }

    /// Moves the storage of the tensor, with all its views, to shared memory. Nothing else may use the
    /// elements meanwhile. [`ErrorKind::Buffer`] while the memory is lent ([`Tensor::lend_memory`],
    /// DLPack).
    pub fn share_memory(&self, strategy: Strategy) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_storage_share(self.raw(), strategy as i32) })
    }

    /// Whether other processes can open the memory of the tensor.
    pub fn is_shared(&self) -> Result<bool> {
        let mut value = 0;
        // SAFETY: a valid handle, a writable number.
        done(unsafe { sys::tsr_tensor_is_shared(self.raw(), &mut value) })?;
        Ok(value != 0)
    }

    /// A tensor in new shared memory, filled with zeros; recycled memory holds any bytes.
    pub fn empty_shared(shape: &[i64], dtype: DType, strategy: Strategy) -> Result<Tensor> {
        let (data, rank) = (shape.as_ptr(), count(shape.len()));
        // SAFETY: a valid list, a writable `out`.
        one(|out| unsafe { sys::tsr_empty_shared(data, rank, dtype as i32, strategy as i32, out) })
    }

    /// The handle by which another process opens the shared memory of the tensor.
    pub fn shared_handle(&self, in_transit: bool) -> Result<SharedHandle> {
        let mut found = sys::tsr_shared_handle::default();
        let flags = flag(in_transit, sys::TSR_SHARED_IN_TRANSIT);
        // SAFETY: a valid handle, a writable struct.
        done(unsafe { sys::tsr_storage_shared_handle(self.raw(), flags, &mut found) })?;
        let place = if found.name.is_null() {
            Place::FileDescriptor(found.fd)
        } else {
            // SAFETY: the name ends with NUL and lives as long as the tensor.
            let name = unsafe { CStr::from_ptr(found.name) };
            Place::Name(name.to_string_lossy().into_owned())
        };
        let recycled = found.flags & sys::TSR_SHARED_RECYCLED != 0;
        Ok(SharedHandle { place, nbytes: found.nbytes, in_transit, recycled })
    }

    /// A text by which one other process opens the memory of a tensor on a device, once, with
    /// [`ipc_open`]. This process keeps the memory until then, and must live longer than that use.
    pub fn ipc_export(&self) -> Result<String> {
        let mut buffer = null_mut();
        // SAFETY: a valid handle, a writable `buffer`, whose text is taken once.
        unsafe {
            done(sys::tsr_ipc_export(self.raw(), &mut buffer))?;
            buffer_text(buffer)
        }
    }
}

/// A tensor on shared memory; `offset` and `strides` are in elements. Without strides it is
/// row-major. If this process has the memory already, the tensor is a view of the same storage.
pub fn from_shared(
    handle: &SharedHandle,
    offset: i64,
    shape: &[i64],
    strides: Option<&[i64]>,
    dtype: DType,
) -> Result<Tensor> {
    let steps = strides.map_or_else(|| row_major(shape), <[i64]>::to_vec);
    let (fd, name) = match &handle.place {
        Place::FileDescriptor(fd) => (*fd, None),
        Place::Name(name) => (-1, Some(c_text(name)?)),
    };
    let from = sys::tsr_shared_handle {
        fd,
        nbytes: handle.nbytes,
        name: name.as_ref().map_or(null(), |text| text.as_ptr()),
        flags: flag(handle.in_transit, sys::TSR_SHARED_IN_TRANSIT)
            | flag(handle.recycled, sys::TSR_SHARED_RECYCLED),
        ..Default::default()
    };
    let (sizes, rank) = (shape.as_ptr(), count(shape.len()));
    let (steps, n_steps) = (steps.as_ptr(), count(steps.len()));
    // SAFETY: a valid struct and lists, a writable `out`.
    one(|out| unsafe {
        sys::tsr_tensor_from_shared(&from, offset, sizes, rank, steps, n_steps, dtype as i32, out)
    })
}

/// A tensor on the device memory of another process, from the text of [`Tensor::ipc_export`] there.
/// `offset` and `strides` are in elements. A handle is opened once.
pub fn ipc_open(
    handle: &str,
    offset: i64,
    shape: &[i64],
    strides: Option<&[i64]>,
    dtype: DType,
) -> Result<Tensor> {
    let steps = strides.map_or_else(|| row_major(shape), <[i64]>::to_vec);
    let (text, length) = (handle.as_ptr().cast(), handle.len() as i64);
    let (sizes, rank) = (shape.as_ptr(), count(shape.len()));
    let (steps, n_steps) = (steps.as_ptr(), count(steps.len()));
    // SAFETY: a valid text and lists, a writable `out`.
    one(|out| unsafe {
        sys::tsr_ipc_open(text, length, offset, sizes, rank, steps, n_steps, dtype as i32, out)
    })
}

/// How much shared memory this process has mapped.
pub fn shared_memory_counts() -> Result<SharedMemoryCounts> {
    let mut found = sys::tsr_shared_counts::default();
    // SAFETY: a writable struct.
    done(unsafe { sys::tsr_shared_memory_counts(&mut found) })?;
    let sys::tsr_shared_counts { blocks, nbytes, descriptors, .. } = found;
    Ok(SharedMemoryCounts { blocks, nbytes, descriptors })
}

/// Gives up exported device memory that no other process uses any more, and recycled memory that this
/// process keeps; returns how many exported storages.
pub fn ipc_collect() -> Result<i64> {
    let mut count = 0;
    // SAFETY: a writable number.
    done(unsafe { sys::tsr_ipc_collect(&mut count) })?;
    Ok(count)
}

fn flag(on: bool, bit: i32) -> i32 {
    if on {
        bit
    } else {
        0
    }
}

fn row_major(shape: &[i64]) -> Vec<i64> {
    let mut steps = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        // Sizes whose product is too large are refused with the tensor.
        steps[i - 1] = i64::saturating_mul(steps[i], shape[i]);
    }
    steps
}

fn c_text(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Error::refused(ErrorKind::Value, "a name with a NUL byte"))
}
