// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Differentiation: backward, modes, hooks, custom functions, and panics and errors of callbacks.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tessera::autograd::{self, custom_function, gradcheck, saved_tensor_hooks, NodeBuilder};
use tessera::{enable_grad, inference_mode, no_grad, Ambient, DType, Device, DeviceType};
use tessera::{Error, ErrorKind, Generator, Result, Tensor};

fn leaf(values: &[f64]) -> Tensor {
    Tensor::from(values).requiring_grad().unwrap()
}

fn grad_of(tensor: &Tensor) -> Vec<f64> {
    tensor.grad().unwrap().expect("a gradient").to_vec().unwrap()
}

#[test]
fn backward_accumulates_into_leaves() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    assert!(x.grad()?.is_none());
    (&x * &x).sum()?.backward()?;
    (&x * &x).sum()?.backward()?;
    assert_eq!(grad_of(&x), [4.0, 8.0]);
    x.set_grad(None)?;
    assert!(x.grad()?.is_none());
    Ok(())
}

#[test]
fn backward_needs_a_scalar_or_a_gradient() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let y = &x * 3;
    assert_eq!(y.backward().unwrap_err().kind(), ErrorKind::Autograd);
    y.backward_with(Some(&Tensor::from([1.0, 10.0])), |o| o)?;
    assert_eq!(grad_of(&x), [3.0, 30.0]);
    Ok(())
}

#[test]
fn a_graph_runs_once_unless_retained() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let y = (&x * &x).sum()?;
    y.backward_with(None, |o| o.retain_graph(true))?;
    y.backward()?;
    assert_eq!(y.backward().unwrap_err().kind(), ErrorKind::Autograd);
    assert_eq!(grad_of(&x), [4.0, 8.0]);
    Ok(())
}

#[test]
fn backward_with_inputs_touches_only_those() -> Result<()> {
    let (x, w) = (leaf(&[1.0]), leaf(&[2.0]));
    autograd::backward(&[&x * &w], &[], &[&x], |o| o)?;
    assert_eq!(grad_of(&x), [2.0]);
    assert!(w.grad()?.is_none());
    Ok(())
}

#[test]
fn grad_returns_and_changes_nothing() -> Result<()> {
    let (x, unused) = (leaf(&[3.0]), leaf(&[1.0]));
    let y = x.pow(3)?.sum()?;
    let found = autograd::grad(&[&y], &[&x, &unused], &[], |o| o.allow_unused(true))?;
    assert_eq!(found[0].as_ref().unwrap().to_vec::<f64>()?, [27.0]);
    assert!(found[1].is_none() && x.grad()?.is_none());
    let y = x.pow(3)?.sum()?;
    let refused = autograd::grad(&[&y], &[&unused], &[], |o| o).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Autograd);
    Ok(())
}

#[test]
fn modes_nest_and_restore() -> Result<()> {
    assert!(autograd::is_grad_enabled());
    {
        let _outer = no_grad();
        assert!(!autograd::is_grad_enabled());
        {
            let _inner = enable_grad();
            assert!(autograd::is_grad_enabled());
        }
        assert!(!autograd::is_grad_enabled());
        assert!(!(leaf(&[1.0]) * 2).requires_grad());
    }
    assert!(autograd::is_grad_enabled());
    Ok(())
}

#[test]
fn modes_end_with_a_panic() {
    let panicked = catch_unwind(|| {
        let _guard = no_grad();
        panic!("on the way");
    });
    assert!(panicked.is_err() && autograd::is_grad_enabled());
}

#[test]
fn inference_mode_makes_inference_tensors() -> Result<()> {
    let x = leaf(&[1.0]);
    let y = {
        let _guard = inference_mode();
        assert!(autograd::is_inference_mode());
        &x * 2
    };
    assert!(y.is_inference() && !autograd::is_inference_mode());
    Ok(())
}

#[test]
fn modes_belong_to_the_thread() -> Result<()> {
    let _guard = no_grad();
    let ambient = Ambient::save()?;
    std::thread::spawn(move || -> Result<()> {
        assert!(autograd::is_grad_enabled());
        {
            let _entered = ambient.enter()?;
            assert!(!autograd::is_grad_enabled());
        }
        assert!(autograd::is_grad_enabled());
        ambient.restore()?;
        assert!(!autograd::is_grad_enabled());
        Ok(())
    })
    .join()
    .unwrap()
}

