# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.LinearCrossEntropyLoss: a linear layer and the cross entropy of its logits in one module."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from tessera.torch import nn

from ..._errors import InvalidValueError, ShapeError
from . import functional as F
from ._module import Module


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch divides the logits; here it says nothing, because they are computed at once."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str | None = "auto"
    acc_dtype: Any = None


class LinearCrossEntropyLoss(Module):
    """The cross entropy of a linear function of the input; the classes may have places, the axes `out_features`."""

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (), bias: bool = False, device: Any = None,
        dtype: Any = None, reduction: str = "mean", weight: Any = None, ignore_index: int | None = None,
        label_smoothing: float = 0.0, options: LinearCrossEntropyOptions | None = None,
    ) -> None:  # fmt: skip
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise ShapeError(f"LinearCrossEntropyLoss(): weight: expected the shape ({num_classes},), got {weight.shape}")
        if not 0 <= label_smoothing <= 1:
            raise InvalidValueError(f"LinearCrossEntropyLoss(): label_smoothing: expected 0 to 1, got {label_smoothing}")
        super().__init__()
        self.register_buffer("weight", weight)
        self.num_classes, self.out_features, self.reduction = num_classes, out_features, reduction
        self.ignore_index, self.label_smoothing, self.options = ignore_index, label_smoothing, options
        self.linear = nn.Linear(in_features, math.prod(out_features, start=num_classes), bias=bias, device=device, dtype=dtype)

    def forward(self, input: Any, target: Any) -> Any:
        places, bias = (self.num_classes, *self.out_features), self.linear.bias
        loss: Any = getattr(F, "linear_cross_entropy")  # noqa: B009
        return loss(
            input, self.linear.weight.reshape((*places, -1)), target, linear_bias=bias if bias is None else bias.reshape(places),
            weight=self.weight, reduction=self.reduction, ignore_index=self.ignore_index, label_smoothing=self.label_smoothing,
        )  # fmt: skip

    def extra_repr(self) -> str:
        linear = self.linear
        return (
            f"in_features={linear.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
