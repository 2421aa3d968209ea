# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Inference mode: every result made inside is marked, for every row of the op table and every other source of tensors;
what is marked cannot be written, saved or differentiated outside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from op_engine import Make, Row, as_tuple, find, prepare
from op_table import ROWS

import tessera as ts
from tessera import nn, optim
from tessera.nn import functional

IDS = [pytest.param(row, id=row.name) for row in ROWS]
OUT = [pytest.param(row, id=row.name) for row in ROWS if "out" in row.forms]
INPLACE = [pytest.param(row, id=row.name) for row in ROWS if "inplace" in row.forms and "functional" in row.forms]


def dtype_of(row: Row) -> str:
    return "float32" if "float32" in row.dtypes else row.dtypes[0]


def tensors(value: Any) -> list[ts.Tensor]:
    return [t for t in as_tuple(value) if isinstance(t, ts.Tensor)]


def shares(result: ts.Tensor, call: Any) -> bool:
    """Whether the result begins inside the memory of an argument, or has none."""
    given = [*call.args, *call.kwargs.values()]
    found = [t for item in given for t in (item if isinstance(item, (list, tuple)) else [item])]
    first = result._data_address
    return result.size == 0 or any(
        t._data_address <= first < t._data_address + max(t.nbytes, 1) for t in found if isinstance(t, ts.Tensor)
    )


@pytest.mark.parametrize("row", IDS)
def test_every_result_is_marked(row: Row) -> None:
    dtype = dtype_of(row)
    for given in row.samples(Make(dtype)):
        ordinary = prepare(row, given, dtype)
        with ts.inference_mode():
            made = prepare(row, given, dtype)
            inside = row.function(*made.args, **made.kwargs)
            mixed = row.function(*ordinary.args, **ordinary.kwargs)
        assert all(t.is_inference() for t in tensors(inside))
        # A view of an ordinary tensor is ordinary itself.
        assert all(t.is_inference() or shares(t, ordinary) for t in tensors(mixed))


@pytest.mark.parametrize("row", OUT)
def test_destination_keeps_its_mark(row: Row) -> None:
    dtype = "float64" if "float64" in row.dtypes else row.dtypes[0]
    call = prepare(row, next(iter(row.samples(Make(dtype)))), dtype)

    def run(outs: list[ts.Tensor]) -> None:
        row.function(*call.args, **call.kwargs, out=tuple(outs) if len(outs) > 1 else outs[0])

    plain = tensors(row.function(*call.args, **call.kwargs))
    ordinary = [ts.empty(t.shape, dtype=t.dtype) for t in plain]
    with ts.inference_mode():
        marked = [ts.empty(t.shape, dtype=t.dtype) for t in plain]
        run(marked)
        run(ordinary)
    assert all(t.is_inference() for t in marked)
    assert not any(t.is_inference() for t in ordinary)
    assert all(t._version > 0 for t in ordinary)  # whoever saved it before is told
    with pytest.raises(ts.AutogradError, match="inference mode"):
        run(marked)
    run(ordinary)


@pytest.mark.parametrize("row", INPLACE)
def test_in_place_form_keeps_the_mark(row: Row) -> None:
    dtype = "float64" if "float64" in row.dtypes else row.dtypes[0]
    done = 0
    for given in row.samples(Make(dtype)):

        def run(call: Any) -> ts.Tensor:
            first: ts.Tensor = call.args[0]
            method = row.inplace or getattr(type(first), f"{row.name}_", None) or find(f"{row.name}_")
            method(first, *call.args[1:], **call.kwargs)
            return first

        ordinary = prepare(row, given, dtype)
        plain = row.function(*prepare(row, given, dtype).args, **ordinary.kwargs)
        if plain.shape != ordinary.args[0].shape or plain.dtype is not ordinary.args[0].dtype:
            continue
        with ts.inference_mode():
            marked = prepare(row, given, dtype)
            assert run(marked).is_inference()
            version = ordinary.args[0]._version
            first = run(ordinary)
        assert not first.is_inference()
        changed = not np.array_equal(first.numpy(), prepare(row, given, dtype).args[0].numpy(), equal_nan=True)
        assert first._version > version or not changed
        if first._version > version:  # not, for example, a dropout outside training
            with pytest.raises(ts.AutogradError, match="inference mode"):
                run(marked)
            done += 1
    assert done > 0



