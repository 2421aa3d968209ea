// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Numbers and tensors as arguments, and what the generated op methods are made of.

pub(crate) use crate::error::{done, failure};
pub(crate) use crate::{DType, Device, Generator, Result, Tensor};
use crate::{Error, ErrorKind};
pub(crate) use std::borrow::Borrow;
pub(crate) use std::ptr::null_mut;
pub(crate) use tessera_sys as sys;

/// The library's "absent" for an int64.
pub(crate) const ABSENT: i64 = i64::MIN;

// ---- Host numbers ----

/// A number as an argument. It takes the dtype of the tensor it meets: `x.add(1.5)` of a float32
/// tensor is float32. Every number of Rust becomes one; those beyond an `i64` become an `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer.
    I64(i64),
    /// A real number.
    F64(f64),
    /// Real and imaginary part.
    C128(f64, f64),
}

/// The kinds of [`Scalar`], the widest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Bool,
    I64,
    F64,
    C128,
}

impl Scalar {
    #[inline]
    pub(crate) fn kind(self) -> Kind {
        match self {
            Scalar::Bool(_) => Kind::Bool,
            Scalar::I64(_) => Kind::I64,
            Scalar::F64(_) => Kind::F64,
            Scalar::C128(..) => Kind::C128,
        }
    }

    #[inline]
    pub(crate) fn re(self) -> f64 {
        match self {
            Scalar::Bool(value) => f64::from(u8::from(value)),
            Scalar::I64(value) => value as f64,
            Scalar::F64(value) | Scalar::C128(value, _) => value,
        }
    }

    #[inline]
    pub(crate) fn im(self) -> f64 {
        match self {
            Scalar::C128(_, value) => value,
            _ => 0.0,
        }
    }

    #[inline]
    pub(crate) fn f64(self) -> f64 {
        self.re()
    }

    #[inline]
    pub(crate) fn i64(self) -> i64 {
        match self {
            Scalar::Bool(value) => i64::from(value),
            Scalar::I64(value) => value,
            other => other.re() as i64,
        }
    }

    #[inline]
    pub(crate) fn bool(self) -> i32 {
        i32::from(self.i64() != 0)
    }
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
            /// An integer; a real number where that is beyond an `i64`.
            #[inline]
            fn from(value: $kind) -> Self {
                i64::try_from(value).map_or(Scalar::F64(value as f64), Scalar::I64)
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

/// The widest kind of some numbers.
pub(crate) fn widest<S: Copy + Into<Option<Scalar>>>(values: &[S]) -> Kind {
    values.iter().filter_map(|&v| v.into()).map(Scalar::kind).max().unwrap_or(Kind::Bool)
}

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

/// The error of a number whose kind an op does not take.
#[cold]
pub(crate) fn unsupported(op: &str, kind: Kind) -> i32 {
    let text = format!("{op}: a number of kind {kind:?} is not supported");
    // SAFETY: the text is valid for its length and copied; there is no payload.
    unsafe {
        sys::tsr_error_set(
            sys::TSR_TYPE,
            text.as_ptr().cast(),
            text.len() as i64,
            null_mut(),
            None,
        );
    }
    sys::TSR_TYPE
}

/// The operands as numbers, when none of them is a tensor.
pub(crate) fn numbers<const N: usize>(
    given: [Option<Operand<'_>>; N],
) -> Option<[Option<Scalar>; N]> {
    let mut found = [None; N];
    for (slot, operand) in found.iter_mut().zip(given) {
        match operand {
            Some(Operand::Tensor(_)) => return None,
            Some(Operand::Scalar(value)) => *slot = Some(value),
            None => {}
        }
    }
    Some(found)
}

/// A number as a tensor beside `like`: of its dtype, unless the number is of a higher kind.
fn tensor_of(number: Scalar, like: &Tensor) -> Result<Tensor> {
    let dtype = like.dtype();
    let fits = match number.kind() {
        Kind::Bool => true,
        Kind::I64 => dtype != DType::Bool,
        Kind::F64 => dtype.is_floating_point() || dtype.is_complex(),
        Kind::C128 => dtype.is_complex(),
    };
    Tensor::full_with(&[], number, |o| {
        let o = o.device(like.device());
        if fits {
            o.dtype(dtype)
        } else {
            o
        }
    })
}

/// A truth value beside bools as one of them, for the ops that have no form for it.
#[inline]
pub(crate) fn truth(number: Scalar, like: &Tensor) -> Result<Option<Tensor>> {
    match number {
        Scalar::Bool(_) if like.dtype() == DType::Bool => tensor_of(number, like).map(Some),
        _ => Ok(None),
    }
}

/// The operand, with `truth` for a number.
#[inline]
pub(crate) fn lifted<'a>(
    given: Operand<'a>,
    like: &Tensor,
    room: &'a mut Option<Tensor>,
) -> Result<Operand<'a>> {
    if let Operand::Scalar(number) = given {
        *room = truth(number, like)?;
    }
    Ok(room.as_ref().map_or(given, Operand::Tensor))
}

/// The operands as tensors.
pub(crate) fn tensors<const N: usize>(
    given: [Option<Operand<'_>>; N],
    like: &Tensor,
) -> Result<[Option<Tensor>; N]> {
    let mut found = [const { None }; N];
    for (slot, operand) in found.iter_mut().zip(given) {
        *slot = match operand {
            Some(Operand::Tensor(tensor)) => Some(tensor.clone()),
            Some(Operand::Scalar(value)) => Some(tensor_of(value, like)?),
            None => None,
        };
    }
    Ok(found)
}

// ---- Lists and absent values ----

#[inline]
pub(crate) fn optional_raw(tensor: &Option<Tensor>) -> sys::tsr_tensor {
    tensor.as_ref().map_or(null_mut(), Tensor::raw)
}

/// Lengths cross as int32.
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

/// Where an `_out` method writes: another tensor on the memory of `dst`. The library gives a tensor
/// other memory when the result has another shape; so it gives it to that one, and no safe function
/// changes the layout of a tensor that another thread may be reading.
pub(crate) fn place_of(dst: &Tensor) -> Result<Tensor> {
    if dst.requires_grad() {
        return Ok(dst.clone()); // keeps its shape, and may be one that the library has to refuse
    }
    dst.detach()
}

/// The end of an `_out` method: an error where a result has not the shape of its destination.
pub(crate) fn written(name: &str, status: i32, places: &[(&Tensor, &Tensor)]) -> Result<()> {
    done(status)?;
    for (dst, place) in places {
        let (result, own) = (place.shape(), dst.shape());
        if result != own {
            let text = format!("{name}: dst: expected a tensor of shape {result:?}, got {own:?}");
            return Err(Error::new(ErrorKind::Shape, text));
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

/// A call with a list of results: once more with enough room when there are many.
pub(crate) fn many(
    call: impl Fn(*mut sys::tsr_tensor, i32, *mut i32) -> i32,
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
