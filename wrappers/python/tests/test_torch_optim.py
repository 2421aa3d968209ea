# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Optimizers that programs write on torch.optim.Optimizer, and their hooks; the expected values are PyTorch 2.15's."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest

import tessera.torch as torch
from tessera.torch import nn, optim
from tessera.torch.optim import optimizer as base

close = pytest.approx


class Momentum(optim.Optimizer):
    """SGD with momentum, as programs write it."""

    def __init__(self, params: Any, lr: Any = base.required, momentum: float = 0.9) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum})

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("extra", 1)

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["buf"], state["step"] = torch.zeros_like(p), 0
                state["step"] += 1
                state["buf"].mul_(group["momentum"]).add_(p.grad)
                p.add_(state["buf"], alpha=-group["lr"])
        return loss


class Counting(optim.SGD):
    """A class of torch.optim with more state."""

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        loss = super().step(closure)
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["n"] = self.state[p].get("n", 0) + 1
        return loss


def parameter(*values: float) -> Any:
    return nn.Parameter(torch.tensor([float(value) for value in values]))


def steps(optimizer: Any, *params: Any, count: int = 1) -> None:
    for _ in range(count):
        optimizer.zero_grad()
        sum((p**2).sum() for p in params).backward()
        optimizer.step()


def test_an_optimizer_of_ones_own_steps_with_hooks_groups_and_a_schedule() -> None:
    w, v = parameter(1, 2), parameter(3)
    seen: list[Any] = []
    optimizer = Momentum([w], lr=0.1)
    optimizer.add_param_group({"params": [v], "lr": 0.01})
    optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(("pre", args == (o,), kwargs)))
    last = optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("post"))
    everywhere = base.register_optimizer_step_pre_hook(lambda o, args, kwargs: seen.append(type(o).__name__))
    schedule = optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(3):
            steps(optimizer, w, v)
            schedule.step()
            if i == 1:
                last.remove()
    everywhere.remove()
    first = ["Momentum", ("pre", True, {})]
    assert seen == [*first, "post", *first, "post", *first]
    assert w.tolist() == close([0.522, 1.044]) and v.tolist() == close([2.843802])
    assert optimizer.state_dict()["state"][0]["buf"].tolist() == close([4.32, 8.64])
    assert optimizer.step(lambda: (w**2).sum()).item() == close(0.522**2 + 1.044**2)


def test_hooks_of_a_step_may_replace_its_arguments() -> None:
    w = parameter(1)
    w.grad = torch.ones(1)
    optimizer = Momentum([w], lr=0.1)
    handle = optimizer.register_step_pre_hook(lambda o, args, kwargs: (args, {"closure": lambda: 7}))
    assert optimizer.step() == 7
    handle.remove()
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError, match="tuple"):
        optimizer.step()
    assert not optimizer._in_step


def test_the_state_of_an_optimizer_of_ones_own_goes_to_a_file_and_back() -> None:
    w, v = parameter(1, 2), parameter(3)
    optimizer = Momentum([{"params": [w]}, {"params": [v], "lr": 0.01}], lr=0.1)
    steps(optimizer, w, v)
    optimizer.state["seen"] = 5
    called: list[str] = []
    optimizer.register_state_dict_pre_hook(lambda o: called.append("first"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "tag": 1})
    saved = optimizer.state_dict()
    assert saved["tag"] == 1 and saved["state"]["seen"] == 5
    a, b = nn.Parameter(w.detach().double()), parameter(0)
    other = Momentum([{"params": [a]}, {"params": [b]}], lr=9)
    other.register_load_state_dict_pre_hook(lambda o, state: called.append("load"))
    other.register_load_state_dict_pre_hook(lambda o, state: called.append("before"), prepend=True)
    other.register_load_state_dict_post_hook(lambda o: called.append("loaded"))
    other.load_state_dict(saved)
    assert called == ["first", "before", "load", "loaded"]
    assert other.state[a]["buf"].dtype is torch.float64 and other.state[a]["step"] == 1 and other.state["seen"] == 5
    assert [group["lr"] for group in other.param_groups] == [0.1, 0.01] and other.param_groups[0]["extra"] == 1
    other.state[a]["buf"].zero_()
    assert saved["state"][0]["buf"].tolist() == [2, 4]
    for made in (copy.deepcopy(other), pickle.loads(pickle.dumps(Momentum([w], lr=1)))):
        assert isinstance(made, Momentum) and made.param_groups[0]["extra"] == 1


