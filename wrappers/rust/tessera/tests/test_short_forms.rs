// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Short forms of models, datasets and optimizers give what the long forms give.

use tessera::data::{from_fn, DataLoader};
use tessera::nn::{
    model, sequential, AvgPool3d, Conv1d, Conv2d, ConvTranspose2d, Fold, Linear, LpPool2d,
    MaxPool2d, MaxUnpool2d, Module, Relu, Sequential, Unfold,
};
use tessera::optim::{Adam, Optimizer, Sgd};
use tessera::{ErrorKind, Result, Tensor};

model! {
    /// A model with an argument.
    pub struct Net(features: i64) {
        /// One layer.
        pub hidden: Linear = Linear::new(features, 4)?,
        tail: Vec<Linear> = (0..2).map(|_| Linear::new(4, 4)).collect::<Result<_>>()?,
        last: Sequential = sequential![Relu, Linear::without_bias(4, 1)?],
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = self.tail.iter().try_fold(self.hidden.forward(x)?, |x, layer| layer.forward(&x))?;
        self.last.forward(&x)
    }
}

model! {
    struct Alone {
        only: Linear = Linear::new(1, 1)?,
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.only.forward(x)
    }
}

#[test]
fn a_model_has_its_fields_as_parts() -> Result<()> {
    let net = Net::new(3)?;
    let named = net.named_parameters();
    let names: Vec<_> = named.iter().map(|(name, _)| name.as_str()).collect();
    let tail = ["tail.0.weight", "tail.0.bias", "tail.1.weight", "tail.1.bias"];
    assert_eq!(names[..2], ["hidden.weight", "hidden.bias"]);
    assert_eq!(names[2..6], tail);
    assert_eq!(names[6..], ["last.1.weight"]);
    assert_eq!(net.forward(&Tensor::ones(&[2, 3])?)?.shape(), [2, 1]);
    assert_eq!(Alone::new()?.parameters().len(), 2);
    assert!(sequential![].is_empty());
    Ok(())
}

#[test]
fn rules_are_made_by_functions() {
    let rule = Sgd::new(0.1).momentum(0.9).nesterov(true);
    assert_eq!(rule, Sgd { lr: 0.1, momentum: 0.9, nesterov: true, ..Default::default() });
    assert_eq!(
        Adam::new(0.5).lr(0.25).beta1(0.5),
        Adam { lr: 0.25, beta1: 0.5, ..Default::default() }
    );
}

#[test]
fn a_backward_step_clears_gradients_first() -> Result<()> {
    let x = Tensor::from([2.0, -3.0]).requiring_grad()?;
    let mut optimizer = Optimizer::new(Sgd::new(0.25), std::slice::from_ref(&x))?;
    for expected in [[1.0, -1.5], [0.5, -0.75]] {
        optimizer.backward_step(&x.square()?.sum()?)?;
        assert_eq!(x.detach()?.to_vec::<f64>()?, expected);
    }
    let refused = optimizer.backward_step(&x.square()?).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Autograd);
    Ok(())
}

#[test]
fn a_dataset_is_made_of_a_function() -> Result<()> {
    let squares =
        from_fn(5, |index| Ok((Tensor::scalar(index as i64)?, Tensor::scalar(index as i64 * 2)?)));
    let mut seen = 0;
    for batch in &DataLoader::new(squares).batch_size(2).workers(1) {
        let (numbers, doubled) = batch?;
        assert_eq!(numbers.multiply(2)?.to_vec::<i64>()?, doubled.to_vec::<i64>()?);
        seen += numbers.numel();
    }
    assert_eq!(seen, 5);
    let failing = from_fn(1, |_| Err::<Tensor, _>(tessera::Error::new(ErrorKind::Io, "no file")));
    let found = DataLoader::new(failing).batch_size(1);
    let first = (&found).into_iter().next().unwrap();
    assert_eq!(first.unwrap_err().kind(), ErrorKind::Io);
    Ok(())
}

#[test]
fn one_number_holds_for_all_axes() -> Result<()> {
    let image = Tensor::arange(0, 32)?.astype(tessera::DType::F32)?.reshape(&[1, 2, 4, 4])?;
    let short = Conv2d::with(2, 3, 3, |c| c.padding(1).stride(2).dilation(1))?;
    let long = Conv2d::with(2, 3, [3, 3], |c| c.padding([1, 1]).stride([2, 2]).dilation([1, 1]))?;
    long.load_state_dict(&short.state_dict()?)?;
    let values = short.forward(&image)?.to_vec::<f32>()?;
    assert_eq!(values, long.forward(&image)?.to_vec::<f32>()?);
    assert_eq!(Conv1d::new(2, 3, 5)?.weight.shape(), [3, 2, 5]);
    let back = ConvTranspose2d::with(2, 3, 2, |c| c.stride(2).output_padding(1))?;
    assert_eq!(back.forward(&image)?.shape(), [1, 3, 9, 9]);
    let (pool, largest) = (MaxPool2d::new(2), MaxPool2d::new([2, 2]));
    assert_eq!((pool.kernel_size, pool.stride), (largest.kernel_size, largest.stride));
    assert_eq!(AvgPool3d::new(2).kernel_size, [2; 3]);
    assert_eq!(LpPool2d::new(2.0, 3).stride, [3, 3]);
    assert_eq!(MaxUnpool2d::new(2).kernel_size, [2, 2]);
    let windows = Unfold::new(2).stride(2);
    let columns = windows.forward(&image)?;
    assert_eq!(columns.shape(), [1, 8, 4]);
    assert_eq!(Fold::new(4, windows).forward(&columns)?.to_vec::<f32>()?, image.to_vec::<f32>()?);
    Ok(())
}

#[test]
fn tensors_of_an_iterator_are_summed() -> Result<()> {
    let terms = [Tensor::from([1.0f32, 2.0]).requiring_grad()?, Tensor::from([3.0f32, 4.0])];
    let total: Tensor = terms.iter().sum();
    assert_eq!(total.to_vec::<f32>()?, [4.0, 6.0]);
    total.sum()?.backward()?;
    assert_eq!(terms[0].grad()?.unwrap().to_vec::<f32>()?, [1.0, 1.0]);
    assert_eq!(std::iter::empty::<Tensor>().sum::<Tensor>().item::<f32>()?, 0.0);
    let failed = terms.iter().map(|term| term.reshape(&[3])).sum::<Result<Tensor>>();
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Shape);
    Ok(())
}
