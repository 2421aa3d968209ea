// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Predicts the classes of test images with a model that any language's digits program trained.
//!
//! Usage: predict DATA MODEL RESULT. Writes the logits and prints the accuracy.

mod digits_model;

use std::error::Error;

use digits_model::{logits_of, share_right, Net};
use tessera::io;
use tessera::nn::Module;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, model_file, result] = arguments.as_slice() else {
        return Err("usage: predict DATA MODEL RESULT".into());
    };
    let data = io::load_file(data)?;
    let tensor = |name: &str| data.get(name).ok_or(format!("{name} is missing"));
    let model = Net::new()?;
    model.load_state_dict(&io::load_file(model_file)?)?;
    let logits = logits_of(&model, tensor("test_images")?)?;
    io::save_file(&io::TensorMap::from([("logits".to_string(), logits.clone())]), result)?;
    println!("test accuracy {:.4}", share_right(&logits, tensor("test_classes")?)?);
    Ok(())
}
