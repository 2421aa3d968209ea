// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The kinds of optimizers, each a struct of its options.

/// The options of a kind of optimizer: [`Sgd`], [`AdamW`] and so on. They are fields, and each has a
/// function that sets it: `Sgd::new(0.1).momentum(0.9)`.
pub trait Rule: Copy + Default + private::Raw {}

pub(super) mod private {
    /// Conversion between the options of a kind and those of the C ABI.
    pub trait Raw {
        fn to_raw(&self) -> tessera_sys::tsr_optimizer_options;
        fn set_raw(&mut self, raw: &tessera_sys::tsr_optimizer_options);
        const KIND: i32;
    }
}

macro_rules! rule {
    ($(#[$doc:meta])* $name:ident, $kind:ident;
     $($number:ident: $type:ty = $default:expr),*; $($flag:ident = $off:expr),*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs)] // the words of the literature
        pub struct $name {
            $(pub $number: $type,)*
            $(pub $flag: bool,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($number: $default,)* $($flag: $off,)* }
            }
        }

        impl $name {
            /// With a learning rate, and the defaults of the other options.
            pub fn new(lr: f64) -> Self {
                Self { lr, ..Self::default() }
            }

            $(
                #[doc = concat!("Sets `", stringify!($number), "`.")]
                #[must_use]
                pub fn $number(mut self, $number: $type) -> Self {
                    self.$number = $number;
                    self
                }
            )*
            $(
                #[doc = concat!("Sets `", stringify!($flag), "`.")]
                #[must_use]
                pub fn $flag(mut self, $flag: bool) -> Self {
                    self.$flag = $flag;
                    self
                }
            )*
        }

        impl Rule for $name {}

        impl private::Raw for $name {
            const KIND: i32 = sys::$kind;

            fn to_raw(&self) -> sys::tsr_optimizer_options {
                sys::tsr_optimizer_options {
                    kind: Self::KIND,
                    $($number: self.$number,)*
                    $($flag: i32::from(self.$flag),)*
                    ..Default::default()
                }
            }

            fn set_raw(&mut self, raw: &sys::tsr_optimizer_options) {
                $(self.$number = raw.$number;)*
                $(self.$flag = raw.$flag != 0;)*
            }
        }
    };
}

#[path = "../generated/optim_rules.rs"]
mod kinds;
pub use kinds::*;
