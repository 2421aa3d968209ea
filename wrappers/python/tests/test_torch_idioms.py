# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch: what programs override, write to and hold on to, as they do with PyTorch."""

from __future__ import annotations

import copy
import inspect
import io
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera.torch as torch
from tessera import load_file
from tessera.torch import nn

# ---- modules that override a method ----


def test_train_of_a_child_is_called() -> None:
    class Frozen(nn.BatchNorm1d):
        def train(self, mode: bool = True) -> Any:
            return super().train(False)

    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(Frozen(2)), nn.Dropout()).train()
    assert [module.training for module in model.modules()] == [True, True, True, False, True]
    with pytest.raises(ValueError, match="bool"):
        model.train(1)  # type: ignore[arg-type]


def test_walks_give_every_name_where_a_program_asks_for_duplicates() -> None:
    inner = nn.BatchNorm1d(1)
    model = nn.Sequential(inner, inner)
    model.register_parameter("tied", inner.weight)
    assert [name for name, _ in model.named_modules(remove_duplicate=False)] == ["", "0", "1"]
    assert [name for name, _ in model.named_parameters(remove_duplicate=False)] == ["tied", "0.weight", "0.bias", "1.weight", "1.bias"]
    assert [name for name, _ in model.named_parameters("m")] == ["m.tied", "m.0.bias"]
    assert len(list(model.named_buffers(remove_duplicate=False))) == 6 and len(list(model.named_buffers())) == 3
    assert [name for name, _ in model.named_children()] == ["0"] and len(list(model.children())) == 1


@pytest.mark.parametrize(
    ("kind", "args"),
    [("LayerNorm", (3,)), ("RMSNorm", (3,)), ("GroupNorm", (1, 3)), ("BatchNorm2d", (3,)), ("PReLU", ())],
)
def test_a_layer_begins_with_its_own_reset(kind: str, args: Any) -> None:
    class Halved(getattr(nn, kind)):  # type: ignore[misc]
        def reset_parameters(self) -> None:
            super().reset_parameters()
            nn.init.constant_(self.weight, 0.5)

    layer = Halved(*args)
    assert layer.weight.unique().tolist() == [0.5]
    assert getattr(layer, "running_var", torch.ones(1)).unique().tolist() == [1.0]


@pytest.mark.parametrize(
    "text",
    [
        "SiLU(inplace=True)", "LeakyReLU(0.5, True)", "Dropout(0.5, True)", "Dropout1d(0.5, True)", "Dropout2d(0.5, True)",
        "Dropout3d(0.5, True)", "AlphaDropout(0.5, True)", "FeatureAlphaDropout(0.5, True)", "ReLU6(True)", "Hardswish(True)",
    ],
)  # fmt: skip
def test_a_layer_in_place_writes_into_its_input(text: str) -> None:
    layer = eval(f"nn.{text}")
    x = torch.randn(2, 3, 4, 4, 4) if "3d" in text else torch.randn(2, 3, 4) if "1d" in text else torch.randn(2, 3, 4, 4)
    before = x.clone()
    assert layer(x) is x and not torch.equal(x, before) and "inplace=True" in repr(layer)
    leaf = before.clone().requires_grad_()
    layer(leaf * 1).sum().backward()
    assert leaf.grad is not None
    layer.inplace = False
    again = before.clone()
    assert layer(again) is not again and torch.equal(again, before)


class _Renamed(nn.Linear):
    """Its state has another name for the weight since version 2."""

    _version = 2

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "kernel"] = destination.pop(prefix + "weight")

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *args: Any) -> None:
        if local_metadata.get("version") == 2:
            state_dict[prefix + "weight"] = state_dict.pop(prefix + "kernel")
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


