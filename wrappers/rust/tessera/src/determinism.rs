// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Deterministic mode of the process: results with the same bits, whatever the number of threads.

use crate::error::done;
use crate::Result;
use std::ptr::null;
use tessera_sys as sys;

/// What kernels do whose results may differ from run to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeterministicMode {
    /// The fastest kernels.
    #[default]
    Off = sys::TSR_DETERMINISTIC_OFF as isize,
    /// Deterministic kernels; an error where there is none.
    On = sys::TSR_DETERMINISTIC_ON as isize,
    /// Deterministic kernels; a warning in the log where there is none.
    Warn = sys::TSR_DETERMINISTIC_WARN as isize,
}

impl DeterministicMode {
    fn from_raw(number: i32) -> Self {
        match number {
            sys::TSR_DETERMINISTIC_ON => DeterministicMode::On,
            sys::TSR_DETERMINISTIC_WARN => DeterministicMode::Warn,
            _ => DeterministicMode::Off,
        }
    }
}

/// The mode of the process.
pub fn deterministic_mode() -> DeterministicMode {
    // SAFETY: takes nothing.
    DeterministicMode::from_raw(unsafe { sys::tsr_deterministic_get() })
}

/// Sets the mode of the process and returns the one before.
pub fn set_deterministic_mode(mode: DeterministicMode) -> DeterministicMode {
    let mut before = 0;
    // SAFETY: a number that the library knows; `before` is writable.
    done(unsafe { sys::tsr_deterministic_set(mode as i32, &mut before) }).expect("a known mode");
    DeterministicMode::from_raw(before)
}

/// Whether `empty` and its like fill their memory in deterministic mode.
pub fn deterministic_fill() -> bool {
    // SAFETY: takes nothing.
    unsafe { sys::tsr_deterministic_fill() != 0 }
}

/// Sets whether they do, and returns the setting before.
pub fn set_deterministic_fill(enabled: bool) -> bool {
    let mut before = 0;
    // SAFETY: a truth value; `before` is writable.
    done(unsafe { sys::tsr_deterministic_set_fill(enabled.into(), &mut before) })
        .expect("a truth value");
    before != 0
}

/// For operations outside the library whose results may differ from run to run: an error in
/// deterministic mode.
pub fn require_deterministic(operation: &str) -> Result<()> {
    // SAFETY: a text and its length.
    done(unsafe {
        sys::tsr_deterministic_require(operation.as_ptr().cast(), operation.len() as i64)
    })
}

/// The kernels whose results depend on more than their inputs while the mode is off, as JSON.
pub fn nondeterministic_kernels() -> Result<&'static str> {
    let (mut text, mut size) = (null(), 0);
    // SAFETY: both are writable; the text is never released, and ASCII.
    let bytes = unsafe {
        done(sys::tsr_deterministic_list(&mut text, &mut size))?;
        std::slice::from_raw_parts(text.cast::<u8>(), size as usize)
    };
    Ok(std::str::from_utf8(bytes).unwrap_or_default())
}
