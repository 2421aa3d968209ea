// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Devices, the library's threads, and the state that belongs to a thread.

use crate::error::{done, text};
use crate::{DeviceType, Error, ErrorKind, Result};
use std::cell::Cell;
use std::ffi::CStr;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use tessera_sys as sys;

/// Where a tensor lives.
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

    /// How many devices of a type can be used here.
    pub fn count(kind: DeviceType) -> Result<usize> {
        let mut count = 0;
        // SAFETY: `count` is writable.
        done(unsafe { sys::tsr_device_count(kind as i32, &mut count) })?;
        Ok(count as usize)
    }

    /// Waits until all work queued on the device is done, and reports its failures.
    pub fn synchronize(self) -> Result<()> {
        // SAFETY: plain numbers.
        done(unsafe { sys::tsr_device_synchronize(self.kind as i32, self.index) })
    }
}

impl DeviceType {
    pub(crate) fn from_raw(kind: i32) -> Self {
        let known = DeviceType::ALL.iter().find(|known| **known as i32 == kind);
        *known.unwrap_or_else(|| panic!("a device type this crate does not know: {kind}"))
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
            _ => Err(Error::new(ErrorKind::Device, format!("no device is called {text:?}"))),
        }
    }
}

/// Loads a backend from a shared library; loading it again does nothing.
pub fn load_plugin(path: &str) -> Result<()> {
    // SAFETY: text and its length.
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

/// Sets how many threads the functions of the process may use.
pub fn set_num_threads(count: usize) -> Result<()> {
    // SAFETY: a plain number; the library refuses what it cannot serve.
    done(unsafe { sys::tsr_set_num_threads(i32::try_from(count).unwrap_or(i32::MAX)) })
}

/// Runs the destructors that [`defer_drops`] put off on any thread, and tells how many.
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

// ---- Ambient state ----

/// The library's state of one thread: whether it records, whether it is in inference mode, whether
/// drops are deferred. An executor that moves a task to another thread takes it along.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// let _guard = tessera::no_grad();
/// let ambient = tessera::Ambient::save()?;
/// std::thread::spawn(move || -> tessera::Result<()> {
///     let _entered = ambient.enter()?;
///     assert!(!tessera::autograd::is_grad_enabled());
///     Ok(())
/// })
/// .join()
/// .unwrap()
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ambient(sys::tsr_ambient);

// SAFETY: the only pointer in it, the scope, is null but for the moment of a restore.
unsafe impl Send for Ambient {}
// SAFETY: as above; it is never changed.
unsafe impl Sync for Ambient {}

impl Ambient {
    /// The state of this thread.
    pub fn save() -> Result<Self> {
        let mut ambient = Self::current()?;
        ambient.scope = null_mut(); // a scope stays with its thread
        Ok(Self(ambient))
    }

    fn current() -> Result<sys::tsr_ambient> {
        let mut ambient = sys::tsr_ambient::default();
        // SAFETY: the struct has its size.
        done(unsafe { sys::tsr_ambient_save(&mut ambient) })?;
        Ok(ambient)
    }

    /// Makes it the state of this thread.
    pub fn restore(&self) -> Result<()> {
        let mut ambient = self.0;
        ambient.scope = Self::current()?.scope;
        // SAFETY: the struct has its size, and its scope is the one that is open on this thread.
        done(unsafe { sys::tsr_ambient_restore(&ambient) })
    }

    /// Makes it the state of this thread until the guard is dropped.
    pub fn enter(&self) -> Result<AmbientGuard> {
        let before = Self::save()?;
        self.restore()?;
        Ok(AmbientGuard { before, _thread: PhantomData })
    }
}

/// Brings the thread's former state back when it is dropped.
#[must_use = "the state ends with the guard"]
#[derive(Debug)]
pub struct AmbientGuard {
    before: Ambient,
    _thread: PhantomData<*const ()>,
}

impl Drop for AmbientGuard {
    fn drop(&mut self) {
        let _ = self.before.restore(); // cannot fail: it was saved on this thread
    }
}

// ---- Scopes ----

static OPEN_SCOPES: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SCOPES_HERE: Cell<usize> = const { Cell::new(0) };
}

/// Whether handles made now on this thread belong to a scope.
#[inline(always)]
pub(crate) fn in_scope() -> bool {
    OPEN_SCOPES.load(Ordering::Relaxed) != 0 && SCOPES_HERE.get() != 0
}

/// Runs foreign code with an arena open: a handle that the library hands out to it on this thread and
/// that it forgets is released at the end. Tensors of this crate are none of them; each has a
/// reference of its own, inside a scope as outside.
pub fn scope<R>(body: impl FnOnce() -> R) -> Result<R> {
    struct Open(sys::tsr_scope);
    impl Drop for Open {
        fn drop(&mut self) {
            SCOPES_HERE.set(SCOPES_HERE.get() - 1);
            OPEN_SCOPES.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: guards are dropped in reverse order, so this scope is the innermost.
            unsafe { sys::tsr_scope_end(self.0, std::ptr::null(), 0) };
        }
    }
    let mut scope = null_mut();
    // SAFETY: `scope` is writable.
    done(unsafe { sys::tsr_scope_begin(&mut scope) })?;
    OPEN_SCOPES.fetch_add(1, Ordering::Relaxed);
    SCOPES_HERE.set(SCOPES_HERE.get() + 1);
    let _open = Open(scope);
    Ok(body())
}

// ---- Log ----

/// Importance of a log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LogLevel {
    /// For those who develop the library.
    Debug,
    /// Worth knowing.
    Info,
    /// Something may be wrong.
    Warning,
    /// Something is wrong.
    Error,
}

type Logger = Box<dyn Fn(LogLevel, &str, &str) + Send + Sync>;

/// Receives the library's log messages (level, component, message), on any thread; `None` ends it.
/// The library never prints.
pub fn set_log(logger: Option<Logger>) -> Result<()> {
    unsafe extern "C" fn log(
        user: *mut std::ffi::c_void,
        level: i32,
        component: *const std::ffi::c_char,
        message: *const std::ffi::c_char,
        length: i64,
    ) {
        let level = match level {
            sys::TSR_LOG_DEBUG => LogLevel::Debug,
            sys::TSR_LOG_INFO => LogLevel::Info,
            sys::TSR_LOG_WARNING => LogLevel::Warning,
            _ => LogLevel::Error,
        };
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            // SAFETY: user is the Box that was registered; the texts are valid during the call.
            let (logger, component, message) = unsafe {
                (&*user.cast::<Logger>(), CStr::from_ptr(component), text(message, length))
            };
            logger(level, &component.to_string_lossy(), &message);
        }));
    }
    // SAFETY: the box is freed by drop_box once, also when the call fails.
    done(unsafe {
        match logger {
            None => sys::tsr_log_set(None, null_mut(), None),
            Some(logger) => sys::tsr_log_set(
                Some(log),
                Box::into_raw(Box::new(logger)).cast(),
                Some(crate::error::drop_box::<Logger>),
            ),
        }
    })
}
