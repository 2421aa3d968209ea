// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Data loading: order, shuffling, collating, threads and their failures.

use std::collections::BTreeSet;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use tessera::autograd::is_grad_enabled;
use tessera::data::{
    from_fn, random_split, Collate, ConcatDataset, DataLoader, Dataset, DistributedSampler, Subset,
    TensorDataset,
};
use tessera::{Error, ErrorKind, Generator, Result, Tensor};

fn counted(rows: i64) -> TensorDataset {
    let inputs = Tensor::arange(0, 2 * rows).unwrap().reshape(&[rows, 2]).unwrap();
    TensorDataset::new(inputs, Tensor::arange(0, rows).unwrap()).unwrap()
}

fn targets<D: Dataset<Sample = (Tensor, Tensor)>>(loader: &DataLoader<D>) -> Vec<Vec<i64>> {
    loader.iter().map(|batch| batch.unwrap().1.to_vec().unwrap()).collect()
}

#[test]
fn batches_come_in_order_and_the_last_may_be_short() -> Result<()> {
    let loader = DataLoader::new(counted(5)).batch_size(2);
    assert_eq!(loader.len(), 3);
    assert_eq!(targets(&loader), [vec![0, 1], vec![2, 3], vec![4]]);
    let (inputs, _) = loader.iter().next().unwrap()?;
    assert_eq!((inputs.shape(), inputs.to_vec::<i64>()?), (vec![2, 2], vec![0, 1, 2, 3]));
    let whole = DataLoader::new(counted(5)).batch_size(2).drop_last(true);
    assert_eq!((whole.len(), targets(&whole)), (2, vec![vec![0, 1], vec![2, 3]]));
    assert!(DataLoader::new(counted(1)).batch_size(2).drop_last(true).is_empty());
    Ok(())
}

#[test]
fn shuffling_is_a_permutation_and_follows_the_seed() -> Result<()> {
    let order = |seed| {
        let generator = Generator::new(seed).unwrap();
        let loader = DataLoader::new(counted(50)).shuffle(true).generator(generator);
        (targets(&loader).concat(), targets(&loader).concat())
    };
    let (first, second) = order(3);
    assert_ne!(first, second, "each pass has an order of its own");
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 50);
    assert_eq!(order(3), (first, second));
    Ok(())
}

#[test]
fn datasets_are_split_and_joined() -> Result<()> {
    let [train, test] = random_split(counted(10), [7, 3], Some(&Generator::new(5)?))?;
    assert_eq!(train.indices(), [0, 2, 7, 1, 4, 6, 8], "as in every language");
    assert_eq!(test.indices(), [5, 3, 9]);
    let all = DataLoader::new(test.clone()).batch_size(3);
    assert_eq!(targets(&all), [[5, 3, 9]]);
    assert_eq!(test.get(1)?.1.item::<i64>()?, 3);
    assert_eq!(random_split(counted(10), [7, 2], None).unwrap_err().kind(), ErrorKind::Value);
    let shared = Arc::new(counted(4));
    let wrong = Subset::new(shared.clone(), vec![0, 4]).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::Index);
    assert_eq!(targets(&DataLoader::new(shared.clone()).batch_size(4)), [[0, 1, 2, 3]]);
    let both = ConcatDataset::new(vec![shared.clone(), shared]);
    assert_eq!(targets(&DataLoader::new(both.clone()).batch_size(8)), [[0, 1, 2, 3, 0, 1, 2, 3]]);
    assert_eq!(both.get(8).unwrap_err().kind(), ErrorKind::Index);
    Ok(())
}

#[test]
fn samples_of_three_parts_are_collated() -> Result<()> {
    let part = |number: i64| Tensor::scalar(number);
    let samples = vec![(part(1)?, part(2)?, part(3)?), (part(4)?, part(5)?, part(6)?)];
    let (a, b, c) = Collate::collate(samples)?;
    assert_eq!((a.to_vec::<i64>()?, b.to_vec::<i64>()?), (vec![1, 4], vec![2, 5]));
    assert_eq!(c.to_vec::<i64>()?, [3, 6]);
    Ok(())
}

/// Squares of numbers; some of them misbehave.
struct Squares {
    length: usize,
    threads: Arc<Mutex<BTreeSet<String>>>,
    calls: Arc<AtomicUsize>,
}

impl Squares {
    fn new(length: usize) -> Self {
        Self { length, threads: Arc::default(), calls: Arc::default() }
    }
}