def test_wrong_groups_are_refused_as_in_pytorch() -> None:
    w = parameter(1)
    optimizer = Momentum([w], lr=1)
    for kind, call in [
        (ValueError, lambda: Momentum([w])),  # without a rate
        (ValueError, lambda: Momentum([w * 2], lr=1)),
        (ValueError, lambda: Momentum([], lr=1)),
        (TypeError, lambda: Momentum(w, lr=1)),
        (TypeError, lambda: Momentum([{"params": {w}}], lr=1)),
        (ValueError, lambda: optimizer.add_param_group({"params": [w]})),
        (TypeError, lambda: optimizer.add_param_group(3)),
        (NotImplementedError, lambda: optim.Optimizer([w], {}).step()),
    ]:
        with pytest.raises(kind):
            call()
    with pytest.warns(UserWarning, match="duplicate"):
        Momentum([w, w], lr=1)
    assert optim.SGD(nn.Linear(2, 1).named_parameters(), lr=1).param_groups[0]["param_names"] == ["weight", "bias"]


def test_a_class_of_torch_optim_with_a_step_of_ones_own_keeps_its_state() -> None:
    w = parameter(0.522, 1.044)
    optimizer = Counting([w], lr=0.1, momentum=0.9)
    seen: list[int] = []
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(1))
    steps(optimizer, w, count=2)
    assert seen == [1, 1]  # not a second time for the step() of SGD
    assert w.tolist() == close([0.24012, 0.48024]) and optimizer.state[w]["n"] == 2
    other_w = nn.Parameter(w.detach().clone())
    other = Counting([other_w], lr=0.1, momentum=0.9)
    other.load_state_dict(optimizer.state_dict())
    steps(other, other_w)
    assert other_w.tolist() == close([0.032364, 0.064728], rel=1e-4) and other.state[other_w]["n"] == 3
    copied = copy.deepcopy(other)
    assert [entry["n"] for entry in copied.state.values()] == [3]


def test_an_adam_with_another_step_and_other_states() -> None:
    class Own(optim.Adam):
        @torch.no_grad()
        def step(self) -> None:  # type: ignore[override]
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    if not state:
                        state["m"], state["step"] = torch.zeros_like(p), torch.tensor(0.0)
                    state["m"].lerp_(p.grad, 1 - group["betas"][0])
                    p.sub_(state["m"] * group["lr"])

    w = parameter(0.24012, 0.48024)
    optimizer = Own([w], lr=0.1)
    steps(optimizer, w, count=2)
    assert w.tolist() == close([0.226289, 0.452578], rel=1e-4)
    other = Own([w], lr=0.1)
    other.load_state_dict(optimizer.state_dict())
    assert sorted(other.state[w]) == ["m", "step"]


def test_every_optimizer_is_one_of_torch_optim_and_shows_its_steps_in_profiles() -> None:
    w = parameter(1)
    for name in optim.__all__:
        cls = getattr(optim, name)
        assert issubclass(cls, optim.Optimizer), name
    w.grad = torch.ones(1)
    optimizer = optim.SGD([w], lr=0.1)
    with torch.autograd.profiler.profile() as recorded:
        optimizer.step()
    assert "Optimizer.step#SGD.step" in recorded.table()


# ---- optimizers of torch.optim, their groups and states ----


def test_defaults_and_groups_have_pytorchs_options_and_whole_numbers() -> None:
    optimizer = optim.SGD([{"params": [parameter(1)]}, {"params": [parameter(2)], "lr": 0.5}], foreach=True)
    assert optimizer.defaults == {
        "lr": 0.001, "momentum": 0, "dampening": 0, "weight_decay": 0, "nesterov": False, "maximize": False, "foreach": True,
        "differentiable": False, "fused": None,
    }  # fmt: skip
    assert [group["foreach"] for group in optimizer.param_groups] == [True, True]
    group = "    dampening: 0\n    differentiable: False\n    foreach: True\n    fused: None\n    lr: {}\n    maximize: False\n"
    group += "    momentum: 0\n    nesterov: False\n    weight_decay: 0\n"
    text = f"SGD (\nParameter Group 0\n{group.format(0.001)}\nParameter Group 1\n{group.format(0.5)})"
    assert repr(optimizer) == text
    assert repr(optim.Rprop([parameter(1)])).endswith("step_sizes: (1e-06, 50)\n)")
    assert optim.SGD([parameter(1)], 0.1, 0.9).defaults["momentum"] == 0.9
    assert optim.Muon([nn.Parameter(torch.ones(2, 2))]).defaults["ns_coefficients"] == (3.4445, -4.775, 2.0315)


