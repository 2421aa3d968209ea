// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! One rank of a group of processes: mpirun -n 4 ranks. Every rank brings its number, and all get
//! the sum and the largest. Ranks in other languages may be in the same group.

use std::time::Duration;

use tessera::distributed::{Group, GroupOptions, ReduceOp};
use tessera::{Result, Tensor};

fn reduced(group: &Group, op: ReduceOp) -> Result<f32> {
    let x = Tensor::from_slice(&[group.rank() as f32], &[1])?;
    group.all_reduce(&[&x], op)?.wait()?;
    x.item()
}

fn main() -> Result<()> {
    let options = GroupOptions { timeout: Duration::from_secs(120), ..Default::default() };
    let group = Group::new("mpi", &options)?;
    let (sum, largest) = (reduced(&group, ReduceOp::Sum)?, reduced(&group, ReduceOp::Max)?);
    let (rank, size) = (group.rank(), group.size());
    println!("rank {rank} of {size} in rust: sum {sum}, largest {largest}");
    Ok(())
}
