// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Indexing with integers, ranges, new axes, an ellipsis and tensors: `x.i((.., 1..3))`.

use crate::arguments::{Operand, ABSENT};
use crate::{Result, Tensor};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use tessera_sys as sys;

/// An index that makes an axis of size 1.
#[derive(Clone, Copy, Debug)]
pub struct NewAxis;

/// An index for all remaining axes, each taken whole.
#[derive(Clone, Copy, Debug)]
pub struct Ellipsis;

/// A range with a step, as Python's `start:stop:step`; `None` is an open end. Negative steps go
/// backwards.
#[derive(Clone, Copy, Debug)]
pub struct Slice(pub Option<i64>, pub Option<i64>, pub i64);

/// One item of an index.
#[derive(Clone, Debug)]
pub struct Item {
    code: [i64; 4],
    array: Option<Tensor>,
}

impl Item {
    fn plain(kind: i32, start: i64, stop: i64, step: i64) -> Self {
        Self { code: [i64::from(kind), start, stop, step], array: None }
    }

    fn slice(start: i64, stop: i64) -> Self {
        Self::plain(sys::TSR_INDEX_KIND_SLICE, start, stop, ABSENT)
    }
}

impl From<&Tensor> for Item {
    fn from(tensor: &Tensor) -> Self {
        let array = Some(tensor.clone());
        Self { code: [i64::from(sys::TSR_INDEX_KIND_ARRAY), 0, 0, 0], array }
    }
}

impl From<NewAxis> for Item {
    fn from(_: NewAxis) -> Self {
        Self::plain(sys::TSR_INDEX_KIND_NEW_AXIS, 0, 0, 0)
    }
}

impl From<Ellipsis> for Item {
    fn from(_: Ellipsis) -> Self {
        Self::plain(sys::TSR_INDEX_KIND_ELLIPSIS, 0, 0, 0)
    }
}

impl From<Slice> for Item {
    fn from(Slice(start, stop, step): Slice) -> Self {
        let (start, stop) = (start.map_or(ABSENT, number), stop.map_or(ABSENT, number));
        Self::plain(sys::TSR_INDEX_KIND_SLICE, start, stop, number(step))
    }
}

impl From<RangeFull> for Item {
    fn from(_: RangeFull) -> Self {
        Self::slice(ABSENT, ABSENT)
    }
}

/// Converts an index to the library's int64. A value beyond int64 is beyond every axis, too; the
/// smallest int64 means "absent".
fn number(index: impl TryInto<i64>) -> i64 {
    index.try_into().map_or(i64::MAX, |index| index.max(ABSENT + 1))
}

/// The exclusive end after an inclusive one: absent after -1, the last element.
fn behind(last: i64) -> i64 {
    match last {
        -1 => ABSENT,
        last => last.saturating_add(1),
    }
}

macro_rules! items {
    ($($kind:ty)*) => {$(
        impl From<$kind> for Item {
            fn from(index: $kind) -> Self {
                Self::plain(sys::TSR_INDEX_KIND_INTEGER, number(index), 0, 0)
            }
        }
        impl From<Range<$kind>> for Item {
            fn from(range: Range<$kind>) -> Self {
                Self::slice(number(range.start), number(range.end))
            }
        }
        impl From<RangeFrom<$kind>> for Item {
            fn from(range: RangeFrom<$kind>) -> Self {
                Self::slice(number(range.start), ABSENT)
            }
        }
        impl From<RangeTo<$kind>> for Item {
            fn from(range: RangeTo<$kind>) -> Self {
                Self::slice(ABSENT, number(range.end))
            }
        }
        impl From<RangeInclusive<$kind>> for Item {
            fn from(range: RangeInclusive<$kind>) -> Self {
                Self::slice(number(*range.start()), behind(number(*range.end())))
            }
        }
        impl From<RangeToInclusive<$kind>> for Item {
            fn from(range: RangeToInclusive<$kind>) -> Self {
                Self::slice(ABSENT, behind(number(range.end)))
            }
        }
    )*};
}
items!(i32 i64 usize);

