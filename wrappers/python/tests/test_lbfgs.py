# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""LBFGS beside PyTorch's, and its state."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch

import tessera as ts
from tessera import nn, optim

START = np.array([-1.5, 2.0])
OPTIONS: list[dict[str, Any]] = [
    {"line_search_fn": "strong_wolfe"},
    {"lr": 1e-3},
    {"max_iter": 4, "line_search_fn": "strong_wolfe", "history_size": 3},
    {"max_iter": 7, "max_eval": 3, "lr": 0.01},
    {"max_iter": 3, "tolerance_change": 1e-3, "line_search_fn": "strong_wolfe"},
    {"tolerance_grad": 1e6},
]


def rosenbrock(p: Any) -> Any:
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


def run(optimizer: Any, parameter: Any, steps: int, loss: Any = rosenbrock) -> list[float]:
    def closure() -> Any:
        optimizer.zero_grad()
        found = loss(parameter)
        found.backward()
        return found

    return [float(optimizer.step(closure)) for _ in range(steps)]


@pytest.mark.parametrize("options", OPTIONS)
def test_every_loss_is_pytorchs(options: dict[str, Any]) -> None:
    p, q = nn.Parameter(ts.tensor(START)), torch.nn.Parameter(torch.tensor(START))
    ours = run(optim.LBFGS([p], **options), p, 8)
    np.testing.assert_allclose(ours, run(torch.optim.LBFGS([q], **options), q, 8), 1e-5, 1e-12)
    np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), 1e-5)


def test_parameters_of_several_shapes_are_one_vector() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    ours = [nn.Parameter(ts.zeros((3, 2), dtype=ts.float64)), nn.Parameter(ts.zeros(2, dtype=ts.float64)), nn.Parameter(ts.ones(4))]
    solver = optim.LBFGS(ours, line_search_fn="strong_wolfe")
    features, target = ts.tensor(x), ts.tensor(y)
    run(solver, ours, 5, lambda p: (features @ p[0] + p[1] - target).square().sum())
    exact = np.linalg.lstsq(np.column_stack([x, np.ones(20)]), y, rcond=None)[0]
    np.testing.assert_allclose(np.vstack([p.detach().numpy() for p in ours[:2]]), exact, 1e-4, 1e-6)
    assert (ours[2].detach().numpy() == 1).all()  # without a gradient it does not move


@pytest.mark.parametrize("options", OPTIONS)
def test_complex_parameters_are_pairs_of_real_numbers(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(5)
    pairs, weights = rng.standard_normal((3, 2, 2)), rng.standard_normal(4)
    found = []
    for whole in (True, False):  # complex numbers, and the same program with their real numbers
        p, q = ts.tensor(pairs), ts.tensor(weights).requires_grad_()
        p = (ts.view_as_complex(p).clone() if whole else p).requires_grad_()
        number = (lambda p: p) if whole else ts.view_as_complex
        losses = run(optim.LBFGS([p, q], **options), p, 1, lambda p: ((number(p) ** 2 - 1j).abs() ** 2).sum())
        losses += run(optim.LBFGS([p, q], **options), p, 4, lambda p: ((number(p) * q.sum() - 1j).abs() ** 2).sum())
        found.append([np.array(losses), number(p).detach().numpy(), q.detach().numpy()])
    for complex_, real in zip(*found):
        np.testing.assert_allclose(complex_, real, 1e-6, 1e-9)
    assert options == {"tolerance_grad": 1e6} or (found[0][2] != weights).any()


def test_a_saved_state_continues() -> None:
    p = nn.Parameter(ts.tensor(START))
    first = optim.LBFGS([p], max_iter=3, line_search_fn="strong_wolfe")
    run(first, p, 4)
    q = nn.Parameter(p.detach().clone())
    second = optim.LBFGS([q], max_iter=3, line_search_fn="strong_wolfe")
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    assert run(first, p, 4) == run(second, q, 4)
    assert first.state[p]["n_iter"] == second.state[q]["n_iter"] and len(first.state[p]["old_dirs"]) <= 100


def test_a_step_ends_by_its_tolerances() -> None:
    # The first slope is almost 0: nothing moves, and the next step begins as this one did.
    p, q = nn.Parameter(ts.tensor([1e-5])), torch.nn.Parameter(torch.tensor([1e-5]))
    half = lambda x: (x * x).sum() / 2  # noqa: E731
    ours = run(optim.LBFGS([p]), p, 3, half)
    assert ours == run(torch.optim.LBFGS([q]), q, 3, half) and len(set(ours)) == 1
    assert p.item() == q.item() == np.float32(1e-5)
    # The parameters change by less than the tolerance in the first iteration.
    p = nn.Parameter(ts.tensor(START))
    solver = optim.LBFGS([p], lr=1e-3, tolerance_change=10.0)
    run(solver, p, 1)
    assert solver.state[p]["n_iter"] == 1 and solver.state[p]["func_evals"] == 2


@pytest.mark.parametrize("size", [0, -1])
def test_without_a_history_the_gradient_is_scaled(size: int) -> None:
    p = nn.Parameter(ts.ones(2, dtype=ts.float64))
    run(optim.LBFGS([p], max_iter=3, history_size=size), p, 1, lambda x: (x * x * ts.tensor([1.0, 2.0], dtype=ts.float64)).sum())
    np.testing.assert_allclose(p.detach().numpy(), [16 / 51, -1 / 51], 1e-12)


def test_wrong_calls_are_refused() -> None:
    p, q = nn.Parameter(ts.ones(2)), nn.Parameter(ts.ones(2))
    with pytest.raises(NotImplementedError):
        optim.LBFGS([p]).step()
    with pytest.raises(ValueError):
        optim.LBFGS([{"params": [p]}, {"params": [q]}])
    with pytest.raises(ValueError):
        optim.LBFGS([p], line_search_fn="armijo")
    with pytest.raises(ValueError, match="at least one parameter"):
        optim.LBFGS([])
