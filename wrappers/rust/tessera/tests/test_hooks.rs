// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Hooks on nodes and on several tensors, edges of the graph (row A9), and how to avoid cycles.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use tessera::autograd::{
    backward_to_edges, custom_function, grad, grad_at_edges, register_any_grad_hook,
    register_multi_grad_hook, GradientEdge,
};
use tessera::{Error, ErrorKind, Result, Tensor};

fn leaf(values: &[f64]) -> Tensor {
    Tensor::from(values).requiring_grad().unwrap()
}

fn values(tensor: &Tensor) -> Vec<f64> {
    tensor.to_vec().unwrap()
}

fn grad_of(tensor: &Tensor) -> Vec<f64> {
    values(&tensor.grad().unwrap().expect("a gradient"))
}

type Log = Arc<Mutex<String>>;

fn note(log: &Log, what: char) {
    log.lock().unwrap().push(what);
}

#[test]
fn a9_order_is_tensor_hook_prehook_node_posthook() -> Result<()> {
    let log = Log::default();
    let x = leaf(&[1.0]);
    let noted = log.clone();
    let y = custom_function(
        "Noted",
        &[&x],
        |_| Ok(vec![&x * 1.0]),
        move |_, grads| {
            note(&noted, 'n');
            Ok(grads.to_vec())
        },
    )?
    .remove(0);
    let node = y.grad_fn()?.unwrap();
    let (a, b, c) = (log.clone(), log.clone(), log.clone());
    node.register_hook(move |_, _| {
        note(&a, 'p');
        Ok(None)
    })?;
    node.register_prehook(move |_| {
        note(&b, 'b');
        Ok(None)
    })?;
    y.register_hook(move |_| {
        note(&c, 't');
        Ok(None)
    })?;
    y.backward()?;
    assert_eq!(*log.lock().unwrap(), "tbnp");
    Ok(())
}

#[test]
fn a9_hooks_of_nodes_replace_and_are_removed() -> Result<()> {
    let x = leaf(&[1.0, 2.0]);
    let y = &x * 3.0;
    let total = y.sum()?;
    let node = y.grad_fn()?.unwrap();
    let before =
        node.register_prehook(|grads| Ok(Some(vec![grads[0].as_ref().map(|g| g * 10.0)])))?;
    let after = node.register_hook(|results, grads| {
        assert_eq!(values(grads[0].as_ref().unwrap()), [10.0, 10.0]);
        Ok(Some(results.iter().map(|r| r.as_ref().map(|r| r + 1.0)).collect()))
    })?;
    total.backward_with(None, |o| o.retain_graph(true))?;
    assert_eq!(grad_of(&x), [31.0, 31.0]);
    before.remove()?;
    after.remove()?;
    x.set_grad(None)?;
    total.backward()?;
    assert_eq!(grad_of(&x), [3.0, 3.0]);
    Ok(())
}

#[test]
fn a9_errors_and_panics_of_hooks_come_back() -> Result<()> {
    let x = leaf(&[1.0]);
    let y = &x * 3.0;
    let node = y.grad_fn()?.unwrap();
    let retained = || y.backward_with(None, |o| o.retain_graph(true));
    let own = || Error::new(ErrorKind::Io, "mine");
    let hook = node.register_prehook(move |_| Err(own()))?;
    assert_eq!(retained().unwrap_err().kind(), ErrorKind::Io);
    hook.remove()?;
    let hook = register_multi_grad_hook(&[&x, &y], move |_| Err(own()))?;
    assert_eq!(retained().unwrap_err().kind(), ErrorKind::Io);
    hook.remove()?;
    let hook = node.register_hook(|_, _| panic!("out of the hook"))?;
    let panic = catch_unwind(AssertUnwindSafe(retained)).unwrap_err();
    assert_eq!(*panic.downcast_ref::<&str>().unwrap(), "out of the hook");
    hook.remove()?;
    let hook = node.register_prehook(|_| Ok(Some(vec![])))?;
    assert_eq!(retained().unwrap_err().kind(), ErrorKind::Autograd);
    hook.remove()?;
    retained()
}

