# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Parametrizations, pruning and averaged models beside PyTorch's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.utils.parametrizations as reference
import torch.nn.utils.prune as reference_prune

import tessera as ts
import tessera.torch as dialect
from tessera import nn, optim
from tessera.nn.utils import parametrizations, parametrize, prune
from tessera.optim import swa_utils

RNG = np.random.default_rng(3)


def linear_pair(rows: int, columns: int) -> tuple[Any, Any]:
    """The same linear layer of both libraries."""
    ours, theirs = nn.Linear(columns, rows, dtype=ts.float64), torch.nn.Linear(columns, rows, dtype=torch.float64)
    for own, other in zip(ours.parameters(), theirs.parameters()):
        values = RNG.standard_normal(tuple(own.shape))
        own.data.copy_(ts.from_numpy(values))
        other.data.copy_(torch.tensor(values))
    return ours, theirs


def close(ours: Any, theirs: Any, rtol: float = 1e-9) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol, 1e-12)


def trained(layer: Any, optimizer: Any, x: Any, steps: int = 3) -> Any:
    for _ in range(steps):
        optimizer.zero_grad()
        (layer(x) ** 2).sum().backward()
        optimizer.step()
    layer(x)  # PyTorch's hooks compute the weight before a call
    return layer.weight


INPUT = RNG.standard_normal((4, 3))


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_trains_as_pytorchs(dim: int | None) -> None:
    ours, theirs = linear_pair(5, 3)
    before = ours.weight.detach().numpy().copy()
    parametrizations.weight_norm(ours, dim=dim)
    # PyTorch 1.13 has only the older form, whose parameters have other names.
    torch.nn.utils.weight_norm(theirs, dim=dim)
    close(ours.weight, ts.from_numpy(before))
    assert sorted(ours.state_dict()) == ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]
    x, peer = ts.from_numpy(INPUT.copy()), torch.tensor(INPUT)
    close(trained(ours, optim.SGD(ours.parameters(), lr=0.01), x), trained(theirs, torch.optim.SGD(theirs.parameters(), lr=0.01), peer))


def test_spectral_norm_trains_as_pytorchs() -> None:
    ours, theirs = linear_pair(5, 3)
    parametrizations.spectral_norm(ours)
    reference.spectral_norm(theirs)
    own, other = ours.parametrizations.weight[0], theirs.parametrizations.weight[0]
    for side in ("_u", "_v"):
        getattr(own, side).copy_(ts.from_numpy(getattr(other, side).numpy().copy()))
    assert sorted(ours.state_dict()) == sorted(theirs.state_dict())
    x, peer = ts.from_numpy(INPUT.copy()), torch.tensor(INPUT)
    close(trained(ours, optim.SGD(ours.parameters(), lr=0.01), x), trained(theirs, torch.optim.SGD(theirs.parameters(), lr=0.01), peer))
    assert abs(np.linalg.norm(ours.eval().weight.detach().numpy(), 2) - 1) < 0.1
    vector = parametrizations.spectral_norm(nn.LayerNorm(4))
    assert abs(float(ts.linalg.vector_norm(vector.weight)) - 1) < 1e-6


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
def test_orthogonal_weights_stay_orthogonal_and_train_as_pytorchs(shape: tuple[int, int], kind: str) -> None:
    ours, theirs = linear_pair(*shape)
    ts.manual_seed(0)
    parametrizations.orthogonal(ours, orthogonal_map=kind)
    reference.orthogonal(theirs, orthogonal_map=kind)
    theirs.parametrizations.weight[0].base.copy_(torch.tensor(ours.parametrizations.weight[0].base.numpy()))
    close(ours.weight, theirs.weight, 1e-7)
    for own, other in zip(ours.parameters(), theirs.parameters()):
        close(own, other)
    x = RNG.standard_normal((2, shape[1]))
    slopes = RNG.standard_normal((2, shape[0]))
    first, second = optim.SGD(ours.parameters(), lr=0.05), torch.optim.SGD(theirs.parameters(), lr=0.05)
    for _ in range(3):
        for layer, optimizer, tensor in ((ours, first, ts.from_numpy), (theirs, second, torch.tensor)):
            optimizer.zero_grad()
            (layer(tensor(x.copy())) * tensor(slopes.copy())).sum().backward()
            optimizer.step()
    close(ours.weight, theirs.weight, 1e-6)
    w = ours.weight.detach().numpy()
    np.testing.assert_allclose(w @ w.T if shape[0] <= shape[1] else w.T @ w, np.eye(min(shape)), atol=1e-9)


