// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Forward mode, and derivatives of functions of one tensor.

use super::{enable_grad, grad, is_grad_enabled};
use crate::arguments::one;
use crate::error::done;
use crate::{Result, Tensor};
use std::marker::PhantomData;
use std::ptr::null_mut;
use tessera_sys as sys;

/// A level of forward mode on this thread; it ends with the guard. Levels may be nested: the tangent of
/// a level may have tangents of the levels around it.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd::DualLevel, Tensor};
/// let level = DualLevel::enter()?;
/// let x = level.make_dual(&Tensor::from([1.0, 2.0]), &Tensor::from([1.0, 10.0]))?;
/// let (y, tangent) = level.unpack_dual(&(&x * &x))?;
/// assert_eq!(y.to_vec::<f64>()?, [1.0, 4.0]);
/// assert_eq!(tangent.unwrap().to_vec::<f64>()?, [2.0, 40.0]);
/// # Ok(())
/// # }
/// ```
#[must_use = "the level ends with the guard"]
#[derive(Debug)]
pub struct DualLevel {
    level: i64,
    _thread: PhantomData<*const ()>, // the level belongs to this thread
}

impl DualLevel {
    /// Opens a level inside those that are open on this thread.
    pub fn enter() -> Result<Self> {
        let mut level = -1;
        // SAFETY: a writable number.
        done(unsafe { sys::tsr_forward_enter(&mut level) })?;
        Ok(Self { level, _thread: PhantomData })
    }

    /// A new tensor on the memory of `primal`, with its history, that has a tangent at this level.
    pub fn make_dual(&self, primal: &Tensor, tangent: &Tensor) -> Result<Tensor> {
        one(|out| {
            // SAFETY: valid handles, a writable pointer.
            unsafe { sys::tsr_make_dual(primal.raw(), tangent.raw(), self.level, out) }
        })
    }

    /// The value and the tangent of a tensor at this level; no tangent means zero.
    pub fn unpack_dual(&self, dual: &Tensor) -> Result<(Tensor, Option<Tensor>)> {
        let (mut primal, mut tangent) = (null_mut(), null_mut());
        // SAFETY: a valid handle, writable pointers.
        done(unsafe { sys::tsr_unpack_dual(dual.raw(), self.level, &mut primal, &mut tangent) })?;
        // SAFETY: a success hands out a new reference each; the second may be null.
        Ok(unsafe { (Tensor::adopt(primal), Tensor::adopt_optional(tangent)) })
    }
}

impl Drop for DualLevel {
    fn drop(&mut self) {
        // SAFETY: a number.
        unsafe { sys::tsr_forward_exit(self.level) };
    }
}

/// Forward mode off on this thread until the guard is dropped: dual tensors count as ordinary ones.
#[derive(Debug)]
pub(super) struct ForwardOff {
    previous: i32,
    _thread: PhantomData<*const ()>,
}

impl ForwardOff {
    pub(super) fn new() -> Result<Self> {
        let mut previous = 0;
        // SAFETY: a number and a writable number.
        done(unsafe { sys::tsr_forward_mode_set(0, &mut previous) })?;
        Ok(Self { previous, _thread: PhantomData })
    }
}

impl Drop for ForwardOff {
    fn drop(&mut self) {
        let mut ignored = 0;
        // SAFETY: as in `new`.
        unsafe { sys::tsr_forward_mode_set(self.previous, &mut ignored) };
    }
}

/// `f(x)`, and the Jacobian of `f` at `x` times `v`; by forward mode.
pub fn jvp(
    f: impl Fn(&Tensor) -> Result<Tensor>,
    x: &Tensor,
    v: &Tensor,
) -> Result<(Tensor, Tensor)> {
    let level = DualLevel::enter()?;
    let (y, tangent) = level.unpack_dual(&f(&level.make_dual(x, v)?)?)?;
    let tangent = match tangent {
        Some(tangent) => tangent,
        None => y.zeros_like()?,
    };
    Ok((y, tangent))
}

