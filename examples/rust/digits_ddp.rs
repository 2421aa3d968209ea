// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Trains the digits network on several ranks: `mpirun -n 4 digits_ddp DATA WEIGHTS OUT`
//! It begins with the weights of a file, each rank has a part of every batch, and rank 0 writes the
//! weights. Layers run as in evaluation, so that the parts together are the whole batch.

#[allow(dead_code)] // it has what the other programs need
mod digits_model;

use digits_model::Net;
use tessera::data_parallel::DataParallel;
use tessera::distributed::{Group, GroupOptions};
use tessera::nn::Module;
use tessera::optim::{Optimizer, Sgd};
use tessera::{io, Result, Tensor};

const STEPS: i64 = 10;
const BATCH: i64 = 240;

fn train(net: &Net, group: &Group, images: &Tensor, classes: &Tensor) -> Result<()> {
    let parameters = net.parameters();
    // The statistics of the normalization, which the weights' file has too.
    let mut parallel = DataParallel::new(group, &parameters, &net.buffers())?;
    let rule = Sgd { lr: 0.05, momentum: 0.9, ..Default::default() };
    let mut optimizer = Optimizer::new(rule, &parameters)?;
    let (rank, size) = (group.rank() as i64, group.size() as i64);
    let rows = BATCH / size;
    net.eval();
    for step in 0..STEPS {
        let first = BATCH * (step % 5) + rows * rank;
        optimizer.zero_grad()?;
        let part = images.narrow(0, first, rows)?;
        let logits = parallel.forward(|| net.forward(&part))?;
        let loss = logits.cross_entropy(&classes.narrow(0, first, rows)?)?;
        loss.backward()?;
        optimizer.step()?;
        if step == STEPS - 1 {
            println!("rank {rank} of {size}: loss {:.6}", loss.item::<f64>()?);
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [data, weights, out] = files.as_slice() else {
        eprintln!("usage: digits_ddp DATA WEIGHTS OUT");
        std::process::exit(1);
    };
    let group = Group::new("mpi", &GroupOptions::default())?;
    let net = Net::new()?;
    if group.rank() == 0 {
        net.load_state_dict(&io::load_file(weights)?)?;
    }
    let tensors = io::load_file(data)?;
    train(&net, &group, &tensors["train_images"], &tensors["train_classes"])?;
    if group.rank() == 0 {
        io::save_file(&net.state_dict()?, out)?;
    }
    Ok(())
}
