// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//! What one call costs a Rust program: the cases of bench_overhead.cpp, one JSON line each as
//! harness.h prints them. The peer of a small op is the same call through tessera-sys, which is what C
//! calls, in alternating rounds.

use std::hint::black_box;
use std::ptr::null_mut;

use tessera::nn::{Linear, Module};
use tessera::{no_grad, num_threads, sys, DType, Tensor};

const ROUNDS: usize = 20;

extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

/// TSR_BENCH_CLOCK=cpu counts the process's own time: for one thread on a busy machine.
fn seconds() -> f64 {
    let own_time = std::env::var_os("TSR_BENCH_CLOCK").is_some_and(|chosen| chosen == "cpu");
    let mut time = [0; 2];
    // SAFETY: seconds and nanoseconds, both 64 bits wide on the platforms of these figures.
    unsafe { clock_gettime(if own_time { 2 } else { 1 }, &mut time) };
    time[0] as f64 + 1e-9 * time[1] as f64
}

/// TSR_BENCH_ONLY names the cases to run, with commas between them; without it all run.
fn is_chosen(name: &str) -> bool {
    let chosen = std::env::var("TSR_BENCH_ONLY").unwrap_or_default();
    chosen.is_empty() || chosen.split(',').any(|one| one == name)
}

struct Case<'a> {
    name: &'a str,
    shape: &'a str,
    unit: &'a str,
    count: usize,
    bytes: f64,
    threads: usize,
}

impl Case<'_> {
    fn run(&self, mut ours: impl FnMut(), mut peer: Option<&mut dyn FnMut()>) {
        if !is_chosen(self.name) {
            return;
        }
        let mut rounds = [Vec::new(), Vec::new()];
        for round in 0..=ROUNDS {
            let mut time = |which: usize, work: &mut dyn FnMut()| {
                let begin = seconds();
                work();
                if round > 0 {
                    rounds[which].push((seconds() - begin) * 1e9 / self.count as f64);
                }
            };
            time(0, &mut ours);
            if let Some(peer) = peer.as_deref_mut() {
                time(1, peer);
            }
        }
        rounds.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
        self.print(&rounds[0], &rounds[1]);
    }

    fn print(&self, ours: &[f64], peer: &[f64]) {
        let Self { name, shape, unit, threads, .. } = self;
        let last = ours.len() - 1;
        print!("{{\"name\": \"{name}\", \"shape\": \"{shape}\", \"device\": \"cpu\", ");
        print!("\"language\": \"rust\", \"threads\": {threads}, \"unit\": \"ns per {unit}\"");
        for (key, index) in [("best", 0), ("median", last / 2), ("p10", last / 10)] {
            print!(", \"{key}\": {:.3}", ours[index]);
        }
        print!(", \"p90\": {:.3}", ours[last - last / 10]);
        if self.bytes > 0.0 {
            print!(", \"bytes_per_second\": {:.4e}", 1e9 * self.bytes / ours[last / 2]);
        }
        if !peer.is_empty() {
            print!(", \"peer\": \"C ABI\", \"peer_best\": {:.3}", peer[0]);
            print!(", \"peer_median\": {:.3}", peer[last / 2]);
            print!(", \"ratio\": {:.3}", ours[last / 2] / peer[last / 2]);
        }
        println!("}}");
    }
}

fn random(shape: &[i64]) -> Tensor {
    Tensor::rand_with(shape, |o| o.dtype(DType::F32)).expect("random numbers")
}

/// A call of the C ABI with one result, which is released.
fn raw(call: impl Fn(*mut sys::tsr_tensor) -> i32) {
    let mut out = null_mut();
    assert_eq!(call(&mut out), sys::TSR_OK);
    // SAFETY: a success handed out a reference.
    unsafe { sys::tsr_tensor_release(black_box(out)) };
}

/// One case of a function with `count` in scope: what Rust calls and, where there is one, its twin in C.
macro_rules! case {
    ($count:ident, $shape:literal, $name:literal, $ours:expr) => {
        case!(@run $count, $shape, $name, $ours, None)
    };
    ($count:ident, $shape:literal, $name:literal, $ours:expr, $peer:expr) => {
        case!(@run $count, $shape, $name, $ours, Some(&mut || (0..$count).for_each(|_| $peer)))
    };
    (@run $count:ident, $shape:literal, $name:literal, $ours:expr, $peer:expr) => {
        Case { name: $name, shape: $shape, unit: "call", count: $count, bytes: 0.0, threads: 1 }.run(
            || {
                for _ in 0..$count {
                    black_box($ours);
                }
            },
            $peer,
        )
    };
}

