# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch: what programs use around tensors and layers: hooks of all modules, warnings, streams, helpers of torch.utils."""

from __future__ import annotations

import gc
import hashlib
import warnings
import weakref
from pathlib import Path
from typing import Any

import pytest

import tessera as ts
import tessera.torch as torch
import tessera.torch.nn.functional as F
from tessera.torch import nn
from tessera.torch.nn.modules import module as hooks
from tessera.torch.utils import _pytree, benchmark


class Thing:
    pass


# ---- attributes of tensors ----


def test_a_tensor_takes_attributes() -> None:
    x = torch.ones(2)
    x.grad_scale = 3
    assert x.grad_scale == 3
    assert vars(x) == {"grad_scale": 3}
    del x.grad_scale
    assert not hasattr(x, "grad_scale")
    assert not hasattr(torch.ones(1), "grad_scale")
    with pytest.raises(AttributeError):
        ts.ones(1).grad_scale = 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("make", [lambda: torch.ones(2), lambda: nn.Parameter(torch.ones(2)), lambda: torch.ones(2)[0]])
def test_a_cycle_through_an_attribute_is_collected(make: Any) -> None:
    x, thing = make(), Thing()
    gone = weakref.ref(thing)
    x.thing, x.itself = thing, x
    del x, thing
    gc.collect()
    assert gone() is None


def test_attributes_end_with_the_tensor() -> None:
    x, thing = torch.ones(2), Thing()
    gone = weakref.ref(thing)
    x.thing = thing
    del thing
    assert gone() is not None
    del x
    assert gone() is None


# ---- the default dtype ----


def test_integers_become_floats_of_the_default_dtype() -> None:
    i = torch.arange(1, 4)
    torch.set_default_dtype(torch.float64)
    try:
        made = [i / 2, i.sqrt(), i * 0.5, i.softmax(0), torch.tensor([1.5]), torch.Tensor(2), torch.full((1,), 0.5)]
        assert {t.dtype for t in made} == {torch.float64}
        assert torch.tensor(1j).dtype is torch.complex128
        assert ts.get_default_dtype() is ts.float64
        assert torch.finfo().bits == 64
    finally:
        torch.set_default_dtype(torch.float32)
    assert (i / 2).dtype is torch.float32
    with pytest.raises(TypeError):
        torch.set_default_dtype(torch.int64)


# ---- modules ----


def test_hooks_of_all_modules() -> None:
    net, seen = nn.Sequential(nn.Linear(2, 1, bias=False), nn.ReLU()), []
    net[0].register_forward_hook(lambda *_: seen.append("own"))
    handles = [
        hooks.register_module_forward_pre_hook(lambda m, args: (args[0] * 2,) if isinstance(m, nn.Linear) else None),
        hooks.register_module_forward_hook(lambda m, args, result: seen.append(type(m).__name__)),
        hooks.register_module_full_backward_hook(lambda m, grads, outputs: seen.append(f"backward of {type(m).__name__}")),
        hooks.register_module_full_backward_pre_hook(lambda m, outputs: (outputs[0] * 3,) if isinstance(m, nn.Sequential) else None),
    ]
    net[0].weight.data.fill_(1)
    x = torch.ones(1, 2, requires_grad=True)
    y = net(x)
    y.sum().backward()
    assert y.item() == 4
    assert x.grad.tolist() == [[6.0, 6.0]]
    assert seen == [
        "Linear", "own", "ReLU", "Sequential", "backward of ReLU", "backward of Linear", "backward of Sequential",
    ]  # fmt: skip
    for handle in handles:
        handle.remove()
    seen.clear()
    assert net(x).item() == 2
    assert seen == ["own"]
    assert "__call__" not in vars(nn.Module)


