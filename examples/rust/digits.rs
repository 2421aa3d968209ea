// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Trains a convolutional network on handwritten digits and writes its weights.
//!
//! Usage: digits DATA OUT [--epochs N] [--seed S]

mod digits_model;

use std::error::Error;
use std::path::PathBuf;

use digits_model::{logits_of, share_right, Net};
use tessera::data::{DataLoader, TensorDataset};
use tessera::nn::Module;
use tessera::optim::{AdamW, CosineAnnealingLr, Optimizer, Scheduler};
use tessera::{io, manual_seed, Generator, Result};

const LEARNING_RATE: f64 = 2e-3;
const WEIGHT_DECAY: f64 = 1e-3;
const BATCH_SIZE: usize = 64;
const USAGE: &str = "usage: digits DATA OUT [--epochs N] [--seed S]";

struct Options {
    data: PathBuf,
    out: PathBuf,
    epochs: u32,
    seed: u64,
}

fn read_options() -> std::result::Result<Options, Box<dyn Error>> {
    let (mut paths, mut epochs, mut seed) = (Vec::new(), 30, 0);
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

/// The mean of the losses of the batches during training.
fn train_epoch(
    model: &Net,
    optimizer: &mut Optimizer<AdamW>,
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

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let options = read_options()?;
    let data = io::load_file(&options.data)?;
    let tensor = |name: &str| data.get(name).cloned().ok_or(format!("{name} is missing"));
    manual_seed(options.seed)?;
    let model = Net::new()?;
    let rule = AdamW { lr: LEARNING_RATE, weight_decay: WEIGHT_DECAY, ..Default::default() };
    let mut optimizer = Optimizer::new(rule, &model.parameters())?;
    let dataset = TensorDataset::new(tensor("train_images")?, tensor("train_classes")?)?;
    let generator = Generator::new(options.seed)?;
    let loader = DataLoader::new(dataset).batch_size(BATCH_SIZE).shuffle(true).generator(generator);

    // Half a cosine wave, from the full rate down to almost nothing.
    let schedule = CosineAnnealingLr { t_max: options.epochs, ..Default::default() };
    let mut scheduler = Scheduler::new(&mut optimizer, schedule)?;

    for epoch in 0..options.epochs {
        let loss = train_epoch(&model, &mut optimizer, &loader)?;
        scheduler.step(&mut optimizer)?;
        eprint!("\repoch {} of {}, loss {loss:.4}", epoch + 1, options.epochs);
    }
    eprintln!();

    std::fs::create_dir_all(&options.out)?;
    io::save_file(&model.state_dict()?, options.out.join("digits.safetensors"))?;
    let logits = logits_of(&model, &tensor("test_images")?)?;
    println!("test accuracy {:.4}", share_right(&logits, &tensor("test_classes")?)?);
    Ok(())
}
