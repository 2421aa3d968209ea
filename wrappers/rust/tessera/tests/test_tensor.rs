// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Tensors: metadata, operators, conversions, text. Test names are those of the Python package.

use std::cell::Cell;
use std::ops::SubAssign;
use tessera::{DType, Device, DeviceType, ErrorKind, Generator, Result, Scalar, Tensor};

#[test]
fn metadata() -> Result<()> {
    let x = Tensor::zeros_with(&[2, 3], |o| o.dtype(DType::F64))?;
    assert_eq!((x.shape(), x.strides(), x.ndim()), (vec![2, 3], vec![3, 1], 2));
    assert_eq!((x.numel(), x.nbytes(), x.dtype(), x.device()), (6, 48, DType::F64, Device::CPU));
    assert!(x.is_contiguous() && !x.requires_grad() && !x.is_read_only() && !x.is_inference());
    assert_eq!((x.size(0), x.size(-1)), (2, 3));
    let turned = x.matrix_transpose()?;
    assert_eq!((turned.shape(), turned.strides()), (vec![3, 2], vec![1, 3]));
    assert!(!turned.is_contiguous());
    assert_eq!(Tensor::scalar(1.0)?.shape(), [0i64; 0]);
    assert_eq!(Tensor::zeros(&[0, 3])?.numel(), 0);
    Ok(())
}

#[test]
#[should_panic(expected = "axis 2 of a tensor with 2 axes")]
fn size_of_a_missing_axis_panics() {
    Tensor::zeros(&[2, 3]).unwrap().size(2);
}

#[test]
fn operators_take_numbers_on_both_sides() -> Result<()> {
    let x = Tensor::from([1.0f32, 2.0, 4.0]);
    let values = |tensor: Tensor| tensor.to_vec::<f32>();
    assert_eq!(values(&x + 1)?, [2.0, 3.0, 5.0]);
    assert_eq!(values(1 + &x)?, [2.0, 3.0, 5.0]);
    assert_eq!(values(&x - 1.0)?, [0.0, 1.0, 3.0]);
    assert_eq!(values(1.0 - &x)?, [0.0, -1.0, -3.0]);
    assert_eq!(values(&x * 3)?, [3.0, 6.0, 12.0]);
    assert_eq!(values(3 * &x)?, [3.0, 6.0, 12.0]);
    assert_eq!(values(&x / 2)?, [0.5, 1.0, 2.0]);
    assert_eq!(values(4.0 / &x)?, [4.0, 2.0, 1.0]);
    assert_eq!(values(&x % 3)?, [1.0, 2.0, 1.0]);
    assert_eq!(values(5.0 % &x)?, [0.0, 1.0, 1.0]);
    assert_eq!(values(-&x)?, [-1.0, -2.0, -4.0]);
    Ok(())
}

#[test]
fn operators_take_values_and_references() -> Result<()> {
    let (a, b) = (Tensor::from([1, 2]), Tensor::from([3, 5]));
    for sum in [&a + &b, &a + b.clone(), a.clone() + &b, a.clone() + b.clone()] {
        assert_eq!(sum.to_vec::<i32>()?, [4, 7]);
    }
    assert_eq!((&a & &b).to_vec::<i32>()?, [1, 0]);
    assert_eq!((&a | &b).to_vec::<i32>()?, [3, 7]);
    assert_eq!((&a ^ &b).to_vec::<i32>()?, [2, 7]);
    assert_eq!((!Tensor::from([true, false])).to_vec::<bool>()?, [false, true]);
    assert_eq!((&a & 1).to_vec::<i32>()?, [1, 0]);
    assert_eq!((4 | a.clone()).to_vec::<i32>()?, [5, 6]);
    let mut mask = a.greater(1)?;
    mask ^= true;
    assert_eq!((false | (&mask & true)).to_vec::<bool>()?, [true, false]);
    Ok(())
}

#[test]
#[should_panic(expected = "add")]
fn operators_panic_where_methods_return_errors() {
    let _ = Tensor::from([1, 2]) + Tensor::from([1, 2, 3]);
}

