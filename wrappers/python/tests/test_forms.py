# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions whose meaning follows from which arguments are given, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import tessera as ts

X = np.arange(12, dtype=np.float32).reshape(3, 4)

CALLS: list[Callable[[Any, Any, Any], Any]] = [
    lambda xp, x, t: xp.take_along_dim(x, t([[0, 11], [5, 5]])),
    lambda xp, x, t: x.take_along_dim(t([[0, 3]]), 1),
    lambda xp, x, t: x.take_along_dim(t([[0], [2]]), dim=0),
    lambda xp, x, t: xp.repeat_interleave(t([2, 0, 3])),
    lambda xp, x, t: xp.repeat_interleave(t([0])),
    lambda xp, x, t: xp.repeat_interleave(x, 2),
    lambda xp, x, t: x.repeat_interleave(t([1, 2, 0]), dim=0, output_size=3),
    lambda xp, x, t: x.repeat_interleave(2, -1),
    lambda xp, x, t: xp.cat(xp.split(x, [1, 3], 1), 1),
    lambda xp, x, t: x.split([2, 1])[1],
    lambda xp, x, t: x.split((1, 2), dim=0)[1],
    lambda xp, x, t: x.split(2)[1],
    lambda xp, x, t: xp.split(x, 3, dim=1)[1],
    lambda xp, x, t: xp.bucketize(3.5, x[0]),
    lambda xp, x, t: xp.bucketize(2, t([1, 2, 3]), right=True, out_int32=True),
    lambda xp, x, t: xp.as_tensor([[1.5, 2]]),
    lambda xp, x, t: (x + 1j * x).mH,
    lambda xp, x, t: (x - 1j * x).H,
    lambda xp, x, t: x.H,
    lambda xp, x, t: x[None].mH,
    lambda xp, x, t: xp.ones(4).bernoulli_(t([0.0, 1.0, 1.0, 0.0])),
    lambda xp, x, t: xp.ones((2, 2)).bernoulli_(t([0.0, 1.0])),
    lambda xp, x, t: xp.where(x > 3, 1.5, 2.5),
    lambda xp, x, t: xp.clamp(x, min=t([1.0, 2.0, 3.0, 4.0])),
    lambda xp, x, t: xp.clamp(x, t([1.0, 2.0, 3.0, 4.0]), t(6.0)),
    lambda xp, x, t: xp.lerp(x, x + 1, t([0.0, 0.5, 1.0, 2.0])),
    lambda xp, x, t: xp.narrow(x, 0, t(1), 2),
    lambda xp, x, t: xp.tensor_split(x, t([1, 3]), dim=1)[1],
    lambda xp, x, t: xp.tensor_split(x, t(2))[1],
    lambda xp, x, t: xp.index_fill(x, 0, t([0, 2]), t(7.0)),
    lambda xp, x, t: xp.masked_fill(x, x > 3, t(7.0)),
    lambda xp, x, t: xp.quantile(x, t([0.25, 0.5]), dim=1),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_form(call: Callable[[Any, Any, Any], Any]) -> None:
    ours = call(ts, ts.asarray(X, copy=True), ts.tensor)
    theirs = call(torch, torch.tensor(X), torch.tensor)
    assert ours.dtype.name == str(theirs.dtype)[6:]
    assert ours.shape == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.resolve_conj().numpy(), rtol=1e-6)


def test_forms_pass_gradients() -> None:
    x = ts.asarray(X, copy=True).requires_grad_()
    (x.take_along_dim(ts.tensor([0, 0, 5])).sum() + 2 * x.repeat_interleave(ts.tensor([0, 0, 2]), 0).sum()).backward()
    wanted = np.zeros((3, 4))
    wanted[0, 0], wanted[1, 1], wanted[2] = 2, 1, 4
    assert x.grad is not None and x.grad.tolist() == wanted.tolist()


def test_empty_permuted_orders_the_memory() -> None:
    made = ts.empty_permuted((2, 3, 5), (1, 2, 0), dtype=ts.int8)
    assert made.shape == (2, 3, 5) and made.stride() == (1, 10, 2) and made.dtype == ts.int8
    assert ts.empty_permuted((), ()).shape == () and ts.empty_permuted((2,), (0,), requires_grad=True).requires_grad
    for layout in ((0, 1), (0, 0, 1), (0, 1, 3)):
        with pytest.raises(ValueError, match="each axis"):
            ts.empty_permuted((2, 3, 5), layout)


def test_forms_refuse_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="output_size 3, got 4"):
        ts.repeat_interleave(ts.ones(3), ts.tensor([1, 2, 0]), 0, output_size=4)
    with pytest.raises(ValueError, match="expand|shape"):
        ts.ones(3).bernoulli_(ts.ones(2))
    with pytest.raises((ValueError, TypeError)):
        ts.bucketize(1j, ts.ones(2))
    with pytest.raises(ValueError, match="boundaries"):
        ts.bucketize(1.0, ts.ones((2, 2)))


def test_bernoulli_of_a_tensor_of_probabilities_has_them_as_means() -> None:
    ts.manual_seed(5)
    made = ts.zeros((20000, 2)).bernoulli_(ts.tensor([0.25, 0.75]))
    np.testing.assert_allclose(made.mean(axis=0).numpy(), [0.25, 0.75], atol=0.02)
