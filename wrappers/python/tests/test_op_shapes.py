# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The op table on other shapes: Hypothesis replaces the sizes in the samples of a row, the same one by the same one.

A sample that the reference refuses, for example since a list of sizes no longer fits, only has to leave the library
whole; and so has one that only the op refuses, where the reference broadcasts or leaves out what does not fit.
TSR_TEST_LONG asks for all rows and for more examples.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from op_engine import Fixed, Make, Row, assert_same, one_array, prepare, reference_of, two_arrays
from op_table import ROWS

LONG = bool(os.environ.get("TSR_TEST_LONG"))
SMALL, LARGE = st.sampled_from([0, 1, 2, 3, 4, 7, 8, 9]), st.sampled_from([1, 16, 33])
SIZES = st.fixed_dictionaries({}, optional={**dict.fromkeys(range(1, 7), SMALL), 17: LARGE})
# References that read and write past the memory when strides or weights no longer fit the sizes, that have fewer axes
# where one of them has the size 0 or 1, that give what stood in memory as the mean of nothing, or that leave the shape
# of an empty image.
OWN_RULES = (
    "as_strided", "as_strided_scatter", "cov", "corrcoef", "tolist", "multi_margin_loss", "pixel_shuffle",
    "pixel_unshuffle", "lstm", "gru", "rnn_tanh", "rnn_relu",
)  # fmt: skip
# Sums of up to 2401 products where the samples have 8: an axis of 2 may become one of 7.
LONG_SUMS = ("conv3d", "conv_transpose3d")


def takes_every_shape(row: Row) -> bool:
    """Whether the samples are arrays alone, of shapes that broadcast."""
    return row.samples.__qualname__.split(".")[0] in (one_array.__name__, two_arrays.__name__)


def with_long_sums(row: Row) -> Row:
    """The row, where sums become long with a tolerance for them."""
    if row.name not in LONG_SUMS:
        return row
    return replace(row, tolerance={dtype: (rtol, 10 * atol) for dtype, (rtol, atol) in row.tolerance.items()})


CHOSEN = [with_long_sums(row) for row in ROWS if takes_every_shape(row) or (LONG and row.name not in OWN_RULES)]


class Resized(Make):
    """Makes the arrays of samples with other sizes."""

    def __init__(self, dtype: str, seed: int, sizes: dict[int, int]) -> None:
        super().__init__(dtype, seed)
        self.sizes = sizes

    def _of(self, shape: tuple[int, ...]) -> list[int]:
        return [self.sizes.get(n, n) for n in shape]

    def __call__(self, *shape: int, low: float = -2.0, high: float = 2.0) -> Any:
        return super().__call__(*self._of(shape), low=low, high=high)

    def distinct(self, *shape: int) -> Any:
        return super().distinct(*self._of(shape))

    def index(self, *shape: int, high: int, low: int = 0) -> Fixed:
        return super().index(*self._of(shape), high=self.sizes.get(high, high), low=low)

    def mask(self, *shape: int) -> Fixed:
        return super().mask(*self._of(shape))


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in CHOSEN])
@settings(max_examples=200 if LONG else 5, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_row_on_other_shapes(row: Row, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(sorted(row.dtypes)), "dtype")
    layout = data.draw(st.sampled_from(sorted(row.layouts)), "layout")
    sizes = data.draw(SIZES, "sizes")
    try:
        samples = list(row.samples(Resized(dtype, 7, sizes)))
    except (ValueError, IndexError, ZeroDivisionError):
        return  # the row's own arithmetic with sizes
    for number, sample in enumerate(samples):
        call = prepare(row, sample, dtype, layout)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                wanted = reference_of(row, call)
            except Exception:  # noqa: BLE001 (whatever NumPy, SciPy or PyTorch refuse it with)
                wanted = None
        try:
            got = row.function(*call.args, **call.kwargs)
        except (ValueError, IndexError, TypeError, RuntimeError):
            assert wanted is None or not takes_every_shape(row), f"{row.name}: sample {number} is refused"
            continue
        if wanted is not None:
            assert_same(row, dtype, got, wanted, f"{dtype}, sample {number}, {layout}, sizes {sizes}")
