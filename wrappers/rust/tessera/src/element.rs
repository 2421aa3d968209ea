// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Rust types that can be elements of a tensor.

use crate::DType;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type whose values are the elements of tensors of one dtype.
///
/// With the features `half` and `num-complex` (both are on by default) also `half::f16`, `half::bf16`
/// and `num_complex::Complex` of `f32` and `f64`.
pub trait Element:
    sealed::Sealed + Copy + Default + Send + Sync + std::fmt::Debug + 'static
{
    /// The dtype.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($(#[$when:meta])? $kind:ty => $dtype:ident),* $(,)?) => {$(
        $(#[$when])?
        impl sealed::Sealed for $kind {}
        $(#[$when])?
        impl Element for $kind {
            const DTYPE: DType = DType::$dtype;
        }
        $(#[$when])?
        const _: () = assert!(std::mem::size_of::<$kind>() == DType::$dtype.size());
    )*};
}

elements! {
    bool => Bool,
    u8 => U8,
    u16 => U16,
    u32 => U32,
    u64 => U64,
    i8 => I8,
    i16 => I16,
    i32 => I32,
    i64 => I64,
    f32 => F32,
    f64 => F64,
    #[cfg(feature = "half")] half::f16 => F16,
    #[cfg(feature = "half")] half::bf16 => Bf16,
    #[cfg(feature = "num-complex")] num_complex::Complex<f32> => C64,
    #[cfg(feature = "num-complex")] num_complex::Complex<f64> => C128,
}
