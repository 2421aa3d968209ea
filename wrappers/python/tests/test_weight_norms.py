# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Weight and spectral normalisation beside PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import tessera as ts
from tessera import nn

LAYERS: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = [
    ("Linear", (4, 3), (5, 4)), ("Conv2d", (2, 3, 3), (1, 2, 5, 5)), ("ConvTranspose2d", (2, 3, 3), (1, 2, 5, 5)),
]  # fmt: skip


def pair(kind: str, sizes: tuple[int, ...]) -> tuple[Any, Any]:
    """A layer of either library with the same weights."""
    ours, theirs = getattr(nn, kind)(*sizes), getattr(torch.nn, kind)(*sizes)
    for name, parameter in ours.named_parameters():
        with ts.no_grad():
            parameter.copy_(ts.tensor(getattr(theirs, name).detach().numpy()))
    return ours, theirs


def compare(ours: Any, theirs: Any, shape: tuple[int, ...], names: list[str]) -> None:
    """Results and gradients of one call."""
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    for module, tensor in ((ours, ts.tensor), (theirs, torch.tensor)):
        module.zero_grad()
        y = module(tensor(x))
        (y * y).sum().backward()
    np.testing.assert_allclose(ours(ts.tensor(x)).detach().numpy(), theirs(torch.tensor(x)).detach().numpy(), 1e-4, 1e-5)
    for name in names:
        np.testing.assert_allclose(getattr(ours, name).grad.numpy(), getattr(theirs, name).grad.numpy(), 1e-3, 1e-4)


@pytest.mark.parametrize("kind, sizes, shape", LAYERS)
@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_is_pytorchs(kind: str, sizes: tuple[int, ...], shape: tuple[int, ...], dim: int | None) -> None:
    ours, theirs = pair(kind, sizes)
    assert nn.utils.weight_norm(ours, dim=dim) is ours
    torch.nn.utils.weight_norm(theirs, dim=dim)
    assert {n for n, _ in ours.named_parameters()} == {n for n, _ in theirs.named_parameters()}
    with ts.no_grad():
        ours.weight_g.multiply_(2.0)
        theirs.weight_g.data.mul_(2.0)
    compare(ours, theirs, shape, ["weight_g", "weight_v", "bias"])
    before = ours.weight.detach().numpy().copy()
    nn.utils.remove_weight_norm(ours)
    assert sorted(n for n, _ in ours.named_parameters()) == ["bias", "weight"]
    np.testing.assert_allclose(ours.weight.detach().numpy(), before, 1e-6)
    compare(ours, torch.nn.utils.remove_weight_norm(theirs), shape, ["weight", "bias"])


@pytest.mark.parametrize("kind, sizes, shape", LAYERS)
def test_spectral_norm_is_pytorchs(kind: str, sizes: tuple[int, ...], shape: tuple[int, ...]) -> None:
    ours, theirs = pair(kind, sizes)
    nn.utils.spectral_norm(ours, n_power_iterations=2)
    torch.nn.utils.spectral_norm(theirs, n_power_iterations=2)
    assert set(ours.state_dict()) == set(theirs.state_dict())
    for side in ("weight_u", "weight_v"):
        getattr(ours, side).copy_(ts.tensor(getattr(theirs, side).numpy()))
    compare(ours, theirs, shape, ["weight_orig", "bias"])
    ours.eval(), theirs.eval()
    compare(ours, theirs, shape, ["weight_orig", "bias"])
    before = ours.weight.detach().numpy().copy()
    nn.utils.remove_spectral_norm(ours)
    assert sorted(ours.state_dict()) == ["bias", "weight"]
    np.testing.assert_allclose(ours.weight.detach().numpy(), before, 1e-6)


def test_spectral_norm_brings_the_largest_singular_value_to_one() -> None:
    ts.manual_seed(0)
    layer = nn.utils.spectral_norm(nn.Linear(6, 4))
    for _ in range(50):
        layer(ts.ones((1, 6)))
    assert np.linalg.norm(layer.weight.detach().numpy(), 2) == pytest.approx(1, rel=1e-4)


def test_two_calls_before_a_backward() -> None:
    layer = nn.utils.spectral_norm(nn.Linear(3, 3))
    (layer(ts.ones((1, 3))) + layer(ts.ones((1, 3)))).sum().backward()
    assert layer.weight_orig.grad is not None


def test_wrong_names_are_refused() -> None:
    layer = nn.Linear(2, 2)
    for call in (
        lambda: nn.utils.weight_norm(layer, "gain"), lambda: nn.utils.remove_weight_norm(layer), lambda: nn.utils.spectral_norm(layer, "x"),
        lambda: nn.utils.remove_spectral_norm(layer), lambda: nn.utils.spectral_norm(layer, n_power_iterations=0),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        nn.utils.weight_norm(5)
    assert isinstance(layer.weight, nn.Parameter)
