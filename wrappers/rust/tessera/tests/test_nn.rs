// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Layers: values computed by hand, names, state dicts, modes, initial values.

use std::f64::consts::LN_2;
use std::sync::Arc;
use tessera::nn::init::{self, FanMode, Nonlinearity};
use tessera::nn::{
    convert, parts, AdaptiveAvgPool2d, AvgPool2d, BatchNorm1d, BatchNorm2d, Celu, Conv2d,
    ConvTranspose2d, Dropout, Elu, Embedding, Flatten, Func, Gelu, Glu, Hardshrink, Hardsigmoid,
    Hardswish, Hardtanh, Identity, LayerNorm, LeakyRelu, Linear, LogSigmoid, LogSoftmax, MaxPool2d,
    Mish, Module, PaddingMode, Relu, Relu6, Selu, Sequential, Sigmoid, Silu, Softmax, Softmin,
    Softplus, Softshrink, Softsign, Tanh, Tanhshrink, Training, Visitor,
};
use tessera::optim::{Adam, Optimizer, Rule, Sgd};
use tessera::{io, manual_seed, no_grad, DType, ErrorKind, Result, Tensor};

fn close(tensor: &Tensor, expected: &[f64]) {
    let values = tensor.detach().unwrap().astype(DType::F64).unwrap().to_vec::<f64>().unwrap();
    assert_eq!(values.len(), expected.len(), "{values:?}");
    for (value, wanted) in values.iter().zip(expected) {
        assert!((value - wanted).abs() < 1e-5, "{values:?} and {expected:?}");
    }
}

fn fill(tensor: &Tensor, values: &[f32]) {
    let _guard = no_grad();
    tensor.detach().unwrap().write_from(values).unwrap();
}

#[test]
fn linear_multiplies_and_adds() -> Result<()> {
    let layer = Linear::new(2, 2)?;
    fill(&layer.weight, &[1.0, 2.0, 3.0, 4.0]);
    fill(layer.bias.as_ref().unwrap(), &[10.0, 20.0]);
    let x = Tensor::from([[1.0f32, 1.0], [0.0, 2.0]]);
    close(&layer.forward(&x)?, &[13.0, 27.0, 14.0, 28.0]);
    let plain = Linear::without_bias(2, 3)?;
    assert_eq!(plain.forward(&x)?.shape(), [2, 3]);
    assert_eq!(plain.parameters().len(), 1);
    Ok(())
}

