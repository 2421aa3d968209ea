// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Tensors in memory that other processes map.

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use tessera::share::{
    from_shared, ipc_collect, ipc_open, shared_memory_counts, Place, SharedHandle, Strategy,
};
use tessera::{DType, ErrorKind, Result, Tensor};

#[test]
fn d6_a_tensor_moves_with_its_views() -> Result<()> {
    let whole = Tensor::from(vec![1.0f32, 2.0, 3.0, 4.0]);
    let tail = whole.narrow(0, 2, 2)?;
    assert!(!whole.is_shared()?);
    let error = whole.shared_handle(false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Buffer);
    assert!(!error.message().contains("tsr_"), "{error}");
    whole.share_memory(Strategy::FileDescriptor)?;
    assert!(whole.is_shared()? && tail.is_shared()?);
    whole.add_(1)?;
    assert_eq!(tail.to_vec::<f32>()?, [4.0, 5.0]);
    Ok(())
}

#[test]
fn d6_lent_memory_does_not_move() -> Result<()> {
    let whole = Tensor::from(vec![1.0f32, 2.0, 3.0]);
    let loan = whole.lend_memory()?;
    let error = whole.share_memory(Strategy::FileDescriptor).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Buffer);
    drop(loan);
    whole.share_memory(Strategy::FileDescriptor)?;
    assert!(whole.is_shared()?);
    Ok(())
}

#[test]
fn d6_memory_opens_by_descriptor_and_by_name() -> Result<()> {
    for strategy in [Strategy::FileDescriptor, Strategy::FileSystem] {
        let x = Tensor::empty_shared(&[2, 3], DType::F32, strategy)?;
        assert_eq!(x.to_vec::<f32>()?, [0.0; 6]);
        x.copy_(&Tensor::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]), |o| o)?;
        let handle = x.shared_handle(true)?;
        let named = matches!(handle.place, Place::Name(_));
        assert_eq!(named, strategy == Strategy::FileSystem);
        let column = from_shared(&handle, 1, &[2], Some(&[3]), DType::F32)?;
        assert_eq!(column.to_vec::<f32>()?, [2.0, 5.0]);
        let handle = x.shared_handle(false)?;
        let again = from_shared(&handle, 0, &[6], None, DType::F32)?;
        again.multiply_(2)?;
        assert_eq!(x.to_vec::<f32>()?, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
        let wrong = from_shared(&handle, 0, &[7], None, DType::F32);
        assert_eq!(wrong.unwrap_err().kind(), ErrorKind::Shape);
        let huge = from_shared(&handle, 0, &[2, i64::MAX, i64::MAX], None, DType::F32);
        assert_eq!(huge.unwrap_err().kind(), ErrorKind::Shape);
    }
    Ok(())
}

/// A tensor of recycled memory as a receiver gets it, who is this process; and the file behind it.
fn passed_on(value: f32) -> Result<(Tensor, u64)> {
    let made = Tensor::empty_shared(&[1000], DType::F32, Strategy::Recycled)?;
    made.fill_(value)?;
    let handle = made.shared_handle(true)?;
    assert!(handle.recycled && handle.in_transit);
    let Place::FileDescriptor(fd) = handle.place else { panic!("{handle:?}") };
    // SAFETY: the tensor keeps the descriptor open.
    let file = File::from(unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned()?);
    drop(made);
    let sent = SharedHandle { place: Place::FileDescriptor(file.as_raw_fd()), ..handle };
    Ok((from_shared(&sent, 0, &[1000], None, DType::F32)?, file.metadata()?.ino()))
}

#[test]
fn d4_recycled_memory_is_filled_again_when_its_receiver_has_released_it() -> Result<()> {
    let before = shared_memory_counts()?.blocks;
    let (first, place) = passed_on(1.0)?;
    let (second, other) = passed_on(2.0)?;
    assert_ne!(place, other);
    assert_eq!(first.sum()?.item::<f64>()?, 1000.0);
    drop(first);
    let (third, again) = passed_on(3.0)?;
    assert_eq!(again, place);
    assert_eq!(second.sum()?.item::<f64>()?, 2000.0);
    assert_eq!(third.sum()?.item::<f64>()?, 3000.0);
    assert!(shared_memory_counts()?.blocks > before);
    let x = Tensor::from(vec![1.0f32, 2.0]);
    x.share_memory(Strategy::Recycled)?;
    let uncounted = x.shared_handle(false)?; // ends the recycling
    assert!(!uncounted.recycled);
    assert_eq!(from_shared(&uncounted, 0, &[2], None, DType::F32)?.to_vec::<f32>()?, [1.0, 2.0]);
    Ok(())
}

#[test]
fn d7_memory_of_devices_needs_a_device_that_shows_it() -> Result<()> {
    let x = Tensor::from(vec![1.0f32]);
    assert_eq!(x.ipc_export().unwrap_err().kind(), ErrorKind::NotImplemented);
    let wrong = ipc_open("no handle", 0, &[1], None, DType::F32);
    assert_eq!(wrong.unwrap_err().kind(), ErrorKind::Value);
    assert_eq!(ipc_collect()?, 0);
    Ok(())
}
