// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! An outside program: finds the library through pkg-config, differentiates, and catches an error.

use tessera::{Device, DeviceType, ErrorKind, Result, Tensor};

fn main() -> Result<()> {
    let w = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]).requiring_grad()?;
    w.square()?.sum()?.backward()?;
    let gradient = w.grad()?.expect("a gradient after a backward");
    assert_eq!(gradient.to_vec::<f32>()?, [2.0, 4.0, 6.0, 8.0]);
    let error = w.reshape(&[3]).expect_err("4 elements do not fill 3 places");
    assert_eq!(error.kind(), ErrorKind::Shape);
    // The plugin that check_rust_consumer.sh installs: a device on the host.
    let x = Tensor::ones_with(&[2], |o| o.device(Device::new(DeviceType::Cuda, 0)))?;
    assert_eq!(x.sum()?.item::<f32>()?, 2.0);
    println!("tessera {}", tessera::version());
    Ok(())
}
