# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of lists of tensors, beside PyTorch's, and the steps of training with a scaled loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import tessera as ts
from tessera.optim import functional as F

RNG = np.random.default_rng(1)
SHAPES = [(3, 4), (5,), (), (0, 2)]
ONE, TWO, THREE = ([RNG.uniform(0.5, 2, s) for s in SHAPES] for _ in range(3))


def tensors(arrays: list[Any]) -> list[ts.Tensor]:
    return [ts.tensor(a) for a in arrays]


def peers(arrays: list[Any]) -> list[torch.Tensor]:
    return [torch.tensor(a) for a in arrays]


def compare(ours: Any, theirs: Any) -> None:
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        assert a.shape == tuple(b.shape)
        np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-12)


@pytest.mark.parametrize("ours, theirs", [("abs", "abs"), ("exp", "exp"), ("negative", "neg"), ("reciprocal", "reciprocal"), ("sqrt", "sqrt")])
def test_unary_functions(ours: str, theirs: str) -> None:
    wanted = getattr(torch, f"_foreach_{theirs}")(peers(ONE))
    compare(F.foreach_unary(tensors(ONE), ours), wanted)
    changed = tensors(ONE)
    assert F.foreach_unary_(changed, ours) is None
    compare(changed, wanted)


@pytest.mark.parametrize("ours, theirs", [("add", "add"), ("subtract", "sub"), ("multiply", "mul"), ("divide", "div"), ("maximum", "maximum"), ("minimum", "minimum")])
def test_binary_functions(ours: str, theirs: str) -> None:
    peer = getattr(torch, f"_foreach_{theirs}")
    cases = [(F.foreach_binary, F.foreach_binary_, tensors(TWO), peer(peers(ONE), peers(TWO)))]
    if theirs not in ("maximum", "minimum"):
        numbers = [0.5, 2.0, 3.0, 4.0]
        cases.append((F.foreach_scalars, F.foreach_scalars_, numbers, peer(peers(ONE), numbers)))
        cases.append((F.foreach_scalar, F.foreach_scalar_, 1.5, peer(peers(ONE), 1.5)))
    for fresh, inplace, other, wanted in cases:
        compare(fresh(tensors(ONE), other, ours), wanted)
        changed = tensors(ONE)
        inplace(changed, other, ours)
        compare(changed, wanted)
    if theirs in ("add", "sub"):
        compare(F.foreach_binary(tensors(ONE), tensors(TWO), ours, 0.25), peer(peers(ONE), peers(TWO), alpha=0.25))


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
def test_ternary_functions(name: str) -> None:
    peer = getattr(torch, f"_foreach_{name}")
    for values, given in [([0.5], 0.5), ([0.5, 1.0, 2.0, 3.0], [0.5, 1.0, 2.0, 3.0])]:
        wanted = peer(peers(ONE), peers(TWO), peers(THREE), given)
        compare(F.foreach_ternary(tensors(ONE), tensors(TWO), tensors(THREE), name, values), wanted)
        changed = tensors(ONE)
        F.foreach_ternary_(changed, tensors(TWO), tensors(THREE), name, values)
        compare(changed, wanted)


def test_interpolation_norms_and_copies() -> None:
    wanted = [torch.lerp(*rows, 0.25) for rows in zip(peers(ONE), peers(TWO))]
    compare(F.foreach_lerp(tensors(ONE), tensors(TWO), 0.25), wanted)
    wanted = [torch.lerp(*rows) for rows in zip(peers(ONE), peers(TWO), peers(THREE))]
    compare(F.foreach_lerp_tensors(tensors(ONE), tensors(TWO), tensors(THREE)), wanted)
    changed = tensors(ONE)
    F.foreach_lerp_tensors_(changed, tensors(TWO), tensors(THREE))
    compare(changed, wanted)
    compare(F.foreach_norm(tensors(ONE), 1.0), [a.abs().sum() for a in peers(ONE)])
    F.foreach_copy_(changed, tensors(TWO))
    compare(changed, peers(TWO))
    F.foreach_zero_(changed)
    assert all((a.numpy() == 0).all() for a in changed)


def test_derivatives_pass_through_lists() -> None:
    leaves = [t.requires_grad_() for t in tensors(ONE[:2])]
    sum(r.sum() for r in F.foreach_binary(leaves, tensors(TWO[:2]), "multiply")).backward()  # type: ignore[union-attr]
    compare([leaf.grad for leaf in leaves], peers(TWO[:2]))


def test_empty_lists_and_wrong_ones() -> None:
    assert list(F.foreach_unary([], "exp")) == []
    F.foreach_zero_([])
    for call in (
        lambda: F.foreach_unary(tensors(ONE), "cosh"), lambda: F.foreach_binary(tensors(ONE), tensors(TWO[:2]), "add"),
        lambda: F.foreach_scalars(tensors(ONE), [1.0], "add"), lambda: F.foreach_copy_(tensors(ONE), []),
        lambda: F.foreach_ternary(tensors(ONE), tensors(TWO), tensors(THREE), "addcmul", [1.0, 2.0]),
        lambda: F.foreach_binary(tensors(ONE), tensors(TWO), "multiply", 2.0),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()


def test_scales_grow_and_shrink() -> None:
    for inf, tracker in [(0.0, 0), (0.0, 1), (1.0, 1)]:
        scale, grown, found = ts.tensor(8.0), ts.tensor(tracker, dtype=ts.int32), ts.tensor(inf)
        F.amp_update_scale_(scale, grown, found, 2.0, 0.5, 2)
        wanted = {(0.0, 0): (8, 1), (0.0, 1): (16, 0), (1.0, 1): (4, 0)}[inf, tracker]
        assert (scale.item(), grown.item()) == wanted
    largest = ts.tensor(3e38)
    F.amp_update_scale_(largest, ts.tensor(0, dtype=ts.int32), ts.tensor(0.0), 2.0, 0.5, 1)
    assert largest.item() == pytest.approx(3e38)  # it would become infinite


def test_unscaling_tells_infinities() -> None:
    for value, wanted in [(1.0, 0), (np.inf, 1), (np.nan, 1), (-np.inf, 1)]:
        grads, found = [ts.tensor([2.0, 4.0]), ts.tensor([value, 8.0], dtype=ts.float16)], ts.tensor(0.0)
        F.amp_unscale_(grads, found, ts.tensor(0.25))
        assert found.item() == wanted and grads[0].tolist() == [0.5, 1] and grads[1][1].item() == 2
    found = ts.tensor(1.0)
    F.amp_unscale_([ts.ones(2)], found, ts.tensor(1.0))
    assert found.item() == 1  # once found, it stays
