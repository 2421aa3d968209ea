# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch: overrides, nn.grad, nn.parameter, lazy modules, nodes that are called, make_tensor. Expected values are PyTorch's."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from typing import Any

import pytest

import tessera.torch as torch
from tessera.torch import nn
from tessera.torch.nn import functional as F
from tessera.torch.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy

# ---- nodes and views ----


def test_a_node_can_be_called() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    node = (x**2).grad_fn
    made = node(torch.ones(2))
    assert type(made) is torch.Tensor and made.tolist() == [2.0, 4.0] and made.requires_grad
    assert node.next_functions[0][0](torch.ones(2)) == () and x.grad.tolist() == [1.0, 1.0]
    assert (x * torch.ones(2)).grad_fn(torch.ones(2))[1] is None
    with pytest.raises(ValueError, match="1 outputs of PowBackward, got 2"):
        node(torch.ones(2), torch.ones(2))


def test_one_saved_tensor_has_hooks_of_its_own() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x**3
    calls: list[Any] = []
    saved = y.grad_fn._raw_saved_self
    saved.register_hooks(lambda t: calls.append(type(t)) or t.numpy().copy(), lambda a: calls.append("unpack") or torch.from_numpy(a))
    with pytest.raises(RuntimeError, match="without hooks"):
        saved.register_hooks(lambda t: t, lambda t: t)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 12.0] and calls == [torch.Tensor, "unpack"]


def test_a_view_names_its_base() -> None:
    x = torch.arange(6.0)
    part = x.view(2, 3)[0]
    assert type(part._base) is torch.Tensor and part._base.data_ptr() == x.data_ptr() and part._base.shape == (6,)
    assert x._base is None and part.detach()._base is None and part._is_view()


# ---- 0-dim operands of 16-bit floats ----


@pytest.mark.parametrize("call", [lambda x, t: x / t, torch.div, torch.true_divide, lambda x, t: x.div(t)])
def test_a_wider_divisor_without_axes_is_not_rounded(call: Any) -> None:
    x = torch.tensor([1.0, 3.25, 0.1], dtype=torch.float16, requires_grad=True)
    t = torch.tensor(3.3333, requires_grad=True)
    found = call(x, t)
    assert found.dtype is torch.float16 and found.tolist() == [0.300048828125, 0.97509765625, 0.029998779296875]
    found.sum().backward()
    assert (x.grad.dtype, t.grad.dtype) == (torch.float16, torch.float32) and t.grad.item() == pytest.approx(-0.3915, abs=1e-3)


def test_a_factor_is_rounded_on_the_left_alone() -> None:
    x, t = torch.tensor([3.25], dtype=torch.bfloat16), torch.tensor(0.1)
    assert (x * t).tolist() == torch.mul(x, t).tolist() == [0.32421875] and (t * x).tolist() == [0.326171875]
    assert (x * t).dtype is (x + t.double()).dtype is torch.bfloat16


# ---- lazy modules ----


def test_parameters_of_a_lazy_layer_have_no_shape_before_the_first_input() -> None:
    model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(5))
    weight = model[3].weight
    assert isinstance(weight, UninitializedParameter) and is_lazy(weight) and isinstance(model[1].running_mean, UninitializedBuffer)
    assert repr(weight) == "<UninitializedParameter>" and model[3].has_uninitialized_params()
    with pytest.raises(RuntimeError, match="not known yet"):
        _ = weight.shape
    with pytest.raises(ValueError, match="uninitialized parameter"):
        sum(p.numel() for p in model.parameters())
    twin = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    assert model(torch.randn(2, 3, 8, 8)).shape == (2, 5) and is_lazy(twin[3].weight)
    assert model[3].weight is weight and type(weight) is nn.Parameter and weight.shape == (5, 144)
    assert not any(map(is_lazy, [*model.parameters(), *model.buffers()])) and type(model[0]) is nn.Conv2d
    before = weight.detach().clone()
    model(torch.randn(2, 3, 8, 8)).sum().backward()
    optimizer.step()
    assert not torch.equal(weight, before)


