# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The conformance calls as data of no language: each op's cases and its gradient, with the keys of their tensors.

Every language's emitter prints a Replay as one test; tests/conformance/README.md says what the test does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Union

from ..schema.model import Arg, Case, CFunction, Literal, Op, Schema
from .matching import FLOATS, Match, gradient_function, gradient_place, matching

TOLERANCES = {  # of results of a dtype, relative and absolute; others are compared exactly
    "f16": (1e-3, 1e-5),
    "bf16": (1.6e-2, 1e-5),
    "f32": (1.3e-6, 1e-5),
    "c64": (1.3e-6, 1e-5),
    "f64": (1e-7, 1e-7),
    "c128": (1e-7, 1e-7),
}


@dataclass(frozen=True)
class Stored:
    """A tensor of vectors.safetensors. Its literal has no data where make_vectors.py computes it."""

    key: str
    literal: Literal

    @property
    def pairs(self) -> bool:
        """complex128, which the format does not know, is stored as float64 with a last axis of (real, imaginary)."""
        return self.literal.dtype == "c128"


Tensors = Union[Stored, "tuple[Stored | None, ...]"]  # one, or a list with holes


@dataclass(frozen=True)
class Given:
    """An argument of a replay. `value` is None (absent), a Stored, a tuple (list), a number, text, a DType, a
    Constant, or ("cpu", 0); numbers have the type of the argument: int for int64, float for f64, any for a scalar."""

    arg: Arg  # of the C function: type `scalar` where the overload takes a host number for a tensor
    value: Any
    stated: bool  # False: the value is the argument's default
    changes: bool  # the call writes to it: pass a copy of what is stored


@dataclass(frozen=True)
class Gradient:
    """Backward of the sum of result * weight, in float64. Keys of both are names of results or arguments."""

    weights: dict[str, Tensors]  # of floating results, or of the argument that the op changes
    grads: dict[str, Tensors]  # what the arguments that require a gradient receive


@dataclass(frozen=True)
class Replay:
    """One call with what must come out of it."""

    name: str  # sum_0, add_3_i64, sum_gradient: of the test in every language
    number: int  # of the case in the schema
    functions: tuple[CFunction, ...]  # that can make the call: one of each form
    args: tuple[Given, ...]  # in order; those of outs are `results`
    results: dict[str, Tensors]  # by name, in order; empty for an op that only mutates
    after: dict[str, Tensors]  # arguments as they stand after the call
    rtol: float | None  # instead of the dtype's, when the case states one
    atol: float | None
    error: str | None = None  # the status with which the call must fail
    everywhere: bool = True  # False: replayed from C only, where a form or a refusal is concerned
    gradient: Gradient | None = None
    grad: dict[str, Tensors] = field(default_factory=dict)  # what lists of leaves hold as gradients before the call
    after_grad: dict[str, Tensors] = field(default_factory=dict)  # what they hold after it; a hole: none

    @property
    def function(self) -> CFunction:
        """That the languages call: functional, or in place where the op has no other form."""
        return self.functions[0]

    @cached_property
    def op(self) -> Op:
        assert self.function.op is not None
        return self.function.op

    def is_leaf(self, name: str) -> bool:
        """Whether the argument collects a gradient."""
        return name in self.grad or (self.gradient is not None and name in self.gradient.grads)

    def variable(self, name: str) -> str:
        """What holds an argument or a result: of a leaf that the op writes to, a copy, as a leaf must not change."""
        writes = any(g.changes and g.arg.name == name for g in self.args)
        return "changed" if writes and self.is_leaf(name) else name

    def tolerance(self, expected: Stored) -> tuple[float, float]:
        """(rtol, atol) of one result."""
        rtol, atol = TOLERANCES.get(expected.literal.dtype, (0.0, 0.0))
        return (rtol if self.rtol is None else self.rtol, atol if self.atol is None else self.atol)

    def stored(self) -> Iterator[Stored]:
        """Every tensor of the replay."""
        groups = [[g.value for g in self.args], self.results.values(), self.after.values()]
        groups += [self.grad.values(), self.after_grad.values()]
        if self.gradient is not None:
            groups += [self.gradient.weights.values(), self.gradient.grads.values()]
        for tensors in (t for group in groups for t in group):
            for one in tensors if isinstance(tensors, tuple) else (tensors,):
                if isinstance(one, Stored):
                    yield one