/// `f(x)`, and `v` times the Jacobian of `f` at `x`; by a backward.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd::vjp, Tensor};
/// let (y, g) = vjp(|x| x.exp()?.sum(), &Tensor::from([0.0, 0.0]), &Tensor::from(2.0))?;
/// assert_eq!(y.to_vec::<f64>()?, [2.0]);
/// assert_eq!(g.to_vec::<f64>()?, [2.0, 2.0]);
/// # Ok(())
/// # }
/// ```
pub fn vjp(
    f: impl Fn(&Tensor) -> Result<Tensor>,
    x: &Tensor,
    v: &Tensor,
) -> Result<(Tensor, Tensor)> {
    let connected = is_grad_enabled() && x.requires_grad();
    let _guard = enable_grad();
    let leaf = if connected { x.clone() } else { x.detach()?.requiring_grad()? };
    let y = f(&leaf)?;
    if !y.requires_grad() {
        return Ok((y, x.zeros_like()?));
    }
    let options = |o: super::BackwardOptions| o.create_graph(connected).allow_unused(true);
    let g = match grad(&[&y], &[&leaf], &[Some(v)], options)?.remove(0) {
        Some(g) => g,
        None => x.zeros_like()?,
    };
    Ok((if connected { y } else { y.detach()? }, g))
}

/// The Jacobian of `f` at `x`, of the shape of `f(x)` and then that of `x`; by forward mode.
pub fn jacobian(f: impl Fn(&Tensor) -> Result<Tensor>, x: &Tensor) -> Result<Tensor> {
    let directions = Tensor::eye_with(x.numel() as i64, |o| o.dtype(x.dtype()).device(x.device()))?;
    let mut columns = Vec::new();
    for i in 0..x.numel() {
        let v = directions.select(0, i as i64)?.reshape(&x.shape())?;
        columns.push(jvp(&f, x, &v)?.1);
    }
    let mut shape = match columns.first() {
        Some(column) => column.shape(),
        None => f(x)?.shape(),
    };
    shape.extend(x.shape());
    if columns.is_empty() {
        return Tensor::zeros_with(&shape, |o| o.dtype(x.dtype()).device(x.device()));
    }
    Tensor::stack_with(&columns, |o| o.axis(-1))?.reshape(&shape)
}

/// As [`jacobian`], by one batched backward: the better way where `f(x)` is smaller than `x`.
pub fn jacrev(f: impl Fn(&Tensor) -> Result<Tensor>, x: &Tensor) -> Result<Tensor> {
    let connected = is_grad_enabled() && x.requires_grad();
    let _guard = enable_grad();
    let leaf = if connected { x.clone() } else { x.detach()?.requiring_grad()? };
    let y = f(&leaf)?;
    let rows = y.numel() as i64;
    let mut sizes = vec![rows];
    sizes.extend(y.shape());
    let mut shape = y.shape();
    shape.extend(x.shape());
    let zeros = || Tensor::zeros_with(&shape, |o| o.dtype(x.dtype()).device(x.device()));
    if rows == 0 || !y.requires_grad() {
        return zeros();
    }
    let directions = Tensor::eye_with(rows, |o| o.dtype(y.dtype()).device(y.device()))?;
    let directions = directions.reshape(&sizes)?;
    let options =
        |o: super::BackwardOptions| o.create_graph(connected).allow_unused(true).batched(true);
    match grad(&[&y], &[&leaf], &[Some(&directions)], options)?.remove(0) {
        Some(found) => found.reshape(&shape),
        None => zeros(),
    }
}

/// The second derivatives of `f`, a function to one number, of the shape of `x` twice: a batched
/// backward over a recorded one.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd::hessian, Tensor};
/// let h = hessian(|x| x.pow(3)?.sum(), &Tensor::from([1.0, 2.0]))?;
/// assert_eq!(h.to_vec::<f64>()?, [6.0, 0.0, 0.0, 12.0]);
/// # Ok(())
/// # }
/// ```
pub fn hessian(f: impl Fn(&Tensor) -> Result<Tensor>, x: &Tensor) -> Result<Tensor> {
    let gradient = |at: &Tensor| -> Result<Tensor> {
        let y = f(at)?.reshape(&[])?;
        if !y.requires_grad() {
            return at.zeros_like()?.detach();
        }
        let options = |o: super::BackwardOptions| o.create_graph(true).allow_unused(true);
        match grad(&[&y], &[at], &[], options)?.remove(0) {
            Some(g) => Ok(g),
            None => at.zeros_like()?.detach(),
        }
    };
    jacrev(gradient, x)
}
