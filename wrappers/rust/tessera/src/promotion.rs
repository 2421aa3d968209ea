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
        Ok(DType::ALL
            .iter()
            .copied()
            .find(|d| *d as i32 == common)
            .expect("a dtype of the library"))
    }

    /// Whether the common dtype of this dtype and `target` is `target`.
    pub fn can_cast(self, target: DType) -> bool {
        let mut can = 0;
        // SAFETY: a writable number.
        let done = done(unsafe { sys::tsr_can_cast(self as i32, target as i32, &mut can) });
        done.is_ok() && can != 0
    }
}
