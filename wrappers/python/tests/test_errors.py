# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors: classes, built-in base classes, attributes."""

from __future__ import annotations

import builtins
import errno
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts
import tessera.nn.functional as F
from tessera import _errors, autograd, nn, optim
from tessera._constants import STATUS


@pytest.mark.parametrize("code", sorted(STATUS))
def test_every_status_has_a_class_that_is_also_the_builtin(code: int) -> None:
    name, builtin = STATUS[code]
    kind = _errors.CLASSES[code]
    assert kind.code == code and issubclass(kind, ts.TesseraError) and issubclass(kind, getattr(builtins, builtin)), name


def test_errors_carry_operation_and_argument() -> None:
    with pytest.raises(ts.ShapeError) as info:
        ts.add(ts.ones(2), ts.ones(3))
    error = info.value
    assert error.code == 4 and error.op == "add" and error.argument == 1
    for part in ("add", "other", "[2]", "[3]"):
        assert part in str(error)


def test_errors_of_converted_arguments_name_them() -> None:
    cases: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: ts.zeros(3, dtype=5), ts.DTypeError, r"zeros\(\): argument 'dtype' \(position 2\): expected a dtype, got 5"),
        (lambda: ts.zeros(3, device="gpu"), ts.DeviceError, r"zeros\(\): argument 'device' \(position 3\): expected a device"),
        (lambda: ts.zeros((1, 2**70)), ts.InvalidValueError, r"zeros\(\): argument 'shape' \(position 1\): expected an int of 64"),
        (lambda: ts.ones(3).sum(2**70), ts.InvalidValueError, r"sum\(\): argument 'axis' \(position 2\): expected an int of 64"),
    ]
    for call, kind, text in cases:
        with pytest.raises(kind, match=f"^{text}"):
            call()


def test_builtins_catch() -> None:
    cases = [
        (ValueError, lambda: ts.ones(2) + ts.ones(3)),
        (IndexError, lambda: ts.ones(2)[5]),
        (IndexError, lambda: ts.ones(2).sum(axis=3)),
        (TypeError, lambda: ts.tensor([1]).requires_grad_()),
        (BufferError, lambda: ts.ones(2).requires_grad_().numpy()),
        (OSError, lambda: ts.load_file("/no/such/file")),
        (RuntimeError, lambda: ts.ones(2).backward()),
    ]
    for kind, call in cases:
        with pytest.raises(kind) as info:
            call()
        assert isinstance(info.value, ts.TesseraError)


def test_memory_errors_are_typed_and_harmless() -> None:
    with pytest.raises((MemoryError, ValueError)):
        ts.empty((2**40, 2**20))
    with pytest.raises(MemoryError):
        ts.zeros((2**45,))
    assert ts.ones(2).sum().item() == 2


def test_errors_pickle_by_message() -> None:
    with pytest.raises(ts.ShapeError) as info:
        ts.ones(2) + ts.ones(3)
    assert str(pickle.loads(pickle.dumps(info.value))) == str(info.value)