// SAFETY of the calls of C: valid handles, lists of the lengths told and writable places.
fn small_ops(n: usize) {
    let (a, b) = (&random(&[4]), &random(&[4]));
    let w = &random(&[4]).requiring_grad().expect("a leaf");
    let add = || raw(|c| unsafe { sys::tsr_add(a.raw(), b.raw(), c) });
    case!(n, "[4]", "add", a.add(b).unwrap(), add());
    case!(n, "[4]", "add_operator", a + b, add());
    case!(n, "[4]", "add_scalar", a.add(1.5).unwrap(), {
        let number =
            sys::tsr_number { kind: sys::TSR_NUMBER_REAL, real: 1.5, ..Default::default() };
        raw(|c| unsafe { sys::tsr_add_scalar(a.raw(), &number, c) })
    });
    case!(n, "[4]", "exp", a.exp().unwrap(), raw(|c| unsafe { sys::tsr_exp(a.raw(), c) }));
    case!(n, "[4]", "add_out", a.add_out(b, a).unwrap(), {
        assert_eq!(unsafe { sys::tsr_add_out(a.raw(), b.raw(), a.raw()) }, sys::TSR_OK)
    });
    case!(n, "[4]", "add_with_node", a.add(w).unwrap(), {
        raw(|c| unsafe { sys::tsr_add(a.raw(), w.raw(), c) })
    });
    case!(n, "[4]", "multiply_with_node", a.multiply(w).unwrap(), {
        raw(|c| unsafe { sys::tsr_multiply(a.raw(), w.raw(), c) })
    });
}

/// What programs call beside operators.
fn common_calls(n: usize) {
    let (m, single) = (&random(&[3, 4]), &random(&[1]));
    let shape = [4, 3];
    let layer = Linear::new(4, 4).expect("a layer");
    let (weight, bias) = (&layer.weight, layer.bias.as_ref().expect("a bias"));
    case!(n, "[3, 4]", "zeros", Tensor::zeros(&[3, 4]).unwrap(), {
        raw(|c| unsafe { sys::tsr_zeros([3, 4].as_ptr(), 2, -1, -1, -1, c) })
    });
    case!(n, "[4]", "from_array", Tensor::from([1.0f32, 2.0, 3.0, 4.0]));
    case!(n, "[4]", "from_vec", Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], &[4]).unwrap());
    case!(n, "[3, 4]", "to_vec", m.to_vec::<f32>().unwrap());
    case!(n, "[1]", "item", single.item::<f32>().unwrap());
    case!(n, "[3, 4]", "clone", m.clone());
    case!(n, "[3, 4]", "shape", m.shape());
    case!(n, "[3, 4]", "index_row", m.i(1).unwrap());
    case!(n, "[3, 4]", "index_ranges", m.i((.., 1..3)).unwrap());
    case!(n, "[3, 4]", "sum_axis", m.sum_with(|o| o.axes(&[0])).unwrap(), {
        raw(|c| unsafe { sys::tsr_sum(m.raw(), [0].as_ptr(), 1, 0, -1, c) })
    });
    case!(n, "[3, 4]", "reshape", m.reshape(&shape).unwrap(), {
        raw(|c| unsafe { sys::tsr_reshape(m.raw(), shape.as_ptr(), 2, -1, c) })
    });
    case!(n, "[3, 4]", "softmax", m.softmax().unwrap(), {
        raw(|c| unsafe { sys::tsr_softmax(m.raw(), -1, -1, c) })
    });
    case!(n, "[3, 4]", "linear_layer", layer.forward(m).unwrap(), {
        raw(|c| unsafe { sys::tsr_linear(m.raw(), weight.raw(), bias.raw(), c) })
    });
    case!(n, "", "no_grad", drop(no_grad()));
}

fn chain(count: usize) {
    let w = random(&[4]).requiring_grad().expect("a leaf");
    let factor = random(&[4]);
    let seed = Tensor::ones(&[4]).expect("ones");
    let forward = || (0..count).fold(w.clone(), |y, _| y.multiply(&factor).expect("multiply"));
    let backward = |y: Tensor| y.backward_with(Some(&seed), |o| o).expect("backward");
    let mut ready: Vec<Tensor> = (0..=ROUNDS).map(|_| forward()).collect();
    Case { name: "backward", shape: "[4]", unit: "node", count, bytes: 0.0, threads: 1 }
        .run(|| backward(ready.pop().expect("one for each round")), None);
    let name = "chain_forward_backward";
    Case { name, shape: "[4]", unit: "op", count, bytes: 0.0, threads: 1 }
        .run(|| backward(forward()), None);
}

fn large_add() {
    let numel = 16 << 20; // 64 MiB of float32
    let (a, b) = (random(&[numel]), random(&[numel]));
    let (bytes, threads) = (3.0 * 4.0 * numel as f64, num_threads());
    Case { name: "fresh_add", shape: "64MiB", unit: "call", count: 1, bytes, threads }
        .run(|| drop(black_box(a.add(&b).expect("add"))), None);
}

fn main() {
    small_ops(200_000);
    common_calls(100_000);
    chain(10_000);
    large_add();
}
