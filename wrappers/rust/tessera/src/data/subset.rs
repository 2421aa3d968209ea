// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Datasets made of others.

use super::Dataset;
use crate::{Error, ErrorKind, Generator, Result, Tensor};
use std::sync::Arc;

/// The same dataset, in several loaders.
impl<D: Dataset> Dataset for Arc<D> {
    type Sample = D::Sample;

    fn len(&self) -> usize {
        (**self).len()
    }

    fn get(&self, index: usize) -> Result<Self::Sample> {
        (**self).get(index)
    }

    fn batch(&self, indices: &[usize]) -> Result<Self::Sample> {
        (**self).batch(indices)
    }
}

/// Some samples of a dataset. A clone shares the dataset.
#[derive(Debug)]
pub struct Subset<D> {
    dataset: Arc<D>,
    indices: Vec<usize>,
}

impl<D> Clone for Subset<D> {
    fn clone(&self) -> Self {
        Self { dataset: self.dataset.clone(), indices: self.indices.clone() }
    }
}

impl<D: Dataset> Subset<D> {
    /// The samples with these numbers, in this order.
    pub fn new(dataset: Arc<D>, indices: Vec<usize>) -> Result<Self> {
        let samples = dataset.len();
        if let Some(index) = indices.iter().find(|&&index| index >= samples) {
            let text = format!("Subset: expected numbers below {samples}, got {index}");
            return Err(Error::refused(ErrorKind::Index, text));
        }
        Ok(Self { dataset, indices })
    }

    /// The numbers of the samples in the whole dataset.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }
}

impl<D: Dataset> Dataset for Subset<D> {
    type Sample = D::Sample;

    fn len(&self) -> usize {
        self.indices.len()
    }

    fn get(&self, index: usize) -> Result<Self::Sample> {
        self.dataset.get(self.indices[index])
    }

    fn batch(&self, indices: &[usize]) -> Result<Self::Sample> {
        let chosen: Vec<usize> = indices.iter().map(|&index| self.indices[index]).collect();
        self.dataset.batch(&chosen)
    }
}

/// Parts of these lengths, drawn at random without overlap: the same for the same seed in every
/// language. Without a generator the current one draws.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::data::{random_split, Dataset, TensorDataset};
/// use tessera::{Generator, Tensor};
/// let data = TensorDataset::new(Tensor::rand(&[10, 3])?, Tensor::arange(0, 10)?)?;
/// let [train, test] = random_split(data, [8, 2], Some(&Generator::new(0)?))?;
/// assert_eq!((train.len(), test.len()), (8, 2));
/// # Ok(())
/// # }
/// ```
pub fn random_split<D: Dataset, const N: usize>(
    dataset: D,
    lengths: [usize; N],
    generator: Option<&Generator>,
) -> Result<[Subset<D>; N]> {
    let (samples, sum) = (dataset.len(), lengths.iter().sum::<usize>());
    if sum != samples {
        let text = format!("random_split: lengths: expected a sum of {samples}, got {sum}");
        return Err(Error::refused(ErrorKind::Value, text));
    }
    let order = Tensor::randperm_with(samples as i64, |o| match generator {
        Some(generator) => o.generator(generator),
        None => o,
    })?;
    let mut order = order.to_vec::<i64>()?.into_iter().map(|index| index as usize);
    let dataset = Arc::new(dataset);
    Ok(lengths.map(|length| Subset {
        dataset: dataset.clone(),
        indices: order.by_ref().take(length).collect(),
    }))
}

/// The samples of several datasets, one after another.
#[derive(Clone, Debug)]
pub struct ConcatDataset<D> {
    datasets: Vec<D>,
}

impl<D: Dataset> ConcatDataset<D> {
    /// Of these datasets.
    pub fn new(datasets: Vec<D>) -> Self {
        Self { datasets }
    }
}

impl<D: Dataset> Dataset for ConcatDataset<D> {
    type Sample = D::Sample;

    fn len(&self) -> usize {
        self.datasets.iter().map(Dataset::len).sum()
    }

    fn get(&self, index: usize) -> Result<Self::Sample> {
        let mut place = index;
        for dataset in &self.datasets {
            if place < dataset.len() {
                return dataset.get(place);
            }
            place -= dataset.len();
        }
        let text = format!("ConcatDataset: expected a number below {}, got {index}", self.len());
        Err(Error::refused(ErrorKind::Index, text))
    }
}
