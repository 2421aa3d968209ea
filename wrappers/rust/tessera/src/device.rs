// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Devices, and the library's threads.

use crate::error::done;
use crate::io::path_bytes;
use crate::{DeviceType, Error, ErrorKind, Result};
use std::ffi::CStr;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::str::FromStr;
use tessera_sys as sys;

/// The device of a tensor's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    /// Its type.
    pub kind: DeviceType,
    /// Its number among the devices of that type.
    pub index: i32,
}

impl Device {
    /// The processor.
    pub const CPU: Device = Device { kind: DeviceType::Cpu, index: 0 };

    /// A device of this type and number.
    pub const fn new(kind: DeviceType, index: i32) -> Self {
        Self { kind, index }
    }

    /// The GPU with CUDA's number.
    pub const fn cuda(index: i32) -> Self {
        Self::new(DeviceType::Cuda, index)
    }

    /// The number of usable devices of a type.
    pub fn count(kind: DeviceType) -> Result<usize> {
        let mut count = 0;
        // SAFETY: `count` is writable.
        done(unsafe { sys::tsr_device_count(kind as i32, &mut count) })?;
        Ok(count as usize)
    }

    /// The device on which this thread makes tensors if no device is given; the CPU at first.
    pub fn current_default() -> Result<Self> {
        let (mut kind, mut index) = (0, 0);
        // SAFETY: two writable numbers.
        done(unsafe { sys::tsr_device_default(&mut kind, &mut index) })?;
        Ok(Self::new(DeviceType::from_raw(kind), index))
    }

    /// Makes this the default device of the thread until the guard is dropped.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// use tessera::Device;
    /// let _guard = Device::CPU.enter()?;
    /// assert_eq!(Device::current_default()?, Device::CPU);
    /// # Ok(())
    /// # }
    /// ```
    pub fn enter(self) -> Result<DeviceGuard> {
        Ok(DeviceGuard { previous: self.set_default()?, _thread: PhantomData })
    }

    fn set_default(self) -> Result<Self> {
        let (mut kind, mut index) = (0, 0);
        // SAFETY: plain numbers, two of them writable.
        done(unsafe {
            sys::tsr_device_set_default(self.kind as i32, self.index, &mut kind, &mut index)
        })?;
        Ok(Self::new(DeviceType::from_raw(kind), index))
    }

    /// Waits until all work queued on the device is done, and reports its failures.
    pub fn synchronize(self) -> Result<()> {
        // SAFETY: plain numbers.
        done(unsafe { sys::tsr_device_synchronize(self.kind as i32, self.index) })
    }
}

/// Restores the thread's former default device when it is dropped.
#[must_use = "the device is the default one until the guard is dropped"]
#[derive(Debug)]
pub struct DeviceGuard {
    previous: Device,
    _thread: PhantomData<*const ()>,
}

impl Drop for DeviceGuard {
    fn drop(&mut self) {
        let _ = self.previous.set_default(); // cannot fail: it was the default device
    }
}

impl DeviceType {
    pub(crate) fn from_raw(kind: i32) -> Self {
        let known = Self::known(kind);
        known.unwrap_or_else(|| panic!("a device type this crate does not know: {kind}"))
    }

    /// `None` for a number that this crate does not know.
    pub(crate) fn known(kind: i32) -> Option<Self> {
        DeviceType::ALL.iter().copied().find(|known| *known as i32 == kind)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            DeviceType::Cpu => f.write_str("cpu"),
            kind => write!(f, "{}:{}", kind.name(), self.index),
        }
    }
}

impl FromStr for Device {
    type Err = Error;

    /// `cpu`, `cuda`, `cuda:1`.
    fn from_str(text: &str) -> Result<Self> {
        let (name, index) = text.split_once(':').unwrap_or((text, "0"));
        let kind = DeviceType::ALL.iter().find(|kind| kind.name() == name);
        match (kind, index.parse()) {
            (Some(&kind), Ok(index)) => Ok(Self { kind, index }),
            _ => Err(Error::refused(ErrorKind::Device, format!("no device is called {text:?}"))),
        }
    }
}

/// Loads a backend from a shared library; loading it again does nothing.
///
/// # Safety
/// The plugin's code runs in this process, when it is loaded and in every function that uses its
/// device: it must be a sound backend.
pub unsafe fn load_plugin(path: impl AsRef<Path>) -> Result<()> {
    let path = path_bytes(&path);
    // SAFETY: text and its length; the caller vouches for what is loaded.
    done(unsafe { sys::tsr_plugin_load(path.as_ptr().cast(), path.len() as i64) })
}

/// The version of the library, such as `0.1.0`.
pub fn version() -> &'static str {
    // SAFETY: a NUL-terminated text that is never released.
    unsafe { CStr::from_ptr(sys::tsr_version_string()) }.to_str().unwrap_or_default()
}

// ---- Threads ----

/// How many threads a function of the library may use.
pub fn num_threads() -> usize {
    // SAFETY: takes nothing.
    unsafe { sys::tsr_num_threads() as usize }
}

/// Sets how many threads the functions of the process may use; at most one per processor.
pub fn set_num_threads(count: usize) -> Result<()> {
    // SAFETY: a plain number; the library refuses what it cannot serve.
    done(unsafe { sys::tsr_set_num_threads(i32::try_from(count).unwrap_or(i32::MAX)) })
}

/// The precision of products of `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// `f32` throughout.
    #[default]
    Highest = sys::TSR_PRECISION_HIGHEST as isize,
    /// Factors may be rounded to TensorFloat-32, which has 10 bits of fraction; sums stay `f32`.
    High = sys::TSR_PRECISION_HIGH as isize,
    /// Factors may be rounded to bfloat16's 7 bits of fraction; sums stay `f32`.
    Medium = sys::TSR_PRECISION_MEDIUM as isize,
}

/// The precision of matrix products and convolutions of `f32` and `Complex<f32>`.
pub fn float32_matmul_precision() -> Precision {
    // SAFETY: takes nothing.
    match unsafe { sys::tsr_matmul_precision() } {
        sys::TSR_PRECISION_HIGH => Precision::High,
        sys::TSR_PRECISION_MEDIUM => Precision::Medium,
        _ => Precision::Highest,
    }
}

/// Sets this precision for the process. Only CUDA uses less than the highest: `High` and `Medium`
/// are both TensorFloat-32 there.
pub fn set_float32_matmul_precision(precision: Precision) {
    // SAFETY: a plain number, and one that the library knows.
    done(unsafe { sys::tsr_set_matmul_precision(precision as i32) }).expect("a known precision");
}

/// Runs the destructors that [`defer_drops`] deferred on any thread, and returns their number.
pub fn poll() -> Result<usize> {
    let mut count = 0;
    // SAFETY: `count` is writable.
    done(unsafe { sys::tsr_poll(&mut count) })?;
    Ok(count as usize)
}

/// While enabled, dropping tensors on this thread runs no destructor of a closure or of imported
/// memory: they wait for [`poll`].
pub fn defer_drops(enabled: bool) -> Result<()> {
    // SAFETY: a plain number.
    done(unsafe { sys::tsr_defer_drops(i32::from(enabled)) })
}
