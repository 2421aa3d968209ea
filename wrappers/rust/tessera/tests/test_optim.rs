// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Optimizers against their formulas, written out in plain f64.

use tessera::nn::{Linear, Module, Relu, Sequential};
use tessera::optim::{clip_grad_norm, clip_grad_norm_with, clip_grad_value, clip_norm};
use tessera::optim::{Adam, AdamConfig, AdamW, Optimizer, Sgd, SgdConfig};
use tessera::{io, manual_seed, no_grad, DType, ErrorKind, Result, Tensor};

const START: [f64; 2] = [1.0, -2.0];

fn parameter() -> Tensor {
    Tensor::from(START).requiring_grad().unwrap()
}

/// The gradient of (p^4) / 4, which is p^3, set as if a backward had run.
fn set_gradient(p: &Tensor) -> Result<()> {
    let _guard = no_grad();
    p.set_grad(Some(&p.detach()?.pow(3)?))
}

fn run(optimizer: &mut dyn Optimizer, steps: usize) -> Result<Vec<f64>> {
    let p = optimizer.parameters()[0].clone();
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

fn sgd_by_hand(c: SgdConfig, rate: f64, steps: usize) -> Vec<f64> {
    let update = |mut p: f64| {
        let mut buffer = 0.0;
        for step in 0..steps {
            let mut g = if c.maximize { -p.powi(3) } else { p.powi(3) };
            g += c.weight_decay * p;
            if c.momentum != 0.0 {
                buffer = if step == 0 { g } else { c.momentum * buffer + (1.0 - c.dampening) * g };
                g = if c.nesterov { g + c.momentum * buffer } else { buffer };
            }
            p -= rate * g;
        }
        p
    };
    START.map(update).to_vec()
}

fn adam_by_hand(c: AdamConfig, decay: f64, decoupled: bool, rate: f64, steps: i32) -> Vec<f64> {
    let (b1, b2) = c.betas;
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
    let plain = SgdConfig::default();
    let configs = [
        plain,
        SgdConfig { weight_decay: 0.1, ..plain },
        SgdConfig { momentum: 0.9, ..plain },
        SgdConfig { momentum: 0.9, dampening: 0.5, weight_decay: 0.1, ..plain },
        SgdConfig { momentum: 0.9, nesterov: true, ..plain },
        SgdConfig { momentum: 0.5, maximize: true, ..plain },
    ];
    for config in configs {
        let rate = if config.maximize { 1e-3 } else { 0.02 };
        let mut optimizer = Sgd::new(vec![parameter()], rate, config)?;
        assert_close(&run(&mut optimizer, 20)?, &sgd_by_hand(config, rate, 20));
    }
    Ok(())
}

#[test]
fn twenty_steps_of_adam_match_the_formula() -> Result<()> {
    let plain = AdamConfig::default();
    let configs = [
        plain,
        AdamConfig { betas: (0.8, 0.99), eps: 1e-6, ..plain },
        AdamConfig { weight_decay: Some(0.1), ..plain },
        AdamConfig { amsgrad: true, ..plain },
        AdamConfig { maximize: true, ..plain },
    ];
    for c in configs {
        let mut adam = Adam::new(vec![parameter()], 0.05, c)?;
        let decay = c.weight_decay.unwrap_or(0.0);
        assert_close(&run(&mut adam, 20)?, &adam_by_hand(c, decay, false, 0.05, 20));
        let mut adamw = AdamW::new(vec![parameter()], 0.05, c)?;
        let decay = c.weight_decay.unwrap_or(0.01);
        assert_close(&run(&mut adamw, 20)?, &adam_by_hand(c, decay, true, 0.05, 20));
    }
    Ok(())
}

#[test]
fn parameters_without_a_gradient_stay() -> Result<()> {
    let (a, b) = (parameter(), parameter());
    let momentum = SgdConfig { momentum: 0.9, ..Default::default() };
    let mut sgd = Sgd::new(vec![a.clone(), b.clone()], 0.02, momentum)?;
    set_gradient(&a)?;
    sgd.step()?;
    assert_eq!(b.to_vec::<f64>()?, START);
    set_gradient(&a)?;
    set_gradient(&b)?;
    sgd.step()?; // the second step of one, the first of the other
    assert_close(&a.to_vec::<f64>()?, &sgd_by_hand(momentum, 0.02, 2));
    assert_close(&b.to_vec::<f64>()?, &sgd_by_hand(momentum, 0.02, 1));

    let (a, b) = (parameter(), parameter());
    let mut adam = Adam::new(vec![a.clone(), b.clone()], 0.05, AdamConfig::default())?;
    set_gradient(&a)?;
    adam.step()?;
    set_gradient(&a)?;
    set_gradient(&b)?;
    adam.step()?;
    let c = AdamConfig::default();
    assert_close(&a.to_vec::<f64>()?, &adam_by_hand(c, 0.0, false, 0.05, 2));
    assert_close(&b.to_vec::<f64>()?, &adam_by_hand(c, 0.0, false, 0.05, 1));
    Ok(())
}

#[test]
fn state_continues_where_it_was() -> Result<()> {
    fn check(make: impl Fn(Tensor) -> Box<dyn Optimizer>, name: &str) -> Result<()> {
        let whole = run(&mut *make(parameter()), 20)?;
        let mut first = make(parameter());
        run(&mut *first, 10)?;
        let half = first.parameters()[0].detach()?.deep_clone()?.requiring_grad()?;
        let mut second = make(half);
        let path = std::env::temp_dir().join(format!("tessera-{name}-{}", std::process::id()));
        io::save_file(&first.state_dict()?, &path)?;
        second.load_state_dict(&io::load_file(&path)?)?;
        std::fs::remove_file(path).unwrap();
        assert_eq!(run(&mut *second, 10)?, whole);
        Ok(())
    }
    let momentum = SgdConfig { momentum: 0.9, ..Default::default() };
    let amsgrad = AdamConfig { amsgrad: true, ..Default::default() };
    check(|p| Box::new(Sgd::new(vec![p], 0.02, momentum).unwrap()), "sgd")?;
    check(|p| Box::new(Adam::new(vec![p], 0.05, amsgrad).unwrap()), "adam")?;
    check(|p| Box::new(AdamW::new(vec![p], 0.05, amsgrad).unwrap()), "adamw")
}

#[test]
fn incomplete_states_are_refused() -> Result<()> {
    let mut adam = Adam::new(vec![parameter()], 0.05, AdamConfig::default())?;
    let state = io::TensorMap::from([("step.0".to_string(), Tensor::scalar(3i64)?)]);
    assert_eq!(adam.load_state_dict(&state).unwrap_err().kind(), ErrorKind::Value);
    let max_norm = AdamConfig { amsgrad: true, ..Default::default() };
    run(&mut adam, 1)?;
    let error = Adam::new(vec![parameter()], 0.05, max_norm)?
        .load_state_dict(&adam.state_dict()?)
        .unwrap_err();
    assert!(error.message().contains("max_exp_avg_sq.0"), "{error}");
    Ok(())
}

#[test]
fn states_of_others_are_refused_and_change_nothing() -> Result<()> {
    let config = SgdConfig { momentum: 0.9, ..Default::default() };
    let mut sgd = Sgd::new(vec![parameter()], 0.1, config)?;
    run(&mut sgd, 2)?;
    let mut adam = Adam::new(vec![parameter()], 0.1, AdamConfig::default())?;
    run(&mut adam, 2)?;
    let text = |state: io::TensorMap| format!("{state:?}");
    let (of_sgd, of_adam) = (sgd.state_dict()?, adam.state_dict()?);
    let error = sgd.load_state_dict(&of_adam).unwrap_err();
    assert!(
        error.message().contains(r#"unexpected: ["exp_avg.0", "exp_avg_sq.0", "step.0"]"#),
        "{error}"
    );
    assert_eq!(adam.load_state_dict(&of_sgd).unwrap_err().kind(), ErrorKind::Value);
    let mut longer = of_adam.clone();
    longer.insert("exp_avg_sq.0".into(), Tensor::zeros(&[3])?);
    let error = adam.load_state_dict(&longer).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    assert!(error.message().contains("exp_avg_sq.0: the parameter has shape [2]"), "{error}");
    longer.insert("exp_avg.1".into(), Tensor::zeros(&[2])?);
    assert_eq!(adam.load_state_dict(&longer).unwrap_err().kind(), ErrorKind::Value);
    assert_eq!(text(sgd.state_dict()?), text(of_sgd));
    assert_eq!(text(adam.state_dict()?), text(of_adam));
    Ok(())
}

#[test]
fn learning_rates_can_be_scheduled() -> Result<()> {
    let mut sgd = Sgd::new(vec![parameter()], 0.5, SgdConfig::default())?;
    sgd.set_learning_rate(0.0);
    assert_eq!((run(&mut sgd, 3)?, sgd.learning_rate()), (START.to_vec(), 0.0));
    let mut adam = AdamW::new(vec![parameter()], 0.5, AdamConfig::default())?;
    adam.set_learning_rate(0.0);
    assert_eq!((run(&mut adam, 3)?, adam.learning_rate()), (START.to_vec(), 0.0));
    Ok(())
}

/// A parameter that holds a gradient.
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
    let adam = Adam::new(vec![parameter()], 0.1, AdamConfig::default())?;
    let found = format!("{adam:?}");
    assert!(found.starts_with("Adam(1 parameters, rate=0.1, AdamConfig { betas: (0.9"), "{found}");
    let sgd = format!("{:?}", Sgd::new(vec![parameter()], 0.5, SgdConfig::default())?);
    assert!(sgd.starts_with("Sgd(1 parameters, rate=0.5, SgdConfig { momentum: 0.0"), "{sgd}");
    Ok(())
}

#[test]
fn wrong_options_are_refused() -> Result<()> {
    let value = |result: Result<Sgd>| assert_eq!(result.unwrap_err().kind(), ErrorKind::Value);
    let plain = SgdConfig::default();
    let p = parameter();
    value(Sgd::new(vec![], 0.1, plain));
    value(Sgd::new(vec![&p * 2], 0.1, plain));
    value(Sgd::new(vec![p.clone(), p.clone()], 0.1, plain));
    value(Sgd::new(vec![p.clone()], -0.1, plain));
    value(Sgd::new(vec![p.clone()], f64::NAN, plain));
    value(Sgd::new(vec![p.clone()], 0.1, SgdConfig { nesterov: true, ..plain }));
    let betas = AdamConfig { betas: (1.0, 0.9), ..Default::default() };
    assert_eq!(Adam::new(vec![p], 0.1, betas).unwrap_err().kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn a_small_network_learns() -> Result<()> {
    manual_seed(1)?;
    let x = Tensor::rand(&[64, 3])?;
    let y = x.matmul(&Tensor::from([[1.0f32], [-2.0], [0.5]]))?;
    let model = Sequential::new().with(Linear::new(3, 16)?).with(Relu).with(Linear::new(16, 1)?);
    let mut optimizer = Adam::new(model.parameters(), 1e-2, AdamConfig::default())?;
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
