// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Generators of random numbers: Philox, the same numbers on every device for a seed.

use crate::error::done;
use crate::Result;
use std::ptr::{null_mut, NonNull};
use tessera_sys as sys;

/// A source of random numbers. A clone is the same source.
#[derive(Debug)]
pub struct Generator(NonNull<sys::tsr_generator_s>);

// SAFETY: the ABI lets any handle be used from any thread.
unsafe impl Send for Generator {}
// SAFETY: as above; the library locks a generator's state.
unsafe impl Sync for Generator {}

impl Generator {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Result<Self> {
        let mut handle = null_mut();
        // SAFETY: `handle` is writable.
        done(unsafe { sys::tsr_generator_new(seed, &mut handle) })?;
        Ok(Self(NonNull::new(handle).expect("a handle after a success")))
    }

    /// The generator that random functions use when none is given.
    pub fn default_generator() -> Result<Self> {
        let mut handle = null_mut();
        // SAFETY: `handle` is writable.
        done(unsafe { sys::tsr_generator_default(&mut handle) })?;
        Ok(Self(NonNull::new(handle).expect("a handle after a success")))
    }

    pub(crate) fn raw(&self) -> sys::tsr_generator {
        self.0.as_ptr()
    }

    /// Starts anew from a seed.
    pub fn seed(&self, seed: u64) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_generator_seed(self.raw(), seed) })
    }

    /// The whole state: seed and offset.
    pub fn state(&self) -> Result<(u64, u64)> {
        let (mut seed, mut offset) = (0, 0);
        // SAFETY: a valid handle and two writable numbers.
        done(unsafe { sys::tsr_generator_get_state(self.raw(), &mut seed, &mut offset) })?;
        Ok((seed, offset))
    }

    /// Goes back to a state that [`Generator::state`] gave.
    pub fn set_state(&self, (seed, offset): (u64, u64)) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_generator_set_state(self.raw(), seed, offset) })
    }
}

impl Clone for Generator {
    fn clone(&self) -> Self {
        // SAFETY: a valid handle.
        unsafe { sys::tsr_generator_retain(self.raw()) };
        Self(self.0)
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        // SAFETY: this is our reference.
        unsafe { sys::tsr_generator_release(self.raw()) };
    }
}

/// Starts the default generator anew from a seed.
pub fn manual_seed(seed: u64) -> Result<()> {
    Generator::default_generator()?.seed(seed)
}