fn name_of(id: ThreadId) -> String {
    format!("{id:?}")
}

impl Dataset for Squares {
    type Sample = Tensor;

    fn len(&self) -> usize {
        self.length
    }

    fn get(&self, index: usize) -> Result<Tensor> {
        self.threads.lock().unwrap().insert(name_of(thread::current().id()));
        self.calls.fetch_add(1, Ordering::SeqCst);
        match index {
            1000 => Err(Error::new(ErrorKind::Io, "no sample 1000")),
            2000 => panic!("sample 2000 is bad"),
            index => Tensor::scalar((index * index) as i64),
        }
    }
}

#[test]
fn workers_keep_the_order_of_the_sampler() -> Result<()> {
    let dataset = Squares::new(100);
    let threads = dataset.threads.clone();
    let loader = DataLoader::new(dataset).batch_size(3).workers(3).prefetch(2);
    let values: Vec<i64> =
        loader.iter().flat_map(|batch| batch.unwrap().to_vec::<i64>().unwrap()).collect();
    assert_eq!(values, (0..100).map(|n| n * n).collect::<Vec<i64>>());
    let threads = threads.lock().unwrap();
    assert!(!threads.contains(&name_of(thread::current().id())), "{threads:?}");
    Ok(())
}

#[test]
fn workers_have_the_state_of_the_caller() -> Result<()> {
    let drawn = |workers| -> Result<Vec<f32>> {
        let _generator = Generator::new(7)?.enter()?;
        let _unrecorded = tessera::no_grad();
        let random = from_fn(6, |_| {
            assert!(!is_grad_enabled());
            Tensor::rand(&[])
        });
        let loader = DataLoader::new(random).batch_size(2).workers(workers);
        Ok(loader.iter().map(|batch| batch?.to_vec()).collect::<Result<Vec<_>>>()?.concat())
    };
    assert_eq!(drawn(1)?, drawn(0)?);
    Ok(())
}

#[test]
fn errors_and_panics_in_workers_arrive_in_their_place() {
    for workers in [0, 2] {
        let loader = DataLoader::new(Squares::new(3000)).batch_size(500).workers(workers);
        let mut batches = loader.iter();
        assert!(batches.next().unwrap().is_ok() && batches.next().unwrap().is_ok());
        let error = batches.next().unwrap().unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Io, "no sample 1000"));
        assert!(batches.next().unwrap().is_ok());
        let panic = catch_unwind(AssertUnwindSafe(|| batches.next())).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"sample 2000 is bad"));
        assert!(batches.next().unwrap().is_ok() && batches.next().is_none());
    }
}

#[test]
fn leaving_early_stops_the_workers() {
    let dataset = Squares::new(900);
    let calls = dataset.calls.clone();
    let loader = DataLoader::new(dataset).batch_size(10).workers(2).prefetch(1);
    let mut batches = loader.iter();
    batches.next().unwrap().unwrap();
    drop(batches); // joins the threads
    let done = calls.load(Ordering::SeqCst);
    assert!(done <= 30, "{done} samples for one batch and what was ahead");
}

/// Takes a millisecond per sample, and counts samples.
struct Slow(Arc<AtomicUsize>);

impl Dataset for Slow {
    type Sample = Tensor;

    fn len(&self) -> usize {
        500
    }

    fn get(&self, _: usize) -> Result<Tensor> {
        thread::sleep(std::time::Duration::from_millis(1));
        self.0.fetch_add(1, Ordering::SeqCst);
        Tensor::scalar(0)
    }
}

#[test]
fn leaving_early_drops_what_was_ahead() {
    let calls = Arc::new(AtomicUsize::new(0));
    let loader = DataLoader::new(Slow(calls.clone())).workers(1).prefetch(500);
    loader.iter().next().unwrap().unwrap();
    let done = calls.load(Ordering::SeqCst);
    assert!(done < 400, "{done} samples for one batch");
}

#[test]
fn batches_know_how_many_come() {
    for workers in [0, 2] {
        let loader = DataLoader::new(counted(7)).batch_size(2).workers(workers);
        let mut batches = loader.iter();
        for left in (0..4).rev() {
            assert!(batches.next().is_some());
            assert_eq!((batches.len(), batches.size_hint()), (left, (left, Some(left))));
        }
    }
    let wrong = DistributedSampler::new(4, 2, 2); // its order is an error, and the only item
    let loader = DataLoader::new(counted(4)).sampler(&wrong);
    assert_eq!((loader.iter().len(), loader.iter().count()), (1, 1));
}

