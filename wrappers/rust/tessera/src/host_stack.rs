// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Backtraces of all threads, for anomaly mode, recordings of memory and profilers.

use crate::error::{callback, done};
use crate::Result;
use std::backtrace::Backtrace;
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;
use tessera_sys as sys;

/// A frame of a backtrace. Without debug information the file is not known.
struct Frame<'a> {
    file: Option<&'a str>,
    line: &'a str,
    name: &'a str,
}

impl Frame<'_> {
    /// Whether it belongs to this crate, to the library that called back (C++, whose functions have
    /// no names here), or to the standard library.
    fn is_inner(&self) -> bool {
        let ours = [
            "tessera::",
            "<tessera::",
            "std::",
            "<std::",
            "core::",
            "<core::",
            "__rust",
            "tsr_",
            "_ZN",
            "<unknown>",
        ];
        let theirs = |file: &str| {
            file.starts_with("/rustc/")
                || [".cpp", ".h", ".hpp"].iter().any(|end| file.ends_with(end))
        };
        self.file.is_some_and(theirs) || ours.iter().any(|part| self.name.starts_with(part))
    }
}

/// The frames of a backtrace as lines "file:line in function", without the inner ones at its inner
/// end.
fn frames(backtrace: &str) -> String {
    let mut found: Vec<Frame<'_>> = Vec::new();
    for line in backtrace.lines().map(str::trim) {
        if let Some(place) = line.strip_prefix("at ") {
            let place = place.rsplit_once(':').map_or(place, |(place, _column)| place);
            if let (Some(last), Some((file, line))) = (found.last_mut(), place.rsplit_once(':')) {
                last.file = Some(file);
                last.line = line;
            }
        } else if let Some((number, name)) = line.split_once(": ") {
            if number.bytes().all(|digit| digit.is_ascii_digit()) {
                found.push(Frame { file: None, line: "0", name });
            }
        }
    }
    let outer = found.iter().skip_while(|frame| frame.is_inner());
    let lines = outer.map(|frame| match frame.file {
        Some(file) => format!("{file}:{} in {}", frame.line, frame.name),
        None => format!("? in {}", frame.name),
    });
    lines.collect::<Vec<_>>().join("\n")
}

unsafe extern "C" fn stack(
    _user: *mut c_void,
    text: *mut c_char,
    capacity: i64,
    length: *mut i64,
) -> i32 {
    callback(|| {
        let found = frames(&Backtrace::force_capture().to_string());
        let size = found.len().min(usize::try_from(capacity).unwrap_or(0));
        // SAFETY: the library gives `capacity` writable bytes and a place for the length.
        unsafe {
            std::ptr::copy_nonoverlapping(found.as_ptr(), text.cast(), size);
            *length = size as i64;
        }
        Ok(())
    })
}

/// From now on the library gets the backtraces of Rust where it wants a stack of the program.
pub(crate) fn give_host_stack() -> Result<()> {
    // SAFETY: the callback has no user pointer.
    done(unsafe { sys::tsr_host_stack_set(Some(stack), null_mut(), None) })
}

#[cfg(test)]
mod tests {
    use super::frames;

    #[test]
    fn frames_begin_at_the_program() {
        let backtrace =
            "   0: tessera::host_stack::stack\n             at ./src/host_stack.rs:5:9\n   \
                         1: tsr_ones\n             at /tessera/capi/memory.cpp:130:3\n   \
                         2: model::forward\n             at ./src/model.rs:31:5\n   2: main\n";
        assert_eq!(frames(backtrace), "./src/model.rs:31 in model::forward\n? in main");
        assert_eq!(frames("disabled backtrace"), "");
    }
}
