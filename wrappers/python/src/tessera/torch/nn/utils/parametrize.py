# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.utils.parametrize: the library's, which makes what it adds to a module of torch.nn part of that."""

from __future__ import annotations

from typing import Any

from tessera.nn.utils.parametrize import (
    cached,
    is_parametrized,
    register_parametrization,
    remove_parametrizations,
    transfer_parametrizations_and_params,
    type_before_parametrizations,
)


def __getattr__(name: str) -> Any:
    from ... import _rows
    from .. import _class

    if name == "ParametrizationList":
        return _class(name)
    raise AttributeError(name) if name.startswith("__") else _rows.missing(f"torch.nn.utils.parametrize.{name}")


__all__ = [
    "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip
