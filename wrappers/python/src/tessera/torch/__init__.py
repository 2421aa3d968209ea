# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's names, signatures and meanings over the library's tensors.

`import tessera.torch as torch` runs a PyTorch program; `python -m tessera.torch script.py` one that says `import torch`.
Tensors are the same as tessera's: only the class of the Python object differs, whose methods are PyTorch's. A name that
is missing raises an error that says so. The guide is docs/guide/torch.md, the decision docs/adr/0016-torch-dialect.md.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any

import tessera as _tessera

from .. import _dtypes
from .._device import Device as device  # noqa: N813 (PyTorch's name)
from .._dtypes import DType as dtype  # noqa: N813 (PyTorch's name)
from .._dtypes import get_default_dtype
from ._limits import finfo, iinfo
from ..utils.deterministic import (
    are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode,
    is_deterministic_algorithms_warn_only_enabled,
    set_deterministic_debug_mode,
    use_deterministic_algorithms,
)
from . import _rows
from ._namespace import functions as _functions
from ._names import NAMES as _NAMES
from ._results import written as _written
from ._serialization import load, save
from ._tensor import (
    TYPES,
    Named,
    Size,
    Tensor,
    channels_last,
    channels_last_3d,
    contiguous_format,
    preserve_format,
    set_default_dtype,
    strided,
)
from . import (
    accelerator,
    amp,
    autograd,
    backends,
    cuda,
    distributed,
    distributions,
    fft,
    func,
    linalg,
    nn,
    optim,
    profiler,
    random,
    signal,
    special,
    storage,
    utils,
    version,
)
from .storage import TypedStorage, UntypedStorage
from ._absent import MODULES as _ABSENT
from ._compilers import MODULES as _COMPILERS, SYMBOLS as _SYMBOLS
from ._foreach import foreach as _foreach
from ._no_device import MODULES as _OF_DEVICES
from .amp import OF_TORCH as _OF_TORCH, GradScaler, autocast
from ..autograd import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .compiler import OptimizedModule as _OptimizedModule
from .func import vmap
from .nn import functional as _F
from .random import Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state

__version__ = version.__version__

