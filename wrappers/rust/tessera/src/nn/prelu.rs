// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The activation whose slope is trained.

use super::module::described;
use super::{Module, Visitor};
use crate::{Result, Tensor};

/// `x` where positive, else a trained slope times `x`: one slope, or one for each channel.
pub struct Prelu {
    weight: Tensor,
}

impl Prelu {
    /// One slope of 0.25.
    pub fn new() -> Result<Self> {
        Self::with(1, 0.25)
    }

    /// So many slopes that begin with this number.
    pub fn with(parameters: i64, init: f64) -> Result<Self> {
        Ok(Self { weight: Tensor::full(&[parameters], init)?.requiring_grad()? })
    }
}

impl Module for Prelu {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.prelu(&self.weight)
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.parameter("weight", &self.weight);
    }
}

described! { Prelu }
