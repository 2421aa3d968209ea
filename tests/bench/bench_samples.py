#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Times functions of tessera.torch on the sample inputs of PyTorch's own tests, in turns with PyTorch, on one thread.

The samples are those of tests/tools/compare_pytorch.py: small tensors, so what is timed is mostly the cost of a call, with
all that the names of PyTorch add to it. With --scale N most of their axes are N times as long. Run it by hand in the
environment that tests/bench/peer.sh makes, with `pip install expecttest pytest`. A line is printed for each sample whose ratio
(our time to PyTorch's) is above --above, and a summary at the end. The samples of functions of random numbers set the seed,
which takes most of their time.

Usage: bench_samples.py [--match REGEX] [--scale N] [--samples N] [--rounds N] [--above RATIO] [--gradients] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import statistics
import sys
import time
import warnings
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))

import torch  # noqa: E402
from compare_pytorch import Copies, function_of, text_of  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

import tessera.torch as ours  # noqa: E402

ROUND = 0.4e-3  # seconds that one round of one library is to take


def scale_samples(factor: int) -> None:
    """Multiplies the sizes XS, S, M and L, of which the samples are made, in every module that has them."""
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.testing._internal"):
            for size in ("XS", "S", "M", "L"):
                if isinstance(getattr(module, size, None), int):
                    setattr(module, size, getattr(module, size) * factor)


def first_tensor(result: object, tensor: type) -> object:
    """The first floating result that has a history."""
    values = result if isinstance(result, (list, tuple)) else (result,)
    return next((v for v in values if isinstance(v, tensor) and v.requires_grad), None)


def with_gradients(module: object, call: Callable[[], object], inputs: list) -> Callable[[], object]:
    """The call and the gradients of the sum of its first result that has a history."""
    root = first_tensor(call(), module.Tensor)
    if root is None or root.is_complex():
        raise LookupError
    seed = module.ones_like(root)

    def run() -> object:
        return module.autograd.grad(first_tensor(call(), module.Tensor), inputs, seed, allow_unused=True)

    return run


def best_of_rounds(calls: tuple[Callable[[], object], ...], rounds: int) -> list[float]:
    """The least time of one call of each, in seconds."""
    counts, best = [], []
    for call in calls:
        call()
        start = time.perf_counter()
        call()
        counts.append(max(1, min(200, int(ROUND / (time.perf_counter() - start)))))
        best.append(float("inf"))
    for _ in range(rounds):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(counts[i]):
                call()
            best[i] = min(best[i], (time.perf_counter() - start) / counts[i])
    return best


def pair_of(info: object, sample: object, gradients: bool) -> tuple[Callable[[], object], Callable[[], object]]:
    copies, function, op = Copies(), function_of(info), info.op
    args, options = (sample.input, *sample.args), sample.kwargs
    our_args, our_options = copies(args), copies(options)
    pair = (lambda: function(*our_args, **our_options)), (lambda: op(*args, **options))
    if not gradients:
        return pair
    needed = [t for t in args if isinstance(t, torch.Tensor) and t.requires_grad]
    our_needed = [t for t in our_args if isinstance(t, ours.Tensor) and t.requires_grad]
    if not needed:
        raise LookupError
    return with_gradients(ours, pair[0], our_needed), with_gradients(torch, pair[1], needed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--match", default="")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--above", type=float, default=1.0)
    parser.add_argument("--gradients", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    ours.set_num_threads(1)
    warnings.simplefilter("ignore")
    scale_samples(given.scale)
    rows = []
    for info in op_db:
        name = info.name + (f".{info.variant_test_name}" if info.variant_test_name else "")
        if not re.search(given.match, name) or torch.float32 not in info.dtypes:
            continue
        try:
            every = list(info.sample_inputs("cpu", torch.float32, requires_grad=given.gradients))
        except Exception:  # too large with this scale
            continue
        step = max(1, len(every) // given.samples)
        for sample in every[::step][: given.samples]:
            try:
                ours_best, peer_best = best_of_rounds(pair_of(info, sample, given.gradients), given.rounds)
            except Exception:  # what differs is for compare_pytorch.py to tell
                continue
            rows.append((ours_best / peer_best, name, ours_best * 1e6, peer_best * 1e6, text_of(sample)[:90]))
            if rows[-1][0] > given.above:
                print("{:6.2f}  {}  {:.2f} us, {:.2f} us  {}".format(*rows[-1]), flush=True)
    ratios = sorted(row[0] for row in rows)
    print(f"{len(rows)} samples: median {statistics.median(ratios):.2f}; above 1: {sum(r > 1 for r in ratios)}; "
          f"above 1.1: {sum(r > 1.1 for r in ratios)}; above 2: {sum(r > 2 for r in ratios)}")  # fmt: skip
    if given.json:
        given.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
