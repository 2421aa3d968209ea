// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Trains ResNet-18 (He and others, 2015) on scikit-learn's scanned digits, enlarged, and writes its
//! weights under torchvision's names. DATA is the file that digits.py writes.
//!
//! Usage: resnet18 DATA OUT [--epochs N] [--seed S]

use std::error::Error;
use std::f64::consts::PI;
use std::path::PathBuf;

use tessera::data::{DataLoader, TensorDataset};
use tessera::nn::{BatchNorm2d, Conv2d, Linear, Module, Sequential, Visitor};
use tessera::optim::{Optimizer, Sgd};
use tessera::{io, manual_seed, no_grad, DType, Generator, Result, Tensor};

const SIZE: i64 = 32; // pixels along a side
const BATCH_SIZE: usize = 32;
const LEARNING_RATE: f64 = 0.02;
const MOMENTUM: f64 = 0.9;
const WEIGHT_DECAY: f64 = 5e-4;
const USAGE: &str = "usage: resnet18 DATA OUT [--epochs N] [--seed S]";

fn conv(inputs: i64, outputs: i64, kernel: i64, stride: i64) -> Result<Conv2d> {
    let padding = kernel / 2;
    Conv2d::with(inputs, outputs, [kernel; 2], |c| {
        c.stride([stride; 2]).padding([padding; 2]).bias(false)
    })
}

/// Two convolutions beside a shortcut.
struct Block {
    conv1: Conv2d,
    bn1: BatchNorm2d,
    conv2: Conv2d,
    bn2: BatchNorm2d,
    downsample: Sequential,
}

impl Block {
    fn new(inputs: i64, outputs: i64, stride: i64) -> Result<Self> {
        let (conv1, bn1) = (conv(inputs, outputs, 3, stride)?, BatchNorm2d::new(outputs)?);
        let (conv2, bn2) = (conv(outputs, outputs, 3, 1)?, BatchNorm2d::new(outputs)?);
        let mut downsample = Sequential::new();
        if stride != 1 || inputs != outputs {
            downsample = downsample.with(conv(inputs, outputs, 1, stride)?);
            downsample = downsample.with(BatchNorm2d::new(outputs)?);
        }
        Ok(Self { conv1, bn1, conv2, bn2, downsample })
    }
}

impl Module for Block {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = self.bn1.forward(&self.conv1.forward(x)?)?.relu()?;
        let y = self.bn2.forward(&self.conv2.forward(&y)?)?;
        y.add(&self.downsample.forward(x)?)?.relu() // empty, it is the identity
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.module("conv1", &self.conv1);
        visitor.module("bn1", &self.bn1);
        visitor.module("conv2", &self.conv2);
        visitor.module("bn2", &self.bn2);
        visitor.module("downsample", &self.downsample);
    }
}

fn stage(inputs: i64, outputs: i64, stride: i64) -> Result<Sequential> {
    let first = Block::new(inputs, outputs, stride)?;
    Ok(Sequential::new().with(first).with(Block::new(outputs, outputs, 1)?))
}

struct ResNet18 {
    conv1: Conv2d,
    bn1: BatchNorm2d,
    layers: [Sequential; 4],
    fc: Linear,
}

impl ResNet18 {
    fn new(channels: i64, classes: i64) -> Result<Self> {
        Ok(Self {
            conv1: conv(channels, 64, 7, 2)?,
            bn1: BatchNorm2d::new(64)?,
            layers: [
                stage(64, 64, 1)?,
                stage(64, 128, 2)?,
                stage(128, 256, 2)?,
                stage(256, 512, 2)?,
            ],
            fc: Linear::new(512, classes)?,
        })
    }
}

