# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms from unconstrained numbers to the values of a constraint: `biject_to` one to one, `transform_to` in whatever
way is easiest to optimise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .._errors import ArgumentTypeError, NotSupportedError
from . import constraints, transforms
from .constraints import Constraint
from .transforms import Transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = TypeVar("Factory", bound=Callable[[Any], Transform])


class ConstraintRegistry:
    """Functions that make a transform for a constraint, by the class of the constraint."""

    def __init__(self) -> None:
        self._table: dict[type[Constraint], Callable[[Any], Transform]] = {}

    def register(self, constraint: Constraint | type[Constraint], factory: Factory | None = None) -> Any:
        """Keeps a function for a class of constraints (or that of a constraint); without one, a decorator."""
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, Constraint)):
            raise ArgumentTypeError(f"register(): expected a constraint or a class of such, got {constraint!r}")
        if factory is None:
            return lambda given: self.register(kind, given)
        self._table[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        factory = self._table.get(type(constraint))
        if factory is None:
            raise NotSupportedError(f"no transform is known for {constraint!r}")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _register(kind: type[Constraint], factory: Callable[[Any], Transform]) -> None:
    biject_to.register(kind, factory)
    transform_to.register(kind, factory)


def _shifted(transform: Transform, loc: Any, scale: Any) -> Transform:
    return transforms.ComposeTransform([transform, transforms.AffineTransform(loc, scale)])


def _above(c: Any) -> Transform:
    return _shifted(transforms.ExpTransform(), c.lower_bound, 1)


def _below(c: Any) -> Transform:
    return _shifted(transforms.ExpTransform(), c.upper_bound, -1)


def _between(c: Any) -> Transform:
    if isinstance(c.lower_bound, (int, float)) and c.lower_bound == 0 and c.upper_bound == 1:
        return transforms.SigmoidTransform()
    return _shifted(transforms.SigmoidTransform(), c.lower_bound, c.upper_bound - c.lower_bound)


_register(constraints.Real, lambda c: transforms.identity_transform)
_register(constraints.GreaterThan, _above)
_register(constraints.GreaterThanEq, _above)
_register(constraints.LessThan, _below)
_register(constraints.Interval, _between)
_register(constraints.HalfOpenInterval, _between)
_register(constraints.LowerCholesky, lambda c: transforms.LowerCholeskyTransform())
_register(constraints.CorrCholesky, lambda c: transforms.CorrCholeskyTransform())
_register(constraints.PositiveDefinite, lambda c: transforms.PositiveDefiniteTransform())
_register(constraints.PositiveSemidefinite, lambda c: transforms.PositiveDefiniteTransform())
biject_to.register(constraints.Simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.Simplex, lambda c: transforms.SoftmaxTransform())


def _independent(registry: ConstraintRegistry) -> Callable[[Any], Transform]:
    return lambda c: transforms.IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims)


biject_to.register(constraints.Independent, _independent(biject_to))
transform_to.register(constraints.Independent, _independent(transform_to))


def _joined(registry: ConstraintRegistry) -> None:
    registry.register(
        constraints.Cat, lambda c: transforms.CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths)
    )
    registry.register(constraints.Stack, lambda c: transforms.StackTransform([registry(part) for part in c.cseq], c.dim))


_joined(biject_to)
_joined(transform_to)
