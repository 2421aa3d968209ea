// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Operators, on tensors and references to them, with tensors and numbers.
//!
//! An operator returns a tensor and panics where the method of the same meaning returns an error,
//! as Rust's own operators panic on a division by zero: `&a + &b` or `a.add(&b)?`.
//!
//! Numbers are only `f64` and `i64`, or `bool` and `i64` for the bitwise operators, so that the
//! compiler knows the type of a literal: `(&x * 2).exp()`. The methods take all kinds of numbers.

use crate::{Result, Tensor};
use std::ops;

#[track_caller]
fn expect(result: Result<Tensor>) -> Tensor {
    match result {
        Ok(tensor) => tensor,
        Err(error) => panic!("{error}"), // in a closure it would report a line of this file
    }
}

macro_rules! binary {
    ($($op:ident $fn:ident = $method:ident, $assign:ident $assign_fn:ident = $in_place:ident;)*) => {$(
        binary!(@pair $op $fn $method, Tensor, Tensor, |b| &b);
        binary!(@pair $op $fn $method, Tensor, &Tensor, |b| b);
        binary!(@pair $op $fn $method, &Tensor, Tensor, |b| &b);
        binary!(@pair $op $fn $method, &Tensor, &Tensor, |b| b);
        binary!(@assign $assign $assign_fn $in_place, Tensor, |b| &b);
        binary!(@assign $assign $assign_fn $in_place, &Tensor, |b| b);
    )*};
    (@numbers $op:ident $fn:ident $method:ident, $assign:ident $assign_fn:ident $in_place:ident, $($kind:ty)*) => {$(
        binary!(@pair $op $fn $method, Tensor, $kind, |b| b);
        binary!(@pair $op $fn $method, &Tensor, $kind, |b| b);
        binary!(@assign $assign $assign_fn $in_place, $kind, |b| b);
    )*};
    (@pair $op:ident $fn:ident $method:ident, $left:ty, $right:ty, |$b:ident| $operand:expr) => {
        impl ops::$op<$right> for $left {
            type Output = Tensor;
            #[track_caller]
            #[inline]
            fn $fn(self, $b: $right) -> Tensor {
                expect(Tensor::$method(&self, $operand))
            }
        }
    };
    (@assign $op:ident $fn:ident $method:ident, $right:ty, |$b:ident| $operand:expr) => {
        impl ops::$op<$right> for Tensor {
            #[track_caller]
            #[inline]
            fn $fn(&mut self, $b: $right) {
                if let Err(error) = Tensor::$method(self, $operand) {
                    panic!("{error}");
                }
            }
        }
    };
}

binary! {
    Add add = add, AddAssign add_assign = add_;
    Sub sub = subtract, SubAssign sub_assign = subtract_;
    Mul mul = multiply, MulAssign mul_assign = multiply_;
    Div div = divide, DivAssign div_assign = divide_;
    Rem rem = remainder, RemAssign rem_assign = remainder_;
    BitAnd bitand = bitwise_and, BitAndAssign bitand_assign = bitwise_and_;
    BitOr bitor = bitwise_or, BitOrAssign bitor_assign = bitwise_or_;
    BitXor bitxor = bitwise_xor, BitXorAssign bitxor_assign = bitwise_xor_;
}
binary!(@numbers Add add add, AddAssign add_assign add_, f64 i64);
binary!(@numbers Sub sub subtract, SubAssign sub_assign subtract_, f64 i64);
binary!(@numbers Mul mul multiply, MulAssign mul_assign multiply_, f64 i64);
binary!(@numbers Div div divide, DivAssign div_assign divide_, f64 i64);
binary!(@numbers Rem rem remainder, RemAssign rem_assign remainder_, f64 i64);
binary!(@numbers BitAnd bitand bitwise_and, BitAndAssign bitand_assign bitwise_and_, i64 bool);
binary!(@numbers BitOr bitor bitwise_or, BitOrAssign bitor_assign bitwise_or_, i64 bool);
binary!(@numbers BitXor bitxor bitwise_xor, BitXorAssign bitxor_assign bitwise_xor_, i64 bool);

/// Numbers on the left.
macro_rules! left {
    ($($op:ident $fn:ident $kinds:tt, |$number:ident, $tensor:ident| $call:expr;)*) => {$(
        left!(@kinds $op $fn, |$number, $tensor| $call, $kinds);
    )*};
    (@kinds $op:ident $fn:ident, |$number:ident, $tensor:ident| $call:expr, ($($kind:ty)*)) => {$(
        impl ops::$op<&Tensor> for $kind {
            type Output = Tensor;
            #[track_caller]
            #[inline]
            fn $fn(self, $tensor: &Tensor) -> Tensor {
                let $number = self;
                expect($call)
            }
        }
        impl ops::$op<Tensor> for $kind {
            type Output = Tensor;
            #[track_caller]
            #[inline]
            fn $fn(self, tensor: Tensor) -> Tensor {
                ops::$op::$fn(self, &tensor)
            }
        }
    )*};
}

left! {
    Add add (f64 i64), |number, tensor| tensor.add(number);
    Sub sub (f64 i64), |number, tensor| tensor.subtract_left(number);
    Mul mul (f64 i64), |number, tensor| tensor.multiply(number);
    Div div (f64 i64), |number, tensor| tensor.divide_left(number);
    Rem rem (f64 i64), |number, tensor| tensor.remainder_left(number);
    BitAnd bitand (i64 bool), |number, tensor| tensor.bitwise_and(number);
    BitOr bitor (i64 bool), |number, tensor| tensor.bitwise_or(number);
    BitXor bitxor (i64 bool), |number, tensor| tensor.bitwise_xor(number);
}

macro_rules! unary {
    ($($op:ident $fn:ident = $method:ident;)*) => {$(
        impl ops::$op for &Tensor {
            type Output = Tensor;
            #[track_caller]
            #[inline]
            fn $fn(self) -> Tensor {
                expect(self.$method())
            }
        }
        impl ops::$op for Tensor {
            type Output = Tensor;
            #[track_caller]
            #[inline]
            fn $fn(self) -> Tensor {
                expect(self.$method())
            }
        }
    )*};
}
unary! {
    Neg neg = negative;
    Not not = bitwise_invert;
}

impl std::iter::Sum for Tensor {
    /// The tensors one after the other, as by `+`; 0 of the default dtype if there are none.
    ///
    /// ```
    /// # fn main() -> tessera::Result<()> {
    /// use tessera::{Result, Tensor};
    /// let losses = vec![Tensor::from(1.0f32), Tensor::from(2.5f32)];
    /// assert_eq!(losses.iter().sum::<Tensor>().item::<f32>()?, 3.5);
    /// let total: Tensor = losses.iter().map(Tensor::square).sum::<Result<_>>()?;
    /// assert_eq!(total.item::<f32>()?, 7.25);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// If the tensors cannot be added, as `+` does.
    #[track_caller]
    fn sum<I: Iterator<Item = Tensor>>(mut tensors: I) -> Tensor {
        match tensors.next() {
            Some(first) => tensors.fold(first, |sum, tensor| sum + tensor),
            None => expect(Tensor::zeros(&[])),
        }
    }
}

impl<'a> std::iter::Sum<&'a Tensor> for Tensor {
    /// As the sum of owned tensors.
    #[track_caller]
    fn sum<I: Iterator<Item = &'a Tensor>>(tensors: I) -> Tensor {
        tensors.cloned().sum()
    }
}
