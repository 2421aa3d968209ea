// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Layers, optimizers and distributions that are made of operators, against the values of
//! tests/conformance/formulas.txt.

use std::collections::BTreeMap;
use std::{slice, thread};
use tessera::distributed::{Group, GroupOptions};
use tessera::distributions::{
    kl_divergence, Bernoulli, Beta, Categorical, Dirichlet, Distribution, Exponential, Gamma,
    MultivariateNormal, Normal, Uniform,
};
use tessera::nn::{
    AdaptiveLogSoftmaxWithLoss, BatchNorm1d, BatchNorm1dConfig, CircularPad1d, CircularPad2d,
    CircularPad3d, ConstantPad1d, ConstantPad2d, ConstantPad3d, FractionalMaxPool2d,
    FractionalMaxPool3d, Linear, Module, Reduction, ReflectionPad1d, ReflectionPad2d,
    ReflectionPad3d, ReplicationPad1d, ReplicationPad2d, ReplicationPad3d, SyncBatchNorm,
    TripletMarginWithDistanceLoss, ZeroPad1d, ZeroPad2d, ZeroPad3d,
};
use tessera::optim::{AveragedModel, Lbfgs, LbfgsOptions};
use tessera::{no_grad, DType, ErrorKind, Generator, Result, Tensor};

const TABLE: &str = include_str!("../../../../tests/conformance/formulas.txt");

fn table() -> BTreeMap<&'static str, Vec<f64>> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let mut words = line.split(' ');
        (words.next().unwrap(), words.map(|word| word.parse().unwrap()).collect())
    };
    lines.map(row).collect()
}

/// Compares a tensor with a row.
#[track_caller]
fn check(name: &str, found: &Tensor) -> Result<()> {
    let expected = &table()[name];
    let found = found.detach()?.astype(DType::F64)?.to_vec::<f64>()?;
    assert_eq!(found.len(), expected.len(), "{name}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{name}: {a} and {b}");
    }
    Ok(())
}

/// The text of an error of this kind.
#[track_caller]
fn message<T>(kind: ErrorKind, found: Result<T>) -> String {
    let error = found.err().expect("an error");
    assert_eq!(error.kind(), kind, "{error}");
    error.to_string()
}

/// The numbers sin(0.7 k + phase), as in make_formulas.py.
fn wave(shape: &[i64], phase: f64) -> Result<Tensor> {
    let count: i64 = shape.iter().product();
    let numbers = Tensor::arange_with(0, count, |o| o.dtype(DType::F64))?;
    numbers.multiply(0.7)?.add(phase)?.sin()?.reshape(shape)
}

#[test]
fn padding_layers_give_the_values_of_the_table() -> Result<()> {
    let x = wave(&[1, 2, 4], 0.0)?;
    let p = [1, 2];
    check("zero_pad1d", &ZeroPad1d(p).forward(&x)?)?;
    check("constant_pad1d", &ConstantPad1d::new(p, 2.5).forward(&x)?)?;
    check("reflection_pad1d", &ReflectionPad1d(p).forward(&x)?)?;
    check("replication_pad1d", &ReplicationPad1d(p).forward(&x)?)?;
    check("circular_pad1d", &CircularPad1d(p).forward(&x)?)?;
    let x = wave(&[1, 1, 4, 3], 0.0)?;
    let p = [1, 2, 0, 1];
    check("zero_pad2d", &ZeroPad2d(p).forward(&x)?)?;
    check("constant_pad2d", &ConstantPad2d::new(p, 2.5).forward(&x)?)?;
    check("reflection_pad2d", &ReflectionPad2d(p).forward(&x)?)?;
    check("replication_pad2d", &ReplicationPad2d(p).forward(&x)?)?;
    check("circular_pad2d", &CircularPad2d(p).forward(&x)?)?;
    let x = wave(&[1, 1, 3, 4, 3], 0.0)?;
    let p = [1, 0, 2, 1, 0, 1];
    check("zero_pad3d", &ZeroPad3d(p).forward(&x)?)?;
    check("constant_pad3d", &ConstantPad3d::new(p, 2.5).forward(&x)?)?;
    check("reflection_pad3d", &ReflectionPad3d(p).forward(&x)?)?;
    check("replication_pad3d", &ReplicationPad3d(p).forward(&x)?)?;
    check("circular_pad3d", &CircularPad3d(p).forward(&x)?)
}

