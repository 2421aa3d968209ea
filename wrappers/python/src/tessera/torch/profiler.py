# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.profiler: tessera.profiler under PyTorch's names."""

from __future__ import annotations

from typing import Any

from .. import profiler as _profiler
from ._namespace import lookup

_NAMES = ("ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "tensorboard_trace_handler")

ProfilerAction, ProfilerActivity = _profiler.ProfilerAction, _profiler.ProfilerActivity
record_function, schedule = _profiler.record_function, _profiler.schedule
tensorboard_trace_handler = _profiler.tensorboard_trace_handler



class profile(_profiler.profile):  # noqa: N801 (PyTorch's name)
    """tessera.profiler.profile; `with_modules` and what chooses PyTorch's own recorders are ignored."""

    def __init__(
        self, *, with_modules: bool = False, experimental_config: Any = None, execution_trace_observer: Any = None,
        acc_events: bool = False, use_cuda: Any = None, custom_trace_id_callback: Any = None, **options: Any,
    ) -> None:
        super().__init__(**options)


__all__ = list(_NAMES)

__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
