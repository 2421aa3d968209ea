# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of functions of tensors: products with vectors, whole Jacobian and Hessian matrices.

The products Jacobian @ v and Hessian @ v use forward mode, everything else reverse mode. Where forward mode cannot be
used (with strict, which asks the graph, or for a custom function without jvp) Jacobian @ v is the derivative of
u @ Jacobian with respect to u, which takes two backwards and for the latter a second run of the function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

from .. import _ops
from .._tensor import Tensor
from .._backward import grad
from .._errors import ArgumentTypeError, AutogradError, InvalidValueError
from .._modes import enable_grad
from .forward_ad import as_class_of, dual_level, make_dual, unpack_dual

Inputs = Union[Tensor, Sequence[Tensor]]


def _tuple(given: Any, what: str) -> tuple[Tensor, ...]:
    items = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    for place, item in enumerate(items):
        if not isinstance(item, Tensor):
            raise ArgumentTypeError(f"{what}: expected Tensors, got {type(item).__name__} at {place}")
    return items


def _like(items: tuple[Tensor, ...], given: Any) -> Any:
    """One tensor if the caller gave one tensor, else a tuple."""
    return items[0] if isinstance(given, Tensor) else items


class _Call:
    """One run of the function: its inputs as tensors that require grad, and its outputs.

    With create_graph the inputs stay connected to their graph. With `tangents` for v, in a level of forward mode, they are
    dual tensors.
    """

    def __init__(
        self, name: str, function: Callable[..., Any], inputs: Inputs, create_graph: bool, strict: bool,
        tangents: Callable[[_Call], tuple[Tensor, ...]] | None = None,
    ) -> None:
        self.name, self.given, self.create_graph, self.strict = name, inputs, create_graph, strict
        self.inputs = tuple(
            x[...] if create_graph and x.requires_grad else _ops.detach(x).requires_grad_()
            for x in _tuple(inputs, f"{name}(): inputs")
        )
        if tangents is not None:
            self.inputs = tuple(as_class_of(make_dual(x, t), x) for x, t in zip(self.inputs, tangents(self)))
        self.result = function(*self.inputs)
        self.outputs = _tuple(self.result, f"{name}(): the function's result")
        for place, output in enumerate(self.outputs):
            self.need(output.requires_grad, f"output {place} does not depend on any input")

    def need(self, good: bool, problem: str) -> None:
        if self.strict and not good:
            raise AutogradError(f"{self.name}(): {problem}, and strict=True was given")

    def vectors(self, v: Any, like: tuple[Tensor, ...], what: str) -> tuple[Tensor, ...]:
        """The vectors to multiply by; if none is given, 1 for a single number."""
        if v is None:
            if len(like) != 1 or like[0].numel() != 1:
                raise InvalidValueError(f"{self.name}(): v may be left out only for {what} of one element")
            return (_ops.ones_like(like[0]),)
        found = _tuple(v, f"{self.name}(): v")
        if [f.shape for f in found] != [t.shape for t in like]:
            raise InvalidValueError(
                f"{self.name}(): v: expected the shapes of the {what}, {[t.shape for t in like]}, "
                f"got {[f.shape for f in found]}"
            )
        return found

    def pull(
        self, outputs: tuple[Tensor, ...], inputs: tuple[Tensor, ...], vectors: tuple[Tensor, ...], graph: bool,
        retain: bool | None = None,
    ) -> tuple[Tensor, ...]:
        """vectors @ d outputs / d inputs; zeros for inputs that the outputs do not depend on."""
        live = [(o, v) for o, v in zip(outputs, vectors) if o.requires_grad]
        found: tuple[Any, ...] = (None,) * len(inputs)
        if live:
            found = grad(
                [o for o, _ in live], inputs, [v for _, v in live], retain, graph, allow_unused=True
            )
        for place, g in enumerate(found):
            self.need(g is not None, f"the outputs do not depend on input {place}")
        return tuple(_ops.zeros_like(x) if g is None else as_class_of(g, x) for x, g in zip(inputs, found))

    def done(self, *results: Any) -> Any:
        """The results, detached from the graph unless create_graph."""
        return results if self.create_graph else tuple(_map(_detached, r) for r in results)


def _detached(tensor: Tensor) -> Tensor:
    return _ops.detach(tensor)


def _map(function: Callable[[Tensor], Tensor], nested: Any) -> Any:
    return tuple(_map(function, n) for n in nested) if isinstance(nested, tuple) else function(nested)


@enable_grad()
def vjp(
    func: Callable[..., Any], inputs: Inputs, v: Inputs | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(*inputs), v @ Jacobian). v has the shapes of the outputs and may be left out for a single number."""
    call = _Call("vjp", func, inputs, create_graph, strict)
    vectors = call.vectors(v, call.outputs, "outputs")
    products = call.pull(call.outputs, call.inputs, vectors, create_graph)
    return call.done(_like(call.outputs, call.result), _like(products, inputs))  # type: ignore[no-any-return]


def _push(call: _Call, outputs: tuple[Tensor, ...], vectors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Jacobian @ vectors: dummies @ Jacobian is linear in the dummies, and its derivative with respect to them is the
    Jacobian."""
    dummies = tuple(_ops.zeros_like(o).requires_grad_() for o in outputs)
    products = call.pull(outputs, call.inputs, dummies, True)
    return call.pull(products, dummies, vectors, call.create_graph)


