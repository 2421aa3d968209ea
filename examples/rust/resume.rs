// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Resumes a training run that any language began: reads the files in FROM, makes five steps, and
//! writes to TO.
//!
//! Usage: resume FROM TO. FROM contains model.safetensors and, unless the run is new,
//! state.safetensors. Ranks that mpirun has started divide the optimizer's state; the files are those
//! of one process.

use std::error::Error;
use std::path::Path;
use std::slice::from_ref;

use tessera::data_parallel::ShardedOptimizer;
use tessera::distributed::{Group, GroupOptions};
use tessera::io;
use tessera::optim::{AdamW, Optimizer};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = arguments.as_slice() else {
        return Err("usage: resume FROM TO".into());
    };
    let (from, to) = (Path::new(from), Path::new(to));
    let model = io::load_file(from.join("model.safetensors"))?;
    let tensor = |name: &str| model.get(name).cloned().ok_or(format!("{name} is missing"));
    let (weight, bias) = (tensor("weight")?.requiring_grad()?, tensor("bias")?.requiring_grad()?);
    let rule = AdamW { lr: 0.1, amsgrad: true, ..Default::default() };
    let mut optimizer = Optimizer::new(rule, from_ref(&weight))?;
    optimizer.add_group(AdamW { lr: 0.2, weight_decay: 0.0, ..rule }, from_ref(&bias))?;
    let state = from.join("state.safetensors");
    if state.exists() {
        optimizer.load(state)?;
    }
    let (x, y) = (tensor("x")?, tensor("y")?);
    let backward = || x.linear_with(&weight, |o| o.bias(&bias))?.mse_loss(&y)?.backward();
    if std::env::var_os("OMPI_COMM_WORLD_SIZE").is_some() {
        let group = Group::new("mpi", &GroupOptions::default())?;
        let mut sharded = ShardedOptimizer::new(optimizer, &group)?;
        for _ in 0..5 {
            sharded.zero_grad()?;
            backward()?;
            sharded.step()?;
        }
        if let Some(whole) = sharded.gather(Some(0))? {
            io::save_file(&model, to.join("model.safetensors"))?;
            whole.save(to.join("state.safetensors"))?;
        }
        return Ok(());
    }
    for _ in 0..5 {
        optimizer.zero_grad()?;
        backward()?;
        optimizer.step()?;
    }
    io::save_file(&model, to.join("model.safetensors"))?;
    optimizer.save(to.join("state.safetensors"))?;
    Ok(())
}