def test_a_hook_of_all_modules_may_see_errors() -> None:
    class Broken(nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("broken")

    seen: list[Any] = []
    hook = hooks.register_module_forward_hook(lambda m, args, result: seen.append(result), always_call=True)
    with hook, pytest.raises(ValueError, match="broken"):
        Broken()(torch.ones(1))
    assert seen == [None]


def test_hooks_of_registrations() -> None:
    seen: list[tuple[str, str]] = []
    with (
        hooks.register_module_parameter_registration_hook(lambda m, name, p: seen.append(("parameter", name))),
        hooks.register_module_buffer_registration_hook(lambda m, name, b: b * 2),
        hooks.register_module_module_registration_hook(lambda m, name, child: seen.append(("module", name))),
    ):
        net = nn.Sequential(nn.Linear(1, 1))
        net.register_buffer("kept", torch.ones(1))
    assert seen == [("parameter", "weight"), ("parameter", "bias"), ("module", "0")]
    assert net.kept.item() == 2
    nn.Linear(1, 1)
    assert len(seen) == 3


@pytest.mark.parametrize("loss", [F.binary_cross_entropy, nn.BCELoss()])
def test_binary_cross_entropy_wants_probabilities(loss: Any) -> None:
    for wrong in (1.5, -0.1, float("nan")):
        with pytest.raises(RuntimeError, match="between 0 and 1"):
            loss(torch.tensor([0.5, wrong]), torch.ones(2))
    assert loss(torch.tensor([0.0, 1.0]), torch.tensor([0.0, 1.0])).item() == 0
    assert loss(torch.ones(0), torch.ones(0)).isnan()


# ---- schedulers ----


def test_a_schedule_before_the_first_step_warns() -> None:
    weights = [nn.Parameter(torch.ones(1))]
    optimizer = torch.optim.SGD(weights, lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match=r"lr_scheduler\.step\(\)` before `optimizer\.step"):
        schedule.step()
    optimizer = torch.optim.SGD(weights, lr=1.0)
    scheduler = torch.optim.lr_scheduler
    several = scheduler.SequentialLR(optimizer, [scheduler.LinearLR(optimizer), scheduler.StepLR(optimizer, 2)], milestones=[2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        for _ in range(3):
            several.step()


# ---- torch.cuda where there may be none ----


def test_what_programs_ask_of_cuda() -> None:
    cuda = torch.cuda
    assert cuda.device_count() == len(cuda.get_rng_state_all())
    if not cuda.is_available():
        state = torch.get_rng_state()
        cuda.manual_seed_all(1)
        cuda.set_rng_state(torch.get_rng_state() * 0)
        assert torch.equal(torch.get_rng_state(), state)
        assert cuda.max_memory_reserved() == 0
        with pytest.raises(Exception, match="cuda"):
            cuda.current_stream()
    with cuda.stream(None), cuda.device_of(torch.ones(1)):
        assert cuda.nvtx.range_push("outer") == 0
        assert cuda.nvtx.range_push("inner") == 1
        assert [cuda.nvtx.range_pop(), cuda.nvtx.range_pop(), cuda.nvtx.range_pop()] == [1, 0, -1]
    x = torch.ones(1)
    assert isinstance(x, torch.FloatTensor)
    assert not isinstance(x, cuda.FloatTensor)
    assert x.type("torch.DoubleTensor").dtype is torch.float64


def test_a_loader_pins_only_where_there_is_cuda() -> None:
    data = torch.utils.data.TensorDataset(torch.arange(4.0))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        batches = [batch for (batch,) in torch.utils.data.DataLoader(data, batch_size=2, pin_memory=True)]
    assert [batch.tolist() for batch in batches] == [[0, 1], [2, 3]]
    assert len(told) == (0 if torch.cuda.is_available() else 1)


# ---- torch.utils and torch.hub ----


def test_nested_values_map_to_nested_values() -> None:
    value = {"a": [1, (2, 3)], "b": 4}
    assert _pytree.tree_map(lambda n: n + 1, value) == {"a": [2, (3, 4)], "b": 5}
    leaves, spec = _pytree.tree_flatten(value)
    assert _pytree.tree_unflatten(leaves, spec) == value
    assert _pytree.tree_leaves(value, is_leaf=lambda v: isinstance(v, tuple)) == [1, (2, 3), 4]
    assert _pytree.tree_map_only(int, str, [1, 2.0]) == ["1", 2.0]


def test_a_timer_counts_what_it_runs() -> None:
    ran: list[int] = []
    measured = benchmark.Timer("ran.append(1)", globals={"ran": ran}, label="list").timeit(10)
    assert measured.number_per_run == 10
    assert len(ran) == 12  # two to get warm
    assert repr(measured).splitlines()[1] == "list"
    several = benchmark.Timer("1").blocked_autorange(min_run_time=0.001)
    assert several.median > 0


def test_files_by_their_addresses(tmp_path: Path) -> None:
    torch.save({"w": torch.ones(2)}, tmp_path / "source.pt")
    digest = hashlib.sha256((tmp_path / "source.pt").read_bytes()).hexdigest()
    name = f"model-{digest[:8]}.pt"
    (tmp_path / "source.pt").rename(tmp_path / name)
    before = torch.hub.get_dir()
    torch.hub.set_dir(tmp_path / "hub")
    try:
        for _ in range(2):  # the second one finds the file
            found = torch.hub.load_state_dict_from_url((tmp_path / name).as_uri(), check_hash=True)
            assert found["w"].tolist() == [1, 1]
        with pytest.raises(RuntimeError, match="invalid hash"):
            torch.hub.download_url_to_file((tmp_path / name).as_uri(), str(tmp_path / "other"), "0000")
        assert {path.name for path in tmp_path.iterdir()} == {name, "hub"}
    finally:
        torch.hub.set_dir(before)
    with pytest.raises(NotImplementedError, match="torch.hub.load"):
        torch.hub.load("a/b", "c")


# ---- states of modules ----


class Counted(nn.Module):
    """Has a state that is no tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.seen = nn.Linear(1, 1), 0

    def get_extra_state(self) -> Any:
        return {"seen": self.seen}

    def set_extra_state(self, state: Any) -> None:
        self.seen = state["seen"]


def test_states_that_are_no_tensors_are_saved() -> None:
    model, other = nn.Sequential(Counted()), nn.Sequential(Counted())
    model[0].seen = 3
    state = model.state_dict()
    assert sorted(state) == ["0._extra_state", "0.layer.bias", "0.layer.weight"]
    assert repr(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert other[0].seen == 3
    assert torch.equal(other[0].layer.weight, model[0].layer.weight)
    del state["0._extra_state"]
    with pytest.raises(RuntimeError, match="0._extra_state"):
        other.load_state_dict(state)
    assert other.load_state_dict(state, strict=False).missing_keys == ["0._extra_state"]


def test_hooks_of_states() -> None:
    model, order = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1)), []
    model.register_state_dict_pre_hook(lambda m, prefix, keep: order.append("before"))
    model[1].register_state_dict_post_hook(lambda m, state, prefix, meta: state.update({f"{prefix}new": state.pop(f"{prefix}bias")}))
    state = model.state_dict()
    assert list(state) == ["0.weight", "0.bias", "1.weight", "1.new"]
    assert order == ["before"]
    with pytest.raises(RuntimeError, match="1.new"):
        model.load_state_dict(state)

    def renamed(module: Any, state: Any, prefix: str, *_: Any) -> None:
        state[f"{prefix}bias"] = state.pop(f"{prefix}new")

    handle = model[1].register_load_state_dict_pre_hook(renamed)
    model.register_load_state_dict_post_hook(lambda m, keys: order.append(keys.missing_keys))
    model.load_state_dict(state)
    assert "1.new" in state  # the caller's dict stays as it is
    assert order == ["before", []]
    handle.remove()
    with pytest.raises(RuntimeError):
        model.load_state_dict(state)


def test_hooks_and_extra_states_of_a_shared_module_are_those_of_each_name() -> None:
    shared, prefixes = Counted(), []
    shared.register_state_dict_pre_hook(lambda m, prefix, keep: prefixes.append(prefix))
    model = nn.Sequential(shared, shared)
    shared.seen = 3
    state = model.state_dict()
    assert prefixes == ["0.", "1."]
    assert sorted(state) == [f"{i}.{name}" for i in (0, 1) for name in ("_extra_state", "layer.bias", "layer.weight")]
    for names in ("01", "0", "1"):
        shared.seen = 0
        model.load_state_dict({key: value for key, value in state.items() if key[0] in names})
        assert shared.seen == 3
    with pytest.raises(RuntimeError, match="1._extra_state"):
        model.load_state_dict({key: value for key, value in state.items() if "_extra" not in key})


# ---- functions ----


def test_factors_of_lapacks_form() -> None:
    a, b = torch.tensor([[1.0, 2], [3, 4], [5, 7]]), torch.arange(6.0).reshape(3, 2)
    packed, tau = torch.geqrf(a)
    q = torch.orgqr(packed, tau)
    assert torch.allclose(q @ packed.triu()[:2], a, atol=1e-5)
    whole = torch.ormqr(packed, tau, torch.eye(3))
    assert torch.allclose(whole.t() @ whole, torch.eye(3), atol=1e-5)
    assert torch.allclose(torch.ormqr(packed, tau, b, transpose=True), whole.t() @ b, atol=1e-5)
    assert torch.allclose(torch.ormqr(packed, tau, b.t(), left=False), b.t() @ whole, atol=1e-5)
    square = torch.stack([a[:2], a[1:]])
    p, lower, upper = torch.lu_unpack(*torch.linalg.lu_factor(square))
    assert torch.allclose(p @ lower @ upper, square)
    assert torch.lu_unpack(*torch.linalg.lu_factor(square), unpack_pivots=False).P.numel() == 0
    assert torch.allclose(square @ torch.lu_solve(torch.ones(2, 2, 1), *torch.linalg.lu_factor(square)), torch.ones(2, 2, 1), atol=1e-5)


def test_calls_that_pytorch_refuses() -> None:
    with pytest.raises(RuntimeError, match="at most 2"):
        torch.ones(1, 1, 1).t()
    with pytest.raises(RuntimeError, match="one dtype"):
        torch.allclose(torch.ones(1), torch.ones(1).double())
    assert torch.ones(0).median().isnan()
    assert torch.ones(2).view(dtype=torch.int32).tolist() == [1065353216] * 2
    assert torch.nonzero_static(torch.tensor([0, 1, 1]), size=3).tolist() == [[1], [2], [-1]]


def test_a_line_search_ends_with_the_evaluations_of_its_step() -> None:
    x, calls = nn.Parameter(torch.tensor([2.0, -3.0], dtype=torch.float64)), []
    optimizer = torch.optim.LBFGS([x], lr=0.5, max_iter=5, line_search_fn="strong_wolfe")

    def closure() -> Any:
        calls.append(1)
        optimizer.zero_grad()
        loss = (x.abs() * torch.tensor([1.0, 10.0])).sum() + (x**4).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert len(calls) <= 6 + 1
