# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives as functions of functions. Inside vmap they are those of each sample.

A function is differentiated with respect to copies of its inputs that vary with every running vmap: the gradient of the
whole batch with respect to such a copy holds that of each sample, because no sample depends on the input of another.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _core, _ops
from .._backward import _flags
from .._constants import BACKWARD_BATCHED
from .._core import is_tensor
from .._errors import ArgumentTypeError, DTypeError, InvalidValueError, OutOfRangeError, ShapeError
from ..autograd import forward_ad
from .._modes import enable_grad, inference_mode, no_grad
from . import _levels, _tree
from ._batched import Batched, lifted, lowered, make, physical
from ._dispatch import sample
from ._levels import Level
from ._vmap import vmap

Argnums = "int | tuple[int, ...]"


def _like(tensor: Any, other: Any) -> Any:
    """The tensor as one of the other's class."""
    while isinstance(other, Batched):
        other = other._physical
    return forward_ad.as_class_of(tensor, other)


def _plain(value: Any) -> Any:
    """A result that is not to be differentiated further, without its history."""
    return _ops.detach(value) if is_tensor(value) and value.requires_grad else value


def _wants_grad(value: Any) -> bool:
    return is_tensor(value) and bool(value.requires_grad)


def _differentiable(name: str, leaf: Any, what: str) -> None:
    if not is_tensor(leaf):
        raise ArgumentTypeError(f"{name}(): {what}: expected Tensors, got {type(leaf).__name__}")
    dtype = leaf.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise DTypeError(f"{name}(): {what}: expected a floating or complex dtype, got {dtype}")


def _usable(value: Any) -> Any:
    """A tensor that may require grad and be saved: a copy of one made in inference mode."""
    return _ops.clone(value) if is_tensor(value) and value.is_inference() else value


