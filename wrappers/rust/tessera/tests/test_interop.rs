// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Memory shared with vectors, slices and DLPack.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use tessera::dlpack::{Managed, ManagedVersioned};
use tessera::{DType, Element, ErrorKind, Result, Tensor};

#[test]
fn dlpack_round_trip_shares_memory() -> Result<()> {
    let x = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    let legacy = Tensor::try_from(x.to_dlpack()?)?;
    let versioned = Tensor::try_from(x.to_dlpack_versioned(|o| o)?)?;
    legacy.add_(1)?;
    versioned.i((0, 0))?.fill_(9)?;
    assert_eq!(x.to_vec::<f32>()?, [9.0, 3.0, 4.0, 5.0]);
    drop(x);
    assert_eq!(legacy.to_vec::<f32>()?, [9.0, 3.0, 4.0, 5.0]);
    Ok(())
}

#[test]
fn strides_survive() -> Result<()> {
    let x = Tensor::arange(0, 6)?.reshape(&[2, 3])?.matrix_transpose()?;
    let managed = x.to_dlpack()?;
    let view = managed.view();
    assert_eq!((view.ndim, view.dtype.bits, view.dtype.code, view.byte_offset), (2, 64, 0, 0));
    // SAFETY: two axes, whose strides are always given.
    let strides = unsafe { std::slice::from_raw_parts(view.strides, 2) };
    assert_eq!(strides, [1, 3]);
    assert_eq!(Tensor::try_from(managed)?.to_vec::<i64>()?, [0, 3, 1, 4, 2, 5]);
    Ok(())
}

#[test]
fn a_dlpack_tensor_is_freed_once() -> Result<()> {
    let x = Tensor::from([1.0]);
    drop(x.to_dlpack()?); // unused
    let raw = x.to_dlpack_versioned(|o| o)?.into_raw();
    // SAFETY: it was given away a line above.
    let managed = unsafe { ManagedVersioned::from_raw(raw) }.expect("not null");
    let y = Tensor::try_from(managed)?;
    assert_eq!(y.item::<f64>()?, 1.0);
    // SAFETY: null is answered.
    assert!(unsafe { Managed::from_raw(std::ptr::null_mut()) }.is_none());
    Ok(())
}

#[test]
fn read_only_export_gives_a_tensor_that_refuses_writes() -> Result<()> {
    let x = Tensor::from([1.0]);
    let managed = x.to_dlpack_versioned(|o| o.read_only())?;
    assert!(managed.is_read_only());
    let y = Tensor::try_from(managed)?;
    assert!(y.is_read_only());
    assert_eq!(y.add_(1).unwrap_err().kind(), ErrorKind::Buffer);
    // SAFETY: nothing else uses the memory; the call fails.
    let refused = unsafe { y.as_mut_slice::<f64>() }.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Buffer);
    Ok(())
}

#[test]
fn copy_requests() -> Result<()> {
    let x = Tensor::from([1.0]);
    let copy = Tensor::try_from(x.to_dlpack_with(|o| o.copy())?)?;
    copy.add_(1)?;
    assert_eq!((x.item::<f64>()?, copy.item::<f64>()?), (1.0, 2.0));
    Ok(())
}

#[test]
fn tensors_that_require_grad_are_refused() -> Result<()> {
    let x = Tensor::from([1.0]).requiring_grad()?;
    assert_eq!(x.to_dlpack().unwrap_err().kind(), ErrorKind::Buffer);
    x.detach()?.to_dlpack()?;
    Ok(())
}

#[test]
fn the_exchange_table_passes_tensors() -> Result<()> {
    let table = tessera::dlpack::exchange_table();
    assert!(table.struct_size as usize >= std::mem::size_of_val(table));
    let x = Tensor::from([1.0, 2.0]);
    let (mut managed, mut back) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: a valid handle and places for the results; what comes out is taken over once.
    let y = unsafe {
        assert_eq!(table.to_managed.unwrap()(x.raw(), &mut managed), 0);
        assert_eq!(table.from_managed.unwrap()(managed, &mut back), 0);
        Tensor::from_raw(back)
    };
    y.add_(1)?;
    assert_eq!(x.to_vec::<f64>()?, [2.0, 3.0]);
    Ok(())
}

#[test]
fn vectors_become_tensors_without_a_copy() -> Result<()> {
    let values = vec![1.0f32, 2.0, 3.0];
    let start = values.as_ptr();
    let x = Tensor::from_vec(values, &[3])?;
    // SAFETY: nothing writes while the slice lives.
    let slice = unsafe { x.as_slice::<f32>()? };
    assert_eq!((slice.as_ptr(), slice), (start, [1.0, 2.0, 3.0].as_slice()));
    // SAFETY: nothing else uses the memory.
    unsafe { x.as_mut_slice::<f32>()?[1] = 7.0 };
    assert_eq!((x.version()?, x.i(1)?.item::<f32>()?), (1, 7.0));
    Ok(())
}

#[test]
fn slices_need_plain_memory_of_the_right_type() -> Result<()> {
    let x = Tensor::from([[1, 2], [3, 4]]);
    // SAFETY: nothing writes; both calls fail.
    unsafe {
        let turned = x.matrix_transpose()?;
        assert_eq!(turned.as_slice::<i32>().unwrap_err().kind(), ErrorKind::Buffer);
        assert_eq!(x.as_slice::<f32>().unwrap_err().kind(), ErrorKind::Dtype);
        assert!(Tensor::zeros(&[0])?.as_slice::<f32>()?.is_empty());
    }
    Ok(())
}