WRONG: list[tuple[str, type[Exception], Callable[[], Any]]] = [
    ("the truth of many elements", ValueError, lambda: bool(ts.ones(2))),
    ("a device that is none", ValueError, lambda: ts.ones(2).to("gpu")),
    ("a device of another type", TypeError, lambda: ts.ones(2, device=3)),
    ("a device in a call", ValueError, lambda: ts.ones(2, device="gpu:0")),
    ("a count of unknown devices", ValueError, lambda: ts.device_count("gpu")),
    ("a dtype that is none", TypeError, lambda: ts.ones(2).to(3)),
    ("a dtype's name", TypeError, lambda: ts.ones(2, dtype="float31")),
    ("a number for a tensor", TypeError, lambda: ts.exp(3)),
    ("text for a tensor", TypeError, lambda: ts.ones(2).add("a")),
    ("text for a float", TypeError, lambda: F.dropout(ts.ones(2), "a")),
    ("text for an int", TypeError, lambda: ts.ones("a")),
    ("a size beyond 64 bits", ValueError, lambda: ts.ones(2**70)),
    ("an axis beyond 64 bits", ValueError, lambda: ts.ones(2).sum(axis=2**70)),
    ("an unknown word", ValueError, lambda: F.mse_loss(ts.ones(2), ts.ones(2), reduction="median")),
    ("a tensor for a list", TypeError, lambda: ts.stack(ts.ones(2))),
    ("a gradient that is none", TypeError, lambda: setattr(ts.ones(2), "grad", 3)),
    ("a hook that is none", TypeError, lambda: ts.ones(2, requires_grad=True).register_hook(3)),
    ("an index that is none", IndexError, lambda: ts.ones(2)["a"]),
    ("an index of Python's list", IndexError, lambda: ts.ones(2)[2**70]),
    ("a slice of text", TypeError, lambda: ts.ones(2)["a":]),
    ("a loop over no axis", TypeError, lambda: list(ts.tensor(1.0))),
    ("the length of a number", TypeError, lambda: len(ts.tensor(1.0))),
    ("an index of many elements", TypeError, lambda: range(ts.ones(2))),
    ("data that is none", TypeError, lambda: ts.Tensor([1, 2])),
    ("a tensor as axis", TypeError, lambda: ts.max(ts.ones(2), ts.ones(2))),
    ("ragged data", ValueError, lambda: ts.tensor([[1], [2, 3]])),
    ("data that is no number", TypeError, lambda: ts.tensor([1, None])),
    ("data that is a set", TypeError, lambda: ts.tensor({1, 2})),
    ("data that is text", TypeError, lambda: ts.tensor(["a"])),
    ("an array of text", TypeError, lambda: ts.from_numpy(np.array(["a"]))),
    ("an array that is none", TypeError, lambda: ts.from_numpy([1])),
    ("another array's memory", TypeError, lambda: ts.from_dlpack(3)),
    ("T of a cube", ValueError, lambda: ts.ones(1, 1, 1).T),
    ("a copy of a result", RuntimeError, lambda: __import__("copy").deepcopy(ts.ones(1, requires_grad=True) * 2)),
    ("a gradient of nothing", ValueError, lambda: autograd.grad(ts.ones(1, requires_grad=True).sum(), [])),
    ("no parameters", ValueError, lambda: optim.SGD([])),
    ("parameters that are none", TypeError, lambda: optim.SGD(3)),
    ("a path for a state", TypeError, lambda: nn.Linear(1, 1).load_state_dict("file")),
    ("a state without keys", RuntimeError, lambda: nn.Linear(1, 1).load_state_dict({})),
    ("a state of numbers", RuntimeError, lambda: nn.Linear(1, 1).load_state_dict({"weight": 1, "bias": 2})),
    ("a model without forward", NotImplementedError, lambda: nn.Module()(1)),
    ("a parameter that is none", TypeError, lambda: setattr(nn.Linear(1, 1), "weight", 3)),
    ("a name with a dot", ValueError, lambda: nn.Module().register_buffer("a.b", ts.ones(1))),
    ("a wrong probability", ValueError, lambda: nn.Dropout(2)),
    ("wrong options of a loader", ValueError, lambda: ts.utils.data.DataLoader([1], num_workers=-1)),
    ("a sample of nothing", TypeError, lambda: ts.utils.data.default_collate([object()])),
    ("a seed of text", TypeError, lambda: ts.manual_seed("a")),
    ("a generator's seed", TypeError, lambda: ts.Generator(1.5)),
    ("a state of the generator", TypeError, lambda: ts.set_rng_state(3)),
    ("half a state of the generator", ValueError, lambda: ts.set_rng_state((3,))),
    ("threads of text", TypeError, lambda: ts.set_num_threads("two")),
    ("no threads", ValueError, lambda: ts.set_num_threads(0)),
    ("shapes that are none", TypeError, lambda: ts.broadcast_shapes(3)),
    ("the dtype of nothing", TypeError, lambda: ts.result_type(None, ts.ones(1))),
    ("a buffer that is none", TypeError, lambda: ts.frombuffer(3)),
    ("an option of printing", TypeError, lambda: ts.set_printoptions(precision="much")),
    ("a rate of text", TypeError, lambda: optim.Adam([ts.ones(1)], lr="fast")),
    ("betas that are none", TypeError, lambda: optim.Adam([ts.ones(1)], betas=0.9)),
    ("three betas", ValueError, lambda: optim.Adam([ts.ones(1)], betas=(0.1, 0.2, 0.3))),
    ("a group without parameters", ValueError, lambda: optim.SGD({"lr": 1})),
    ("an optimizer's state that is none", TypeError, lambda: optim.SGD([ts.ones(1)]).load_state_dict("file")),
    ("an optimizer's state without keys", ValueError, lambda: optim.SGD([ts.ones(1)]).load_state_dict({})),
    ("outputs that are none", TypeError, lambda: autograd.grad(3, ts.ones(1))),
    ("a probability of text", TypeError, lambda: nn.Dropout("half")),
    ("sizes that are none", TypeError, lambda: nn.LayerNorm(None)),
    ("data of a parameter", TypeError, lambda: nn.Parameter([1.0])),
    ("a number for a module", TypeError, lambda: nn.Sequential(3)),
    ("data of a data set", TypeError, lambda: ts.utils.data.TensorDataset(3)),
    ("a data set that is none", TypeError, lambda: ts.utils.data.DataLoader(3)),
    ("a batch size of text", TypeError, lambda: ts.utils.data.DataLoader([1], batch_size="all")),
    ("parts that are none", TypeError, lambda: ts.utils.data.random_split([1], 1)),
    ("a path that is none", TypeError, lambda: ts.load_file(3)),
    ("a list to save", TypeError, lambda: ts.save_file([ts.ones(1)], "file")),
    ("shapes that do not fit", ValueError, lambda: ts.broadcast_shapes((2,), (3,))),
    ("a wrong dtype of finfo", TypeError, lambda: ts.finfo(ts.int64)),
]


