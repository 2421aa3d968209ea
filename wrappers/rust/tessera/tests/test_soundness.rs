// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Programs without `unsafe` that break the rules: they may get errors or unspecified elements, but
//! no undefined behaviour. The sanitizers find more here than the assertions.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use tessera::amp::GradScaler;
use tessera::autograd::{is_grad_enabled, saved_tensor_hooks, NodeBuilder, SavedHooksGuard};
use tessera::data_parallel::DataParallel;
use tessera::optim::{Optimizer, Sgd};
use tessera::{DType, ErrorKind, Result, Tensor};

/// Runs `work` while another thread runs `disturb` again and again, `most` times.
fn disturbed(
    most: usize,
    disturb: impl Fn() -> Result<()> + Sync,
    work: impl Fn() -> Result<()>,
) -> Result<()> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| -> Result<()> {
            (0..most).take_while(|_| !stop.load(Ordering::Relaxed)).try_for_each(|_| disturb())
        });
        let outcome = work();
        stop.store(true, Ordering::Relaxed);
        other.join().expect("no panic").and(outcome)
    })
}

#[test]
fn positions_written_behind_the_graph_are_refused() -> Result<()> {
    let x = Tensor::rand(&[1, 1, 4, 4])?.requiring_grad()?;
    for wrong in [1i64 << 40, -2, 16] {
        let (maxima, positions) = x.max_pool2d_with_positions(&[2, 2])?;
        // Memory that comes back through DLPack has a version counter of its own.
        Tensor::try_from(positions.to_dlpack()?)?.fill_(wrong)?;
        let error = maxima.sum()?.backward().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Index, "{error}");
        assert!(error.message().contains(&wrong.to_string()), "{error}");
    }
    Ok(())
}

#[test]
fn bools_are_true_or_false_also_when_nobody_wrote_them() -> Result<()> {
    for length in [100, 5000, 200_000] {
        drop(Tensor::full_with(&[length], 255, |o| o.dtype(DType::U8))?); // leaves its bytes behind
        let bools = Tensor::empty_with(&[length], |o| o.dtype(DType::Bool))?;
        let like = Tensor::zeros(&[length])?.empty_like_with(|o| o.dtype(DType::Bool))?;
        for bools in [bools, like] {
            assert_eq!(bools.count_nonzero()?.item::<i64>()?, 0);
            assert_eq!(bools.i(&bools)?.numel(), 0);
        }
    }
    Ok(())
}

#[test]
fn masks_written_while_they_select() -> Result<()> {
    let mask = Tensor::zeros_with(&[150_000], |o| o.dtype(DType::Bool))?;
    let x = Tensor::rand(&[150_000])?;
    let ends = [mask.i(..20)?, mask.i(140_000..)?];
    let disturb = || {
        mask.fill_(true)?;
        ends.iter().try_for_each(|end| end.fill_(false).map(|_| ()))?;
        mask.fill_(false).map(|_| ())
    };
    disturbed(10_000, disturb, || {
        for _ in 0..100 {
            let picked = x.i(&mask)?;
            assert!(picked.numel() <= 150_000);
            for places in mask.nonzero()? {
                assert!(places.to_vec::<i64>()?.iter().all(|place| (0..150_000).contains(place)));
            }
            assert_eq!(ends[0].argwhere()?.size(1), 1);
        }
        Ok(())
    })
}

#[test]
fn destinations_of_another_shape_while_others_read_them() -> Result<()> {
    let (small, large) = (Tensor::ones(&[3])?, Tensor::ones(&[70_000, 3])?);
    let dst = Tensor::zeros(&[3])?;
    let disturb = || {
        let error = large.add_out(&small, &dst).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Shape, "{error}");
        small.add_out(&small, &dst)
    };
    disturbed(1_000, disturb, || {
        for _ in 0..20_000 {
            assert_eq!((dst.negative()?.shape(), dst.shape()), (vec![3], vec![3]));
        }
        Ok(())
    })?;
    disturb()?;
    assert_eq!(dst.to_vec::<f32>()?, [2.0; 3]);
    Ok(())
}

#[test]
fn indices_written_while_they_are_used() -> Result<()> {
    let index = Tensor::zeros_with(&[20_000], |o| o.dtype(DType::I64))?;
    let (x, y) = (Tensor::zeros(&[16])?, Tensor::zeros(&[16, 2])?);
    let (ones, pairs) = (Tensor::ones(&[20_000])?, Tensor::ones(&[20_000, 2])?);
    let disturb = || {
        index.fill_(1i64 << 40)?;
        index.fill_(3).map(|_| ())
    };
    disturbed(10_000, disturb, || {
        for _ in 0..150 {
            // Each call may succeed or fail.
            let _ = (x.i(&index), y.i((&index, 1)), y.i((&index, &index)), y.i(&index));
            let _ = (x.set(&index, &ones), y.set(&index, &pairs), y.index_select(0, &index));
            let _ = x.scatter_add(0, &index, &ones);
        }
        Ok(())
    })
}

