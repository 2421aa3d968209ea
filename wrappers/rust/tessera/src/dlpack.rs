// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! DLPack: memory shared with other libraries of this process, in both directions without a copy.
//!
//! [`Managed`] is the legacy form, [`ManagedVersioned`] the one of DLPack 1, which can also say that
//! memory is read-only. Both own their tensor: dropped unused, they call its deleter.

use crate::arguments::one;
use crate::error::done;
use crate::{Result, Tensor};
use std::ffi::c_void;
use std::ptr::{null_mut, NonNull};
use tessera_sys as sys;

/// `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDevice {
    /// The type of the device.
    pub device_type: i32,
    /// Its number.
    pub device_id: i32,
}

/// `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// Kind of number: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool.
    pub code: u8,
    /// Bits of one lane.
    pub bits: u8,
    /// Lanes of a vector type, else 1.
    pub lanes: u16,
}

/// `DLTensor`: a strided view of memory.
#[repr(C)]
#[derive(Debug)]
pub struct DLTensor {
    /// Start of the memory.
    pub data: *mut c_void,
    /// The device of the memory.
    pub device: DLDevice,
    /// The number of axes.
    pub ndim: i32,
    /// The type of an element.
    pub dtype: DLDataType,
    /// The size of each axis.
    pub shape: *mut i64,
    /// The strides in elements; null for row-major.
    pub strides: *mut i64,
    /// From `data` to the first element, in bytes.
    pub byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The view.
    pub dl_tensor: DLTensor,
    /// For the producer.
    pub manager_ctx: *mut c_void,
    /// Frees the managed tensor.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// Major and minor version of the struct.
    pub version: [u32; 2],
    /// For the producer.
    pub manager_ctx: *mut c_void,
    /// Frees the managed tensor.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// Bit 0: read-only, bit 1: a copy.
    pub flags: u64,
    /// The view.
    pub dl_tensor: DLTensor,
}

const _: () = {
    assert!(std::mem::size_of::<DLTensor>() == 48);
    assert!(std::mem::offset_of!(DLManagedTensor, deleter) == 56);
    assert!(std::mem::offset_of!(DLManagedTensorVersioned, dl_tensor) == 32);
};

/// How an export is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExportOptions {
    flags: i32,
}

impl ExportOptions {
    /// Copies instead of sharing memory.
    #[must_use]
    pub fn copy(mut self) -> Self {
        self.flags |= sys::TSR_DLPACK_COPY;
        self
    }

    /// Marks the result read-only; only the versioned form can.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.flags |= sys::TSR_DLPACK_READ_ONLY;
        self
    }
}

macro_rules! managed {
    ($(#[$doc:meta])* $name:ident, $raw:ident, $import:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name(NonNull<$raw>);

        // SAFETY: DLPack asks of deleters that any thread may call them.
        unsafe impl Send for $name {}

        impl $name {
            /// Takes over a tensor of another library.
            ///
            /// # Safety
            /// `managed` is valid, and the caller passes its ownership.
            pub unsafe fn from_raw(managed: *mut $raw) -> Option<Self> {
                NonNull::new(managed).map(Self)
            }

            /// Passes ownership to the caller, who must call the deleter.
            pub fn into_raw(self) -> *mut $raw {
                std::mem::ManuallyDrop::new(self).0.as_ptr()
            }

            /// The view of the memory.
            pub fn view(&self) -> &DLTensor {
                // SAFETY: valid while it is owned.
                unsafe { &self.0.as_ref().dl_tensor }
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: it is owned and nobody else calls the deleter.
                unsafe {
                    if let Some(deleter) = self.0.as_ref().deleter {
                        deleter(self.0.as_ptr());
                    }
                }
            }
        }

        impl TryFrom<$name> for Tensor {
            type Error = crate::Error;

            /// A tensor on the same memory.
            fn try_from(managed: $name) -> Result<Tensor> {
                // SAFETY: a valid tensor; on success the library owns it.
                let tensor = one(|out| unsafe {
                    sys::$import(managed.0.as_ptr().cast(), 0, out)
                })?;
                std::mem::forget(managed);
                Ok(tensor)
            }
        }
    };
}

managed! {
    /// An owned legacy DLPack tensor.
    Managed, DLManagedTensor, tsr_from_dlpack
}
managed! {
    /// An owned versioned DLPack tensor.
    ManagedVersioned, DLManagedTensorVersioned, tsr_from_dlpack_versioned
}

impl ManagedVersioned {
    /// Whether the memory must not be written.
    pub fn is_read_only(&self) -> bool {
        // SAFETY: valid while it is owned.
        unsafe { self.0.as_ref().flags & 1 != 0 }
    }
}

impl Tensor {
    /// A legacy DLPack tensor on the memory of this one. A tensor that requires grad is refused.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// use tessera::Tensor;
    /// let x = Tensor::from([1.0, 2.0]);
    /// let shared = Tensor::try_from(x.to_dlpack()?)?;
    /// shared.add_(1)?;
    /// assert_eq!(x.to_vec::<f64>()?, [2.0, 3.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_dlpack(&self) -> Result<Managed> {
        self.to_dlpack_with(|o| o)
    }

    /// Like [`Tensor::to_dlpack`], with options.
    pub fn to_dlpack_with(
        &self,
        options: impl FnOnce(ExportOptions) -> ExportOptions,
    ) -> Result<Managed> {
        let mut managed = null_mut();
        let flags = options(ExportOptions::default()).flags;
        // SAFETY: a valid handle, a writable pointer.
        done(unsafe { sys::tsr_to_dlpack(self.raw(), flags, &mut managed) })?;
        Ok(Managed(NonNull::new(managed.cast()).expect("a DLPack tensor after a success")))
    }

    /// A versioned DLPack tensor on the memory of this one.
    pub fn to_dlpack_versioned(
        &self,
        options: impl FnOnce(ExportOptions) -> ExportOptions,
    ) -> Result<ManagedVersioned> {
        let mut managed = null_mut();
        let flags = options(ExportOptions::default()).flags;
        // SAFETY: as above; the stream is the default one.
        done(unsafe {
            sys::tsr_to_dlpack_versioned(self.raw(), 1, flags, null_mut(), &mut managed)
        })?;
        Ok(ManagedVersioned(NonNull::new(managed.cast()).expect("a DLPack tensor after a success")))
    }
}

/// DLPack's exchange API for tensor handles: libraries that do not link ours pass tensors in and
/// out through this table. It lives as long as the library.
pub fn exchange_table() -> &'static sys::tsr_exchange_table {
    // SAFETY: never null, never released, constant.
    unsafe { &*sys::tsr_exchange_api() }
}
