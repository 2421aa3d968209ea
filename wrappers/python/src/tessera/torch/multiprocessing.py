# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.multiprocessing: the library's, which also sends PyTorch's tensors and parameters by handle."""

from __future__ import annotations

from typing import Any

from .. import multiprocessing as _own
from ..multiprocessing import *  # noqa: F403
from ..multiprocessing import ProcessContext, ProcessFailedError, ProcessExitedError, ProcessRaisedError
from ..multiprocessing import __all__ as _names
from ..multiprocessing import _reductions
from ._tensor import Tensor
from .nn import Parameter

ProcessException = ProcessFailedError
ProcessExitedException = ProcessExitedError
ProcessRaisedException = ProcessRaisedError
SpawnContext = ProcessContext

__all__ = [*_names, "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext"]

_reductions.register(Tensor, Parameter)


def __getattr__(name: str) -> Any:
    return getattr(_own, name)
