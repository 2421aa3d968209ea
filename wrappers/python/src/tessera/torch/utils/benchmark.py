# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils.benchmark: Timer and what it measures."""

from __future__ import annotations

import statistics
import timeit
from typing import Any

from .. import cuda
from .._namespace import lookup

__all__ = ["Measurement", "Timer"]


class Measurement:
    """Times of several runs of a statement, in seconds for one execution."""

    def __init__(self, number_per_run: int, raw_times: list[float], title: str, num_threads: int) -> None:
        self.number_per_run, self.raw_times, self.title, self.num_threads = number_per_run, raw_times, title, num_threads

    @property
    def times(self) -> list[float]:
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        if len(self.raw_times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    def __repr__(self) -> str:
        unit, name = next(((u, n) for u, n in ((1, "s"), (1e-3, "ms"), (1e-6, "us")) if self.median >= u), (1e-9, "ns"))
        runs = f"{len(self.raw_times)} measurement{'s' * (len(self.raw_times) > 1)}, {self.number_per_run} runs"
        threads = f"{self.num_threads} thread{'s' * (self.num_threads > 1)}"
        return f"<{__name__}.Measurement>\n{self.title}\n  {self.median / unit:.2f} {name}\n  {runs} per measurement, {threads}"


def _now() -> float:
    if cuda.is_available():
        cuda.synchronize()
    return timeit.default_timer()


class Timer:
    """Measures a statement, by default with one thread of the library."""

    def __init__(
        self, stmt: str = "pass", setup: str = "pass", global_setup: str = "", timer: Any = _now, globals: Any = None,
        label: str | None = None, sub_label: str | None = None, description: str | None = None, env: str | None = None,
        num_threads: int = 1, language: str = "python",
    ) -> None:
        if language not in ("python", "py"):
            raise NotImplementedError(f"torch.utils.benchmark.Timer: expected the language python, got {language!r}")
        self._title = ": ".join(part for part in (label or stmt, sub_label, description) if part)
        self._threads = num_threads
        self._timer = timeit.Timer(stmt, setup, timer, {**(globals or {})})

    def _timed(self, number: int) -> float:
        import tessera

        before = tessera.get_num_threads()
        tessera.set_num_threads(self._threads)
        try:
            return self._timer.timeit(number)
        finally:
            tessera.set_num_threads(before)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One run of so many executions, after some to get warm."""
        self._timed(max(number // 100, 2))
        return Measurement(number, [self._timed(number)], self._title, self._threads)

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Runs of so many executions that the timer costs little, for at least so many seconds."""
        number = 1
        while (took := self._timed(number)) < min(1e-3, min_run_time) and number < 1 << 30:
            number *= 10
        times = [took]
        while sum(times) < min_run_time:
            times.append(self._timed(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self._title, self._threads)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0, callback: Any = None
    ) -> Measurement:
        """blocked_autorange() until the middle half of the times differs by less than a share of their median."""
        found = self.blocked_autorange(callback, min_run_time)
        while sum(found.raw_times) < max_run_time and (len(found.raw_times) < 4 or found.iqr > threshold * found.median):
            found.raw_times.append(self._timed(found.number_per_run))
        return found


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__})