#[test]
fn there_are_no_more_workers_than_batches() {
    let loader = DataLoader::new(counted(3)).workers(usize::MAX).prefetch(usize::MAX);
    assert_eq!(targets(&loader).len(), 3);
    assert_eq!(DataLoader::new(counted(0)).workers(usize::MAX).iter().count(), 0);
}

#[test]
fn collating() -> Result<()> {
    let pair = |n: i64| (Tensor::scalar(n).unwrap(), vec![Tensor::from([n, n])]);
    let (numbers, lists) = Collate::collate(vec![pair(1), pair(2)])?;
    assert_eq!(numbers.to_vec::<i64>()?, [1, 2]);
    assert_eq!((lists.len(), lists[0].shape()), (1, vec![2, 2]));
    let ragged = Collate::collate(vec![vec![Tensor::scalar(1)?], vec![]]);
    assert_eq!(ragged.unwrap_err().kind(), ErrorKind::Shape);
    Ok(())
}

#[test]
fn datasets() -> Result<()> {
    let dataset = counted(4);
    assert_eq!((dataset.len(), dataset.is_empty()), (4, false));
    let (row, target) = dataset.get(3)?;
    assert_eq!((row.to_vec::<i64>()?, target.item::<i64>()?), (vec![6, 7], 3));
    assert_eq!(dataset.get(4).unwrap_err().kind(), ErrorKind::Index);
    let misfit = TensorDataset::new(Tensor::ones(&[2])?, Tensor::ones(&[3])?).unwrap_err();
    assert_eq!(misfit.kind(), ErrorKind::Shape);
    let flat = TensorDataset::new(Tensor::scalar(1)?, Tensor::scalar(1)?).unwrap_err();
    assert_eq!(flat.kind(), ErrorKind::Shape);
    Ok(())
}

/// The shuffled orders of tests/conformance/orders.txt, with and without workers.
#[test]
fn d4_orders_are_those_of_every_language() -> Result<()> {
    let table = include_str!("../../../../tests/conformance/orders.txt");
    for workers in [0, 2] {
        let mut loader = None;
        let mut rows = 0;
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            let [seed, count, size, pass, ref samples @ ..] = words[..] else { panic!("{line}") };
            if pass == 0 {
                let fresh = DataLoader::new(counted(count as i64)).batch_size(size as usize);
                loader =
                    Some(fresh.shuffle(true).workers(workers).generator(Generator::new(seed)?));
            }
            let found = targets(loader.as_ref().unwrap());
            assert!(found.iter().all(|batch| batch.len() <= size as usize));
            let expected: Vec<i64> = samples.iter().map(|&sample| sample as i64).collect();
            assert_eq!(found.concat(), expected, "{line}");
            rows += 1;
        }
        assert_eq!(rows, 12);
    }
    Ok(())
}

#[test]
fn p18_ranks_share_one_order_of_samples() {
    let samples = DistributedSampler::new(7, 3, 1).shuffle(false);
    assert_eq!(samples.positions().unwrap(), [1, 4, 0]);
    assert_eq!(samples.clone().drop_last(true).positions().unwrap(), [1, 4]);
    let ranks: Vec<_> = (0..3).map(|rank| DistributedSampler::new(9, 3, rank).seed(4)).collect();
    let order = |epoch| -> Vec<Vec<usize>> {
        ranks.iter().for_each(|sampler| sampler.set_epoch(epoch));
        ranks.iter().map(|sampler| sampler.positions().unwrap()).collect()
    };
    // Every language has the same.
    const ORDER: [[usize; 3]; 3] = [[0, 7, 8], [2, 4, 5], [6, 1, 3]];
    assert_eq!(order(1), ORDER);
    assert_ne!(order(0), order(1));
    let rows = Tensor::arange(0, 9).unwrap();
    let dataset = TensorDataset::new(rows.clone(), rows).unwrap();
    ranks[2].set_epoch(1);
    let loader = DataLoader::new(dataset).batch_size(2).sampler(&ranks[2]);
    let seen: Vec<i64> =
        loader.iter().flat_map(|batch| batch.unwrap().0.to_vec::<i64>().unwrap()).collect();
    assert_eq!(loader.len(), 2);
    assert_eq!(seen, ORDER[2].map(|position| position as i64));
    assert!(DistributedSampler::new(9, 3, 3).positions().is_err());
}
