# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn: the library's layers with PyTorch's arguments, made when they are asked for."""

from __future__ import annotations

import ast
import importlib
import inspect
import string
import sys
from collections.abc import Callable
from typing import Any

import tessera.nn as _nn
from tessera.nn.lazy import _Lazy

from ..._dtypes import float32, get_default_dtype
from .. import _adapters, _rows
from .._dtype_cases import promoted
from .._names import NAMES as _NAMES
from .._table_nn import IGNORED, LAYERS, RENAMED, TEXTS
from . import _layers, functional, init, parallel, parameter, utils
from ._module import Buffer, Module, Parameter
from ._recurrent import BASES as _BASES, RNNBase, RNNCellBase
from .parallel import DataParallel

_ROWS = {row.partition("(")[0]: row for row in _rows.lines(LAYERS)}
# Losses whose input and target broadcast in PyTorch, some with a warning; the library wants one shape. One has a check.
_PAIRS = {
    **dict.fromkeys(["HuberLoss", "L1Loss", "MSELoss", "SmoothL1Loss"], functional.pair),
    "BCELoss": lambda input, target: (functional.probabilities(input), target),
    **dict.fromkeys(["HingeEmbeddingLoss", "SoftMarginLoss"], functional.same_shape),
    **dict.fromkeys(
        ["KLDivLoss", "MultiLabelSoftMarginLoss", "PoissonNLLLoss"],
        lambda input, target: functional.same_shape(*promoted(input, target)),
    ),
    "BCEWithLogitsLoss": promoted,
    "CrossEntropyLoss": promoted,
}


# Attributes that PyTorch keeps as they are given, and those of which it makes a number for each axis, where the library's layer
# has something else.
_AS_GIVEN = {
    **dict.fromkeys(["LPPool1d", "LPPool2d", "LPPool3d"], ("stride",)),
    **dict.fromkeys(["ConstantPad1d", "ConstantPad2d", "ConstantPad3d"], ("value",)),
    "Unflatten": ("unflattened_size",),
}  # fmt: skip
_OF_AXES = {"FractionalMaxPool2d": 2, "FractionalMaxPool3d": 3, "AvgPool1d": 1, "MaxUnpool1d": 1, "MaxUnpool2d": 2, "MaxUnpool3d": 3}
_SIZES = ("kernel_size", "stride", "padding", "output_size", "output_ratio")
# Layers that derive from another layer in PyTorch: programs choose layers by isinstance().
_PARENTS = {
    "ReLU6": "Hardtanh",
    **{f"ZeroPad{axes}d": f"ConstantPad{axes}d" for axes in (1, 2, 3)},
    **dict.fromkeys(["UpsamplingBilinear2d", "UpsamplingNearest2d"], "Upsample"),
    "LazyLinear": "Linear",
    **{f"Lazy{kind}{axes}d": f"{kind}{axes}d" for kind in ("Conv", "ConvTranspose") for axes in (1, 2, 3)},
}
# Layers that hold what they are given, which the default dtype does not change.
_CONTAINERS = frozenset(["ModuleDict", "ModuleList", "Sequential"])


