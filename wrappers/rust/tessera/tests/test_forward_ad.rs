// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Forward mode (A18), and the derivatives of functions that are made of it.

use tessera::autograd::{custom_function, grad, hessian, jacobian, jacrev, jvp, vjp, DualLevel};
use tessera::{no_grad, ErrorKind, Result, Tensor};

fn values(tensor: &Tensor) -> Vec<f64> {
    tensor.to_vec().unwrap()
}

#[test]
fn a18_level_ends_with_its_guard() -> Result<()> {
    let x = Tensor::from([1.0, 2.0]);
    let y = {
        let _guard = no_grad();
        let level = DualLevel::enter()?;
        let y = level.make_dual(&x, &Tensor::from([1.0, 10.0]))?.exp()?;
        assert!(level.unpack_dual(&y)?.1.is_some());
        y
    };
    let level = DualLevel::enter()?;
    assert!(level.unpack_dual(&y)?.1.is_none());
    let error = level.make_dual(&x, &Tensor::from([1.0])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    Ok(())
}

#[test]
fn a18_products_with_the_jacobian() -> Result<()> {
    let f = |x: &Tensor| -> Result<Tensor> { Ok(x * x.sum()?) };
    let x = Tensor::from([1.0, 2.0]);
    let (y, pushed) = jvp(f, &x, &Tensor::from([1.0, 0.0]))?;
    assert_eq!((values(&y), values(&pushed)), (vec![3.0, 6.0], vec![4.0, 2.0]));
    let (_, pulled) = vjp(f, &x, &Tensor::from([1.0, 0.0]))?;
    assert_eq!(values(&pulled), [4.0, 1.0]);
    let j = jacobian(f, &x)?;
    assert_eq!((j.shape(), values(&j)), (vec![2, 2], vec![4.0, 1.0, 2.0, 5.0]));
    let j = jacrev(f, &x)?;
    assert_eq!((j.shape(), values(&j)), (vec![2, 2], vec![4.0, 1.0, 2.0, 5.0]));
    Ok(())
}

#[test]
fn a18_rows_of_a_batched_backward() -> Result<()> {
    let x = Tensor::from([1.0, 2.0]).requiring_grad()?;
    let y = x.pow(2)?;
    let rows = Tensor::from([1.0, 0.0, 0.0, 1.0, 1.0, 1.0]).reshape(&[3, 2])?;
    let found = grad(&[&y], &[&x], &[Some(&rows)], |o| o.batched(true))?.remove(0).unwrap();
    assert_eq!((found.shape(), values(&found)), (vec![3, 2], vec![2.0, 0.0, 0.0, 4.0, 2.0, 4.0]));
    let constant = jacrev(|x| x.detach(), &x)?;
    assert_eq!(values(&constant), [0.0; 4]);
    Ok(())
}

#[test]
fn a18_levels_nest() -> Result<()> {
    let one = Tensor::from([1.0]);
    let slope = |x: &Tensor| -> Result<Tensor> { Ok(jvp(|y| y.pow(3), x, &one)?.1) };
    assert_eq!(values(&jvp(slope, &Tensor::from([2.0]), &one)?.1), [12.0]);
    let h = hessian(|x| x.pow(3)?.sum(), &Tensor::from([1.0, 2.0]))?;
    assert_eq!(values(&h), [6.0, 0.0, 0.0, 12.0]);
    Ok(())
}

#[test]
fn a18_custom_function_without_jvp_is_an_error() -> Result<()> {
    let f = |x: &Tensor| -> Result<Tensor> {
        let found = custom_function("Same", &[x], |_| Ok(vec![x * 1.0]), |_, g| Ok(g.to_vec()))?;
        Ok(found[0].clone())
    };
    let error = jvp(f, &Tensor::from([1.0]), &Tensor::from([1.0])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Autograd);
    assert!(error.to_string().contains("Same has no jvp"), "{error}");
    Ok(())
}
