# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.func."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from ..func import functional_call as _functional_call
from ..func import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
)
from ..func import vmap as _vmap
from ._namespace import lookup

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: Any = None, *, tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """The library's, but names that the module lacks are ignored unless strict is given."""
    given = parameter_and_buffer_dicts
    if not strict and isinstance(given, (Mapping, list, tuple)):
        known = {n for n, _ in module.named_parameters(remove_duplicate=False)}
        known |= {n for n, _ in module.named_buffers(remove_duplicate=False)}
        dicts = [given] if isinstance(given, Mapping) else given
        kept = [{n: t for n, t in d.items() if n in known} if isinstance(d, Mapping) else d for d in dicts]
        given = kept[0] if isinstance(given, Mapping) else kept
    return _functional_call(module, given, args, kwargs, tie_weights=tie_weights, strict=strict)


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None
) -> Callable[..., Any]:
    """The library's, but arguments by name are the same for all samples."""
    options: dict[str, Any] = {"in_dims": in_dims, "out_dims": out_dims, "randomness": randomness, "chunk_size": chunk_size}
    plain = _vmap(func, **options)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return _vmap(functools.partial(func, **kwargs), **options)(*args) if kwargs else plain(*args)

    return wrapped


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function itself: every transform takes writes in place and views."""
    return func


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Takes the running statistics from all layers of batch normalization, which then take those of the batch; returns root."""
    for layer in root.modules():
        if getattr(layer, "track_running_stats", False) and "BatchNorm" in type(layer).__name__:
            layer.running_mean = layer.running_var = layer.num_batches_tracked = None
            layer.track_running_stats = False
    return root


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