#[test]
fn triplet_losses_take_a_distance() -> Result<()> {
    let [a, b, c] = [wave(&[4, 3], 0.0)?, wave(&[4, 3], 0.4)?, wave(&[4, 3], 1.1)?];
    let city = |a: &Tensor, b: &Tensor| a.subtract(b)?.abs()?.sum_with(|o| o.axes(&[-1]));
    check("triplet_default", &TripletMarginWithDistanceLoss::default().forward(&a, &b, &c)?)?;
    let mut loss = TripletMarginWithDistanceLoss::new(city);
    loss.margin = 2.0;
    check("triplet_city", &loss.forward(&a, &b, &c)?)?;
    (loss.margin, loss.swap, loss.reduction) = (1.0, true, Reduction::None);
    check("triplet_swap", &loss.forward(&a, &b, &c)?)?;
    loss.reduction = Reduction::BatchMean;
    let text = message(ErrorKind::Value, loss.forward(&a, &b, &c));
    assert!(text.ends_with("expected none, mean or sum, got batchmean"), "{text}");
    Ok(())
}

#[test]
fn fractional_pooling_has_the_windows_of_its_samples() -> Result<()> {
    let layer = FractionalMaxPool2d::new([2, 3], [3, 2]);
    let samples = Tensor::from([[[0.1, 0.6], [0.8, 0.3]]]);
    let x = wave(&[1, 2, 7, 6], 0.0)?;
    let (values, positions) = layer.with_positions(&x, Some(&samples))?;
    check("fractional_max_pool2d", &values)?;
    check("fractional_max_pool2d_positions", &positions)?;
    assert_eq!(layer.forward(&x.select(0, 0)?)?.shape(), [2, 3, 2]);
    let layer = FractionalMaxPool3d::with_ratio([2; 3], [0.5, 0.6, 0.5]);
    let x = wave(&[1, 1, 6, 5, 7], 0.0)?;
    let (values, positions) = layer.with_positions(&x, Some(&Tensor::from([[[0.1, 0.6, 0.9]]])))?;
    check("fractional_max_pool3d", &values)?;
    check("fractional_max_pool3d_positions", &positions)?;
    let wide = FractionalMaxPool2d::new([3, 3], [3, 3]);
    let kinds = [wide.forward(&wave(&[1, 4, 4], 0.0)?), wide.forward(&wave(&[4, 4], 0.0)?)];
    assert!(kinds.into_iter().all(|found| found.unwrap_err().kind() == ErrorKind::Shape));
    // Sizes that are not to be computed in 64 bits.
    let (x, large) = (wave(&[1, 4, 4], 0.0)?, [i64::MAX; 2]);
    message(ErrorKind::Shape, FractionalMaxPool2d::new(large, [2, 2]).forward(&x));
    message(ErrorKind::Shape, FractionalMaxPool2d::new([2, 2], large).forward(&x));
    message(ErrorKind::Shape, FractionalMaxPool2d::with_ratio([2, 2], [1e300, 1.0]).forward(&x));
    for ratios in [[f64::NAN, 0.5], [0.5, f64::INFINITY]] {
        message(ErrorKind::Value, FractionalMaxPool2d::with_ratio([2, 2], ratios).forward(&x));
    }
    Ok(())
}

