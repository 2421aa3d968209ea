# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch: what packages that are written in PyTorch call beside its documented interface."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from collections import OrderedDict, defaultdict
from pathlib import Path
from typing import Any

import pytest

import tessera as ts
import tessera.torch as torch
from tessera.torch import nn

# ---- custom functions ----


class _Scaled(torch.autograd.Function):
    """The factor is a method of the class, which those that derive from it replace."""

    @classmethod
    def factor(cls) -> float:
        return 2.0

    @classmethod
    def forward(cls, ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * cls.factor()

    @classmethod
    @torch.autograd.function.once_differentiable
    def backward(cls, ctx: Any, grad: Any) -> Any:
        return grad * cls.factor() * ctx.saved_tensors[0]


class _Tripled(_Scaled):
    @classmethod
    def factor(cls) -> float:
        return 3.0


@pytest.mark.parametrize(("function", "factor"), [(_Scaled, 2), (_Tripled, 3)])
def test_class_methods_of_a_custom_function_know_their_class(function: Any, factor: int) -> None:
    x = torch.tensor([5.0], requires_grad=True)
    y = function.apply(x)
    (grad,) = torch.autograd.grad(y, x, create_graph=True)
    assert (y.tolist(), grad.tolist()) == ([5 * factor], [5 * factor])
    with pytest.raises(RuntimeError):  # once differentiable
        grad.sum().backward()


# ---- containers ----


def test_a_list_of_parameters_holds_anything() -> None:
    inner = nn.ParameterList([torch.ones(1)])
    held = nn.ParameterList([torch.ones(2), inner, 5, None])
    assert [name for name, _ in held.named_parameters()] == ["0", "1.0"]
    assert held[1] is inner and held[2] == 5 and held[-1] is None and len(held) == 4 and isinstance(held[0], nn.Parameter)
    held += [torch.zeros(3)]
    held[-1] = torch.ones(3)
    assert held.append("text") is held and held[4].tolist() == [1, 1, 1] and len(held[1:3]) == 2 and held[1:3][0] is inner
    assert list(nn.ParameterList([torch.ones(1), torch.ones(2)]).state_dict()) == ["0", "1"]
    assert repr(nn.ParameterList([torch.ones(2, 3), 5])) == (
        "ParameterList(\n    (0): Parameter containing: [torch.float32 of size 2x3]\n    (1): Object of type: int\n)"
    )
    twin = pickle.loads(pickle.dumps(copy.deepcopy(held)))
    assert len(twin) == 6 and twin[5] == "text" and twin[1][0].tolist() == [1]
    with pytest.raises(IndexError, match="index 6 is out of range for 6"):
        held[6]
    with pytest.raises(TypeError, match="expected an iterable, got int"):
        held.extend(5)


def test_a_dict_of_parameters_holds_anything() -> None:
    held = nn.ParameterDict({"b": torch.ones(1), "a": 5})
    assert list(held) == ["a", "b"] and list(reversed(held)) == ["b", "a"]  # a dict by the order of its names
    assert list(nn.ParameterDict(OrderedDict(b=1, a=2)).values()) == [1, 2]
    assert list(nn.ParameterDict([("b", 1), ("a", 2)])) == ["b", "a"]
    joined = held | nn.ParameterDict({"c": torch.zeros(2)})
    assert dict(joined.items())["c"].shape == (2,) and len(held) == 2 and held.get("c") is None
    assert held.copy()["b"] is held["b"] and list(held.fromkeys("xy", 3).items()) == [("x", 3), ("y", 3)]
    held |= {"d": torch.ones(1)}
    assert [name for name, _ in held.named_parameters()] == ["b", "d"] and held.setdefault("e", 7) == 7
    assert held.popitem() == ("e", 7) and held.pop("a") == 5 and not hasattr(held, "a")
    held.clear()
    assert len(held) == 0 and not list(held.parameters())
    with pytest.raises(KeyError, match="no entries"):
        held.popitem()
    with pytest.raises(AttributeError, match="'x'"):
        held["x"]  # noqa: B018
    with pytest.raises(TypeError, match="expected an iterable, got int"):
        held.update(5)
    with pytest.raises(TypeError, match="a str as a key, got int"):
        held[1] = 2  # type: ignore[index]


def test_the_library_s_lists_of_parameters_become_torch_s() -> None:
    class Plain(ts.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.listed, self.named = ts.nn.ParameterList([ts.ones(2)]), ts.nn.ParameterDict({"w": ts.ones(3)})

    plain = Plain()
    nn.Sequential(plain)  # type: ignore[arg-type]
    assert type(plain.listed) is nn.ParameterList and len(plain.listed) == 1 and type(plain.listed[0]) is nn.Parameter
    assert list(plain.named.items())[0][1].shape == (3,)


def test_a_dict_of_modules_made_empty_calls_no_update() -> None:
    class Grouped(nn.ModuleDict):
        def __init__(self) -> None:
            super().__init__()
            self.groups: list[str] = []

        def update(self, modules: Any) -> None:
            self.groups.append("update")
            super().update(modules)

    made = Grouped()
    made.update({"a": nn.ReLU()})
    assert made.groups == ["update"] and list(made) == ["a"]


# ---- conversions of modules ----


def test_type_converts_integers_too() -> None:
    model = nn.BatchNorm1d(2).type(torch.float64)
    assert {tensor.dtype for tensor in model.state_dict().values()} == {torch.float64}
    assert nn.BatchNorm1d(2).double().num_batches_tracked.dtype is torch.int64


def test_an_apply_of_ones_own_sees_which_conversion_it_is() -> None:
    seen = []

    class Watched(nn.Linear):
        def _apply(self, fn: Any, *args: Any) -> Any:
            seen.append(str(fn))
            return super()._apply(fn, *args)

    model = Watched(1, 1)
    assert model.half().weight.dtype is torch.float16 and model.double().weight.dtype is torch.float64
    assert model.to(torch.float32).weight.dtype is model.float().weight.dtype is torch.float32
    named = [next((name for name in ("half", "double", "float") if f"Module.{name}" in text), None) for text in seen]
    assert named == ["half", "double", None, "float"]


# ---- functions ----


def test_a_factor_may_come_before_the_tensors_as_in_old_programs() -> None:
    x, y, z = torch.tensor([10.0]), torch.tensor([3.0]), torch.tensor([2.0])
    assert [torch.add(x, 2, y), x.add(2, y), torch.sub(x, 2, y), x.sub(2, y)] == [16, 16, 4, 4]
    assert [torch.addcmul(x, 2, y, z), x.addcmul(2, y, z), torch.addcdiv(x, 2, y, z), x.addcdiv(2, y, z)] == [22, 22, 13, 13]
    here = x.clone().add_(2, y).sub_(1, y).addcmul_(2, y, z).addcdiv_(2, y, z)
    assert here.tolist() == [10 + 6 - 3 + 12 + 3]
    assert x.addcmul(y, z, value=3).tolist() == [28] and x.clone().addcdiv_(tensor1=y, tensor2=z, value=4).tolist() == [16]
    for wrong in (lambda: x.add_(1, y, z), lambda: x.add(y, 1), lambda: torch.addcmul(x, y, z, 2), lambda: x.addcdiv_(2, y, z, z)):
        with pytest.raises(TypeError, match="by name"):
            wrong()


def test_randint_like_takes_its_end_by_name() -> None:
    x = torch.ones(50)
    assert sorted(set(torch.randint_like(x, high=2).tolist())) == [0, 1] and torch.randint_like(x, 3, 4).tolist() == [3] * 50
    assert torch.randint_like(x, low=2, high=3).tolist() == [2] * 50 and torch.randint_like(x, 1).tolist() == [0] * 50
    with pytest.raises(TypeError, match="expected high"):
        torch.randint_like(x)


def test_norms_of_lists_take_an_order() -> None:
    listed = [torch.tensor([3.0, -4.0]), torch.tensor([1.0])]
    assert [norm.item() for norm in torch._foreach_norm(listed)] == [5, 1]
    assert [norm.item() for norm in torch._foreach_norm(listed, ord=1)] == [7, 1]
    assert [norm.item() for norm in torch._foreach_norm(listed, ord=float("inf"))] == [4, 1]


def test_tensors_are_grouped_by_device_and_dtype() -> None:
    from tessera.torch.utils._foreach_utils import _group_tensors_by_device_and_dtype as groups
    from tessera.torch.utils._foreach_utils import _has_foreach_support

    a, b, c = torch.ones(1), torch.ones(1, dtype=torch.float64), torch.zeros(2)
    cpu = torch.device("cpu")
    made = groups([[a, b, c], [a, None, c], []], with_indices=True)
    assert made[cpu, torch.float64] == ([[b], [None], []], [1])
    lists, places = made[cpu, torch.float32]
    assert all(x is y for x, y in zip(lists[0], [a, c])) and lists[2] == [] and places == [0, 2] and len(made) == 2
    assert groups([[a]])[cpu, torch.float32][1] == []
    assert _has_foreach_support([a, None], cpu) and not _has_foreach_support([5], cpu)


def test_layers_that_run_again_keep_states_of_devices() -> None:
    from tessera.torch.utils.checkpoint import get_device_states, set_device_states

    state = torch.get_rng_state()
    assert get_device_states(torch.ones(1), 5) == ([], []) and torch.cuda._initialized == torch.cuda.is_available()
    first = torch.rand(3)
    set_device_states([0], [state])
    assert torch.rand(3).tolist() == first.tolist()
    with pytest.raises(TypeError, match="a tensor of bytes, got NoneType"):
        torch.set_rng_state(None)


# ---- optimizers ----


def test_arguments_of_an_optimizer_are_found_by_its_init() -> None:
    known = inspect.signature(torch.optim.Adam.__init__).parameters
    assert list(known)[:3] == ["self", "params", "lr"] and known["fused"].default is None
    assert list(inspect.signature(torch.optim.SGD).parameters)[:2] == ["params", "lr"]


def test_an_optimizer_around_another_one_has_hooks() -> None:
    class Around(torch.optim.Optimizer):
        def __init__(self, inner: Any) -> None:  # without that of Optimizer, as such wrappers are written
            self.inner, self.steps = inner, []
            self._optimizer_step_pre_hooks: Any = OrderedDict()
            self._optimizer_step_post_hooks: Any = OrderedDict()
            self._patch_step_function()
            self.state = defaultdict(dict)

        @property
        def param_groups(self) -> Any:
            return self.inner.param_groups

        def step(self, closure: Any = None) -> Any:
            return self.inner.step(closure)

    w = nn.Parameter(torch.ones(1))
    around = Around(torch.optim.SGD([w], lr=0.5))
    around.register_step_post_hook(lambda *_: around.steps.append(w.item()))
    w.grad = torch.ones(1)
    around.step()
    around.zero_grad()
    assert around.steps == [0.5] and w.grad is None


# ---- names ----


def test_questions_of_programs_to_what_is_absent_have_answers() -> None:
    assert torch._C._log_api_usage_once("x") is None and torch._C._get_tracing_state() is None
    assert torch._C._jit_set_profiling_executor(False) is torch._C._jit_set_profiling_mode(False) is False
    assert not torch.onnx.is_in_onnx_export() and torch._subclasses.fake_tensor.is_fake(torch.ones(1)) is False
    assert torch.fx.experimental.proxy_tensor.get_proxy_mode() is None and torch.torch is torch
    assert not isinstance(torch.ones(2).shape[0], (torch.SymInt, torch.SymFloat, torch.SymBool))
    assert torch.ones(1).dtype != torch.complex32 and torch.chalf is torch.complex32
    assert not any(torch.is_autocast_enabled(kind) for kind in ("cpu", "cuda", "mps", "xpu", "xla", "hpu"))
    with pytest.raises(TypeError, match="complex32"):
        torch.zeros(1, dtype=torch.complex32)
    with pytest.raises(NotImplementedError, match="torch._C.none"):
        torch._C.none  # noqa: B018
    with pytest.raises(RuntimeError, match="device_type"):
        torch.is_autocast_enabled("none")


def test_transforms_are_seen_from_inside() -> None:
    def active(x: Any) -> Any:
        return x * torch._C._are_functorch_transforms_active()

    assert active(1) == 0 and torch.vmap(active)(torch.ones(2)).tolist() == [1, 1]
    assert torch.func.grad(active)(torch.tensor(1.0)).item() == 1 and active(1) == 0


def test_an_assertion_of_a_device_is_one_here() -> None:
    torch._assert_async(torch.tensor(1))
    with pytest.raises(RuntimeError, match="^why$"):
        torch._assert_async(torch.tensor(0), "why")
    with pytest.raises(RuntimeError, match="nonzero"):
        torch._assert_async(torch.tensor([0]))


def test_packages_import_what_they_need(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import torch, torch._C\n"
        "from torch.fx.experimental.proxy_tensor import get_proxy_mode\n"
        "from torch._subclasses.fake_tensor import is_fake\n"
        "from torch.hub import HASH_REGEX\n"
        "from torch.utils._foreach_utils import _group_tensors_by_device_and_dtype\n"
        "from torch.utils.checkpoint import get_device_states, set_device_states\n"
        "assert HASH_REGEX.search('net-0a1b.pth').group(1) == '0a1b' and not is_fake(torch.ones(1))\n"
        "for name in 'torch.nested import nested_tensor', 'torch.fx import GraphModule':\n"
        "    try:\n"
        "        exec(f'from {name}')\n"
        "    except ImportError as error:\n"
        "        print(str(error).partition('(')[2])\n"
    )
    done = subprocess.run([sys.executable, "-m", "tessera.torch", str(script)], capture_output=True, text=True, check=False)
    assert done.stderr == "" and [line.partition(";")[0] for line in done.stdout.splitlines()] == [
        "there are no nested tensors", "there are no graphs of modules",
    ]  # fmt: skip
