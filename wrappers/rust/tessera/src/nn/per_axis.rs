// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Sizes of kernels, strides and the like: one number for each axis, or one for all.

/// A number for each of `N` axes: an array, or one number that holds for all of them.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::nn::{Conv2d, MaxPool2d};
/// assert_eq!(Conv2d::new(1, 8, 3)?.weight.shape(), [8, 1, 3, 3]);
/// assert_eq!(Conv2d::new(1, 8, [3, 5])?.weight.shape(), [8, 1, 3, 5]);
/// assert_eq!(MaxPool2d::new(2).stride, [2, 2]);
/// # Ok(())
/// # }
/// ```
pub trait PerAxis<const N: usize> {
    /// The number of each axis.
    fn per_axis(self) -> [i64; N];
}

impl<const N: usize> PerAxis<N> for [i64; N] {
    fn per_axis(self) -> [i64; N] {
        self
    }
}

impl<const N: usize> PerAxis<N> for i64 {
    fn per_axis(self) -> [i64; N] {
        [self; N]
    }
}
