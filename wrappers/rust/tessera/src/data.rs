// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Data loading: samples, batches, and threads that prepare batches ahead.

mod sampler;
mod subset;

pub use sampler::DistributedSampler;
pub use subset::{random_split, ConcatDataset, Subset};

use crate::{Ambient, Error, ErrorKind, Generator, Result, Tensor};
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Samples by number.
pub trait Dataset: Send + Sync + 'static {
    /// One sample, and, collated, a batch of them.
    type Sample: Collate;

    /// How many samples there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sample number `index`.
    fn get(&self, index: usize) -> Result<Self::Sample>;

    /// A batch. The default gets each sample and collates them; a dataset that can do better, such as
    /// one that holds its samples in one tensor, overrides it.
    fn batch(&self, indices: &[usize]) -> Result<Self::Sample> {
        let samples = indices.iter().map(|&index| self.get(index)).collect::<Result<Vec<_>>>()?;
        Self::Sample::collate(samples)
    }
}

/// A dataset of so many samples, each made by a function of its number.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{data::{from_fn, DataLoader}, Tensor};
/// let squares = from_fn(6, |index| Tensor::scalar((index * index) as i64));
/// let batches = &DataLoader::new(squares).batch_size(3);
/// let last = batches.into_iter().last().unwrap()?;
/// assert_eq!(last.to_vec::<i64>()?, [9, 16, 25]);
/// # Ok(())
/// # }
/// ```
pub fn from_fn<S: Collate>(
    len: usize,
    get: impl Fn(usize) -> Result<S> + Send + Sync + 'static,
) -> impl Dataset<Sample = S> {
    FromFn { len, get }
}

struct FromFn<F> {
    len: usize,
    get: F,
}

impl<S: Collate, F: Fn(usize) -> Result<S> + Send + Sync + 'static> Dataset for FromFn<F> {
    type Sample = S;

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, index: usize) -> Result<S> {
        (self.get)(index)
    }
}

/// A type of samples that can be combined into a batch of the same type.
pub trait Collate: Sized + Send + 'static {
    /// A batch of samples.
    fn collate(samples: Vec<Self>) -> Result<Self>;
}

impl Collate for Tensor {
    /// Stacks them along a new first axis.
    fn collate(samples: Vec<Self>) -> Result<Self> {
        Tensor::stack(&samples)
    }
}

impl<A: Collate, B: Collate> Collate for (A, B) {
    fn collate(samples: Vec<Self>) -> Result<Self> {
        let (a, b) = samples.into_iter().unzip();
        Ok((A::collate(a)?, B::collate(b)?))
    }
}

impl<A: Collate, B: Collate, C: Collate> Collate for (A, B, C) {
    fn collate(samples: Vec<Self>) -> Result<Self> {
        let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
        for sample in samples {
            a.push(sample.0);
            b.push(sample.1);
            c.push(sample.2);
        }
        Ok((A::collate(a)?, B::collate(b)?, C::collate(c)?))
    }
}

impl<T: Collate> Collate for Vec<T> {
    /// Collates the first of each, the second of each, and so on.
    fn collate(samples: Vec<Self>) -> Result<Self> {
        let width = samples.first().map_or(0, Vec::len);
        if samples.iter().any(|sample| sample.len() != width) {
            return Err(Error::refused(ErrorKind::Shape, "samples of different lengths"));
        }
        let mut columns: Vec<Vec<T>> = (0..width).map(|_| Vec::new()).collect();
        for sample in samples {
            for (column, value) in columns.iter_mut().zip(sample) {
                column.push(value);
            }
        }
        columns.into_iter().map(T::collate).collect()
    }
}

/// Rows of two tensors of equal length, such as images and classes.
#[derive(Clone, Debug)]
pub struct TensorDataset {
    inputs: Tensor,
    targets: Tensor,
}

impl TensorDataset {
    /// Row `i` of both is sample `i`.
    pub fn new(inputs: Tensor, targets: Tensor) -> Result<Self> {
        let (left, right) = (inputs.shape(), targets.shape());
        if left.is_empty() || left.first() != right.first() {
            let text = format!("TensorDataset: {left:?} and {right:?} differ in their first axis");
            return Err(Error::refused(ErrorKind::Shape, text));
        }
        Ok(Self { inputs, targets })
    }
}

impl Dataset for TensorDataset {
    type Sample = (Tensor, Tensor);

    fn len(&self) -> usize {
        self.inputs.size(0) as usize
    }

