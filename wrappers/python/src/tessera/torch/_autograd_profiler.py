# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.autograd.profiler: the older interface of torch.profiler."""

from __future__ import annotations

from typing import Any

from .. import profiler as _profiler
from ..profiler import record_function
from . import cuda
from ._namespace import lookup

__all__ = ["emit_nvtx", "profile", "record_function"]


class profile:  # noqa: N801 (PyTorch's name)
    """Records a block, unless `enabled` is false. Arguments of PyTorch that choose what is recorded on which device are ignored."""

    def __init__(
        self, enabled: bool = True, *, record_shapes: bool = False, with_flops: bool = False, profile_memory: bool = False,
        with_stack: bool = False, **_: Any,
    ) -> None:
        self.enabled = enabled
        self._plain = _profiler.profile(
            record_shapes=record_shapes, profile_memory=profile_memory, with_stack=with_stack, with_flops=with_flops and enabled
        )

    def __enter__(self) -> profile:
        if self.enabled:
            self._plain.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.enabled:
            self._plain.stop()

    def table(self, sort_by: Any = None, row_limit: int = 100, **_: Any) -> str:
        return str(self.key_averages().table(sort_by, row_limit))

    def key_averages(self, group_by_input_shape: bool = False, **_: Any) -> Any:
        if not self.enabled:
            raise RuntimeError("Profiler didn't finish running: it is not enabled")
        return self._plain.key_averages(group_by_input_shape)

    @property
    def self_cpu_time_total(self) -> float:
        return float(sum(row.self_cpu_time_total for row in self.key_averages()))

    def export_chrome_trace(self, path: Any) -> None:
        self._plain.export_chrome_trace(path)

    def export_stacks(self, path: Any, metric: str = "self_cpu_time_total") -> None:
        self._plain.export_stacks(path, metric)

    def __str__(self) -> str:
        return self.table() if self.enabled else "<unfinished profiler_legacy.profile>"


class emit_nvtx:  # noqa: N801 (PyTorch's name)
    """Refused: the library's calls are no ranges of NVTX. torch.cuda.nvtx marks those of the program."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        if enabled and cuda.is_available():
            raise NotImplementedError("torch.autograd.profiler.emit_nvtx is not in tessera.torch; torch.cuda.nvtx marks ranges")

    def __enter__(self) -> emit_nvtx:
        return self

    def __exit__(self, *error: object) -> None:
        pass


__getattr__, __dir__ = lookup(f"{__package__}.autograd.profiler", {name: globals()[name] for name in __all__})