@pytest.mark.parametrize("assign", [False, True])
def test_a_layer_saves_and_loads_in_its_own_way(tmp_path: Path, assign: bool) -> None:
    def made() -> Any:
        shared = nn.BatchNorm1d(2)
        return nn.Sequential(_Renamed(2, 2), shared, shared)

    model, other = made(), made()
    torch.save(model.state_dict(), tmp_path / "state")
    state = torch.load(tmp_path / "state")
    assert list(state)[:2] == ["0.bias", "0.kernel"] and state._metadata["0"] == {"version": 2}
    assert repr(other.load_state_dict(state, assign=assign)) == "<All keys matched successfully>"
    assert torch.equal(other[0].weight, model[0].weight) and "0.kernel" in state
    for key in [key for key in state if key.startswith("2.")]:
        del state[key]
    other.load_state_dict(state)
    state["0.more"] = state.pop("1.bias")
    keys = other.load_state_dict(state, strict=False)
    assert (keys.missing_keys, keys.unexpected_keys) == (["1.bias", "2.bias"], ["0.more"])
    with pytest.raises(RuntimeError, match='Missing key.* "1.bias", "2.bias"'):
        other.load_state_dict(state)
    with pytest.raises(RuntimeError, match="size mismatch for 0.weight"):
        other.load_state_dict({**model.state_dict(), "0.weight": torch.ones(3)}, strict=False)


def test_a_layer_converts_tensors_of_its_own() -> None:
    class Grid(nn.BatchNorm1d):
        def _apply(self, fn: Any, recurse: bool = True) -> Any:
            super()._apply(fn, recurse)
            self.grid = [fn(torch.ones(2))]
            return self

    model = nn.Sequential(nn.Linear(2, 2), Grid(2))
    weight = model[0].weight
    model.double()
    assert model[1].grid[0].dtype is model[1].running_mean.dtype is torch.float64 and model[0].weight is weight
    model.to(torch.float16)
    assert weight.dtype is model[1].running_mean.dtype is torch.float16
    assert model[1].num_batches_tracked.dtype is torch.int64
    nn.Linear(1, 1)._apply(lambda tensor: tensor.double()).double()


def test_a_convolution_takes_another_weight() -> None:
    class Standardized(nn.Conv2d):
        def forward(self, input: Any) -> Any:
            return self._conv_forward(input, self.weight - self.weight.mean(), None)

    class Doubled(nn.Conv2d):
        def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
            return super()._conv_forward(input, weight, bias) * 2

    x = torch.randn(1, 1, 5, 5)
    assert Standardized(1, 1, 3, padding=1, padding_mode="reflect")(x).shape == x.shape
    layer = Doubled(1, 2, 3)
    assert torch.equal(layer(x), nn.functional.conv2d(x, layer.weight, layer.bias) * 2)


# ---- objects that go through the library ----


class _Pair(tuple[Any, ...]):
    """A class of tuples that is none with names."""


def test_what_a_context_holds_is_the_object_itself() -> None:
    seen: list[Any] = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, calls: Any) -> Any:
            ctx.cache, ctx.size, ctx.kept = [], x.shape, {"x": [x]}
            ctx.cache.append(3)
            calls.append("forward")
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            seen.extend([ctx.cache, type(ctx.size), type(ctx.kept["x"][0])])
            return grad * 2, None

    calls: list[str] = []
    x = torch.ones(2, requires_grad=True)
    Double.apply(x, calls).sum().backward()
    assert seen == [[3], torch.Size, torch.Tensor] and calls == ["forward"]


def test_arguments_of_a_checkpoint_are_the_objects_themselves() -> None:
    calls: list[str] = []

    def part(x: Any, given: Any) -> Any:
        given.append("called")
        return x.exp()

    torch.utils.checkpoint.checkpoint(part, torch.ones(2, requires_grad=True), calls, use_reentrant=False).sum().backward()
    assert calls == ["called", "called"]


def test_a_batch_keeps_its_class() -> None:
    loader = torch.utils.data.DataLoader([1, 2], batch_size=2, collate_fn=lambda items: _Pair(items))
    assert type(next(iter(loader))) is _Pair


# ---- states of optimizers ----