    fn get(&self, index: usize) -> Result<Self::Sample> {
        let row = index as i64;
        Ok((self.inputs.select(0, row)?, self.targets.select(0, row)?))
    }

    fn batch(&self, indices: &[usize]) -> Result<Self::Sample> {
        let rows = Tensor::from(indices.iter().map(|&i| i as i64).collect::<Vec<_>>());
        Ok((self.inputs.index_select(0, &rows)?, self.targets.index_select(0, &rows)?))
    }
}

// ---- Loader ----

/// Batches of a dataset, in order or newly shuffled for each pass, optionally prepared by threads.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::data::{DataLoader, TensorDataset};
/// use tessera::Tensor;
/// let dataset = TensorDataset::new(Tensor::rand(&[10, 3])?, Tensor::arange(0, 10)?)?;
/// let loader = DataLoader::new(dataset).batch_size(4).shuffle(true).workers(2);
/// assert_eq!(loader.len(), 3);
/// for batch in &loader {
///     let (inputs, targets) = batch?;
///     assert_eq!(inputs.size(0), targets.size(0));
/// }
/// # Ok(())
/// # }
/// ```
pub struct DataLoader<D: Dataset> {
    dataset: Arc<D>,
    batch_size: usize,
    shuffle: bool,
    drop_last: bool,
    workers: usize,
    prefetch: usize,
    generator: Option<Generator>,
    sampler: Option<DistributedSampler>,
}

impl<D: Dataset> fmt::Debug for DataLoader<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let samples = self.dataset.len();
        write!(f, "DataLoader({samples} samples, batch_size={})", self.batch_size)
    }
}

impl<D: Dataset> DataLoader<D> {
    /// One sample a batch, in order, prepared by the caller's thread.
    pub fn new(dataset: D) -> Self {
        Self {
            dataset: Arc::new(dataset),
            batch_size: 1,
            shuffle: false,
            drop_last: false,
            workers: 0,
            prefetch: 2,
            generator: None,
            sampler: None,
        }
    }

    /// Samples of a batch, at least 1; the last batch may be smaller.
    #[must_use]
    pub fn batch_size(mut self, size: usize) -> Self {
        self.batch_size = size.max(1);
        self
    }

    /// Whether each pass has a new random order.
    #[must_use]
    pub fn shuffle(mut self, on: bool) -> Self {
        self.shuffle = on;
        self
    }

    /// Whether a last batch that is too small is left out.
    #[must_use]
    pub fn drop_last(mut self, on: bool) -> Self {
        self.drop_last = on;
        self
    }

    /// How many threads prepare batches, each in the [`Ambient`] state of the thread that began the
    /// pass; 0 prepares them when they are asked for.
    #[must_use]
    pub fn workers(mut self, count: usize) -> Self {
        self.workers = count;
        self
    }

    /// How many batches each thread prepares ahead, at least 1.
    #[must_use]
    pub fn prefetch(mut self, batches: usize) -> Self {
        self.prefetch = batches.max(1);
        self
    }

    /// The generator of the order, instead of the default generator.
    #[must_use]
    pub fn generator(mut self, generator: Generator) -> Self {
        self.generator = Some(generator);
        self
    }

    /// The samples and their order, instead of `shuffle`.
    #[must_use]
    pub fn sampler(mut self, sampler: &DistributedSampler) -> Self {
        self.sampler = Some(sampler.clone());
        self
    }

    /// The dataset.
    pub fn dataset(&self) -> &D {
        &self.dataset
    }

    /// The number of batches of a pass.
    pub fn len(&self) -> usize {
        let samples = self.sampler.as_ref().map_or(self.dataset.len(), DistributedSampler::len);
        if self.drop_last {
            samples / self.batch_size
        } else {
            samples.div_ceil(self.batch_size)
        }
    }

