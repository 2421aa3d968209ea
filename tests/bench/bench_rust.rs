// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! What one call costs a Rust program: the cases of bench_overhead.cpp, one JSON line each. The cases
//! named `raw_` call tessera-sys, which is what C calls.

use std::hint::black_box;
use std::time::Instant;

use tessera::{sys, DType, Tensor};

const ROUNDS: usize = 20;

struct Case<'a> {
    name: &'a str,
    shape: &'a str,
    unit: &'a str,
    count: usize,
    bytes: f64,
}

impl Case<'_> {
    /// Runs the work in rounds, after one to warm up, and prints best and percentiles.
    fn run(&self, mut work: impl FnMut()) {
        if !is_chosen(self.name) {
            return;
        }
        work();
        let mut seconds: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let begin = Instant::now();
                work();
                begin.elapsed().as_secs_f64()
            })
            .collect();
        seconds.sort_by(f64::total_cmp);
        let last = ROUNDS - 1;
        let at = |index: usize| seconds[index] * 1e9 / self.count as f64;
        print!(
            "{{\"name\": \"{}\", \"shape\": \"{}\", \"device\": \"cpu\", \"language\": \"rust\", \
             \"unit\": \"ns per {}\", \"best\": {:.3}, \"median\": {:.3}, \"p10\": {:.3}, \
             \"p90\": {:.3}",
            self.name,
            self.shape,
            self.unit,
            at(0),
            at(last / 2),
            at(last / 10),
            at(last - last / 10)
        );
        if self.bytes > 0.0 {
            print!(", \"bytes_per_second\": {:.4e}", self.bytes / seconds[last / 2]);
        }
        println!("}}");
    }
}

/// TSR_BENCH_ONLY names the cases to run, with commas between them; without it all run.
fn is_chosen(name: &str) -> bool {
    let chosen = std::env::var("TSR_BENCH_ONLY").unwrap_or_default();
    chosen.is_empty() || chosen.split(',').any(|one| one == name)
}

fn random(shape: &[i64]) -> Tensor {
    Tensor::rand_with(shape, |o| o.dtype(DType::F32)).expect("random numbers")
}

fn small_ops(count: usize) {
    let (a, b) = (random(&[4]), random(&[4]));
    let w = random(&[4]).requiring_grad().expect("a leaf");
    let repeat = |name: &str, body: &dyn Fn()| {
        Case { name, shape: "[4]", unit: "call", count, bytes: 0.0 }.run(|| {
            for _ in 0..count {
                body();
            }
        });
    };
    repeat("add", &|| drop(black_box(a.add(&b).expect("add"))));
    repeat("raw_add", &|| {
        let mut c = std::ptr::null_mut();
        // SAFETY: two valid handles; the result is released.
        unsafe {
            assert_eq!(sys::tsr_add(a.raw(), b.raw(), &mut c), sys::TSR_OK);
            sys::tsr_tensor_release(black_box(c));
        }
    });
    repeat("add_operator", &|| drop(black_box(&a + &b)));
    repeat("add_scalar", &|| drop(black_box(a.add(1.5).expect("add"))));
    repeat("exp", &|| drop(black_box(a.exp().expect("exp"))));
    repeat("add_out", &|| a.add_out(&b, &a).expect("add"));
    repeat("add_with_node", &|| drop(black_box(a.add(&w).expect("add"))));
    repeat("multiply_with_node", &|| drop(black_box(a.multiply(&w).expect("multiply"))));
}

fn chain(length: usize) {
    let w = random(&[4]).requiring_grad().expect("a leaf");
    let factor = random(&[4]);
    let seed = Tensor::ones(&[4]).expect("ones");
    let forward = || (0..length).fold(w.clone(), |y, _| y.multiply(&factor).expect("multiply"));
    let backward = |y: Tensor| y.backward_with(Some(&seed), |o| o).expect("backward");
    let mut ready: Vec<Tensor> = (0..=ROUNDS).map(|_| forward()).collect();
    Case { name: "backward", shape: "[4]", unit: "node", count: length, bytes: 0.0 }
        .run(|| backward(ready.pop().expect("one for each round")));
    Case { name: "chain_forward_backward", shape: "[4]", unit: "op", count: length, bytes: 0.0 }
        .run(|| backward(forward()));
}

fn large_add() {
    let numel = 16 << 20; // 64 MiB of float32
    let (a, b) = (random(&[numel]), random(&[numel]));
    let bytes = 3.0 * 4.0 * numel as f64;
    Case { name: "fresh_add", shape: "64MiB", unit: "call", count: 1, bytes }
        .run(|| drop(black_box(a.add(&b).expect("add"))));
}

fn main() {
    small_ops(200_000);
    chain(10_000);
    large_add();
}
