# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions: padding given as a word, and small convolutions."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import tessera as ts
import tessera.nn.functional as F
from tessera import nn


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("kernel, dilation", [(3, 1), (4, 1), (2, 3), (5, 2)])
def test_padding_by_word_is_pytorchs(axes: int, kernel: int, dilation: int) -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 3, *[9, 8, 7][:axes])), rng.standard_normal((4, 3, *[kernel] * axes))
    for word in ("same", "valid"):
        if word == "valid" and any(dilation * (kernel - 1) >= n for n in x.shape[2:]):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # even kernels
            theirs = getattr(torch.nn.functional, f"conv{axes}d")(torch.tensor(x), torch.tensor(w), None, 1, word, dilation)
        convolve = getattr(F, f"conv{axes}d")
        for ours in (convolve(ts.tensor(x), ts.tensor(w), None, 1, word, dilation),
                     convolve(ts.tensor(x), ts.tensor(w), padding=word, dilation=dilation)):  # fmt: skip
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-9, 1e-12)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding, dilation", [("by axis", 1), ("same", 2), ("valid", 1)])
def test_padding_mode_is_pytorchs(axes: int, mode: str, padding: str, dilation: int) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, *[9, 8, 7][:axes]))
    around = [2, 1, 0][:axes] if padding == "by axis" else padding
    given = {"padding": around, "dilation": dilation, "padding_mode": mode}
    ours = getattr(nn, f"Conv{axes}d")(3, 4, [4, 3, 2][:axes], dtype=ts.float64, **given)
    theirs = getattr(torch.nn, f"Conv{axes}d")(3, 4, [4, 3, 2][:axes], dtype=torch.float64, **given)
    with torch.no_grad():
        theirs.weight.copy_(torch.from_numpy(ours.weight.detach().numpy()))
        theirs.bias.copy_(torch.from_numpy(ours.bias.detach().numpy()))
        expected = theirs(torch.from_numpy(x))
    np.testing.assert_allclose(ours(ts.asarray(x)).detach().numpy(), expected.numpy(), rtol=1e-12)
    assert f"padding_mode={mode}" in repr(ours)
    with pytest.raises(ValueError, match="padding_mode: expected one of"):
        nn.Conv1d(1, 1, 3, padding_mode="mirror")


