// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Checkpoints, the library's hooks on saved tensors, deterministic mode.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tessera::autograd::{
    self, checkpoint, checkpoint_with, disable_saved_tensor_hooks, save_copies, save_on_device,
    save_to_disk,
};
use tessera::determinism::{
    deterministic_fill, deterministic_mode, nondeterministic_kernels, require_deterministic,
    set_deterministic_fill, set_deterministic_mode, DeterministicMode,
};
use tessera::{Device, ErrorKind, Generator, Result, Tensor};

/// A checkpoint saves and restores the state of the generator that all threads share, so tests with
/// checkpoints run one at a time.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn leaf(values: &[f64]) -> Tensor {
    Tensor::from(values).requiring_grad().unwrap()
}

fn grad_of(tensor: &Tensor) -> Vec<f64> {
    tensor.grad().unwrap().expect("a gradient").to_vec().unwrap()
}

fn block(inputs: &[Tensor]) -> Result<Tensor> {
    inputs[0].exp()?.sin()?.multiply(&inputs[1])
}

#[test]
fn p1_a_checkpoint_has_the_gradients_of_the_plain_call() -> Result<()> {
    let _turn = turn();
    let (x, w) = (leaf(&[0.1, 0.2]), leaf(&[3.0, 4.0]));
    block(&[x.clone(), w.clone()])?.sum()?.backward()?;
    let plain = (grad_of(&x), grad_of(&w));
    for early in [false, true] {
        x.set_grad(None)?;
        w.set_grad(None)?;
        let runs = Arc::new(AtomicUsize::new(0));
        let counter = runs.clone();
        let counted = move |inputs: &[Tensor]| {
            counter.fetch_add(1, Ordering::Relaxed);
            block(inputs)
        };
        let y = checkpoint_with(counted, &[&x, &w], |o| o.early_stop(early))?;
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        y.sum()?.backward()?;
        assert_eq!(runs.load(Ordering::Relaxed), 2);
        assert_eq!((grad_of(&x), grad_of(&w)), plain);
        assert_eq!(Arc::strong_count(&runs), 1, "the function went with the graph");
    }
    Ok(())
}

#[test]
fn p1_random_numbers_are_repeated() -> Result<()> {
    let _turn = turn();
    let x = leaf(&[0.5, 1.5, 2.5]);
    Generator::default_generator()?.seed(3)?;
    let y = checkpoint(|inputs| inputs[0].exp()?.dropout(), &[&x])?;
    y.sum()?.backward()?;
    let (found, expected) = (grad_of(&x), y.to_vec::<f64>()?);
    for (a, b) in found.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-12, "{found:?} {expected:?}");
    }
    Ok(())
}

#[test]
fn p1_checkpoints_nest_and_have_second_derivatives() -> Result<()> {
    let _turn = turn();
    let x = leaf(&[2.0]);
    let cube = |inputs: &[Tensor]| inputs[0].square()?.multiply(&inputs[0]);
    let y = checkpoint(move |inputs| checkpoint(cube, &[&inputs[0]]), &[&x])?.sum()?;
    let first = autograd::grad(&[&y], &[&x], &[], |o| o.create_graph(true))?;
    let first = first[0].as_ref().expect("a gradient").clone();
    assert_eq!(first.to_vec::<f64>()?, [12.0]);
    let second = autograd::grad(&[&first.sum()?], &[&x], &[], |o| o)?;
    assert_eq!(second[0].as_ref().expect("a gradient").to_vec::<f64>()?, [12.0]);
    Ok(())
}

#[test]
fn p1_different_runs_are_an_error() -> Result<()> {
    let _turn = turn();
    let x = leaf(&[2.0]);
    let runs = AtomicUsize::new(0);
    let fickle = move |inputs: &[Tensor]| match runs.fetch_add(1, Ordering::Relaxed) {
        0 => inputs[0].exp()?.sin(),
        _ => inputs[0].sin(),
    };
    let error = checkpoint(fickle, &[&x])?.sum()?.backward().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Autograd);
    assert!(error.message().contains("the second 1"), "{error}");
    Ok(())
}

#[test]
fn p1_the_hooks_of_the_library_keep_tensors_elsewhere() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let expected: Vec<f64> = x.exp()?.to_vec()?;
    let folder = std::env::temp_dir().join(format!("tessera_saved_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let y = {
        let _guard = save_to_disk(&folder, 0)?;
        x.exp()?
    };
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    y.sum()?.backward()?;
    assert_eq!(grad_of(&x), expected);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    std::fs::remove_dir(&folder).unwrap();
    assert_eq!(save_to_disk(&folder, 0).unwrap_err().kind(), ErrorKind::Io);

    x.set_grad(None)?;
    let y = {
        let _guard = save_copies()?;
        x.exp()?
    };
    y.detach()?.zero_()?;
    y.sum()?.backward()?;
    assert_eq!(grad_of(&x), expected);

    let y = {
        let _guard = save_on_device(Device::CPU, false)?; // it is there, so the check remains
        x.exp()?
    };
    y.detach()?.zero_()?;
    assert_eq!(y.sum()?.backward().unwrap_err().kind(), ErrorKind::Autograd);
    let _guard = disable_saved_tensor_hooks("no hooks here")?;
    assert!(save_copies().unwrap_err().message().contains("no hooks here"));
    Ok(())
}

#[test]
fn p1_a_backward_says_whether_it_reaches_all_leaves() -> Result<()> {
    assert_eq!(autograd::backward_reaches_all().unwrap_err().kind(), ErrorKind::Autograd);
    let x = leaf(&[1.0]);
    let y = x.exp()?;
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    y.register_hook(move |_| {
        count.fetch_add(usize::from(autograd::backward_reaches_all()?), Ordering::Relaxed);
        Ok(None)
    })?;
    let total = y.sum()?;
    autograd::grad(&[&total], &[&x], &[], |o| o.retain_graph(true))?;
    assert_eq!(seen.load(Ordering::Relaxed), 0);
    total.backward()?;
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    Ok(())
}

#[test]
fn p0_the_deterministic_mode_is_set_and_found() -> Result<()> {
    assert_eq!(set_deterministic_mode(DeterministicMode::On), DeterministicMode::Off);
    assert_eq!(deterministic_mode(), DeterministicMode::On);
    assert!(deterministic_fill());
    assert_eq!(require_deterministic("mine").unwrap_err().kind(), ErrorKind::NotImplemented);
    assert!(set_deterministic_fill(false));
    assert!(!set_deterministic_fill(true));
    assert_eq!(set_deterministic_mode(DeterministicMode::Off), DeterministicMode::On);
    require_deterministic("mine")?;
    assert!(nondeterministic_kernels()?.contains("\"gemm\""));
    Ok(())
}
