// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The library's log.

use crate::error::{done, drop_box, drop_quietly, text};
use crate::Result;
use std::ffi::{c_char, c_void, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;
use tessera_sys as sys;

/// Importance of a log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LogLevel {
    /// For developers of the library.
    Debug,
    /// Worth knowing.
    Info,
    /// Something may be wrong.
    Warning,
    /// Something is wrong.
    Error,
}

type Logger = Box<dyn Fn(LogLevel, &str, &str) + Send + Sync>;

/// Receives the library's log messages (level, component, message), on any thread; `None` removes
/// the logger. The library never prints.
pub fn set_log(logger: Option<Logger>) -> Result<()> {
    unsafe extern "C" fn log(
        user: *mut c_void,
        level: i32,
        component: *const c_char,
        message: *const c_char,
        length: i64,
    ) {
        let level = match level {
            sys::TSR_LOG_DEBUG => LogLevel::Debug,
            sys::TSR_LOG_INFO => LogLevel::Info,
            sys::TSR_LOG_WARNING => LogLevel::Warning,
            _ => LogLevel::Error,
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: user is the Box that was registered; the texts are valid during the call.
            let (logger, component, message) = unsafe {
                (&*user.cast::<Logger>(), CStr::from_ptr(component), text(message, length))
            };
            logger(level, &component.to_string_lossy(), &message);
        }));
        outcome.unwrap_or_else(drop_quietly);
    }
    // SAFETY: the box is freed by drop_box once, also when the call fails.
    done(unsafe {
        match logger {
            None => sys::tsr_log_set(None, null_mut(), None),
            Some(logger) => sys::tsr_log_set(
                Some(log),
                Box::into_raw(Box::new(logger)).cast(),
                Some(drop_box::<Logger>),
            ),
        }
    })
}
