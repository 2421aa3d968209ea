# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Constraints: which values parameters and samples may have, as checks that give one truth for each event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _ops
from .._dtypes import bool_
from .._errors import InvalidValueError
from .._tensor import Tensor
from ._values import Value, all_rightmost, eps_of, sum_rightmost

__all__ = [
    "Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property", "greater_than", "greater_than_eq",
    "half_open_interval", "independent", "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky",
    "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_definite",
    "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square", "stack", "symmetric",
    "unit_interval",
]  # fmt: skip


class Constraint:
    """A set of values. `event_dim` is how many of the last axes belong to one value."""

    is_discrete: bool = False
    event_dim: int = 0

    def check(self, value: Tensor) -> Tensor:
        """Which values are in the set, as a tensor of bool without the event's axes."""
        raise NotImplementedError(f"{type(self).__name__}.check()")

    def __repr__(self) -> str:
        bounds = [f"{name}={_bound(vars(self)[name])}" for name in ("lower_bound", "upper_bound") if name in vars(self)]
        return f"{type(self).__name__.lstrip('_')}({', '.join(bounds)})"


class _Dependent(Constraint):
    """Stands for a constraint that depends on other values, and checks nothing. A call states what is known of it."""

    def __init__(self, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        self.is_discrete, self.event_dim = bool(is_discrete), event_dim

    def __call__(self, *, is_discrete: bool = False, event_dim: int = 0) -> _Dependent:
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, value: Tensor) -> Tensor:
        raise NotImplementedError("a dependent constraint cannot be checked without the values that it depends on")


class dependent_property(property, _Dependent):  # noqa: N801 (PyTorch's name)
    """A property that is the constraint of an instance, and a dependent constraint of the class.

    With `is_discrete` or `event_dim` alone it is a decorator.
    """

    def __init__(
        self, fn: Callable[[Any], Any] | None = None, *, is_discrete: bool = False, event_dim: int = 0
    ) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Any = None, *, is_discrete: bool = False, event_dim: int = 0) -> Any:
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)


def is_dependent(constraint: object) -> bool:
    """Whether the constraint depends on other values."""
    return isinstance(constraint, _Dependent)


class Independent(Constraint):
    """Another constraint for all elements of the last axes together."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        return all_rightmost(self.base_constraint.check(value), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _ops.logical_or(value == 0, value == 1)


class OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        bits = _ops.logical_or(value == 0, value == 1)
        return _ops.logical_and(_ops.all(bits, -1), _ops.sum(value, -1) == 1)


class Real(Constraint):
    """Everything but NaN."""

    def check(self, value: Tensor) -> Tensor:
        return value == value  # noqa: PLR0124


class GreaterThan(Constraint):
    def __init__(self, lower_bound: Value) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Tensor) -> Tensor:
        return _ops.greater(value, self.lower_bound)


class GreaterThanEq(GreaterThan):
    def check(self, value: Tensor) -> Tensor:
        return _ops.greater_equal(value, self.lower_bound)


class LessThan(Constraint):
    def __init__(self, upper_bound: Value) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return _ops.less(value, self.upper_bound)


class Interval(Constraint):
    """[lower_bound, upper_bound]"""

    def __init__(self, lower_bound: Value, upper_bound: Value) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Tensor) -> Tensor:
        return _ops.logical_and(
            _ops.greater_equal(value, self.lower_bound), _ops.less_equal(value, self.upper_bound)
        )


class HalfOpenInterval(Interval):
    """[lower_bound, upper_bound)"""

    def check(self, value: Tensor) -> Tensor:
        return _ops.logical_and(_ops.greater_equal(value, self.lower_bound), _ops.less(value, self.upper_bound))


class IntegerInterval(Interval):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _ops.logical_and(_whole(value), super().check(value))


class IntegerGreaterThan(GreaterThanEq):
    """Whole numbers from a bound on."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _ops.logical_and(_whole(value), super().check(value))


class Simplex(Constraint):
    """Vectors of numbers of at least 0 whose sum is 1, up to 1e-6."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        close = _ops.abs(_ops.sum(value, -1) - 1) < 1e-6
        return _ops.logical_and(_ops.all(value >= 0, -1), close)


class Multinomial(Constraint):
    """Vectors of numbers of at least 0 whose sum is at most a bound; fractions are shares of counts, as in PyTorch."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Value) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return _ops.logical_and(_ops.all(value >= 0, -1), _ops.less_equal(sum_rightmost(value, 1), self.upper_bound))


class Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        one = _ops.sum(value, (-2, -1))  # for each matrix, of the caller's class of tensors
        return _ops.full_like(one, value.shape[-2] == value.shape[-1], dtype=bool_)


class Symmetric(Square):
    def check(self, value: Tensor) -> Tensor:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return all_rightmost(_ops.isclose(value, _ops.matrix_transpose(value), atol=1e-6), 2)


class PositiveDefinite(Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if not bool(_ops.all(symmetric)):
            return symmetric
        return self._signs(_ops.eigvalsh(value))

    def _signs(self, eigenvalues: Tensor) -> Tensor:
        return _ops.all(eigenvalues > 0, -1)


class PositiveSemidefinite(PositiveDefinite):
    def _signs(self, eigenvalues: Tensor) -> Tensor:
        return _ops.all(eigenvalues >= 0, -1)


class LowerCholesky(Constraint):
    """Lower triangular matrices whose diagonals are positive."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        lower = all_rightmost(value == _ops.tril(value), 2)
        return _ops.logical_and(lower, _ops.all(_ops.diagonal(value, 0, -2, -1) > 0, -1))


class LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return all_rightmost(value == _ops.tril(value), 2)


class CorrCholesky(LowerCholesky):
    """Triangular factors of correlation matrices: their rows have length 1."""

    def check(self, value: Tensor) -> Tensor:
        # The squares of as many numbers as a row has are each off by one rounding.
        tolerance = 10 * eps_of(value) * value.shape[-1]
        long = _ops.abs(_ops.sum(_ops.square(value), -1) - 1) <= tolerance
        return _ops.logical_and(super().check(value), _ops.all(long, -1))


class Cat(Constraint):
    """A constraint for each part along an axis."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise InvalidValueError(f"cat: lengths: expected {len(self.cseq)} of them, got {len(self.lengths)}")
        self.is_discrete = any(c.is_discrete for c in self.cseq)
        self.event_dim = max((c.event_dim for c in self.cseq), default=0)

    def check(self, value: Tensor) -> Tensor:
        parts = _ops.split_with_sizes(value, self.lengths, self.dim)
        return _ops.concat([c.check(part) for c, part in zip(self.cseq, parts)], self.dim)


class Stack(Constraint):
    """A constraint for each item along an axis."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.is_discrete = any(c.is_discrete for c in self.cseq)
        # An axis of items that is among the event's, counted from the end, belongs to the event.
        event_dim = max((c.event_dim for c in self.cseq), default=0)
        self.event_dim = event_dim + 1 if self.dim + event_dim < 0 else event_dim

    def check(self, value: Tensor) -> Tensor:
        items = _ops.unstack(value, self.dim)
        return _ops.stack([c.check(item) for c, item in zip(self.cseq, items)], self.dim)


def _whole(value: Tensor) -> Tensor:
    return _ops.logical_and(_ops.floor(value) == value, _ops.isfinite(value))


def _bound(bound: Any) -> Any:
    return bound.item() if isinstance(bound, Tensor) and bound.numel() == 1 else bound


dependent = _Dependent()
boolean = Boolean()
one_hot = OneHot()
nonnegative_integer = IntegerGreaterThan(0)
positive_integer = IntegerGreaterThan(1)
integer_interval = IntegerInterval
real = Real()
real_vector = Independent(real, 1)
positive = GreaterThan(0.0)
nonnegative = GreaterThanEq(0.0)
greater_than = GreaterThan
greater_than_eq = GreaterThanEq
less_than = LessThan
interval = Interval
half_open_interval = HalfOpenInterval
unit_interval = Interval(0.0, 1.0)
simplex = Simplex()
multinomial = Multinomial
cat = Cat
stack = Stack
corr_cholesky = CorrCholesky()
lower_triangular = LowerTriangular()
positive_semidefinite = PositiveSemidefinite()
square = Square()
symmetric = Symmetric()
lower_cholesky = LowerCholesky()
positive_definite = PositiveDefinite()
independent = Independent
