// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Errors: kinds, what they carry, and that nothing is lost by them.

use tessera::{memory, Device, Error, ErrorKind, Result, Tensor};

#[test]
fn errors_carry_operation_and_argument() {
    let error = Tensor::from([1.0]).matmul(&Tensor::from([1.0, 2.0])).unwrap_err();
    assert_eq!((error.kind(), error.kind().name()), (ErrorKind::Shape, "SHAPE"));
    assert_eq!((error.operation(), error.argument()), ("matmul", Some(1)));
    assert!(error.to_string().starts_with("matmul: other:"), "{error}");
    assert!(format!("{error:?}").starts_with("Shape: matmul"), "{error:?}");
}

#[test]
fn every_status_has_a_kind() {
    let x = Tensor::from([1, 2]);
    let cases: [(Result<Tensor>, ErrorKind); 4] = [
        (x.sum_with(|o| o.axes(&[1])), ErrorKind::Index),
        (x.sqrt().and_then(|y| y.bitwise_invert()), ErrorKind::Dtype),
        (x.reshape(&[3]), ErrorKind::Shape),
        (x.gelu_with(|o| o.approximate("no such")), ErrorKind::Value),
    ];
    for (result, kind) in cases {
        assert_eq!(result.unwrap_err().kind(), kind);
    }
}

#[test]
fn errors_are_small_and_go_through_question_marks() {
    fn inner() -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Tensor::from([1, 2]).reshape(&[3])?;
        Ok(())
    }
    assert!(inner().unwrap_err().to_string().contains("reshape"));
    assert_eq!(std::mem::size_of::<Error>(), std::mem::size_of::<usize>());
    assert_eq!(std::mem::size_of::<Result<Tensor>>(), 2 * std::mem::size_of::<usize>());
}

#[test]
fn memory_errors_are_typed_and_harmless() -> Result<()> {
    let error = Tensor::zeros(&[1 << 40, 1 << 10]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert_eq!(Tensor::zeros(&[4])?.sum()?.item::<f32>()?, 0.0);
    assert!(memory::stats(Device::CPU)?.num_ooms >= 1);
    Ok(())
}

#[test]
fn misfits_of_memory_are_refused() {
    assert_eq!(Tensor::from_vec(vec![1, 2, 3], &[2]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(Tensor::from_vec(vec![1], &[-1]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(Tensor::from_vec(vec![1, 2], &[-1, -2]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(Tensor::from_vec(vec![0u8], &[i64::MAX, 4]).unwrap_err().kind(), ErrorKind::Shape);
}
