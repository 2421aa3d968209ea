# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.modules: the layers of torch.nn under the paths of PyTorch's files, and what programs import from these."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from tessera.nn.conv import _Conv as _ConvNd
from tessera.nn.norm import _BatchNorm, _InstanceNorm
from tessera.nn.norm import _Norm as _NormBase

from .._adapters import reduction_of
from ._global_hooks import *  # noqa: F403
from ._module import Module
from .parameter import LazyModuleMixin


class _Losses(type):
    """isinstance() and issubclass() know the losses of torch.nn, too."""

    def __instancecheck__(cls, given: Any) -> bool:
        return cls.__subclasscheck__(type(given))

    def __subclasscheck__(cls, given: type) -> bool:
        own = cls is _Loss and given.__module__ == "tessera.torch.nn" and given.__name__.endswith("Loss")
        return own or type.__subclasscheck__(cls, given)


class _Loss(Module, metaclass=_Losses):
    """The base of losses of one's own."""

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction_of(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    def __init__(self, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


def _ntuple(n: int) -> Callable[[Any], tuple[Any, ...]]:
    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    return parse


_single, _pair, _triple, _quadruple = map(_ntuple, (1, 2, 3, 4))


def _reverse_repeat_tuple(t: Any, n: int) -> tuple[Any, ...]:
    return tuple([item for item in reversed(t) for _ in range(n)])


def consume_prefix_in_state_dict_if_present(state_dict: Any, prefix: str) -> None:
    """Takes a prefix, such as that of DataParallel, from the keys of a state_dict, and of its metadata."""
    for key in [key for key in state_dict if key.startswith(prefix)]:
        state_dict[key.removeprefix(prefix)] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", {})
    for key in [*metadata]:  # the module itself has the name without its point
        if key and (key == prefix.removesuffix(".") or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _FILES:
        return sys.modules[__name__]
    return getattr(sys.modules["tessera.torch.nn"], name)


_FILES = frozenset(
    "activation adaptive batchnorm channelshuffle container conv distance dropout flatten fold instancenorm lazy linear loss "
    "module normalization padding pixelshuffle pooling rnn sparse transformer upsampling utils".split()
)
__all__ = ["LazyModuleMixin", "Module", "_BatchNorm", "_ConvNd", "_InstanceNorm", "_NormBase"]
__all__ += [name for name in sys.modules["tessera.torch.nn"].__all__ if name[0].isupper() and name not in ("Module", "Parameter")]  # noqa: PLE0604
