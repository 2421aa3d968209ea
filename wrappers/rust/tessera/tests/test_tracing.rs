// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Traces: the content of records, and that a trace ends with its closure. There is one trace per
//! process, so these tests run one at a time.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tessera::optim::{Optimizer, Sgd};
use tessera::tracing::{record, Argument, Kind, Options, Record, Trace};
use tessera::{DType, Device, ErrorKind, Result, Tensor};

fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn only<'a>(trace: &'a Trace, kind: Kind, name: &str) -> &'a Record {
    let found: Vec<_> = trace.records.iter().filter(|r| r.kind == kind && r.name == name).collect();
    assert_eq!(found.len(), 1, "{name}");
    found[0]
}

#[test]
fn a_call_has_its_kernel_and_its_arguments() -> Result<()> {
    let _turn = turn();
    let x = Tensor::ones(&[2, 3])?;
    let options = Options { arguments: true, ..Options::default() };
    let (y, trace) = record(&options, || x.exp())?;
    y?;
    let (call, kernel) = (only(&trace, Kind::Call, "exp"), only(&trace, Kind::Launch, "exp"));
    assert_eq!(kernel.family.as_deref(), Some("unary"));
    assert_eq!(kernel.device, Some(Device::CPU));
    assert_eq!(kernel.parent, call.correlation);
    assert!(call.begin <= kernel.begin && kernel.begin <= kernel.end && kernel.end <= call.end);
    assert_eq!(call.args, [Argument::Tensor(DType::F32, vec![2, 3])]);
    assert!(trace.records.iter().any(|r| r.kind == Kind::Allocate && r.value > 0));
    assert_eq!(trace.lost, 0);
    Ok(())
}

#[test]
fn functions_that_are_no_operators_show_their_arguments() -> Result<()> {
    let _turn = turn();
    let x = Tensor::ones(&[2, 3])?;
    let options = Options { arguments: true, kinds: vec![Kind::Call], ..Options::default() };
    let (made, trace) =
        record(&options, || Optimizer::new(Sgd::default(), std::slice::from_ref(&x)))?;
    made?;
    let args = &only(&trace, Kind::Call, "tsr_optimizer_new").args;
    assert!(matches!(args[0], Argument::Address(at) if at != 0));
    assert_eq!(args[1], Argument::List(vec![Argument::Tensor(DType::F32, vec![2, 3])]));
    Ok(())
}

#[test]
fn an_integer_that_only_uint64_can_hold_is_shown_whole() -> Result<()> {
    let _turn = turn();
    let x = Tensor::from([1u64]);
    let options = Options { arguments: true, kinds: vec![Kind::Call], ..Options::default() };
    let (sum, trace) = record(&options, || x.add(u64::MAX - 1))?;
    sum?;
    assert_eq!(only(&trace, Kind::Call, "add").args[1], Argument::Unsigned(u64::MAX - 1));
    Ok(())
}

#[test]
fn a_trace_ends_with_its_closure() -> Result<()> {
    let _turn = turn();
    let options = Options { kinds: vec![Kind::Launch], capacity: 1, ..Options::default() };
    let panicked = catch_unwind(AssertUnwindSafe(|| record(&options, || panic!("of the closure"))));
    assert!(panicked.is_err());
    let x = Tensor::ones(&[1])?;
    let (inner, trace) = record(&options, || {
        let inner = record(&options, || ());
        for _ in 0..3 {
            x.exp().unwrap();
        }
        inner
    })?;
    assert_eq!(inner.unwrap_err().kind(), ErrorKind::Value);
    assert_eq!((trace.records.len(), trace.lost), (1, 2));
    Ok(())
}

#[test]
fn printing_reads_the_elements_at_once() -> Result<()> {
    let _turn = turn();
    let x = Tensor::ones(&[30, 30])?;
    let (text, trace) = record(&Options::default(), || x.to_string())?;
    assert_eq!(text.matches('1').count(), 900);
    assert!(trace.records.len() < 50, "{} records", trace.records.len());
    Ok(())
}