def _stepped(kind: str = "Adam", **options: Any) -> Any:
    p = nn.Parameter(torch.ones(3))
    optimizer = getattr(torch.optim, kind)([p], lr=0.1, **options)
    _step(optimizer, p)
    return p, optimizer


def _step(optimizer: Any, p: Any) -> None:
    p.grad = torch.tensor([1.0, 2.0, 3.0])
    optimizer.step()


def test_states_have_pytorchs_names_and_kinds() -> None:
    p, adam = _stepped()
    step = adam.state[p]["step"]
    assert sorted(adam.state[p]) == ["exp_avg", "exp_avg_sq", "step"]
    assert all(isinstance(value, torch.Tensor) for value in adam.state[p].values())
    assert step.dtype is torch.float32 and step.shape == () and step == 1
    p, sgd = _stepped("SGD", momentum=0.9)
    assert list(sgd.state[p]) == ["momentum_buffer"] and list(sgd.state_dict()["state"][0]) == ["momentum_buffer"]
    p, sgd = _stepped("SGD")
    assert sgd.state == {} and sgd.state_dict()["state"] == {}


def test_states_of_files_of_pytorch_are_loaded() -> None:
    one = {"exp_avg": torch.ones(3), "exp_avg_sq": torch.ones(3)}
    for kind, options, entry in [
        ("Adam", {}, {"step": torch.tensor(3.0), **one}),
        ("SGD", {"momentum": 0.9}, {"momentum_buffer": torch.ones(3)}),
        ("SGD", {}, {"momentum_buffer": None}),
        ("ASGD", {}, {"step": torch.tensor(3.0), "eta": torch.tensor(0.1), "mu": torch.tensor(1.0), "ax": torch.ones(3)}),
    ]:
        p, optimizer = _stepped(kind, **options)
        optimizer.load_state_dict({**optimizer.state_dict(), "state": {0: entry}})
        found = optimizer.state[p]
        assert {name: value.tolist() for name, value in found.items() if name not in ("eta", "mu")} == {
            name: value.tolist() for name, value in entry.items() if value is not None and name not in ("eta", "mu")
        }


def test_a_state_that_is_written_counts_at_the_next_step() -> None:
    p, adam = _stepped()
    q, other = _stepped()
    state = adam.state
    for optimizer, parameter in ((adam, p), (other, q)):
        entry = optimizer.state[parameter]
        entry["exp_avg"], entry["exp_avg_sq"] = torch.zeros(3), torch.zeros(3)
        entry["mine"] = 1
    adam.state[p]["step"] += 4
    other.load_state_dict({**other.state_dict(), "state": {0: {**adam.state_dict()["state"][0]}}})
    for _ in range(2):
        _step(adam, p)
        _step(other, q)
    assert p.tolist() == q.tolist() and state is adam.state and state[p]["step"] == 7 and other.state[q]["step"] == 7
    assert adam.state[p]["mine"] == other.state[q]["mine"] == adam.state_dict()["state"][0]["mine"] == 1
    again = copy.deepcopy(adam)
    assert [entry["mine"] for entry in again.state.values()] == [1]


@pytest.mark.parametrize("forget", [lambda o, p: o.state.clear(), lambda o, p: o.state.pop(p), lambda o, p: setattr(o, "state", {})])
def test_a_state_that_is_removed_begins_anew(forget: Any) -> None:
    p, adam = _stepped()
    forget(adam, p)
    assert len(adam.state) == 0 and adam.state_dict()["state"] == {}
    _step(adam, p)
    q, fresh = _stepped()
    assert adam.state[p]["step"] == 1 and torch.equal(adam.state[p]["exp_avg"], fresh.state[q]["exp_avg"])


def test_a_state_that_is_set_to_its_beginning_begins_anew() -> None:
    p, adam = _stepped()
    adam.state[p].update(step=0, exp_avg=torch.zeros(3), exp_avg_sq=torch.zeros(3))
    _step(adam, p)
    assert adam.state[p]["step"] == 1


