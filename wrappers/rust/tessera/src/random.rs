// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Generators of random numbers: Philox, the same numbers on every device for a seed.

use crate::error::done;
use crate::handle::handle;
use crate::Result;
use tessera_sys as sys;

handle! {
    /// A source of random numbers. A clone is the same source.
    #[derive(Debug)]
    Generator, tsr_generator_s, tsr_generator_retain, tsr_generator_release
}

impl Generator {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Result<Self> {
        // SAFETY: `out` is writable.
        Self::made(|out| unsafe { sys::tsr_generator_new(seed, out) })
    }

    /// The generator that random functions use when none is given.
    pub fn default_generator() -> Result<Self> {
        // SAFETY: `out` is writable.
        Self::made(|out| unsafe { sys::tsr_generator_default(out) })
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

/// Starts the default generator anew from a seed.
pub fn manual_seed(seed: u64) -> Result<()> {
    Generator::default_generator()?.seed(seed)
}
