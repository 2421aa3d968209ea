// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Data-parallel training on two threads: the wrapper's own part.

use std::collections::BTreeMap;
use std::time::Duration;
use tessera::amp::GradScaler;
use tessera::data_parallel::{
    load_shards, save_shards, shards_index, DataParallel, DataParallelOptions, ShardedOptimizer,
    Slice, SliceMap,
};
use tessera::distributed::{Group, GroupOptions};
use tessera::io::TensorMap;
use tessera::nn::{BatchNorm1d, Module};
use tessera::optim::{Adam, Optimizer, Scheduler};
use tessera::{Result, Tensor};

/// Runs the body as rank 0 and 1.
fn on_two_ranks(address: &str, body: impl Fn(Group) -> Result<()> + Sync) {
    std::thread::scope(|scope| {
        for rank in 0..2 {
            let body = &body;
            scope.spawn(move || {
                let options = GroupOptions {
                    rank: Some(rank),
                    size: Some(2),
                    timeout: Duration::from_secs(60),
                    address,
                    ..Default::default()
                };
                body(Group::new("threads", &options).unwrap()).unwrap();
            });
        }
    });
}

fn leaf() -> Result<Tensor> {
    let tensor = Tensor::from_slice(&[1.0f32, 2.0, 3.0], &[3])?;
    tensor.set_requires_grad(true)?;
    Ok(tensor)
}

fn first_gradient(parallel: &mut DataParallel, w: &Tensor, factor: f64) -> Result<f32> {
    w.set_grad(None)?;
    parallel.forward(|| (w * factor).sum())?.backward()?;
    Ok(w.grad()?.expect("a gradient").to_vec::<f32>()?[0])
}

#[test]
fn gradients_are_averages_over_the_ranks() {
    on_two_ranks("rust data parallel", |group| {
        let (w, factor) = (leaf()?, (group.rank() + 1) as f64);
        let mut parallel = DataParallel::new(&group, std::slice::from_ref(&w), &[])?;
        assert_eq!(first_gradient(&mut parallel, &w, factor)?, 1.5);
        assert!(parallel.set_sync(false)?);
        assert_eq!(first_gradient(&mut parallel, &w, factor)?, factor as f32);
        assert!(!parallel.set_sync(true)?);
        assert_eq!(first_gradient(&mut parallel, &w, factor)?, 1.5);
        assert!(parallel.report()?.contains("\"kind\":\"launched\""));
        assert!(parallel.end_join().is_err());
        parallel.begin_join(true, false)?;
        for _ in 0..=group.rank() {
            first_gradient(&mut parallel, &w, factor)?;
        }
        parallel.end_join()?;
        let norm = BatchNorm1d::new(2)?;
        norm.buffers()[0].add_(group.rank())?;
        let _of_module = DataParallel::of(&group, &norm)?;
        assert_eq!(norm.buffers()[0].to_vec::<f32>()?, [0.0, 0.0], "the buffers are rank 0's");
        let wrong = DataParallelOptions { bucket_bytes: 0, ..Default::default() };
        assert!(DataParallel::with(&group, &[w], &[], wrong).is_err());
        Ok(())
    });
}

#[test]
fn states_of_an_optimizer_are_divided_and_gathered() {
    on_two_ranks("rust sharded", |group| {
        let params = [leaf()?, leaf()?];
        let mut sharded = ShardedOptimizer::new(Optimizer::new(Adam::default(), &params)?, &group)?;
        for param in &params {
            param.set_grad(Some(&Tensor::ones(&[3])?))?;
        }
        sharded.step()?;
        assert_eq!(params[0].to_vec::<f32>()?, params[1].to_vec::<f32>()?);
        assert!(sharded.report()?.contains("\"state_bytes\":24"));
        assert_eq!(sharded.gather(Some(1))?.is_some(), group.rank() == 1);
        let whole = sharded.gather(None)?.expect("on every rank");
        assert_eq!(whole.state()?.tensors.len(), 6);

        // Options, gradients and state are reached without giving the optimizer away.
        let mut scheduler =
            Scheduler::new(&mut sharded, |base: f64, step| base / (step + 1) as f64)?;
        scheduler.step(&mut sharded)?;
        assert_eq!(sharded.optimizer().lr(0)?, Adam::default().lr / 2.0);
        sharded.set_rule(0, Adam { lr: 0.5, ..Default::default() })?;
        assert_eq!(sharded.optimizer().rule(0)?.lr, 0.5);
        sharded.load_state(&whole.state()?)?;
        assert_eq!(sharded.optimizer().lr(0)?, Adam::default().lr);
        sharded.set_lr(0.25)?;
        assert_eq!(sharded.optimizer().lr(0)?, 0.25);
        let mut scaler = GradScaler::new()?;
        scaler.scale(&Tensor::ones(&[])?)?;
        sharded.unscale(&mut scaler)?;
        assert!(!scaler.found_inf(sharded.optimizer())?);
        assert_eq!(params[0].grad()?.unwrap().to_vec::<f32>()?[0], 1.0 / 65536.0);
        sharded.zero_grad()?;
        assert!(params[0].grad()?.is_none());
        Ok(())
    });
}

#[test]
fn checkpoints_are_written_together_and_read_by_one() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("rust_shards.{}", std::process::id()));
    on_two_ranks("rust shards", |group| {
        let part = &Tensor::ones(&[2, 3])? * group.rank() as f64;
        let slice = Slice { offset: vec![2 * group.rank() as i64, 0], shape: vec![4, 3] };
        save_shards(
            &TensorMap::from([("w".to_string(), part)]),
            &folder,
            Some(&group),
            &SliceMap::from([("w".to_string(), slice)]),
            &BTreeMap::from([("made".to_string(), "here".to_string())]),
        )
    });
    let whole = TensorMap::from([("w".to_string(), Tensor::zeros(&[4, 3])?)]);
    load_shards(&whole, &folder, &SliceMap::new())?;
    assert_eq!(whole["w"].sum()?.item::<f64>()?, 6.0);
    assert!(shards_index(&folder)?.contains("\"made\": \"here\""));
    let other = TensorMap::from([("v".to_string(), Tensor::zeros(&[4, 3])?)]);
    assert!(load_shards(&other, &folder, &SliceMap::new()).is_err());
    std::fs::remove_dir_all(&folder).unwrap();
    Ok(())
}
