# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The base of all distributions: shapes, validation, and what follows from the other methods."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from .. import _ops
from .._errors import ArgumentTypeError, InvalidValueError, NotSupportedError, ShapeError
from .._tensor import Tensor
from .._modes import no_grad
from . import constraints
from ._values import Shape, ShapeLike, shape_of

Self = TypeVar("Self", bound="Distribution")


class Distribution:
    """A batch of independent distributions of one kind.

    A sample has the shape sample_shape + batch_shape + event_shape: so many draws, so many distributions, and the axes of
    one value. `log_prob` gives one number for each value.
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}
    support: Any = None  # the constraint that every sample meets
    has_rsample: ClassVar[bool] = False
    has_enumerate_support: ClassVar[bool] = False
    _validate_args: bool = __debug__

    def __init__(
        self, batch_shape: ShapeLike = (), event_shape: ShapeLike = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape = shape_of(batch_shape, "batch_shape")
        self._event_shape = shape_of(event_shape, "event_shape")
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check their parameters and values unless they are told otherwise."""
        if value not in (True, False):
            raise InvalidValueError(f"set_default_validate_args(): expected True or False, got {value!r}")
        Distribution._validate_args = bool(value)

    # ---- shapes ----

    @property
    def batch_shape(self) -> Shape:
        return self._batch_shape

    @property
    def event_shape(self) -> Shape:
        return self._event_shape

    def expand(self: Self, batch_shape: ShapeLike) -> Self:
        """The same distributions, broadcast to a larger batch; parameters are views."""
        shape = shape_of(batch_shape, "batch_shape")
        made = self._copy(shape)
        for name, constraint in self.arg_constraints.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                own = value.shape[value.ndim - constraint.event_dim :]
                made.__dict__[name] = _ops.broadcast_to(value, shape + own)
        return made

    def _copy(self: Self, batch_shape: Shape) -> Self:
        """A distribution without parameters, for expand()."""
        made = object.__new__(type(self))
        made._batch_shape, made._event_shape = batch_shape, self._event_shape
        made._validate_args = self._validate_args
        return made

    def _extended_shape(self, sample_shape: ShapeLike = ()) -> Shape:
        return shape_of(sample_shape) + self._batch_shape + self._event_shape

    # ---- moments ----

    @property
    def mean(self) -> Tensor:
        raise self._missing("mean")

    @property
    def mode(self) -> Tensor:
        raise self._missing("mode")

    @property
    def variance(self) -> Tensor:
        raise self._missing("variance")

    @property
    def stddev(self) -> Tensor:
        return _ops.sqrt(self.variance)

    # ---- samples ----

    def sample(self, sample_shape: ShapeLike = ()) -> Tensor:
        """Random values; they take no part in any graph."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: ShapeLike = ()) -> Tensor:
        """Random values that can be differentiated with respect to the parameters."""
        raise self._missing("rsample")

    # ---- probabilities ----

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density (or probability) at each value."""
        raise self._missing("log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of at most each value."""
        raise self._missing("cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of cdf."""
        raise self._missing("icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution, along the first axis."""
        raise self._missing("enumerate_support")

    def entropy(self) -> Tensor:
        raise self._missing("entropy")

    def perplexity(self) -> Tensor:
        """e to the entropy"""
        return _ops.exp(self.entropy())

    # ---- validation ----

    def _check_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            if constraints.is_dependent(constraint) or name not in self.__dict__:
                continue
            value = getattr(self, name)
            if not bool(_ops.all(constraint.check(value))):
                raise InvalidValueError(
                    f"{type(self).__name__}: {name}: expected values in {constraint!r}, got one outside in a tensor of "
                    f"shape {value.shape}"
                )

    def _validate_sample(self, value: Any) -> None:
        """Throws for a value that cannot be one of this distribution."""
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ArgumentTypeError(f"{type(self).__name__}: value: expected a tensor, got {type(value).__name__}")
        own = len(self._event_shape)
        if value.ndim < own or value.shape[value.ndim - own :] != self._event_shape:
            raise ShapeError(
                f"{type(self).__name__}: value: expected a shape that ends in {self._event_shape}, got {value.shape}"
            )
        for wanted, size in zip(reversed(self._batch_shape + self._event_shape), reversed(value.shape)):
            if wanted not in (1, size) and size != 1:
                raise ShapeError(
                    f"{type(self).__name__}: value: expected a shape that broadcasts with "
                    f"{self._batch_shape + self._event_shape}, got {value.shape}"
                )
        support = self.support
        if support is not None and not constraints.is_dependent(support) and not bool(_ops.all(support.check(value))):
            raise InvalidValueError(
                f"{type(self).__name__}: value: expected values in the support {support!r}, got one outside in a tensor "
                f"of shape {value.shape}"
            )

    def _missing(self, method: str) -> NotSupportedError:
        return NotSupportedError(f"{type(self).__name__} has no {method}")

    def __repr__(self) -> str:
        shown = []
        for name in self.arg_constraints:
            value = getattr(self, name) if name in self.__dict__ else None
            if isinstance(value, Tensor):
                shown.append(f"{name}: {value.item() if value.numel() == 1 else value.shape}")
        return f"{type(self).__name__}({', '.join(shown)})"
