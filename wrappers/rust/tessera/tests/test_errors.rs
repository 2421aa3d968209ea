// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Errors: kinds, contents, and that the library still works after them.

use std::error::Error as StdError;
use tessera::{memory, Device, Error, ErrorKind, Result, Tensor};

#[test]
fn errors_carry_operation_and_argument() {
    let error = Tensor::from([1.0]).matmul(&Tensor::from([1.0, 2.0])).unwrap_err();
    assert_eq!((error.kind(), error.kind().name()), (ErrorKind::Shape, "SHAPE"));
    assert_eq!((error.operation(), error.argument()), ("matmul", Some(1)));
    assert!(error.to_string().starts_with("matmul: other:"), "{error}");
    assert!(format!("{error:?}").starts_with("Shape: matmul"), "{error:?}");
    let error = tessera::io::load_file("no/such/file").unwrap_err();
    assert_eq!(error.operation(), "archive_open");
    assert!(error.to_string().starts_with("archive_open: "), "{error}");
}

#[test]
fn checks_of_the_crate_name_their_operation() {
    let x = Tensor::from([1.0f32, 2.0]);
    let refusals = [
        (x.to_vec::<i64>().unwrap_err(), "to_vec"),
        (x.item::<f32>().unwrap_err(), "item"),
        (Tensor::from_vec(vec![1.0], &[2]).unwrap_err(), "from_vec"),
        (x.add_out(1, &Tensor::from([0.0f32; 3])).unwrap_err(), "add_out"),
        (tessera::nn::Conv2d::with(3, 4, 1, |c| c.groups(2)).err().unwrap(), "Conv2d"),
    ];
    for (error, operation) in refusals {
        assert_eq!(error.operation(), operation, "{error}");
        assert!(error.message().starts_with(&format!("{operation}: ")), "{error}");
    }
    assert_eq!(Error::new(ErrorKind::Io, "disk: full").operation(), ""); // a text of the program
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

#[derive(Debug, PartialEq)]
struct Own(u8);

impl std::fmt::Display for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "number {}", self.0)
    }
}

impl StdError for Own {}

#[test]
fn errors_of_others_pass_through_callbacks() -> Result<()> {
    let x = Tensor::from([1.0]).requiring_grad()?;
    x.register_hook(|_| Err(Error::other(Own(7))))?;
    let error = x.sum()?.backward().unwrap_err();
    assert_eq!(error.to_string(), "number 7");
    assert_eq!(error.get_ref().and_then(|wrapped| wrapped.downcast_ref()), Some(&Own(7)));
    assert!(error.source().is_none(), "a report of the chain names it once");
    let around = Error::other(Error::other(std::fmt::Error));
    assert!(around.source().is_none() && around.get_ref().is_some_and(|e| e.is::<Error>()));
    let plain = Error::new(ErrorKind::Value, "plain");
    assert!(plain.source().is_none() && plain.get_ref().is_none());
    Ok(())
}

#[test]
fn errors_of_the_system_keep_their_number() {
    fn open() -> Result<std::fs::File> {
        Ok(std::fs::File::open("no/such/file")?)
    }
    let error = open().unwrap_err();
    assert_eq!((error.kind(), error.native_code()), (ErrorKind::Io, 2));
    assert!(error.get_ref().is_some_and(|wrapped| wrapped.is::<std::io::Error>()));
    assert_eq!(error.kind().to_string(), "IO");
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
    let error = Tensor::from_slice(&[1, 2, 3], &[2]).unwrap_err();
    assert_eq!(error.message(), "from_slice: 3 elements do not fill shape [2]");
    assert_eq!(Tensor::from_vec(vec![1, 2, 3], &[2]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(Tensor::from_vec(vec![1], &[-1]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(Tensor::from_vec(vec![1, 2], &[-1, -2]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(Tensor::from_vec(vec![0u8], &[i64::MAX, 4]).unwrap_err().kind(), ErrorKind::Shape);
}
