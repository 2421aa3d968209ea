// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Layers of sequences, images and volumes: pooling, convolution, normalisation, dropout of channels.

use tessera::nn::{
    AdaptiveAvgPool1d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d,
    AlphaDropout, AvgPool1d, AvgPool2d, AvgPool3d, BatchNorm1d, BatchNorm3d, Conv1d, Conv3d,
    ConvTranspose1d, ConvTranspose3d, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout,
    GroupNorm, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, LocalResponseNorm, LpPool1d,
    LpPool2d, LpPool3d, MaxPool1d, MaxPool2d, MaxPool3d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d,
    Module, RmsNorm, Unflatten,
};
use tessera::{manual_seed, no_grad, ErrorKind, Result, Tensor};

fn close(tensor: &Tensor, expected: &[f32]) {
    let values = tensor.detach().unwrap().to_vec::<f32>().unwrap();
    assert_eq!(values.len(), expected.len(), "{values:?}");
    for (value, wanted) in values.iter().zip(expected) {
        assert!((value - wanted).abs() < 1e-4, "{values:?} and {expected:?}");
    }
}

fn counting(shape: &[i64]) -> Result<Tensor> {
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|n: i64| n as f32).collect();
    Tensor::from(numbers).reshape(shape)
}

#[test]
fn pooling_along_one_two_and_three_axes() -> Result<()> {
    let line = counting(&[1, 1, 6])?;
    let image = counting(&[1, 1, 4, 4])?;
    let volume = counting(&[1, 1, 2, 2, 4])?;
    close(&MaxPool1d::new([2]).forward(&line)?, &[1.0, 3.0, 5.0]);
    let cut = MaxPool1d { padding: [1], ceil_mode: true, ..MaxPool1d::new([2]) };
    close(&cut.forward(&line)?, &[0.0, 2.0, 4.0, 5.0]);
    let dilated = MaxPool2d { stride: [1, 1], dilation: [2, 2], ..MaxPool2d::new([2, 2]) };
    close(&dilated.forward(&image)?, &[10.0, 11.0, 14.0, 15.0]);
    close(&MaxPool3d::new([2, 2, 2]).forward(&volume)?, &[13.0, 15.0]);
    let inside = AvgPool1d { padding: [1], count_include_pad: false, ..AvgPool1d::new([2]) };
    close(&inside.forward(&line)?, &[0.0, 1.5, 3.5, 5.0]);
    let sums = AvgPool2d { divisor_override: Some(4), ..AvgPool2d::new([2, 4]) };
    close(&sums.forward(&image)?, &[7.0, 23.0]);
    close(&AvgPool3d::new([2, 2, 2]).forward(&volume)?, &[6.5, 8.5]);
    let sides = Tensor::from([[[3.0f32, 4.0]]]);
    close(&LpPool1d::new(2.0, [2]).forward(&sides)?, &[5.0]);
    close(&LpPool2d::new(1.0, [2, 2]).forward(&image)?, &[10.0, 18.0, 42.0, 50.0]);
    close(&LpPool3d::new(1.0, [2, 2, 2]).forward(&volume)?, &[52.0, 68.0]);
    close(&AdaptiveAvgPool1d([2]).forward(&line)?, &[1.0, 4.0]);
    close(&AdaptiveAvgPool3d([1, 2, 1]).forward(&volume)?, &[5.5, 9.5]);
    close(&AdaptiveMaxPool1d([2]).forward(&line)?, &[2.0, 5.0]);
    close(&AdaptiveMaxPool2d([1, 2]).forward(&image)?, &[13.0, 15.0]);
    close(&AdaptiveMaxPool3d([1, 1, 1]).forward(&volume)?, &[15.0]);
    Ok(())
}

#[test]
fn unpooling_puts_the_maxima_back() -> Result<()> {
    let line = Tensor::from([[[1.0f32, 5.0, 7.0, 2.0, 4.0]]]);
    let (values, positions) = MaxPool1d::new([2]).with_positions(&line)?;
    let layer = MaxUnpool1d::new([2]);
    close(&layer.unpool(&values, &positions, None)?, &[0.0, 5.0, 7.0, 0.0]);
    close(&layer.unpool(&values, &positions, Some(&[5]))?, &[0.0, 5.0, 7.0, 0.0, 0.0]);
    let (most, place) =
        AdaptiveMaxPool3d([1, 1, 1]).with_positions(&counting(&[1, 1, 2, 2, 2])?)?;
    assert_eq!(place.item::<i64>()?, 7);
    let back = MaxUnpool3d::new([2, 2, 2]).unpool(&most, &place, None)?;
    close(&back, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0]);
    let error = MaxUnpool2d::new([2, 2]).unpool(&most, &place, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    Ok(())
}