@pytest.mark.parametrize("lazy, layer, shape", [
    (lambda: nn.LazyLinear(4), lambda: nn.Linear(3, 4), (2, 3)),
    (lambda: nn.LazyConv1d(4, 2, groups=2), lambda: nn.Conv1d(6, 4, 2, groups=2), (2, 6, 5)),
    (lambda: nn.LazyConvTranspose2d(4, 2), lambda: nn.ConvTranspose2d(3, 4, 2), (2, 3, 2, 2)),
    (lambda: nn.LazyBatchNorm1d(), lambda: nn.BatchNorm1d(3), (2, 3)),
    (lambda: nn.LazyBatchNorm1d(affine=False), lambda: nn.BatchNorm1d(3, affine=False), (2, 3)),
])  # fmt: skip
def test_a_lazy_layer_takes_its_sizes_from_a_state(lazy: Any, layer: Any, shape: Any) -> None:
    made, model = layer(), nn.Sequential(lazy())
    x = torch.randn(shape)
    model.load_state_dict({f"0.{name}": value for name, value in made.state_dict().items()})
    assert not model[0].has_uninitialized_params() and torch.equal(model(x), made(x)) and type(model[0]) is type(made)


def test_a_lazy_module_of_a_program() -> None:
    class Scale(nn.modules.lazy.LazyModuleMixin, nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = UninitializedParameter()
            self.register_buffer("seen", UninitializedBuffer())

        def initialize_parameters(self, x: Any) -> None:
            if self.has_uninitialized_params():
                with torch.no_grad():
                    self.weight.materialize(x.shape[-1:])
                    self.weight.fill_(2.0)
                    self.seen.materialize((1,))

        def forward(self, x: Any) -> Any:
            return x * self.weight

    module, other = Scale(), Scale()
    assert module(torch.ones(2, 3)).tolist() == [[2.0] * 3] * 2 and type(module.weight) is nn.Parameter
    assert type(module.seen) is torch.Tensor and not module._forward_pre_hooks
    other.load_state_dict(module.state_dict())
    assert torch.equal(other.weight, module.weight)
    assert isinstance(pickle.loads(pickle.dumps(UninitializedParameter(dtype=torch.float64))), UninitializedParameter)

    class Forgets(Scale):
        def initialize_parameters(self, x: Any) -> None:
            pass

    with pytest.raises(RuntimeError, match="left parameters uninitialized"):
        Forgets()(torch.ones(1))


# ---- torch.overrides ----


class Unit:
    def __init__(self, value: Any) -> None:
        self.value = value

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func.__name__, [getattr(a, "value", a) for a in args], kwargs, types


class Finer(Unit):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented if args[-1] == 0 else "finer"


def test_a_function_hands_its_call_to_the_class_of_an_argument() -> None:
    overrides = torch.overrides

    def scaled(x: Any, y: Any = 1, k: int = 1) -> Any:
        if overrides.has_torch_function((x, y)):
            return overrides.handle_torch_function(scaled, (x, y), x, y, k=k)
        return x * k

    unit = Unit(3)
    assert overrides.is_tensor_like(unit) and overrides.is_tensor_like(torch.ones(1)) and not overrides.is_tensor_like(3)
    assert not overrides.has_torch_function((torch.ones(1), 2)) and scaled(2, k=3) == 6
    assert scaled(unit, 5, k=2) == ("scaled", [3, 5], {"k": 2}, (Unit,))
    assert scaled(unit, Finer(1)) == "finer"  # the class that derives from the other comes first
    assert overrides.handle_torch_function(scaled, (Finer(1), unit), unit, 0)[0] == "scaled"
    with pytest.raises(TypeError, match="no implementation found for .*scaled"):
        overrides.handle_torch_function(scaled, (Finer(1),), 0)
    decorated = overrides.wrap_torch_function(lambda x: (x,))(lambda x: x + 1)
    assert decorated(1) == 2 and decorated(unit)[1] == [3]
    assert overrides.is_tensor_method_or_property(torch.Tensor.sum) and not overrides.is_tensor_method_or_property(scaled)
    assert not hasattr(overrides, "get_testing_overrides")


# ---- torch.functional, torch.nn.grad, torch.utils.hooks ----


def test_files_of_functions() -> None:
    assert torch.functional.einsum is torch.einsum and not hasattr(torch.functional, "add")


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_gradients_of_convolutions_are_functions(axes: int) -> None:
    conv = (F.conv1d, F.conv2d, F.conv3d)[axes - 1]
    x = torch.randn(2, 4, *[7] * axes, dtype=torch.float64, requires_grad=True)
    w = torch.randn(6, 2, *[3] * axes, dtype=torch.float64, requires_grad=True)
    options: dict[str, Any] = {"stride": 2, "padding": 1, "dilation": 1, "groups": 2}
    y = conv(x, w, None, **options)
    g = torch.randn_like(y)
    gx, gw = torch.autograd.grad(y, (x, w), g)
    module = torch.nn.grad
    assert torch.allclose(getattr(module, f"conv{axes}d_input")(x.shape, w, g, **options), gx)
    found = getattr(module, f"conv{axes}d_weight")(x.detach(), w.shape, g, **options)
    assert torch.allclose(found, gw) and not found.requires_grad
    assert getattr(module, f"conv{axes}d_weight")(x, w.shape, g, **options).requires_grad


def test_handles_of_hooks_are_of_one_class() -> None:
    Handle = torch.utils.hooks.RemovableHandle
    x, layer = torch.ones(1, requires_grad=True), nn.Linear(1, 1)
    assert isinstance(x.register_hook(lambda g: g), Handle) and isinstance(layer.register_forward_hook(lambda *_: None), Handle)
    hooks: Any = OrderedDict()
    beside: dict[int, str] = {}
    with Handle(hooks, extra_dict=beside) as handle:
        hooks[handle.id], beside[handle.id] = "hook", "more"
    assert not hooks and not beside and not isinstance(3, Handle)


# ---- torch.testing.make_tensor ----


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64, torch.int64, torch.uint8, torch.bool])
def test_make_tensor_draws_within_its_limits(dtype: Any) -> None:
    made = torch.testing.make_tensor((40, 5), dtype=dtype, device="cpu")
    assert made.dtype is dtype and made.shape == (40, 5) and type(made) is torch.Tensor and made.unique().numel() > 1
    if dtype not in (torch.complex64, torch.bool):
        assert made.max() <= 9 and made.min() >= (0 if dtype is torch.uint8 else -9)
        narrow = torch.testing.make_tensor(100, dtype=dtype, device="cpu", low=1, high=3)
        assert narrow.min() >= 1 and narrow.max() <= 3 and narrow.shape == (100,)
    assert bool((torch.testing.make_tensor(100, dtype=dtype, device="cpu", exclude_zero=True) != 0).all())
    assert not torch.testing.make_tensor(4, 3, dtype=dtype, device="cpu", noncontiguous=True).is_contiguous()


def test_make_tensor_refuses_what_contradicts_itself() -> None:
    make = torch.testing.make_tensor
    assert make((), dtype=torch.float32, device="cpu", requires_grad=True).requires_grad
    for options in ({"requires_grad": True}, {"low": 3, "high": 3}, {"noncontiguous": True, "memory_format": torch.channels_last}):
        with pytest.raises(ValueError, match="make_tensor"):
            make((2,), dtype=torch.int64, device="cpu", **options)


# ---- Variable ----


def test_variable_makes_a_leaf_on_the_same_memory() -> None:
    from tessera.torch.autograd import Variable

    x = torch.ones(2)
    made = Variable(x, requires_grad=True)
    assert type(made) is torch.Tensor and made.requires_grad and not x.requires_grad and made.data_ptr() == x.data_ptr()
    assert isinstance(x, Variable) and issubclass(torch.Tensor, Variable) and not isinstance(1, Variable)
    with pytest.raises(TypeError, match="has to be a tensor, but got list"):
        Variable([1.0])
    with pytest.warns(UserWarning, match="volatile"):
        assert Variable(volatile=True).numel() == 0