def test_an_optimizer_with_pytorchs_options_is_saved_and_copied(tmp_path: Any) -> None:
    w = parameter(1, 2)
    optimizer = optim.Adam([w], lr=0.1, foreach=True)
    steps(optimizer, w)
    optimizer.save(tmp_path / "state.safetensors")
    other = optim.Adam([w], lr=0.2)
    other.load(tmp_path / "state.safetensors")
    assert other.param_groups[0]["lr"] == 0.1 and other.state[w]["step"].item() == 1
    assert copy.deepcopy(optimizer).defaults == optimizer.defaults


def test_names_of_parameters_belong_to_all_groups_or_none() -> None:
    with pytest.raises(ValueError, match="param_names"):
        optim.SGD([{"params": [parameter(1)]}, {"params": [("weight", parameter(2))]}], lr=0.1)
    named = optim.SGD([("first", parameter(1))], lr=0.1)
    with pytest.raises(ValueError, match="param_names"):
        named.add_param_group({"params": [parameter(2)]})
    named.add_param_group({"params": [("second", parameter(2))]})
    assert [group["param_names"] for group in named.param_groups] == [["first"], ["second"]]


def test_a_set_of_parameters_is_warned_of() -> None:
    with pytest.warns(FutureWarning, match="ordered"):
        optim.SGD({parameter(1), parameter(2)}, lr=0.1)


def test_the_state_of_asgd_has_pytorchs_names() -> None:
    w = parameter(1, 2)
    optimizer = optim.ASGD([w], lr=0.1, lambd=0.5, t0=1)
    steps(optimizer, w, count=3)
    entry = optimizer.state_dict()["state"][0]
    assert list(entry) == ["step", "eta", "mu", "ax"]
    assert entry["eta"].item() == close(0.1 / 1.15**0.75) and entry["mu"].item() == 0.5
    again = parameter(*w.tolist())
    loaded = optim.ASGD([again], lr=0.1, lambd=0.5, t0=1)
    loaded.load_state_dict(optimizer.state_dict())
    steps(optimizer, w)
    steps(loaded, again)
    assert again.tolist() == w.tolist() and loaded.state[again]["ax"].tolist() == optimizer.state[w]["ax"].tolist()


def test_states_of_adafactor_are_pytorchs_tensors() -> None:
    w = nn.Parameter(torch.ones(2, 3))
    optimizer = optim.Adafactor([w])
    steps(optimizer, w)
    assert {name: type(value) for name, value in optimizer.state[w].items()} == dict.fromkeys(
        ["step", "row_var", "col_var"], torch.Tensor
    )


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_goes_up_where_it_maximizes(search: Any) -> None:
    w, v = parameter(1, 2), parameter(1, 2)
    up, down = optim.LBFGS([w], line_search_fn=search, maximize=True), optim.LBFGS([v], line_search_fn=search)
    assert up.param_groups[0]["maximize"] and not down.param_groups[0]["maximize"]

    def closure(optimizer: Any, p: Any, sign: float) -> Any:
        optimizer.zero_grad()
        loss = sign * ((p - 3) ** 2).sum()
        loss.backward()
        return loss

    assert up.step(lambda: closure(up, w, -1)).item() == -5.0
    down.step(lambda: closure(down, v, 1))
    assert w.tolist() == close([3.0, 3.0], abs=1e-3) and w.tolist() == close(v.tolist(), abs=1e-6)


def test_an_adamw_is_an_adam_and_steps_as_itself() -> None:
    class Mine(optim.AdamW):
        pass

    steps = {}
    for kind in (optim.Adam, optim.AdamW, Mine):
        w = parameter(1, 1)
        w.grad = torch.ones_like(w)
        made = kind([w], lr=0.1, weight_decay=0.5)
        made.step()
        steps[kind] = w.tolist()
        assert isinstance(made, optim.Adam) and isinstance(made, optim.Optimizer)
    assert steps[optim.Adam] == close([0.9, 0.9]) and steps[optim.AdamW] == steps[Mine] == close([0.85, 0.85])
    assert issubclass(Mine, optim.Adam) and not issubclass(optim.SGD, optim.Adam) and not issubclass(optim.Adam, optim.AdamW)
