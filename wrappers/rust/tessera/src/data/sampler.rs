// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! The samples of a dataset that one of several ranks gets.

use crate::distributed::{rank_positions, Group};
use crate::Result;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;

/// Every sample on one rank: rank r has the positions r, r + ranks, ... of an order that all ranks
/// share, in every language. A clone is the same sampler.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::data::{DataLoader, DistributedSampler, TensorDataset};
/// use tessera::Tensor;
/// let dataset = TensorDataset::new(Tensor::rand(&[10, 3])?, Tensor::arange(0, 10)?)?;
/// let sampler = DistributedSampler::new(10, 2, 0);
/// let loader = DataLoader::new(dataset).batch_size(5).sampler(&sampler);
/// for epoch in 0..2 {
///     sampler.set_epoch(epoch);
///     assert_eq!((&loader).into_iter().count(), 1);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DistributedSampler {
    count: usize,
    ranks: usize,
    rank: usize,
    shuffle: bool,
    seed: i64,
    drop_last: bool,
    epoch: Arc<AtomicI64>,
}

impl DistributedSampler {
    /// Of `count` samples, shuffled with the seed 0.
    pub fn new(count: usize, ranks: usize, rank: usize) -> Self {
        let epoch = Arc::new(AtomicI64::new(0));
        Self { count, ranks, rank, shuffle: true, seed: 0, drop_last: false, epoch }
    }

    /// Of `count` samples, for this rank of a group.
    pub fn of(count: usize, group: &Group) -> Self {
        Self::new(count, group.size(), group.rank())
    }

    /// Whether the order is random, another one for each epoch.
    #[must_use]
    pub fn shuffle(mut self, on: bool) -> Self {
        self.shuffle = on;
        self
    }

    /// The seed of the order.
    #[must_use]
    pub fn seed(mut self, seed: i64) -> Self {
        self.seed = seed;
        self
    }

    /// Whether the last samples are left out; else the first ones are repeated, so that all ranks
    /// have equally many.
    #[must_use]
    pub fn drop_last(mut self, on: bool) -> Self {
        self.drop_last = on;
        self
    }

    /// Gives the next pass another order, the same on all ranks.
    pub fn set_epoch(&self, epoch: i64) {
        self.epoch.store(epoch, Ordering::Relaxed);
    }

    /// How many samples each rank has.
    pub fn len(&self) -> usize {
        let ranks = self.ranks.max(1);
        if self.drop_last {
            self.count / ranks
        } else {
            self.count.div_ceil(ranks)
        }
    }

    /// Whether a rank has no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The positions of this rank's samples in the epoch.
    pub fn positions(&self) -> Result<Vec<usize>> {
        let epoch = self.epoch.load(Ordering::Relaxed);
        let seed = self.shuffle.then(|| self.seed.wrapping_add(epoch));
        let (count, ranks, rank) = (self.count as i64, self.ranks as i64, self.rank as i64);
        let found = rank_positions(count, ranks, rank, seed, self.drop_last)?;
        Ok(found.to_vec::<i64>()?.into_iter().map(|position| position as usize).collect())
    }
}