def _parts(duals: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """The values and the tangents of dual tensors."""
    pairs = [unpack_dual(dual) for dual in duals]
    values = tuple(as_class_of(p, dual) for (p, _), dual in zip(pairs, duals))
    return values, tuple(_ops.zeros_like(p) if t is None else as_class_of(t, p) for p, (_, t) in zip(values, pairs))


@enable_grad()
def jvp(
    func: Callable[..., Any], inputs: Inputs, v: Inputs | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(*inputs), Jacobian @ v). v has the shapes of the inputs and may be left out for a single number."""
    if not strict:
        try:
            with dual_level():
                call = _Call("jvp", func, inputs, create_graph, False, lambda c: c.vectors(v, c.inputs, "inputs"))
                values, products = _parts(call.outputs)
            return call.done(_like(values, call.result), _like(products, call.result))  # type: ignore[no-any-return]
        except AutogradError:
            pass  # what else is wrong the other way finds, too
    call = _Call("jvp", func, inputs, create_graph, strict)
    products = _push(call, call.outputs, call.vectors(v, call.inputs, "inputs"))
    return call.done(_like(call.outputs, call.result), _like(products, call.result))  # type: ignore[no-any-return]


def _rows(call: _Call, output: Tensor) -> tuple[Tensor, ...]:
    """d output / d input for every input, of shape output.shape + input.shape."""
    rows: list[tuple[Tensor, ...]] = []
    flat = output.reshape(-1)
    for place in range(flat.numel()):
        one = _ops.ones_like(flat[place])
        rows.append(call.pull((flat[place],), call.inputs, (one,), call.create_graph, retain=True))
    return tuple(
        _ops.stack([row[i] for row in rows]).reshape(output.shape + x.shape)
        if rows
        else _ops.zeros(output.shape + x.shape, dtype=x.dtype)
        for i, x in enumerate(call.inputs)
    )


def _check_strategy(name: str, strategy: str) -> None:
    if strategy not in ("reverse-mode", "forward-mode"):
        raise InvalidValueError(f"{name}: expected reverse-mode or forward-mode, got {strategy!r}")


@enable_grad()
def jacobian(
    func: Callable[..., Any], inputs: Inputs, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian: one tensor of shape output.shape + input.shape; of several outputs or inputs a tuple by outputs,
    in it a tuple by inputs. strict: an output that does not depend on an input is an error, instead of zeros.

    `vectorize` and `strategy` are PyTorch's ways to the same numbers and change nothing; func.jacrev and func.jacfwd
    compute all rows or columns at once.
    """
    _check_strategy("strategy", strategy)
    call = _Call("jacobian", func, inputs, create_graph, strict)
    blocks = tuple(_like(_rows(call, output), inputs) for output in call.outputs)
    return call.done(_like(blocks, call.result))[0]


def _scalar(name: str, func: Callable[..., Any]) -> Callable[..., Tensor]:
    """The function with a check that it returns a single number."""

    def checked(*inputs: Tensor) -> Tensor:
        result = func(*inputs)
        if not isinstance(result, Tensor) or result.numel() != 1:
            what = f"shape {result.shape}" if isinstance(result, Tensor) else type(result).__name__
            raise InvalidValueError(f"{name}(): expected the function to give one Tensor of one element, got {what}")
        return result

    return checked


def hessian(
    func: Callable[..., Any], inputs: Inputs, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function to a single number: the Jacobian of its gradient. `vectorize` and
    `outer_jacobian_strategy` are PyTorch's and change nothing."""
    _check_strategy("outer_jacobian_strategy", outer_jacobian_strategy)
    single = isinstance(inputs, Tensor)

    def gradient(*args: Tensor) -> Any:
        return jacobian(_flat, args[0] if single else args, True, strict)

    def _flat(*args: Tensor) -> Tensor:
        return _scalar("hessian", func)(*args).reshape(())

    return jacobian(gradient, inputs, create_graph, strict)


def _gradient(
    name: str, func: Callable[..., Any], inputs: Inputs, create_graph: bool, strict: bool,
    tangents: Callable[[_Call], tuple[Tensor, ...]] | None = None,
) -> tuple[_Call, tuple[Tensor, ...]]:
    call = _Call(name, _scalar(name, func), inputs, create_graph, strict, tangents)
    ones = (_ops.ones_like(call.outputs[0].detach()),)
    return call, call.pull(call.outputs, call.inputs, ones, create_graph or tangents is None)


@enable_grad()
def vhp(
    func: Callable[..., Any], inputs: Inputs, v: Inputs | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensor, Any]:
    """(func(*inputs), v @ Hessian) of a function to a single number."""
    call, gradient = _gradient("vhp", func, inputs, create_graph, strict)
    products = call.pull(gradient, call.inputs, call.vectors(v, call.inputs, "inputs"), create_graph)
    return call.done(call.result, _like(products, inputs))  # type: ignore[no-any-return]


@enable_grad()
def hvp(
    func: Callable[..., Any], inputs: Inputs, v: Inputs | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Tensor, Any]:
    """(func(*inputs), Hessian @ v) of a function to a single number. vhp gives the same if the second derivatives are
    continuous."""
    if not strict:
        try:
            with dual_level():
                tangents = lambda c: c.vectors(v, c.inputs, "inputs")  # noqa: E731
                call, gradient = _gradient("hvp", func, inputs, create_graph, False, tangents)
                (value,), _ = _parts((call.result,))
                products = _parts(gradient)[1]
            return call.done(value, _like(products, inputs))  # type: ignore[no-any-return]
        except AutogradError:
            pass
    call, gradient = _gradient("hvp", func, inputs, create_graph, strict)
    products = _push(call, gradient, call.vectors(v, call.inputs, "inputs"))
    return call.done(call.result, _like(products, inputs))  # type: ignore[no-any-return]


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