class _Layer:
    """Turns PyTorch's arguments of a layer into the library's."""

    def __init__(self, name: str, plain: type) -> None:
        code = compile(ast.parse(f"def {_ROWS[name]}: return locals()"), f"<tessera.torch.nn.{name}>", "exec")
        found: dict[str, Any] = {}
        exec(code, found)
        self.name, self.bind = name, found[name]
        self.defaults = self.bind(*[None] * (self.bind.__code__.co_argcount - len(self.bind.__defaults__ or ())))
        given = plain.__init__.__code__  # type: ignore[misc]
        self.taken = set(given.co_varnames[: given.co_argcount + given.co_kwonlyargcount])

    def ours(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the library's layer."""
        if "size_average" in given:
            given["reduction"] = _adapters.reduction_of(given["size_average"], given["reduce"], given["reduction"])
        found = {}
        for name, value in given.items():
            ours = name if name in self.taken else RENAMED.get(name, name)
            if ours in self.taken:
                if value is not None or self.defaults[name] is not None:
                    found[ours] = value
            elif name not in IGNORED:
                _adapters.only(value, self.defaults[name], f"torch.nn.{self.name}: {name}")
        return found


def _places(plain: Any, layer: _Layer | None) -> int:
    """How many arguments come before PyTorch's device and dtype, which may be given by their places."""
    code = plain.__init__.__code__ if layer is None else layer.bind.__code__
    names = [name for name in code.co_varnames[: code.co_argcount] if name not in ("self", "dtype")]
    return sys.maxsize if code.co_flags & inspect.CO_VARARGS else len(names)


def _last(device: Any = None, dtype: Any = None) -> tuple[Any, Any]:
    return device, dtype


def _as_pytorch_keeps(self: Any, name: str, given: dict[str, Any]) -> None:
    """Gives a layer the attributes of _AS_GIVEN and _OF_AXES."""
    for attribute in _AS_GIVEN.get(name, ()):
        self.__dict__[attribute] = given[attribute]
    if name in _OF_AXES:
        for attribute in [name for name in _SIZES if name in given]:
            value = given["kernel_size"] if given[attribute] is None and attribute == "stride" else given[attribute]
            if value is None:
                continue
            self.__dict__[attribute] = tuple(value) if isinstance(value, (tuple, list)) else (value,) * _OF_AXES[name]


def _keep(self: Any, name: str, given: dict[str, Any]) -> None:
    """Gives a layer its arguments as attributes: programs read them, and texts show them."""
    for argument, value in given.items():
        if not argument.startswith("_") and not hasattr(self, argument):
            self.__dict__[argument] = value
    _as_pytorch_keeps(self, name, given)


def _completed(self: Any) -> None:
    """A lazy layer that has become another one gets the attributes of that."""
    name = type(self).__name__
    if name in _ROWS:
        args, kwargs = self._arguments
        bind = _Layer(name, getattr(_nn, name)).bind
        options = {key: value for key, value in kwargs.items() if key != "dtype"}
        _keep(self, name, bind(0, *args[: bind.__code__.co_argcount - 1], **options))  # a dtype may follow


def _initializer(plain: type, layer: _Layer | None) -> Callable[..., None]:
    places = _places(plain, layer)

    def __init__(self: Any, *args: Any, device: Any = None, dtype: Any = None, **kwargs: Any) -> None:
        if len(args) > places:
            given = {"device": device, "dtype": dtype}
            device, dtype = _last(*args[places:], **{name: value for name, value in given.items() if value is not None})
            args = args[:places]
        if layer is None:
            plain.__init__(self, *args, **kwargs)  # type: ignore[misc]
        else:
            given = layer.bind(*args, **kwargs)
            _layers.BEFORE.get(layer.name, len)(given)
            plain.__init__(self, **layer.ours(given))  # type: ignore[misc]
            _keep(self, layer.name, given)
            if layer.name in _layers.AFTER:
                _layers.AFTER[layer.name](self, given)
        self._settle()
        if dtype is None and plain.__name__ not in _CONTAINERS and get_default_dtype() is not float32:
            dtype = get_default_dtype()
        if device is not None or dtype is not None:
            self.to(device=device, dtype=dtype)

    __init__.__signature__ = _signature(plain, layer)  # type: ignore[attr-defined]
    return __init__


def _signature(plain: type, layer: _Layer | None) -> inspect.Signature:
    """PyTorch's arguments of a layer, which programs that are set up by files look into."""
    known = inspect.signature(plain.__init__ if layer is None else layer.bind)  # type: ignore[misc]
    if issubclass(plain, _Lazy) and (name := plain.__name__.removeprefix("Lazy")) in _ROWS:
        layer = _Layer(name, getattr(_nn, name))
        of_input, *rest = inspect.signature(layer.bind).parameters.values()  # the first is the number of features
        known = known.replace(parameters=rest)
    own = [*known.parameters.values()]
    if layer is not None:
        own.insert(0, inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD))
    more = [name for name in ("device", "dtype") if name not in known.parameters]
    place = len(own) - (own[-1].kind is inspect.Parameter.VAR_KEYWORD)
    own[place:place] = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in more]
    return known.replace(parameters=own)


class _Flag:
    """A flag in a text: "inplace=True" or nothing, and its value with !r."""

    def __init__(self, value: bool) -> None:
        self.value = value

    def __str__(self) -> str:
        return "inplace=True" if self.value else ""

    def __repr__(self) -> str:
        return repr(self.value)


def _printer(text: str, layer: _Layer | None) -> Callable[[Any], str]:
    """extra_repr() by a text with the names of attributes; one that the library's layer lacks has its default."""
    defaults: dict[str, Any] = {} if layer is None else layer.defaults
    names = [name for _, name, _, _ in string.Formatter().parse(text) if name]

    def extra_repr(self: Any) -> str:
        values: dict[str, Any] = {}
        for name in names:
            values[name] = getattr(self, name, getattr(self, RENAMED.get(name, name), defaults.get(name)))
        if "inplace" in values:
            values["inplace"] = _Flag(values["inplace"])
        if "bias" in values:
            values["bias"] = values["bias"] is not None
        return text.format(**values).strip(", ")

    return extra_repr


def _broadcasting(plain: Any, join: Any) -> Callable[..., Any]:
    def forward(self: Any, input: Any, target: Any) -> Any:
        return plain.forward(self, *join(input, target))

    return forward