#[test]
fn ambient_takes_device_and_generator_along() -> Result<()> {
    let (mine, same) = (Generator::new(7)?, Generator::new(7)?);
    let ambient = {
        let _device = Device::CPU.enter()?;
        let _generator = mine.enter()?;
        Ambient::save()?
    };
    let expected = Tensor::rand_with(&[4], |o| o.generator(&same))?;
    let there = std::thread::spawn(move || -> Result<Tensor> {
        let _entered = ambient.enter()?;
        assert_eq!(Device::current_default()?, Device::CPU);
        Tensor::rand(&[4])
    });
    assert_eq!(there.join().unwrap()?.to_vec::<f32>()?, expected.to_vec::<f32>()?);
    assert_eq!(Device::new(DeviceType::Cpu, 5).enter().unwrap_err().kind(), ErrorKind::Device);
    Ok(())
}

#[test]
fn requires_grad_rules() -> Result<()> {
    let counted = Tensor::from([1, 2]);
    assert_eq!(counted.set_requires_grad(true).unwrap_err().kind(), ErrorKind::Dtype);
    let x = leaf(&[1.0]);
    let y = &x * 2;
    assert!(x.is_leaf()? && !y.is_leaf()?);
    assert_eq!(y.set_requires_grad(false).unwrap_err().kind(), ErrorKind::Autograd);
    assert_eq!(x.add_(1).unwrap_err().kind(), ErrorKind::Autograd);
    let misfit = x.set_grad(Some(&Tensor::from([1.0, 2.0]))).unwrap_err();
    assert_eq!(misfit.kind(), ErrorKind::Shape);
    Ok(())
}

#[test]
fn retain_grad() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let y = &x * 2;
    assert!(!y.retains_grad()?);
    y.retain_grad()?;
    assert!(y.retains_grad()?);
    (&y * &y).sum()?.backward()?;
    assert_eq!(grad_of(&y), [4.0, 8.0]);
    Ok(())
}

#[test]
fn changed_saved_tensors_are_noticed() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let y = &x * 1;
    let z = (&y * &y).sum()?;
    y.add_(1)?;
    assert_eq!(z.backward().unwrap_err().kind(), ErrorKind::Autograd);
    Ok(())
}

#[test]
fn graph_can_be_walked() -> Result<()> {
    let x = leaf(&[1.0]);
    assert!(x.grad_fn()?.is_none());
    let y = (&x * 2).exp()?;
    let node = y.grad_fn()?.expect("a computed tensor");
    assert_eq!((node.name()?, format!("{node:?}")), ("ExpBackward".into(), "<ExpBackward>".into()));
    let next = node.next()?;
    let (before, output) = next[0].clone().expect("x wants a gradient");
    assert_eq!((next.len(), output), (1, 0));
    assert!(before.sequence()? < node.sequence()?);
    let (accumulate, _) = before.next()?[0].clone().expect("the leaf");
    assert!(accumulate.variable()?.expect("of a leaf").is_same(&x));
    assert!(node.variable()?.is_none());
    Ok(())
}

#[test]
fn hooks_see_and_replace_gradients() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let store = seen.clone();
    let first = x.register_hook(move |grad| {
        store.lock().unwrap().push(grad.to_vec::<f64>()?);
        Ok(None)
    })?;
    let second = x.register_hook(|grad| Ok(Some(grad * 10)))?;
    (&x * 3).sum()?.backward()?;
    assert_eq!(*seen.lock().unwrap(), [[3.0, 3.0]]);
    assert_eq!(grad_of(&x), [30.0, 30.0]);
    second.remove()?;
    first.remove()?;
    (&x * 3).sum()?.backward()?;
    assert_eq!((seen.lock().unwrap().len(), grad_of(&x)), (1, vec![33.0, 33.0]));
    Ok(())
}

