// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Tensors in memory that other processes map.

use tessera::share::{from_shared, ipc_collect, ipc_open, Place, Strategy};
use tessera::{DType, ErrorKind, Result, Tensor};

#[test]
fn d6_a_tensor_moves_with_its_views() -> Result<()> {
    let whole = Tensor::from(vec![1.0f32, 2.0, 3.0, 4.0]);
    let tail = whole.narrow(0, 2, 2)?;
    assert!(!whole.is_shared()?);
    assert_eq!(whole.shared_handle(false).unwrap_err().kind(), ErrorKind::Buffer);
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
    }
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
