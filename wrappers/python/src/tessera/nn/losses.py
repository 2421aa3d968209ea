# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Losses as modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._dtypes import int64
from .._errors import InvalidValueError
from .._interop import asarray
from .._tensor import Tensor
from . import functional as F
from .module import Module


class _Loss(Module):
    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in ("none", "mean", "sum"):
            raise InvalidValueError(f"reduction: expected 'none', 'mean' or 'sum', got {reduction!r}")
        self.reduction = reduction


class _PairLoss(_Loss):
    """A loss of an input and a target with settings, which are attributes of their names."""

    _function = ""

    def __init__(self, reduction: str = "mean", **settings: Any) -> None:
        super().__init__(reduction)
        self._settings = tuple(settings)
        for name, value in settings.items():
            setattr(self, name, value)

    def _call(self, *inputs: Tensor) -> Tensor:
        settings = {name: getattr(self, name) for name in self._settings}
        result: Tensor = getattr(F, self._function)(*inputs, **settings, reduction=self.reduction)
        return result

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._call(input, target)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in self._settings)


class MSELoss(_Loss):
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class CrossEntropyLoss(_Loss):
    """Cross entropy of logits and class numbers."""

    def __init__(
        self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_Loss):
    """Negative log-likelihood of log-probabilities and class numbers."""

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Binary cross entropy of logits."""

    def __init__(
        self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None
    ) -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class L1Loss(_PairLoss):
    _function = "l1_loss"

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction)


class SmoothL1Loss(_PairLoss):
    _function = "smooth_l1_loss"

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction, beta=beta)


class HuberLoss(_PairLoss):
    _function = "huber_loss"

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction, delta=delta)


class KLDivLoss(_PairLoss):
    """Of log-probabilities; the reduction may also be "batchmean", which is that of the definition."""

    _function = "kl_div"

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__("sum" if reduction == "batchmean" else reduction, log_target=log_target)
        self.reduction = reduction


class BCELoss(_Loss):
    """Binary cross entropy of probabilities."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class PoissonNLLLoss(_PairLoss):
    _function = "poisson_nll_loss"

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> None:
        super().__init__(reduction, log_input=log_input, full=full, eps=eps)


class GaussianNLLLoss(_PairLoss):
    _function = "gaussian_nll_loss"

    def __init__(self, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction, full=full, eps=eps)

    def forward(self, input: Tensor, target: Tensor, var: Tensor) -> Tensor:  # type: ignore[override]
        return self._call(input, target, var)


class SoftMarginLoss(_PairLoss):
    _function = "soft_margin_loss"

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction)


class HingeEmbeddingLoss(_PairLoss):
    _function = "hinge_embedding_loss"

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction, margin=margin)


class MarginRankingLoss(_PairLoss):
    _function = "margin_ranking_loss"

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction, margin=margin)

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        return self._call(input1, input2, target)


class CosineEmbeddingLoss(MarginRankingLoss):
    _function = "cosine_embedding_loss"


class TripletMarginLoss(_PairLoss):
    _function = "triplet_margin_loss"

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction, margin=margin, p=p, eps=eps, swap=swap)

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:  # type: ignore[override]
        return self._call(anchor, positive, negative)


class TripletMarginWithDistanceLoss(_PairLoss):
    """TripletMarginLoss with a distance of one's own."""

    _function = "triplet_margin_with_distance_loss"

    def __init__(
        self, *, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0, swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        distance = F.pairwise_distance if distance_function is None else distance_function
        super().__init__(reduction, distance_function=distance, margin=margin, swap=swap)

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:  # type: ignore[override]
        return self._call(anchor, positive, negative)

    def extra_repr(self) -> str:
        return f"margin={self.margin}, swap={self.swap}"


class MultiLabelMarginLoss(_PairLoss):
    _function = "multilabel_margin_loss"

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction)


class MultiMarginLoss(_Loss):
    def __init__(
        self, p: float = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.p, self.margin = p, margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class MultiLabelSoftMarginLoss(_Loss):
    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


class _Distance(Module):
    def __init__(self, **settings: Any) -> None:
        super().__init__()
        for name, value in settings.items():
            setattr(self, name, value)
        self._settings = tuple(settings)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in self._settings)


class CosineSimilarity(_Distance):
    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__(axis=axis, eps=eps)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.cosine_similarity(input1, input2, axis=self.axis, eps=self.eps)


class PairwiseDistance(_Distance):
    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdims: bool = False) -> None:
        super().__init__(p=p, eps=eps, keepdims=keepdims)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.pairwise_distance(input1, input2, p=self.p, eps=self.eps, keepdims=self.keepdims)


class CTCLoss(_Loss):
    """Connectionist temporal classification of log-probabilities (time, batch, classes); lengths may be lists."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        inputs, labels = (n if isinstance(n, Tensor) else asarray(n, dtype=int64) for n in (input_lengths, target_lengths))
        return F.ctc_loss(log_probs, targets, inputs, labels, self.blank, self.reduction, self.zero_infinity)
