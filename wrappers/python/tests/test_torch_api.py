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
    with hooks.register_module_forward_hook(lambda m, args, result: seen.append(result), always_call=True):
        with pytest.raises(ValueError, match="broken"):
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