/// The argument of [`Tensor::i`]: an item, a tuple of up to six, or a slice of [`Item`]s.
pub trait Index {
    /// Passes each item to `take`, in order.
    fn each_item(self, take: impl FnMut(Item));
}

macro_rules! single_items {
    ($($kind:ty),* $(,)?) => {$(
        impl Index for $kind {
            #[inline]
            fn each_item(self, mut take: impl FnMut(Item)) {
                take(self.into());
            }
        }
    )*};
    (@ranges $($kind:ty),*) => {$(
        single_items! {
            $kind, Range<$kind>, RangeFrom<$kind>, RangeTo<$kind>, RangeInclusive<$kind>,
            RangeToInclusive<$kind>,
        }
    )*};
}
single_items! { &Tensor, NewAxis, Ellipsis, Slice, RangeFull, Item }
single_items! { @ranges i32, i64, usize }

impl Index for &[Item] {
    fn each_item(self, take: impl FnMut(Item)) {
        self.iter().cloned().for_each(take);
    }
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => {$(
        impl<$($name: Into<Item>),+> Index for ($($name,)+) {
            #[allow(non_snake_case)]
            #[inline]
            fn each_item(self, mut take: impl FnMut(Item)) {
                let ($($name,)+) = self;
                $(take($name.into());)+
            }
        }
    )*};
}
tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; }

/// The most items of a tuple; so many need no heap allocation.
const FEW: usize = 6;

/// Calls `work` with the items in the library's form: four numbers each, and the tensors among
/// them.
#[inline]
fn encoded<R>(index: impl Index, work: impl FnOnce(&[i64], &[Tensor]) -> R) -> R {
    let (mut few, mut many, mut arrays) = ([[0; 4]; FEW], Vec::new(), Vec::new());
    let mut count = 0;
    index.each_item(|item| {
        match few.get_mut(count) {
            Some(place) => *place = item.code,
            None if count == FEW => many.extend(few.iter().chain([&item.code])),
            None => many.push(item.code),
        }
        count += 1;
        arrays.extend(item.array);
    });
    let codes = if count <= FEW { &few[..count] } else { &many };
    work(codes.as_flattened(), &arrays)
}

impl Tensor {
    /// A part of the tensor by NumPy's rules: a view for integers, ranges, [`NewAxis`] and
    /// [`Ellipsis`]; a copy when a tensor of integers or bools is among them.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// use tessera::{Ellipsis, NewAxis, Slice, Tensor};
    /// let x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.i((.., 1..3))?.to_vec::<i32>()?, [2, 3, 5, 6]);
    /// assert_eq!(x.i(-1)?.to_vec::<i32>()?, [4, 5, 6]);
    /// assert_eq!(x.i((Ellipsis, NewAxis, 0))?.shape(), [2, 1]);
    /// assert_eq!(x.i((0, Slice(None, None, -1)))?.to_vec::<i32>()?, [3, 2, 1]);
    /// assert_eq!(x.i(&x.greater(4)?)?.to_vec::<i32>()?, [5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn i(&self, index: impl Index) -> Result<Tensor> {
        encoded(index, |codes, arrays| match arrays {
            [] => self.getitem_basic(codes),
            arrays => self.getitem(codes, arrays),
        })
    }

    /// Writes to a part of the tensor: a tensor that broadcasts to it, or a number.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// let x = tessera::Tensor::zeros(&[2, 2])?;
    /// x.set((0, ..), 7.0)?;
    /// assert_eq!(x.to_vec::<f32>()?, [7.0, 7.0, 0.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set<'a>(&self, index: impl Index, value: impl Into<Operand<'a>>) -> Result<()> {
        encoded(index, |codes, arrays| self.setitem_(codes, arrays, value.into()))
    }
}
