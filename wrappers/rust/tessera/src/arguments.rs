// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Numbers and tensors as arguments, and the helpers of the generated op methods.

pub(crate) use crate::error::{done, failure};
pub(crate) use crate::{DType, Device, Generator, Result, Tensor};
use crate::{Error, ErrorKind};
pub(crate) use std::borrow::Borrow;
pub(crate) use std::ptr::null_mut;
pub(crate) use tessera_sys as sys;

/// The library's "absent" for an int64.
pub(crate) const ABSENT: i64 = i64::MIN;

// ---- Host numbers ----

/// A number as an argument. It takes the dtype of the tensor beside it: `x.add(1.5)` of a float32
/// tensor is float32. Every number type of Rust converts to it; integers beyond `i64` fit
/// uint64 alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer.
    I64(i64),
    /// An integer beyond `i64`, which only uint64 can hold.
    U64(u64),
    /// A real number.
    F64(f64),
    /// Real and imaginary part.
    C128(f64, f64),
}

impl Scalar {
    /// The number as the C ABI's struct.
    #[inline]
    pub(crate) fn number(self) -> sys::tsr_number {
        let (kind, integer, real, imaginary) = match self {
            Scalar::Bool(value) => (sys::TSR_NUMBER_BOOL, i64::from(value), 0.0, 0.0),
            Scalar::I64(value) => (sys::TSR_NUMBER_INTEGER, value, 0.0, 0.0),
            Scalar::U64(value) => (sys::TSR_NUMBER_UNSIGNED, value as i64, 0.0, 0.0),
            Scalar::F64(value) => (sys::TSR_NUMBER_REAL, 0, value, 0.0),
            Scalar::C128(re, im) => (sys::TSR_NUMBER_COMPLEX, 0, re, im),
        };
        sys::tsr_number { kind, reserved: 0, integer, real, imaginary }
    }
}

/// A host number as an argument of C.
#[inline]
pub(crate) fn number(value: impl Into<Scalar>) -> sys::tsr_number {
    value.into().number()
}

macro_rules! operand_from {
    ($kind:ty $(, $generic:ident)?) => {
        impl$(<$generic: Into<f64>>)? From<$kind> for Operand<'_> {
            #[inline]
            fn from(value: $kind) -> Self {
                Operand::Scalar(value.into())
            }
        }
    };
}

macro_rules! scalar_from {
    ($($kind:ty => $variant:ident($convert:path)),*) => {$(
        impl From<$kind> for Scalar {
            #[inline]
            fn from(value: $kind) -> Self {
                Scalar::$variant($convert(value))
            }
        }
        operand_from!($kind);
    )*};
}
scalar_from! {
    bool => Bool(bool::from),
    i8 => I64(i64::from), i16 => I64(i64::from), i32 => I64(i64::from), i64 => I64(i64::from),
    u8 => I64(i64::from), u16 => I64(i64::from), u32 => I64(i64::from),
    f32 => F64(f64::from), f64 => F64(f64::from)
}

macro_rules! wide_scalar_from {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Scalar {
            /// An integer; a [`Scalar::U64`] if it is beyond `i64`.
            #[inline]
            fn from(value: $kind) -> Self {
                i64::try_from(value).map_or(Scalar::U64(value as u64), Scalar::I64)
            }
        }
        operand_from!($kind);
    )*};
}
wide_scalar_from!(u64, usize, isize);

#[cfg(feature = "num-complex")]
impl<T: Into<f64>> From<num_complex::Complex<T>> for Scalar {
    fn from(value: num_complex::Complex<T>) -> Self {
        Scalar::C128(value.re.into(), value.im.into())
    }
}

#[cfg(feature = "num-complex")]
operand_from!(num_complex::Complex<T>, T);

#[cfg(feature = "half")]
scalar_from! { half::f16 => F64(f64::from), half::bf16 => F64(f64::from) }

/// A tensor or a number, for the ops that take either.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// A number.
    Scalar(Scalar),
}

impl<'a> From<&'a Tensor> for Operand<'a> {
    #[inline]
    fn from(tensor: &'a Tensor) -> Self {
        Operand::Tensor(tensor)
    }
}

impl From<Scalar> for Operand<'_> {
    fn from(value: Scalar) -> Self {
        Operand::Scalar(value)
    }
}

/// Two bounds, of which each may be absent.
pub(crate) enum Bounds<'a> {
    Numbers(Option<sys::tsr_number>, Option<sys::tsr_number>),
    Tensors(Option<&'a Tensor>, Option<&'a Tensor>),
    /// One of each kind.
    Mixed(Operand<'a>, Operand<'a>),
}

#[inline]
pub(crate) fn bounds<'a>(low: Option<Operand<'a>>, high: Option<Operand<'a>>) -> Bounds<'a> {
    use Operand::{Scalar as Number, Tensor as Given};
    match (low, high) {
        (None, None) => Bounds::Numbers(None, None),
        (Some(Number(a)), None) => Bounds::Numbers(Some(a.number()), None),
        (None, Some(Number(b))) => Bounds::Numbers(None, Some(b.number())),
        (Some(Number(a)), Some(Number(b))) => Bounds::Numbers(Some(a.number()), Some(b.number())),
        (Some(Given(a)), None) => Bounds::Tensors(Some(a), None),
        (None, Some(Given(b))) => Bounds::Tensors(None, Some(b)),
        (Some(Given(a)), Some(Given(b))) => Bounds::Tensors(Some(a), Some(b)),
        (Some(a), Some(b)) => Bounds::Mixed(a, b),
    }
}

