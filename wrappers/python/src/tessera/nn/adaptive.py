# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The adaptive softmax of Grave et al., Efficient softmax approximation for GPUs (2017): rare classes stand in clusters, which
are computed only for the rows that need them. Names, options and initial values are PyTorch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import _ops
from .._dtypes import int64
from .._errors import InvalidValueError, OutOfRangeError, ShapeError, as_int, as_list, as_number
from .._tensor import Tensor
from . import functional as F
from .containers import ModuleList, Sequential
from .layers import Linear
from .module import Module


class AdaptiveLogSoftmaxResult(NamedTuple):
    """The log-probability of each row's target, and the mean of their negatives."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Classes must be sorted from the most frequent to the rarest. Those below cutoffs[0] are scored by `head`, together with
    one score for each cluster; cluster i has the classes from cutoffs[i] on and in_features / div_value ** (i + 1)
    inner features. Targets are class numbers (batch), for one row 0-dim."""

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        ends = [as_int(end, "cutoffs") for end in as_list(cutoffs, "cutoffs")]
        self.in_features, self.n_classes = as_int(in_features, "in_features"), as_int(n_classes, "n_classes")
        self.div_value, self.head_bias = as_number(div_value, "div_value"), head_bias
        if not ends or ends != sorted(set(ends)) or ends[0] < 1 or ends[-1] >= self.n_classes:
            raise InvalidValueError(f"cutoffs: expected rising numbers from 1 to {self.n_classes - 1}, got {ends}")
        if not self.div_value > 0:
            raise InvalidValueError(f"div_value: expected a number above 0, got {div_value}")
        self.cutoffs = [*ends, self.n_classes]
        self.shortlist_size, self.n_clusters = ends[0], len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(self.in_features, self.head_size, bias=head_bias, dtype=dtype)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            inner = int(self.in_features // self.div_value ** (i + 1))
            layers = Linear(self.in_features, inner, False, dtype), Linear(inner, high - low, False, dtype)
            self.tail.append(Sequential(*layers))

    def reset_parameters(self) -> None:
        for module in self.modules():
            if isinstance(module, Linear):
                module.reset_parameters()

    def forward(self, input: Tensor, target: Tensor) -> AdaptiveLogSoftmaxResult:
        self._check(input)
        if input.ndim != target.ndim + 1 or input.shape[:-1] != target.shape:
            raise ShapeError(f"target: expected one class for each row of {tuple(input.shape)}, got shape {tuple(target.shape)}")
        rows, classes = (input, target) if input.ndim == 2 else (_ops.expand_dims(input, 0), _ops.expand_dims(target, 0))
        low, high = (int(classes.min()), int(classes.max())) if classes.numel() else (0, 0)
        if not 0 <= low <= high < self.n_classes:
            raise OutOfRangeError(f"target: expected classes from 0 to {self.n_classes - 1}, got numbers from {low} to {high}")
        columns = classes.astype(int64)
        tails = _ops.zeros(classes.shape, dtype=input.dtype, device=input.device)
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            inside = (classes >= low) & (classes < high)
            found = _ops.nonzero(inside)[0]
            columns = _ops.where(inside, self.shortlist_size + i, columns)
            if found.numel():
                scores = F.log_softmax(self.tail[i](_ops.index_select(rows, 0, found)), 1)
                own = _ops.expand_dims(_ops.index_select(classes, 0, found) - low, 1)
                tails = _ops.index_add(tails, 0, found, _ops.gather(scores, 1, own).flatten())
        head = F.log_softmax(self.head(rows), 1)
        output = _ops.gather(head, 1, _ops.expand_dims(columns, 1)).flatten() + tails
        return AdaptiveLogSoftmaxResult(output.reshape(target.shape), -output.mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes."""
        self._check(input)
        head = F.log_softmax(self.head(input), -1)
        parts = [_ops.narrow(head, -1, 0, self.shortlist_size)]
        for i, layers in enumerate(self.tail):
            parts.append(F.log_softmax(layers(input), -1) + _ops.narrow(head, -1, self.shortlist_size + i, 1))
        return _ops.concat(parts, -1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row."""
        return _ops.argmax(self.log_prob(input), -1)

    def _check(self, input: Tensor) -> None:
        if input.ndim not in (1, 2) or input.shape[-1] != self.in_features:
            raise ShapeError(f"input: expected (batch, {self.in_features}) or ({self.in_features}), got shape {tuple(input.shape)}")

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.n_classes}, cutoffs={self.cutoffs[:-1]}, div_value={self.div_value}"
