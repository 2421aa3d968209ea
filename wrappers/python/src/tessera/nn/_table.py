# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What layers share that look rows up in a table."""

from __future__ import annotations

from typing import Any, TypeVar

from .. import _ops
from .._errors import InvalidValueError, ShapeError, as_int
from .._modes import no_grad
from .._tensor import Tensor
from . import init
from .module import Module
from .parameter import Parameter

T = TypeVar("T", bound="_Table")


def limited(input: Tensor, weight: Tensor, max_norm: float | None, norm_type: float = 2.0) -> Tensor:
    """The table itself. Rows that are looked up and whose norm is above `max_norm` are scaled down to it, in place."""
    if max_norm is None:
        return weight
    with no_grad():
        table = weight.detach()
        rows = _ops.unique_values(_ops.reshape(input, (-1,)))
        chosen = _ops.index_select(table, 0, rows)
        norms = _ops.vector_norm(chosen, 1, ord=float(norm_type), keepdims=True)
        factor = _ops.where(norms > max_norm, max_norm / (norms + 1e-7), 1.0)
        table.copy_(_ops.index_copy(table, 0, rows, chosen * _ops.astype(factor, table.dtype)))
    return weight


class _Table(Module):
    """A weight of rows, of which the one with the number `padding_idx` begins at zero and is not trained."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, dtype: Any, max_norm: float | None,
        norm_type: float,
    ) -> None:
        super().__init__()
        if padding_idx is not None:
            padding_idx, num_embeddings = as_int(padding_idx, "padding_idx"), as_int(num_embeddings, "num_embeddings")
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise InvalidValueError(f"padding_idx {padding_idx} is out of range for {num_embeddings} rows")
            padding_idx %= num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type = max_norm, norm_type
        self.weight = Parameter(_ops.empty((num_embeddings, embedding_dim), dtype=dtype))
        self.reset_parameters()

    @classmethod
    def from_pretrained(cls: type[T], embeddings: Tensor, freeze: bool = True, **options: Any) -> T:
        """A layer with these rows, whose memory it shares; it is trained unless `freeze`. The options are those of the
        class."""
        if embeddings.ndim != 2:
            raise ShapeError(f"from_pretrained(): expected a matrix, got shape {embeddings.shape}")
        made = cls(*embeddings.shape, **options)
        made.register_parameter("weight", Parameter(embeddings.detach(), not freeze))
        return made

    def reset_parameters(self) -> None:
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    def _limited(self, input: Tensor) -> Tensor:
        return limited(input, self.weight, self.max_norm, self.norm_type)
