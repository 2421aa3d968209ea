// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Autocast regions and the gradient scaler (feature row AMP).

use tessera::amp::{autocast, autocast_dtype, is_autocast_enabled};
use tessera::amp::{Autocast, GradScaler, ScalerState};
use tessera::nn::{Linear, Module};
use tessera::optim::{Adam, Optimizer, Sgd};
use tessera::{manual_seed, DType, DeviceType, ErrorKind, Result, Tensor};

#[test]
fn a_region_ends_with_its_guard() -> Result<()> {
    let a = Tensor::ones(&[2, 2])?;
    {
        let _region = autocast(DType::F16)?;
        assert!(is_autocast_enabled(DeviceType::Cpu));
        assert_eq!(autocast_dtype(DeviceType::Cpu)?, DType::F16);
        assert_eq!(a.matmul(&a)?.dtype(), DType::F16);
        assert_eq!(a.astype(DType::F16)?.exp()?.dtype(), DType::F32);
        let _off = Autocast { enabled: false, ..Default::default() }.enter()?;
        assert_eq!(a.matmul(&a)?.dtype(), DType::F32);
    }
    assert!(!is_autocast_enabled(DeviceType::Cpu));
    assert_eq!(autocast_dtype(DeviceType::Cpu)?, DType::Bf16);
    assert_eq!(a.matmul(&a)?.dtype(), DType::F32);
    assert_eq!(autocast(DType::F32).unwrap_err().kind(), ErrorKind::Dtype);
    Ok(())
}

#[test]
fn a_gradient_has_the_dtype_of_its_parameter() -> Result<()> {
    let layer = Linear::new(4, 2)?;
    let loss = {
        let _region = autocast(DType::Bf16)?;
        let out = layer.forward(&Tensor::ones(&[3, 4])?)?;
        assert_eq!(out.dtype(), DType::Bf16);
        out.sum()?
    };
    assert_eq!(loss.dtype(), DType::F32);
    loss.backward()?;
    for parameter in layer.parameters() {
        assert_eq!(parameter.grad()?.expect("a gradient").dtype(), DType::F32);
    }
    Ok(())
}

#[test]
fn infinite_gradients_are_skipped() -> Result<()> {
    let x = Tensor::from([1.0_f64]).requiring_grad()?;
    let mut sgd = Optimizer::new(Sgd::default(), std::slice::from_ref(&x))?;
    let mut scaler = GradScaler::with(ScalerState { scale: 8.0, ..Default::default() })?;
    assert_eq!(scaler.scale(&Tensor::from([2.0_f64]))?.to_vec::<f64>()?, [16.0]);
    x.set_grad(Some(&Tensor::from([f64::INFINITY])))?;
    assert!(!scaler.step(&mut sgd)?);
    assert!(scaler.found_inf(&sgd)?);
    scaler.update()?;
    assert_eq!(scaler.state()?.scale, 4.0);
    x.set_grad(Some(&Tensor::from([8.0_f64])))?;
    scaler.unscale(&mut sgd)?;
    assert_eq!(x.grad()?.expect("a gradient").to_vec::<f64>()?, [2.0]);
    assert_eq!(scaler.unscale(&mut sgd).unwrap_err().kind(), ErrorKind::Value);
    assert!(scaler.step(&mut sgd)?);
    scaler.update_to(32.0)?;
    assert_eq!(scaler.state()?.scale, 32.0);
    Ok(())
}

/// The shared test: every language reads this file and writes the same bytes.
#[test]
fn the_file_is_that_of_all_languages() -> Result<()> {
    let shared = "../../../tests/conformance/grad_scaler.safetensors"; // from the package's folder
    let mut scaler = GradScaler::new()?;
    scaler.load(shared)?;
    let expected = ScalerState {
        scale: 1024.0,
        growth_factor: 3.0,
        backoff_factor: 0.25,
        growth_interval: 7,
        growth_tracker: 5,
        enabled: true,
    };
    assert_eq!(scaler.state()?, expected);
    let path = std::env::temp_dir().join(format!("scaler_{}.safetensors", std::process::id()));
    scaler.save(&path)?;
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(shared).unwrap());
    std::fs::remove_file(&path).unwrap();
    let wrong = ScalerState { backoff_factor: 2.0, ..expected };
    assert_eq!(scaler.load_state(wrong).unwrap_err().kind(), ErrorKind::Value);
    assert_eq!(scaler.state()?, expected);
    Ok(())
}

/// Two classes of points, whose border is a circle; the loss after some steps.
fn trained(dtype: Option<DType>) -> Result<f64> {
    manual_seed(0)?;
    let points = Tensor::randn(&[128, 2])?;
    let classes = points.square()?.sum_with(|o| o.axes(&[1]))?.greater(1.2)?.astype(DType::I64)?;
    let (first, second) = (Linear::new(2, 32)?, Linear::new(32, 2)?);
    let parameters = [first.parameters(), second.parameters()].concat();
    let mut adam = Optimizer::new(Adam { lr: 0.02, ..Default::default() }, &parameters)?;
    let enabled = dtype == Some(DType::F16);
    let mut scaler = GradScaler::with(ScalerState { enabled, ..Default::default() })?;
    let mut last = 0.0;
    for _ in 0..150 {
        adam.zero_grad()?;
        let loss = {
            let region = Autocast { dtype, enabled: dtype.is_some(), ..Default::default() };
            let _guard = region.enter()?;
            second.forward(&first.forward(&points)?.relu()?)?.cross_entropy(&classes)?
        };
        scaler.scale(&loss)?.backward()?;
        scaler.step(&mut adam)?;
        scaler.update()?;
        last = loss.item()?;
    }
    Ok(last)
}

#[test]
fn training_in_16_bits_reaches_the_loss_of_float32() -> Result<()> {
    let exact = trained(None)?;
    assert!(exact < 0.15, "{exact}");
    for dtype in [DType::Bf16, DType::F16] {
        let found = trained(Some(dtype))?;
        assert!((found - exact).abs() < 0.05, "{dtype:?}: {found}, not {exact}");
    }
    Ok(())
}