thread_local! {
    static PANICKED_AT: Cell<u32> = const { Cell::new(0) };
}

#[test]
fn operators_panic_at_the_line_of_the_caller() {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let here = info.location().filter(|place| place.file().ends_with("test_tensor.rs"));
        PANICKED_AT.set(here.map_or(0, |place| place.line()));
        previous(info);
    }));
    let (a, b) = (Tensor::from([1, 2]), Tensor::from([1, 2, 3]));
    let text = Tensor::from([1.5]);
    let sums: [&(dyn Fn() + std::panic::RefUnwindSafe); 5] = [
        &|| drop(&a + &b),
        &|| drop(a.clone() * b.clone()),
        &|| drop(1 & &text),
        &|| drop(!text.clone()),
        &|| a.clone().sub_assign(&b),
    ];
    let first = line!() - 6;
    for (line, sum) in (first..).zip(sums) {
        assert!(std::panic::catch_unwind(sum).is_err());
        assert_eq!(PANICKED_AT.get(), line);
    }
}

#[test]
fn numbers_are_weak() -> Result<()> {
    assert_eq!((Tensor::from([1.0f32]) + 1.5).dtype(), DType::F32);
    assert_eq!((Tensor::from([1u8]) + 1).dtype(), DType::U8);
    assert_eq!((Tensor::from([1u8]) + 1.5).dtype(), DType::F32);
    assert_eq!(Tensor::from([1.0f32]).add(Scalar::C128(1.0, 2.0))?.dtype(), DType::C64);
    let bools = Tensor::from([true, false]);
    assert_eq!(bools.add(true)?.to_vec::<bool>()?, [true, true]);
    assert_eq!(bools.bitwise_xor_(true)?.to_vec::<bool>()?, [false, true]);
    assert_eq!((bools.add(1)?.dtype(), bools.multiply(0.5)?.dtype()), (DType::I64, DType::F32));
    assert_eq!(bools.pow_left(true)?.dtype(), bools.pow(&bools)?.dtype());
    assert_eq!(bools.equal(false)?.to_vec::<bool>()?, [true, false]);
    assert_eq!(Tensor::from([3u8]).add(true)?.to_vec::<u8>()?, [4]);
    assert_eq!(bools.logical_or(0.5)?.to_vec::<bool>()?, [true, true]);
    assert_eq!(bools.where_cond(true, false)?.to_vec::<bool>()?, [false, true]);
    assert_eq!(Tensor::arange_with(0, 2, |o| o.step(0.5))?.to_vec::<f32>()?, [0.0, 0.5, 1.0, 1.5]);
    Ok(())
}

#[test]
fn every_kind_of_number_is_an_operand() -> Result<()> {
    let x = Tensor::from([1i64, 2]);
    let count = x.numel();
    assert_eq!(x.add(count)?.to_vec::<i64>()?, [3, 4]);
    assert_eq!(x.add(-2isize)?.add(7u64)?.to_vec::<i64>()?, [6, 7]);
    assert_eq!(Scalar::from(u64::MAX), Scalar::U64(u64::MAX));
    assert_eq!(Tensor::from([1.0]).multiply(1u64 << 63)?.item::<f64>()?, 2f64.powi(63));
    Ok(())
}

#[test]
fn inplace_operators_keep_the_object() -> Result<()> {
    let mut x = Tensor::from([1.0, 2.0]);
    let same = x.clone();
    x += 1;
    x *= &same;
    x -= 1.0;
    x /= 3;
    assert_eq!(same.to_vec::<f64>()?, [1.0, 8.0 / 3.0]);
    assert!(x.is_same(&same));
    let bits = Tensor::from([6i64, 5]);
    bits.bitwise_and_(3)?.bitwise_or_(8)?.bitwise_xor_(1)?;
    assert_eq!(bits.to_vec::<i64>()?, [11, 8]);
    Ok(())
}

