// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Generators of random numbers: Philox; a seed gives the same numbers on every device.

use crate::error::done;
use crate::handle::handle;
use crate::Result;
use std::marker::PhantomData;
use std::ptr::null_mut;
use tessera_sys as sys;

handle! {
    /// A generator of random numbers. A clone refers to the same generator.
    #[derive(Debug)]
    Generator, tsr_generator_s, tsr_generator_retain, tsr_generator_release
}

impl Generator {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Result<Self> {
        // SAFETY: `out` is writable.
        Self::made(|out| unsafe { sys::tsr_generator_new(seed, out) })
    }

    /// The process's default generator, used by threads that have entered no other.
    pub fn default_generator() -> Result<Self> {
        // SAFETY: `out` is writable.
        Self::made(|out| unsafe { sys::tsr_generator_default(out) })
    }

    /// The generator that random functions of this thread use when none is given.
    pub fn current() -> Result<Self> {
        // SAFETY: `out` is writable.
        Self::made(|out| unsafe { sys::tsr_generator_current(out) })
    }

    /// Makes this the current generator of the thread until the guard is dropped.
    pub fn enter(&self) -> Result<GeneratorGuard> {
        // SAFETY: a valid handle; `out` is writable.
        let previous =
            Self::made(|out| unsafe { sys::tsr_generator_set_current(self.raw(), out) })?;
        Ok(GeneratorGuard { previous, _thread: PhantomData })
    }

    /// Restarts the generator from a seed.
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

    /// Sets a state that [`Generator::state`] returned.
    pub fn set_state(&self, (seed, offset): (u64, u64)) -> Result<()> {
        // SAFETY: a valid handle.
        done(unsafe { sys::tsr_generator_set_state(self.raw(), seed, offset) })
    }
}

/// Restores the thread's former generator when it is dropped.
#[must_use = "the generator is current until the guard is dropped"]
#[derive(Debug)]
pub struct GeneratorGuard {
    previous: Generator,
    _thread: PhantomData<*const ()>,
}

impl Drop for GeneratorGuard {
    fn drop(&mut self) {
        let mut between = null_mut();
        // SAFETY: a valid handle; the reference that comes out is given back.
        unsafe {
            sys::tsr_generator_set_current(self.previous.raw(), &mut between);
            sys::tsr_generator_release(between);
        }
    }
}

/// Restarts the default generator from a seed.
pub fn manual_seed(seed: u64) -> Result<()> {
    Generator::default_generator()?.seed(seed)
}
