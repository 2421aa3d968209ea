// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The promotion rules of dtypes, from the library.

use crate::error::{done, Result};
use crate::DType;
use tessera_sys as sys;

impl DType {
    /// The dtype of an operation on tensors of this dtype and of another one. An error for `uint64`
    /// and a signed integer, which have no common dtype.
    pub fn promote(self, other: DType) -> Result<DType> {
        let mut common = 0;
        // SAFETY: a writable number.
        done(unsafe { sys::tsr_promote_types(self as i32, other as i32, &mut common) })?;
        Ok(DType::from_raw(common))
    }

    /// The default dtype of the process: what an operation makes of integers that cannot stay what
    /// they are, and what functions that make tensors of floats take when no dtype is given.
    pub fn default_float() -> DType {
        let mut dtype = 0;
        // SAFETY: a writable number.
        done(unsafe { sys::tsr_default_dtype(&mut dtype) }).expect("a writable number");
        DType::from_raw(dtype)
    }

    /// Sets the default dtype of the process, which is `F32` at first. An error for a dtype that is
    /// not floating.
    pub fn set_default_float(self) -> Result<()> {
        // SAFETY: takes a number.
        done(unsafe { sys::tsr_set_default_dtype(self as i32) })
    }

    /// Whether the common dtype of this dtype and `target` is `target`.
    pub fn can_cast(self, target: DType) -> bool {
        let mut can = 0;
        // SAFETY: a writable number.
        let done = done(unsafe { sys::tsr_can_cast(self as i32, target as i32, &mut can) });
        done.is_ok() && can != 0
    }
}
