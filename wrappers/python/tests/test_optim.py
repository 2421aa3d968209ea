# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Optimizers step by step against PyTorch's, and their state."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tessera as ts
from tessera import capi, nn, optim
from tessera.optim import core

CASES: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Adam", {}),
    ("Adam", {"lr": 0.05, "betas": (0.8, 0.9), "weight_decay": 0.1}),
    ("Adam", {"amsgrad": True, "maximize": True}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.05, "weight_decay": 0.2, "amsgrad": True}),
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.9, "weight_decay": 0.1, "maximize": True}),
    ("RMSprop", {"centered": True, "alpha": 0.9}),
    ("RMSprop", {"centered": True, "momentum": 0.5}),
    ("Adagrad", {}),
    ("Adagrad", {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "maximize": True}),
    ("Adadelta", {}),
    ("Adadelta", {"rho": 0.7, "weight_decay": 0.1, "maximize": True}),
    ("Adamax", {}),
    ("Adamax", {"betas": (0.8, 0.9), "weight_decay": 0.1, "maximize": True}),
    ("RAdam", {}),
    ("RAdam", {"betas": (0.8, 0.9), "weight_decay": 0.1}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.1, "etas": (0.4, 1.5), "step_sizes": (0.05, 0.3), "maximize": True}),
]
# PyTorch 1.13 lacks these or computes them wrongly (NAdam: one momentum too many in the product of the next step, as
# later versions note; ASGD: the rate is a float32): their reference is the paper's algorithm in NumPy.
NEWER: list[tuple[str, dict[str, Any]]] = [
    ("NAdam", {}),
    ("NAdam", {"momentum_decay": 0.1, "weight_decay": 0.1, "maximize": True}),
    ("LAMB", {}),
    ("LAMB", {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.3, "maximize": True}),
    ("Lion", {}),
    ("Lion", {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.3, "maximize": True}),
    ("ASGD", {}),
    ("ASGD", {"lr": 0.1, "lambd": 0.01, "alpha": 0.5, "t0": 5.0, "weight_decay": 0.1, "maximize": True}),
    ("Muon", {}),
    ("Muon", {"lr": 0.1, "momentum": 0.5, "nesterov": False, "ns_steps": 3, "weight_decay": 0.3, "maximize": True}),
]


@pytest.mark.parametrize("name, options", CASES, ids=[str(i) for i in range(len(CASES))])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_twenty_steps_match_pytorch(name: str, options: dict[str, Any], dtype: str) -> None:
    rng = np.random.default_rng(0)
    starts = [rng.standard_normal(s).astype(dtype) for s in [(3, 4), (5,), ()]]
    ours = [nn.Parameter(ts.tensor(s)) for s in starts]
    theirs = [torch.nn.Parameter(torch.tensor(s)) for s in starts]
    options = {"lr": 1e-3, **options} if name == "SGD" else options  # PyTorch 1.13 has no default there
    one, two = getattr(optim, name)(ours, **options), getattr(torch.optim, name)(theirs, **options)
    for step in range(20):
        for index, (p, q) in enumerate(zip(ours, theirs)):
            grad = rng.standard_normal(p.shape).astype(dtype)
            if index == 1 and step % 3 == 0:
                p.grad = q.grad = None  # a parameter without a gradient does not change
            else:
                p.grad, q.grad = ts.tensor(grad), torch.tensor(grad)
        one.step()
        two.step()
    for p, q in zip(ours, theirs):
        # Near zero a step is lr times a sign-like ratio, which magnifies one rounding of float32.
        rtol, atol = (1e-4, 1e-5) if dtype == "float32" else (1e-10, 1e-12)
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol, atol)


