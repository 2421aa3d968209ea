// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! Groups of ranks (feature row D9): here of threads; tests/languages has a program for processes.

use std::time::Duration;
use tessera::data::DistributedSampler;
use tessera::distributed::{functional, Group, GroupOptions, ReduceOp};
use tessera::{ErrorKind, Result, Tensor};

/// Runs the body as rank 0 and 1.
fn on_two_ranks(address: &str, body: impl Fn(Group) -> Result<()> + Sync) {
    std::thread::scope(|scope| {
        for rank in 0..2 {
            let body = &body;
            scope.spawn(move || {
                let options = GroupOptions {
                    rank: Some(rank),
                    size: Some(2),
                    timeout: Duration::from_secs(60),
                    address,
                    ..Default::default()
                };
                body(Group::new("threads", &options).unwrap()).unwrap();
            });
        }
    });
}

fn pair(a: f32, b: f32) -> Result<Tensor> {
    Tensor::from_slice(&[a, b], &[2])
}

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.to_vec::<f32>().unwrap()
}

const NONE: [&Tensor; 0] = [];

#[test]
fn d9_collectives_of_two_ranks() {
    on_two_ranks("rust collectives", |group| {
        let rank = group.rank() as f32;
        assert_eq!(group.size(), 2);
        let samples = DistributedSampler::of(4, &group).shuffle(false);
        assert_eq!(samples.positions()?, [group.rank(), group.rank() + 2]);
        let sum = pair(rank, 1.0)?;
        group.all_reduce(&[&sum], ReduceOp::Sum)?.wait()?;
        assert_eq!(values(&sum), [1.0, 2.0]);
        let most = pair(rank, 1.0)?;
        group.reduce(&most, ReduceOp::Max, 0)?.wait()?;
        assert_eq!(values(&most), [1.0, 1.0]);
        let copy = pair(rank, rank)?;
        group.broadcast(&[&copy], 1)?.wait()?;
        assert_eq!(values(&copy), [1.0, 1.0]);
        let (first, second) = (pair(9.0, 9.0)?, pair(9.0, 9.0)?);
        let all = Tensor::zeros(&[4])?;
        group.all_gather(&[&first, &second], &pair(rank, 7.0)?)?.wait()?;
        assert_eq!((values(&first), values(&second)), (vec![0.0, 7.0], vec![1.0, 7.0]));
        group.all_gather(&[&all], &pair(rank, 7.0)?)?.wait()?;
        let part = pair(9.0, 9.0)?;
        group.reduce_scatter(&part, &[&all], ReduceOp::Sum)?.wait()?;
        assert_eq!(values(&part), [2.0 * rank, 14.0]);
        let sent = [pair(rank, 0.0)?, pair(rank, 1.0)?];
        group.all_to_all(&[&first, &second], &[&sent[0], &sent[1]])?.wait()?;
        assert_eq!((values(&first), values(&second)), (vec![0.0, rank], vec![1.0, rank]));
        let swapped = pair(9.0, 9.0)?;
        group
            .all_to_all_single(&swapped, &pair(rank, rank + 10.0)?, None, Some(&[1, 1]))?
            .wait()?;
        assert_eq!(values(&swapped), [10.0 * rank, 10.0 * rank + 1.0]);
        let root = rank == 0.0;
        let here = [&first, &second];
        group.gather(if root { &here[..] } else { &NONE[..] }, &pair(rank, 3.0)?, 0)?.wait()?;
        assert!(!root || (values(&first) == [0.0, 3.0] && values(&second) == [1.0, 3.0]));
        group.scatter(&part, if root { &here[..] } else { &NONE[..] }, 0)?.wait()?;
        assert_eq!(values(&part), [rank, 3.0]);
        Ok(())
    });
}

#[test]
fn d9_messages_parts_and_errors() {
    on_two_ranks("rust messages", |group| {
        let rank = group.rank();
        let got = pair(9.0, 9.0)?;
        let receive = group.recv(&got, None, 4)?;
        group.send(&pair(rank as f32, 2.0)?, 1 - rank, 4)?.wait()?;
        receive.wait()?;
        assert!(receive.is_done()?);
        assert_eq!(receive.source()?, Some(1 - rank));
        assert_eq!(values(&got), [(1 - rank) as f32, 2.0]);
        let part = group.split((rank == 1).then_some(0), 0)?;
        assert_eq!(part.is_some(), rank == 1);
        if let Some(part) = part {
            assert_eq!(part.first_rank(0)?, 1);
        }
        let odd = Tensor::zeros(&[2 + rank as i64])?;
        let shape = group.all_reduce(&[&odd], ReduceOp::Sum)?.wait().unwrap_err();
        assert_eq!(shape.kind(), ErrorKind::Shape);
        assert_eq!(group.broadcast(&[&got], usize::MAX).unwrap_err().kind(), ErrorKind::Index);
        assert_eq!(group.broadcast(&[&got], 2).unwrap_err().kind(), ErrorKind::Index);
        group.barrier()?.wait_for(Duration::from_secs(30))?;
        group.abort("the user stopped it")?;
        assert!(group.is_aborted());
        assert_eq!(group.barrier().unwrap_err().kind(), ErrorKind::Cancelled);
        Ok(())
    });
}

#[test]
fn d9_collectives_with_derivatives() {
    on_two_ranks("rust functional", |group| {
        let rank = group.rank() as f32;
        let gradient = |collective: &dyn Fn(&Tensor) -> Result<Tensor>| -> Result<Vec<f32>> {
            let x = pair(rank, 3.0)?.requiring_grad()?;
            (collective(&x)? * f64::from(1.0 + rank)).sum()?.backward()?;
            Ok(values(&x.grad()?.unwrap()))
        };
        let sum = ReduceOp::Sum;
        assert_eq!(gradient(&|x| functional::all_reduce(&group, x, sum))?, [3.0, 3.0]);
        assert_eq!(gradient(&|x| functional::all_gather(&group, x))?, [3.0, 3.0]);
        assert_eq!(gradient(&|x| functional::reduce(&group, x, sum, 1))?, [2.0, 2.0]);
        assert_eq!(gradient(&|x| functional::reduce_scatter(&group, x, sum))?, [1.0, 2.0]);
        assert_eq!(gradient(&|x| functional::all_to_all(&group, x, None, None))?, [1.0, 2.0]);
        let copied = gradient(&|x| functional::broadcast(&group, x, 1))?;
        assert_eq!(copied, if rank == 1.0 { [3.0, 3.0] } else { [0.0, 0.0] });
        let told = functional::all_to_all(&group, &pair(rank, 5.0)?, None, Some(&[1, 1]))?;
        assert_eq!(values(&told), if rank == 0.0 { [0.0, 1.0] } else { [5.0, 5.0] });
        let x = pair(1.0, 2.0)?.requiring_grad()?;
        if rank == 0.0 {
            functional::send(&group, &(&x * 3.0), 1, 2)?.backward()?;
            assert_eq!(values(&x.grad()?.unwrap()), [12.0, 12.0]);
        } else {
            (functional::recv(&group, &x, 0, 2, true)? * 4.0).sum()?.backward()?;
        }
        let error = functional::broadcast(&group, &x, 2).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Index);
        Ok(())
    });
}
