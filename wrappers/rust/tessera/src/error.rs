// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Errors, and how a failure of a Rust callback passes through the library and comes out again.

use crate::ErrorKind;
use std::any::Any;
use std::collections::HashSet;
use std::ffi::{c_char, c_void};
use std::fmt;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use tessera_sys as sys;

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed. One pointer wide, so that a `Result` stays small.
pub struct Error(Box<Record>);

struct Record {
    kind: ErrorKind,
    message: String,
    operation: String,
    argument: Option<usize>,
    native_code: i64,
    wrapped: Option<Wrapped>,
}

type Wrapped = Box<dyn std::error::Error + Send + Sync>;

impl Error {
    /// Your own error, for hooks, custom functions and datasets.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        let (operation, argument, native_code, wrapped) = (String::new(), None, 0, None);
        Self(Box::new(Record { kind, message, operation, argument, native_code, wrapped }))
    }

    /// An error of this crate's own checks. Its text begins with the name of the operation, as those
    /// of the library do.
    pub(crate) fn refused(kind: ErrorKind, message: impl Into<String>) -> Self {
        let mut error = Self::new(kind, message);
        let name = error.0.message.split_once(": ").map_or("", |(name, _)| name);
        if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            error.0.operation = name.to_owned();
        }
        error
    }

    /// Wraps an error of another library, so that it can pass through this one;
    /// [`Error::get_ref`] of the error that comes out gives it. As with `std::io::Error`, message
    /// and [`source`](std::error::Error::source) are those of the wrapped error, so that reports
    /// of a chain of errors name it once.
    ///
    /// ```
    /// use tessera::{Error, Result, Tensor};
    /// fn parse(text: &str) -> Result<Tensor> {
    ///     Tensor::scalar(text.parse::<f32>().map_err(Error::other)?)
    /// }
    /// assert_eq!(parse("seven").unwrap_err().to_string(), "invalid float literal");
    /// ```
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let wrapped = error.into();
        let mut error = Self::new(ErrorKind::Callback, wrapped.to_string());
        error.0.wrapped = Some(wrapped);
        error
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// A message that names the operation, the argument, the expected value and the actual one.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The error that [`Error::other`] wrapped.
    pub fn get_ref(&self) -> Option<&(dyn std::error::Error + Send + Sync + 'static)> {
        self.0.wrapped.as_deref()
    }

    /// The function of the library that failed; empty for an error made in Rust.
    pub fn operation(&self) -> &str {
        &self.0.operation
    }

    /// The number of the wrong argument, in the order of the schema.
    pub fn argument(&self) -> Option<usize> {
        self.0.argument
    }

    /// The error number of a lower layer, such as `errno`; 0 if there is none.
    pub fn native_code(&self) -> i64 {
        self.0.native_code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.wrapped.as_ref()?.source()
    }
}

impl From<std::io::Error> for Error {
    /// An error of kind [`ErrorKind::Io`], with `errno` as its number.
    fn from(source: std::io::Error) -> Self {
        let native_code = source.raw_os_error().map_or(0, i64::from);
        let mut error = Self::other(source);
        (error.0.kind, error.0.native_code) = (ErrorKind::Io, native_code);
        error
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error of the call that just returned this status. A panic of a callback continues from here.
#[cold]
#[inline(never)]
pub(crate) fn failure(status: i32) -> Error {
    let mut view = sys::tsr_error_view::default();
    // SAFETY: the view has its size; its pointers are read before any other call.
    if unsafe { sys::tsr_error_last(&mut view) } != sys::TSR_OK {
        return Error::new(ErrorKind::from_code(status), "the library left no record of the error");
    }
    match take_payload(view.payload) {
        Some(Payload::Panic(panic)) => resume_unwind(panic),
        Some(Payload::Error(error)) => return error,
        None => {}
    }
    Error(Box::new(Record {
        kind: ErrorKind::from_code(view.code),
        // SAFETY: pointers and lengths come from the library and are valid until its next failure.
        message: unprefixed(unsafe { text(view.message, view.message_len) }),
        operation: unprefixed(unsafe { text(view.op, view.op_len) }),
        argument: usize::try_from(view.arg_index).ok(),
        native_code: view.native_code,
        wrapped: None,
    }))
}

/// A text that begins with the name of a function, without the prefix that the name has in C.
fn unprefixed(text: String) -> String {
    text.strip_prefix("tsr_").map(str::to_owned).unwrap_or(text)
}

/// `Ok` for status 0.
#[inline(always)]
pub(crate) fn done(status: i32) -> Result<()> {
    if status == sys::TSR_OK {
        Ok(())
    } else {
        Err(failure(status))
    }
}

/// Copies text of the library; bytes that are not UTF-8 are replaced.
///
/// # Safety
/// `data` points to `length` bytes, or is null.
pub(crate) unsafe fn text(data: *const c_char, length: i64) -> String {
    if data.is_null() || length <= 0 {
        return String::new();
    }
    // SAFETY: as promised by the caller.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length as usize) };
    String::from_utf8_lossy(bytes).into_owned()
}

// ---- Failures of callbacks ----

/// The failure of a callback, kept for the call that ran it.
enum Payload {
    Error(Error),
    Panic(Box<dyn Any + Send>),
}

type Slot = Mutex<Option<Payload>>;

/// The addresses of our payloads that the library holds; payloads of other languages are not among
/// them.
fn ours() -> MutexGuard<'static, HashSet<usize>> {
    static OURS: OnceLock<Mutex<HashSet<usize>>> = OnceLock::new();
    OURS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

fn take_payload(address: *mut c_void) -> Option<Payload> {
    let known = ours();
    if !known.contains(&(address as usize)) {
        return None;
    }
    // SAFETY: a known address is a slot that drop_payload has not freed, as it needs the lock.
    let slot = unsafe { &*address.cast::<Slot>() };
    let payload = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    payload
}

unsafe extern "C" fn drop_payload(address: *mut c_void) {
    if ours().remove(&(address as usize)) {
        // SAFETY: it was made by Box::into_raw in `raise` and is removed once.
        drop_quietly(unsafe { Box::from_raw(address.cast::<Slot>()) });
    }
}

fn raise(message: &str, payload: Payload) -> i32 {
    let slot: *mut Slot = Box::into_raw(Box::new(Mutex::new(Some(payload))));
    ours().insert(slot as usize);
    // SAFETY: the message is a valid slice; the payload is dropped by drop_payload once.
    unsafe {
        sys::tsr_error_set(
            sys::TSR_CALLBACK,
            message.as_ptr().cast(),
            message.len() as i64,
            slot.cast(),
            Some(drop_payload),
        );
    }
    sys::TSR_CALLBACK
}

/// Runs the body of a callback: an error or a panic becomes a status, and comes out unchanged from
/// the call that ran the callback.
pub(crate) fn callback(body: impl FnOnce() -> Result<()>) -> i32 {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => sys::TSR_OK,
        Ok(Err(error)) => raise(&error.to_string(), Payload::Error(error)),
        Err(panic) => raise("a Rust callback panicked", Payload::Panic(panic)),
    }
}

/// Drops a value and stops its panic: the destructor of a closure runs inside the library.
pub(crate) fn drop_quietly<T>(value: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(panic);
    }
}

/// The `drop` of a callback whose user pointer is a `Box<T>`.
pub(crate) unsafe extern "C" fn drop_box<T>(user: *mut c_void) {
    // SAFETY: user came from Box::<T>::into_raw, and the library calls drop once.
    drop_quietly(unsafe { Box::from_raw(user.cast::<T>()) });
}