/// Clips a tensor to bounds of different kinds, one after the other.
pub(crate) fn limited(input: &Tensor, low: Operand<'_>, high: Operand<'_>) -> Result<Tensor> {
    input.clip_with(|o| o.min(low))?.clip_with(|o| o.max(high))
}

#[inline]
pub(crate) fn optional_number(number: &Option<sys::tsr_number>) -> *const sys::tsr_number {
    number.as_ref().map_or(std::ptr::null(), std::ptr::from_ref)
}

// ---- Lists and absent values ----

/// Lengths are int32 in the C ABI.
#[inline]
pub(crate) fn count(length: usize) -> i32 {
    i32::try_from(length).expect("a list of fewer than 2^31 entries")
}

#[inline]
pub(crate) fn list_pointer<T>(list: Option<&[T]>) -> *const T {
    list.map_or(std::ptr::null(), <[T]>::as_ptr)
}

#[inline]
pub(crate) fn list_count<T>(list: Option<&[T]>) -> i32 {
    list.map_or(-1, |list| count(list.len()))
}

pub(crate) fn handles(tensors: &[impl Borrow<Tensor>]) -> Vec<sys::tsr_tensor> {
    tensors.iter().map(|tensor| tensor.borrow().raw()).collect()
}

pub(crate) fn sparse_handles(tensors: &[Option<&Tensor>]) -> Vec<sys::tsr_tensor> {
    tensors.iter().map(|tensor| tensor.map_or(null_mut(), Tensor::raw)).collect()
}

// ---- Results ----

/// A call with one result.
#[inline(always)]
pub(crate) fn one(call: impl FnOnce(*mut sys::tsr_tensor) -> i32) -> Result<Tensor> {
    let mut out = null_mut();
    let status = call(&mut out);
    if status != sys::TSR_OK {
        return Err(failure(status));
    }
    // SAFETY: a success hands out a new reference.
    Ok(unsafe { Tensor::adopt(out) })
}

/// The destination that an `_out` method passes: another tensor on the memory of `dst`. If the
/// result has another shape, the library gives its destination new memory; this then happens to the
/// other tensor. So no safe function changes the layout of a tensor that another thread may be
/// reading.
pub(crate) fn place_of(dst: &Tensor) -> Result<Tensor> {
    if dst.requires_grad() {
        return Ok(dst.clone()); // keeps its shape; the library may have to refuse it
    }
    dst.detach()
}

/// The end of an `_out` method: an error if a result does not have the shape of its destination.
pub(crate) fn written(name: &str, status: i32, places: &[(&Tensor, &Tensor)]) -> Result<()> {
    done(status)?;
    for (dst, place) in places {
        let (result, own) = (place.shape(), dst.shape());
        if result != own {
            let text = format!("{name}: dst: expected a tensor of shape {result:?}, got {own:?}");
            return Err(Error::refused(ErrorKind::Shape, text));
        }
    }
    Ok(())
}

/// A call with two results.
pub(crate) fn two(
    call: impl FnOnce(*mut sys::tsr_tensor, *mut sys::tsr_tensor) -> i32,
) -> Result<(Tensor, Tensor)> {
    let (mut first, mut second) = (null_mut(), null_mut());
    done(call(&mut first, &mut second))?;
    // SAFETY: a success hands out a new reference each.
    Ok(unsafe { (Tensor::adopt(first), Tensor::adopt(second)) })
}

/// A call with three results.
pub(crate) fn three(
    call: impl FnOnce(*mut sys::tsr_tensor, *mut sys::tsr_tensor, *mut sys::tsr_tensor) -> i32,
) -> Result<(Tensor, Tensor, Tensor)> {
    let mut outs = [null_mut(); 3];
    let [a, b, c] = &mut outs;
    done(call(a, b, c))?;
    // SAFETY: a success hands out a new reference each.
    let [a, b, c] = outs.map(|handle| unsafe { Tensor::adopt(handle) });
    Ok((a, b, c))
}

/// A call with four results.
pub(crate) fn four(
    call: impl FnOnce(
        *mut sys::tsr_tensor,
        *mut sys::tsr_tensor,
        *mut sys::tsr_tensor,
        *mut sys::tsr_tensor,
    ) -> i32,
) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    let mut outs = [null_mut(); 4];
    let [a, b, c, d] = &mut outs;
    done(call(a, b, c, d))?;
    // SAFETY: a success hands out a new reference each.
    let [a, b, c, d] = outs.map(|handle| unsafe { Tensor::adopt(handle) });
    Ok((a, b, c, d))
}

/// A call with a list of results: once more with enough room when there are many.
pub(crate) fn many(
    mut call: impl FnMut(*mut sys::tsr_tensor, i32, *mut i32) -> i32,
) -> Result<Vec<Tensor>> {
    let mut found = 0;
    let mut room = vec![null_mut(); 16];
    let mut status = call(room.as_mut_ptr(), count(room.len()), &mut found);
    if status == sys::TSR_BUFFER && found as usize > room.len() {
        room.resize(found as usize, null_mut());
        status = call(room.as_mut_ptr(), count(room.len()), &mut found);
    }
    done(status)?;
    room.truncate(found as usize);
    // SAFETY: a success hands out `found` new references.
    Ok(room.into_iter().map(|handle| unsafe { Tensor::adopt(handle) }).collect())
}
