# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes formulas.txt: the values of layers, optimizers and distributions that every language's wrapper makes of operators.

    .venv/bin/python tests/conformance/make_formulas.py

The values are PyTorch's. Random numbers are the package's own, which are the same in every language for the same seed.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tessera
import torch
from tessera import distributions as own
from torch import distributions as peer
from torch.nn import functional as F

SEED = 7
Rows = dict[str, Any]


def wave(*shape: int, phase: float = 0.0) -> torch.Tensor:
    """The numbers sin(0.7 k + phase) for k = 0, 1, ..., with which every language's test begins."""
    return torch.sin(0.7 * torch.arange(math.prod(shape), dtype=torch.float64) + phase).reshape(shape)


# ---- layers ----

PADDINGS = {1: ((1, 2, 4), [1, 2]), 2: ((1, 1, 4, 3), [1, 2, 0, 1]), 3: ((1, 1, 3, 4, 3), [1, 0, 2, 1, 0, 1])}


def paddings(rows: Rows) -> None:
    for axes, (shape, padding) in PADDINGS.items():
        x = wave(*shape)
        rows[f"zero_pad{axes}d"] = F.pad(x, padding)
        rows[f"constant_pad{axes}d"] = F.pad(x, padding, value=2.5)
        for name, mode in (("reflection", "reflect"), ("replication", "replicate"), ("circular", "circular")):
            rows[f"{name}_pad{axes}d"] = F.pad(x, padding, mode)


def city(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a - b).abs().sum(-1)


def triplets(rows: Rows) -> None:
    three = [wave(4, 3, phase=phase) for phase in (0.0, 0.4, 1.1)]
    for name, options in {
        "triplet_default": {}, "triplet_city": {"distance_function": city, "margin": 2.0},
        "triplet_swap": {"distance_function": city, "swap": True, "reduction": "none"},
    }.items():  # fmt: skip
        rows[name] = torch.nn.TripletMarginWithDistanceLoss(**options)(*three)


def fractional(rows: Rows) -> None:
    samples = torch.tensor([[[0.1, 0.6], [0.8, 0.3]]], dtype=torch.float64)
    found = F.fractional_max_pool2d(wave(1, 2, 7, 6), (2, 3), (3, 2), return_indices=True, _random_samples=samples)
    rows["fractional_max_pool2d"], rows["fractional_max_pool2d_positions"] = found
    samples = torch.tensor([[[0.1, 0.6, 0.9]]], dtype=torch.float64)
    options: Any = {"output_ratio": (0.5, 0.6, 0.5), "return_indices": True, "_random_samples": samples}
    found = F.fractional_max_pool3d(wave(1, 1, 6, 5, 7), 2, **options)
    rows["fractional_max_pool3d"], rows["fractional_max_pool3d_positions"] = found


def adaptive(rows: Rows) -> None:
    layer = torch.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], div_value=2.0, head_bias=True).double()
    with torch.no_grad():
        for number, (_, parameter) in enumerate(sorted(layer.named_parameters())):
            parameter.copy_(wave(*parameter.shape, phase=0.3 * number))
    x = wave(5, 8, phase=0.2)
    output, loss = layer(x, torch.tensor([0, 4, 9, 2, 6]))
    rows.update(adaptive_output=output, adaptive_loss=loss, adaptive_log_prob=layer.log_prob(x), adaptive_predict=layer.predict(x))


# ---- optimizers ----


def lbfgs(rows: Rows) -> None:
    """The loss before each of 5 steps, and the parameters after them."""
    for name, options in {
        "lbfgs": {"lr": 0.5, "max_iter": 4, "history_size": 3},
        "lbfgs_wolfe": {"max_iter": 3, "line_search_fn": "strong_wolfe"},
    }.items():
        parameters = [wave(2, phase=0.5).requires_grad_(), wave(1, 3, phase=1.0).requires_grad_()]
        optimizer = torch.optim.LBFGS(parameters, **options)  # type: ignore[arg-type]

        def closure() -> torch.Tensor:
            optimizer.zero_grad()  # noqa: B023
            loss = sum(((p * p - 2) ** 2).sum() + (3 * p).cos().sum() for p in parameters)  # noqa: B023
            loss.backward()
            return loss

        losses = [optimizer.step(closure).detach().reshape(1) for _ in range(5)]
        rows[name] = torch.cat(losses + [p.detach().flatten() for p in parameters])


def averages(rows: Rows) -> None:
    """The average of 4 models."""
    for name, function in {"swa": None, "ema": lambda average, new, _: 0.9 * average + 0.1 * new}.items():
        model = torch.nn.Linear(3, 2).double()
        average = torch.optim.swa_utils.AveragedModel(model, avg_fn=function)
        for number in range(4):
            with torch.no_grad():
                model.weight.copy_(wave(2, 3, phase=number))
            average.update_parameters(model)
        rows[name] = average.module.weight


# ---- distributions ----


