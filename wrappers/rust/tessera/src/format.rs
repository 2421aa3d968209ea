// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! How a tensor prints: nested brackets, `...` in the middle of long axes.

use crate::{DType, Device, Result, Tensor};
use std::fmt;

/// Tensors with more elements than this are summarised.
const THRESHOLD: i64 = 1000;
/// The number of elements shown at each end of an axis then.
const EDGE: i64 = 3;

impl fmt::Display for Tensor {
    /// The elements in nested brackets; `{:.3}` sets the digits behind the point.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl Tensor {
    /// Writes the elements, with so many spaces before each row but the first.
    fn write(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        // Axes of empty tensors count, too: they print one bracket per row.
        let printed = self.shape().iter().fold(1i64, |n, &size| n.saturating_mul(size.max(1)));
        let summarised = printed > THRESHOLD;
        // Detached, so that taking elements records nothing.
        let texts = self.detach().and_then(|plain| texts(&plain, summarised, f.precision()));
        let mut texts = texts.map_err(|_| fmt::Error)?.into_iter();
        write_axes(&self.shape(), summarised, &mut texts, f, indent)
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tensor(")?;
        self.write(f, "Tensor(".len())?;
        write!(f, ", shape={:?}, dtype={}", self.shape(), self.dtype())?;
        if self.device() != Device::CPU {
            write!(f, ", device={}", self.device())?;
        }
        if self.requires_grad() {
            f.write_str(", requires_grad=true")?;
        }
        f.write_str(")")
    }
}

/// Whether the middle of an axis is left out.
fn is_cut(size: i64, summarised: bool) -> bool {
    summarised && size > 2 * EDGE
}

/// The elements that are shown, in row-major order.
fn texts(tensor: &Tensor, summarised: bool, precision: Option<usize>) -> Result<Vec<String>> {
    let mut shown = tensor.clone();
    for (axis, size) in tensor.shape().into_iter().enumerate() {
        if is_cut(size, summarised) {
            let axis = axis as i64;
            let ends = [shown.narrow(axis, 0, EDGE)?, shown.narrow(axis, size - EDGE, EDGE)?];
            shown = Tensor::concat_with(&ends, |o| o.axis(axis))?;
        }
    }
    let shown = shown.to_with(|o| o.device(Device::CPU))?;
    let dtype = shown.dtype();
    if dtype == DType::Bool {
        return Ok(shown.to_vec::<bool>()?.iter().map(ToString::to_string).collect());
    }
    if dtype == DType::U64 {
        return Ok(shown.to_vec::<u64>()?.iter().map(ToString::to_string).collect());
    }
    if dtype.is_integral() {
        let numbers = shown.astype(DType::I64)?.to_vec::<i64>()?;
        return Ok(numbers.iter().map(ToString::to_string).collect());
    }
    let narrow = matches!(dtype, DType::F16 | DType::Bf16 | DType::F32 | DType::C64);
    let text = |value: f64| text_of(value, narrow, precision);
    let numbers = |part: Tensor| part.astype(DType::F64)?.to_vec::<f64>();
    if !dtype.is_complex() {
        return Ok(numbers(shown)?.into_iter().map(text).collect());
    }
    let parts = numbers(shown.real()?)?.into_iter().zip(numbers(shown.imag()?)?);
    let complex = |(re, im): (f64, f64)| {
        let sign = if im.is_sign_negative() { "-" } else { "+" };
        format!("{}{sign}{}i", text(re), text(im.abs()))
    };
    Ok(parts.map(complex).collect())
}

fn text_of(value: f64, narrow: bool, precision: Option<usize>) -> String {
    let long = value.is_finite() && value != 0.0 && !(1e-4..1e16).contains(&value.abs());
    match precision {
        Some(digits) => format!("{value:.digits$}"),
        // The shortest text that parses to the same number.
        None if narrow && long => format!("{:e}", value as f32),
        None if narrow => format!("{}", value as f32),
        None if long => format!("{value:e}"),
        None => format!("{value}"),
    }
}

fn write_axes(
    shape: &[i64],
    summarised: bool,
    texts: &mut impl Iterator<Item = String>,
    f: &mut fmt::Formatter<'_>,
    depth: usize,
) -> fmt::Result {
    let Some((&size, inner)) = shape.split_first() else {
        return f.write_str(&texts.next().ok_or(fmt::Error)?);
    };
    f.write_str("[")?;
    let mut index = 0;
    while index < size {
        if index > 0 {
            f.write_str(",")?;
            if inner.is_empty() {
                f.write_str(" ")?;
            } else {
                write!(f, "\n{:1$}", "", depth + 1)?;
            }
        }
        if index == EDGE && is_cut(size, summarised) {
            f.write_str("...")?;
            index = size - EDGE;
            continue;
        }
        write_axes(inner, summarised, texts, f, depth + 1)?;
        index += 1;
    }
    f.write_str("]")
}
