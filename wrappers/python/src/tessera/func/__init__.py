# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms of functions: derivatives, and one function over a batch of samples. The names are PyTorch's torch.func."""

from . import _custom, _parts, _parts_attention, _parts_shape  # noqa: F401  (fill the table of rules, and Function.apply)
from ._grad import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, value_and_grad, vjp
from ._modules import functional_call, stack_module_state
from ._vmap import vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "value_and_grad",
    "vjp",
    "vmap",
]