#[test]
fn post_accumulate_hooks_see_the_leaf() -> Result<()> {
    let x = leaf(&[1.0]);
    let sum = Arc::new(Mutex::new(0.0));
    let store = sum.clone();
    x.register_post_accumulate_hook(move |leaf| {
        *store.lock().unwrap() += leaf.grad()?.expect("brought up to date").item::<f64>()?;
        Ok(())
    })?;
    (&x * 3).sum()?.backward()?;
    (&x * 3).sum()?.backward()?;
    assert_eq!(*sum.lock().unwrap(), 3.0 + 6.0);
    let refused = (&x * 1).register_post_accumulate_hook(|_| Ok(())).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Autograd);
    Ok(())
}

#[test]
fn errors_and_panics_pass_through_as_themselves() -> Result<()> {
    let x = leaf(&[1.0]);
    let hook = x.register_hook(|_| Err(Error::new(ErrorKind::Cancelled, "enough")))?;
    let error = (&x * 2).sum()?.backward().unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Cancelled, "enough"));
    hook.remove()?;
    let hook = x.register_hook(|grad| grad.reshape(&[7]).map(Some))?;
    let error = (&x * 2).sum()?.backward().unwrap_err();
    assert_eq!((error.kind(), error.operation()), (ErrorKind::Shape, "reshape"));
    hook.remove()?;
    x.register_hook(|_| std::panic::panic_any(42u32))?;
    let y = (&x * 2).sum()?;
    let panic = catch_unwind(AssertUnwindSafe(|| y.backward())).unwrap_err();
    assert_eq!(panic.downcast_ref::<u32>(), Some(&42));
    assert!(x.grad()?.is_none());
    Ok(())
}

#[test]
fn callbacks_run_when_the_backward_ends() -> Result<()> {
    let x = leaf(&[1.0]);
    let ran = Arc::new(AtomicUsize::new(0));
    let count = ran.clone();
    x.register_hook(move |_| {
        let count = count.clone();
        autograd::on_backward_end(move || {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })?;
        Ok(None)
    })?;
    (&x * 2).sum()?.backward()?;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    let outside = autograd::on_backward_end(|| Ok(())).unwrap_err();
    assert_eq!(outside.kind(), ErrorKind::Autograd);
    Ok(())
}

#[test]
fn backward_inside_a_hook() -> Result<()> {
    let (x, inner) = (leaf(&[1.0]), leaf(&[5.0]));
    let other = inner.clone();
    x.register_hook(move |_| {
        let _guard = enable_grad(); // a backward does not record
        (&other * &other).sum()?.backward()?;
        Ok(None)
    })?;
    (&x * 2).sum()?.backward()?;
    assert_eq!((grad_of(&x), grad_of(&inner)), (vec![2.0], vec![10.0]));
    Ok(())
}

/// x * y and x + y, with a custom derivative.
fn product_and_sum(x: &Tensor, y: &Tensor) -> Result<(Tensor, Tensor)> {
    let outputs = custom_function(
        "ProductAndSum",
        &[x, y],
        |saver| {
            saver.save(x);
            saver.save(y);
            Ok(vec![x * y, x + y])
        },
        |context, grads| {
            let (x, y) = (context.saved(0)?, context.saved(1)?);
            let [Some(product), Some(sum)] = grads else { panic!("two gradients") };
            let by_y = context.needs_input_grad(1)?.then(|| product * &x + sum);
            Ok(vec![Some(product * &y + sum), by_y])
        },
    )?;
    let [product, sum] = <[Tensor; 2]>::try_from(outputs).expect("two outputs");
    Ok((product, sum))
}

#[test]
fn the_forward_knows_which_gradients_will_be_asked_for() -> Result<()> {
    let (x, y) = (leaf(&[2.0]), Tensor::from([5.0]));
    let needs = |inputs: &[&Tensor]| -> Result<Vec<bool>> {
        let mut found = vec![];
        custom_function(
            "Sum",
            inputs,
            |saver| {
                found = (0..3).map(|index| saver.needs_input_grad(index)).collect();
                Ok(vec![inputs[0] + inputs[1]])
            },
            |_, grads| Ok(vec![grads[0].clone(), grads[0].clone()]),
        )?;
        Ok(found)
    };
    assert_eq!(needs(&[&x, &y])?, [true, false, false]);
    assert_eq!(needs(&[&y, &x])?, [false, true, false]);
    let _guard = no_grad();
    assert_eq!(needs(&[&x, &x])?, [false, false, false]);
    Ok(())
}

