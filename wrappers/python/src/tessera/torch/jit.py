# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.jit: functions and modules stay what they are, because there is no compiler; none can be saved."""

from __future__ import annotations

from typing import Any, Final

from ._namespace import lookup

__all__ = [
    "Attribute", "Final", "annotate", "export", "freeze", "ignore", "is_scripting", "is_tracing", "isinstance",
    "optimize_for_inference", "script", "script_if_tracing", "trace", "trace_module", "unused",
]  # fmt: skip


def script(obj: Any, *_: Any, **__: Any) -> Any:
    """The function, class or module itself."""
    return obj


export = script_if_tracing = script


def trace(func: Any, *_: Any, **__: Any) -> Any:
    """The function or module itself; it is not called."""
    return func


def freeze(mod: Any, *_: Any, **__: Any) -> Any:
    return mod


trace_module = optimize_for_inference = freeze


def ignore(drop: Any = False, **_: Any) -> Any:
    """The function itself; a decorator with and without arguments."""
    return drop if callable(drop) else lambda function: function


def unused(fn: Any) -> Any:
    return fn


def is_scripting() -> bool:
    return False


def is_tracing() -> bool:
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    return the_value


def Attribute(value: Any, type: Any) -> Any:  # noqa: N802 (PyTorch's name)
    return value


_isinstance = isinstance


def isinstance(obj: Any, target_type: Any) -> bool:
    return _isinstance(obj, target_type)


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
