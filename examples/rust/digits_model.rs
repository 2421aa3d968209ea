// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The network of the digits programs, and its accuracy.

use tessera::nn::{BatchNorm2d, Conv2d, Dropout, Linear, Module, Visitor};
use tessera::{no_grad, DType, Result, Tensor};

/// Two convolutions, one pooling, two dense layers.
pub struct Net {
    conv1: Conv2d,
    norm1: BatchNorm2d,
    conv2: Conv2d,
    norm2: BatchNorm2d,
    dropout: Dropout,
    dense1: Linear,
    dense2: Linear,
}

impl Net {
    pub fn new() -> Result<Self> {
        Ok(Self {
            conv1: Conv2d::with(1, 32, 3, |c| c.padding(1))?,
            norm1: BatchNorm2d::new(32)?,
            conv2: Conv2d::with(32, 64, 3, |c| c.padding(1))?,
            norm2: BatchNorm2d::new(64)?,
            dropout: Dropout::new(0.3)?,
            dense1: Linear::new(64 * 4 * 4, 128)?,
            dense2: Linear::new(128, 10)?,
        })
    }
}

impl Module for Net {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = self.norm1.forward(&self.conv1.forward(x)?)?.relu()?;
        let x = self.norm2.forward(&self.conv2.forward(&x)?)?.relu()?;
        let x = x.max_pool2d(&[2, 2])?.flatten_with(|o| o.start(1))?;
        let x = self.dropout.forward(&self.dense1.forward(&x)?.relu()?)?;
        self.dense2.forward(&x)
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.module("conv1", &self.conv1);
        visitor.module("norm1", &self.norm1);
        visitor.module("conv2", &self.conv2);
        visitor.module("norm2", &self.norm2);
        visitor.module("dropout", &self.dropout);
        visitor.module("dense1", &self.dense1);
        visitor.module("dense2", &self.dense2);
    }
}

/// The logits of images, in evaluation mode and without recording.
pub fn logits_of(model: &Net, images: &Tensor) -> Result<Tensor> {
    let _guard = no_grad();
    model.eval();
    let logits = model.forward(images);
    model.train(true);
    logits
}

/// The accuracy: the share of correct predictions.
pub fn share_right(logits: &Tensor, classes: &Tensor) -> Result<f64> {
    let guesses = logits.argmax_with(|o| o.axis(1))?;
    guesses.equal(classes)?.astype(DType::F64)?.mean()?.item()
}