#[test]
fn tensors_written_and_hooked_while_others_read_them() -> Result<()> {
    let w = Tensor::rand(&[4])?.requiring_grad()?;
    for _ in 0..20 {
        let x = w.multiply(2)?;
        let view = x.i(..2)?;
        let disturb = || {
            x.add_(&w)?;
            x.retain_grad()?;
            w.register_hook(|_| Ok(None))?.remove()?;
            w.register_post_accumulate_hook(|_| Ok(()))?.remove()
        };
        disturbed(100, disturb, || {
            for _ in 0..50 {
                x.grad_fn()?.map(|node| node.name()).transpose()?;
                view.exp()?;
                x.exp()?.sum()?.backward_with(None, |o| o.retain_graph(true))?;
                w.register_hook(|_| Ok(None))?.remove()?;
                w.set_grad(None)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn hooks_registered_by_several_threads() -> Result<()> {
    for _ in 0..10 {
        let w = Tensor::rand(&[4])?.requiring_grad()?;
        let hook =
            || -> Result<()> { (0..200).try_for_each(|_| w.register_hook(|_| Ok(None))?.remove()) };
        let derive = || -> Result<()> {
            (0..50).try_for_each(|_| {
                w.sum()?.backward()?;
                w.set_grad(None)
            })
        };
        std::thread::scope(|scope| {
            let threads = [scope.spawn(hook), scope.spawn(hook), scope.spawn(hook)];
            derive()?;
            threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
        })?;
    }
    Ok(())
}

thread_local! {
    static KEPT: RefCell<Option<SavedHooksGuard>> = const { RefCell::new(None) };
}

#[test]
fn saved_tensor_hooks_that_end_or_begin_in_their_own_closure() -> Result<()> {
    // On a separate thread: the hooks of the first round stay until the thread ends.
    let rounds = || -> Result<()> {
        let x = Tensor::from([1.0, 2.0]).requiring_grad()?;
        for keep in [false, true] {
            let pack = move |tensor: &Tensor| {
                assert!(!is_grad_enabled());
                if keep {
                    let guard = saved_tensor_hooks(|t| Ok(t.clone()), |t: &Tensor| Ok(t.clone()))?;
                    KEPT.replace(Some(guard));
                } else {
                    KEPT.take();
                }
                Ok(tensor.clone())
            };
            KEPT.replace(Some(saved_tensor_hooks(pack, |t: &Tensor| Ok(t.clone()))?));
            let y = x.square()?;
            let noise: Vec<Tensor> =
                (0..50).map(|n| Tensor::full(&[3], n)).collect::<Result<_>>()?;
            y.exp()?.sum()?.backward()?;
            x.set_grad(None)?;
            KEPT.take();
            drop(noise);
        }
        Ok(())
    };
    std::thread::spawn(rounds).join().expect("no panic")
}

/// Registers hooks when it is dropped.
struct Pushes;

impl Drop for Pushes {
    fn drop(&mut self) {
        let guard = saved_tensor_hooks(|t| Ok(t.clone()), |t: &Tensor| Ok(t.clone()));
        std::mem::forget(guard);
    }
}

#[test]
fn saved_tensor_hooks_that_push_others_when_they_go() -> Result<()> {
    let rounds = || -> Result<()> {
        let x = Tensor::from([1.0, 2.0]).requiring_grad()?;
        for _ in 0..3 {
            let pushes = Pushes;
            let pack = move |tensor: &Tensor| {
                let _ = &pushes;
                Ok(tensor.clone())
            };
            drop(saved_tensor_hooks(pack, |t: &Tensor| Ok(t.clone()))?);
            x.square()?.exp()?.sum()?.backward()?;
        }
        Ok(())
    };
    std::thread::spawn(rounds).join().expect("no panic")
}

#[test]
fn nothing_saved_is_an_error_and_no_tensor() -> Result<()> {
    let x = Tensor::ones(&[2])?.requiring_grad()?;
    let y = x.detach()?.deep_clone()?;
    let node = NodeBuilder::new("Nothing", &[&x], |context, grads| {
        context.saved(0)?;
        Ok(grads.to_vec())
    })?;
    node.save(&[None])?;
    node.attach(&[&y])?;
    let error = y.sum()?.backward().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Value, "{error}");
    Ok(())
}

/// Whether `T` can be cloned: the constant of the type, if it has it, hides that of the trait.
#[allow(dead_code)] // only its constants are used
struct Probe<T>(PhantomData<T>);

trait Otherwise {
    const CLONES: bool = false;
}

impl<T> Otherwise for Probe<T> {}

impl<T: Clone> Probe<T> {
    const CLONES: bool = true;
}

/// What one thread at a time may use is changed through `&mut`, which a clone would get around.
#[test]
fn what_is_not_locked_has_one_owner() {
    const { assert!(Probe::<Tensor>::CLONES) };
    const { assert!(!Probe::<GradScaler>::CLONES) };
    const { assert!(!Probe::<DataParallel>::CLONES) };
    const { assert!(!Probe::<Optimizer<Sgd>>::CLONES) };
}