#[test]
fn function_of_several_inputs_and_outputs() -> Result<()> {
    let (x, y) = (leaf(&[2.0, 3.0]), leaf(&[5.0, 7.0]));
    let (product, sum) = product_and_sum(&x, &y)?;
    assert_eq!(product.grad_fn()?.unwrap().name()?, "ProductAndSum");
    (product.sum()? + sum.sum()? * 10).backward()?;
    assert_eq!(grad_of(&x), [15.0, 17.0]);
    assert_eq!(grad_of(&y), [12.0, 13.0]);
    let (product, _) = product_and_sum(&x, &Tensor::from([1.0, 1.0]))?;
    x.set_grad(None)?;
    product.sum()?.backward()?; // the sum's gradient is zero
    assert_eq!(grad_of(&x), [1.0, 1.0]);
    Ok(())
}

#[test]
fn gradcheck_finds_wrong_derivatives() -> Result<()> {
    let (x, y) = (leaf(&[2.0, 3.0]), leaf(&[5.0, 7.0]));
    let product = |inputs: &[&Tensor]| Ok(product_and_sum(inputs[0], inputs[1])?.0);
    gradcheck(product, &[&x, &y])?;
    gradcheck(|inputs| inputs[0].exp(), &[&x, &y])?; // y is not used
    let wrong = |inputs: &[&Tensor]| {
        let x = inputs[0];
        let outputs = custom_function(
            "Wrong",
            inputs,
            |_| Ok(vec![x * 2]),
            |_, grads| Ok(vec![grads[0].as_ref().map(|grad| grad * 3)]),
        )?;
        Ok(outputs.into_iter().next().expect("one output"))
    };
    let error = gradcheck(wrong, &[&x]).unwrap_err();
    assert!(error.message().starts_with("gradcheck: input 0, element 0: "), "{error}");
    assert_eq!(x.to_vec::<f64>()?, [2.0, 3.0]);
    let refused = gradcheck(|inputs| inputs[0].exp(), &[&Tensor::from([1.0])]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Dtype);
    let refused = gradcheck(|inputs| inputs[0].astype(DType::F32), &[&x]).unwrap_err();
    assert!(refused.message().contains("expected a float64 output, got float32"), "{refused}");
    let panicking = |inputs: &[&Tensor]| {
        assert!(autograd::is_grad_enabled(), "differences are not recorded");
        inputs[0].exp()
    };
    let panicked = catch_unwind(AssertUnwindSafe(|| gradcheck(panicking, &[&x])));
    assert!(panicked.is_err() && x.to_vec::<f64>()? == [2.0, 3.0]);
    Ok(())
}

#[test]
fn functions_have_second_derivatives() -> Result<()> {
    let (x, y) = (leaf(&[2.0]), leaf(&[5.0]));
    let (product, _) = product_and_sum(&x, &y)?;
    let first = autograd::grad(&[product.square()?], &[&x], &[None], |o| o.create_graph(true))?;
    let first = first[0].as_ref().unwrap(); // 2 x y^2
    first.backward()?;
    assert_eq!((first.item::<f64>()?, grad_of(&x), grad_of(&y)), (100.0, vec![50.0], vec![40.0]));
    Ok(())
}

#[test]
fn mark_dirty_returns_the_same_object() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let y = &x * 1;
    let outputs = custom_function(
        "DoubleInPlace",
        &[&y],
        |saver| {
            y.multiply_(2)?;
            saver.mark_dirty(&y);
            Ok(vec![y.clone()])
        },
        |_, grads| Ok(vec![grads[0].as_ref().map(|grad| grad * 2)]),
    )?;
    assert!(outputs[0].is_same(&y));
    y.sum()?.backward()?;
    assert_eq!(grad_of(&x), [2.0, 2.0]);
    Ok(())
}