def _dropping(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda layer, input: function(input, layer.p, layer.training, True)


# Layers whose `inplace` the library's lack, as calls of functions that have it.
_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "AlphaDropout": _dropping(functional.alpha_dropout),
    "Dropout": _dropping(functional.dropout),
    "Dropout1d": _dropping(functional.dropout1d),
    "Dropout2d": _dropping(functional.dropout2d),
    "Dropout3d": _dropping(functional.dropout3d),
    "FeatureAlphaDropout": _dropping(functional.feature_alpha_dropout),
    "LeakyReLU": lambda layer, input: functional.leaky_relu(input, layer.negative_slope, True),
    "SiLU": lambda layer, input: functional.silu(input, True),
}


def _writing(plain: Any, write: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def forward(self: Any, input: Any) -> Any:
        return write(self, input) if self.__dict__.get("inplace") else plain.forward(self, input)

    return forward


def _resized(self: Any, input: Any) -> Any:
    return functional.interpolate(input, **self.settings())


def _settle(self: Any) -> None:
    """Nothing, in most layers: what is left to do when a layer is made or becomes one of torch.nn."""


def _settle_attention(self: Any) -> None:
    if self.out_proj is not None:
        self.out_proj.__class__ = _class("NonDynamicallyQuantizableLinear")


def _adapted(name: str) -> Any:
    """The library's layer of this name as a class of torch.nn; what is no layer, as it is."""
    if name == "NonDynamicallyQuantizableLinear":  # the layer behind an attention
        return type(name, (_class("Linear"),), {"__module__": __name__})
    if name in ("ParameterDict", "ParameterList"):
        return getattr(importlib.import_module(f"{__name__}._parameter_lists"), name)
    plain = getattr(_nn, name, None)
    if not isinstance(plain, type) or not issubclass(plain, _nn.Module):
        return plain
    layer = _Layer(name, plain) if name in _ROWS else None
    body: dict[str, Any] = {"__init__": _initializer(plain, layer), "__module__": __name__, "__doc__": plain.__doc__}
    body["_settle"] = _settle_attention if name == "MultiheadAttention" else _settle
    if name.startswith("Upsampl"):
        body["forward"] = _resized
    if name in _PAIRS:
        body["forward"] = _broadcasting(plain, _PAIRS[name])
    if name in _IN_PLACE:
        body["forward"] = _writing(plain, _IN_PLACE[name])
    if (known := name.removeprefix("Lazy")) in TEXTS:
        body["extra_repr"] = _printer(TEXTS[known], layer if known == name else _Layer(known, getattr(_nn, known)))
    if name in _layers.CALLS:
        body["forward"] = _layers.checked(body.get("forward", plain.forward), _layers.CALLS[name])
    if name.startswith("Lazy"):
        body["forward"] = _layers.becoming(plain, name, _class, _completed)
        body.update(_settle=parameter.begin, has_uninitialized_params=parameter.has_uninitialized)
        body["cls_to_become"] = property(lambda self: _class(name.removeprefix("Lazy")))
    body.update(_layers.MEMBERS.get(name, {}))
    if "Conv" in name:
        body["transposed"] = "Transpose" in name
        if "Transpose" not in name:
            body["output_padding"] = (0,) * int(name[-2])
    base = next((between for known, between in _BASES.items() if issubclass(plain, known)), Module)
    if name in _PARENTS:
        base = _class(_PARENTS[name])
        for own in ("forward", "extra_repr"):  # not those of the parent, which stand before those of the library's base
            body.setdefault(own, getattr(plain, own))
    return type(name, (plain, base), body)


def class_for(plain: type) -> Any:
    """The class of torch.nn for a class of the library's layers, None for another class."""
    return _class(plain.__name__) if getattr(_nn, plain.__name__, None) is plain else None


def _class(name: str) -> Any:
    """The attribute of this module, made at the first time."""
    if name not in globals():
        found = _adapted(name)
        if found is None:
            raise _rows.missing(f"torch.nn.{name}")
        globals()[name] = found
    return globals()[name]


_OWN = ("LinearCrossEntropyLoss", "LinearCrossEntropyOptions")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("attention", "grad", "modules"):  # imported when they are asked for
        return importlib.import_module(f"{__name__}.{name}")
    if name in _OWN:
        return getattr(importlib.import_module(f"{__name__}._linear_cross_entropy"), name)
    return _class(name)


def __dir__() -> list[str]:
    return sorted({*_nn.__all__, *_OWN, *globals()})


__all__ = ["Buffer", "DataParallel", "Module", "Parameter", "RNNBase", "RNNCellBase", "functional", "init", "parallel", "utils"]
__all__ += [name for name in _NAMES["nn"] if name not in __all__ and (name in _OWN or hasattr(_nn, name))]  # noqa: PLE0604
