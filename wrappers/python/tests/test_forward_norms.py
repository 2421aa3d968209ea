# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""[A18] Forward mode of normalisation: the CPU computes the tangent in the pass that computes the value. Compared with
the rule out of operators, which runs where something requires grad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera as ts
from tessera.autograd import forward_ad
from tessera.nn import functional as F

Norm = Callable[[ts.Tensor, "ts.Tensor | None", "ts.Tensor | None"], ts.Tensor]
TOLERANCE = {ts.float64: 1e-11, ts.float32: 2e-5, ts.float16: 5e-3, ts.bfloat16: 4e-2}


def normal(*shape: int, seed: int, dtype: Any) -> ts.Tensor:
    return ts.asarray(np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


def numbers(x: ts.Tensor | None) -> Any:
    return None if x is None else x.detach().astype(ts.float64).numpy().copy()


def channels_last(x: ts.Tensor) -> ts.Tensor:
    """The same numbers with the channels innermost."""
    axes = (0, *range(2, x.ndim), 1)
    return x.permute(*axes).contiguous().permute(0, x.ndim - 1, *range(1, x.ndim - 1))


def trained(x: ts.Tensor, w: ts.Tensor | None, b: ts.Tensor | None) -> ts.Tensor:
    wide = ts.float64 if x.dtype is ts.float64 else ts.float32
    running = ts.zeros((x.shape[1],), dtype=wide), ts.ones((x.shape[1],), dtype=wide)
    y = F.batch_norm(x, *running, w, b, training=True)
    assert numbers(running[0]).any()  # moved, also in forward mode
    return y


def evaluated(x: ts.Tensor, w: ts.Tensor | None, b: ts.Tensor | None) -> ts.Tensor:
    wide = ts.float64 if x.dtype is ts.float64 else ts.float32
    c = x.shape[1]
    return F.batch_norm(x, ts.arange(c, dtype=wide) / c, ts.arange(c, dtype=wide) + 0.5, w, b, training=False)


# The norm, the shape of the input and that of the parameters. Rows that are short, that end inside a register, and that
# are longer than the pieces of sums; channels that share a piece, and channels and rows of several pieces.
CASES: dict[str, tuple[Norm, tuple[int, ...], tuple[int, ...]]] = {
    "layer 7x3": (lambda x, w, b: F.layer_norm(x, (3,), w, b), (7, 3), (3,)),
    "layer 5x37": (lambda x, w, b: F.layer_norm(x, (37,), w, b), (5, 37), (37,)),
    "layer 2x4x6": (lambda x, w, b: F.layer_norm(x, (4, 6), w, b), (2, 4, 6), (4, 6)),
    "layer 3x5000": (lambda x, w, b: F.layer_norm(x, (5000,), w, b), (3, 5000), (5000,)),
    "rms 19x21": (lambda x, w, b: F.rms_norm(x, (21,), w), (19, 21), (21,)),
    "rms 3x5000": (lambda x, w, b: F.rms_norm(x, (5000,), w), (3, 5000), (5000,)),
    "group 3x6x5x7": (lambda x, w, b: F.group_norm(x, 2, w, b), (3, 6, 5, 7), (6,)),
    "group 2x4x70x70": (lambda x, w, b: F.group_norm(x, 2, w, b), (2, 4, 70, 70), (4,)),
    "instance 3x5x11": (lambda x, w, b: F.instance_norm(x, weight=w, bias=b), (3, 5, 11), (5,)),
    "trained batch 4x70x3x3": (trained, (4, 70, 3, 3), (70,)),
    "trained batch 3x2x70x70": (trained, (3, 2, 70, 70), (2,)),
    "trained batch 300x9": (trained, (300, 9), (9,)),
    "evaluated batch 4x70x3x3": (evaluated, (4, 70, 3, 3), (70,)),
    "evaluated batch 300x9": (evaluated, (300, 9), (9,)),
}


def value_and_tangent(norm: Norm, given: list[Any], directions: list[Any], duals: str, recorded: bool) -> list[Any]:
    with forward_ad.dual_level():
        made = [
            x if x is None or name not in duals else forward_ad.make_dual(x.detach().requires_grad_(recorded), v)
            for name, x, v in zip("xwb", given, directions)
        ]
        return [numbers(part) for part in forward_ad.unpack_dual(norm(*made))]


def tensors(name: str, dtype: Any, wide: bool, seed: int) -> list[Any]:
    _, shape, parameter = CASES[name]
    own = ts.float32 if wide and dtype is not ts.float64 else dtype
    bias = None if name.startswith("rms") else normal(*parameter, seed=seed + 2, dtype=own)
    return [normal(*shape, seed=seed, dtype=dtype), normal(*parameter, seed=seed + 1, dtype=own), bias]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", CASES)
def test_a18_tangent_of_the_pass_is_that_of_the_rule(name: str, dtype: Any) -> None:
    norm, shape, _ = CASES[name]
    for duals in ("x", "xw", "xwb"):
        for last in (False, True) if len(shape) > 2 and not name.startswith(("layer", "rms")) else (False,):
            for wide in (False, True):
                given, directions = tensors(name, dtype, wide, 1), tensors(name, dtype, wide, 5)
                if last:
                    given[0] = channels_last(given[0])
                value, tangent = value_and_tangent(norm, given, directions, duals, recorded=False)
                wanted_value, wanted = value_and_tangent(norm, given, directions, duals, recorded=True)
                np.testing.assert_array_equal(value, wanted_value)  # forward mode does not change the value
                error = TOLERANCE[dtype]
                np.testing.assert_allclose(tangent, wanted, rtol=error, atol=error * np.abs(wanted).max())


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("rms")])
def test_a18_tangent_without_parameters(name: str) -> None:
    norm, _, _ = CASES[name]
    given, directions = [[t[0], None, None] for t in (tensors(name, ts.float32, False, 1), tensors(name, ts.float32, False, 5))]
    value, tangent = value_and_tangent(norm, given, directions, "x", recorded=False)
    wanted_value, wanted = value_and_tangent(norm, given, directions, "x", recorded=True)
    np.testing.assert_array_equal(value, wanted_value)
    np.testing.assert_allclose(tangent, wanted, rtol=2e-5, atol=2e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("name", CASES)
def test_a18_tangent_is_the_difference_of_two_values(name: str) -> None:
    norm, _, _ = CASES[name]
    given, directions = tensors(name, ts.float64, False, 1), tensors(name, ts.float64, False, 5)
    _, tangent = value_and_tangent(norm, given, directions, "xwb", recorded=False)

    def moved(step: float) -> Any:
        return numbers(norm(*[None if x is None else x + v * step for x, v in zip(given, directions)]))

    wanted = (moved(1e-6) - moved(-1e-6)) / 2e-6
    np.testing.assert_allclose(tangent, wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [ts.float32, ts.bfloat16])
@pytest.mark.parametrize("shape", [(64, 48, 20, 20), (600, 520)])
def test_a18_tangent_does_not_depend_on_the_number_of_threads(shape: tuple[int, ...], dtype: Any) -> None:
    x, t = normal(*shape, seed=1, dtype=dtype), normal(*shape, seed=2, dtype=dtype)
    norms: list[Norm] = [trained, lambda x, w, b: F.layer_norm(x, tuple(x.shape[1:])), lambda x, w, b: F.rms_norm(x, tuple(x.shape[1:]))]
    if len(shape) > 2:
        norms.append(lambda x, w, b: F.group_norm(x, 6))
    before = ts.get_num_threads()
    try:
        for norm in norms:
            for given in (x, channels_last(x)) if len(shape) > 2 else (x,):
                found = []
                for threads in (1, 2, 5):
                    ts.set_num_threads(threads)
                    found.append(value_and_tangent(norm, [given, None, None], [t, None, None], "x", recorded=False))
                for value, tangent in found[1:]:
                    np.testing.assert_array_equal(value, found[0][0])
                    np.testing.assert_array_equal(tangent, found[0][1])
    finally:
        ts.set_num_threads(before)


def test_a18_tangent_of_an_empty_input_is_empty() -> None:
    for norm, shape in ((CASES["layer 5x37"][0], (0, 37)), (CASES["group 3x6x5x7"][0], (0, 6, 2, 2))):
        x = ts.zeros(shape)
        _, tangent = value_and_tangent(norm, [x, None, None], [ts.ones(shape), None, None], "x", recorded=False)
        assert tangent.shape == shape