def _outside_inference(function: Callable[..., Any]) -> Callable[..., Any]:
    """A transform whose function, in inference mode, runs as in no_grad mode: what has gradients or tangents is made there."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if not _core.is_inference_mode_enabled():
            return function(*args, **kwargs)
        with inference_mode(False), no_grad():
            return function(*_tree.mapped(_usable, args), **_tree.mapped(_usable, kwargs))

    return wrapped


class _Run:
    """One run of a function with respect to some of its arguments: `fresh` are their copies below all levels."""

    def __init__(
        self, name: str, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Any, has_aux: bool
    ) -> None:
        self.name = name
        self.levels = _levels.active()
        self.places = _places(name, argnums, len(args))
        self.single = isinstance(argnums, int)
        leaves, self.spec = _tree.flatten(tuple(args[i] for i in self.places))
        self.inputs = leaves
        for leaf in leaves:
            _differentiable(name, leaf, "the arguments to differentiate by")
        everything, _ = _tree.flatten((args, kwargs))
        self.recorded = _core.is_grad_enabled() and (_levels.differentiating() or any(map(_wants_grad, everything)))
        with enable_grad(), _levels.differentiated():
            self.fresh = [self._fresh(leaf) for leaf in leaves]
            changed = list(args)
            chosen = _tree.unflatten([lifted(f, self.levels) for f in self.fresh], self.spec)
            for place, value in zip(self.places, chosen):
                changed[place] = value
            self.result = func(*changed, **kwargs)
        self.aux: Any = None
        if has_aux:
            self.result, self.aux = _with_aux(name, self.result)

    def _fresh(self, leaf: Any) -> Any:
        low = lowered(leaf, self.levels)
        if self.recorded and low.requires_grad:
            return low[...]
        return _ops.detach(_usable(low)).requires_grad_()

    def look(self, outputs: list[Any]) -> None:
        """Whether the function uses further tensors that require grad, such as the parameters of a model."""
        if not self.recorded and _core.is_grad_enabled():
            self.recorded = _core.has_other_leaves(outputs, self.fresh)

    def shown(self, value: Any) -> Any:
        """A value of the function as the caller gets it: with its history only where somebody differentiates further."""
        return value if self.recorded else _tree.mapped(_plain, value)

    def outputs(self) -> list[Any]:
        leaves, self.out_spec = _tree.flatten(self.result)
        for leaf in leaves:
            if not is_tensor(leaf):
                raise ArgumentTypeError(f"{self.name}(): expected the function to return Tensors, got {type(leaf).__name__}")
        self.low = [lowered(leaf, self.levels) for leaf in leaves]
        self.look(self.low)
        return leaves

    def pull(self, outputs: list[Any], vectors: list[Any], retain: bool, rows: int | None = None) -> list[Any]:
        """vectors @ Jacobian for tensors below all levels; zeros for inputs that the outputs do not depend on. With rows
        the vectors have an axis in front, and so have the results."""
        recorded = self.recorded or _core.is_grad_enabled() and any(map(_wants_grad, vectors))
        return pulled(outputs, vectors, self.fresh, recorded, retain, rows)

    def built(self, gradients: list[Any]) -> Any:
        """One value for every leaf of the chosen arguments, in their form."""
        made = _tree.unflatten(gradients, self.spec)
        return made[0] if self.single else made


def pulled(
    outputs: list[Any], vectors: list[Any], inputs: list[Any], recorded: bool, retain: bool, rows: int | None = None
) -> list[Any]:
    def nothing(x: Any) -> Any:
        zeros = _ops.zeros_like(_ops.detach(x))
        return zeros if rows is None else _ops.broadcast_to(zeros, (rows, *x.shape))

    live = [(o, v) for o, v in zip(outputs, vectors) if o.requires_grad]
    if not live:
        return [nothing(x) for x in inputs]
    roots, given = [o for o, _ in live], [v for _, v in live]
    flags = _flags(retain or recorded, recorded, True) | (0 if rows is None else BACKWARD_BATCHED)
    found = _core.grad(roots, given, inputs, flags)
    return [nothing(x) if g is None else _like(g, x) for x, g in zip(inputs, found)]


def _places(name: str, argnums: Any, count: int) -> tuple[int, ...]:
    places = (argnums,) if isinstance(argnums, int) else argnums
    if isinstance(argnums, bool) or not isinstance(places, tuple) or not all(isinstance(i, int) for i in places) or not places:
        raise ArgumentTypeError(f"{name}(): argnums: expected an int or a tuple of ints, got {argnums!r}")
    for i in places:
        if not -count <= i < count:
            raise OutOfRangeError(f"{name}(): argnums: {i} is out of range for {count} positional arguments")
    normal = tuple(i % count for i in places)
    if len(set(normal)) != len(normal):
        raise InvalidValueError(f"{name}(): argnums: expected different numbers, got {argnums!r}")
    return normal


# ---- gradients of a single number ----


def value_and_grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives (value, gradient) of a function to a single number; with has_aux ((value, aux), gradient)."""
    return _value_and_grad("value_and_grad", func, argnums, has_aux)