def test_a_parameter_that_replaces_another_takes_its_state() -> None:
    p, adam = _stepped()
    kept = adam.state.get(p)
    for name in ("exp_avg", "exp_avg_sq"):
        kept[name] = torch.cat([kept[name], torch.zeros(2)])
    del adam.state[p]
    q = adam.param_groups[0]["params"][0] = nn.Parameter(torch.cat([p.detach(), torch.ones(2)]))
    adam.state[q] = kept
    q.grad = torch.ones(5)
    adam.step()
    assert list(adam.state) == [q] and adam.state[q]["step"] == 2 and adam.state[q]["exp_avg"].shape == (5,)
    assert adam.state[q]["exp_avg"].tolist() == pytest.approx([0.19, 0.28, 0.37, 0.1, 0.1])


def test_a_hook_after_gradients_gets_the_parameter_itself() -> None:
    model = nn.Linear(2, 1)
    seen = dict.fromkeys(model.parameters(), 0)

    def count(parameter: Any) -> None:
        seen[parameter] += 1

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(count)
    model(torch.ones(1, 2)).sum().backward()
    assert list(seen.values()) == [1, 1]


# ---- files ----


@pytest.mark.parametrize(("kind", "bit", "expected"), [("ComplexFloat", "conj", [1 - 2j, 3 + 1j]), ("Float", "neg", [-1.0, -2.0])])
def test_files_of_pytorch_say_what_is_conjugate_or_negative(kind: str, bit: str, expected: Any) -> None:
    text = (
        f"ctorch._utils\n_rebuild_tensor_v2\n((S'storage'\nctorch\n{kind}Storage\nS'0'\nS'cpu'\nK\x02tQK\x00K\x02\x85K\x01\x85I00\n"
        f"ccollections\nOrderedDict\n)R}}S'{bit}'\nI01\nstR."
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + text.encode("latin1"))
        numbers = np.array([1 + 2j, 3 - 1j], np.complex64) if bit == "conj" else np.array([1, 2], np.float32)
        archive.writestr("archive/data/0", numbers.tobytes())
    file.seek(0)
    assert torch.load(file).tolist() == expected


def test_saved_parameters_and_tied_tensors_come_back_as_such(tmp_path: Path) -> None:
    weight, frozen = nn.Parameter(torch.ones(2, 3)), nn.Parameter(torch.zeros(1), requires_grad=False)
    leaf = torch.ones(1, requires_grad=True)
    torch.save({"a": weight, "b": [weight, frozen], "c": weight.detach(), "d": weight.detach().t(), "leaf": leaf}, tmp_path / "saved")
    assert sorted(load_file(tmp_path / "saved")) == ["a", "b.0", "b.1", "c", "d", "leaf"]
    found = torch.load(tmp_path / "saved")
    assert [type(t) for t in (found["a"], *found["b"], found["c"], found["leaf"])] == [nn.Parameter] * 3 + [torch.Tensor] * 2
    assert [t.requires_grad for t in (found["a"], *found["b"], found["c"], found["leaf"])] == [True, True, False, False, True]
    found["c"].fill_(5)
    assert found["a"][0, 0] == 5 and found["b"][0][1, 2] == 5 and found["d"][0, 0] == 1


# ---- generators ----


def test_a_generator_tells_its_seed_and_goes_to_workers() -> None:
    made = torch.Generator().manual_seed(1234)
    assert made.initial_seed() == 1234 and repr(made) == "Generator(seed=1234, offset=0)"
    loader = torch.utils.data.DataLoader(range(4), shuffle=True, num_workers=1, generator=made)
    assert sorted(batch.item() for batch in loader) == [0, 1, 2, 3]
    again = pickle.loads(pickle.dumps(made))
    assert torch.equal(torch.rand(2, generator=made), torch.rand(2, generator=again))


def test_the_default_generator_is_one_of_torch() -> None:
    assert torch.manual_seed(7) is torch.default_generator and isinstance(torch.default_generator, torch.Generator)
    state = torch.default_generator.get_state()
    assert torch.equal(state, torch.get_rng_state()) and torch.initial_seed() == 7
    first = torch.rand(2)
    torch.default_generator.set_state(state)
    assert torch.equal(torch.rand(2), first)