float16, bfloat16, float32, float64 = map(_dtypes.ALL.__getitem__, ("float16", "bfloat16", "float32", "float64"))
int8, int16, int32, int64 = map(_dtypes.ALL.__getitem__, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(_dtypes.ALL.__getitem__, ("uint8", "uint16", "uint32", "uint64"))
complex64, complex128, bool = map(_dtypes.ALL.__getitem__, ("complex64", "complex128", "bool"))
half, float, double = float16, float32, float64
short, int, long, cfloat, cdouble = int16, int32, int64, complex64, complex128

e, inf, nan, pi, newaxis = _tessera.e, _tessera.inf, _tessera.nan, _tessera.pi, None
layout, memory_format = Named, Named
complex32 = chalf = Named("complex32")  # no tensor has this dtype, and programs compare with it
OutOfMemoryError = _tessera.OutOfMemoryError


def _assert(condition: Any, message: Any) -> None:
    if not condition:
        raise AssertionError(message)


def _assert_async(input: Any, assert_msg: Any = None) -> None:
    """Raises RuntimeError if a tensor of one element is 0; here at once, not when a device gets there."""
    if not input:
        raise RuntimeError("Expected Tensor with single nonzero value, but got zero" if assert_msg is None else assert_msg)


def _check(cond: Any, message: Any = None) -> None:
    """Raises RuntimeError with what `message()` gives, unless the condition holds."""
    if not cond:
        raise RuntimeError("Expected cond to be True, but got False." if message is None else message())


def get_num_interop_threads() -> Any:
    """1: operators run one after the other."""
    return 1


def set_num_interop_threads(num: Any) -> None:
    """Nothing: operators run one after the other."""


def to_dlpack(tensor: Any) -> Any:
    """The tensor as a DLPack capsule, which one consumer may take."""
    return tensor.__dlpack__()


def is_storage(obj: Any) -> Any:
    return isinstance(obj, storage._Storage)


def get_default_device() -> device:
    """The device on which this thread makes tensors if no device is given."""
    return _tessera.get_default_device()


def set_default_device(device: Any) -> None:
    """Sets the device on which this thread makes tensors if no device is given."""
    _tessera.set_default_device("cpu" if device is None else device)


def set_default_tensor_type(t: Any) -> None:
    """The deprecated way to set the default dtype."""
    set_default_dtype((TYPES[t.rpartition(".")[2]] if isinstance(t, str) else t).dtype)


def compile(model: Any = None, **_: Any) -> Any:
    """The function itself, or a module around the model, as PyTorch's: there is no compiler."""
    if model is None:
        return compile
    return _OptimizedModule(model) if isinstance(model, nn.Module) else model


# The rest of torch that is a function of torch.nn.functional or of torch.linalg under the same name.
_FROM_FUNCTIONAL = """
celu channel_shuffle cosine_embedding_loss hardshrink hinge_embedding_loss margin_ranking_loss poisson_nll_loss prelu rrelu
rms_norm selu softmax threshold triplet_margin_loss pdist pixel_shuffle pixel_unshuffle ctc_loss group_norm instance_norm
adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d max_pool1d max_pool2d max_pool3d feature_alpha_dropout kl_div relu
conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d selu_ celu_ threshold_ rrelu_ bilinear
conv_tbc max_pool1d_with_indices
"""

globals().update({name: _functions[name] for name in _functions if name not in globals()})
globals().update({n: getattr(_F, n) for n in _FROM_FUNCTIONAL.split() if hasattr(_F, n) and n not in globals()})
globals().update(TYPES)
globals().update(_OF_TORCH)
globals().update(_OF_DEVICES)
globals().update(_ABSENT)
globals().update(_COMPILERS)
globals().update(_SYMBOLS)


def _in_place(name: str) -> Any:
    """torch.exp_(x) and its kin, which are the methods of these names."""
    method = getattr(Tensor, name, None) if name.endswith("_") and not name.startswith("_") else None
    return method if name in _NAMES["torch"] else None


# The copies of a tensor as it is, and of a view that its strides need not allow.
_OTHER_VIEWS: dict[str, Any] = {
    "alias_copy": lambda input: input,
    "view_copy": lambda input, *args, **options: input.contiguous().view(*args, **options),
}


def _copy(name: str) -> Any:
    """torch.diagonal_copy(x, ...) and its kin: what the function of the name before _copy gives, with memory of its own."""
    view = getattr(Tensor, name.removesuffix("_copy"), None) if name.endswith("_copy") and name in _NAMES["torch"] else None
    view = _OTHER_VIEWS.get(name, view)
    if not callable(view):
        return None
    return lambda input, *args, out=None, **options: _written(_copies(view(input, *args, **options)), out)


def _copies(results: Any) -> Any:
    if not isinstance(results, Tensor):
        return tuple(map(_copies, results))
    return results.clone() if results.is_contiguous() else results.contiguous()


_ON_DEMAND = frozenset(
    ["__config__", "compiler", "functional", "hub", "jit", "masked", "multiprocessing", "overrides", "serialization", "testing", "types"]
)  # imported when they are asked for


def __getattr__(name: str) -> Any:
    if name == "torch":  # torch.torch.Tensor is a slip of the pen that PyTorch takes
        return _import_module("tessera.torch")
    if name in _ON_DEMAND:
        return _import_module(f"tessera.torch.{name}")
    found = None if name.startswith("__") else _in_place(name) or _copy(name)
    if found is None and name.startswith("_foreach_"):
        found = _foreach(name.removeprefix("_foreach_"))
    if found is None:
        raise _rows.missing(f"torch.{name}")
    globals()[name] = found
    return found


_rows.mark_missing(Tensor, _NAMES["Tensor"], "torch.Tensor")

__all__ = [
    "Generator", "GradScaler", "OutOfMemoryError", "Size", "Tensor", "TypedStorage", "UntypedStorage", "accelerator", "amp",
    "are_deterministic_algorithms_enabled", "autocast", "autograd", "backends", "bfloat16", "bool", "cdouble", "cfloat",
    "channels_last", "channels_last_3d", "compile", "complex128", "complex64", "contiguous_format", "cuda",
    "default_generator", "device", "distributed", "distributions", "double", "dtype", "e", "fft", "finfo", "float", "float16", "float32",
    "float64", "func", "get_default_device", "get_default_dtype", "get_deterministic_debug_mode", "get_rng_state",
    "half", "iinfo", "inf", "initial_seed", "int", "int16", "int32", "int64", "int8", "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled", "is_deterministic_algorithms_warn_only_enabled", "is_storage", "layout", "linalg", "load",
    "long", "manual_seed", "memory_format", "nan", "newaxis", "nn", "optim", "pi", "preserve_format", "profiler", "random", "save",
    "seed", "set_default_device", "set_default_dtype", "set_default_tensor_type", "set_deterministic_debug_mode",
    "set_rng_state", "short", "signal", "special", "storage", "strided", "uint16", "uint32", "uint64", "uint8",
    "use_deterministic_algorithms", "utils", "version", "vmap",
]  # fmt: skip
__all__ += sorted(_OF_TORCH.keys() - set(__all__))
__all__ += sorted({*_functions, *TYPES, *(name for name in _FROM_FUNCTIONAL.split() if name in globals())})
