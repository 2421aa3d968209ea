# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Tessera: tensors and automatic differentiation, from Python through a stable C ABI.

The package is an array namespace of the Python Array API standard; all other names are those of PyTorch.
"""

import math as _math
import os as _os
import typing as _typing

from . import _ops, capi
from ._core import is_tensor
from ._creation import arange, broadcast_shapes
from ._device import Device, device_count, get_default_device, set_default_device, synchronize
from ._dtypes import (
    DType,
    bfloat16,
    bool_,
    can_cast,
    complex64,
    complex128,
    finfo,
    float16,
    float32,
    float64,
    get_default_dtype,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    promote_types,
    result_type,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ._errors import (
    AbiError,
    ArgumentTypeError,
    AsyncError,
    AutogradError,
    BackendError,
    CallbackError,
    CancelledError,
    DeviceError,
    DTypeError,
    FileError,
    InternalError,
    InvalidArgumentError,
    InvalidValueError,
    LinAlgError,
    MemoryAccessError,
    NotSupportedError,
    OutOfMemoryError,
    OutOfRangeError,
    ShapeError,
    TesseraError,
)
from ._errors import as_int as _as_int
from ._info import __array_namespace_info__  # noqa: F401
from ._interop import asarray, from_dlpack, from_numpy, frombuffer, tensor
from ._ops import *  # noqa: F403
from ._random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    set_rng_state,
)
from ._repr import set_printoptions
from ._tensor import Tensor
from ._creation import astype  # noqa: F401
from ._forms import as_tensor, bernoulli_, empty_permuted, repeat_interleave, take_along_dim  # noqa: F401
from ._variadic import (  # type: ignore[assignment]  # noqa: F401
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_arrays,
    broadcast_tensors,
    cartesian_prod,
    dsplit,
    hsplit,
    meshgrid,
    tensor_split,
    vsplit,
    where,
)
from ._core import is_grad_enabled, is_inference_mode_enabled, set_host_stack as _set_host_stack
from ._modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ._on_demand import on_demand as _on_demand

# Anomaly mode, recordings of memory and profilers ask for stacks; the package's own frames are left out.
_set_host_stack(_os.path.join(_os.path.dirname(_os.path.abspath(__file__)), ""))

if _typing.TYPE_CHECKING:
    from . import (
        amp,
        autograd,
        distributed,
        distributions,
        fft,
        func,
        io,
        linalg,
        masked,
        memory,
        multiprocessing,
        nn,
        optim,
        profiler,
        program,
        streams,
        tracing,
        utils,
    )
    from .func import vmap
    from .io import load_file, save_file
    from .linalg import einsum, tensordot
    from .utils.deterministic import (
        are_deterministic_algorithms_enabled,
        get_deterministic_debug_mode,
        is_deterministic_algorithms_warn_only_enabled,
        set_deterministic_debug_mode,
        use_deterministic_algorithms,
    )
else:
    # tests/test_package.py lists what a bare import must not load.
    _PARTS = frozenset({
        "amp", "autograd", "distributed", "distributions", "fft", "func", "io", "linalg", "masked", "memory",
        "multiprocessing", "nn", "optim", "profiler", "program", "streams", "torch", "tracing", "utils",
    })  # fmt: skip
    __getattr__, __dir__ = _on_demand(
        __name__,
        _PARTS,
        {
            "vmap": "func",
            "load_file": "io",
            "save_file": "io",
            "einsum": "linalg",
            "tensordot": "linalg",
            "are_deterministic_algorithms_enabled": "utils.deterministic",
            "get_deterministic_debug_mode": "utils.deterministic",
            "is_deterministic_algorithms_warn_only_enabled": "utils.deterministic",
            "set_deterministic_debug_mode": "utils.deterministic",
            "use_deterministic_algorithms": "utils.deterministic",
        },
        {  # names of NumPy and PyTorch
            "array": "tensor() or asarray()",
            "cuda": 'device_count("cuda") and x.to("cuda")',
            "double": "float64",
            "float": "float32",
            "int": "int32",
            "load": "load_file()",
            "long": "int64",
            "pad": "nn.functional.pad()",
            "percentile": "quantile(), which takes fractions",
            "random": "rand(), randn(), randint() and manual_seed()",
            "save": "save_file()",
            "seed": "manual_seed()",
        },
    )

__all__ = [
    "AbiError", "amp", "arange", "are_deterministic_algorithms_enabled", "ArgumentTypeError", "as_tensor", "asarray",
    "AsyncError", "autograd", "AutogradError", "BackendError", "bfloat16", "bool", "bool_", "broadcast_arrays",
    "broadcast_shapes", "CallbackError", "can_cast", "CancelledError", "capi", "complex128", "complex64",
    "default_generator", "Device", "device", "device_count", "DeviceError", "distributed", "distributions", "dsplit",
    "DType", "dtype", "DTypeError", "e", "einsum", "empty_permuted", "enable_grad", "fft", "FileError", "finfo",
    "float16", "float32", "float64", "from_dlpack", "from_numpy", "frombuffer", "func", "Generator",
    "get_default_device", "get_default_dtype", "get_deterministic_debug_mode", "get_float32_matmul_precision", "get_num_threads",
    "get_rng_state", "hsplit", "iinfo", "inf", "inference_mode", "initial_seed", "int16", "int32", "int64", "int8",
    "InternalError", "InvalidArgumentError", "InvalidValueError", "io", "is_deterministic_algorithms_warn_only_enabled",
    "is_grad_enabled", "is_inference_mode_enabled", "is_tensor", "isdtype", "linalg", "LinAlgError", "load_file",
    "manual_seed", "masked", "memory", "MemoryAccessError", "multiprocessing", "nan", "newaxis", "nn", "no_grad",
    "NotSupportedError", "optim", "OutOfMemoryError", "OutOfRangeError", "pi", "profiler", "program", "promote_types",
    "repeat_interleave", "result_type", "save_file", "set_default_device", "set_default_dtype", "set_deterministic_debug_mode",
    "set_float32_matmul_precision", "set_grad_enabled", "set_num_threads", "set_printoptions", "set_rng_state",
    "ShapeError", "streams", "synchronize", "take_along_dim", "Tensor", "tensor", "tensor_split", "tensordot",
    "TesseraError", "tracing", "uint16", "uint32", "uint64", "uint8", "use_deterministic_algorithms", "utils", "vmap",
    "vsplit",
]  # fmt: skip
__all__ += _ops.__all__

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

bool = bool_
dtype = DType
device = Device
pi = _math.pi
e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None


def get_num_threads() -> int:
    """The number of threads that an operation may use."""
    return int(capi.lib.tsr_num_threads())


_PRECISIONS = ("highest", "high", "medium")  # in the order of tsr_precision


def get_float32_matmul_precision() -> str:
    """How exactly matrix products and convolutions of float32 are computed: "highest", "high" or "medium"."""
    return _PRECISIONS[capi.lib.tsr_matmul_precision()]


def set_float32_matmul_precision(precision: str) -> None:
    """Sets for the process how exactly matrix products and convolutions of float32 are computed: "highest" is float32,
    "high" and "medium" may round the factors to TensorFloat-32 or bfloat16. Only CUDA uses this setting, and rounds to
    TensorFloat-32 for both."""
    if precision not in _PRECISIONS:
        raise InvalidValueError(
            f"set_float32_matmul_precision(): expected 'highest', 'high' or 'medium', got {precision!r}"
        )
    capi.check(capi.lib.tsr_set_matmul_precision(_PRECISIONS.index(precision)))


def set_num_threads(count: int) -> None:
    """Sets how many threads the operations of this process may use; at most one per processor."""
    wanted = _as_int(count, "set_num_threads()")
    if not 0 < wanted < 2**31:
        raise InvalidValueError(f"set_num_threads(): expected at least 1, got {wanted}")
    capi.check(capi.lib.tsr_set_num_threads(wanted))
