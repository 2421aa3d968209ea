# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Pruning: a parameter `weight` becomes `weight_orig` times the buffer `weight_mask`, computed before each call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import _ops
from ..._errors import ArgumentTypeError, InvalidValueError, OutOfRangeError, ShapeError
from ..._modes import no_grad
from ..._tensor import Tensor
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip


class BasePruningMethod:
    """The base of pruning methods: a class states PRUNING_TYPE and compute_mask(t, default_mask).

    PRUNING_TYPE says what the mask is computed from where a tensor is pruned again: "unstructured" from the elements that
    are left, "structured" from the slices along `dim` that are left, "global" from the whole tensor.
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        object.__setattr__(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for a tensor of importances: 1 for what is kept; what default_mask prunes stays pruned."""
        raise NotImplementedError(f"{type(self).__name__} needs a method compute_mask")

    def apply_mask(self, module: Any) -> Tensor:
        """The pruned tensor."""
        original = getattr(module, self._tensor_name + "_orig")
        mask = getattr(module, self._tensor_name + "_mask")
        found: Tensor = _ops.astype(mask, original.dtype) * original
        return found

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prunes a parameter of a module, also one that is pruned already, by a method of this class."""
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        former = [hook for hook in module._pre_hooks.values() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
        if former:
            container = PruningContainer(former[0])
            container.add_pruning_method(method)
            method = container
        else:
            _split(module, name)
        original, mask = getattr(module, name + "_orig"), getattr(module, name + "_mask")
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise ShapeError(f"importance_scores: expected the shape {original.shape} of {name}, got {scores.shape}")
        try:
            with no_grad():
                found = method.compute_mask(scores.detach(), mask)
        except BaseException:
            if not former:
                _restore(module, name, original)
            raise
        module.register_buffer(name + "_mask", _ops.astype(found, original.dtype))
        for key, hook in list(module._pre_hooks.items()):
            if hook in former:
                del module._pre_hooks[key]
        method(module, None)
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A pruned copy of a tensor."""
        scores = t if importance_scores is None else importance_scores
        mask = _ops.ones_like(t) if default_mask is None else default_mask
        with no_grad():
            found = self.compute_mask(scores.detach(), mask)
        return t * _ops.astype(found, t.dtype)

    def remove(self, module: Any) -> None:
        """Makes the pruned tensor a parameter again."""
        name = self._tensor_name
        with no_grad():
            value = self.apply_mask(module).detach()
        original = getattr(module, name + "_orig")
        original.data = value
        for key, hook in list(module._pre_hooks.items()):
            if hook is self:
                del module._pre_hooks[key]
        _restore(module, name, original)


def _split(module: Any, name: str) -> None:
    parameter = module._parameters.get(name)
    if parameter is None:
        raise InvalidValueError(f"name: expected a parameter of {type(module).__name__}, got {name!r}")
    del module._parameters[name]
    module.register_parameter(name + "_orig", parameter)
    module.register_buffer(name + "_mask", _ops.ones_like(parameter.detach()))


