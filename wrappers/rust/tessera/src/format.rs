// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! How a tensor prints: nested brackets, `...` in the middle of long axes.

use crate::{DType, Tensor};
use std::fmt;

/// Tensors with more elements than this are summarised.
const THRESHOLD: i64 = 1000;
/// The number of elements shown at each end of an axis then.
const EDGE: i64 = 3;

impl fmt::Display for Tensor {
    /// The elements in nested brackets; `{:.3}` sets the digits behind the point.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Axes of empty tensors count, too: they print one bracket per row.
        let printed = self.shape().iter().fold(1i64, |n, &size| n.saturating_mul(size.max(1)));
        let values = Values { precision: f.precision(), summarised: printed > THRESHOLD };
        // Detached, so that selecting elements records nothing.
        values.write(&self.detach().map_err(|_| fmt::Error)?, f, 0)
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({self}, shape={:?}, dtype={}", self.shape(), self.dtype())?;
        if self.device() != crate::Device::CPU {
            write!(f, ", device={}", self.device())?;
        }
        if self.requires_grad() {
            f.write_str(", requires_grad=true")?;
        }
        f.write_str(")")
    }
}

struct Values {
    precision: Option<usize>,
    summarised: bool,
}

impl Values {
    fn write(&self, tensor: &Tensor, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let shape = tensor.shape();
        let Some(&size) = shape.first() else {
            return self.write_element(tensor, f);
        };
        f.write_str("[")?;
        let mut index = 0;
        while index < size {
            if index > 0 {
                f.write_str(",")?;
                if shape.len() == 1 {
                    f.write_str(" ")?;
                } else {
                    write!(f, "\n{:1$}", "", depth + 1)?;
                }
            }
            if self.summarised && index == EDGE && size > 2 * EDGE {
                f.write_str("...")?;
                index = size - EDGE;
                continue;
            }
            let row = tensor.select(0, index).map_err(|_| fmt::Error)?;
            self.write(&row, f, depth + 1)?;
            index += 1;
        }
        f.write_str("]")
    }

    fn write_element(&self, tensor: &Tensor, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = |_| fmt::Error;
        let dtype = tensor.dtype();
        if dtype == DType::Bool {
            return write!(f, "{}", tensor.item::<bool>().map_err(failed)?);
        }
        if dtype == DType::U64 {
            return write!(f, "{}", tensor.item::<u64>().map_err(failed)?);
        }
        if dtype.is_integral() {
            return write!(f, "{}", tensor.item::<i64>().map_err(failed)?);
        }
        let (re, im) = tensor.item_complex().map_err(failed)?;
        let narrow = matches!(dtype, DType::F16 | DType::Bf16 | DType::F32 | DType::C64);
        self.write_number(re, narrow, f)?;
        if dtype.is_complex() {
            f.write_str(if im.is_sign_negative() { "-" } else { "+" })?;
            self.write_number(im.abs(), narrow, f)?;
            f.write_str("i")?;
        }
        Ok(())
    }

    fn write_number(&self, value: f64, narrow: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let long = value.is_finite() && value != 0.0 && !(1e-4..1e16).contains(&value.abs());
        match self.precision {
            Some(digits) => write!(f, "{value:.digits$}"),
            // The shortest text that parses to the same number.
            None if narrow && long => write!(f, "{:e}", value as f32),
            None if narrow => write!(f, "{}", value as f32),
            None if long => write!(f, "{value:e}"),
            None => write!(f, "{value}"),
        }
    }
}
