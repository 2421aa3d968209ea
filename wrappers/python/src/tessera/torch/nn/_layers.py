# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What layers of torch.nn have beside the library's: attributes, refusals, and lazy layers that become others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._module import Parameter
from .parameter import finish

# ---- attributes ----

_NORMS = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


def _activation(self: Any) -> int:
    """PyTorch's number of the activation: 1 for relu, 2 for gelu, 0 for others."""
    name = self.activation if isinstance(self.activation, str) else getattr(self.activation, "__name__", "")
    return {"relu": 1, "gelu": 2}.get(name.lower(), 0)


# Members of classes. The version is that of the state dict, which files have beside it.
MEMBERS: dict[str, dict[str, Any]] = {
    # The running statistics have the dtype of the other buffers, where the library's own layers keep float32.
    **{name: {"_version": 2, "_statistics": frozenset()} for name in [*_NORMS, *[f"Lazy{norm}" for norm in _NORMS], "SyncBatchNorm"]},
    **{f"ZeroPad{n}d": {"value": 0.0} for n in (1, 2, 3)},
    **{name: {"name": name} for name in ("Upsample", "UpsamplingNearest2d", "UpsamplingBilinear2d")},
    "ReLU6": {"min_val": 0.0, "max_val": 6.0},
    "PairwiseDistance": {"norm": property(lambda self: self.p)},
    "RMSNorm": {"elementwise_affine": property(lambda self: self.weight is not None)},
    "TransformerEncoderLayer": {"activation_relu_or_gelu": property(_activation)},
}


def _own_table(self: Any, given: dict[str, Any]) -> None:
    """The rows that `_weight` gives, which do not learn with `_freeze`."""
    rows = given["_weight"]
    if rows is not None:
        if tuple(rows.shape) != tuple(self.weight.shape):
            raise ValueError(f"torch.nn.Embedding: _weight: expected the shape {tuple(self.weight.shape)}, got {tuple(rows.shape)}")
        self.weight = Parameter(rows)
    if given["_freeze"]:
        self.weight.requires_grad_(False)


AFTER: dict[str, Callable[[Any, dict[str, Any]], None]] = {"Embedding": _own_table}


# ---- refusals ----


def _axis(given: dict[str, Any]) -> None:
    dim = given["dim"]
    if dim is not None and (isinstance(dim, bool) or not hasattr(dim, "__index__")):
        raise TypeError(f"dim: expected a whole number or None, got {dim!r}")


# Refusals of a constructor's arguments.
BEFORE: dict[str, Callable[[dict[str, Any]], None]] = dict.fromkeys(["Softmax", "LogSoftmax", "Softmin"], _axis)


def _positive_eps(self: Any, input: Any) -> None:
    if self.training and not self.eps > 0:
        raise ValueError(f"torch.nn.{type(self).__name__}: eps: expected a number above 0 in training, got {self.eps}")


def _shares(self: Any, input: Any, target: Any) -> None:
    if self.ignore_index >= 0 and target.dtype.is_floating_point:
        raise RuntimeError(
            f"torch.nn.CrossEntropyLoss: ignore_index: expected none for a target of probabilities, got {self.ignore_index}"
        )


def _axes(count: int) -> Callable[[Any, Any], None]:
    def check(self: Any, input: Any) -> None:
        if input.ndim not in (count + 1, count + 2):
            raise ValueError(f"torch.nn.{type(self).__name__}: expected {count + 1} or {count + 2} axes, got {input.ndim}")

    return check


# Refusals of the inputs of a call.
CALLS: dict[str, Callable[..., None]] = {
    **dict.fromkeys(["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"], _positive_eps),
    **{f"CircularPad{n}d": _axes(n) for n in (1, 2, 3)},
    "CrossEntropyLoss": _shares,
}


def checked(forward: Callable[..., Any], check: Callable[..., None]) -> Callable[..., Any]:
    """A forward() after the check of its inputs."""

    def forward_after(self: Any, *args: Any, **kwargs: Any) -> Any:
        check(self, *args, **kwargs)
        return forward(self, *args, **kwargs)

    return forward_after


# ---- lazy layers ----


def becoming(plain: Any, name: str, find: Callable[[str], Any], settle: Callable[[Any], None]) -> Callable[..., Any]:
    """The forward() of a lazy layer: after the first input the layer is one of the class that it stands for. A class of a
    program's own keeps its class, as it has no other."""

    def forward(self: Any, input: Any, *args: Any) -> Any:
        found = plain.forward(self, input, *args)
        finish(self)
        if type(self).__name__ == name and type(self) is find(name):
            self.__class__ = find(name.removeprefix("Lazy"))
            settle(self)
        return found

    return forward