#[test]
fn a9_multi_hooks_run_once_in_each_backward() -> Result<()> {
    let (x, y, unused) = (leaf(&[1.0]), leaf(&[2.0]), leaf(&[3.0]));
    let log = Log::default();
    let (a, b) = (log.clone(), log.clone());
    let all = register_multi_grad_hook(&[&x, &y, &unused], move |grads| {
        grads.iter().for_each(|g| note(&a, if g.is_some() { '1' } else { '0' }));
        Ok(())
    })?;
    let any = register_any_grad_hook(&[&unused, &x], move |grad| {
        assert_eq!(values(grad), [2.0]);
        note(&b, 'a');
        Ok(())
    })?;
    for _ in 0..2 {
        (&x * &y).backward()?;
    }
    assert_eq!(*log.lock().unwrap(), "a110a110");
    all.remove()?;
    any.remove()?;
    (&x * &y).backward()?;
    assert_eq!(*log.lock().unwrap(), "a110a110");
    let refused = register_multi_grad_hook(&[&x, &Tensor::ones(&[1])?], |_| Ok(()));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Autograd);
    Ok(())
}

#[test]
fn a9_edges_are_inputs_of_grad_and_backward() -> Result<()> {
    let x = leaf(&[2.0]);
    let y = &x * &x;
    let z = &y * 5.0;
    let edges = [x.gradient_edge()?, y.gradient_edge()?];
    let grads = grad_at_edges(&[&z], &edges, &[], |o| o.retain_graph(true))?;
    assert_eq!(values(grads[0].as_ref().unwrap()), [20.0]);
    assert_eq!(values(grads[1].as_ref().unwrap()), [5.0]);
    backward_to_edges(&[&z], &[], &edges[1..], |o| o.retain_graph(true))?;
    assert!(x.grad()?.is_none());
    backward_to_edges(&[&z], &[], &edges[..1], |o| o.retain_graph(true))?;
    assert_eq!(grad_of(&x), [20.0]);
    let wrong = GradientEdge { output: 1, ..edges[0].clone() };
    let refused = grad_at_edges(&[&z], &[wrong], &[], |o| o);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(Tensor::ones(&[1])?.gradient_edge().unwrap_err().kind(), ErrorKind::Autograd);
    Ok(())
}

#[test]
fn a9_accumulator_keeps_its_hooks_while_it_is_held() -> Result<()> {
    let x = leaf(&[1.0]);
    let edge = x.gradient_edge()?;
    edge.node.register_prehook(|grads| Ok(Some(vec![grads[0].as_ref().map(|g| g * 10.0)])))?;
    (&x * 2.0).backward()?;
    assert_eq!(grad_of(&x), [20.0]);
    drop(edge);
    (&x * 2.0).backward()?;
    assert_eq!(grad_of(&x), [22.0]);
    Ok(())
}

#[test]
fn a9_version_says_that_memory_has_changed() -> Result<()> {
    let y = leaf(&[1.0]).exp()?;
    y.increment_version()?;
    assert_eq!(y.backward().unwrap_err().kind(), ErrorKind::Autograd);
    Ok(())
}

#[test]
fn a9_hooks_of_a_node_run_for_recorded_gradients() -> Result<()> {
    let x = leaf(&[3.0]);
    let y = &x * &x;
    let weight = x.clone();
    let hook = y
        .grad_fn()?
        .unwrap()
        .register_prehook(move |grads| Ok(Some(vec![grads[0].as_ref().map(|g| g * &weight)])))?;
    let first = grad(&[&y], &[&x], &[], |o| o.create_graph(true))?.remove(0).unwrap();
    let second = grad(&[&first], &[&x], &[], |o| o)?.remove(0).unwrap();
    assert_eq!((values(&first), values(&second)), (vec![18.0], vec![12.0]));
    hook.remove()
}

// ---- Cycles ----

struct Model {
    weight: Tensor,
    calls: Mutex<i32>,
}

fn model() -> Arc<Model> {
    Arc::new(Model { weight: leaf(&[1.0]), calls: Mutex::new(0) })
}

#[test]
fn a9_hook_with_a_weak_reference_does_not_keep_its_module() -> Result<()> {
    let made = model();
    let weak = Arc::downgrade(&made);
    let inside = weak.clone();
    made.weight.register_hook(move |_| {
        *inside.upgrade().unwrap().calls.lock().unwrap() += 1;
        Ok(None)
    })?;
    (&made.weight * 2.0).backward()?;
    assert_eq!(*made.calls.lock().unwrap(), 1);
    drop(made);
    assert!(weak.upgrade().is_none());
    Ok(())
}

#[test]
fn a9_hook_with_a_strong_reference_keeps_its_module_until_it_is_removed() -> Result<()> {
    let made = model();
    let weak = Arc::downgrade(&made);
    let inside = made.clone();
    let hook = made.weight.register_hook(move |_| {
        *inside.calls.lock().unwrap() += 1;
        Ok(None)
    })?;
    drop(made);
    assert!(weak.upgrade().is_some());
    hook.remove()?;
    assert!(weak.upgrade().is_none());
    Ok(())
}
