# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the code of a data set may know about the worker process that it runs in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._errors import TesseraError


class WorkerError(TesseraError):
    """A worker process died, or sent no batch in time."""


@dataclass
class WorkerInfo:
    """The description of a worker process, for code that runs in it."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


current: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The description of this worker process; None in the main process."""
    return current