#[test]
fn comparisons_and_logic() -> Result<()> {
    let x = Tensor::from([1, 2, 3]);
    assert_eq!(x.less(2)?.to_vec::<bool>()?, [true, false, false]);
    assert_eq!(x.greater_equal(&Tensor::from([3, 2, 1]))?.to_vec::<bool>()?, [false, true, true]);
    let mask = x.greater(1)?;
    assert_eq!(mask.where_cond(&x, 0)?.to_vec::<i32>()?, [0, 2, 3]);
    assert_eq!(mask.where_cond(0, &x)?.to_vec::<i32>()?, [1, 0, 0]);
    assert_eq!(mask.where_cond(1.5, 0)?.to_vec::<f32>()?, [0.0, 1.5, 1.5]);
    assert!(x.equal(&x)?.all()?.item::<bool>()?);
    Ok(())
}

#[test]
fn clipping_takes_numbers_tensors_and_both() -> Result<()> {
    let x = Tensor::from([-2.0f32, 0.5, 2.0]);
    assert_eq!(x.clip_with(|o| o.min(-1).max(1.0))?.to_vec::<f32>()?, [-1.0, 0.5, 1.0]);
    assert_eq!(x.clip_with(|o| o.max(0.0))?.to_vec::<f32>()?, [-2.0, 0.0, 0.0]);
    let low = Tensor::from([-1.0f32, 1.0, 1.0]);
    assert_eq!(x.clip_with(|o| o.min(&low))?.to_vec::<f32>()?, [-1.0, 1.0, 2.0]);
    let both = x.clip_with(|o| o.min(&low).max(1.5))?;
    assert_eq!((both.dtype(), both.to_vec::<f32>()?), (DType::F32, vec![-1.0, 1.0, 1.5]));
    let one = Tensor::from([1i32]);
    let counts = Tensor::from([0i32, 5]).clip_with(|o| o.min(&one).max(2.5))?;
    assert_eq!(counts.to_vec::<f32>()?, [1.0, 2.5]);
    let place = Tensor::zeros(&[3])?;
    x.clip_out(&place, |o| o.min(&low).max(1.5))?;
    assert_eq!(place.to_vec::<f32>()?, [-1.0, 1.0, 1.5]);
    place.clip_(|o| o.min(0.0).max(&low))?;
    assert_eq!(place.to_vec::<f32>()?, [-1.0, 1.0, 1.0]);
    assert_eq!(x.clip()?.to_vec::<f32>()?, [-2.0, 0.5, 2.0]);
    x.clip_(|o| o.min(0.0))?;
    assert_eq!(x.to_vec::<f32>()?, [0.0, 0.5, 2.0]);
    Ok(())
}

#[test]
fn numbers_and_nested_arrays_become_tensors() -> Result<()> {
    let number = Tensor::from(2.5f32);
    assert_eq!((number.ndim(), number.item::<f32>()?), (0, 2.5));
    assert_eq!(Tensor::from(true).dtype(), DType::Bool);
    let image = Tensor::from([[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]]);
    assert_eq!((image.shape(), image.i((0, 1, 0, 1))?.item()?), (vec![1, 2, 2, 2], 6));
    assert_eq!(Tensor::from(&[1u8, 2][..]).shape(), [2]);
    Ok(())
}

#[test]
fn matmul() -> Result<()> {
    let a = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    assert_eq!(a.matmul(&a)?.to_vec::<f64>()?, [7.0, 10.0, 15.0, 22.0]);
    Ok(())
}