def _restore(module: Any, name: str, parameter: Parameter) -> None:
    module.__dict__.pop(name, None)
    for table, part in ((module._parameters, "_orig"), (module._buffers, "_mask")):
        table.pop(name + part, None)
    module.register_parameter(name, parameter)


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other, each on what the ones before it left."""

    PRUNING_TYPE = "container"

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        first = args[0] if args else None
        if first is not None and not isinstance(first, (tuple, list)):
            self._tensor_name = first._tensor_name
        for method in first if isinstance(first, (tuple, list)) else args:
            if not hasattr(self, "_tensor_name"):
                self._tensor_name = method._tensor_name
            self._pruning_methods += method._pruning_methods if isinstance(method, PruningContainer) else (method,)

    def add_pruning_method(self, method: Any) -> None:
        if not isinstance(method, BasePruningMethod):
            raise ArgumentTypeError(f"method: expected a pruning method, got {type(method).__name__}")
        if method._tensor_name != self._tensor_name:
            raise InvalidValueError(f"method: expected one for {self._tensor_name}, got one for {method._tensor_name}")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, index: Any) -> Any:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the last method, on what the present mask leaves."""
        method, mask = self._pruning_methods[-1], _ops.astype(default_mask, t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            left = mask == 1
            part = method.compute_mask(t[left], _ops.ones_like(mask[left]))
            return _ops.masked_scatter(mask, left, _ops.astype(part, mask.dtype))
        if method.PRUNING_TYPE == "structured":
            axis = _axis(t, method.dim)
            others = tuple(a for a in range(t.ndim) if a != axis)
            left = _ops.flatten(_ops.nonzero(_ops.sum(mask, others) != 0)[0])
            part = method.compute_mask(_ops.index_select(t, axis, left), _ops.index_select(mask, axis, left))
            return _ops.index_copy(mask, axis, left, _ops.astype(part, mask.dtype))
        if method.PRUNING_TYPE == "global":
            found: Tensor = method.compute_mask(t, mask)
            return found
        raise InvalidValueError(f"PRUNING_TYPE: expected unstructured, structured or global, got {method.PRUNING_TYPE!r}")


def _count(amount: Any, size: int) -> int:
    """How many of `size` elements an amount is: a share below 1 as a float, or a number."""
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise ArgumentTypeError(f"amount: expected a share or a number of elements, got {type(amount).__name__}")
    if amount < 0 or (isinstance(amount, float) and amount > 1.0):
        raise InvalidValueError(f"amount: expected a share between 0 and 1 or a number of elements, got {amount}")
    count = amount if isinstance(amount, int) else round(amount * size)
    if count > size:
        raise InvalidValueError(f"amount: expected at most the {size} elements there are, got {amount}")
    return count


def _axis(t: Tensor, dim: int) -> int:
    """The axis whose slices are pruned, counted from the front."""
    if t.ndim < 2:
        raise ShapeError(f"name: expected a parameter of at least two axes, got shape {t.shape}")
    if not -t.ndim <= dim < t.ndim:
        raise OutOfRangeError(f"dim: expected an axis of shape {t.shape}, got {dim}")
    return dim % t.ndim


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the parameter a pruned one with a mask of ones."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _Unstructured(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: int | float) -> None:
        _count(amount, 1 << 62)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = _count(self.amount, t.numel())
        if not count:
            return default_mask
        flat = _ops.reshape(default_mask, (-1,))
        return _ops.reshape(_ops.index_fill(flat, 0, self._places(t, count), 0), default_mask.shape)

    def _places(self, t: Tensor, count: int) -> Tensor:
        """The flat indices of the `count` elements to prune."""
        raise NotImplementedError


class RandomUnstructured(_Unstructured):
    """Prunes random elements."""

    def _places(self, t: Tensor, count: int) -> Tensor:
        return _ops.randperm(t.numel(), device=t.device)[:count]


class L1Unstructured(_Unstructured):
    """Prunes the elements of smallest size."""

    def _places(self, t: Tensor, count: int) -> Tensor:
        return _ops.topk(_ops.abs(_ops.reshape(t, (-1,))), count, -1, False)[1]


class _Structured(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: int | float, dim: int = -1) -> None:
        _count(amount, 1 << 62)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        axis = _axis(t, self.dim)
        count = _count(self.amount, t.shape[axis])
        if not count:
            return default_mask
        return _ops.index_fill(default_mask, axis, self._order(t, axis)[:count], 0)

    def _order(self, t: Tensor, axis: int) -> Tensor:
        """The indices along the axis, those to prune first."""
        raise NotImplementedError


class RandomStructured(_Structured):
    """Prunes random slices along an axis."""

    def _order(self, t: Tensor, axis: int) -> Tensor:
        return _ops.randperm(t.shape[axis], device=t.device)


class LnStructured(_Structured):
    """Prunes the slices along an axis with the smallest norm of order n."""

    def __init__(self, amount: int | float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _order(self, t: Tensor, axis: int) -> Tensor:
        rows = _ops.reshape(_ops.moveaxis(t, axis, 0), (t.shape[axis], -1))
        norms = _ops.vector_norm(rows, 1, ord=2.0 if self.n == "fro" else float(self.n))
        return _ops.argsort(norms, -1, False, True)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask * _ops.astype(self.mask, default_mask.dtype)


def identity(module: Any, name: str) -> Any:
    """Makes a parameter a pruned one with a mask of ones; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: int | float) -> Any:
    """Prunes random elements of a parameter: a share, or so many."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: int | float, importance_scores: Tensor | None = None) -> Any:
    """Prunes the smallest elements of a parameter, or those with the smallest scores."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: int | float, dim: int) -> Any:
    """Prunes random slices of a parameter along an axis."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: int | float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Any:
    """Prunes the slices of a parameter along an axis whose norms of order n are smallest."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Prunes a parameter by a mask."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]], pruning_method: type[BasePruningMethod], importance_scores: Any = None,
    **kwargs: Any,
) -> None:
    """Prunes several parameters as if they were one vector; `importance_scores` is a dict by (module, name)."""
    listed = list(parameters)
    given = importance_scores or {}
    scores = [given.get((m, n), getattr(m, n)).detach() for m, n in listed]
    masks = [getattr(m, n + "_mask", _ops.ones_like(s)) for (m, n), s in zip(listed, scores)]
    flat = [_ops.concat([_ops.reshape(t, (-1,)) for t in group], 0) for group in (scores, masks)]
    method: Any = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise InvalidValueError(f"pruning_method: expected an unstructured one, got {method.PRUNING_TYPE}")
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "temp"
    container.add_pruning_method(method)
    with no_grad():
        found = container.compute_mask(flat[0], flat[1])
    begin = 0
    for (module, name), score in zip(listed, scores):
        custom_from_mask(module, name, _ops.reshape(found[begin : begin + score.numel()], score.shape))
        begin += score.numel()


def remove(module: Any, name: str) -> Any:
    """Makes a pruned tensor a parameter again, with zeros where it is pruned."""
    for hook in list(module._pre_hooks.values()):
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            return module
    raise InvalidValueError(f"name: expected a pruned parameter of {type(module).__name__}, got {name!r}")


def is_pruned(module: Module) -> bool:
    """Whether a module, or one inside, has a pruned parameter."""
    return any(isinstance(hook, BasePruningMethod) for each in module.modules() for hook in each._pre_hooks.values())
