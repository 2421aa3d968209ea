// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The kinds of optimizers, each a struct of its options.

use tessera_sys as sys;

/// The options of a kind of optimizer: [`Sgd`], [`AdamW`] and so on.
pub trait Rule: Copy + Default + private::Raw {}

pub(super) mod private {
    /// Between the options of a kind and those of the C ABI.
    pub trait Raw {
        fn to_raw(&self) -> tessera_sys::tsr_optimizer_options;
        fn set_raw(&mut self, raw: &tessera_sys::tsr_optimizer_options);
        const KIND: i32;
    }
}

macro_rules! rule {
    ($(#[$doc:meta])* $name:ident, $kind:ident,
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

rule! {
    /// Gradient descent, with momentum (Nesterov's on request) and weight decay.
    Sgd, TSR_OPTIMIZER_SGD,
    lr: f64 = 1e-3, momentum: f64 = 0.0, dampening: f64 = 0.0, weight_decay: f64 = 0.0;
    nesterov = false, maximize = false
}

rule! {
    /// Steps scaled by running moments of the gradients; weight decay adds to the gradient.
    Adam, TSR_OPTIMIZER_ADAM,
    lr: f64 = 1e-3, beta1: f64 = 0.9, beta2: f64 = 0.999, eps: f64 = 1e-8, weight_decay: f64 =
    0.0;
    amsgrad = false, maximize = false
}

rule! {
    /// As [`Adam`], but weight decay shrinks the parameters directly.
    AdamW, TSR_OPTIMIZER_ADAMW,
    lr: f64 = 1e-3, beta1: f64 = 0.9, beta2: f64 = 0.999, eps: f64 = 1e-8, weight_decay: f64 =
    1e-2;
    amsgrad = false, maximize = false
}

rule! {
    /// Steps divided by the root of the mean square of the gradients, or of their variance
    /// (centered).
    RmsProp, TSR_OPTIMIZER_RMSPROP,
    lr: f64 = 1e-2, alpha: f64 = 0.99, eps: f64 = 1e-8, weight_decay: f64 = 0.0, momentum: f64 =
    0.0;
    centered = false, maximize = false
}

rule! {
    /// Steps divided by the root of the sum of the squares of all gradients.
    Adagrad, TSR_OPTIMIZER_ADAGRAD,
    lr: f64 = 1e-2, lr_decay: f64 = 0.0, weight_decay: f64 = 0.0, initial_accumulator_value: f64
    = 0.0, eps: f64 = 1e-10;
    maximize = false
}

rule! {
    /// Steps whose size is that of the steps before, relative to the gradients.
    Adadelta, TSR_OPTIMIZER_ADADELTA,
    lr: f64 = 1.0, rho: f64 = 0.9, eps: f64 = 1e-6, weight_decay: f64 = 0.0;
    maximize = false
}

rule! {
    /// Adam with the largest gradient in the place of the second moment.
    Adamax, TSR_OPTIMIZER_ADAMAX,
    lr: f64 = 2e-3, beta1: f64 = 0.9, beta2: f64 = 0.999, eps: f64 = 1e-8, weight_decay: f64 =
    0.0;
    maximize = false
}

rule! {
    /// Adam with Nesterov's momentum.
    NAdam, TSR_OPTIMIZER_NADAM,
    lr: f64 = 2e-3, beta1: f64 = 0.9, beta2: f64 = 0.999, eps: f64 = 1e-8, weight_decay: f64 =
    0.0, momentum_decay: f64 = 4e-3;
    maximize = false
}

rule! {
    /// Adam whose first steps go by the first moment alone, until the second can be trusted.
    RAdam, TSR_OPTIMIZER_RADAM,
    lr: f64 = 1e-3, beta1: f64 = 0.9, beta2: f64 = 0.999, eps: f64 = 1e-8, weight_decay: f64 =
    0.0;
    maximize = false
}

rule! {
    /// Adam whose step has, for each parameter, the size of the parameter itself; for large
    /// batches.
    Lamb, TSR_OPTIMIZER_LAMB,
    lr: f64 = 1e-3, beta1: f64 = 0.9, beta2: f64 = 0.999, eps: f64 = 1e-6, weight_decay: f64 =
    1e-2;
    maximize = false
}

rule! {
    /// Steps of one size, in the direction of the sign of the momentum; weight decay shrinks
    /// the parameters.
    Lion, TSR_OPTIMIZER_LION,
    lr: f64 = 1e-4, beta1: f64 = 0.9, beta2: f64 = 0.99, weight_decay: f64 = 0.0;
    maximize = false
}

rule! {
    /// Momentum made orthogonal, for the matrices of hidden layers.
    Muon, TSR_OPTIMIZER_MUON,
    lr: f64 = 1e-3, weight_decay: f64 = 0.1, momentum: f64 = 0.95, eps: f64 = 1e-7, ns_steps:
    i32 = 5;
    nesterov = true, maximize = false
}
