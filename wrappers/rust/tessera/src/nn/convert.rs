// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Modules in another dtype or on another device.

use super::{Module, Visitor};
use crate::{no_grad, DType, Device, Error, ErrorKind, Result, Tensor};

/// Converts all floating parameters of a module with their gradients, and its buffers, in place.
///
/// They stay the same tensors, so an existing optimizer continues to train them. Running statistics
/// of normalisation layers never become 16-bit floats.
///
/// ```
/// # fn main() -> tessera::Result<()> {
/// use tessera::{nn::{convert, Linear, Module}, DType};
/// let model = Linear::new(2, 1)?;
/// // SAFETY: no other thread has the model.
/// unsafe { convert(&model, DType::F64, None)? };
/// assert_eq!(model.parameters()[0].dtype(), DType::F64);
/// # Ok(())
/// # }
/// ```
///
/// # Safety
///
/// No other thread may use the tensors of the module during the call.
pub unsafe fn convert(
    module: &(impl Module + ?Sized),
    dtype: impl Into<Option<DType>>,
    device: impl Into<Option<Device>>,
) -> Result<()> {
    let (dtype, device) = (dtype.into(), device.into());
    if let Some(kind) = dtype.filter(|kind| !kind.is_floating_point() && !kind.is_complex()) {
        let text = format!("convert: expected a floating or complex dtype, got {kind}");
        return Err(Error::refused(ErrorKind::Dtype, text));
    }
    let half = matches!(dtype, Some(DType::F16 | DType::Bf16));
    let _guard = no_grad();
    for (tensor, statistic) in Visitor::tensors(module) {
        let floating = tensor.dtype().is_floating_point() || tensor.dtype().is_complex();
        let kind = if statistic && half { Some(DType::F32) } else { dtype };
        let converted = |t: &Tensor| {
            t.detach()?.to_with(|mut o| {
                if let Some(kind) = kind.filter(|_| floating) {
                    o = o.dtype(kind);
                }
                device.map_or(o, |device| o.device(device))
            })
        };
        let made = converted(&tensor)?;
        if made.dtype() == tensor.dtype() && made.device() == tensor.device() {
            continue;
        }
        let grad = tensor.grad()?.map(|grad| converted(&grad)).transpose()?;
        tensor.set_grad(None)?;
        // SAFETY: as the caller says.
        unsafe { tensor.set_data(&made)? };
        tensor.set_grad(grad.as_ref())?;
    }
    Ok(())
}
