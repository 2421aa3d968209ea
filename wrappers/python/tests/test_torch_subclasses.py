# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch: classes that programs derive from Tensor, and `__torch_function__`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tessera.torch as torch
from tessera.torch import nn
from tessera.torch.nn import functional as F  # noqa: N812 (as programs of PyTorch name it)


class Image(torch.Tensor):
    pass


class Logged(torch.Tensor):
    log: list[str] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.log.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class Tagged(torch.Tensor):
    """A tensor whose results keep its tag."""

    tag: str

    @staticmethod
    def __new__(cls: Any, data: Any, tag: str) -> Any:
        made = torch.as_tensor(data).as_subclass(cls)
        made.tag = tag
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = super().__torch_function__(func, types, args, kwargs or {})
        if isinstance(result, cls):
            result.tag = next(item.tag for item in args if isinstance(item, cls))
        return result


class Diagonal:
    """A matrix that is no tensor: the number on its diagonal."""

    def __init__(self, size: int, value: float) -> None:
        self.size, self.value = size, value

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return HANDLED[func](*args, **(kwargs or {})) if func in HANDLED else NotImplemented


HANDLED: dict[Any, Callable[..., Any]] = {
    torch.mean: lambda input: input.value / input.size,
    torch.add: lambda input, other, alpha=1: ("add", type(input).__name__, type(other).__name__),
    torch.exp: lambda input: "exp",
    torch.sum: lambda input, dim=None: ("sum", dim),
    F.relu: lambda input, inplace=False: ("relu", inplace),
}  # fmt: skip


@pytest.fixture(autouse=True)
def empty_log() -> Iterator[None]:
    Logged.log.clear()
    yield


# ---- classes without __torch_function__ of their own ----


@pytest.mark.parametrize("call", [
    lambda t: t + 1, lambda t: 1 - t, lambda t: torch.ones(2, 2) * t, lambda t: t @ torch.ones(2, 2), lambda t: -t, lambda t: t > 1,
    lambda t: t[0], lambda t: t[t > 0], lambda t: t[..., None], lambda t: t.sum(), lambda t: torch.exp(t), lambda t: torch.sum(t, 0),
    lambda t: t.max(1).values, lambda t: t.view(4), lambda t: t.T, lambda t: t.to(torch.float64), lambda t: t.half() * torch.tensor(2.0),
    lambda t: t.detach(), lambda t: t.data, lambda t: t.clone().add_(1), lambda t: torch.stack([torch.ones(2, 2), t]),
    lambda t: F.softmax(t, 0), lambda t: nn.Linear(2, 2)(t), lambda t: copy.deepcopy(t), lambda t: t.unbind()[1],
    lambda t: torch.where(t > 1, t, 0), lambda t: torch.linalg.inv(t + torch.eye(2)), lambda t: nn.Parameter(torch.ones(2, 2)) + t,
])  # fmt: skip
def test_a_result_is_of_the_class_of_an_operand(call: Any) -> None:
    assert type(call(torch.ones(2, 2).as_subclass(Image))) is Image


def test_other_results_stay_what_they_were() -> None:
    t = torch.ones(2).as_subclass(Image)
    assert type(torch.ones(2) + 1) is type(nn.Parameter(torch.ones(2)) * 2) is torch.Tensor
    assert type(t.shape) is torch.Size and type(t.tolist()) is list and type(t.numpy()).__name__ == "ndarray"
    assert repr(Image([1.0, 2.0])) == "Image([1., 2.])" and repr(torch.ones(1)) == "tensor([1.])"


def test_a_class_derived_from_a_parameter_gives_plain_results() -> None:
    class Own(nn.Parameter):
        pass

    assert type(Own(torch.ones(2)) * 2) is torch.Tensor


def test_gradients_flow_through_a_derived_class() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    (w.as_subclass(Image) * w).sum().backward()
    assert w.grad.tolist() == [2, 4]


# ---- classes with __torch_function__ ----


@pytest.mark.parametrize("call, names", [
    (lambda x: x + torch.ones(2), ["add"]), (lambda x: torch.ones(2) + x, ["add"]), (lambda x: x - 1, ["sub"]),
    (lambda x: torch.exp(x), ["exp"]), (lambda x: torch.sum(x), ["sum"]), (lambda x: x.sum(), ["sum"]), (lambda x: x[0], ["__getitem__"]),
    (lambda x: F.softmax(x, 0), ["softmax"]), (lambda x: torch.stack([x, x]), ["stack"]), (lambda x: torch.clamp(x, 0, 1), ["clamp"]),
    (lambda x: torch.max(x, 0).values, ["max"]), (lambda x: nn.Parameter(torch.ones(2)) * x, ["mul"]),
    (lambda x: F.linear(x, torch.ones(1, 2)), ["linear"]), (lambda x: torch.where(x > 0, x, 1.0), ["gt", "where"]),
    (lambda x: x.add_(1), ["add_"]), (lambda x: -x, ["neg"]),
])  # fmt: skip
def test_a_class_is_asked_once_for_each_operation(call: Any, names: list[str]) -> None:
    x = Logged([1.0, 2.0])
    Logged.log.clear()
    assert type(call(x)) is Logged and Logged.log == names


def test_attributes_are_asked_for_too_but_no_call_inside() -> None:
    x = Logged([1.0, 2.0])
    Logged.log.clear()
    assert x.shape == (2,) and Logged.log == ["__get__"]
    assert (x == None) is False and Logged.log[1:] == ["__eq__"]  # noqa: E711


def test_results_keep_what_the_class_gives_them() -> None:
    image = Tagged([1.0, 2.0], "image")
    assert (image * 2).abs().tag == F.relu(image).tag == image.mean(0, keepdim=True).tag == "image"
    assert nn.Linear(2, 1)(image).tag == "image"
    with torch._C.DisableTorchFunctionSubclass():
        assert not hasattr(image + 1, "tag")


def test_a_class_that_is_no_tensor_gets_calls_of_functions() -> None:
    d = Diagonal(5, 2)
    assert torch.mean(d) == 0.4 and torch.exp(d) == "exp" and torch.sum(d) == ("sum", None) and torch.sum(d, dim=1) == ("sum", 1)
    assert torch.add(d, torch.ones(1)) == ("add", "Diagonal", "Tensor") and torch.add(torch.ones(1), d) == ("add", "Tensor", "Diagonal")
    assert F.relu(d, inplace=True) == ("relu", True)
    for call in (lambda: torch.mul(d, 3), lambda: torch.tanh(d), lambda: torch.cumsum(d, 0)):
        with pytest.raises(TypeError, match="no implementation found for 'torch"):
            call()
    with pytest.raises(TypeError, match="expected a Tensor, got object"):
        torch.exp(object())


def test_an_error_of_the_class_is_the_error_of_the_call() -> None:
    class Angry:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise KeyError("no")

    for call in (torch.exp, torch.sum, torch.abs):
        with pytest.raises(KeyError, match="no"):
            call(Angry())


def test_a_class_may_give_plain_tensors() -> None:
    class Plain(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    x = torch.ones(2).as_subclass(Plain)
    assert type(x + 1) is type(torch.exp(x)) is torch.Tensor
    assert not torch.overrides.has_torch_function((torch.ones(1),)) and torch.overrides.has_torch_function((Logged([1.0]),))


def test_tensors_of_pytorch_itself_are_refused() -> None:
    other = pytest.importorskip("torch").ones(1)
    for call in (lambda: torch.exp(other), lambda: torch.sum(other), lambda: torch.add(torch.ones(1), other)):
        with pytest.raises((TypeError, AttributeError)):
            call()