@pytest.mark.parametrize("sizes, kernel, given", [
    ((60, 61), (3, 3), {"padding": 1}), ((60, 61), (3, 4), {"stride": (2, 3), "padding": (2, 5), "groups": 4}),
    ((41, 150), (2, 5), {"dilation": (3, 2), "padding": (4, 1)}), ((5000,), (5,), {"padding": 2}),
    ((5000,), (7,), {"stride": 3, "dilation": 4}), ((9, 30, 31), (3, 2, 3), {"padding": (1, 0, 2), "groups": 2}),
])  # fmt: skip
def test_blocks_of_columns_are_pytorchs(sizes: tuple[int, ...], kernel: tuple[int, ...], given: dict[str, Any]) -> None:
    rng, axes = np.random.default_rng(0), len(sizes)
    x = rng.standard_normal((2, 32, *sizes))
    w, b = rng.standard_normal((24, 32 // given.get("groups", 1), *kernel)), rng.standard_normal(24)
    layouts = [x] if axes == 1 else [x, np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1)]
    theirs = [torch.tensor(part, requires_grad=True) for part in (x, w, b)]
    result = getattr(torch.nn.functional, f"conv{axes}d")(*theirs, **given)
    g = rng.standard_normal(result.shape)
    result.backward(torch.tensor(g))
    for layout in layouts:
        ours = [ts.from_numpy(part).requires_grad_() for part in (layout, w, b)]
        found = getattr(F, f"conv{axes}d")(*ours, **given)
        np.testing.assert_allclose(found.detach().numpy(), result.detach().numpy(), 1e-9, 1e-10)
        for one, other in zip(ts.autograd.grad([found], ours, [ts.asarray(g)]), theirs):
            np.testing.assert_allclose(one.numpy(), other.grad.numpy(), 1e-9, 1e-9)


@pytest.mark.parametrize("dtype, width", [(ts.float64, 5), (ts.float32, 500)])
def test_windows_that_reach_far_into_padding_take_no_memory_for_it(dtype: ts.DType, width: int) -> None:
    x, w = ts.ones((1, 2, width), dtype=dtype, requires_grad=True), ts.ones((2, 1, 3), dtype=dtype)
    y = F.conv1d(x, w, padding=2**30, dilation=2**30, groups=2)
    y.sum().backward()
    assert y.shape == x.shape and (y == 1).all() and (x.grad == 1).all()


def test_layers_take_padding_by_word() -> None:
    for word, size in (("same", 6), ("valid", 4)):
        ours, theirs = nn.Conv2d(2, 3, 3, padding=word), torch.nn.Conv2d(2, 3, 3, padding=word)
        assert repr(ours) == repr(theirs) and ours(ts.ones(1, 2, 6, 6)).shape == (1, 3, size, size)
    for wrong in (
        lambda: nn.Conv2d(1, 1, 3, padding="some"), lambda: nn.Conv2d(1, 1, 3, stride=2, padding="same"),
        lambda: nn.ConvTranspose2d(1, 1, 3, padding="same"), lambda: nn.Conv2d(1, 1, "same"),
        lambda: nn.Conv2d(1, 1, 3, stride="same"), lambda: nn.Conv2d(1, 1, 3, padding=(1, 2, 3)),
        lambda: F.conv2d(ts.ones(1, 1, 3, 3), ts.ones(1, 1, 2, 2), padding="some"),
    ):  # fmt: skip
        with pytest.raises(ts.InvalidValueError):
            wrong()
    with pytest.raises(TypeError):
        F.conv2d(ts.ones(1, 1, 3, 3), ts.ones(1, 1, 2, 2), stride="same")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor has one thread anyway")
def test_small_convolutions_wake_no_thread() -> None:
    program = """
import os
import tessera as ts
import tessera.nn.functional as F
def convolve(*shapes):
    x, w = (ts.ones(shape, requires_grad=True) for shape in shapes)
    F.conv2d(x, w, padding=1).sum().backward()
    return len(os.listdir("/proc/self/task"))
print(len(os.listdir("/proc/self/task")), convolve((1, 3, 16, 16), (8, 3, 3, 3)), convolve((8, 32, 28, 28), (64, 32, 3, 3)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before, small, large = map(int, done.stdout.split())
    assert small == before < large


@pytest.mark.parametrize("channels, size, padding", [((64, 64), (12, 10), 1), ((80, 96), (9, 14), 0), ((128, 64), (7, 6), 1)])
def test_large_convolutions_are_as_exact_as_float32_allows(
    channels: tuple[int, int], size: tuple[int, int], padding: int
) -> None:
    """These sizes take Winograd's algorithm, where oneDNN has it (docs/adr/0031-winograd.md)."""
    rng, (inputs, outputs) = np.random.default_rng(0), channels
    x, w = rng.standard_normal((3, inputs, *size)), rng.standard_normal((outputs, inputs, 3, 3))
    b, results = rng.standard_normal(outputs), []
    for dtype in (ts.float32, ts.float64):
        leaves = [ts.tensor(array, dtype=dtype, requires_grad=True) for array in (x, w, b)]
        y = F.conv2d(*leaves, padding=padding)
        if not results:
            g = rng.standard_normal(tuple(y.shape))
        results.append([t.detach().numpy() for t in (y, *ts.autograd.grad(y, leaves, ts.tensor(g, dtype=dtype)))])
    for found, exact in zip(*results):
        assert np.abs(found - exact).max() < 2e-5 * np.sqrt(np.mean(exact**2))


def test_an_infinity_stays_near_its_window() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((1, 64, 24, 24)), rng.standard_normal((64, 64, 3, 3))
    x[0, 5, 2, 2] = np.inf
    y = F.conv2d(ts.tensor(x, dtype=ts.float32), ts.tensor(w, dtype=ts.float32), padding=1).numpy()
    assert not np.isfinite(y[0, :, 1:4, 1:4]).any()
    assert np.isfinite(y[0, :, 8:, 8:]).all()


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_the_gradient_of_a_border_is_one_node_which_adds_in_float32(mode: str) -> None:
    x = ts.zeros((1, 1, 4, 4), dtype=ts.bfloat16, requires_grad=True)
    y = F.pad(x, (2, 3, 3, 2), mode=mode)
    assert y.grad_fn.name() == "PadBorderBackward"
    g = ts.asarray(np.random.default_rng(3).standard_normal(y.shape).astype(np.float32)).to(ts.bfloat16)
    wide = ts.zeros(x.shape, requires_grad=True)
    wanted = ts.autograd.grad([F.pad(wide, (2, 3, 3, 2), mode=mode)], [wide], [g.to(ts.float32)])[0]
    assert ts.equal(ts.autograd.grad([y], [x], [g])[0], wanted.to(ts.bfloat16)).all()