def _value_and_grad(name: str, func: Callable[..., Any], argnums: Any, has_aux: bool) -> Callable[..., Any]:
    @_outside_inference
    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        run = _Run(name, func, args, kwargs, argnums, has_aux)
        value = run.result
        if not is_tensor(value):
            raise ArgumentTypeError(f"{name}(): expected the function to return a Tensor, got {type(value).__name__}")
        if value.ndim != 0:
            raise ShapeError(f"{name}(): expected the function to return a single number (0 axes), got shape {value.shape}")
        _differentiable(name, value, "the result of the function")
        low = lowered(value, run.levels)
        run.look([low])
        gradients = run.pull([low], [_ops.ones_like(_ops.detach(low))], False)
        shown = run.shown(value)
        return (shown, run.shown(run.aux)) if has_aux else shown, run.built([lifted(g, run.levels) for g in gradients])

    return wrapped


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The gradient of a function to a single number, by the arguments at `argnums`: an int, or a tuple of ints for a tuple
    of gradients. With has_aux the function returns (number, aux), and the gradient function (gradient, aux)."""
    both = _value_and_grad("grad", func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapped


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """value_and_grad with its results exchanged, as PyTorch has it."""
    both = _value_and_grad("grad_and_value", func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return gradient, value

    return wrapped


# ---- products with the Jacobian ----


def _same_form(name: str, given: Any, leaves: list[Any], spec: Any, what: str) -> list[Any]:
    found, form = _tree.flatten(given)
    if form != spec:
        raise ArgumentTypeError(f"{name}(): {what}: expected the structure of the {what.split()[-1]}, got another one")
    for vector, leaf in zip(found, leaves):
        if not is_tensor(vector) or tuple(vector.shape) != tuple(leaf.shape):
            got = tuple(vector.shape) if is_tensor(vector) else type(vector).__name__
            raise ShapeError(f"{name}(): {what}: expected shape {tuple(leaf.shape)}, got {got}")
    return found


@_outside_inference
def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """(func(*primals), vjp_fn[, aux]): vjp_fn(vectors of the results' form) gives vectors @ Jacobian, one for each argument.
    It may be called any number of times, inside vmap too."""
    run = _Run("vjp", func, primals, {}, tuple(range(len(primals))), has_aux)
    leaves = run.outputs()
    low = run.low

    def vjp_fn(*vectors: Any) -> tuple[Any, ...]:
        given = vectors[0] if len(vectors) == 1 else vectors
        same = _same_form("vjp_fn", given, leaves, run.out_spec, "vectors for the results")
        found = _pulled_later(lambda v, rows: run.pull(low, v, True, rows), low, same, run.levels)
        made: tuple[Any, ...] = _tree.unflatten(found, run.spec)
        return made

    shown = run.shown(run.result)
    return (shown, vjp_fn, run.shown(run.aux)) if has_aux else (shown, vjp_fn)


Pull = Callable[[list[Any], "int | None"], list[Any]]


def _pulled_later(pull: Pull, outputs: list[Any], vectors: list[Any], levels: tuple[Level, ...]) -> list[Any]:
    """pull(vectors below all levels, rows), for vectors that may vary with levels which began after the function ran."""
    newer = _newest(vectors, levels)
    if newer is None:
        return [lifted(g, levels) for g in pull([lowered(v, levels) for v in vectors], None)]
    if _newest([sample(v, newer, 0) for v in vectors], levels) is None:
        return _pull_batch(pull, outputs, vectors, levels, newer)
    rows = [_pulled_later(pull, outputs, [sample(v, newer, i) for v in vectors], levels) for i in range(newer.samples)]
    return [make(_ops.stack(list(items), 0), newer) for items in zip(*rows)]


def _pull_batch(pull: Pull, outputs: list[Any], vectors: list[Any], levels: tuple[Level, ...], newer: Level) -> list[Any]:
    """The samples of one such level in one backward."""
    count, depth = newer.samples, len(levels)
    given = []
    for vector, output in zip(vectors, outputs):
        if isinstance(vector, Batched) and vector._level is newer:
            given.append(_ops.moveaxis(lowered(physical(vector), levels), depth, 0))
        else:
            given.append(_ops.broadcast_to(lowered(vector, levels), (count, *output.shape)))
    return [make(lifted(_ops.moveaxis(g, 0, depth), levels), newer) for g in pull(given, count)]


def _newest(tensors: list[Any], levels: tuple[Level, ...]) -> Level | None:
    """The innermost level of the tensors that began after the others."""
    found: list[Level] = [t._level for t in tensors if isinstance(t, Batched) and t._level not in levels]
    return max(found, key=lambda level: int(level.depth)) if found else None


@_outside_inference
def jvp(func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], *, has_aux: bool = False) -> Any:
    """(func(*primals), Jacobian @ tangents[, aux]) by forward mode; the tangents have the form of the primals."""
    _pair("jvp", primals, tangents)
    levels = _levels.active()
    leaves, spec = _tree.flatten(tuple(primals))
    for leaf in leaves:
        _differentiable("jvp", leaf, "the primals")
    vectors = _same_form("jvp", tuple(tangents), leaves, spec, "tangents for the primals")
    with forward_ad.dual_level(), _levels.pushed():
        duals = [
            _like(forward_ad.make_dual(lowered(leaf, levels), lowered(vector, levels)), leaf)
            for leaf, vector in zip(leaves, vectors)
        ]
        result = func(*_tree.unflatten([lifted(dual, levels) for dual in duals], spec))
        aux: Any = None
        if has_aux:
            result, aux = _with_aux("jvp", result)
            aux = _tree.mapped(lambda value: _parts(value)[0] if is_tensor(value) else value, aux)
        outputs, out_spec = _tree.flatten(result)
        pairs = [_parts(output) for output in outputs]
    shown, pushed = (_tree.unflatten([pair[i] for pair in pairs], out_spec) for i in range(2))
    return (shown, pushed, aux) if has_aux else (shown, pushed)


def _parts(output: Any) -> tuple[Any, Any]:
    """The value and the tangent of a result."""
    if not is_tensor(output):
        raise ArgumentTypeError(f"jvp(): expected the function to return Tensors, got {type(output).__name__}")
    below, around = output, []
    while isinstance(below, Batched):
        around.append(below._level)
        below = physical(below)
    primal, tangent = forward_ad.unpack_dual(below)
    tangent = _ops.zeros_like(_ops.detach(below)) if tangent is None else _like(tangent, below)
    levels = tuple(reversed(around))
    return lifted(_like(primal, below), levels), lifted(tangent, levels)


def primal(tensor: Any) -> Any:
    """A tensor without its tangent at the innermost level of forward mode."""
    return _parts(tensor)[0]


def _with_aux(name: str, result: Any) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise ArgumentTypeError(f"{name}(): has_aux: expected the function to return (result, aux)")
    return result[0], result[1]


def _pair(name: str, primals: Any, tangents: Any) -> None:
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise ArgumentTypeError(f"{name}(): {what}: expected a tuple, got {type(given).__name__}")


@_outside_inference
def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """(func(*primals), jvp_fn): jvp_fn(*tangents) gives Jacobian @ tangents without another run of the function, inside vmap
    too. With dummies in place of vectors, dummies @ Jacobian is linear in the dummies; its derivative by them is the Jacobian."""
    run = _Run("linearize", func, primals, {}, tuple(range(len(primals))), False)
    run.outputs()
    with enable_grad():
        dummies = [_ops.zeros_like(_ops.detach(o)).requires_grad_() for o in run.low]
        products = pulled(run.low, dummies, run.fresh, True, True)

    def push(*tangents: Any) -> Any:
        given = _same_form("linearize", tangents, run.inputs, run.spec, "tangents for the primals")

        def pull(vectors: list[Any], rows: int | None) -> list[Any]:
            recorded = run.recorded or _core.is_grad_enabled() and any(map(_wants_grad, vectors))
            return pulled(products, vectors, dummies, recorded, True, rows)

        return _tree.unflatten(_pulled_later(pull, products, given, run.levels), run.out_spec)

    return run.shown(run.result), push


# ---- Jacobians ----


def jacrev(
    func: Callable[..., Any], argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """The Jacobian by reverse mode: for each result, and in it for each argument, a tensor of shape result.shape +
    argument.shape. One backward computes `chunk_size` rows at once, all rows without it."""
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise InvalidValueError(f"jacrev(): chunk_size: expected None or an int above 0, got {chunk_size!r}")

    @_outside_inference
    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        run = _Run("jacrev", func, args, kwargs, argnums, has_aux)
        blocks = [run.built(_rows(run, leaf, low, chunk_size)) for leaf, low in zip(run.outputs(), run.low)]
        made = _tree.unflatten(blocks, run.out_spec)
        return (made, run.shown(run.aux)) if has_aux else made

    return wrapped


def _rows(run: _Run, output: Any, low: Any, chunk: int | None) -> list[Any]:
    """The derivatives of one result by each input."""
    _differentiable("jacrev", output, "the result of the function")
    front = low.shape[: len(run.levels)]
    shape = tuple(output.shape)
    count = 1
    for size in shape:
        count *= size
    basis = _ops.reshape(_ops.eye(count, dtype=low.dtype, device=low.device), (count, *(1,) * len(front), *shape))
    parts = []
    for start in range(0, count, chunk or max(count, 1)):
        some = _ops.narrow(basis, 0, start, min(chunk or count, count - start))
        size = int(some.shape[0])
        parts.append(run.pull([low], [_ops.broadcast_to(some, (size, *low.shape))], True, size))
    made = []
    for index, x in enumerate(run.fresh):
        rest = x.shape[len(front) :]
        if parts:
            rows = parts[0][index] if len(parts) == 1 else _ops.concat([part[index] for part in parts], 0)
            block = _ops.moveaxis(rows, 0, len(front))
        else:
            block = _like(_ops.zeros((*front, 0, *rest), dtype=x.dtype, device=x.device), x)
        made.append(lifted(_ops.reshape(block, (*front, *shape, *rest)), run.levels))
    return made


def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """The Jacobian by forward mode, for all elements of the arguments at once: in the form of jacrev."""

    @_outside_inference
    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        places = _places("jacfwd", argnums, len(args))
        leaves, spec = _tree.flatten(tuple(args[i] for i in places))
        for leaf in leaves:
            _differentiable("jacfwd", leaf, "the arguments to differentiate by")
        form: list[Any] = []

        def run(*primals: Any) -> Any:
            changed = list(args)
            for place, value in zip(places, primals):
                changed[place] = value
            return func(*changed, **kwargs)

        def push(*tangents: Any) -> Any:
            found = jvp(run, _tree.unflatten(leaves, spec), _tree.unflatten(list(tangents), spec), has_aux=has_aux)
            outputs, out_spec = _tree.flatten(found[1])
            form[:] = [out_spec, found[2] if has_aux else None]
            return tuple(outputs), tuple(_tree.flatten(found[2])[0]) if has_aux else ()

        total = sum(map(_numel, leaves))
        if total:
            columns, aux = vmap(push, out_dims=(-1, 0), randomness=randomness)(*_basis(leaves))
        else:  # a batch of no samples: the shapes are those of one
            found, aux = push(*(_ops.zeros_like(_ops.detach(leaf)) for leaf in leaves))
            columns = [_ops.expand_dims(t, -1)[..., :0] for t in found]
        ends, at = [], 0
        for leaf in leaves:
            ends.append((at, _numel(leaf)))
            at += _numel(leaf)
        blocks = []
        for column in columns:
            parts = [
                _ops.reshape(_ops.narrow(column, -1, start, count), (*column.shape[:-1], *leaf.shape))
                for (start, count), leaf in zip(ends, leaves)
            ]
            made = _tree.unflatten(parts, spec)
            blocks.append(made[0] if isinstance(argnums, int) else made)
        result = _tree.unflatten(blocks, form[0])
        if not has_aux:
            return result
        aux = [_ops.select(a, 0, 0) for a in aux] if total else list(aux)
        return result, _tree.unflatten(aux, _tree.flatten(form[1])[1])

    return wrapped


def _numel(leaf: Any) -> int:
    count = 1
    for size in leaf.shape:
        count *= int(size)
    return count


def _basis(leaves: list[Any]) -> list[Any]:
    """For each leaf, the unit vectors of all leaves together as far as they are in it."""
    total = sum(map(_numel, leaves))
    made, at = [], 0
    for leaf in leaves:
        count = _numel(leaf)
        block = _ops.eye(total, count, k=-at, dtype=leaf.dtype, device=leaf.device)
        made.append(_like(_ops.reshape(block, (total, *leaf.shape)), leaf))
        at += count
    return made


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """The second derivatives: forward mode over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)