#[test]
fn convolutions_match_sums_by_hand() -> Result<()> {
    let image = Tensor::arange(0, 9)?.astype(DType::F32)?.reshape(&[1, 1, 3, 3])?;
    let conv = Conv2d::with(1, 1, [2, 2], |c| c.bias(false))?;
    fill(&conv.weight, &[1.0, 2.0, 3.0, 4.0]);
    close(&conv.forward(&image)?, &[27.0, 37.0, 57.0, 67.0]);
    let strided = Conv2d::with(1, 1, [2, 2], |c| c.bias(false).stride([2, 2]).padding([1, 1]))?;
    fill(&strided.weight, &[1.0, 2.0, 3.0, 4.0]);
    close(&strided.forward(&image)?, &[0.0, 11.0, 30.0, 67.0]);
    let back = ConvTranspose2d::with(1, 1, [2, 2], |c| c.bias(false))?;
    fill(&back.weight, &[1.0, 2.0, 3.0, 4.0]);
    let small = Tensor::from([[1.0f32, 2.0]]).reshape(&[1, 1, 1, 2])?;
    close(&back.forward(&small)?, &[1.0, 4.0, 4.0, 3.0, 10.0, 8.0]);
    assert_eq!(Conv2d::with(4, 6, [1, 1], |c| c.groups(2))?.weight.shape(), [6, 2, 1, 1]);
    let misfit = Conv2d::with(3, 4, [1, 1], |c| c.groups(2)).unwrap_err();
    assert_eq!(misfit.kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn same_padding_keeps_the_size() -> Result<()> {
    let layer = Conv2d::with(1, 2, [3, 2], |c| c.same(true).dilation([2, 2]))?;
    assert_eq!(layer.forward(&Tensor::ones(&[1, 1, 5, 4])?)?.shape(), [1, 2, 5, 4]);
    assert!(Conv2d::with(1, 2, [3, 2], |c| c.same(true).stride([1, 2])).is_err());
    assert!(Conv2d::with(1, 2, [3, 2], |c| c.same(true).padding([1, 0])).is_err());
    Ok(())
}

#[test]
fn padding_mode_says_what_stands_around_the_input() -> Result<()> {
    let x = Tensor::arange(0, 20)?.astype(DType::F32)?.reshape(&[1, 1, 5, 4])?;
    let modes = [
        (PaddingMode::Reflect, "reflect"),
        (PaddingMode::Replicate, "replicate"),
        (PaddingMode::Circular, "circular"),
    ];
    for (mode, name) in modes {
        let layer = Conv2d::with(1, 2, [3, 2], |c| c.padding([2, 1]).padding_mode(mode))?;
        let bias = layer.bias.as_ref().unwrap();
        let around = x.pad_with(&[1, 1, 2, 2], |o| o.mode(name))?;
        let expected = around.conv2d_with(&layer.weight, |o| o.bias(bias))?;
        assert_eq!(layer.forward(&x)?.to_vec::<f32>()?, expected.to_vec::<f32>()?);
        let layer = Conv2d::with(1, 2, [4, 3], |c| c.same(true).padding_mode(mode))?;
        assert_eq!(layer.forward(&x)?.shape(), [1, 2, 5, 4]);
        let around = x.pad_with(&[1, 1, 1, 2], |o| o.mode(name))?;
        let bias = layer.bias.as_ref().unwrap();
        let expected = around.conv2d_with(&layer.weight, |o| o.bias(bias))?;
        assert_eq!(layer.forward(&x)?.to_vec::<f32>()?, expected.to_vec::<f32>()?);
    }
    Ok(())
}

#[test]
fn batch_norm_normalises_and_remembers() -> Result<()> {
    let norm = BatchNorm2d::with(1, |c| c.eps(0.0).momentum(Some(0.5)))?;
    let x = Tensor::from([1.0f32, 3.0]).reshape(&[2, 1, 1, 1])?;
    close(&norm.forward(&x)?, &[-1.0, 1.0]);
    let state = norm.state_dict()?;
    close(&state["running_mean"], &[1.0]); // 0 and 2, in equal parts
    close(&state["running_var"], &[1.5]); // 1 and the unbiased 2
    close(&state["num_batches_tracked"], &[1.0]);
    norm.eval();
    let root = 1.5f64.sqrt();
    close(&norm.forward(&x)?, &[0.0, 2.0 / root]);
    close(&norm.state_dict()?["num_batches_tracked"], &[1.0]);
    assert_eq!(norm.forward(&Tensor::ones(&[2, 1])?).unwrap_err().kind(), ErrorKind::Shape);

    let mean = BatchNorm2d::with(1, |c| c.momentum(None))?;
    mean.forward(&x)?;
    mean.forward(&(&x + 2))?;
    close(&mean.state_dict()?["running_mean"], &[3.0]);
    let bare = BatchNorm2d::with(1, |c| c.affine(false).track_running_stats(false).eps(0.0))?;
    bare.eval();
    assert!(bare.state_dict()?.is_empty());
    close(&bare.forward(&x)?, &[-1.0, 1.0]);
    Ok(())
}

#[test]
fn layer_norm_normalises_the_last_axes() -> Result<()> {
    let norm = LayerNorm::with_eps(&[2], 0.0)?;
    fill(&norm.weight, &[1.0, 2.0]);
    fill(&norm.bias, &[0.0, 1.0]);
    close(&norm.forward(&Tensor::from([[1.0f32, 3.0], [0.0, 10.0]]))?, &[-1.0, 3.0, -1.0, 3.0]);
    assert_eq!(LayerNorm::new(&[3, 2])?.parameters()[0].shape(), [3, 2]);
    Ok(())
}

#[test]
fn embedding_looks_rows_up() -> Result<()> {
    let table = Embedding::new(4, 2)?.padding(-1)?;
    let rows = table.forward(&Tensor::from([[3i64, 0]]))?;
    assert_eq!(rows.shape(), [1, 2, 2]);
    close(&rows.i((0, 0))?, &[0.0, 0.0]);
    rows.sum()?.backward()?;
    close(&table.weight.grad()?.unwrap(), &[1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(Embedding::new(4, 2)?.padding(4).unwrap_err().kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn activations_are_their_functions() -> Result<()> {
    let x = Tensor::from([[-1.0f32, 0.0, 2.0]]);
    close(&Relu.forward(&x)?, &[0.0, 0.0, 2.0]);
    close(&LeakyRelu(0.1).forward(&x)?, &[-0.1, 0.0, 2.0]);
    close(&Sigmoid.forward(&x)?, &[0.268941, 0.5, 0.880797]);
    close(&Tanh.forward(&x)?, &[-0.761594, 0.0, 0.964028]);
    close(&Silu.forward(&x)?, &[-0.268941, 0.0, 1.761594]);
    close(&Gelu.forward(&x)?, &[-0.158655, 0.0, 1.954500]);
    close(&Elu(0.5).forward(&x)?, &[-0.316060, 0.0, 2.0]);
    close(&Celu(2.0).forward(&x)?, &[-0.786939, 0.0, 2.0]);
    close(&Selu.forward(&x)?, &[-1.111331, 0.0, 2.101402]);
    close(&Mish.forward(&x)?, &[-0.303401, 0.0, 1.943959]);
    close(&Hardswish.forward(&x)?, &[-0.333333, 0.0, 1.666667]);
    close(&Hardsigmoid.forward(&x)?, &[0.333333, 0.5, 0.833333]);
    close(&Relu6.forward(&x)?, &[0.0, 0.0, 2.0]);
    close(&Hardtanh(-0.5, 1.5).forward(&x)?, &[-0.5, 0.0, 1.5]);
    close(&Softplus(1.0).forward(&x)?, &[0.313262, LN_2, 2.126928]);
    close(&Softsign.forward(&x)?, &[-0.5, 0.0, 0.666667]);
    close(&Tanhshrink.forward(&x)?, &[-0.238406, 0.0, 1.035972]);
    close(&Softshrink(0.5).forward(&x)?, &[-0.5, 0.0, 1.5]);
    close(&Hardshrink(1.5).forward(&x)?, &[0.0, 0.0, 2.0]);
    close(&LogSigmoid.forward(&x)?, &[-1.313262, -LN_2, -0.126928]);
    close(&Glu(-1).forward(&Tensor::from([3.0f32, 0.0]))?, &[1.5]);
    close(&Softmin(-1).forward(&x)?, &[0.705385, 0.259496, 0.035119]);
    close(&Softmax(-1).forward(&x)?, &[0.042010, 0.114195, 0.843795]);
    close(&Func::new(|x| x.multiply(2)).forward(&x)?, &[-2.0, 0.0, 4.0]);
    let image = Tensor::arange(0, 16)?.astype(DType::F32)?.reshape(&[1, 1, 4, 4])?;
    let pooled = MaxPool2d::new([2, 2]).forward(&image)?;
    close(&Flatten(1).forward(&pooled)?, &[5.0, 7.0, 13.0, 15.0]);
    close(&AvgPool2d::new([2, 2]).forward(&image)?, &[2.5, 4.5, 10.5, 12.5]);
    close(&AdaptiveAvgPool2d([1, 2]).forward(&image)?, &[6.5, 8.5]);
    close(&LogSoftmax(0).forward(&Tensor::zeros(&[2])?)?, &[-LN_2, -LN_2]);
    assert!(Identity.forward(&image)?.is_same(&image));
    Ok(())
}

#[test]
fn layers_print_what_they_have() -> Result<()> {
    let text = |layer: &dyn std::fmt::Debug| format!("{layer:?}");
    let linear = Linear::new(2, 4)?;
    assert_eq!(text(&linear), "Linear { weight: float32[4, 2], bias: float32[4] }");
    let bare = Linear::without_bias(2, 4)?;
    assert_eq!(text(&bare), "Linear { weight: float32[4, 2] }");
    let model = Sequential::new().with(linear).with(Relu).with(LayerNorm::new(&[4])?);
    let found = text(&model);
    assert!(found.starts_with("Sequential { 0.weight: float32[4, 2], 0.bias"), "{found}");
    assert!(found.contains("2.weight: float32[4]"), "{found}");
    let conv = text(&Conv2d::with(1, 2, [3, 3], |c| c.stride([2, 1]))?);
    assert!(conv.starts_with("Conv2d { weight: float32[2, 1, 3, 3], bias: float32[2]"), "{conv}");
    assert!(conv.contains("config: Conv2dConfig { stride: [2, 1]"), "{conv}");
    assert!(text(&BatchNorm2d::new(3)?).contains("running_mean: float32[3]"));
    assert_eq!(text(&Embedding::new(5, 2)?), "Embedding { weight: float32[5, 2] }");
    Ok(())
}

#[test]
fn modules_can_be_shared() -> Result<()> {
    let layer: Arc<dyn Module> = Arc::new(Linear::new(2, 2)?);
    let model = Sequential::new().with(layer.clone()).with(Tanh).with(layer);
    let names: Vec<_> = model.named_parameters().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["0.weight", "0.bias"]);
    assert_eq!(model.state_dict()?.len(), 4);
    let mut sgd = Optimizer::new(Sgd::default(), &model.parameters())?;
    model.forward(&Tensor::ones(&[1, 2])?)?.sum()?.backward()?;
    sgd.step()
}

struct Net {
    body: Sequential,
    head: Linear,
}

impl Net {
    fn new() -> Result<Self> {
        let body = Sequential::new()
            .with(Conv2d::with(1, 2, [3, 3], |c| c.padding([1, 1]))?)
            .with(BatchNorm2d::new(2)?)
            .with(Relu)
            .with(Flatten(1));
        Ok(Self { body, head: Linear::new(32, 3)? })
    }
}

impl Module for Net {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.head.forward(&self.body.forward(x)?)
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.module("body", &self.body);
        visitor.module("head", &self.head);
    }
}

#[test]
fn registration_names_everything_once() -> Result<()> {
    let net = Net::new()?;
    let names: Vec<_> = net.named_parameters().into_iter().map(|(name, _)| name).collect();
    let expected = ["0.weight", "0.bias", "1.weight", "1.bias"].map(|name| format!("body.{name}"));
    assert_eq!(names[..4], expected);
    assert_eq!(names[4..], ["head.weight", "head.bias"]);
    let buffers: Vec<_> = net.named_buffers().into_iter().map(|(name, _)| name).collect();
    let expected = ["running_mean", "running_var", "num_batches_tracked"];
    assert_eq!(buffers, expected.map(|name| format!("body.1.{name}")));
    assert_eq!((net.body.len(), Sequential::new().is_empty()), (4, true));
    Ok(())
}

/// Every kind of part.
struct Parts {
    list: Vec<Linear>,
    pair: [BatchNorm1d; 2],
    absent: Option<Linear>,
    present: Option<Linear>,
    scale: Tensor,
    training: Training,
}

impl Module for Parts {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.list.iter().try_fold(x.clone(), |x, layer| layer.forward(&x))
    }

    parts! { list, pair, absent, present, scale, training }
}

#[test]
fn parts_are_named_by_their_fields() -> Result<()> {
    let model = Parts {
        list: vec![Linear::without_bias(2, 2)?, Linear::without_bias(2, 2)?],
        pair: [BatchNorm1d::new(2)?, BatchNorm1d::new(2)?],
        absent: None,
        present: Some(Linear::without_bias(2, 2)?),
        scale: Tensor::ones(&[])?.requiring_grad()?,
        training: Training::default(),
    };
    let names: Vec<_> = model.named_parameters().into_iter().map(|(name, _)| name).collect();
    let norms = ["pair.0.weight", "pair.0.bias", "pair.1.weight", "pair.1.bias"];
    assert_eq!(names[..2], ["list.0.weight", "list.1.weight"]);
    assert_eq!(names[2..6], norms);
    assert_eq!(names[6..], ["present.weight", "scale"]);
    assert_eq!(model.buffers().len(), 6);
    model.eval();
    assert!(!model.training.is_on());
    Ok(())
}

#[test]
fn state_dict_round_trips_and_reports_what_does_not_fit() -> Result<()> {
    let (first, second) = (Net::new()?, Net::new()?);
    let x = Tensor::rand(&[5, 1, 4, 4])?;
    first.forward(&x)?; // moves the running statistics
    second.load_state_dict(&first.state_dict()?)?;
    first.eval();
    second.eval();
    assert!(first.forward(&x)?.equal(&second.forward(&x)?)?.all()?.item::<bool>()?);

    let mut state = first.state_dict()?;
    state.insert("head.extra".into(), Tensor::ones(&[1])?);
    state.insert("head.bias".into(), Tensor::ones(&[4])?);
    state.remove("body.0.bias");
    let error = second.load_state_dict(&state).unwrap_err();
    for part in ["missing: [\"body.0.bias\"]", "unexpected: [\"head.extra\"]", "head.bias"] {
        assert!(error.message().contains(part), "{error}");
    }
    assert_eq!(second.load_state_dict_with(&state, false).unwrap_err().kind(), ErrorKind::Value);
    state.insert("head.bias".into(), Tensor::full(&[3], 7)?);
    let keys = second.load_state_dict_with(&state, false)?;
    assert_eq!(keys.missing, ["body.0.bias"]);
    assert_eq!(keys.unexpected, ["head.extra"]);
    assert_eq!(second.state_dict()?["head.bias"].to_vec::<f32>()?, [7.0; 3]);
    Ok(())
}

#[test]
fn state_goes_through_safetensors() -> Result<()> {
    let path = std::env::temp_dir().join(format!("tessera-nn-{}.safetensors", std::process::id()));
    let (first, second) = (Net::new()?, Net::new()?);
    io::save_file(&first.state_dict()?, &path)?;
    second.load_state_dict(&io::load_file(&path)?)?;
    std::fs::remove_file(path).unwrap();
    let same = first.head.weight.equal(&second.head.weight)?.all()?;
    assert!(same.item::<bool>()?);
    Ok(())
}

#[test]
fn sequences_grow_and_are_looked_through() -> Result<()> {
    let mut model: Sequential = vec![Box::new(Linear::new(2, 3)?) as Box<dyn Module>]
        .into_iter()
        .chain([Box::new(Relu) as Box<dyn Module>])
        .collect();
    model.push(Linear::new(3, 1)?);
    model.extend([Box::new(Tanh) as Box<dyn Module>]);
    assert_eq!((model.len(), model.iter().len()), (4, 4));
    let names: Vec<_> = model.named_parameters().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["0.weight", "0.bias", "2.weight", "2.bias"]);
    assert!(model.get(4).is_none() && model.get(3).is_some());
    let x = Tensor::rand(&[5, 2])?;
    let by_hand = model.iter().try_fold(x.clone(), |x, module| module.forward(&x))?;
    assert!(by_hand.equal(&model.forward(&x)?)?.all()?.item::<bool>()?);
    assert_eq!(model[2].parameters()[0].shape(), [1, 3]);
    Ok(())
}

#[test]
fn modes_and_gradients() -> Result<()> {
    let net: Box<dyn Module> = Box::new(Net::new()?);
    net.forward(&Tensor::rand(&[2, 1, 4, 4])?)?.sum()?.backward()?;
    assert!(net.parameters().iter().all(|p| p.grad().unwrap().is_some()));
    net.zero_grad()?;
    assert!(net.parameters().iter().all(|p| p.grad().unwrap().is_none()));
    net.set_requires_grad(false)?;
    assert!(!net.forward(&Tensor::rand(&[2, 1, 4, 4])?)?.requires_grad());
    Ok(())
}

/// SAFETY of the calls: the modules are this thread's own.
fn converted<M: Module>(module: M, dtype: DType) -> Result<M> {
    unsafe { convert(&module, dtype, None)? };
    Ok(module)
}

fn train_over_conversions<R: Rule>(rule: R) -> Result<()> {
    let net = Sequential::new().with(Linear::new(2, 4)?).with(Tanh).with(Linear::new(4, 1)?);
    let before = net.parameters();
    let x = Tensor::rand(&[8, 2])?;
    let mut optimizer = Optimizer::new(rule, &before)?;
    let mut step = |input: &Tensor| -> Result<f64> {
        optimizer.zero_grad()?;
        let loss = net.forward(input)?.square()?.mean()?;
        loss.backward()?;
        optimizer.step()?;
        loss.item::<f64>()
    };
    step(&x)?;
    unsafe { convert(&net, DType::F64, None)? };
    for (old, new) in before.iter().zip(net.parameters()) {
        assert!(old.is_same(&new) && new.dtype() == DType::F64);
        assert_eq!(new.grad()?.expect("kept").dtype(), DType::F64);
    }
    let wide = x.astype(DType::F64)?;
    let first = step(&wide)?;
    (0..10).try_for_each(|_| step(&wide).map(drop))?;
    assert!(step(&wide)? < first);
    Ok(())
}

#[test]
fn conversion_keeps_parameters_and_an_optimizer_goes_on() -> Result<()> {
    train_over_conversions(Sgd { lr: 0.01, momentum: 0.9, ..Default::default() })?;
    train_over_conversions(Adam { lr: 0.002, ..Default::default() })?;
    let error = unsafe { convert(&Linear::new(2, 2)?, DType::I64, None) }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Dtype);
    Ok(())
}

#[test]
fn running_statistics_stay_float32_in_half_modules() -> Result<()> {
    for half in [DType::F16, DType::Bf16] {
        let norm = converted(Sequential::new().with(BatchNorm2d::new(2)?), half)?;
        let state = norm.state_dict()?;
        assert_eq!(state["0.weight"].dtype(), half);
        assert_eq!(state["0.running_mean"].dtype(), DType::F32);
        assert_eq!(state["0.num_batches_tracked"].dtype(), DType::I64);
        norm.forward(&Tensor::ones_with(&[2, 2, 2, 2], |o| o.dtype(half))?)?.sum()?.backward()?;
        assert_eq!(norm.parameters()[0].grad()?.expect("a gradient").dtype(), half);
        let norm = converted(norm, DType::F64)?;
        assert_eq!(norm.state_dict()?["0.running_var"].dtype(), DType::F64);
    }
    Ok(())
}

#[test]
fn a_tensor_takes_over_other_data() -> Result<()> {
    let x = Tensor::from([1.0f64, 2.0]).requiring_grad()?;
    let (held, y) = (x.clone(), x.square()?.sum()?);
    // SAFETY: no other thread has these tensors.
    unsafe { x.set_data(&Tensor::ones(&[3])?)? };
    assert!(held.dtype() == DType::F32 && held.shape() == [3]);
    assert_eq!(y.backward().unwrap_err().kind(), ErrorKind::Autograd);
    let result = x.multiply(2)?;
    assert_eq!(unsafe { result.set_data(&x) }.unwrap_err().kind(), ErrorKind::Autograd);
    Ok(())
}

#[test]
fn dropout_scales_and_only_trains() -> Result<()> {
    let dropout = Dropout::new(0.5)?;
    let x = Tensor::ones(&[1000])?;
    let kept = dropout.forward(&x)?;
    let ones = kept.greater(0)?.count_nonzero()?.item::<i64>()?;
    assert!((400..600).contains(&ones), "{ones}");
    assert_eq!(kept.max()?.item::<f32>()?, 2.0);
    dropout.eval();
    close(&dropout.forward(&x)?.sum()?, &[1000.0]);
    dropout.train(true);
    assert!(dropout.forward(&x)?.equal(0)?.any()?.item::<bool>()?);
    assert_eq!(Dropout::new(1.5).unwrap_err().kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn initial_values_have_pytorchs_bounds() -> Result<()> {
    manual_seed(0)?;
    let within = |tensor: &Tensor, bound: f64| {
        let largest = tensor.detach().unwrap().abs().unwrap().max().unwrap();
        let largest = largest.item::<f64>().unwrap();
        assert!(largest <= bound && largest > 0.9 * bound, "{largest} and {bound}");
    };
    let layer = Linear::new(100, 50)?;
    within(&layer.weight, 0.1);
    within(layer.bias.as_ref().unwrap(), 0.1);
    within(&Conv2d::new(4, 64, [5, 5])?.weight, 0.1);
    let weight = Tensor::empty(&[40, 60])?;
    init::xavier_uniform_(&weight, 1.0)?;
    within(&weight, (6.0f64 / 100.0).sqrt());
    init::kaiming_uniform_(&weight, FanMode::Out, Nonlinearity::Relu)?;
    within(&weight, (6.0f64 / 40.0).sqrt());
    let spread = |t: &Tensor| t.std().unwrap().item::<f64>().unwrap();
    init::xavier_normal_(&weight, 1.0)?;
    assert!((spread(&weight) / (2.0f64 / 100.0).sqrt() - 1.0).abs() < 0.05);
    init::kaiming_normal_(&weight, FanMode::In, Nonlinearity::LeakyRelu(0.0))?;
    assert!((spread(&weight) / (2.0f64 / 60.0).sqrt() - 1.0).abs() < 0.05);
    init::constant_(&weight, 3.0)?;
    assert_eq!(weight.min()?.item::<f32>()?, 3.0);
    assert_eq!((Nonlinearity::Linear.gain(), Nonlinearity::Tanh.gain()), (1.0, 5.0 / 3.0));
    let flat = init::fan_in_and_fan_out(&Tensor::ones(&[3])?).unwrap_err();
    assert_eq!(flat.kind(), ErrorKind::Shape);
    Ok(())
}

#[test]
fn layers_without_inputs_or_with_wrong_sizes() -> Result<()> {
    let y = Linear::new(0, 2)?.forward(&Tensor::zeros(&[3, 0])?)?;
    assert_eq!(y.shape(), [3, 2]);
    init::xavier_uniform_(&Tensor::zeros(&[0, 0])?, 1.0)?;
    let error = ConvTranspose2d::with(3, 4, [3, 3], |c| c.groups(2)).unwrap_err();
    let text = "ConvTranspose2d: expected groups that divide 3 and 4 channels, got 2";
    assert_eq!((error.kind(), error.message()), (ErrorKind::Value, text));
    Ok(())
}

#[test]
fn losses_match_values_by_hand() -> Result<()> {
    let logits = Tensor::from([[0.0, 0.0], [0.0, 0.0]]);
    let classes = Tensor::from([0i64, 1]);
    close(&logits.cross_entropy(&classes)?, &[2f64.ln()]);
    let summed = logits.cross_entropy_with(&classes, |o| o.reduction("sum"))?;
    close(&summed, &[2.0 * 2f64.ln()]);
    close(&Tensor::from([1.0, 3.0]).mse_loss(&Tensor::from([0.0, 0.0]))?, &[5.0]);
    let binary = Tensor::from([0.0]).binary_cross_entropy_with_logits(&Tensor::from([1.0]))?;
    close(&binary, &[2f64.ln()]);
    Ok(())
}

#[test]
fn gan_losses_reach_only_what_they_should() -> Result<()> {
    let (generator, judge) = (Linear::new(2, 2)?, Linear::new(2, 1)?);
    let made = generator.forward(&Tensor::rand(&[4, 2])?)?;
    judge.forward(&made.detach()?)?.sum()?.backward()?;
    assert!(generator.weight.grad()?.is_none() && judge.weight.grad()?.is_some());
    judge.zero_grad()?;
    judge.forward(&made)?.sum()?.backward()?;
    assert!(generator.weight.grad()?.is_some());
    Ok(())
}
