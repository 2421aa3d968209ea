# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.utils."""

from __future__ import annotations

import copy
import functools
import importlib
from typing import Any

import tessera.nn.utils as _utils

from .... import _ops
from ...._core import TensorBase
from ...._modes import no_grad
from ..._names import NAMES
from ..._namespace import lookup
from ..._tensor import retyped
from .._module import Parameter
from . import rnn  # noqa: F401 (torch.nn.utils.rnn)


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Any:
    return retyped(_utils.clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite))


def clip_grad_value_(parameters: Any, clip_value: float, foreach: Any = None) -> None:
    _utils.clip_grad_value_(parameters, clip_value)


def clip_grad_norm(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)


def get_total_norm(tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None) -> Any:
    """The norm of all elements of the tensors."""
    listed: list[Any] = [tensors] if isinstance(tensors, TensorBase) else list(tensors)
    norms = [_ops.vector_norm(tensor, ord=norm_type) for tensor in listed]
    total = _ops.vector_norm(_ops.stack(norms, 0), ord=norm_type) if norms else _ops.zeros(())
    if error_if_nonfinite and not bool(_ops.isfinite(total)):
        raise RuntimeError(f"get_total_norm: the norm of order {norm_type} is not finite")
    return retyped(total)


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Any, foreach: Any = None) -> None:
    """Scales the gradients in place as clip_grad_norm_ does, by a norm that is known."""
    factor = _ops.clip(max_norm / (total_norm + 1e-6), None, 1.0)
    for parameter in [parameters] if isinstance(parameters, TensorBase) else parameters:
        if parameter.grad is not None:
            parameter.grad.detach().mul_(factor)


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module of this class; its initial values cost little, so they are drawn all the same."""
    return module_cls(*args, **kwargs)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of a convolution that does what it and the normalization behind it do in eval mode."""
    if conv.training or bn.training:
        raise ValueError("fuse_conv_bn_eval: expected modules in eval mode")
    fused = copy.deepcopy(conv)
    found = fuse_conv_bn_weights(
        conv.weight, conv.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    fused.weight, fused.bias = found
    return fused


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False
) -> Any:
    """The weight and the bias of fuse_conv_bn_eval."""
    with no_grad():
        scale = _ops.rsqrt(bn_rv + bn_eps)
        scale = scale if bn_w is None else scale * bn_w
        axis = 1 if transpose else 0
        shape = [-1 if place == axis else 1 for place in range(conv_w.ndim)]
        bias = (0.0 - bn_rm if conv_b is None else conv_b - bn_rm) * scale
        bias = bias if bn_b is None else bias + bn_b
        return Parameter(conv_w * _ops.reshape(scale, shape), conv_w.requires_grad), Parameter(bias, conv_w.requires_grad)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of a linear layer that does what it and the normalization behind it do in eval mode."""
    return fuse_conv_bn_eval(linear, bn)


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> Any:
    """The weight and the bias of fuse_linear_bn_eval."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


_MODULES = ("parametrizations", "parametrize", "prune", "stateless")
_FILES = ("clip_grad", "convert_parameters", "fusion", "init", "memory_format")  # of PyTorch's package, which this module stands for


def _find(name: str) -> Any:
    """A module, imported when it is asked for; or a function of the library that PyTorch has, too, with PyTorch's tensors as results."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    found: Any = getattr(_utils, name, None) if name in NAMES["nn.utils"] else None
    return found if found is None else functools.wraps(found)(lambda *args, **kwargs: retyped(found(*args, **kwargs)))


__getattr__, __dir__ = lookup(__name__, {}, _find, _FILES)
__all__ = [name for name in NAMES["nn.utils"] if name in globals() or hasattr(_utils, name)]  # noqa: PLE0604
