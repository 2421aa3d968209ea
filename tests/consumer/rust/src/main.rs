// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! An outside program: finds the library through pkg-config, differentiates, and catches an error.

use tessera::{ErrorKind, Result, Tensor};

fn main() -> Result<()> {
    let w = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]).requiring_grad()?;
    w.square()?.sum()?.backward()?;
    let gradient = w.grad()?.expect("a gradient after a backward");
    assert_eq!(gradient.to_vec::<f32>()?, [2.0, 4.0, 6.0, 8.0]);
    let error = w.reshape(&[3]).expect_err("4 elements do not fill 3 places");
    assert_eq!(error.kind(), ErrorKind::Shape);
    println!("tessera {}", tessera::version());
    Ok(())
}