#[test]
fn options_have_the_defaults_of_the_schema() -> Result<()> {
    let x = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    assert_eq!(x.sum()?.item::<f32>()?, 10.0);
    let columns = x.sum_with(|o| o.axes(&[0]).keepdims(true).dtype(DType::F64))?;
    assert_eq!((columns.shape(), columns.to_vec::<f64>()?), (vec![1, 2], vec![4.0, 6.0]));
    let dst = Tensor::zeros(&[2])?;
    x.sum_out(&dst, |o| o.axes(&[1]))?;
    assert_eq!(dst.to_vec::<f32>()?, [3.0, 7.0]);
    let (values, indices) = Tensor::from([3.0, 1.0, 2.0]).topk_with(2, |o| o.largest(false))?;
    assert_eq!(values.to_vec::<f64>()?, [1.0, 2.0]);
    assert_eq!(indices.to_vec::<i64>()?, [1, 2]);
    let joined = Tensor::concat_with(&[&x, &x], |o| o.axis(1))?;
    assert_eq!(joined.shape(), [2, 4]);
    assert_eq!(Tensor::concat_with(&[&x, &x], |o| o.axis(None))?.shape(), [8]);
    let parts = Tensor::arange(0, 40)?.split(1)?;
    assert_eq!(parts.len(), 40);
    assert_eq!(parts[39].item::<i64>()?, 39);
    Ok(())
}

#[test]
fn numbers_that_do_not_fit_are_not_converted() -> Result<()> {
    assert_eq!(Tensor::from(255i64).item::<u8>()?, 255);
    assert_eq!(Tensor::from(-128i64).item::<i8>()?, -128);
    assert_eq!(Tensor::from(u64::MAX).item::<u64>()?, u64::MAX);
    assert_eq!(Tensor::from(true).item::<i32>()?, 1);
    let kind = |error: tessera::Error| error.kind();
    assert_eq!(Tensor::from(300i64).item::<u8>().map_err(kind), Err(ErrorKind::Value));
    assert_eq!(Tensor::from(-1i64).item::<u64>().map_err(kind), Err(ErrorKind::Value));
    assert_eq!(Tensor::from(u64::MAX).item::<i64>().map_err(kind), Err(ErrorKind::Value));
    assert_eq!(Tensor::from(1.5f32).item::<i64>().map_err(kind), Err(ErrorKind::Dtype));
    let endless = Tensor::zeros(&[1])?.expand(&[1 << 60])?;
    assert_eq!(endless.to_vec::<f32>().map_err(kind), Err(ErrorKind::OutOfMemory));
    Ok(())
}

#[test]
fn conversions_to_rust() -> Result<()> {
    assert_eq!(Tensor::from([1.5f32]).item::<f64>()?, 1.5);
    assert_eq!(Tensor::from([3u8]).item::<i64>()?, 3);
    assert_eq!(Tensor::from([2.5]).item_complex()?, (2.5, 0.0));
    let values: Vec<i32> = (&Tensor::from([[1, 2], [3, 4]]).matrix_transpose()?).try_into()?;
    assert_eq!(values, [1, 3, 2, 4]);
    assert_eq!(Tensor::from([1, 2]).item::<i32>().unwrap_err().kind(), ErrorKind::Value);
    let error = Tensor::from([1, 2]).to_vec::<f32>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Dtype);
    assert_eq!(error.message(), "to_vec: expected a tensor of float32, got int32");
    let too_small = Tensor::from([1, 2]).read_into(&mut [0i32]).unwrap_err();
    assert_eq!(too_small.kind(), ErrorKind::Buffer);
    let x = Tensor::zeros(&[2])?;
    x.write_from(&[4.0f32, 5.0])?;
    assert_eq!(x.to_vec::<f32>()?, [4.0, 5.0]);
    Ok(())
}