@pytest.mark.parametrize("name", ["NAdam", "RAdam"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_decoupled_weight_decay_shrinks_the_parameter_before_the_step(name: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    start = rng.standard_normal((3, 4)).astype(dtype)
    one, two = nn.Parameter(ts.tensor(start)), nn.Parameter(ts.tensor(start))
    decayed = getattr(optim, name)([one], lr=0.05, weight_decay=0.3, decoupled_weight_decay=True)
    plain = getattr(optim, name)([two], lr=0.05)
    for _ in range(20):
        one.grad = two.grad = ts.tensor(rng.standard_normal((3, 4)).astype(dtype))
        with ts.no_grad():
            two.mul_(1 - 0.05 * 0.3)
        decayed.step()
        plain.step()
    rtol = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(one.detach().numpy(), two.detach().numpy(), rtol, rtol)
    assert decayed.state_dict()["param_groups"][0]["decoupled_weight_decay"] is True


Array = Any
Update = Callable[[Array, Array, dict[str, Array], int, dict[str, Any]], Array]


def nadam(x: Array, g: Array, kept: dict[str, Array], step: int, o: dict[str, Any]) -> Array:
    """Dozat 2016, with PyTorch's schedule of the momentum."""
    first, second = o["betas"]

    def mu(step: int) -> float:
        return float(first * (1 - 0.5 * 0.96 ** (step * o["momentum_decay"])))

    g = g + o["weight_decay"] * x
    kept["product"] = kept.get("product", 1.0) * mu(step)
    kept["m"] = first * kept.get("m", 0) + (1 - first) * g
    kept["v"] = second * kept.get("v", 0) + (1 - second) * g * g
    now = (1 - mu(step)) * g / (1 - kept["product"])
    ahead = mu(step + 1) * kept["m"] / (1 - kept["product"] * mu(step + 1))
    return x - o["lr"] * (now + ahead) / (np.sqrt(kept["v"] / (1 - second**step)) + o["eps"])


def lamb(x: Array, g: Array, kept: dict[str, Array], step: int, o: dict[str, Any]) -> Array:
    """You and others 2020, algorithm 2."""
    first, second = o["betas"]
    kept["m"] = first * kept.get("m", 0) + (1 - first) * g
    kept["v"] = second * kept.get("v", 0) + (1 - second) * g * g
    ratio = kept["m"] / (1 - first**step) / (np.sqrt(kept["v"] / (1 - second**step)) + o["eps"])
    u = ratio + o["weight_decay"] * x
    size, length = np.linalg.norm(x), np.linalg.norm(u)
    return x - o["lr"] * (size / length if size and length else 1.0) * u


def asgd(x: Array, g: Array, kept: dict[str, Array], step: int, o: dict[str, Any]) -> Array:
    """Polyak and Juditsky 1992, with the rates of PyTorch."""
    rate = o["lr"] / (1 + o["lambd"] * o["lr"] * (step - 1)) ** o["alpha"]
    x = x * (1 - o["lambd"] * rate) - rate * (g + o["weight_decay"] * x)
    kept["ax"] = kept.get("ax", 0) + (x - kept.get("ax", 0)) / max(1, step - 1 - o["t0"])
    return x


def lion(x: Array, g: Array, kept: dict[str, Array], step: int, o: dict[str, Any]) -> Array:
    """Chen and others 2023, program 1."""
    first, second = o["betas"]
    m = kept.get("m", 0)
    update = np.sign(first * m + (1 - first) * g) + o["weight_decay"] * x
    kept["m"] = second * m + (1 - second) * g
    return x - o["lr"] * update


def muon(x: Array, g: Array, kept: dict[str, Array], step: int, o: dict[str, Any]) -> Array:
    """Jordan and others 2024, with the scale and the decay of torch.optim.Muon."""
    kept["b"] = o["momentum"] * kept.get("b", 0) + (1 - o["momentum"]) * g
    y = (1 - o["momentum"]) * g + o["momentum"] * kept["b"] if o["nesterov"] else kept["b"]
    y = y.T if x.shape[0] > x.shape[1] else y
    y = y / max(np.linalg.norm(y), o["eps"])
    for _ in range(o["ns_steps"]):
        gram = y @ y.T
        y = 3.4445 * y + (-4.7750 * gram + 2.0315 * gram @ gram) @ y
    y = y.T if x.shape[0] > x.shape[1] else y
    return x * (1 - o["lr"] * o["weight_decay"]) - o["lr"] * np.sqrt(max(1.0, x.shape[0] / x.shape[1])) * y


@pytest.mark.parametrize("name, options", NEWER, ids=[str(i) for i in range(len(NEWER))])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_steps_match_the_papers(name: str, options: dict[str, Any], dtype: str) -> None:
    update: Update = {"NAdam": nadam, "LAMB": lamb, "Lion": lion, "ASGD": asgd, "Muon": muon}[name]
    rng = np.random.default_rng(0)
    shapes = [(3, 4), (4, 2), (1, 5)] if name == "Muon" else [(3, 4), (5,), ()]
    theirs = [rng.standard_normal(s) for s in shapes]
    ours = [nn.Parameter(ts.tensor(x.astype(dtype))) for x in theirs]
    optimizer = getattr(optim, name)(ours, **options)
    kept: list[dict[str, Array]] = [{} for _ in ours]
    for step in range(1, 11):
        for i, p in enumerate(ours):
            g = rng.standard_normal(shapes[i])
            p.grad = ts.tensor(g.astype(dtype))
            theirs[i] = update(theirs[i], -g if options.get("maximize") else g, kept[i], step, optimizer.param_groups[0])
        optimizer.step()
    for p, x in zip(ours, theirs):
        rtol, atol = (1e-3, 1e-4) if dtype == "float32" else (1e-9, 1e-11)
        np.testing.assert_allclose(p.detach().numpy(), x, rtol, atol)
    if name == "ASGD":
        for p, own in zip(ours, kept):
            np.testing.assert_allclose(optimizer.state[p]["ax"].numpy(), own["ax"], rtol, atol)


def test_muon_makes_updates_orthogonal() -> None:
    p = nn.Parameter(ts.zeros((4, 8)))
    p.grad = ts.tensor(np.random.default_rng(0).standard_normal((4, 8)).astype("float32"))
    optim.Muon([p], lr=1.0, weight_decay=0.0).step()
    values = np.linalg.svd(p.detach().numpy(), compute_uv=False)
    assert values.min() > 0.6 and values.max() < 1.3


OTHERS = ("Adafactor", "LBFGS", "Optimizer", "SparseAdam", "ZeroRedundancyOptimizer", "functional", "lr_scheduler")  # no optimizers of the core


@pytest.mark.parametrize("kind", [k for k in optim.__all__ if k not in OTHERS])
def test_defaults_are_those_of_the_core(kind: str) -> None:
    from tessera.capi import check, ffi, lib

    p = nn.Parameter(ts.ones((1, 1)))
    options = ffi.new("tsr_optimizer_options*")
    options.struct_size = ffi.sizeof("tsr_optimizer_options")
    check(lib.tsr_optimizer_defaults(getattr(lib, f"TSR_OPTIMIZER_{kind.upper()}"), options))
    for name, value in getattr(optim, kind)([p]).defaults.items():
        parts = tuple(getattr(options, part) for part in core.PAIRS.get(name, [name]))
        assert value == (parts if name in core.PAIRS else parts[0]), name


def test_groups_have_their_own_options() -> None:
    a, b = nn.Parameter(ts.ones(1)), nn.Parameter(ts.ones(1))
    optimizer = optim.SGD([{"params": [a], "lr": 1.0}, {"params": b}], lr=0.1)
    a.grad, b.grad = ts.ones(1), ts.ones(1)
    optimizer.step()
    assert a.item() == 0 and b.item() == pytest.approx(0.9)
    optimizer.zero_grad()
    assert a.grad is None
    text = repr(optimizer)
    assert "Parameter Group 1" in text and "lr: 1.0" in text


def test_state_continues_where_it_was() -> None:
    def train(optimizer: optim.Optimizer, p: ts.Tensor, steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            (p * p).sum().backward()
            optimizer.step()

    p = nn.Parameter(ts.tensor([1.0, -2.0]))
    first = optim.Adam([p], lr=0.1)
    train(first, p, 5)
    q = nn.Parameter(p.detach().clone())
    second = optim.Adam([q])
    second.load_state_dict(first.state_dict())
    assert second.param_groups[0]["lr"] == 0.1
    train(first, p, 5)
    train(second, q, 5)
    assert p.tolist() == q.tolist()
    with pytest.raises(ValueError):
        optim.Adam([p, q]).load_state_dict(first.state_dict())


def test_the_state_of_many_parameters_is_read_in_few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has more tensors than the first reading has room for, and grows and shrinks between readings."""
    calls: list[int] = []

    class Counting:
        def __getattr__(self, name: str) -> Any:
            calls.append(1)
            return getattr(capi.lib, name)

    params = [nn.Parameter(ts.full((2,), float(n))) for n in range(60)]
    adam = optim.Adam(params)
    assert adam.state_dict()["state"] == {}
    for count in (30, 60):
        for parameter in params[:count]:
            parameter.grad = ts.full((2,), 2.0)
        adam.step()
        state = adam.state_dict()["state"]
        assert list(state) == list(range(count))
        for n in range(count):
            assert state[n].keys() == {"step", "exp_avg", "exp_avg_sq"}
            assert state[n]["step"] == (2 if count == 60 and n < 30 else 1)
            assert (state[n]["exp_avg"] == adam.state[params[n]]["exp_avg"]).all()
    monkeypatch.setattr(core, "lib", Counting())
    adam.state_dict()
    assert len(calls) < 10
    monkeypatch.undo()
    del adam.param_groups[0]["params"][1:]
    adam.zero_grad()
    assert list(adam.state_dict()["state"]) == [0]


def test_changes_of_groups_take_effect_at_the_next_step() -> None:
    p, q = nn.Parameter(ts.zeros(1)), nn.Parameter(ts.zeros(1))
    optimizer = optim.SGD([p], lr=1.0)
    p.grad, q.grad = ts.ones(1), ts.ones(1)
    group = optimizer.param_groups[0]
    group["lr"], group["initial_lr"] = 0.5, 1.0  # learning-rate schedules keep their values there
    optimizer.step()
    assert p.item() == -0.5
    group["params"].append(q)
    optimizer.step()
    assert p.item() == -1 and q.item() == -0.5
    del group["params"][0]
    optimizer.step()
    assert p.item() == -1 and q.item() == -1
    group["lr"] = -1
    with pytest.raises(ValueError, match="sgd: expected .* for lr, got -1"):
        optimizer.step()
    group["lr"] = "fast"
    with pytest.raises(TypeError):
        optimizer.step()
    assert optimizer.state_dict()["param_groups"][0]["initial_lr"] == 1.0


def test_parameters_that_change_their_group_keep_their_state() -> None:
    p, q = nn.Parameter(ts.zeros(1)), nn.Parameter(ts.zeros(1))
    optimizer = optim.SGD([{"params": [p]}, {"params": [q]}], lr=1.0, momentum=0.5)
    p.grad, q.grad = ts.ones(1), ts.ones(1)
    optimizer.step()
    optimizer.param_groups[0]["params"], optimizer.param_groups[1]["params"] = [], [q, p]
    optimizer.step()
    assert p.item() == q.item() == -2.5
    assert optimizer.state[p]["step"] == 2
    optimizer.param_groups.pop(0)
    optimizer.step()
    assert p.item() == q.item() == -4.25
    optimizer.param_groups.append({**optimizer.param_groups[0], "params": [p]})
    with pytest.raises(ValueError, match="once in all groups"):
        optimizer.step()


@pytest.mark.parametrize("name, options", CASES + NEWER, ids=[str(i) for i in range(len(CASES + NEWER))])
def test_files_continue_where_the_run_was(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    def run(optimizer: Any, p: ts.Tensor, steps: range) -> None:
        for i in steps:
            p.grad = ts.tensor([[np.sin(i), 0.5], [-1.0, np.cos(i)]], dtype=ts.float32)
            optimizer.step()

    p = nn.Parameter(ts.tensor([[1.0, -2.0], [0.5, 3.0]]))
    first = getattr(optim, name)([p], **{"lr": 0.1, **options})
    run(first, p, range(5))
    first.save(tmp_path / "state.safetensors")
    q, r = nn.Parameter(p.detach().clone()), nn.Parameter(p.detach().clone())
    second, third = getattr(optim, name)([q]), getattr(optim, name)([r])
    second.load(tmp_path / "state.safetensors")
    third.load_state_dict(first.state_dict())
    assert second.param_groups[0] == {**first.param_groups[0], "params": [q]}
    for optimizer, parameter in ((first, p), (second, q), (third, r)):
        run(optimizer, parameter, range(5, 10))
    assert p.tolist() == q.tolist() == r.tolist()


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    p = nn.Parameter(ts.ones(1))
    optim.SGD([p]).save(tmp_path / "state")
    adam = optim.Adam([p])
    with pytest.raises(ValueError, match="expected the state of adam, got that of sgd"):
        adam.load(tmp_path / "state")
    with pytest.raises(FileNotFoundError):
        adam.load(tmp_path / "none")
    with pytest.raises(ValueError):
        adam.load_state_dict({"state": {0: {"momentum_buffer": ts.ones(1)}}, "param_groups": [{"params": [0], "lr": 0.5}]})
    assert adam.param_groups[0]["lr"] == 1e-3


def test_files_may_nest_what_they_like(tmp_path: Path) -> None:
    adam = optim.Adam([nn.Parameter(ts.ones(1))])
    for depth, message in ((200_000, "expected the description"), (500, "got array")):
        deep = "[" * depth + "]" * depth
        for groups in (f"[{deep}]", f'[{{"params": 1, "options": {deep}}}]', f'[{{"params": 1, "options": {{"lr": {deep}}}}}]'):
            description = f'{{"format": 1, "kind": "adam", "groups": {groups}}}'
            ts.save_file({"x": ts.ones(1)}, tmp_path / "state", {"tessera.optimizer": description})
            with pytest.raises(ValueError, match=message):
                adam.load(tmp_path / "state")


class Falling(optim.Optimizer):
    """An optimizer written in Python."""

    def __init__(self, params: Any) -> None:
        super().__init__(params, {"lr": 1.0})

    def step(self, closure: Any = None) -> Any:
        with ts.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    self.state[p]["times"] = self.state[p].get("times", 0) + 1
                    p -= group["lr"]


def test_optimizers_written_in_python_have_groups_and_state() -> None:
    p, q = nn.Parameter(ts.zeros(1)), nn.Parameter(ts.zeros(1))
    optimizer = Falling([p])
    optimizer.step()
    assert p.item() == -1 and optimizer.state[p] == {"times": 1}
    other = Falling([q])
    other.load_state_dict(optimizer.state_dict())
    twin, copied = copy.deepcopy((p, optimizer))
    copied.step()
    assert other.state[q] == {"times": 1} and twin.item() == -2 and p.item() == -1
    with pytest.raises(NotImplementedError):
        optim.Optimizer([p], {}).step()


def train_once(net: nn.Module, optimizer: optim.Optimizer, x: ts.Tensor) -> None:
    optimizer.zero_grad()
    (net(x) ** 2).mean().backward()
    optimizer.step()


@pytest.mark.parametrize("name, options", CASES + NEWER, ids=[str(i) for i in range(len(CASES + NEWER))])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
def test_a_copy_of_a_model_with_its_optimizer_goes_on_as_the_original(
    name: str, options: dict[str, Any], copied: Callable[[Any], Any]
) -> None:
    net, x = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), ts.rand((5, 3))
    matrices = [p for p in net.parameters() if p.ndim == 2 or name != "Muon"]
    optimizer = getattr(optim, name)(matrices, **{"lr": 1e-2, **options})
    for _ in range(3):
        train_once(net, optimizer, x)
    twin, its_optimizer = copied((net, optimizer))
    assert set(its_optimizer.state) <= set(twin.parameters())
    for _ in range(3):
        train_once(net, optimizer, x)
        train_once(twin, its_optimizer, x)
    for p, q in zip(net.parameters(), twin.parameters()):
        assert p is not q and p.tolist() == q.tolist()
        assert len(optimizer.state[p]) == len(its_optimizer.state[q])


def test_state_is_found_by_the_parameter_object() -> None:
    p, q = nn.Parameter(ts.ones(2)), nn.Parameter(ts.ones(2))
    optimizer = optim.Adam([p, q])
    p.grad = ts.ones(2)
    optimizer.step()
    assert optimizer.state[p]["step"] == 1 and list(optimizer.state) == [p]
    assert optimizer.state[q] == {}


def test_a_new_parameter_never_has_the_state_of_one_that_is_gone() -> None:
    optimizer = optim.SGD([nn.Parameter(ts.ones(1))], lr=1.0, momentum=0.9)
    group = optimizer.param_groups[0]
    for _ in range(20):
        p = nn.Parameter(ts.zeros(2))
        p.grad = ts.ones(2)
        group["params"] = [p]
        optimizer.step()
        assert p.tolist() == [-1, -1]
        group["params"] = []
        del p
        gc.collect()


def test_closures_compute_the_loss() -> None:
    p = nn.Parameter(ts.tensor(3.0))
    optimizer = optim.SGD([p], lr=0.5)

    def closure() -> ts.Tensor:
        optimizer.zero_grad()
        loss = p * p
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    assert loss is not None and loss.item() == 9 and p.item() == 0


def test_a_loaded_state_reaches_parameters_that_are_new_in_a_group() -> None:
    p, q = nn.Parameter(ts.zeros(2)), nn.Parameter(ts.zeros(2))
    optimizer, other = optim.SGD([p], lr=1.0, momentum=0.5), optim.SGD([nn.Parameter(ts.zeros(2))], lr=0.1, momentum=0.5)
    p.grad, q.grad = ts.ones(2), ts.ones(2)
    optimizer.step()
    other.param_groups[0]["params"] = [q]
    other.load_state_dict(optimizer.state_dict())
    other.step()
    assert other.param_groups[0]["lr"] == 1.0
    assert q.tolist() == [-1.5, -1.5]


def test_sparse_adam_keeps_moments_of_gradients_with_permuted_strides() -> None:
    plain, turned = nn.Parameter(ts.zeros((3, 2, 4))), nn.Parameter(ts.zeros((3, 2, 4)))
    optimizers = optim.SparseAdam([plain], lr=0.1), optim.SparseAdam([turned], lr=0.1)
    for step in range(3):
        grad = ts.arange(24.0).reshape(3, 2, 4) - 9 * step
        plain.grad, turned.grad = grad, grad.permute(2, 0, 1).contiguous().permute(1, 2, 0)
        for optimizer in optimizers:
            optimizer.step()
    assert (optimizers[1].state[turned]["exp_avg"] == optimizers[0].state[plain]["exp_avg"]).all()
    assert turned.tolist() == plain.tolist()


def test_an_optimizer_written_in_python_refuses_a_parameter_twice() -> None:
    p, q = nn.Parameter(ts.zeros(1)), nn.Parameter(ts.zeros(1))
    with pytest.raises(ts.InvalidValueError, match="once in all groups, got one again at position 1"):
        Falling([p, p])
    optimizer = Falling([p])
    with pytest.raises(ts.InvalidValueError, match="once in all groups"):
        optimizer.add_param_group({"params": [q, p]})
    assert len(optimizer.param_groups) == 1


@pytest.mark.parametrize("make, kind", [
    (lambda p: optim.SGD([p], lr=-1), ValueError), (lambda p: optim.SGD([], lr=1), ValueError),
    (lambda p: optim.SGD(p, lr=1), TypeError), (lambda p: optim.SGD([3], lr=1), TypeError),
    (lambda p: optim.SGD([p * 2], lr=1), ValueError), (lambda p: optim.SGD([p, p], lr=1), ValueError),
    (lambda p: optim.SGD([p], lr=1, nesterov=True), ValueError), (lambda p: optim.Adam([p], betas=(1.0, 0.9)), ValueError),
])  # fmt: skip
def test_wrong_options_are_refused(make: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        make(nn.Parameter(ts.ones(1)))


def test_a_small_network_learns() -> None:
    ts.manual_seed(0)
    x = ts.linspace(-1, 1, 64).reshape(64, 1)
    net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = optim.Adam(net.parameters(), lr=0.02)
    for _ in range(300):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), x * x)
        loss.backward()
        optimizer.step()
    assert loss.item() < 1e-3


def test_training_steps_do_not_leak() -> None:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    x, y = ts.rand((16, 4)), ts.randint(0, 2, (16,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()

    step()
    handles, nodes = ts.memory.live_handles(), ts.memory.live_nodes()
    allocated = ts.memory.memory_allocated()
    for _ in range(200):
        step()
    assert ts.memory.live_handles() == handles and ts.memory.live_nodes() == nodes
    assert ts.memory.memory_allocated() == allocated


@pytest.mark.parametrize("kind", ["Adam", "AdamW", "NAdam"])
def test_steps_of_float32_are_those_of_float64_to_a_few_roundings(kind: str) -> None:
    results = []
    for dtype in (ts.float32, ts.float64):
        w = ts.tensor([[1.0, -2.0], [3.0, 0.5]], dtype=dtype).requires_grad_()
        optimizer = getattr(optim, kind)([w], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (((w - 0.3) ** 4).sum() + (w[0] * w[1]).sum()).backward()
            optimizer.step()
        results.append(w.detach().double().numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=0, atol=7e-7)


def test_a_state_that_is_written_counts_at_the_next_step() -> None:
    p = nn.Parameter(ts.ones(2))
    optimizer = optim.SGD([p], lr=1.0, momentum=0.5)
    p.grad = ts.ones(2)
    optimizer.step()
    optimizer.state[p]["momentum_buffer"] = ts.zeros(2)
    optimizer.step()
    assert p.tolist() == [-1.0, -1.0] and optimizer.state[p]["step"] == 2
    optimizer.state.clear()
    optimizer.step()
    assert p.tolist() == [-2.0, -2.0] and optimizer.state[p]["step"] == 1
    optimizer.state[p]["momentum_buffer"] = ts.zeros(3)
    with pytest.raises(ValueError, match="expected shape"):
        optimizer.step()
