// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Optimizers against their formulas, written out in plain f64.

use std::slice::from_ref;
use tessera::nn::{Linear, Module, Relu, Sequential};
use tessera::optim::{clip_grad_norm, clip_grad_norm_with, clip_grad_value, clip_norm};
use tessera::optim::{
    Adadelta, Adagrad, Adam, AdamW, Adamax, Asgd, Lamb, Lion, Muon, NAdam, Optimizer, RAdam,
    RmsProp, Rprop, Rule, Sgd,
};
use tessera::{manual_seed, no_grad, DType, ErrorKind, Result, Tensor};

const START: [f64; 2] = [1.0, -2.0];

fn parameter() -> Tensor {
    Tensor::from(START).requiring_grad().unwrap()
}

/// The gradient of (p^4) / 4, which is p^3, set as if a backward had run.
fn set_gradient(p: &Tensor) -> Result<()> {
    let _guard = no_grad();
    p.set_grad(Some(&p.detach()?.pow(3)?))
}

fn run<R: Rule>(optimizer: &mut Optimizer<R>, steps: usize) -> Result<Vec<f64>> {
    let p = optimizer.parameters(0)?[0].clone();
    for _ in 0..steps {
        optimizer.zero_grad()?;
        set_gradient(&p)?;
        optimizer.step()?;
    }
    p.to_vec()
}

fn assert_close(found: &[f64], expected: &[f64]) {
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-10, "{found:?} and {expected:?}");
    }
}

fn sgd_by_hand(c: Sgd, steps: usize) -> Vec<f64> {
    let update = |mut p: f64| {
        let mut buffer = 0.0;
        for step in 0..steps {
            let mut g = if c.maximize { -p.powi(3) } else { p.powi(3) };
            g += c.weight_decay * p;
            if c.momentum != 0.0 {
                buffer = if step == 0 { g } else { c.momentum * buffer + (1.0 - c.dampening) * g };
                g = if c.nesterov { g + c.momentum * buffer } else { buffer };
            }
            p -= c.lr * g;
        }
        p
    };
    START.map(update).to_vec()
}

fn adam_by_hand(c: Adam, decoupled: bool, steps: i32) -> Vec<f64> {
    let (b1, b2, rate, decay) = (c.beta1, c.beta2, c.lr, c.weight_decay);
    let update = |mut p: f64| {
        let (mut m, mut v, mut largest) = (0.0, 0.0, 0.0f64);
        for step in 1..=steps {
            let mut g = if c.maximize { -p.powi(3) } else { p.powi(3) };
            if decoupled {
                p -= rate * decay * p;
            } else {
                g += decay * p;
            }
            m = b1 * m + (1.0 - b1) * g;
            v = b2 * v + (1.0 - b2) * g * g;
            largest = largest.max(v);
            let second: f64 = if c.amsgrad { largest } else { v };
            let root = (second / (1.0 - b2.powi(step))).sqrt() + c.eps;
            p -= rate * (m / (1.0 - b1.powi(step))) / root;
        }
        p
    };
    START.map(update).to_vec()
}

#[test]
fn twenty_steps_of_sgd_match_the_formula() -> Result<()> {
    let plain = Sgd { lr: 0.02, ..Default::default() };
    let rules = [
        plain,
        Sgd { weight_decay: 0.1, ..plain },
        Sgd { momentum: 0.9, ..plain },
        Sgd { momentum: 0.9, dampening: 0.5, weight_decay: 0.1, ..plain },
        Sgd { momentum: 0.9, nesterov: true, ..plain },
        Sgd { momentum: 0.5, maximize: true, lr: 1e-3, ..plain },
    ];
    for rule in rules {
        let mut optimizer = Optimizer::new(rule, &[parameter()])?;
        assert_close(&run(&mut optimizer, 20)?, &sgd_by_hand(rule, 20));
    }
    Ok(())
}