def test_assigning_an_orthogonal_matrix_gives_that_matrix() -> None:
    layer = parametrizations.orthogonal(nn.Linear(3, 3, dtype=ts.float64))
    q, _ = np.linalg.qr(RNG.standard_normal((3, 3)))
    layer.weight = ts.from_numpy(q.copy())
    np.testing.assert_allclose(layer.weight.detach().numpy(), q, atol=1e-12)
    with pytest.raises(ValueError, match="shape"):
        layer.weight = ts.ones((2, 2), dtype=ts.float64)
    free = parametrizations.orthogonal(nn.Linear(3, 3), use_trivialization=False)
    with pytest.raises(NotImplementedError, match="use_trivialization"):
        free.weight = ts.eye(3)
    with pytest.raises(ValueError, match="orthogonal_map"):
        parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="none")


class Symmetric(nn.Module):
    calls = 0

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        Symmetric.calls += 1
        return ts.triu(x) + ts.matrix_transpose(ts.triu(x, 1))


class Doubled(nn.Module):
    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return x * 2

    def right_inverse(self, x: ts.Tensor) -> ts.Tensor:
        return x / 2


def test_a_parametrization_of_ones_own() -> None:
    layer = nn.Linear(3, 3)
    original = layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert parametrize.is_parametrized(layer) and parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias") and parametrize.type_before_parametrizations(layer) is nn.Linear
    assert layer.parametrizations.weight.original is original and isinstance(layer, nn.Linear)
    assert sorted(name for name, _ in layer.named_parameters()) == ["bias", "parametrizations.weight.original"]
    assert bool((layer.weight == layer.weight.mT).all())
    Symmetric.calls = 0
    with parametrize.cached():
        layer(layer(ts.ones((1, 3))))
    assert Symmetric.calls == 1
    layer(ts.ones((1, 3)))
    assert Symmetric.calls == 2
    with pytest.raises(ValueError, match="right_inverse"):
        layer.weight = ts.ones((3, 3))
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert len(layer.parametrizations.weight) == 2
    value = layer.weight.detach().numpy().copy()
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        np.testing.assert_array_equal(twin.weight.detach().numpy(), value)
        parametrize.remove_parametrizations(twin, "weight", leave_parametrized=False)
        assert type(twin) is nn.Linear and parametrize.is_parametrized(layer)
        np.testing.assert_array_equal(twin.weight.detach().numpy(), original.detach().numpy())
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and layer.weight is original and not parametrize.is_parametrized(layer)
    np.testing.assert_array_equal(layer.weight.detach().numpy(), value)


def test_assigning_goes_through_the_right_inverse_and_buffers_stay_buffers() -> None:
    norm = nn.BatchNorm1d(2)
    parametrize.register_parametrization(norm, "running_mean", Doubled())
    parametrize.register_parametrization(norm, "weight", Doubled())
    assert norm.parametrizations.weight.original.tolist() == [0.5, 0.5]
    norm.running_mean = ts.tensor([4.0, 6.0])
    assert norm.parametrizations.running_mean.original.tolist() == [2.0, 3.0]
    parametrize.remove_parametrizations(norm, "running_mean")
    assert "running_mean" in norm._buffers and norm.running_mean.tolist() == [4.0, 6.0] and parametrize.is_parametrized(norm)
    other = nn.BatchNorm1d(2)
    parametrize.transfer_parametrizations_and_params(norm, other)
    assert parametrize.is_parametrized(other, "weight") and other.weight.tolist() == [1.0, 1.0]


def test_parametrizations_that_do_not_fit_change_nothing() -> None:
    class Flat(nn.Module):
        def forward(self, x: ts.Tensor) -> ts.Tensor:
            return x.reshape((-1,))

    layer = nn.Linear(2, 3)
    value = layer.weight
    with pytest.raises(ValueError, match="keeps shape"):
        parametrize.register_parametrization(layer, "weight", Flat())
    assert layer.weight is value and type(layer) is nn.Linear
    with pytest.raises(ValueError, match="'none'"):
        parametrize.register_parametrization(layer, "none", Flat())
    with pytest.raises(ValueError, match="parametrized tensor"):
        parametrize.remove_parametrizations(layer, "weight")
    parametrize.register_parametrization(layer, "weight", Flat(), unsafe=True)
    assert layer.weight.shape == (6,)


def test_layers_of_torch_nn_stay_such() -> None:
    layer = dialect.nn.utils.parametrizations.weight_norm(dialect.nn.Linear(3, 2))
    parts = layer.parametrizations.weight
    assert isinstance(parts, dialect.nn.Module) and parts.original0.size() == (2, 1)
    assert isinstance(parts.original1, dialect.nn.Parameter) and layer.weight.size(1) == 3
    assert type(parts) is dialect.nn.utils.parametrize.ParametrizationList


# ---- pruning ----

