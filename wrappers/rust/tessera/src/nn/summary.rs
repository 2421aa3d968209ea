// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! A model as a table: its parameters, or what a call of it does.

use super::Module;
use crate::autograd::{draw_graph, enable_grad, GraphFormat};
use crate::{Result, Tensor};
use std::fmt::Write;

/// One line for each parameter with its path, shape and number of elements, then the totals.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// let layer = tessera::nn::Linear::new(3, 2)?;
/// let table = tessera::nn::summary(&layer);
/// assert!(table.contains("weight     [2, 3]         6"));
/// assert!(table.ends_with("Parameters: 8 (8 trainable), 0.00 MB\n"));
/// # Ok(())
/// # }
/// ```
pub fn summary(module: &(impl Module + ?Sized)) -> String {
    let parameters = module.named_parameters();
    let mut rows = vec![["Parameter".into(), "Shape".into(), "Elements".into()]];
    rows.extend(parameters.iter().map(|(name, tensor)| {
        [name.clone(), format!("{:?}", tensor.shape()), tensor.numel().to_string()]
    }));
    let width = |column: usize| rows.iter().map(|row: &[String; 3]| row[column].len()).max();
    let widths: Vec<usize> = (0..3).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for [name, shape, count] in &rows {
        writeln!(text, "{name:0$}  {shape:1$}  {count:>2$}", widths[0], widths[1], widths[2])
            .expect("a String grows");
    }
    let tensors = || parameters.iter().map(|(_, tensor)| tensor);
    let total: usize = tensors().map(|tensor| tensor.numel()).sum();
    let trainable: usize = tensors().filter(|t| t.requires_grad()).map(|t| t.numel()).sum();
    let nbytes: usize = tensors().map(|tensor| tensor.nbytes()).sum();
    let megabytes = nbytes as f64 / 1e6;
    writeln!(text, "Parameters: {total} ({trainable} trainable), {megabytes:.2} MB")
        .expect("a String grows");
    text
}

/// Calls the module once. One line for each operator of the call, with the layer whose parameters it
/// uses, the shape of its output and its multiply-adds; then the totals, and the memory of the outputs
/// and of what a backward would need. The module may change its buffers, as in any call.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// let layer = tessera::nn::Linear::new(3, 2)?;
/// let table = tessera::nn::summary_of_call(&layer, &tessera::Tensor::ones(&[4, 3])?)?;
/// assert!(table.contains("weight  Linear    [4, 2]           8             24"));
/// # Ok(())
/// # }
/// ```
pub fn summary_of_call(module: &(impl Module + ?Sized), input: &Tensor) -> Result<String> {
    let _guard = enable_grad();
    let floating = input.dtype().is_floating_point();
    let given = if floating { input.detach()?.requiring_grad()? } else { input.clone() };
    let output = module.forward(&given)?;
    draw_graph(&[output], &module.named_parameters(), GraphFormat::Table, false)
}