def test_a_method_of_a_data_set_with_any_name_is_the_programs_own() -> None:
    class Squares(torch.utils.data.Dataset):  # type: ignore[type-arg]
        def __getitem__(self, index: int) -> int:
            return index**2

        def __len__(self) -> int:
            return 3

        def _batch(self, indices: Any) -> Any:
            raise AssertionError

    class Doubled(torch.utils.data.TensorDataset):
        def __getitem__(self, index: Any) -> Any:
            return {"x": self.tensors[0][index] * 2}

    assert [batch.tolist() for batch in torch.utils.data.DataLoader(Squares(), batch_size=3)] == [[0, 1, 4]]
    assert [batch["x"].tolist() for batch in torch.utils.data.DataLoader(Doubled(torch.ones(2)), batch_size=2)] == [[2, 2]]


# ---- gradients ----


def test_zeros_stand_for_unused_inputs_of_any_iterable() -> None:
    x, y = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    found = torch.autograd.grad((x * 2).sum(), iter([x, y]), materialize_grads=True)
    assert [grad.tolist() for grad in found] == [[2, 2], [0, 0, 0]]


def test_filling_with_a_tensor_keeps_its_gradient() -> None:
    x, value = torch.ones(2, 3, requires_grad=True), torch.tensor(4.0, requires_grad=True)
    y = x * 1
    y[0].fill_(value)
    (y * 2).sum().backward()
    assert value.grad.item() == 6 and x.grad.tolist() == [[0, 0, 0], [2, 2, 2]]
    torch.fill(x, value).sum().backward()
    assert value.grad.item() == 12 and torch.fill(x, value).tolist() == [[4, 4, 4], [4, 4, 4]]
    assert torch.ones(2, dtype=torch.int64).fill_(torch.tensor(1.7)).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="without axes"):
        torch.ones(2).fill_(torch.ones(1))


def test_a_deep_copy_of_a_parameter_has_no_gradient() -> None:
    model = nn.Linear(2, 1)
    model(torch.ones(1, 2)).sum().backward()
    twin = copy.deepcopy(model)
    assert all(p.grad is None for p in twin.parameters()) and all(p.grad is not None for p in model.parameters())


# ---- devices ----


def test_a_device_is_named_in_each_of_pytorchs_ways() -> None:
    cpu, second = torch.device("cpu"), torch.device("cuda", 1)
    assert torch.device(cpu) == torch.device(type="cpu") == torch.device(device="cpu") == cpu
    assert torch.device(1) == torch.device(type="cuda", index=1) == torch.device(second) == second
    for kind, call in [
        (TypeError, lambda: torch.device(1.5)),
        (TypeError, lambda: torch.device(True)),
        (TypeError, lambda: torch.device(second, 1)),
        (TypeError, lambda: torch.device()),
        (RuntimeError, lambda: torch.device("cuda", -1)),
    ]:
        with pytest.raises(kind):
            call()


# ---- distributions ----


def test_distributions_are_of_their_bases() -> None:
    kinds = torch.distributions
    normal = kinds.Normal(torch.zeros(2), torch.ones(2))
    assert isinstance(normal, kinds.Distribution) and isinstance(normal, kinds.ExponentialFamily)
    assert issubclass(kinds.Categorical, kinds.Distribution) and not isinstance(normal, kinds.Categorical)
    assert isinstance(kinds.LogNormal(0.0, 1.0), kinds.TransformedDistribution)
    assert isinstance(kinds.LogNormal(0.0, 1.0).base_dist, kinds.Normal)

    class Mine(kinds.Normal):  # type: ignore[misc]
        pass

    assert isinstance(Mine(0.0, 1.0), kinds.Distribution) and issubclass(Mine, kinds.Normal)
    assert not isinstance(normal, Mine) and not isinstance(1, kinds.Distribution)
    assert kinds.kl_divergence(Mine(0.0, 1.0), kinds.Normal(0.0, 1.0)).item() == 0
    assert not issubclass(kinds.Cauchy, kinds.ExponentialFamily) and issubclass(kinds.Chi2, kinds.ExponentialFamily)

    @kinds.register_kl(Mine, kinds.Distribution)
    def apart(p: Any, q: Any) -> Any:
        return q.mean * 0 + 7

    assert kinds.kl_divergence(Mine(0.0, 1.0), kinds.Cauchy(0.0, 1.0).expand((2,))).shape == (2,)