def replays(schema: Schema) -> list[Replay]:
    """What every language replays, in the order of the schema."""
    return [replay for op in schema.ops for replay in op_replays(schema, op)]


def op_replays(schema: Schema, op: Op) -> list[Replay]:
    return [replay for replay in op_records(schema, op) if replay.everywhere]


def replay_form(op: Op) -> str:
    return "inplace" if op.forms == ("inplace",) else "functional"


def op_records(schema: Schema, op: Op) -> list[Replay]:
    """Every case of an op, and its gradients."""
    found = []
    for number, case in enumerate(op.cases):
        by_kind: dict[str | None, list[Match]] = {}
        for match in matching(op, case):
            by_kind.setdefault(match.kind, []).append(match)
        for kind, matches in by_kind.items():
            functions, called = tuple(m.function for m in matches), matches[0].case
            suffix = f"_{kind}" if len(by_kind) > 1 and kind else ""
            found.append(_case_replay(schema, functions, called, number, f"{op.name}_{number}", suffix))
    form = replay_form(op)
    gradients = [_gradient_replay(schema, op, f) for f in sorted({form, "inplace"})]  # functional first
    return found + [g for g in gradients if g is not None]


def unreplayed(schema: Schema) -> list[str]:
    """Ops without a replay."""
    return [op.name for op in schema.ops if not op_replays(schema, op)]


def _states_values(case: Case) -> bool:
    results = [*case.returns, *case.after.values()]
    return all(
        literal.data is not None for result in results for literal in (result if isinstance(result, list) else [result])
    )


def _case_replay(schema: Schema, functions: tuple[CFunction, ...], case: Case, number: int, prefix: str, suffix: str) -> Replay:
    function = functions[0]
    op = function.op
    assert op is not None
    results, after = case.returns, dict(case.after)
    if function.form == "inplace" and results:
        after = {op.args[0].name: results[0]} | after
        results = ()
    return Replay(
        name=prefix + suffix,
        number=number,
        functions=functions,
        args=_arguments(schema, function, case, prefix),
        results=_stored_results(op, results, f"{prefix}/out"),
        after={n: _stored(v, f"{prefix}/after/{n}") for n, v in after.items()},
        rtol=case.rtol,
        atol=case.atol,
        error=case.error,
        everywhere=case.error is None and function.form == replay_form(op) and _states_values(case),
        grad={n: _stored(v, f"{prefix}/grad/{n}") for n, v in case.grad.items()},
        after_grad={n: _stored(v, f"{prefix}/after_grad/{n}") for n, v in case.after_grad.items()},
    )


def _gradient_replay(schema: Schema, op: Op, form: str) -> Replay | None:
    """In the form of the languages' replays with results and gradients; for C alone in place, too."""
    place = gradient_place(op, form)
    if place is None:
        return None
    case, inputs = place
    everywhere = form == replay_form(op)
    name = f"{op.name}_gradient" + ("" if everywhere else "_inplace")
    other = None if everywhere else _gradient_replay(schema, op, replay_form(op))
    computed = Case(case.args, tuple(_computed(r) for r in case.returns))
    if form == "inplace" and not case.returns:  # setitem states what its input becomes
        computed = Case(case.args, after={n: _computed(v) for n, v in case.after.items()})
    stated = (case.returns, case.after)
    number = next(i for i, c in enumerate(op.cases) if (c.returns, c.after) == stated)
    replay = replace(_case_replay(schema, (gradient_function(op, form),), computed, number, name, ""), name=name)
    if other is not None and _literals(other) == _literals(replay):
        return _in_place_of(other, replay)
    weights = {}
    for result, value in {**replay.results, **replay.after}.items():
        literals = [s.literal for s in (value if isinstance(value, tuple) else (value,)) if s]
        if all(literal.dtype == "f64" for literal in literals):
            drawn = [_weight(literal, i) for i, literal in enumerate(literals)]
            weights[result] = _stored(drawn if isinstance(value, tuple) else drawn[0], f"{name}/weight/{result}")
    grads = {n: _stored(_computed(case.args[n]), f"{name}/grad/{n}") for n in inputs}
    return replace(replay, everywhere=everywhere, gradient=Gradient(weights, grads))