#[test]
fn fractional_pooling_of_16_bit_floats_has_the_windows_of_float64() -> Result<()> {
    let layer = FractionalMaxPool2d::new([1, 2], [2, 400]);
    let samples = Tensor::from([[[0.25, 0.5]]]);
    for dtype in [DType::F16, DType::Bf16] {
        let x = wave(&[1, 1, 2, 5000], 0.0)?.astype(dtype)?;
        let drawn = |x: &Tensor| -> Result<Vec<i64>> {
            let _generator = Generator::new(3)?.enter()?;
            layer.with_positions(x, None)?.1.to_vec::<i64>()
        };
        assert_eq!(drawn(&x)?, drawn(&x.astype(DType::F32)?)?);
        let (_, wanted) = layer.with_positions(&x.astype(DType::F64)?, Some(&samples))?;
        let (_, found) = layer.with_positions(&x, Some(&samples.astype(dtype)?))?;
        assert_eq!(found.to_vec::<i64>()?, wanted.to_vec::<i64>()?);
    }
    Ok(())
}

#[test]
fn the_adaptive_softmax_gives_the_values_of_the_table() -> Result<()> {
    let layer = AdaptiveLogSoftmaxWithLoss::with(8, 10, &[3, 6], 2.0, true)?;
    let mut named = layer.named_parameters();
    named.sort_by(|a, b| a.0.cmp(&b.0));
    let names: Vec<_> = named.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..3], ["head.bias", "head.weight", "tail.0.0.weight"]);
    // SAFETY: no other thread uses the layer.
    unsafe { tessera::nn::convert(&layer, DType::F64, None)? };
    {
        let _guard = no_grad();
        for (number, (_, parameter)) in named.iter().enumerate() {
            parameter.copy_(&wave(&parameter.shape(), 0.3 * number as f64)?, |o| o)?;
        }
    }
    let x = wave(&[5, 8], 0.2)?;
    let found = layer.run(&x, &Tensor::from([0i64, 4, 9, 2, 6]))?;
    check("adaptive_output", &found.output)?;
    check("adaptive_loss", &found.loss)?;
    check("adaptive_log_prob", &layer.log_prob(&x)?)?;
    check("adaptive_predict", &layer.predict(&x)?)?;
    let one = layer.run(&x.select(0, 0)?, &Tensor::scalar(0i64)?)?;
    assert!((one.output.item::<f64>()? - table()["adaptive_output"][0]).abs() < 1e-9);
    let beyond = layer.run(&x, &Tensor::from([1i64, 4, 10, 2, 6]));
    let text = message(ErrorKind::Index, beyond);
    assert!(text.ends_with("expected classes from 0 to 9, got numbers from 1 to 10"), "{text}");
    message(ErrorKind::Shape, layer.run(&x, &Tensor::from([0i64, 4])));
    // 1.1 goes 9 times into 11, although the quotient of these floats is 10.
    let narrow = AdaptiveLogSoftmaxWithLoss::with(11, 20, &[4, 10], 1.1, false)?.state_dict()?;
    assert_eq!(narrow["tail.0.0.weight"].shape(), [9, 11]);
    assert_eq!(narrow["tail.1.0.weight"].shape(), [9, 11]);
    let falling = AdaptiveLogSoftmaxWithLoss::new(8, 10, &[6, 3]);
    assert_eq!(falling.unwrap_err().kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn lbfgs_makes_the_steps_of_the_table() -> Result<()> {
    let plain = LbfgsOptions { lr: 0.5, max_iter: 4, history_size: 3, ..Default::default() };
    let wolfe = LbfgsOptions { max_iter: 3, line_search: true, ..Default::default() };
    for (name, options) in [("lbfgs", plain), ("lbfgs_wolfe", wolfe)] {
        let parameters =
            [wave(&[2], 0.5)?.requiring_grad()?, wave(&[1, 3], 1.0)?.requiring_grad()?];
        let mut optimizer = Lbfgs::new(options, &parameters)?;
        let closure = || {
            let term = |p: &Tensor| -> Result<Tensor> {
                let powers = p.square()?.subtract(2)?.square()?.sum()?;
                powers.add(&p.multiply(3)?.cos()?.sum()?)
            };
            let loss = term(&parameters[0])?.add(&term(&parameters[1])?)?;
            loss.backward()?;
            Ok(loss)
        };
        let mut found = Vec::new();
        for _ in 0..5 {
            found.push(optimizer.step(closure)?.detach()?.reshape(&[1])?);
        }
        for parameter in &parameters {
            found.push(parameter.detach()?.reshape(&[-1])?);
        }
        check(name, &Tensor::concat(&found)?)?;
    }
    Ok(())
}

/// Steps for x^2 / 2 from `start`: where they end, and how often the loss was computed.
fn steps(start: f64, options: LbfgsOptions, count: usize) -> Result<(f64, usize)> {
    let x = Tensor::from([start]).requiring_grad()?;
    let (mut optimizer, mut calls) = (Lbfgs::new(options, slice::from_ref(&x))?, 0);
    for _ in 0..count {
        optimizer.step(|| {
            calls += 1;
            let loss = x.square()?.sum()?.divide(2)?;
            loss.backward()?;
            Ok(loss)
        })?;
    }
    Ok((x.item()?, calls))
}

#[test]
fn a_step_of_lbfgs_ends_by_its_tolerances() -> Result<()> {
    let options = LbfgsOptions::default();
    // The first slope is almost 0: nothing moves, and the next step begins as this one did.
    assert_eq!(steps(1e-5, options, 2)?, (1e-5, 2));
    // The gradient is flat enough at the beginning, and after the first iteration.
    assert_eq!(steps(2.0, LbfgsOptions { tolerance_grad: 2.0, ..options }, 1)?, (2.0, 1));
    assert_eq!(steps(2.0, LbfgsOptions { tolerance_grad: 1.9, ..options }, 1)?, (1.0, 2));
    // The parameters change by less than the tolerance.
    let coarse = LbfgsOptions { lr: 0.01, tolerance_change: 0.5, ..options };
    assert_eq!(steps(1.0, coarse, 1)?, (0.99, 2));
    Ok(())
}

#[test]
fn lbfgs_without_a_history_scales_the_gradient() -> Result<()> {
    let x = Tensor::from([1.0, 1.0]).requiring_grad()?;
    let options = LbfgsOptions { max_iter: 3, history_size: 0, ..Default::default() };
    Lbfgs::new(options, slice::from_ref(&x))?.step(|| {
        let loss = x.square()?.multiply(&Tensor::from([1.0, 2.0]))?.sum()?;
        loss.backward()?;
        Ok(loss)
    })?;
    for (found, expected) in x.to_vec::<f64>()?.iter().zip([16.0 / 51.0, -1.0 / 51.0]) {
        assert!((found - expected).abs() < 1e-12, "{found} and {expected}");
    }
    let text = message(ErrorKind::Value, Lbfgs::new(options, &[]));
    assert!(text.ends_with("params: expected at least one parameter, got an empty list"), "{text}");
    Ok(())
}

#[test]
fn averages_of_models_are_those_of_the_table() -> Result<()> {
    let make = || -> Result<Linear> {
        let layer = Linear::new(3, 2)?;
        // SAFETY: no other thread uses the layer.
        unsafe { tessera::nn::convert(&layer, DType::F64, None)? };
        Ok(layer)
    };
    let averages =
        [("swa", AveragedModel::new(make()?)?), ("ema", AveragedModel::exponential(make()?, 0.9)?)];
    let model = make()?;
    for (name, average) in averages {
        for number in 0..4 {
            let _guard = no_grad();
            model.weight.copy_(&wave(&[2, 3], f64::from(number))?, |o| o)?;
            average.update(&model)?;
        }
        check(name, &average.module().weight)?;
        let state = average.state_dict()?;
        assert_eq!(state["n_averaged"].item::<i64>()?, 4);
        assert!(state.contains_key("module.bias"));
    }
    let other = AveragedModel::new(Linear::new(4, 2)?)?;
    let text = message(ErrorKind::Value, other.update(&model));
    assert!(text.ends_with("parameter 0: expected shape [2, 4], got [2, 3]"), "{text}");
    let decay = AveragedModel::exponential(make()?, 1.5);
    assert_eq!(decay.unwrap_err().kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn averages_of_models_copy_or_average_buffers() -> Result<()> {
    for (use_buffers, mean) in [(false, 4.0f32), (true, 3.0)] {
        let model = BatchNorm1d::new(2)?;
        let average = AveragedModel::new(BatchNorm1d::new(2)?)?.use_buffers(use_buffers);
        for value in [2.0, 4.0] {
            let _guard = no_grad();
            let state = model.state_dict()?;
            for name in ["weight", "running_mean", "num_batches_tracked"] {
                state[name].fill_(value)?;
            }
            average.update(&model)?;
        }
        // A model whose parameters fit and whose buffers do not changes nothing.
        let other = BatchNorm1d::with(2, |c| c.track_running_stats(false))?;
        let text = message(ErrorKind::Value, average.update(&other));
        assert!(text.ends_with("expected a model with 3 buffers, got 0"), "{text}");
        let state = average.state_dict()?;
        assert_eq!(state["module.weight"].to_vec::<f32>()?, [3.0, 3.0]);
        assert_eq!(state["module.running_mean"].to_vec::<f32>()?, [mean, mean]);
        assert_eq!(state["module.num_batches_tracked"].item::<f32>()?, mean);
        assert_eq!(state["n_averaged"].item::<i64>()?, 2);
    }
    Ok(())
}

/// The rows of one distribution; `make` gets the first parameter.
fn check_distribution<D: Distribution>(
    name: &str,
    first: Tensor,
    make: impl Fn(&Tensor) -> Result<D>,
    other: &D,
    values: &Tensor,
) -> Result<()> {
    let row = |of: &str| format!("{name}.{of}");
    let p = make(&first)?;
    check(&row("log_prob"), &p.log_prob(values)?)?;
    check(&row("entropy"), &p.entropy()?)?;
    check(&row("kl"), &kl_divergence(&p, other)?)?;
    if name != "categorical" {
        check(&row("mean"), &p.mean()?)?;
        check(&row("variance"), &p.variance()?)?;
    }
    Generator::current()?.seed(7)?;
    let drawn = p.sample(&[2])?;
    check(&row("sample"), &drawn)?;
    assert_eq!(drawn.shape(), [vec![2], p.batch_shape(), p.event_shape()].concat());
    let leaf = first.requiring_grad()?;
    let p = make(&leaf)?;
    assert!(!p.sample(&[2])?.requires_grad());
    if !table().contains_key(row("gradient").as_str()) {
        assert_eq!(p.rsample(&[2]).unwrap_err().kind(), ErrorKind::NotImplemented);
        return Ok(());
    }
    Generator::current()?.seed(7)?;
    let drawn = p.rsample(&[2])?;
    let drawn = if name == "dirichlet" { drawn.square()? } else { drawn };
    drawn.sum()?.backward()?;
    check(&row("gradient"), &leaf.grad()?.unwrap())
}

#[test]
fn distributions_have_the_values_of_the_table() -> Result<()> {
    // Tests in other threads draw from the default generator.
    let _random = Generator::new(7)?.enter()?;
    let narrow = Tensor::from([0.5, 1.0, 2.0]);
    let shared = wave(&[2, 3], 1.0)?;
    let other = Normal::new(&Tensor::from([0.3]), 1.5)?;
    check_distribution(
        "normal",
        wave(&[3], 0.0)?,
        |loc| Normal::new(loc, &narrow),
        &other,
        &shared,
    )?;

    let high = Tensor::from([2.0, 1.0, 3.0]);
    let values = Tensor::from([[0.0, 0.5, 1.0], [1.5, 0.25, 2.5]]);
    let other = Uniform::new(&Tensor::from([-2.0]), 4.0)?;
    let low = Tensor::from([-1.0, 0.0, 0.5]);
    check_distribution("uniform", low, |low| Uniform::new(low, &high), &other, &values)?;

    let values = Tensor::from([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]);
    let other = Bernoulli::with_logits(&Tensor::from([0.3, -1.0, 2.0]))?;
    let probs = Tensor::from([0.2, 0.5, 0.9]);
    check_distribution("bernoulli", probs, |probs| Bernoulli::new(probs), &other, &values)?;

    let values = Tensor::from([[0i64, 3], [2, 1], [3, 0]]);
    let other = Categorical::with_logits(&wave(&[2, 4], 0.0)?)?;
    let weights = Tensor::from([[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]]);
    check_distribution("categorical", weights, Categorical::new, &other, &values)?;

    let values = Tensor::from([[0.1, 0.5, 0.9], [0.3, 0.2, 0.6]]);
    let other = Beta::new(&Tensor::from([2.0]), 3)?;
    let (a, b) = (Tensor::from([0.5, 2.0, 3.0]), Tensor::from([1.5, 1.0, 4.0]));
    check_distribution("beta", a, |a| Beta::new(a, &b), &other, &values)?;

    let values = Tensor::from([[0.2, 1.0, 4.0], [0.7, 2.0, 3.0]]);
    let other = Gamma::new(&Tensor::from([1.5]), 2)?;
    let (a, rate) = (Tensor::from([0.5, 2.0, 3.0]), Tensor::from([1.0, 2.0, 0.5]));
    check_distribution("gamma", a, |a| Gamma::new(a, &rate), &other, &values)?;
    let other = Exponential::new(&Tensor::from([2.0]))?;
    let rate = Tensor::from([0.5, 1.0, 3.0]);
    check_distribution("exponential", rate, |rate| Exponential::new(rate), &other, &values)?;

    let values = Tensor::from([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]]);
    let other = Dirichlet::new(&Tensor::from([1.0, 2.0, 3.0]))?;
    let a = Tensor::from([[0.5, 2.0, 3.0], [1.0, 1.0, 1.0]]);
    check_distribution("dirichlet", a, Dirichlet::new, &other, &values)?;

    let a = wave(&[3, 3], 0.0)?;
    let unit = Tensor::eye_with(3, |o| o.dtype(DType::F64))?;
    let covariance = a.matmul(&a.matrix_transpose()?)?.add(&unit)?;
    let lower = Tensor::from([[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [-0.3, 0.2, 0.7]]);
    let zeros = Tensor::zeros_with(&[3], |o| o.dtype(DType::F64))?;
    let other = MultivariateNormal::with_scale_tril(&zeros, &lower)?;
    let make = |loc: &Tensor| MultivariateNormal::new(loc, &covariance);
    check_distribution("multivariate_normal", wave(&[3], 0.0)?, make, &other, &shared)
}

#[test]
fn distributions_refuse_wrong_parameters_and_values() -> Result<()> {
    let minus = Tensor::from([-1.0, 1.0]);
    let kinds = [
        Normal::new(0, 0).map(|_| ()),
        Normal::new(f64::NAN, 1).map(|_| ()),
        Uniform::new(1, 1).map(|_| ()),
        Bernoulli::new(1.5).map(|_| ()),
        Categorical::new(&minus).map(|_| ()),
        Categorical::new(&Tensor::from([-1.0, -2.0])).map(|_| ()),
        Categorical::new(&Tensor::from([f64::INFINITY, 1.0])).map(|_| ()),
        Beta::new(0, 1).map(|_| ()),
        Gamma::new(1, -1).map(|_| ()),
        Dirichlet::new(&minus).map(|_| ()),
        Exponential::new(0).map(|_| ()),
        MultivariateNormal::with_scale_tril(
            &minus,
            &Tensor::ones_with(&[2, 2], |o| o.dtype(DType::F64))?,
        )
        .map(|_| ()),
        Exponential::new(1)?.log_prob(&minus).map(|_| ()),
        Bernoulli::new(0.5)?.log_prob(&Tensor::from([0.5])).map(|_| ()),
        Categorical::new(&Tensor::from([1.0, 1.0]))?.log_prob(&Tensor::from([2i64])).map(|_| ()),
        Beta::new(1, 1)?.log_prob(&minus).map(|_| ()),
        Dirichlet::new(&Tensor::from([1.0, 1.0]))?.log_prob(&minus).map(|_| ()),
    ];
    for (place, found) in kinds.into_iter().enumerate() {
        assert_eq!(found.unwrap_err().kind(), ErrorKind::Value, "{place}");
    }
    let matrix = MultivariateNormal::new(&minus, &minus);
    assert_eq!(matrix.unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(Categorical::new(&Tensor::scalar(1.0)?).unwrap_err().kind(), ErrorKind::Shape);
    message(ErrorKind::Shape, Categorical::new(&Tensor::zeros(&[2, 0])?));
    message(ErrorKind::Shape, Categorical::with_logits(&Tensor::zeros(&[0])?));
    let fair = Categorical::new(&Tensor::from([1.0, 1.0]))?;
    message(ErrorKind::Shape, fair.sample(&[i64::MAX, 4]));
    let text = message(ErrorKind::Value, Beta::new(1, 0));
    assert!(text.contains("Beta: concentration0: expected numbers above 0, got one outside"));
    // Numbers take the dtype of the tensor beside them, or the default one.
    assert_eq!(Normal::new(&minus, 1)?.sample(&[])?.dtype(), DType::F64);
    assert_eq!(Normal::new(0, 1)?.sample(&[4])?.dtype(), DType::F32);
    let none = Categorical::new(&Tensor::from([1.0, 1.0]))?.sample(&[0])?;
    assert_eq!((none.shape(), none.dtype()), (vec![0], DType::I64));
    Ok(())
}

#[test]
fn values_have_the_axes_of_one_value() -> Result<()> {
    let shares = Dirichlet::new(&Tensor::from([1.0, 2.0, 3.0]))?;
    let text = message(ErrorKind::Shape, shares.log_prob(&Tensor::from([1.0])));
    assert!(text.ends_with("value: expected a shape that ends in [3], got [1]"), "{text}");
    message(ErrorKind::Shape, shares.log_prob(&Tensor::scalar(1.0)?));
    let vectors = MultivariateNormal::new(&Tensor::zeros(&[3])?, &Tensor::eye(3)?)?;
    message(ErrorKind::Shape, vectors.log_prob(&Tensor::zeros(&[3, 1])?));
    assert_eq!(vectors.log_prob(&Tensor::zeros(&[4, 3])?)?.shape(), [4]);
    let others = MultivariateNormal::new(&Tensor::zeros(&[2])?, &Tensor::eye(2)?)?;
    let text = message(ErrorKind::Shape, kl_divergence(&vectors, &others));
    assert!(text.ends_with("expected vectors of one length, got 3 and 2"), "{text}");
    // All methods but the divergence are those of an object, too.
    let kinds: [Box<dyn Distribution>; 2] = [Box::new(shares), Box::new(Exponential::new(2)?)];
    assert_eq!(kinds[0].sample(&[4])?.shape(), [4, 3]);
    assert_eq!(kinds[1].mean()?.item::<f64>()?, 0.5);
    Ok(())
}

#[test]
fn covariances_are_symmetric_and_positive_definite() -> Result<()> {
    let loc = Tensor::from([0.0, 0.0]);
    let make = |matrix: [[f64; 2]; 2]| MultivariateNormal::new(&loc, &Tensor::from(matrix));
    let text = message(ErrorKind::Value, make([[1.0, 2.0], [2.0, 1.0]]));
    assert!(text.contains("expected a positive definite matrix (eigenvalues above 0), got one"));
    let text = message(ErrorKind::Value, make([[1.0, 0.5], [0.4, 1.0]]));
    assert!(text.contains("expected a symmetric matrix, got one outside"), "{text}");
    make([[2e4, 1e4], [1e4 + 0.05, 2e4]])?; // the difference is 5e-6 of these
    Ok(())
}

#[test]
fn divergences_are_infinite_where_a_value_is_excluded() -> Result<()> {
    let infinity = f64::INFINITY;
    let all = Bernoulli::new(&Tensor::from([0.0, 0.5, 1.0]))?;
    for (probs, expected) in [(0.0, [0.0, infinity, infinity]), (1.0, [infinity, infinity, 0.0])] {
        let other = Bernoulli::new(&Tensor::from([probs]))?;
        assert_eq!(kl_divergence(&all, &other)?.to_vec::<f64>()?, expected);
    }
    let make = |weights: [f64; 3]| Categorical::new(&Tensor::from(weights));
    let some = make([0.0, 1.0, 1.0])?;
    let found = kl_divergence(&some, &make([1.0, 1.0, 0.0])?)?;
    assert_eq!(found.item::<f64>()?, infinity);
    let found = kl_divergence(&some, &make([0.0, 1.0, 3.0])?)?;
    assert!((found.item::<f64>()? - 0.5 * (4.0f64 / 3.0).ln()).abs() < 1e-12);
    let wide = Uniform::new(&Tensor::from([0.0, 1.0]), 2)?;
    let found = kl_divergence(&wide, &Uniform::new(&Tensor::from([0.5]), 3)?)?.to_vec::<f64>()?;
    assert!(found[0] == infinity && found[1].is_finite());
    Ok(())
}

/// Two ranks with batches of 3 and 5 samples against one layer with all 8.
fn compare_ranks(
    address: &str,
    config: impl Fn(BatchNorm1dConfig) -> BatchNorm1dConfig + Sync,
) -> Result<()> {
    let whole = wave(&[8, 2, 3], 0.0)?.requiring_grad()?;
    let (weights, later) = (wave(&[8, 2, 3], 2.0)?, wave(&[8, 2, 3], 4.0)?);
    let layer = BatchNorm1d::with(2, &config)?;
    // SAFETY: no other thread uses the layer.
    unsafe { tessera::nn::convert(&layer, DType::F64, None)? };
    let expected = layer.forward(&whole)?;
    expected.multiply(&weights)?.sum()?.backward()?;
    layer.forward(&later)?;
    let gradient = whole.grad()?.unwrap();
    let statistics = layer.state_dict()?;
    let near = |a: &Tensor, b: &Tensor| -> Result<bool> {
        Ok(a.subtract(b)?.abs()?.max()?.item::<f64>()? < 1e-12)
    };
    let rank = |rank: usize| -> Result<()> {
        let options =
            GroupOptions { rank: Some(rank), size: Some(2), address, ..Default::default() };
        let own = SyncBatchNorm::with(2, &Group::new("threads", &options)?, &config)?;
        // SAFETY: only this thread uses the layer.
        unsafe { tessera::nn::convert(&own, DType::F64, None)? };
        let (start, length) = if rank == 0 { (0, 3) } else { (3, 5) };
        let part = |t: &Tensor| t.detach()?.narrow(0, start, length)?.deep_clone();
        let x = part(&whole)?.requiring_grad()?;
        let found = own.forward(&x)?;
        found.multiply(&part(&weights)?)?.sum()?.backward()?;
        assert!(near(&found.detach()?, &part(&expected)?)?);
        assert!(near(&x.grad()?.unwrap(), &part(&gradient)?)?);
        own.forward(&part(&later)?)?;
        let state = own.state_dict()?;
        assert!(state.keys().eq(statistics.keys()));
        for (name, value) in &statistics {
            assert!(near(&state[name], value)?, "{name}");
        }
        let single = Tensor::zeros_with(&[1 - rank as i64, 2], |o| o.dtype(DType::F64))?;
        let text = message(ErrorKind::Value, own.forward(&single));
        assert!(text.ends_with("expected more than 1 value for each channel, got 1"), "{text}");
        own.eval();
        let alone = own.forward(&x)?; // no other rank is needed
        assert_eq!(alone.shape(), x.shape());
        Ok(())
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| rank(1));
        rank(0)?;
        other.join().expect("the other rank")
    })
}

#[test]
fn sync_batch_norm_is_the_batch_norm_of_the_whole_batch() -> Result<()> {
    compare_ranks("sync", |c| c)?;
    compare_ranks("sync means", |c| c.momentum(None))?; // of all batches
    compare_ranks("sync without parameters", |c| c.affine(false))?;
    compare_ranks("sync without statistics", |c| c.track_running_stats(false))
}