#[test]
fn twenty_steps_of_adam_match_the_formula() -> Result<()> {
    let plain = Adam { lr: 0.05, ..Default::default() };
    let rules = [
        plain,
        Adam { beta1: 0.8, beta2: 0.99, eps: 1e-6, ..plain },
        Adam { weight_decay: 0.1, ..plain },
        Adam { amsgrad: true, ..plain },
        Adam { maximize: true, ..plain },
    ];
    for rule in rules {
        let mut adam = Optimizer::new(rule, &[parameter()])?;
        assert_close(&run(&mut adam, 20)?, &adam_by_hand(rule, false, 20));
        let Adam { lr, beta1, beta2, eps, weight_decay, amsgrad, maximize } = rule;
        let decoupled = AdamW { lr, beta1, beta2, eps, weight_decay, amsgrad, maximize };
        let mut adamw = Optimizer::new(decoupled, &[parameter()])?;
        assert_close(&run(&mut adamw, 20)?, &adam_by_hand(rule, true, 20));
    }
    Ok(())
}

#[test]
fn parameters_without_a_gradient_stay() -> Result<()> {
    let (a, b) = (parameter(), parameter());
    let momentum = Sgd { lr: 0.02, momentum: 0.9, ..Default::default() };
    let mut sgd = Optimizer::new(momentum, &[a.clone(), b.clone()])?;
    set_gradient(&a)?;
    sgd.step()?;
    assert_eq!(b.to_vec::<f64>()?, START);
    set_gradient(&a)?;
    set_gradient(&b)?;
    sgd.step()?; // the second step of one, the first of the other
    assert_close(&a.to_vec::<f64>()?, &sgd_by_hand(momentum, 2));
    assert_close(&b.to_vec::<f64>()?, &sgd_by_hand(momentum, 1));
    Ok(())
}

