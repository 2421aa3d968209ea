// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Checks derivatives against central differences, for tests of your own functions.

use super::grad;
use crate::{enable_grad, no_grad, DType, Error, ErrorKind, Result, Tensor};

const STEP: f64 = 1e-6;
const RELATIVE: f64 = 1e-3;
const ABSOLUTE: f64 = 1e-5;

/// Compares the gradients of a function of float64 leaves, whose result is float64 too, with central
/// differences. An error names the first input and element where they differ.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{autograd::gradcheck, Tensor};
/// let x = Tensor::from([[0.5, 1.0], [2.0, 3.0]]).requiring_grad()?;
/// gradcheck(|inputs| inputs[0].matmul(&inputs[0].tanh()?), &[&x])?;
/// # Ok(())
/// # }
/// ```
pub fn gradcheck(
    function: impl Fn(&[&Tensor]) -> Result<Tensor>,
    inputs: &[&Tensor],
) -> Result<()> {
    for (number, input) in inputs.iter().enumerate() {
        if input.dtype() != DType::F64 || !input.requires_grad() {
            let text = format!("gradcheck: input {number} is no float64 leaf that requires grad");
            return Err(Error::refused(ErrorKind::Dtype, text));
        }
    }
    let _recording = enable_grad();
    let output = function(inputs)?;
    let weight = weights(&output)?;
    let found = grad(&[&output], inputs, &[Some(&weight)], |o| o.allow_unused(true))?;
    for (number, (input, found)) in inputs.iter().zip(found).enumerate() {
        let found = match found {
            Some(tensor) => tensor.to_vec::<f64>()?,
            None => vec![0.0; input.numel()],
        };
        let expected = differences(&function, inputs, input, &weight)?;
        for (index, (a, b)) in found.iter().zip(&expected).enumerate() {
            if (a - b).abs().is_nan() || (a - b).abs() > ABSOLUTE + RELATIVE * b.abs() {
                let text = format!(
                    "gradcheck: input {number}, element {index}: the gradient is {a}, \
                     the difference quotient {b}"
                );
                return Err(Error::refused(ErrorKind::Autograd, text));
            }
        }
    }
    Ok(())
}

/// One factor for each element of the output, none near 0 and no two the same.
fn weights(output: &Tensor) -> Result<Tensor> {
    if output.dtype() != DType::F64 {
        let text = format!("gradcheck: expected a float64 output, got {}", output.dtype());
        return Err(Error::refused(ErrorKind::Dtype, text));
    }
    let values = (0..output.numel()).map(|i| 0.5 + 0.618034 * i as f64 % 1.0).collect();
    Tensor::from_vec::<f64>(values, &output.shape())?.to_with(|o| o.device(output.device()))
}

/// Writes the values back when it is dropped, also by a panic of the function.
struct Restore<'a> {
    tensor: &'a Tensor,
    values: &'a [f64],
}

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        let _ = self.tensor.write_from(self.values); // they were read from there
    }
}

/// The derivative of the weighted sum by each element of one input, which is changed and restored.
fn differences(
    function: &impl Fn(&[&Tensor]) -> Result<Tensor>,
    inputs: &[&Tensor],
    input: &Tensor,
    weight: &Tensor,
) -> Result<Vec<f64>> {
    let _guard = no_grad();
    let plain = input.detach()?;
    let values = plain.to_vec::<f64>()?;
    let _restore = Restore { tensor: &plain, values: &values };
    let sum = || function(inputs)?.multiply(weight)?.sum()?.item::<f64>();
    let mut quotients = Vec::with_capacity(values.len());
    for index in 0..values.len() {
        let mut moved = values.clone();
        moved[index] = values[index] + STEP;
        plain.write_from(&moved)?;
        let above = sum()?;
        moved[index] = values[index] - STEP;
        plain.write_from(&moved)?;
        quotients.push((above - sum()?) / (2.0 * STEP));
    }
    Ok(quotients)
}
