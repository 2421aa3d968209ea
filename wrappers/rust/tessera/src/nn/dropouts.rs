// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Dropout of elements and of channels.

use super::{Module, Training, Visitor};
use crate::{Error, ErrorKind, Result, Tensor};

macro_rules! dropouts {
    ($($(#[$doc:meta])* $name:ident, $op:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            p: f64,
            training: Training,
        }

        impl $name {
            /// With this probability.
            pub fn new(p: f64) -> Result<Self> {
                if !(0.0..=1.0).contains(&p) {
                    let text = format!("{}: expected a probability, got {p}", stringify!($name));
                    return Err(Error::refused(ErrorKind::Value, text));
                }
                Ok(Self { p, training: Training::default() })
            }
        }

        impl Module for $name {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                input.$op(|o| o.p(self.p).training(self.training.is_on()))
            }

            fn visit(&self, visitor: &mut Visitor) {
                visitor.training(&self.training);
            }
        }
    )*};
}

dropouts! {
    /// In training, zeros elements at random and scales the others to keep the mean.
    Dropout, dropout_with;
    /// In training, zeros channels of (N, C, L) or (C, L) at random and scales the others.
    Dropout1d, dropout1d_with;
    /// In training, zeros channels of (N, C, H, W) or (N, C, L) at random and scales the others.
    Dropout2d, dropout2d_with;
    /// In training, zeros channels of (N, C, D, H, W) or (C, D, H, W) at random and scales the others.
    Dropout3d, dropout3d_with;
    /// Dropout that keeps mean 0 and variance 1, for networks with selu.
    AlphaDropout, alpha_dropout_with;
    /// The same for whole channels (axis 1).
    FeatureAlphaDropout, feature_alpha_dropout_with;
}
