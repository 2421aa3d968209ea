// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Padding of the last one, two or three axes.

use super::Module;
use crate::{Result, Scalar, Tensor};

macro_rules! padding {
    ($($name:ident, $count:literal, $mode:literal, $doc:literal;)*) => {$(
        #[doc = $doc]
        ///
        /// The numbers of elements before and after each axis, the last axis first.
        #[derive(Clone, Copy, Debug)]
        pub struct $name(pub [i64; $count]);

        impl Module for $name {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                input.pad_with(&self.0, |o| o.mode($mode))
            }
        }
    )*};
}

padding! {
    ZeroPad1d, 2, "constant", "Zeros around the last axis.";
    ZeroPad2d, 4, "constant", "Zeros around the last two axes.";
    ZeroPad3d, 6, "constant", "Zeros around the last three axes.";
    ReflectionPad1d, 2, "reflect", "The last axis mirrored at its ends, without them.";
    ReflectionPad2d, 4, "reflect", "The last two axes mirrored at their ends, without them.";
    ReflectionPad3d, 6, "reflect", "The last three axes mirrored at their ends, without them.";
    ReplicationPad1d, 2, "replicate", "The ends of the last axis repeated.";
    ReplicationPad2d, 4, "replicate", "The ends of the last two axes repeated.";
    ReplicationPad3d, 6, "replicate", "The ends of the last three axes repeated.";
    CircularPad1d, 2, "circular", "The last axis continued from its other end.";
    CircularPad2d, 4, "circular", "The last two axes continued from their other ends.";
    CircularPad3d, 6, "circular", "The last three axes continued from their other ends.";
}

macro_rules! constant_padding {
    ($($name:ident, $count:literal, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            /// The numbers of elements before and after each axis, the last axis first.
            pub padding: [i64; $count],
            /// The new elements.
            pub value: Scalar,
        }

        impl $name {
            /// So many elements before and after each axis, with this value.
            pub fn new(padding: [i64; $count], value: impl Into<Scalar>) -> Self {
                Self { padding, value: value.into() }
            }
        }

        impl Module for $name {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                input.pad_with(&self.padding, |o| o.value(self.value))
            }
        }
    )*};
}

constant_padding! {
    ConstantPad1d, 2, "A number around the last axis.";
    ConstantPad2d, 4, "A number around the last two axes.";
    ConstantPad3d, 6, "A number around the last three axes.";
}
