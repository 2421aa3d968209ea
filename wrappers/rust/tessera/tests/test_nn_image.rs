// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Layers of images without parameters.

use tessera::nn::{ChannelShuffle, Fold, Module, PixelShuffle, PixelUnshuffle, Unfold, Upsample};
use tessera::{ErrorKind, Result, Tensor};

fn image(numbers: &[f32]) -> Result<Tensor> {
    Tensor::from(numbers).reshape(&[1, 1, 1, numbers.len() as i64])
}

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.to_vec::<f32>().unwrap()
}

#[test]
fn upsample_takes_a_size_or_factors() -> Result<()> {
    let x = image(&[1.0, 3.0])?;
    assert_eq!(values(&Upsample::by(&[1.0, 2.0]).forward(&x)?), [1.0, 1.0, 3.0, 3.0]);
    let linear = Upsample::to(&[1, 4]).mode("bilinear");
    assert_eq!(values(&linear.forward(&x)?), [1.0, 1.5, 2.5, 3.0]);
    let corners = Upsample::to(&[1, 3]).mode("bilinear").align_corners(true);
    assert_eq!(values(&corners.forward(&x)?), [1.0, 2.0, 3.0]);
    let error = Upsample::by(&[]).forward(&x).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn shuffles_move_elements_between_channels_and_positions() -> Result<()> {
    let x = Tensor::from([1.0f32, 2.0, 3.0, 4.0]).reshape(&[1, 4, 1, 1])?;
    let blocks = PixelShuffle(2).forward(&x)?;
    assert_eq!(blocks.shape(), [1, 1, 2, 2]);
    assert_eq!(values(&blocks), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(PixelUnshuffle(2).forward(&blocks)?.shape(), [1, 4, 1, 1]);
    assert_eq!(values(&ChannelShuffle(2).forward(&x)?), [1.0, 3.0, 2.0, 4.0]);
    Ok(())
}

#[test]
fn windows_become_columns_and_add_up_again() -> Result<()> {
    let x = image(&[1.0, 2.0, 3.0])?;
    let windows = Unfold::new([1, 2]);
    let columns = windows.forward(&x)?;
    assert_eq!(columns.shape(), [1, 2, 2]);
    assert_eq!(values(&columns), [1.0, 2.0, 2.0, 3.0]);
    assert_eq!(values(&Fold::new([1, 3], windows).forward(&columns)?), [1.0, 4.0, 3.0]);
    let padded = Unfold::new([2, 2]).padding([1, 1]).stride([2, 2]);
    assert_eq!(padded.forward(&x)?.shape(), [1, 4, 2]);
    Ok(())
}
