// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Fractional max pooling (Graham, "Fractional max-pooling", 2014): windows whose distances are
//! random, so that the output has any size.

use super::Module;
use crate::{DType, Error, ErrorKind, Result, Tensor};

/// How large the output of a fractional pooling is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OutputSize<const N: usize> {
    /// These sizes.
    Sizes([i64; N]),
    /// These shares of the sizes of the input.
    Ratios([f64; N]),
}

macro_rules! fractional {
    ($name:ident, $axes:literal, $along:literal) => {
        #[doc = concat!("The maxima of windows at random distances along ", $along, ".")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            /// Sizes of the windows.
            pub kernel_size: [i64; $axes],
            /// Of the result.
            pub output: OutputSize<$axes>,
        }

        impl $name {
            /// Windows of this size, as many as the output has elements.
            pub fn new(kernel_size: [i64; $axes], output_size: [i64; $axes]) -> Self {
                Self { kernel_size, output: OutputSize::Sizes(output_size) }
            }

            /// An output of these shares of the input's sizes.
            pub fn with_ratio(kernel_size: [i64; $axes], output_ratio: [f64; $axes]) -> Self {
                Self { kernel_size, output: OutputSize::Ratios(output_ratio) }
            }

            /// The maxima, and their positions in the flattened spatial axes. `samples` are numbers
            /// from 0 to 1 in place of random ones: for each sample and channel one for each axis.
            pub fn with_positions(
                &self,
                input: &Tensor,
                samples: Option<&Tensor>,
            ) -> Result<(Tensor, Tensor)> {
                pool(stringify!($name), &self.kernel_size, &self.output, input, samples)
            }
        }

        impl Module for $name {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                Ok(self.with_positions(input, None)?.0)
            }
        }
    };
}

fractional! { FractionalMaxPool2d, 2, "two axes" }
fractional! { FractionalMaxPool3d, 3, "three axes" }

fn pool<const N: usize>(
    name: &str,
    kernel: &[i64; N],
    output: &OutputSize<N>,
    input: &Tensor,
    samples: Option<&Tensor>,
) -> Result<(Tensor, Tensor)> {
    let shape = input.shape();
    if shape.len() != N + 1 && shape.len() != N + 2 {
        let text = format!("{name}: expected {} or {} axes, got {shape:?}", N + 1, N + 2);
        return Err(Error::refused(ErrorKind::Shape, text));
    }
    if shape.len() == N + 1 {
        let (values, positions) = pool(name, kernel, output, &input.unsqueeze(0)?, samples)?;
        return Ok((values.squeeze(&[0])?, positions.squeeze(&[0])?));
    }
    let (lead, lengths) = shape.split_at(2);
    let counts = match output {
        OutputSize::Sizes(sizes) => *sizes,
        OutputSize::Ratios(ratios) if ratios.iter().any(|ratio| !ratio.is_finite()) => {
            let text = format!("{name}: output_ratio: expected finite numbers, got {ratios:?}");
            return Err(Error::refused(ErrorKind::Value, text));
        }
        OutputSize::Ratios(ratios) => {
            std::array::from_fn(|axis| (lengths[axis] as f64 * ratios[axis]) as i64)
        }
    };
    let fits = |axis: usize| {
        let (count, window, length) = (counts[axis], kernel[axis], lengths[axis]);
        count >= 1 && (1..=length).contains(&window) && count <= length - window + 1
    };
    if !(0..N).all(fits) {
        let text = format!(
            "{name}: expected sizes of at least 1 with output + kernel - 1 at most the input's \
             {lengths:?}, got output {counts:?} and kernel {kernel:?}"
        );
        return Err(Error::refused(ErrorKind::Shape, text));
    }
    let wanted = [lead[0], lead[1], N as i64];
    let samples = match samples {
        None => {
            let dtype = exact(input.dtype());
            Tensor::rand_with(&wanted, |o| o.dtype(dtype).device(input.device()))?
        }
        Some(given) if given.shape() == wanted => given.astype(exact(given.dtype()))?,
        Some(given) => {
            let text = format!("{name}: samples: expected {wanted:?}, got {:?}", given.shape());
            return Err(Error::refused(ErrorKind::Shape, text));
        }
    };
    let places = places(kernel, &counts, lengths, &samples)?;
    let flat = places.reshape(&[lead[0], lead[1], -1])?;
    let mut by_window = vec![lead[0], lead[1]];
    by_window.extend(counts);
    by_window.push(-1);
    let picked = input.reshape(&[lead[0], lead[1], -1])?.gather(-1, &flat)?;
    let (values, best) = picked.reshape(&by_window)?.max_with_indices(-1)?;
    let positions = flat.reshape(&by_window)?.gather(-1, &best.unsqueeze(-1)?)?;
    Ok((values, positions.squeeze(&[-1])?))
}

/// The dtype in which places are computed: 16-bit floats do not hold every place.
fn exact(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::Bf16 => DType::F32,
        other => other,
    }
}

/// The places in the flattened spatial axes: for each sample and channel those of all windows.
fn places<const N: usize>(
    kernel: &[i64; N],
    counts: &[i64; N],
    lengths: &[i64],
    samples: &Tensor,
) -> Result<Tensor> {
    let mut places = Tensor::zeros_with(&[], |o| o.dtype(DType::I64).device(samples.device()))?;
    for axis in 0..N {
        // The numbers of two axes belong to the last axis first, those of three to the first one.
        let number = if N == 2 { 1 - axis } else { axis };
        let sample = samples.select(-1, number as i64)?;
        let first = starts(&sample, lengths[axis], counts[axis], kernel[axis])?;
        let inside = Tensor::arange_with(0, kernel[axis], |o| o.device(samples.device()))?;
        let inside = first.unsqueeze(-1)?.add(&inside)?;
        // (samples, channels, count, window), with an axis of size 1 for each other count and window
        let mut shape = vec![1; 2 + 2 * N];
        shape[..2].copy_from_slice(&sample.shape());
        (shape[2 + axis], shape[2 + N + axis]) = (counts[axis], kernel[axis]);
        places = places.multiply(lengths[axis])?.add(&inside.reshape(&shape)?)?;
    }
    Ok(places)
}

/// Where the windows of one axis begin; the last one ends at the end.
fn starts(sample: &Tensor, length: i64, count: i64, window: i64) -> Result<Tensor> {
    let sample = sample.unsqueeze(-1)?;
    let shape = sample.shape();
    let last = Tensor::full_with(&shape, length - window, |o| {
        o.dtype(DType::I64).device(sample.device())
    })?;
    if count == 1 {
        return Ok(last);
    }
    let pace = (length - window) as f64 / (count - 1) as f64;
    let options = |o: crate::ops::ArangeOptions| o.dtype(sample.dtype()).device(sample.device());
    let steps = Tensor::arange_with(0, count - 1, options)?;
    let reached = steps.add(&sample)?.multiply(pace)?.trunc()?;
    let found = reached.subtract(&sample.multiply(pace)?.trunc()?)?;
    Tensor::concat_with(&[found.astype(DType::I64)?, last], |o| o.axis(-1))
}
