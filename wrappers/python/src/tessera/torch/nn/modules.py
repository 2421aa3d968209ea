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

from ..._errors import InvalidValueError
from .._adapters import reduction_of
from ._global_hooks import *  # noqa: F403
from ._module import Module
from .parameter import LazyModuleMixin


_AXES = ("1d", "2d", "3d")
_BY_AXES = """
AdaptiveAvgPool AdaptiveMaxPool AvgPool CircularPad ConstantPad LPPool MaxPool MaxUnpool ReflectionPad ReplicationPad
"""
_ALL = sys.modules["tessera.torch.nn"].__all__
# The layers of torch.nn that derive from a base of PyTorch's which the library's layers lack.
_MEMBERS = {
    "_Loss": [name for name in _ALL if name.endswith("Loss") and name != "AdaptiveLogSoftmaxWithLoss"],
    "_WeightedLoss": ["BCELoss", "CrossEntropyLoss", "LinearCrossEntropyLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss"],
    "_DropoutNd": ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"],
    "_ConvTransposeNd": [f"{lazy}ConvTranspose{axes}" for lazy in ("", "Lazy") for axes in _AXES],
    **{f"_{kind}Nd": [f"{kind}{axes}" for axes in _AXES] for kind in _BY_AXES.split()},
}


class _Kind(type):
    """isinstance() and issubclass() know the layers of torch.nn, too."""

    def __instancecheck__(cls, given: Any) -> bool:
        return cls.__subclasscheck__(type(given))

    def __subclasscheck__(cls, given: type) -> bool:
        if type.__subclasscheck__(cls, given):
            return True
        names = _MEMBERS[cls.__name__] if cls.__module__ == __name__ else ()
        return any(kind.__module__.startswith("tessera.torch.nn") and kind.__name__ in names for kind in given.__mro__)


class _Loss(Module, metaclass=_Kind):
    """The base of losses of one's own."""

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction_of(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    def __init__(self, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class _DropoutNd(Module, metaclass=_Kind):
    """The base of layers that drop with a probability."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise InvalidValueError(f"dropout: p: expected a probability between 0 and 1, got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


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
    if name in _MEMBERS:  # the others have nothing but their name
        globals()[name] = made = _Kind(name, (Module,), {"__module__": __name__})
        return made
    return getattr(sys.modules["tessera.torch.nn"], name)


_FILES = frozenset(
    "activation adaptive batchnorm channelshuffle container conv distance dropout flatten fold instancenorm lazy linear loss "
    "module normalization padding pixelshuffle pooling rnn sparse transformer upsampling utils".split()
)
__all__ = ["LazyModuleMixin", "Module", "_BatchNorm", "_ConvNd", "_InstanceNorm", "_NormBase"]
__all__ += [name for name in _ALL if name[0].isupper() and name not in ("Module", "Parameter")]  # noqa: PLE0604