def _literals(replay: Replay) -> list[Any]:
    """The values of the arguments, whatever their keys are."""

    def plain(value: Any) -> Any:
        return tuple(map(plain, value)) if isinstance(value, tuple) else getattr(value, "literal", value)

    return [plain(given.value) for given in replay.args]


def _in_place_of(other: Replay, replay: Replay) -> Replay:
    """The in-place replay of the same values: what was result, weight and gradient there is so here."""
    assert other.gradient is not None
    (changed,) = replay.after
    (result,) = other.results.values()
    (weight,) = other.gradient.weights.values()
    return replace(
        replay,
        args=tuple(replace(g, value=o.value) for g, o in zip(replay.args, other.args)),
        after={changed: result},
        everywhere=False,
        gradient=Gradient({changed: weight}, other.gradient.grads),
    )


def _computed(value: Any) -> Any:
    """The literals without data, floating ones as float64."""
    if isinstance(value, list):
        return [_computed(v) for v in value]
    return Literal("f64" if value.dtype in FLOATS else value.dtype, value.shape, None)


def _weight(like: Literal, place: int) -> Literal:
    """Of both signs, never near 0, no short period, exact in binary."""
    count = 1
    for size in like.shape:
        count *= size
    data = tuple((0.5 + ((5 * i + 3 * place) % 7) / 8) * (1 if (i + place) % 2 == 0 else -1) for i in range(count))
    return Literal("f64", like.shape, data)


def _stored(value: Any, key: str) -> Any:
    if isinstance(value, list):
        return tuple(_stored(v, f"{key}/{i}") for i, v in enumerate(value))
    return None if value is None else Stored(key, value)


def _stored_results(op: Op, values: tuple[Any, ...], key: str) -> dict[str, Tensors]:
    return {r.name: _stored(v, f"{key}/{r.name}") for r, v in zip(op.returns, values)}


def _arguments(schema: Schema, function: CFunction, case: Case, prefix: str) -> tuple[Given, ...]:
    op = function.op
    assert op is not None
    found = []
    for place, arg in enumerate(function.args[: len(op.args)]):
        stated = arg.name in case.args
        value = case.args.get(arg.name, None if arg.required else arg.default)
        changes = arg.name in op.mutates or (function.form == "inplace" and place == 0)
        value = _value(schema, arg, value, f"{prefix}/in/{arg.name}")
        found.append(Given(arg, value, stated, changes))
    return tuple(found)


def _value(schema: Schema, arg: Arg, value: Any, key: str) -> Any:
    """The argument in the type that the function takes."""
    kind = arg.type
    if value is None:
        return None
    if kind.base == "tensor":
        return _stored(value, key)
    if kind.is_list:
        number = float if kind.base == "f64" else int
        return tuple(number(v) for v in value)
    if kind.base == "scalar":
        return host_number(value)
    if kind.base == "dtype":
        return schema.dtype(value)
    if kind.base == "enum":
        return schema.enum(kind.name or "").constant(value)
    if kind.base == "device":
        return ("cpu", 0)
    return {"f64": float, "int64": int, "bool": bool, "str": str}[kind.base](value)


def number_fields(value: bool | int | float | complex) -> list[Any]:
    """The fields of a tsr_number that holds it."""
    if isinstance(value, complex):
        return [4, 0, 0, value.real, value.imag]
    if isinstance(value, float):
        return [3, 0, 0, value, 0.0]
    return [1 if isinstance(value, bool) else 2, 0, int(value), 0.0, 0.0]


def host_number(value: Any) -> bool | int | float | complex:
    """A number of a case; complex ones are text there."""
    number: bool | int | float | complex = complex(value.replace(" ", "")) if isinstance(value, str) else value
    return number