PRUNINGS: dict[str, Any] = {
    "l1_unstructured": lambda p, m, t: p.l1_unstructured(m, "weight", amount=0.4),
    "a number of elements": lambda p, m, t: p.l1_unstructured(m, "weight", amount=3),
    "scores": lambda p, m, t: p.l1_unstructured(m, "weight", 4, importance_scores=t(np.arange(15.0).reshape(5, 3))),
    "ln_structured": lambda p, m, t: p.ln_structured(m, "weight", amount=2, n=2, dim=0),
    "ln_structured of columns": lambda p, m, t: p.ln_structured(m, "weight", amount=0.34, n=1, dim=1),
    "custom_from_mask": lambda p, m, t: p.custom_from_mask(m, "weight", t(np.tri(5, 3))),
    "identity": lambda p, m, t: p.identity(m, "weight"),
    "twice": lambda p, m, t: p.l1_unstructured(p.l1_unstructured(m, "weight", 4), "weight", 0.5),
    "rows, then elements": lambda p, m, t: p.l1_unstructured(p.ln_structured(m, "weight", 2, 2, 0), "weight", 3),
    "rows twice": lambda p, m, t: p.ln_structured(p.ln_structured(m, "weight", 2, 2, 0), "weight", 1, 2, 0),
    "a mask on top": lambda p, m, t: p.custom_from_mask(p.l1_unstructured(m, "weight", 4), "weight", t(np.tri(5, 3))),
}


@pytest.mark.parametrize("name", PRUNINGS)
def test_pruning_is_pytorchs(name: str) -> None:
    ours, theirs = linear_pair(5, 3)
    parameter = ours.weight
    PRUNINGS[name](prune, ours, lambda a: ts.from_numpy(a))
    PRUNINGS[name](reference_prune, theirs, torch.tensor)
    np.testing.assert_array_equal(ours.weight_mask.numpy(), theirs.weight_mask.numpy())
    close(ours.weight, theirs.weight)
    assert sorted(ours.state_dict()) == sorted(theirs.state_dict()) and prune.is_pruned(nn.Sequential(ours))
    x, peer = ts.from_numpy(INPUT.copy()), torch.tensor(INPUT)
    close(trained(ours, optim.SGD(ours.parameters(), lr=0.01), x), trained(theirs, torch.optim.SGD(theirs.parameters(), lr=0.01), peer))
    prune.remove(ours, "weight")
    assert ours.weight is parameter and not prune.is_pruned(ours) and sorted(ours.state_dict()) == ["bias", "weight"]


def test_random_pruning_takes_as_many_and_global_pruning_the_smallest_of_all() -> None:
    layer = nn.Linear(10, 6)
    prune.random_unstructured(layer, "weight", 0.3)
    assert int((layer.weight_mask == 0).sum()) == 18
    prune.random_structured(layer, "weight", 2, 0)
    assert int((layer.weight_mask.sum(1) == 0).sum()) == 2
    pairs = [linear_pair(5, 3), linear_pair(4, 2)]
    for place, (module, kind) in enumerate(((prune, prune.L1Unstructured), (reference_prune, reference_prune.L1Unstructured))):
        module.global_unstructured([(pair[place], "weight") for pair in pairs], pruning_method=kind, amount=0.3)
    for ours, theirs in pairs:
        np.testing.assert_array_equal(ours.weight_mask.numpy(), theirs.weight_mask.numpy())