SOURCES: dict[str, Callable[[], Any]] = {
    "data": lambda: ts.tensor([1.0, 2.0]),
    "number": lambda: ts.tensor(3),
    "asarray": lambda: ts.asarray([[1, 2]], dtype=ts.float64),
    "copy of an array": lambda: ts.tensor(np.ones(3)),
    "array": lambda: ts.from_numpy(np.ones(3)),
    "DLPack": lambda: ts.from_dlpack(np.ones(3)),
    "buffer": lambda: ts.frombuffer(bytearray(8), dtype=ts.float32),
    "zeros": lambda: ts.zeros(2),
    "full": lambda: ts.full((2,), 5),
    "arange": lambda: ts.arange(3),
    "eye": lambda: ts.eye(2),
    "like": lambda: ts.ones_like(ORDINARY),
    "rand": lambda: ts.rand((2,)),
    "randperm": lambda: ts.randperm(4),
    "cast": lambda: ORDINARY.to(ts.float64),
    "clone": lambda: ORDINARY.clone(),
    "sort": lambda: tuple(ts.sort(ORDINARY)),
    "softmax": lambda: functional.softmax(ORDINARY, -1),
    "convolution": lambda: functional.conv2d(ts.ones((1, 1, 3, 3)), ts.ones((1, 1, 2, 2))),
    "advanced index": lambda: ORDINARY[ts.tensor([1, 0])],
    "mask": lambda: ORDINARY[ORDINARY > 1],
    "operators with numbers": lambda: (ORDINARY + 1, 1 - ORDINARY, -ORDINARY, ORDINARY > 1),
    "matmul": lambda: ORDINARY @ ORDINARY,
    "list of tensors": lambda: ts.concat([ORDINARY, ORDINARY]),
    "layer": lambda: nn.Linear(2, 3)(ORDINARY),
    "parameter": lambda: tuple(nn.Linear(2, 3).parameters()),
    "gradient clipping": lambda: nn.utils.clip_grad_norm_([WITH_GRAD], 1.0),
    "view of what was made inside": lambda: (ORDINARY * 2)[1:].reshape((1, 1)),
    "detached": lambda: (ORDINARY * 2).detach(),
}
ORDINARY = ts.tensor([1.0, 2.0])
WITH_GRAD = ts.tensor([1.0, 2.0], requires_grad=True)
WITH_GRAD.grad = ts.tensor([3.0, 4.0])


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_of_tensors_marks_them(source: str) -> None:
    with ts.inference_mode():
        made = tensors(SOURCES[source]())
    assert made and all(t.is_inference() for t in made)
    assert not ORDINARY.is_inference()


def test_files_read_inside_are_marked(tmp_path: Path) -> None:
    ts.save_file({"x": ts.ones(3)}, tmp_path / "x.safetensors")
    with ts.inference_mode():
        loaded = ts.load_file(tmp_path / "x.safetensors")
    assert loaded["x"].is_inference()
    assert not ts.load_file(tmp_path / "x.safetensors")["x"].is_inference()


def test_optimizer_works_on_ordinary_parameters_inside() -> None:
    parameter = ts.tensor([1.0, 2.0], requires_grad=True)
    parameter.grad = ts.ones(2)
    optimizer = optim.SGD([parameter], lr=0.5, momentum=0.9)
    with ts.inference_mode():
        optimizer.step()
    assert not parameter.is_inference() and parameter.tolist() == [0.5, 1.5]
    (parameter * 2).sum().backward()  # and can be trained afterwards
    assert parameter.grad.tolist() == [3, 3]


def test_views_of_ordinary_tensors_stay_ordinary() -> None:
    x = ts.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True) * 1
    with ts.inference_mode():
        views = (x[0], x.T, x.reshape((4,)), x.detach(), x.unsqueeze(0))
    assert not any(view.is_inference() for view in views)


def test_marked_tensors_are_refused_outside_where_they_would_be_recorded() -> None:
    x = ts.tensor([1.0, 2.0], requires_grad=True)
    with ts.inference_mode():
        made = ts.ones(2)
    with pytest.raises(ts.AutogradError, match="inference mode"):
        x * made  # saves it
    assert (x + made).requires_grad  # saves nothing
    assert (x * made.clone()).requires_grad
    with pytest.raises(ts.AutogradError, match="inference mode"):
        made.requires_grad_()
    with pytest.raises(ts.AutogradError, match="inference mode"):
        made.add_(1)
    with ts.inference_mode():
        made.add_(1)
    assert made.tolist() == [2, 2]


def test_mode_can_be_left_inside() -> None:
    with ts.inference_mode():
        with ts.inference_mode(False):
            outside = ts.ones(2)
        inside = ts.ones(2)
    assert inside.is_inference() and not outside.is_inference()