#[test]
fn repr() -> Result<()> {
    assert_eq!(Tensor::from([[1, 2], [3, 4]]).to_string(), "[[1, 2],\n [3, 4]]");
    assert_eq!(format!("{:.2}", Tensor::from([0.5f32, 0.1])), "[0.50, 0.10]");
    assert_eq!(Tensor::from([0.1f32]).to_string(), "[0.1]");
    assert_eq!(Tensor::from([true]).to_string(), "[true]");
    assert_eq!(Tensor::scalar(u64::MAX)?.to_string(), "18446744073709551615");
    let x = Tensor::from([1.0]).requiring_grad()?;
    assert_eq!(format!("{x:?}"), "Tensor([1], shape=[1], dtype=float64, requires_grad=true)");
    let rows = "Tensor([[1, 2],\n        [3, 4]], shape=[2, 2], dtype=int32)";
    assert_eq!(format!("{:?}", Tensor::from([[1, 2], [3, 4]])), rows);
    let wide = Tensor::from([1e20f32, -2.5e-7, 0.0, f32::INFINITY]);
    assert_eq!(wide.to_string(), "[1e20, -2.5e-7, 0, inf]");
    let complex = Tensor::from([1.0f32, -0.5]).complex(&Tensor::from([-2.0f32, 1e-7]))?;
    assert_eq!(complex.to_string(), "[1-2i, -0.5+1e-7i]");
    assert_eq!(Tensor::from([0.1f32]).astype(DType::Bf16)?.to_string(), "[0.100097656]");
    let square = Tensor::arange(0, 1600)?.reshape(&[40, 40])?.matrix_transpose()?.to_string();
    assert_eq!(square.lines().count(), 7);
    assert!(square.starts_with("[[0, 40, 80, ..., 1480, 1520, 1560],\n [1, 41, "), "{square}");
    assert!(square.contains("],\n ...,\n [37, 77, "), "{square}");
    let long = Tensor::arange(0, 2000)?.to_string();
    assert_eq!(long, "[0, 1, 2, ..., 1997, 1998, 1999]");
    assert_eq!(Tensor::zeros(&[2, 0])?.to_string(), "[[],\n []]");
    let rows = Tensor::zeros(&[1 << 40, 1 << 20, 0])?.to_string();
    assert!(rows.len() < 1000, "{} bytes", rows.len());
    Ok(())
}

#[test]
fn copies() -> Result<()> {
    let x = Tensor::from([1, 2]);
    let (same, copy) = (x.clone(), x.deep_clone()?);
    x.add_(1)?;
    assert_eq!(same.to_vec::<i32>()?, [2, 3]);
    assert_eq!(copy.to_vec::<i32>()?, [1, 2]);
    Ok(())
}

#[test]
fn conversions_of_dtype() -> Result<()> {
    for &dtype in DType::ALL {
        let x = Tensor::ones(&[2])?.astype(dtype)?;
        assert_eq!((x.dtype(), x.nbytes()), (dtype, 2 * dtype.size()));
        assert_eq!(x.i(0)?.item_complex()?, (1.0, 0.0), "{dtype}");
    }
    let x = Tensor::ones(&[2])?;
    assert!(x.to_with(|o| o.dtype(DType::F32))?.is_same(&x));
    assert_eq!(x.to_with(|o| o.device(Device::CPU).dtype(DType::I8))?.dtype(), DType::I8);
    Ok(())
}

#[test]
fn dtype_facts() {
    assert_eq!((DType::Bf16.name(), DType::Bf16.size()), ("bfloat16", 2));
    assert!(DType::F16.is_floating_point() && !DType::F16.is_complex());
    assert!(DType::C64.is_complex() && DType::U8.is_integral() && !DType::Bool.is_integral());
    assert_eq!(DType::C128.to_string(), "complex128");
}

#[test]
fn devices() {
    assert_eq!("cpu".parse::<Device>().unwrap(), Device::CPU);
    assert_eq!("cuda:1".parse::<Device>().unwrap(), Device::cuda(1));
    assert_eq!(Device::cuda(1).to_string(), "cuda:1");
    assert_eq!(Device::cuda(1), Device::new(DeviceType::Cuda, 1));
    assert_eq!("tpu".parse::<Device>().unwrap_err().kind(), ErrorKind::Device);
    assert_eq!(Device::count(DeviceType::Cpu).unwrap(), 1);
    Device::CPU.synchronize().unwrap();
    let missing = Device::new(DeviceType::Cpu, 9).synchronize().unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Device);
}

