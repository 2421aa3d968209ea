# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch._dynamo and torch._inductor: switches of PyTorch's compiler, which programs set; they keep what is assigned. And what
programs call of torch._C, PyTorch's compiled part."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ._absent import MODULES as _ABSENT
from ._namespace import lookup
from ..func import _levels
from . import _overriding
from .compiler import OptimizedModule, disable, reset


def _module(name: str, **members: Any) -> ModuleType:
    module = ModuleType(f"{__package__}.{name}", f"torch.{name}.")
    config = ModuleType(f"{module.__name__}.config")
    module.__dict__.update(members, config=config, __getattr__=lookup(module.__name__, {})[0])
    sys.modules.update({module.__name__: module, config.__name__: config})
    return module


def _nothing(*_: Any) -> None:
    """A report of what a program uses, and tracers that never run."""


def _switch(on: Any) -> bool:
    """A switch of a compiler that is not there: it was off before."""
    return False


def _transforms_active() -> bool:
    return _levels.differentiating() or bool(_levels.active())


_C = _module(
    "_C", _are_functorch_transforms_active=_transforms_active, _get_tracing_state=_nothing, _jit_set_profiling_executor=_switch,
    _jit_set_profiling_mode=_switch, _log_api_usage_once=_nothing, DisableTorchFunctionSubclass=_overriding.Off,
    DisableTorchFunction=_overriding.Off, _disabled_torch_function_impl=_overriding.disabled,
)  # fmt: skip


def _is_fake(x: Any) -> bool:
    """Whether a tensor has no values because a compiler looks at the program: no."""
    return False


_subclasses = _module("_subclasses", fake_tensor=_module("_subclasses.fake_tensor", is_fake=_is_fake))
# Programs ask whether torch.fx records them.
_fx = _module("fx.experimental", proxy_tensor=_module("fx.experimental.proxy_tensor", get_proxy_mode=_nothing))
setattr(_ABSENT["onnx"], "is_in_onnx_export", lambda: False)  # noqa: B010
setattr(_ABSENT["fx"], "experimental", _fx)  # noqa: B010 (mypy knows no such attribute)
# Sizes and numbers that a compiler does not know yet: nothing is an instance of these.
SYMBOLS = {name: type(name, (), {"__module__": "torch"}) for name in ("SymBool", "SymFloat", "SymInt")}
MODULES = {
    "_C": _C, "_dynamo": _module("_dynamo", reset=reset, disable=disable, OptimizedModule=OptimizedModule), "_inductor": _module("_inductor"),
    "_subclasses": _subclasses,
}  # fmt: skip