#[test]
fn gradients_may_be_given() -> Result<()> {
    let (a, b) = (parameter(), parameter());
    let rule = Sgd { lr: 0.5, ..Default::default() };
    let mut sgd = Optimizer::new(rule, &[a.clone(), b.clone()])?;
    sgd.step_with(&[Some(&Tensor::from([2.0, 2.0])), None])?;
    assert_eq!((a.to_vec::<f64>()?, b.to_vec::<f64>()?), (vec![0.0, -3.0], START.to_vec()));
    assert_eq!(sgd.step_with(&[None]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn groups_have_their_own_rules() -> Result<()> {
    let (a, b) = (parameter(), parameter());
    let slow = Sgd { lr: 0.5, ..Default::default() };
    let mut sgd = Optimizer::new(slow, from_ref(&a))?;
    sgd.add_group(Sgd { lr: 1.0, ..slow }, from_ref(&b))?;
    assert_eq!((sgd.group_count(), sgd.rule(1)?.lr), (2, 1.0));
    a.set_grad(Some(&Tensor::from([1.0, 1.0])))?;
    b.set_grad(Some(&Tensor::from([1.0, 1.0])))?;
    sgd.step()?;
    assert_eq!((a.to_vec::<f64>()?, b.to_vec::<f64>()?), (vec![0.5, -2.5], vec![0.0, -3.0]));
    sgd.set_rule(0, Sgd { lr: 0.25, ..slow })?;
    sgd.set_parameters(1, &[])?;
    sgd.step()?;
    assert_eq!((a.to_vec::<f64>()?, b.to_vec::<f64>()?), (vec![0.25, -2.75], vec![0.0, -3.0]));
    assert_eq!(sgd.rule(2).unwrap_err().kind(), ErrorKind::Index);
    sgd.zero_grad()?;
    assert!(a.grad()?.is_none());
    Ok(())
}

/// Every kind, saved after some steps and resumed by one with the defaults.
#[test]
fn state_continues_where_it_was() -> Result<()> {
    fn check<R: Rule>(rule: R) -> Result<()> {
        let start = || Tensor::from([[1.0, -2.0]]).requiring_grad();
        let whole = run(&mut Optimizer::new(rule, &[start()?])?, 10)?;
        let mut first = Optimizer::new(rule, &[start()?])?;
        run(&mut first, 5)?;
        let half = || first.parameters(0)?[0].detach()?.deep_clone()?.requiring_grad();
        let path = std::env::temp_dir().join(format!(
            "tessera-optimizer-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        first.save(&path)?;
        let mut second = Optimizer::new(R::default(), &[half()?])?;
        second.load(&path)?;
        std::fs::remove_file(&path).unwrap();
        let mut third = Optimizer::new(R::default(), &[half()?])?;
        third.load_state(&first.state()?)?;
        assert_eq!(run(&mut second, 5)?, whole);
        assert_eq!(run(&mut third, 5)?, whole);
        assert_eq!(second.load(&path).unwrap_err().kind(), ErrorKind::Io);
        Ok(())
    }
    check(Sgd { lr: 0.02, momentum: 0.9, ..Default::default() })?;
    check(Adam { lr: 0.05, amsgrad: true, ..Default::default() })?;
    check(AdamW { lr: 0.05, maximize: true, ..Default::default() })?;
    check(RmsProp { lr: 0.05, centered: true, momentum: 0.5, ..Default::default() })?;
    check(Adagrad { lr: 0.05, lr_decay: 0.1, ..Default::default() })?;
    check(Adadelta { rho: 0.8, ..Default::default() })?;
    check(Adamax { weight_decay: 0.1, ..Default::default() })?;
    check(NAdam { momentum_decay: 0.1, ..Default::default() })?;
    check(RAdam { beta2: 0.9, ..Default::default() })?;
    check(Lamb { lr: 0.05, ..Default::default() })?;
    check(Lion { lr: 0.05, ..Default::default() })?;
    check(Rprop { lr: 0.05, etaplus: 1.5, ..Default::default() })?;
    check(Asgd { lr: 0.05, weight_decay: 0.1, ..Default::default() })?;
    check(Muon { ns_steps: 3, ..Default::default() })
}

#[test]
fn states_of_others_are_refused_and_change_nothing() -> Result<()> {
    let mut sgd = Optimizer::new(Sgd { momentum: 0.9, ..Default::default() }, &[parameter()])?;
    run(&mut sgd, 2)?;
    let mut adam = Optimizer::new(Adam::default(), &[parameter()])?;
    run(&mut adam, 2)?;
    let before = format!("{:?}", adam.state()?);
    let error = adam.load_state(&sgd.state()?).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Value);
    assert!(error.message().contains("expected the state of adam, got that of sgd"), "{error}");
    let mut wrong = adam.state()?;
    wrong.tensors.insert("0.0.exp_avg_sq".into(), Tensor::zeros(&[3])?);
    assert_eq!(adam.load_state(&wrong).unwrap_err().kind(), ErrorKind::Shape);
    wrong.tensors.remove("0.0.exp_avg_sq");
    let error = adam.load_state(&wrong).unwrap_err();
    assert!(error.message().contains("expected also '0.0.exp_avg_sq'"), "{error}");
    assert_eq!(format!("{:?}", adam.state()?), before);
    Ok(())
}

#[test]
fn learning_rates_can_be_scheduled() -> Result<()> {
    let mut sgd = Optimizer::new(Sgd::default(), &[parameter()])?;
    sgd.set_lr(0.0)?;
    assert_eq!((run(&mut sgd, 3)?, sgd.rule(0)?.lr), (START.to_vec(), 0.0));
    assert_eq!(sgd.set_lr(-1.0).unwrap_err().kind(), ErrorKind::Value);
    Ok(())
}

/// A parameter with a gradient.
fn with_gradient(gradient: &[f64]) -> Result<Tensor> {
    let parameter = Tensor::ones_with(&[gradient.len() as i64], |o| o.dtype(DType::F64))?;
    parameter.set_requires_grad(true)?;
    parameter.set_grad(Some(&Tensor::from_vec(gradient.to_vec(), &[gradient.len() as i64])?))?;
    Ok(parameter)
}

fn gradient_of(parameter: &Tensor) -> Result<Vec<f64>> {
    parameter.grad()?.expect("a gradient").to_vec()
}

#[test]
fn clip_grad_norm_scales_all_gradients() -> Result<()> {
    let parameters = [with_gradient(&[3.0, 0.0])?, Tensor::ones(&[1])?, with_gradient(&[4.0])?];
    let norm = clip_grad_norm(&parameters, 1.0)?;
    assert_eq!(norm.item::<f64>()?, 5.0);
    let scale = 1.0 / (5.0 + 1e-6); // PyTorch's guard against a norm of 0
    assert_close(&gradient_of(&parameters[0])?, &[3.0 * scale, 0.0]);
    assert_close(&gradient_of(&parameters[2])?, &[4.0 * scale]);
    assert_eq!(parameters[0].to_vec::<f64>()?, [1.0, 1.0]);
    assert!(parameters[1].grad()?.is_none());
    let endless = [with_gradient(&[f64::INFINITY])?];
    let error = clip_grad_norm_with(&endless, 1.0, |o| o.error_if_nonfinite(true)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Value);
    assert_eq!(gradient_of(&endless[0])?, [f64::INFINITY]);
    Ok(())
}

#[test]
fn clip_grad_value_clips_each_element() -> Result<()> {
    let parameter = with_gradient(&[3.0, -8.0])?;
    clip_grad_value(&[&parameter], 2.0)?;
    assert_eq!(gradient_of(&parameter)?, [2.0, -2.0]);
    assert_eq!(parameter.to_vec::<f64>()?, [1.0, 1.0]);
    Ok(())
}

#[test]
fn clip_norm_takes_tensors_and_refuses_leaves() -> Result<()> {
    let tensors = [Tensor::from([3.0]), Tensor::from([4.0])];
    assert_eq!(clip_norm(&tensors, 1.0)?.item::<f64>()?, 5.0);
    assert_close(&tensors[1].to_vec::<f64>()?, &[4.0 / (5.0 + 1e-6)]);
    let leaf = with_gradient(&[3.0, 4.0])?;
    assert_eq!(clip_norm(&[&leaf], 1.0).unwrap_err().kind(), ErrorKind::Autograd);
    let _guard = no_grad();
    clip_norm(&[&leaf], 1.0)?;
    Ok(())
}

#[test]
fn optimizers_print_without_elements() -> Result<()> {
    let sgd =
        format!("{:?}", Optimizer::new(Sgd { lr: 0.5, ..Default::default() }, &[parameter()])?);
    assert!(sgd.starts_with("Optimizer([Sgd { lr: 0.5, momentum: 0.0"), "{sgd}");
    Ok(())
}

#[test]
fn wrong_options_are_refused() -> Result<()> {
    let value = |result: Result<Optimizer<Sgd>>| {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Value);
    };
    let plain = Sgd::default();
    let p = parameter();
    value(Optimizer::new(plain, &[]));
    value(Optimizer::new(plain, &[&p * 2]));
    value(Optimizer::new(plain, &[p.clone(), p.clone()]));
    value(Optimizer::new(Sgd { lr: -0.1, ..plain }, from_ref(&p)));
    value(Optimizer::new(Sgd { lr: f64::NAN, ..plain }, from_ref(&p)));
    value(Optimizer::new(Sgd { nesterov: true, ..plain }, from_ref(&p)));
    let error = Optimizer::new(Adam { beta1: 1.0, ..Default::default() }, &[p]).unwrap_err();
    assert!(
        error.message().contains("adam: expected a number from 0 below 1 for beta1"),
        "{error}"
    );
    Ok(())
}

#[test]
fn a_small_network_learns() -> Result<()> {
    manual_seed(1)?;
    let x = Tensor::rand(&[64, 3])?;
    let y = x.matmul(&Tensor::from([[1.0f32], [-2.0], [0.5]]))?;
    let model = Sequential::new().with(Linear::new(3, 16)?).with(Relu).with(Linear::new(16, 1)?);
    let rule = Adam { lr: 1e-2, ..Default::default() };
    let mut optimizer = Optimizer::new(rule, &model.parameters())?;
    let mut losses = Vec::new();
    for _ in 0..200 {
        optimizer.zero_grad()?;
        let loss = model.forward(&x)?.mse_loss(&y)?;
        loss.backward()?;
        optimizer.step()?;
        losses.push(loss.item::<f64>()?);
    }
    assert!(losses[199] < 0.02 * losses[0], "{} and {}", losses[0], losses[199]);
    Ok(())
}
