# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.profiler: tessera.profiler under PyTorch's names."""

from __future__ import annotations

from .. import profiler as _profiler
from ._namespace import lookup

_NAMES = ("ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "tensorboard_trace_handler")

ProfilerAction, ProfilerActivity = _profiler.ProfilerAction, _profiler.ProfilerActivity
profile, record_function, schedule = _profiler.profile, _profiler.record_function, _profiler.schedule
tensorboard_trace_handler = _profiler.tensorboard_trace_handler

__all__ = list(_NAMES)

__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