#[test]
fn misaligned_memory_is_refused() {
    let mut bytes = vec![0u64; 3];
    let odd = bytes.as_mut_ptr().cast::<u8>().wrapping_add(1).cast::<f32>();
    // SAFETY: three elements fit, and the call fails.
    let error = unsafe { Tensor::from_raw_parts(odd, &[3], &[1], bytes) }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Buffer);
    assert!(error.message().contains("aligned to 4 bytes for elements of float32"), "{error}");
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn owners_live_as_long_as_the_memory_is_used() -> Result<()> {
    let drops = Arc::new(AtomicUsize::new(0));
    let mut memory = Box::new([1i64, 2, 3, 4]);
    let last = &mut memory[3] as *mut i64;
    let owner = (memory, Counted(drops.clone()));
    // SAFETY: four elements before and including `last`, which the owner keeps.
    let x = unsafe { Tensor::from_raw_parts(last, &[2, 2], &[-2, -1], owner)? };
    assert_eq!(x.to_vec::<i64>()?, [4, 3, 2, 1]);
    let row = x.i(1)?;
    drop(x);
    assert_eq!(drops.load(Ordering::SeqCst), 0);
    assert_eq!(row.to_vec::<i64>()?, [2, 1]);
    drop(row);
    assert_eq!(drops.load(Ordering::SeqCst), 1);
    Ok(())
}

#[test]
fn owners_of_refused_memory_are_dropped_at_once() {
    let drops = Arc::new(AtomicUsize::new(0));
    let mut memory = [0u8; 2];
    // SAFETY: refused before it is looked at.
    let refused = unsafe {
        let owner = Counted(drops.clone());
        Tensor::from_raw_parts(memory.as_mut_ptr(), &[2], &[1, 1], owner)
    };
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Shape);
    // SAFETY: as above, by the library this time.
    let refused = unsafe {
        let owner = Counted(drops.clone());
        Tensor::from_raw_parts(std::ptr::null_mut::<u8>(), &[2], &[1], owner)
    };
    assert!(refused.is_err());
    assert_eq!(drops.load(Ordering::SeqCst), 2);
}

#[test]
fn deferred_drops_wait_for_poll() -> Result<()> {
    std::thread::spawn(|| -> Result<()> {
        let drops = Arc::new(AtomicUsize::new(0));
        let mut memory = Box::new([0u8; 2]);
        let start = memory.as_mut_ptr();
        // SAFETY: two elements, which the owner keeps.
        let x =
            unsafe { Tensor::from_raw_parts(start, &[2], &[1], (memory, Counted(drops.clone())))? };
        tessera::defer_drops(true)?;
        drop(x);
        assert_eq!(drops.load(Ordering::SeqCst), 0);
        while tessera::poll()? == 0 {}
        tessera::defer_drops(false)?;
        assert_eq!(drops.load(Ordering::SeqCst), 1);
        Ok(())
    })
    .join()
    .unwrap()
}

fn round_trip<T: Element + PartialEq>(values: &[T]) {
    let x = Tensor::from_slice(values, &[values.len() as i64]).unwrap();
    assert_eq!(x.dtype(), T::DTYPE);
    assert_eq!(x.to_vec::<T>().unwrap(), values);
}

#[test]
fn every_element_type_has_its_dtype() {
    round_trip(&[true, false]);
    round_trip(&[1u8, 255]);
    round_trip(&[1u16, 2]);
    round_trip(&[1u32, 2]);
    round_trip(&[1u64, u64::MAX]);
    round_trip(&[-1i8, 2]);
    round_trip(&[-1i16, 2]);
    round_trip(&[-1i32, 2]);
    round_trip(&[i64::MIN, 2]);
    round_trip(&[1.5f32, -2.0]);
    round_trip(&[1.5f64, -2.0]);
}

#[cfg(feature = "half")]
#[test]
fn half_floats_are_elements() -> Result<()> {
    use half::{bf16, f16};
    round_trip(&[f16::from_f32(1.5), f16::from_f32(-2.0)]);
    round_trip(&[bf16::from_f32(1.5), bf16::from_f32(-2.0)]);
    let x = Tensor::from([f16::from_f32(1.5)]).add(1)?;
    assert_eq!(x.item::<f16>()?.to_f32(), 2.5);
    assert_eq!(x.astype(DType::Bf16)?.item::<bf16>()?.to_f32(), 2.5);
    Ok(())
}

#[cfg(feature = "num-complex")]
#[test]
fn complex_numbers_are_elements_and_operands() -> Result<()> {
    use num_complex::Complex;
    round_trip(&[Complex::new(1.0f32, -2.0)]);
    round_trip(&[Complex::new(1.0f64, -2.0)]);
    let x = Tensor::from([1.0f32]).multiply(Complex::new(0.0f32, 2.0))?;
    assert_eq!(x.dtype(), DType::C64);
    assert_eq!(x.item::<Complex<f64>>()?, Complex::new(0.0, 2.0));
    assert_eq!(x.to_string(), "[0+2i]");
    Ok(())
}