#[test]
fn mark_non_differentiable() -> Result<()> {
    let x = leaf(&[3.0, 1.0]);
    let outputs = custom_function(
        "Sorted",
        &[&x],
        |saver| {
            let (values, order) = x.sort_with_indices()?;
            saver.mark_non_differentiable(&order);
            Ok(vec![values, order])
        },
        |_, grads| Ok(vec![grads[0].clone()]),
    )?;
    assert!(outputs[0].requires_grad() && !outputs[1].requires_grad());
    Ok(())
}

#[test]
fn undefined_gradients_are_zeros_or_none() -> Result<()> {
    let x = leaf(&[1.0]);
    for undefined in [false, true] {
        let outputs = custom_function(
            "Two",
            &[&x],
            |saver| {
                if undefined {
                    saver.set_options(|o| o.undefined_grads());
                }
                Ok(vec![&x * 1, &x * 1])
            },
            move |_, grads| {
                assert_eq!(grads[1].is_none(), undefined);
                Ok(vec![grads[0].clone()])
            },
        )?;
        outputs[0].backward()?;
    }
    assert_eq!(grad_of(&x), [2.0]);
    Ok(())
}

#[test]
fn once_differentiable_refuses_a_second_derivative() -> Result<()> {
    let x = leaf(&[2.0]);
    let outputs = custom_function(
        "Square",
        &[&x],
        |saver| {
            saver.set_options(|o| o.once_differentiable());
            saver.save(&x);
            Ok(vec![&x * &x])
        },
        |context, grads| Ok(vec![Some(context.saved(0)? * grads[0].as_ref().unwrap() * 2)]),
    )?;
    let first = autograd::grad(&[&outputs[0]], &[&x], &[], |o| o.create_graph(true))?;
    let first = first[0].as_ref().unwrap();
    assert_eq!(first.item::<f64>()?, 4.0);
    assert_eq!(first.backward().unwrap_err().kind(), ErrorKind::Autograd);
    Ok(())
}

#[test]
fn wrong_backwards_are_errors() -> Result<()> {
    let x = leaf(&[1.0]);
    let too_many =
        custom_function("TooMany", &[&x], |_| Ok(vec![&x * 1]), |_, _| Ok(vec![None, None]))?;
    let error = too_many[0].backward().unwrap_err();
    assert!(error.message().contains("TooMany: expected 1 gradients"), "{error}");
    assert!(error.message().contains("got 2"), "{error}");
    let pair = leaf(&[1.0, 2.0]);
    let wrong_shape = custom_function(
        "WrongShape",
        &[&pair],
        |_| Ok(vec![&pair * 1]),
        |_, _| Ok(vec![Some(Tensor::zeros(&[4])?)]),
    )?;
    assert_eq!(wrong_shape[0].sum()?.backward().unwrap_err().kind(), ErrorKind::Autograd);
    let panicking = custom_function(
        "Panicking",
        &[&x],
        |_| Ok(vec![&x * 1]),
        |context, _| {
            context.saved(0)?;
            unreachable!()
        },
    )?;
    assert_eq!(panicking[0].backward().unwrap_err().kind(), ErrorKind::Index);
    let refused = custom_function(
        "Refused",
        &[&x],
        |_| Err(Error::new(ErrorKind::Value, "no forward")),
        |_, _| Ok(vec![None]),
    );
    assert_eq!(refused.unwrap_err().message(), "no forward");
    Ok(())
}

#[test]
fn view_that_became_differentiable_says_so_and_gets_its_gradient() -> Result<()> {
    let w = leaf(&[1.0, 2.0]);
    let base = Tensor::from([0.0, 0.0]);
    let view = base.narrow(0, 0, 2)?;
    assert!(!view.requires_grad());
    base.add_(&w)?;
    assert!(view.requires_grad() && !view.is_leaf()?);
    let doubled = custom_function(
        "Double",
        &[&view],
        |_| Ok(vec![(&view * 2).detach()?]),
        |_, grads| Ok(vec![Some(grads[0].as_ref().unwrap() * 2)]),
    )?;
    doubled[0].sum()?.backward()?;
    assert_eq!(grad_of(&w), [2.0, 2.0]);
    Ok(())
}

