# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.jit: functions and modules stay what they are, because there is no compiler; none can be saved."""

from __future__ import annotations

from typing import Any, Final

from . import _rows
from ._namespace import lookup
from .nn import Module

__all__ = [
    "Attribute", "Final", "Future", "ScriptModule", "annotate", "export", "fork", "freeze", "ignore", "is_scripting", "is_tracing",
    "isinstance", "optimize_for_inference", "script", "script_if_tracing", "script_method", "trace", "trace_module", "unused", "wait",
]  # fmt: skip


def script(obj: Any, *_: Any, **__: Any) -> Any:
    """The function, class or module itself."""
    return obj


export = script_if_tracing = script_method = script


class ScriptModule(Module):
    """The base of modules whose methods have script_method before them."""


class Future:
    """The result of fork()."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def wait(self) -> Any:
        return self._value

    value = wait

    def done(self) -> bool:
        return True


def fork(func: Any, *args: Any, **kwargs: Any) -> Future:
    """Calls the function at once."""
    return Future(func(*args, **kwargs))


def wait(future: Any) -> Any:
    return future.wait()


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


def _absent(name: str) -> Any:
    raise _rows.missing(f"torch.jit.{name}", "there are no compiled modules; torch.save writes a state_dict()")


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__}, _absent)