@pytest.mark.parametrize("kind, call", [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_every_failure_is_an_error_of_ours_and_a_builtin(kind: type[Exception], call: Callable[[], Any]) -> None:
    with pytest.raises(ts.TesseraError) as caught:
        call()
    assert isinstance(caught.value, kind) and str(caught.value)


@pytest.mark.parametrize("call", [
    lambda: ts.exp(), lambda: ts.exp(ts.ones(1), 2, 3, 4), lambda: ts.exp(ts.ones(1), wrong=1), lambda: ts.ones(1).numel(3),
    lambda: ts.ones(1).to(wrong=1), lambda: nn.Linear(1), lambda: ts.set_printoptions(1),
])  # fmt: skip
def test_wrong_argument_lists_are_type_errors_as_everywhere(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        call()


def test_a_list_that_contains_itself_is_no_list_of_tensors_or_sizes() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for call in (lambda: ts.stack(endless), lambda: ts.zeros(endless), lambda: ts.index_put(ts.ones(3), endless, ts.ones(1))):
        with pytest.raises(ts.ArgumentTypeError, match="got list"):
            call()
    with pytest.raises(RecursionError):
        ts.ones(3)[endless]


def test_missing_attributes_are_attribute_errors_as_everywhere() -> None:
    for thing in (ts.ones(1), nn.Linear(1, 1), ts):
        with pytest.raises(AttributeError):
            thing.nothing_of_this_name  # noqa: B018


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    missing, plain = tmp_path / "missing", tmp_path / "plain"
    plain.write_bytes(b"")
    cases: list[tuple[Any, type[OSError], int]] = [
        (lambda: ts.load_file(missing), FileNotFoundError, errno.ENOENT),
        (lambda: ts.load_file(plain / "under"), NotADirectoryError, errno.ENOTDIR),
        (lambda: ts.load_file(tmp_path), IsADirectoryError, errno.EISDIR),
        (lambda: ts.save_file({}, missing / "under"), FileNotFoundError, errno.ENOENT),
    ]
    for call, kind, number in cases:
        with pytest.raises(kind) as caught:
            call()
        error = caught.value
        assert isinstance(error, ts.FileError) and error.errno == number and str(tmp_path) in error.filename
        assert str(tmp_path) in str(error) and error.strerror
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and again.filename == error.filename and str(again) == str(error)
    with pytest.raises(ts.FileError) as caught_broken:
        ts.load_file(plain)
    assert caught_broken.value.errno is None and caught_broken.value.filename == str(plain)
    ts.save_file({"x": ts.ones(1)}, plain)
    with ts.io.safe_open(plain) as archive, pytest.raises(KeyError, match="'y'") as name:
        archive["y"]
    assert isinstance(name.value, ts.TesseraError)