impl Module for ResNet18 {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = self.bn1.forward(&self.conv1.forward(x)?)?.relu()?;
        let x = x.max_pool2d_with(&[3, 3], |o| o.stride(&[2, 2]).padding(&[1, 1]))?;
        let x = self.layers.iter().try_fold(x, |x, layer| layer.forward(&x))?;
        self.fc.forward(&x.adaptive_avg_pool2d(&[1, 1])?.flatten_with(|o| o.start(1))?)
    }

    fn visit(&self, visitor: &mut Visitor) {
        visitor.module("conv1", &self.conv1);
        visitor.module("bn1", &self.bn1);
        for (number, layer) in self.layers.iter().enumerate() {
            visitor.module(&format!("layer{}", number + 1), layer);
        }
        visitor.module("fc", &self.fc);
    }
}

struct Options {
    data: PathBuf,
    out: PathBuf,
    epochs: usize,
    seed: u64,
}

fn read_options() -> std::result::Result<Options, Box<dyn Error>> {
    let (mut paths, mut epochs, mut seed) = (Vec::new(), 10, 0);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--epochs" => epochs = arguments.next().ok_or(USAGE)?.parse()?,
            "--seed" => seed = arguments.next().ok_or(USAGE)?.parse()?,
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    match <[PathBuf; 2]>::try_from(paths) {
        Ok([data, out]) if epochs > 0 => Ok(Options { data, out, epochs, seed }),
        _ => Err(USAGE.into()),
    }
}

fn enlarged(images: &Tensor) -> Result<Tensor> {
    images.interpolate_with(&[], |o| o.size(&[SIZE, SIZE]).mode("bilinear"))
}

/// Half a cosine wave, from the full rate down to almost nothing.
fn rate_of(epoch: usize, epochs: usize) -> f64 {
    LEARNING_RATE * 0.5 * (1.0 + (PI * epoch as f64 / epochs as f64).cos())
}

/// The mean of the losses of the batches during training.
fn train_epoch(
    model: &ResNet18,
    optimizer: &mut Optimizer<Sgd>,
    loader: &DataLoader<TensorDataset>,
) -> Result<f64> {
    let (mut total, mut count) = (0.0, 0);
    for batch in loader {
        let (images, classes) = batch?;
        optimizer.zero_grad()?;
        let loss = model.forward(&images)?.cross_entropy(&classes)?;
        loss.backward()?;
        optimizer.step()?;
        total += loss.item::<f64>()? * classes.numel() as f64;
        count += classes.numel();
    }
    Ok(total / count as f64)
}

fn accuracy(model: &ResNet18, images: &Tensor, classes: &Tensor) -> Result<f64> {
    let _guard = no_grad();
    model.eval();
    let guesses = model.forward(images)?.argmax_with(|o| o.axis(1))?;
    guesses.equal(classes)?.astype(DType::F64)?.mean()?.item()
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let options = read_options()?;
    let data = io::load_file(&options.data)?;
    let tensor = |name: &str| data.get(name).cloned().ok_or(format!("{name} is missing"));
    manual_seed(options.seed)?;
    let model = ResNet18::new(1, 10)?;
    let rule = Sgd {
        lr: LEARNING_RATE,
        momentum: MOMENTUM,
        weight_decay: WEIGHT_DECAY,
        ..Default::default()
    };
    let mut optimizer = Optimizer::new(rule, &model.parameters())?;
    let dataset =
        TensorDataset::new(enlarged(&tensor("train_images")?)?, tensor("train_classes")?)?;
    let generator = Generator::new(options.seed)?;
    let loader = DataLoader::new(dataset).batch_size(BATCH_SIZE).shuffle(true).generator(generator);

    for epoch in 0..options.epochs {
        optimizer.set_lr(rate_of(epoch, options.epochs))?;
        let loss = train_epoch(&model, &mut optimizer, &loader)?;
        eprintln!("epoch {} of {}, loss {loss:.4}", epoch + 1, options.epochs);
    }

    std::fs::create_dir_all(&options.out)?;
    io::save_file(&model.state_dict()?, options.out.join("resnet18.safetensors"))?;
    let images = enlarged(&tensor("test_images")?)?;
    println!("test accuracy {:.4}", accuracy(&model, &images, &tensor("test_classes")?)?);
    Ok(())
}