# ---- imports ----

IMPORTS = """
import torch, torch.utils.data
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.data.dataloader import DataLoader
from torch.optim.optimizer import Optimizer
from torch.distributions.normal import Normal
import torch.distributed.fsdp.wrap
found = []
for name in ("utils.tensorboard", "utils.nonsense", "nn.modules.nonsense", "optim.sgd2", "nn.functional.relu"):
    try:
        __import__("torch." + name)
        found.append(name)
    except ModuleNotFoundError:
        pass
print(found)
"""


def test_modules_that_pytorch_lacks_or_that_are_not_here_are_not_found(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(IMPORTS)
    done = subprocess.run([sys.executable, "-m", "tessera.torch", str(script)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


# ---- small calls ----


def test_a_module_becomes_a_type_of_tensors() -> None:
    for kind in (torch.DoubleTensor, "torch.DoubleTensor", torch.float64):
        assert nn.Linear(1, 1).type(kind).weight.dtype is torch.float64


def test_a_layer_shows_its_arguments() -> None:
    assert [*inspect.signature(nn.Linear).parameters] == ["in_features", "out_features", "bias", "dtype", "device"]
    assert [*inspect.signature(nn.Dropout).parameters] == ["p", "inplace", "device", "dtype"]
    for name in nn.__all__:
        if isinstance(kind := getattr(nn, name), type):
            inspect.signature(kind)

    class Mine(nn.Linear):
        def __init__(self, width: int) -> None:
            super().__init__(width, width)

    assert [*inspect.signature(Mine).parameters] == ["width"]


def test_a_module_takes_its_state_back() -> None:
    class Counted(nn.Linear):
        def __setstate__(self, state: Any) -> None:
            super().__setstate__(state)
            self.loaded = True

    assert pickle.loads(pickle.dumps(nn.Linear(1, 1))).weight.shape == (1, 1)
    assert copy.deepcopy(Counted(1, 1)).loaded
    handle = nn.Linear(1, 1).register_forward_hook(lambda *_: None)
    assert isinstance(handle.id, int)


def test_a_bound_without_axes_counts_as_a_number_beside_one() -> None:
    x = torch.arange(4.0)
    assert x.clamp(min=1.0, max=torch.tensor(2.0)).tolist() == x.clone().clamp_(torch.tensor(1), 2.0).tolist() == [1, 1, 2, 2]


def test_bounds_of_draws_are_named() -> None:
    x = torch.ones(5)
    assert x.random_(to=1).tolist() == [0] * 5 and x.random_(3, 4).tolist() == [3] * 5 and x.random_(1).tolist() == [0] * 5
    assert x.random_(**{"from": 5, "to": 6}).tolist() == [5] * 5 and x.random_().max() >= 0
    assert 2 <= x.uniform_(to=3.0, **{"from": 2.0}).min() and x.max() < 3 and x.uniform_(1.0).tolist() == [1] * 5
    for wrong in ({"low": 1}, {"from": 1}):
        with pytest.raises(TypeError):
            x.uniform_(0.0, 1.0, **wrong)


def test_the_transpose_of_any_tensor_reverses_its_axes() -> None:
    with pytest.warns(UserWarning, match="deprecated"):
        assert torch.ones(2, 3, 4).T.shape == (4, 3, 2) and torch.ones(2).T.shape == (2,)
    assert torch.ones(2, 3).T.shape == (3, 2)