#[test]
fn view_made_without_recording_cannot_be_written_with_it() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let y = &x * 1;
    for base in [&x, &y] {
        let view = {
            let _guard = no_grad();
            base.narrow(0, 0, 1)?
        };
        assert_eq!(view.multiply_(2).unwrap_err().kind(), ErrorKind::Autograd);
        assert_eq!(base.detach()?.to_vec::<f64>()?, [1.0, 2.0]);
    }
    Ok(())
}

#[test]
fn saved_tensors_of_a_used_graph_are_errors() -> Result<()> {
    let x = leaf(&[1.0]);
    let y = custom_function(
        "Double",
        &[&x],
        |saver| {
            saver.save(&x);
            Ok(vec![(&x * 2).detach()?])
        },
        |context, grads| {
            context.saved(0)?;
            Ok(vec![Some(grads[0].as_ref().unwrap() * 2)])
        },
    )?;
    y[0].backward()?;
    let error = y[0].backward().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Autograd);
    assert!(error.to_string().contains("retain_graph"), "{error}");
    Ok(())
}

#[test]
fn leaf_frozen_after_the_forward_receives_nothing() -> Result<()> {
    let w = leaf(&[1.0, 2.0]);
    let y = (&w * 2).sum()?;
    w.set_requires_grad(false)?;
    y.backward()?;
    assert!(w.grad()?.is_none());
    Ok(())
}

#[test]
fn nodes_can_be_built_by_hand() -> Result<()> {
    let x = leaf(&[2.0]);
    let y = {
        let _guard = no_grad();
        &x * &x
    };
    let node = NodeBuilder::new("Square", &[&x], |context, grads| {
        Ok(vec![Some(context.saved(0)? * grads[0].as_ref().unwrap() * 2)])
    })?;
    assert!(node.needs_input_grad(0)?);
    node.save(&[Some(&x), None])?;
    node.attach(&[&y])?;
    y.backward()?;
    assert_eq!(grad_of(&x), [4.0]);
    Ok(())
}

#[test]
fn saved_tensor_hooks_pack_and_unpack() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let calls = Arc::new(Mutex::new(Vec::new()));
    let (packed, unpacked) = (calls.clone(), calls.clone());
    let y = {
        let _guard = saved_tensor_hooks(
            move |tensor| {
                packed.lock().unwrap().push("pack");
                tensor.to_vec::<f64>()
            },
            move |values: &Vec<f64>| {
                unpacked.lock().unwrap().push("unpack");
                Tensor::from_vec(values.clone(), &[2])
            },
        )?;
        (x.exp()? * 2).sum()?
    };
    let z = x.exp()?; // saved as it is
    y.backward()?;
    z.sum()?.backward()?;
    let exp = [1f64.exp(), 2f64.exp()];
    assert_eq!(grad_of(&x), exp.map(|value| 3.0 * value));
    assert_eq!(*calls.lock().unwrap(), ["pack", "unpack"]);
    drop(y);
    assert_eq!(Arc::strong_count(&calls), 1, "the closures went with the last packed tensor");
    Ok(())
}

#[test]
fn failures_of_saved_tensor_hooks_pass_through() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    {
        let refuse = |_: &Tensor| -> Result<()> { Err(Error::new(ErrorKind::Io, "disk full")) };
        let _guard = saved_tensor_hooks(refuse, |()| unreachable!())?;
        assert_eq!(x.exp().unwrap_err().message(), "disk full");
    }
    let y = {
        let _guard = saved_tensor_hooks(|_| Ok(()), |()| Tensor::zeros(&[7]))?;
        x.exp()?.sum()?
    };
    assert_eq!(y.backward().unwrap_err().kind(), ErrorKind::Autograd);
    let y = {
        let _guard = saved_tensor_hooks(|_| Ok(()), |()| std::panic::panic_any("gone"))?;
        x.exp()?.sum()?
    };
    let panic = catch_unwind(AssertUnwindSafe(|| y.backward())).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"gone"));
    Ok(())
}

#[test]
fn threads_run_backward_at_once() -> Result<()> {
    let w = leaf(&[1.0, 2.0]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let w = &w;
            scope.spawn(move || {
                for _ in 0..100 {
                    (w * w).sum().unwrap().backward().unwrap();
                }
            });
        }
    });
    assert_eq!(grad_of(&w), [800.0, 1600.0]);
    Ok(())
}
