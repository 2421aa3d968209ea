# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The base of transforms."""

from __future__ import annotations

from typing import Any

from .._errors import InvalidValueError, NotSupportedError
from .._tensor import Tensor
from . import constraints
from ._values import Shape, ShapeLike, shape_of


class Transform:
    """A function from `domain` to `codomain`. With cache_size 1 the last pair of input and output is kept, so that the
    inverse of a result is exact."""

    bijective = False
    domain: constraints.Constraint = constraints.real
    codomain: constraints.Constraint = constraints.real

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise InvalidValueError(f"{type(self).__name__}: cache_size: expected 0 or 1, got {cache_size}")
        self._cache_size = cache_size
        self._last: tuple[Any, Any] = (None, None)

    @property
    def inv(self) -> Transform:
        """The inverse of this transform."""
        return _Inverse(self)

    @property
    def sign(self) -> Any:
        """The sign of the derivative of a bijective transform of single numbers."""
        raise NotSupportedError(f"{type(self).__name__} has no sign")

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._cache_size, made._last = cache_size, (None, None)
        return made

    def __call__(self, x: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._call(x)
        if self._last[0] is not x:
            self._last = x, self._call(x)
        y: Tensor = self._last[1]
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._inverse(y)
        if self._last[1] is not y:
            self._last = self._inverse(y), y
        x: Tensor = self._last[0]
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotSupportedError(f"{type(self).__name__} is no function of tensors")

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotSupportedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy / dx| of an input and its output, one number for each event."""
        raise NotSupportedError(f"{type(self).__name__} has no log_abs_det_jacobian")

    def forward_shape(self, shape: ShapeLike) -> Shape:
        """The shape of the output for an input of this shape."""
        return shape_of(shape, "shape")

    def inverse_shape(self, shape: ShapeLike) -> Shape:
        return shape_of(shape, "shape")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._same(other)

    def _same(self, other: Any) -> bool:
        return True

    def __hash__(self) -> int:
        return id(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._of = transform
        self.bijective = transform.bijective
        self.domain, self.codomain = transform.codomain, transform.domain

    @property
    def inv(self) -> Transform:
        return self._of

    @property
    def sign(self) -> Any:
        return self._of.sign

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._of.with_cache(cache_size).inv

    def __call__(self, x: Tensor) -> Tensor:
        return self._of._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._of(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._of.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: ShapeLike) -> Shape:
        return self._of.inverse_shape(shape)

    def inverse_shape(self, shape: ShapeLike) -> Shape:
        return self._of.forward_shape(shape)

    def _same(self, other: Any) -> bool:
        return bool(self._of == other._of)

    __hash__ = Transform.__hash__

    def __repr__(self) -> str:
        return f"{self._of!r}.inv"