    /// Whether a pass has no batch.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One pass over the dataset.
    pub fn iter(&self) -> Batches<D> {
        let (order, problem) = match self.order() {
            Ok(order) => (order, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let jobs: Vec<Vec<usize>> =
            order.chunks(self.batch_size).take(self.len()).map(<[usize]>::to_vec).collect();
        let workers = self.workers.min(jobs.len());
        let pool = (workers > 0).then(|| Pool::new(&self.dataset, workers)).transpose();
        let (pool, jobs, problem) = match pool {
            Ok(pool) => (pool, jobs, problem),
            Err(error) => (None, Vec::new(), Some(error)),
        };
        let ahead = workers.saturating_mul(self.prefetch);
        Batches { dataset: self.dataset.clone(), jobs: jobs.into_iter(), pool, ahead, problem }
    }

    fn order(&self) -> Result<Vec<usize>> {
        if let Some(sampler) = &self.sampler {
            return sampler.positions();
        }
        let samples = self.dataset.len();
        if !self.shuffle {
            return Ok((0..samples).collect());
        }
        let drawn = Tensor::randperm_with(samples as i64, |o| match &self.generator {
            Some(generator) => o.generator(generator),
            None => o,
        })?;
        Ok(drawn.to_vec::<i64>()?.into_iter().map(|index| index as usize).collect())
    }
}

impl<D: Dataset> IntoIterator for &DataLoader<D> {
    type Item = Result<D::Sample>;
    type IntoIter = Batches<D>;

    fn into_iter(self) -> Batches<D> {
        self.iter()
    }
}

/// The batches of one pass, in order. A panic of the dataset in a worker continues here.
pub struct Batches<D: Dataset> {
    dataset: Arc<D>,
    jobs: std::vec::IntoIter<Vec<usize>>,
    pool: Option<Pool<D::Sample>>,
    ahead: usize,
    problem: Option<Error>,
}

impl<D: Dataset> fmt::Debug for Batches<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batches({} to go)", self.len())
    }
}

impl<D: Dataset> Iterator for Batches<D> {
    type Item = Result<D::Sample>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.problem.take() {
            return Some(Err(error));
        }
        let Some(pool) = &mut self.pool else {
            return self.jobs.next().map(|indices| self.dataset.batch(&indices));
        };
        while pool.sent - pool.given < self.ahead {
            match self.jobs.next() {
                Some(indices) => pool.send(indices),
                None => break,
            }
        }
        (pool.given < pool.sent).then(|| pool.receive())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let ahead = self.pool.as_ref().map_or(0, |pool| pool.sent - pool.given);
        let left = usize::from(self.problem.is_some()) + self.jobs.len() + ahead;
        (left, Some(left))
    }
}

impl<D: Dataset> ExactSizeIterator for Batches<D> {}

// ---- Threads ----

type Outcome<S> = std::thread::Result<Result<S>>;

/// Threads that receive numbered lists of indices and send numbered batches.
struct Pool<S> {
    jobs: Option<Sender<(usize, Vec<usize>)>>,
    results: Option<Receiver<(usize, Outcome<S>)>>,
    early: BTreeMap<usize, Outcome<S>>,
    sent: usize,
    given: usize,
    threads: Vec<JoinHandle<()>>,
}

impl<S: Send + 'static> Pool<S> {
    fn new<D: Dataset<Sample = S>>(dataset: &Arc<D>, count: usize) -> Result<Self> {
        let (jobs, queue) = channel::<(usize, Vec<usize>)>();
        let (give, results) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let ambient = Ambient::save()?;
        let work = || {
            let (dataset, queue, give) = (dataset.clone(), queue.clone(), give.clone());
            let ambient = ambient.clone();
            let name = "tessera-data".to_string();
            Builder::new().name(name).spawn(move || loop {
                let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok((number, indices)) = job else { return };
                let batch = catch_unwind(AssertUnwindSafe(|| {
                    let _entered = ambient.enter()?;
                    dataset.batch(&indices)
                }));
                if give.send((number, batch)).is_err() {
                    return;
                }
            })
        };
        let (jobs, results, early) = (Some(jobs), Some(results), BTreeMap::new());
        let mut pool = Self { jobs, results, early, sent: 0, given: 0, threads: Vec::new() };
        for _ in 0..count {
            pool.threads.push(work()?);
        }
        Ok(pool)
    }

    fn send(&mut self, indices: Vec<usize>) {
        let jobs = self.jobs.as_ref().expect("the queue is open until the pool is dropped");
        jobs.send((self.sent, indices)).expect("the queue lives as long as the pool");
        self.sent += 1;
    }

    /// The next batch in the order of sending.
    fn receive(&mut self) -> Result<S> {
        let number = self.given;
        self.given += 1;
        let outcome = loop {
            if let Some(outcome) = self.early.remove(&number) {
                break outcome;
            }
            let results = self.results.as_ref().expect("open until the pool is dropped");
            let (found, outcome) = results.recv().expect("workers answer every job");
            self.early.insert(found, outcome);
        };
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl<S> Drop for Pool<S> {
    fn drop(&mut self) {
        (self.jobs, self.results) = (None, None); // workers finish the batch they are at
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // a worker catches every panic
        }
    }
}
