// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Helpers for the calls of tests/conformance: its tensors by key, comparison, and a backward with
//! stored weights. The build writes the calls themselves, tests/test_conformance.rs.

use std::path::Path;
use std::sync::OnceLock;
use tessera::io::{load_file, TensorMap};
use tessera::{autograd, DType, Result, Tensor};

fn vectors() -> &'static TensorMap {
    static VECTORS: OnceLock<TensorMap> = OnceLock::new();
    VECTORS.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        load_file(root.join("tests/conformance/vectors.safetensors")).expect("the vectors")
    })
}

fn stored(key: &str) -> &'static Tensor {
    vectors().get(key).unwrap_or_else(|| panic!("no vector is called {key}"))
}

/// A stored tensor that the test may write to.
pub fn copy(key: &str) -> Result<Tensor> {
    stored(key).deep_clone()
}

/// A complex128 tensor; the file stores it as pairs.
pub fn complex_copy(key: &str) -> Result<Tensor> {
    let pairs = stored(key);
    let flat = pairs.to_vec::<f64>()?;
    let mut shape = pairs.shape();
    shape.pop();
    let whole = Tensor::zeros_with(&shape, |o| o.dtype(DType::C128))?;
    let values = whole.reshape(&[-1])?;
    for (index, pair) in flat.chunks(2).enumerate() {
        values.set(index, tessera::Scalar::C128(pair[0], pair[1]))?;
    }
    Ok(whole)
}

/// A stored tensor that gets a gradient.
pub fn leaf(key: &str) -> Result<Tensor> {
    copy(key)?.requiring_grad()
}

/// Backward of the sum of all root * weight.
pub fn backward(roots: &[&Tensor], weights: &[&str]) -> Result<()> {
    let weights: Vec<_> = weights.iter().map(|key| Some(stored(key))).collect();
    autograd::backward(roots, &weights, &[] as &[Tensor], |o| o)
}

/// Checks that the gradient of a leaf equals the stored tensor.
pub fn same_gradient(leaf: &Tensor, key: &str) -> Result<()> {
    same(&leaf.grad()?.unwrap_or_else(|| panic!("{key}: no gradient")), key)
}

/// Checks that dtype, shape and values equal those of the stored tensor.
pub fn same(found: &Tensor, key: &str) -> Result<()> {
    let (relative, absolute) = match found.dtype() {
        DType::F16 => (1e-3, 1e-5),
        DType::Bf16 => (1.6e-2, 1e-5),
        DType::F32 | DType::C64 => (1.3e-6, 1e-5),
        DType::F64 | DType::C128 => (1e-7, 1e-7),
        _ => (0.0, 0.0),
    };
    close(found, key, relative, absolute)
}

/// Like `same`, within these tolerances.
pub fn close(found: &Tensor, key: &str, relative: f64, absolute: f64) -> Result<()> {
    let pairs = found.dtype() == DType::C128;
    let expected = if pairs { complex_copy(key)? } else { copy(key)? };
    assert_eq!((found.dtype(), found.shape()), (expected.dtype(), expected.shape()), "{key}");
    let near = |a: f64, b: f64| {
        a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= absolute + relative * b.abs()
    };
    for (index, (one, other)) in parts(found)?.into_iter().zip(parts(&expected)?).enumerate() {
        let fits = match (one, other) {
            (Part::Whole(a), Part::Whole(b)) => a == b,
            (Part::Real(a), Part::Real(b)) => near(a.0, b.0) && near(a.1, b.1),
            _ => false,
        };
        assert!(fits, "{key}: element {index}: expected {other:?}, got {one:?}");
    }
    Ok(())
}

/// An element; real and imaginary part are compared by themselves.
#[derive(Clone, Copy, Debug)]
enum Part {
    Whole(i64),
    Real((f64, f64)),
}

fn parts(tensor: &Tensor) -> Result<Vec<Part>> {
    let plain = tensor.detach()?.reshape(&[-1])?;
    let dtype = plain.dtype();
    if dtype == DType::U64 || !(dtype.is_floating_point() || dtype.is_complex()) {
        return Ok(plain.astype(DType::I64)?.to_vec()?.into_iter().map(Part::Whole).collect());
    }
    let element = |index| Ok(Part::Real(plain.select(0, index)?.item_complex()?));
    (0..plain.size(0)).map(element).collect()
}
