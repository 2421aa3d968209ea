// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Programs: calls recorded while a closure runs once, saved as one file, run without the closure.

use crate::arguments::{count, handles, many, one};
use crate::error::done;
use crate::handle::handle;
use crate::io::path_bytes;
use crate::memory::{buffer_bytes, buffer_text};
use crate::{json, Result, Tensor};
use std::fmt;
use std::path::Path;
use std::ptr::{null, null_mut};
use tessera_sys as sys;

handle!(
    /// Recorded calls with their tensors. A clone is the same program; runs of several threads wait
    /// for each other.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// use tessera::{program::Program, Tensor};
    /// let x = Tensor::from([1.0, 2.0]);
    /// let program = Program::record(&[x], &[], |x| Ok(vec![x[0].exp()?]))?;
    /// assert_eq!(program.run(&[Tensor::from([0.0, 0.0])])?[0].to_vec::<f64>()?, [1.0, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    Program,
    tsr_program_s,
    tsr_program_retain,
    tsr_program_release
);

/// Ends a recording that an error or a panic leaves.
struct Recording;

impl Drop for Recording {
    fn drop(&mut self) {
        // SAFETY: has no arguments; without a recording it does nothing.
        let _ = unsafe { sys::tsr_program_record_cancel() };
    }
}

impl Program {
    /// The calls that the closure makes with these inputs. `parameters`, such as
    /// [`Module::named_parameters`](crate::nn::Module::named_parameters), keep their names; every
    /// other tensor that is used becomes a constant.
    pub fn record(
        inputs: &[Tensor],
        parameters: &[(String, Tensor)],
        function: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
    ) -> Result<Self> {
        let names = json::quote_list(parameters.iter().map(|(name, _)| name.as_str()));
        let params: Vec<&Tensor> = parameters.iter().map(|(_, tensor)| tensor).collect();
        let (given, kept) = (handles(inputs), handles(&params));
        // SAFETY: lists and a text with their lengths.
        done(unsafe {
            sys::tsr_program_record_begin(
                given.as_ptr(),
                count(given.len()),
                null(),
                0,
                kept.as_ptr(),
                count(kept.len()),
                names.as_ptr().cast(),
                names.len() as i64,
            )
        })?;
        let _recording = Recording;
        let outputs = function(inputs)?;
        let list = handles(&outputs);
        // SAFETY: a list with its length.
        Self::made(|out| unsafe {
            sys::tsr_program_record_end(list.as_ptr(), count(list.len()), null(), 0, out)
        })
    }

    /// Reads a file that any language has saved.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path_bytes(&path);
        // SAFETY: a text with its length.
        Self::made(|out| unsafe {
            sys::tsr_program_load(path.as_ptr().cast(), path.len() as i64, out)
        })
    }

    /// Reads the contents of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        // SAFETY: bytes with their length.
        Self::made(|out| unsafe {
            sys::tsr_program_from_bytes(bytes.as_ptr().cast(), bytes.len() as i64, out)
        })
    }

    /// One program from recordings with different sizes, for every size.
    pub fn unify(programs: &[Program]) -> Result<Self> {
        let list: Vec<sys::tsr_program> = programs.iter().map(Program::raw).collect();
        // SAFETY: a list of valid handles with its length.
        Self::made(|out| unsafe { sys::tsr_program_unify(list.as_ptr(), count(list.len()), out) })
    }

    /// As [`Program::unify`], with names for the sizes that differ, in the order of the inputs' axes.
    pub fn unify_named(programs: &[Program], names: &[&str]) -> Result<Self> {
        let list: Vec<sys::tsr_program> = programs.iter().map(Program::raw).collect();
        let names = json::quote_list(names.iter().copied());
        // SAFETY: a list of valid handles and a text, with their lengths.
        Self::made(|out| unsafe {
            sys::tsr_program_unify_named(
                list.as_ptr(),
                count(list.len()),
                names.as_ptr().cast(),
                names.len() as i64,
                out,
            )
        })
    }

    /// The outputs for these inputs.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let given = handles(inputs);
        // SAFETY: a valid handle, a list with its length.
        many(|out, room, found| unsafe {
            sys::tsr_program_run(self.raw(), given.as_ptr(), count(given.len()), out, room, found)
        })
    }

    /// Writes the program, its tensors and the states of its optimizers as one safetensors file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path_bytes(&path);
        // SAFETY: a valid handle, a text with its length.
        done(unsafe { sys::tsr_program_save(self.raw(), path.as_ptr().cast(), path.len() as i64) })
    }

    /// The contents of the file that [`Program::save`] writes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut buffer = null_mut();
        // SAFETY: a valid handle; the buffer is given away to buffer_bytes.
        unsafe {
            done(sys::tsr_program_to_bytes(self.raw(), &mut buffer))?;
            buffer_bytes(buffer)
        }
    }

    /// Inputs, outputs, parameters, constants and calls, as JSON.
    pub fn describe(&self) -> Result<String> {
        let mut buffer = null_mut();
        // SAFETY: a valid handle; the buffer is given away to buffer_text.
        unsafe {
            done(sys::tsr_program_describe(self.raw(), &mut buffer))?;
            buffer_text(buffer)
        }
    }

    /// For a person, a line for each call.
    pub fn text(&self) -> Result<String> {
        let mut buffer = null_mut();
        // SAFETY: as above.
        unsafe {
            done(sys::tsr_program_text(self.raw(), &mut buffer))?;
            buffer_text(buffer)
        }
    }

    /// The parameter or constant of this name; writing to it changes what the program computes.
    pub fn tensor(&self, name: &str) -> Result<Tensor> {
        // SAFETY: a valid handle, a text with its length.
        one(|out| unsafe {
            sys::tsr_program_tensor(self.raw(), name.as_ptr().cast(), name.len() as i64, out)
        })
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text().unwrap_or_default())
    }
}