#[test]
fn seeds_repeat_random_numbers() -> Result<()> {
    let generator = Generator::new(3)?;
    let draw = |g: &Generator| Tensor::randn_with(&[4], |o| o.generator(g))?.to_vec::<f32>();
    let (state, first) = (generator.state()?, draw(&generator)?);
    assert_ne!(draw(&generator)?, first);
    generator.seed(3)?;
    assert_eq!(draw(&generator)?, first);
    generator.set_state(state)?;
    assert_eq!(draw(&generator.clone())?, first);
    Ok(())
}

#[test]
fn kinds_of_numbers_that_an_op_lacks_are_refused() {
    let x = Tensor::from([1, 2]);
    let pair = Scalar::C128(0.0, 1.0);
    assert_eq!(x.bitwise_and(1.5).unwrap_err().kind(), ErrorKind::Dtype);
    assert_eq!(x.maximum(pair).unwrap_err().kind(), ErrorKind::Dtype);
    assert_eq!(x.clip_with(|o| o.max(pair)).unwrap_err().kind(), ErrorKind::Type);
    assert_eq!(x.bitwise_and(true).unwrap().to_vec::<i32>().unwrap(), [1, 0]);
}

#[test]
fn what_owns_handles_goes_to_other_threads() {
    fn check<T: Send + Sync>() {}
    check::<Tensor>();
    check::<Generator>();
    check::<tessera::Error>();
    check::<tessera::Stream>();
    check::<tessera::autograd::Node>();
    check::<tessera::io::Archive>();
    check::<Box<dyn tessera::nn::Module>>();
}

#[test]
fn dtypes_promote_as_the_library_says() -> Result<()> {
    assert_eq!(DType::I8.promote(DType::U8)?, DType::I16);
    assert_eq!(DType::F16.promote(DType::Bf16)?, DType::F32);
    assert_eq!(DType::U64.promote(DType::I8).unwrap_err().kind(), ErrorKind::Dtype);
    assert!(DType::I8.can_cast(DType::I16) && !DType::F64.can_cast(DType::F32));
    assert!(!DType::U64.can_cast(DType::I64));
    // The default belongs to the process, and other tests run beside this one: it stays what it is.
    assert_eq!(DType::default_float(), DType::F32);
    DType::F32.set_default_float().unwrap();
    assert!(DType::I8.set_default_float().is_err());
    for (first, second) in DType::ALL.iter().flat_map(|a| DType::ALL.iter().map(move |b| (*a, *b)))
    {
        let (x, y) = (
            Tensor::zeros_with(&[1], |o| o.dtype(first))?,
            Tensor::zeros_with(&[1], |o| o.dtype(second))?,
        );
        match first.promote(second) {
            Ok(common) => assert_eq!(x.add(&y)?.dtype(), common),
            Err(_) => assert!(x.add(&y).is_err()),
        }
    }
    Ok(())
}

#[test]
fn rows_of_vectors_become_a_matrix() -> Result<()> {
    let matrix = Tensor::try_from(vec![vec![1i64, 2], vec![3, 4], vec![5, 6]])?;
    assert_eq!((matrix.shape(), matrix.to_vec::<i64>()?), (vec![3, 2], vec![1, 2, 3, 4, 5, 6]));
    assert_eq!(Tensor::try_from(Vec::<Vec<f32>>::new())?.shape(), [0, 0]);
    assert_eq!(Tensor::try_from(vec![Vec::<f32>::new(); 2])?.shape(), [2, 0]);
    let ragged = Tensor::try_from(vec![vec![1.0], vec![2.0, 3.0]]).unwrap_err();
    assert_eq!((ragged.kind(), ragged.operation()), (ErrorKind::Shape, "try_from"));
    assert!(ragged.message().ends_with("rows of equal lengths, got 1 and 2"), "{ragged}");
    Ok(())
}

#[test]
fn iterators_are_collected() -> Result<()> {
    let x: Tensor = (1..=3i64).rev().collect();
    assert_eq!((x.shape(), x.to_vec::<i64>()?), (vec![3], vec![3, 2, 1]));
    assert_eq!(std::iter::empty::<f32>().collect::<Tensor>().shape(), [0]);
    Ok(())
}