def test_a_pruning_method_of_ones_own_and_wrong_amounts() -> None:
    class EveryOther(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t: ts.Tensor, default_mask: ts.Tensor) -> ts.Tensor:
            mask = default_mask.clone()
            mask.reshape((-1,))[::2] = 0
            return mask

    layer = nn.Linear(2, 2)
    EveryOther.apply(layer, "bias")
    assert layer.bias_mask.tolist() == [0.0, 1.0]
    assert EveryOther().prune(ts.ones(4)).tolist() == [0.0, 1.0, 0.0, 1.0]
    for call in (
        lambda: prune.l1_unstructured(layer, "weight", 1.5), lambda: prune.l1_unstructured(layer, "weight", 5),
        lambda: prune.l1_unstructured(layer, "none", 1), lambda: prune.remove(layer, "weight"),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()
    assert sorted(layer.state_dict()) == ["bias_mask", "bias_orig", "weight"]
    with pytest.raises(TypeError):
        prune.l1_unstructured(layer, "weight", "1")  # type: ignore[arg-type]


# ---- averages ----


@pytest.mark.parametrize("package", [prune, reference_prune], ids=["tessera", "PyTorch"])
def test_slices_need_an_axis_of_a_matrix(package: Any) -> None:
    layers = nn if package is prune else torch.nn
    for axis in (2, -3):
        with pytest.raises(IndexError):
            package.random_structured(layers.Linear(3, 5), "weight", 1, axis)
    with pytest.raises(ValueError):
        package.ln_structured(layers.BatchNorm1d(3), "weight", 1, 2, 0)


@pytest.mark.parametrize("kind", ["mean", "own", "ema", "ema of all"])
@pytest.mark.parametrize("use_buffers", [False, True])
def test_averaged_models_are_pytorchs(kind: str, use_buffers: bool) -> None:
    decay = 0.75
    ours = nn.Sequential(linear_pair(3, 3)[0], nn.BatchNorm1d(3, dtype=ts.float64))
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3)).double()

    def average(mean: Any, new: Any, count: Any) -> Any:
        return decay * mean + (1 - decay) * new

    options: dict[str, Any] = {
        "mean": {}, "own": {"avg_fn": average}, "ema": {"avg_fn": swa_utils.get_ema_avg_fn(decay)},
        "ema of all": {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(decay)},
    }[kind]  # fmt: skip
    one = swa_utils.AveragedModel(ours, use_buffers=use_buffers, **options)
    two = torch.optim.swa_utils.AveragedModel(theirs, use_buffers=use_buffers, avg_fn=None if kind == "mean" else average)
    for step in range(4):
        for own, other in zip([*ours.parameters(), *ours.buffers()], [*theirs.parameters(), *theirs.buffers()]):
            values = RNG.standard_normal(tuple(own.shape)) + step if own.ndim else np.array(step + 1)
            own.detach().copy_(ts.from_numpy(np.array(values)).to(own.dtype))
            other.data.copy_(torch.tensor(values))
        one.update_parameters(ours)
        if use_buffers or step == 0:  # PyTorch 1.13 leaves buffers alone otherwise, later versions copy them
            two.update_parameters(theirs)
        else:
            two.update_parameters(theirs)
            for own, other in zip(two.module.buffers(), theirs.buffers()):
                own.copy_(other)
    assert int(one.n_averaged) == 4 and sorted(one.state_dict()) == sorted(two.state_dict())
    for own, other in zip(one.module.parameters(), two.module.parameters()):
        close(own, other)
    for (name, own), other in zip(one.module.named_buffers(), two.module.buffers()):
        if own.ndim or not use_buffers:
            close(own, other)
        else:
            assert name.endswith("num_batches_tracked")
    x = ts.ones((2, 3), dtype=ts.float64)
    close(one(x), one.module(x))


def test_statistics_of_batch_norm_are_computed_again() -> None:
    data = RNG.standard_normal((6, 5, 3))
    ours, theirs = nn.BatchNorm1d(3, dtype=ts.float64).eval(), torch.nn.BatchNorm1d(3).double().eval()
    swa_utils.update_bn([(ts.from_numpy(batch.copy()), None) for batch in data], ours)
    torch.optim.swa_utils.update_bn([(torch.tensor(batch), None) for batch in data], theirs)
    close(ours.running_mean, theirs.running_mean)
    close(ours.running_var, theirs.running_var)
    assert not ours.training and ours.momentum == 0.1


@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("epochs", [0, 5])
def test_rates_of_swa_are_pytorchs(strategy: str, epochs: int) -> None:
    rates = []
    for kinds, make, utils in ((optim, ts.ones, swa_utils), (torch.optim, torch.ones, torch.optim.swa_utils)):
        params = [{"params": [make(1).requires_grad_()], "lr": 0.5}, {"params": [make(1).requires_grad_()], "lr": 0.2}]
        optimizer = kinds.SGD(params, lr=0.1)
        before = kinds.lr_scheduler.ExponentialLR(optimizer, 0.9)
        scheduler = utils.SWALR(optimizer, swa_lr=[0.05, 0.1], anneal_epochs=epochs, anneal_strategy=strategy)
        found = []
        for step in range(10):
            optimizer.step()
            (before if step < 3 else scheduler).step()
            found.append([group["lr"] for group in optimizer.param_groups])
        rates.append(found)
    np.testing.assert_allclose(rates[0], rates[1], 1e-12)


def test_wrong_settings_of_averages_are_refused() -> None:
    model = nn.Linear(1, 1)
    with pytest.raises(ValueError, match="both"):
        swa_utils.AveragedModel(model, avg_fn=swa_utils.get_swa_avg_fn(), multi_avg_fn=swa_utils.get_swa_multi_avg_fn())
    for call in (
        lambda: swa_utils.get_ema_avg_fn(1.5), lambda: swa_utils.SWALR(optim.SGD(model.parameters(), lr=0.1), 0.1, anneal_strategy="none"),
        lambda: swa_utils.SWALR(optim.SGD(model.parameters(), lr=0.1), 0.1, anneal_epochs=-1),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()


