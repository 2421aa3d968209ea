# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch._foreach_...: methods of tensors over lists of them, which programs call for averages and optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._tensor import Tensor


def foreach(name: str) -> Callable[..., Any] | None:
    """_foreach_mul_ for the name mul_; None where tensors have no such method. A list among the arguments has a value for
    each tensor."""
    method: Any = getattr(Tensor, name, None)
    if method is None:
        return None

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("addc") and len(args) == 3:
            *args, kwargs["value"] = args  # type: ignore[assignment]
        if name == "norm" and "ord" in kwargs:
            kwargs["p"] = kwargs.pop("ord")
        if name == "pow" and isinstance(self, (int, float)):
            return tuple(self**exponent for exponent in args[0])
        found = []
        for place, tensor in enumerate(self):
            at = [arg[place] if isinstance(arg, (list, tuple)) else arg for arg in args]
            named = {key: value[place] if isinstance(value, (list, tuple)) else value for key, value in kwargs.items()}
            found.append(method(tensor, *at, **named))
        return found if name.endswith("_") else tuple(found)

    call.__name__ = f"_foreach_{name}"
    return call
