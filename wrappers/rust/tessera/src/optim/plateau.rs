// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! A learning rate that follows a measure of the training.

use super::Rates;
use crate::{Error, ErrorKind, Result};

/// Times `factor` when a measure, such as the loss of held-out samples, has not become better for
/// `patience` steps. Names and defaults are PyTorch's.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::optim::{Optimizer, ReduceLrOnPlateau, Sgd};
/// use tessera::Tensor;
/// let parameters = [Tensor::ones(&[2])?.requiring_grad()?];
/// let mut optimizer = Optimizer::new(Sgd { lr: 1.0, ..Default::default() }, &parameters)?;
/// let mut plateau = ReduceLrOnPlateau { patience: 1, ..Default::default() };
/// for loss in [0.5, 0.4, 0.4, 0.4] {
///     plateau.step(&mut optimizer, loss)?;
/// }
/// assert_eq!(optimizer.lr(0)?, 0.1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ReduceLrOnPlateau {
    /// Whether a larger measure is better, as of an accuracy.
    pub maximize: bool,
    /// The factor, below 1.
    pub factor: f64,
    /// So many steps without a better measure change nothing yet.
    pub patience: u32,
    /// By how much a measure must be better than the best to count.
    pub threshold: f64,
    /// Whether `threshold` is a difference, and not a share of the best.
    pub absolute: bool,
    /// So many steps after a change do not count.
    pub cooldown: u32,
    /// No rate becomes smaller.
    pub min_lr: f64,
    /// A rate that would change by no more than this stays.
    pub eps: f64,
    /// What a checkpoint keeps: the best measure, `None` before the first step.
    pub best: Option<f64>,
    /// What a checkpoint keeps: steps since the best measure.
    pub bad_steps: u32,
    /// What a checkpoint keeps: steps of the cooldown that are left.
    pub cooling: u32,
}

impl Default for ReduceLrOnPlateau {
    fn default() -> Self {
        Self {
            maximize: false,
            factor: 0.1,
            patience: 10,
            threshold: 1e-4,
            absolute: false,
            cooldown: 0,
            min_lr: 0.0,
            eps: 1e-8,
            best: None,
            bad_steps: 0,
            cooling: 0,
        }
    }
}

impl ReduceLrOnPlateau {
    /// Takes the measure of a step, and changes the rates of all groups if it is time.
    pub fn step(&mut self, optimizer: &mut impl Rates, measure: f64) -> Result<()> {
        if self.factor >= 1.0 {
            let text =
                format!("ReduceLrOnPlateau: factor: expected less than 1, got {}", self.factor);
            return Err(Error::refused(ErrorKind::Value, text));
        }
        if self.is_better(measure) {
            self.best = Some(measure);
            self.bad_steps = 0;
        } else {
            self.bad_steps += 1;
        }
        if self.cooling > 0 {
            self.cooling -= 1;
            self.bad_steps = 0;
        }
        if self.bad_steps > self.patience {
            self.cooling = self.cooldown;
            self.bad_steps = 0;
            for group in 0..optimizer.group_count() {
                let before = optimizer.lr(group)?;
                let rate = (before * self.factor).max(self.min_lr);
                if before - rate > self.eps {
                    optimizer.set_group_lr(group, rate)?;
                }
            }
        }
        Ok(())
    }

    fn is_better(&self, measure: f64) -> bool {
        let Some(best) = self.best else { return !measure.is_nan() };
        let margin = if self.maximize { -self.threshold } else { self.threshold };
        let bound = if self.absolute { best - margin } else { best * (1.0 - margin) };
        if self.maximize {
            measure > bound
        } else {
            measure < bound
        }
    }
}