def d(*values: Any) -> torch.Tensor:
    return torch.tensor(values[0] if len(values) == 1 else values, dtype=torch.float64)


def covariance() -> torch.Tensor:
    a = wave(3, 3)
    return a @ a.T + torch.eye(3, dtype=torch.float64)


# The class, the arguments of a distribution, those of another one for the divergence, and values.
DISTRIBUTIONS: dict[str, tuple[str, Callable[[], dict[str, Any]], Callable[[], dict[str, Any]], Callable[[], torch.Tensor]]] = {
    "normal": (
        "Normal", lambda: {"loc": wave(3), "scale": d(0.5, 1, 2)}, lambda: {"loc": d(0.3), "scale": d(1.5)},
        lambda: wave(2, 3, phase=1.0),
    ),
    "uniform": (
        "Uniform", lambda: {"low": d(-1, 0, 0.5), "high": d(2, 1, 3)}, lambda: {"low": d(-2.0), "high": d(4.0)},
        lambda: d([[0, 0.5, 1], [1.5, 0.25, 2.5]]),
    ),
    "bernoulli": (
        "Bernoulli", lambda: {"probs": d(0.2, 0.5, 0.9)}, lambda: {"logits": d(0.3, -1, 2)}, lambda: d([[0, 1, 1], [1, 0, 0]]),
    ),
    "categorical": (
        "Categorical", lambda: {"probs": d([[1, 2, 3, 4], [4, 3, 2, 1]])}, lambda: {"logits": wave(2, 4)},
        lambda: torch.tensor([[0, 3], [2, 1], [3, 0]]),
    ),
    "beta": (
        "Beta", lambda: {"concentration1": d(0.5, 2, 3), "concentration0": d(1.5, 1, 4)},
        lambda: {"concentration1": d(2.0), "concentration0": d(3.0)}, lambda: d([[0.1, 0.5, 0.9], [0.3, 0.2, 0.6]]),
    ),
    "gamma": (
        "Gamma", lambda: {"concentration": d(0.5, 2, 3), "rate": d(1, 2, 0.5)}, lambda: {"concentration": d(1.5), "rate": d(2.0)},
        lambda: d([[0.2, 1, 4], [0.7, 2, 3]]),
    ),
    "dirichlet": (
        "Dirichlet", lambda: {"concentration": d([[0.5, 2, 3], [1, 1, 1]])}, lambda: {"concentration": d(1, 2, 3)},
        lambda: d([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]]),
    ),
    "exponential": ("Exponential", lambda: {"rate": d(0.5, 1, 3)}, lambda: {"rate": d(2.0)}, lambda: d([[0.2, 1, 4], [0.7, 2, 3]])),
    "multivariate_normal": (
        "MultivariateNormal", lambda: {"loc": wave(3), "covariance_matrix": covariance()},
        lambda: {"loc": d(0, 0, 0), "scale_tril": d([[1, 0, 0], [0.5, 2, 0], [-0.3, 0.2, 0.7]])}, lambda: wave(2, 3, phase=1.0),
    ),
}  # fmt: skip


def distributions(rows: Rows) -> None:
    for name, (kind, arguments, others, value) in DISTRIBUTIONS.items():
        p, q = getattr(peer, kind)(**arguments()), getattr(peer, kind)(**others())
        rows[f"{name}.log_prob"], rows[f"{name}.entropy"] = p.log_prob(value()), p.entropy()
        rows[f"{name}.kl"] = peer.kl_divergence(p, q)
        if name != "categorical":
            rows[f"{name}.mean"], rows[f"{name}.variance"] = p.mean, p.variance
        drawn(rows, name, kind, {key: tessera.asarray(v.numpy()) for key, v in arguments().items()})


def drawn(rows: Rows, name: str, kind: str, arguments: dict[str, Any]) -> None:
    """Two samples, and the gradient of their sum for the first parameter; for a Dirichlet distribution, of that of squares."""
    first = next(iter(arguments))
    arguments[first] = arguments[first].requires_grad_()
    p = getattr(own, kind)(**arguments)
    tessera.manual_seed(SEED)
    rows[f"{name}.sample"] = p.sample((2,))
    if p.has_rsample:
        tessera.manual_seed(SEED)
        found = p.rsample((2,))
        (tessera.square(found) if name == "dirichlet" else found).sum().backward()
        rows[f"{name}.gradient"] = arguments[first].grad


def numbers(value: Any) -> list[float]:
    flat = value.detach().numpy().reshape(-1) if isinstance(value, torch.Tensor) else value.detach().reshape(-1).tolist()
    return [float(x) for x in flat]


def main() -> None:
    warnings.simplefilter("ignore")
    rows: Rows = {}
    for part in (paddings, triplets, fractional, adaptive, lbfgs, averages, distributions):
        part(rows)
    lines = ["# What layers, optimizers and distributions give in every language: see make_formulas.py."]
    lines += [" ".join([name, *(f"{x:.15g}" for x in numbers(value))]) for name, value in rows.items()]
    (Path(__file__).parent / "formulas.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