#[test]
fn convolution_along_one_and_three_axes() -> Result<()> {
    let line = Conv1d::with(4, 6, [3], |c| c.groups(2).same(true))?;
    assert_eq!(line.weight.shape(), [6, 2, 3]);
    assert_eq!(line.forward(&Tensor::ones(&[4, 7])?)?.shape(), [6, 7]);
    let wider = ConvTranspose1d::with(4, 6, [3], |c| c.stride([2]).output_padding([1]).groups(2))?;
    assert_eq!(wider.forward(&Tensor::ones(&[2, 4, 5])?)?.shape(), [2, 6, 12]);
    let volume = Conv3d::with(2, 4, [1, 2, 3], |c| c.padding([0, 1, 1]).bias(false))?;
    assert_eq!(volume.forward(&Tensor::ones(&[2, 2, 3, 5, 4])?)?.shape(), [2, 4, 3, 6, 4]);
    let back = ConvTranspose3d::new(2, 3, [2, 2, 2])?;
    assert_eq!(back.forward(&Tensor::ones(&[1, 2, 1, 2, 3])?)?.shape(), [1, 3, 2, 3, 4]);
    let error = Conv1d::with(4, 6, [3], |c| c.same(true).stride([2])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn normalisation_keeps_names_and_statistics() -> Result<()> {
    let norm = InstanceNorm1d::with(1, |c| c.affine(true).track_running_stats(true))?;
    let x = Tensor::from([[[1.0f32, 3.0]]]);
    close(&norm.forward(&x)?, &[-1.0, 1.0]);
    let state = norm.state_dict()?;
    assert_eq!(state.len(), 5);
    close(&state["running_mean"], &[0.2]);
    close(&state["running_var"], &[0.9 + 0.1 * 2.0]);
    close(&norm.forward(&x.select(0, 0)?)?, &[-1.0, 1.0]);
    norm.eval();
    let mean = norm.state_dict()?["running_mean"].item::<f32>()?;
    let deviation = norm.state_dict()?["running_var"].item::<f32>()?.sqrt();
    close(&norm.forward(&x)?, &[(1.0 - mean) / deviation, (3.0 - mean) / deviation]);
    assert!(InstanceNorm2d::new(3)?.state_dict()?.is_empty());
    close(&RmsNorm::new(&[2])?.forward(&Tensor::from([1.0f32, 7.0]))?, &[0.2, 1.4]);
    assert_eq!(RmsNorm::with(&[2], Some(1e-3), false)?.parameters().len(), 0);
    let group = GroupNorm::new(1, 2)?;
    close(&group.forward(&Tensor::from([[1.0f32, 3.0]]))?, &[-1.0, 1.0]);
    assert_eq!(group.parameters().len(), 2);
    let local = LocalResponseNorm { alpha: 2.0, beta: 1.0, ..LocalResponseNorm::new(2) };
    close(&local.forward(&Tensor::from([[[3.0f32], [4.0]]]))?, &[0.3, 2.0 / 13.0]);
    let batch = BatchNorm1d::new(1)?;
    close(&batch.forward(&Tensor::from([[1.0f32], [3.0]]))?, &[-1.0, 1.0]);
    assert_eq!(BatchNorm3d::new(2)?.forward(&x).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(InstanceNorm3d::new(2)?.forward(&x).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(GroupNorm::new(3, 4).unwrap_err().kind(), ErrorKind::Value);
    Ok(())
}

#[test]
fn dropout_takes_whole_channels_and_only_in_training() -> Result<()> {
    manual_seed(3)?;
    let _guard = no_grad();
    let x = Tensor::ones(&[8, 16, 2, 2])?;
    let drop = Dropout2d::new(0.5)?;
    let values = drop.forward(&x)?.to_vec::<f32>()?;
    assert!(values.chunks(4).all(|channel| channel.iter().all(|v| *v == channel[0])));
    assert!(values.contains(&0.0) && values.contains(&2.0));
    drop.eval();
    close(&drop.forward(&x)?, &[1.0; 512]);
    let changed = |layer: &dyn Module, x: &Tensor| -> Result<bool> {
        Ok(layer.forward(x)?.to_vec::<f32>()? != x.to_vec::<f32>()?)
    };
    assert!(changed(&Dropout1d::new(0.5)?, &Tensor::ones(&[8, 16, 2])?)?);
    assert!(changed(&Dropout3d::new(0.5)?, &x)?);
    assert!(changed(&AlphaDropout::new(0.5)?, &x)?);
    assert!(changed(&FeatureAlphaDropout::new(0.5)?, &x)?);
    assert_eq!(Dropout3d::new(2.0).unwrap_err().kind(), ErrorKind::Value);
    let divided = Unflatten(1, [4, -1]).forward(&Tensor::ones(&[2, 12])?)?;
    assert_eq!(divided.shape(), [2, 4, 3]);
    Ok(())
}
