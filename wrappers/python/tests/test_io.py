# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""safetensors: files written by others, our own files, malicious files."""

from __future__ import annotations

import gc
import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessera as ts

NAMES = {"float32": "F32", "float64": "F64", "float16": "F16", "int64": "I64", "int32": "I32", "int16": "I16",
         "int8": "I8", "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64", "bool": "BOOL",
         "complex64": "C64"}  # fmt: skip


def write(path: Path, header: Any, data: bytes = b"", length: int | None = None) -> Path:
    """A file with this header, given as an object or as bytes."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def write_arrays(path: Path, arrays: dict[str, Any], pad: bool = True) -> Path:
    """A file as the format's own library writes it, made with NumPy."""
    header, at, data = {}, 0, b""
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": NAMES[array.dtype.name], "shape": list(array.shape), "data_offsets": [at, at + len(raw)]}
        at, data = at + len(raw), data + raw
    text = json.dumps(header).encode()
    return write(path, text + b" " * (-len(text) % 8 if pad else 0), data)


@pytest.mark.parametrize("dtype", NAMES)
def test_files_made_elsewhere_load(dtype: str, tmp_path: Path) -> None:
    arrays = {"a": np.ones((2, 3), dtype), "empty": np.ones((0, 4), dtype), "scalar": np.ones((), dtype)}
    found = ts.load_file(write_arrays(tmp_path / "f", arrays))
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype.name == dtype and found[name].shape == array.shape
        np.testing.assert_array_equal(found[name].numpy(), array)


def test_our_files_read_back_elsewhere(tmp_path: Path) -> None:
    x, y = ts.rand((3, 5)), ts.arange(7).astype(ts.int8)
    ts.save_file({"y": y, "x": x.mT, "b": ts.ones(2, dtype=ts.bfloat16)}, tmp_path / "f", {"made": "here"})
    raw = (tmp_path / "f").read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    header, data = json.loads(raw[8 : 8 + size]), raw[8 + size :]
    assert size % 8 == 0 and header.pop("__metadata__") == {"made": "here"} and header["b"]["dtype"] == "BF16"
    begin, end = header["x"]["data_offsets"]
    np.testing.assert_array_equal(np.frombuffer(data[begin:end], np.float32).reshape(5, 3), x.mT.numpy())
    assert sorted(h["data_offsets"][1] for h in header.values())[-1] == len(data)


def test_round_trip_keeps_everything(tmp_path: Path) -> None:
    tensors = {f"layer.{i}.weight": ts.rand((i, 3)) for i in range(4)} | {"é\"\\": ts.tensor(True)}
    ts.save_file(tensors, tmp_path / "f", {"k": "värde"})
    with ts.io.safe_open(tmp_path / "f") as archive:
        assert set(archive.keys()) == set(tensors) and archive.metadata() == {"k": "värde"} and len(archive) == 5
        for name, tensor in tensors.items():
            assert bool((archive[name] == tensor).all())
        with pytest.raises(KeyError):
            archive["other"]
    ts.save_file({}, tmp_path / "empty")
    assert ts.load_file(tmp_path / "empty") == {}


def test_bytes_are_those_of_the_file(tmp_path: Path) -> None:
    tensors = {"b": ts.arange(6).reshape((2, 3)).mT, "a é": ts.tensor(True), "none": ts.zeros((0, 2), dtype=ts.bfloat16)}
    ts.io.save_file(tensors, tmp_path / "f", {"k": "värde"})
    data = ts.io.save_bytes(tensors, {"k": "värde"})
    assert data == (tmp_path / "f").read_bytes()
    for given in (data, bytearray(data), memoryview(data), memoryview(bytearray(data))[:]):
        found = ts.io.load_bytes(given)
        assert found.keys() == tensors.keys()
        for name, tensor in tensors.items():
            assert found[name].dtype == tensor.dtype and bool((found[name] == tensor).all())
    archive = ts.io.safe_open.from_bytes(data)
    assert archive.metadata() == {"k": "värde"} and len(archive) == 3
    assert ts.io.load_bytes(ts.io.save_bytes({})) == {}


def test_bytes_are_copied_once_and_checked(tmp_path: Path) -> None:
    data = bytearray(ts.io.save_bytes({"x": ts.ones(3)}))
    x = ts.io.load_bytes(data)["x"]
    data[-4:] = bytes(4)
    x[0] = 5.0
    gc.collect()
    assert x.tolist() == [5.0, 1.0, 1.0] and ts.io.load_bytes(data)["x"].tolist() == [1.0, 1.0, 0.0]
    for broken in (b"", data[:-1], data + b"\0", b"no archive, but longer than 8 bytes"):
        with pytest.raises(ts.FileError, match="safetensors"):
            ts.io.load_bytes(broken)
    for other in ("path.safetensors", tmp_path, memoryview(data)[::2]):
        with pytest.raises(TypeError, match=r"safe_open.from_bytes\(\): expected the bytes of a file"):
            ts.io.load_bytes(other)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"save_bytes\(\): expected a dict of Tensors, got list"):
        ts.io.save_bytes([ts.ones(3)])  # type: ignore[arg-type]


def test_loading_copies_nothing_and_writing_stays_here(tmp_path: Path) -> None:
    path = tmp_path / "f"
    ts.save_file({"big": ts.zeros((1 << 20,)), "x": ts.ones(3)}, path)
    before = ts.memory.memory_allocated()
    found = ts.load_file(path)
    assert ts.memory.memory_allocated() - before < 4096
    found["x"] += 1
    assert found["x"].tolist() == [2, 2, 2] and ts.load_file(path)["x"].tolist() == [1, 1, 1]
    os.unlink(path)
    assert found["big"].sum().item() == 0


def test_unaligned_data_loads_by_copy(tmp_path: Path) -> None:
    arrays = {"byte": np.ones(1, np.uint8), "x": np.arange(3, dtype=np.float64)}
    found = ts.load_file(write_arrays(tmp_path / "f", arrays, pad=False))
    assert found["x"].tolist() == [0, 1, 2] and found["x"].data_ptr() % 8 == 0


def entry(dtype: Any = "F32", shape: Any = (1,), offsets: Any = (0, 4), **more: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets, **more}


HOSTILE: dict[str, tuple[Any, bytes, int | None]] = {
    "header longer than the file": ({}, b"", 1 << 20),
    "header of 2^63 bytes": ({}, b"", (1 << 63)),
    "header of 2^64 - 1 bytes": ({}, b"", (1 << 64) - 1),
    "no JSON": (b"{nonsense", b"", None),
    "no object": (b"[1, 2]", b"", None),
    "space first": (b" {}", b"", None),
    "empty header": (b"", b"", None),
    "trailing text": (b"{} x", b"", None),
    "not UTF-8": (b'{"\xff\xfe": 1}', b"", None),
    "unknown dtype": ({"a": entry("F99")}, b"abcd", None),
    "dtype no text": ({"a": entry(5)}, b"abcd", None),
    "negative size": ({"a": entry(shape=(-1,))}, b"abcd", None),
    "fractional size": ({"a": entry(shape=(1.5,))}, b"abcd", None),
    "size as text": ({"a": entry(shape=("1",))}, b"abcd", None),
    "shape no list": ({"a": entry(shape=4)}, b"abcd", None),
    "overflowing shape": ({"a": entry(shape=(1 << 62, 8))}, b"abcd", None),
    "overflow to the right size": ({"a": entry(shape=(1 << 32, 1 << 32), offsets=(0, 0))}, b"", None),
    "overflow hidden by a zero": ({"a": entry(shape=(0, 1 << 62, 1 << 62), offsets=(0, 0))}, b"", None),
    "too many axes": ({"a": entry(shape=(1,) * 65)}, b"abcd", None),
    "size beyond int64": ({"a": entry(shape=((1 << 63),))}, b"abcd", None),
    "offsets backwards": ({"a": entry(offsets=(4, 0))}, b"abcd", None),
    "offsets past the end": ({"a": entry(offsets=(0, 4))}, b"", None),
    "negative offset": ({"a": entry(offsets=(-4, 0))}, b"abcd", None),
    "three offsets": ({"a": entry(offsets=(0, 2, 4))}, b"abcd", None),
    "wrong length": ({"a": entry(shape=(2,))}, b"abcd", None),
    "hole": ({"a": entry(), "b": entry(offsets=(8, 12))}, b"abcdefghijkl", None),
    "overlap": ({"a": entry(), "b": entry(offsets=(0, 4))}, b"abcd", None),
    "partial overlap": ({"a": entry(), "b": entry(offsets=(2, 6))}, b"abcdef", None),
    "unused bytes": ({"a": entry()}, b"abcdefgh", None),
    "missing key": ({"a": {"dtype": "F32", "shape": [1]}}, b"abcd", None),
    "extra key": ({"a": entry(more=1)}, b"abcd", None),
    "entry no object": ({"a": 3}, b"", None),
    "duplicate name": (b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
                       b'"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"a", None),
    "duplicate key": (b'{"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}}', b"a", None),
    "metadata no object": ({"__metadata__": 3}, b"", None),
    "metadata no text": ({"__metadata__": {"a": 3}}, b"", None),
    "deep nesting": (b'{"a":' + b"[" * 100000 + b"]" * 100000 + b"}", b"", None),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(name: str, tmp_path: Path) -> None:
    header, data, length = HOSTILE[name]
    with pytest.raises(ts.FileError) as info:
        ts.load_file(write(tmp_path / "f", header, data, length))
    assert isinstance(info.value, OSError) and info.value.op == "archive_open"


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    ts.save_file({"a": ts.ones(4), "b": ts.ones(2)}, tmp_path / "f")
    whole = (tmp_path / "f").read_bytes()
    for size in range(len(whole)):
        (tmp_path / "cut").write_bytes(whole[:size])
        with pytest.raises(OSError):
            ts.load_file(tmp_path / "cut")


def test_bools_must_be_bools(tmp_path: Path) -> None:
    path = write(tmp_path / "f", {"a": entry("BOOL", (2,), (0, 2))}, b"\x01\x07")
    with pytest.raises(OSError, match="0 nor 1"):
        ts.load_file(path)


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(OSError) as info:
        ts.load_file(tmp_path / "missing")
    assert isinstance(info.value, ts.FileError) and info.value.native_code == 2
    for bad in (tmp_path, "a\0b"):
        with pytest.raises(OSError):
            ts.load_file(bad)


def test_failed_saves_leave_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    ts.save_file({"a": ts.ones(1)}, path)
    with pytest.raises(TypeError):
        ts.save_file({"a": ts.ones(1, dtype=ts.complex128)}, path)
    with pytest.raises(TypeError):
        ts.save_file({"a": [1.0]}, path)  # type: ignore[dict-item]
    with pytest.raises(ValueError):
        ts.save_file({"__metadata__": ts.ones(1)}, path)
    with pytest.raises(OSError):
        ts.save_file({"a": ts.ones(1)}, tmp_path / "no" / "such" / "folder")
    assert ts.load_file(path)["a"].tolist() == [1] and os.listdir(tmp_path) == ["f"]


def test_archives_leave_nothing_behind(tmp_path: Path) -> None:
    ts.save_file({"a": ts.ones(8)}, tmp_path / "f")
    gc.collect()
    before = ts.memory.live_handles()
    for _ in range(10):
        ts.load_file(tmp_path / "f")
        ts.io.load_metadata(tmp_path / "f")
    gc.collect()
    assert ts.memory.live_handles() == before


def test_the_error_of_a_bad_file_names_it(tmp_path: Path) -> None:
    path = tmp_path / "bad.safetensors"
    path.write_bytes(b"no tensors here")
    with pytest.raises(ts.FileError, match=r"bad\.safetensors: not a safetensors file"):
        ts.load_file(path)
    optimizer = ts.optim.SGD([ts.ones(1, requires_grad=True)], lr=1)
    with pytest.raises(ts.FileError, match=r"bad\.safetensors"):
        optimizer.load(path)


def test_saving_through_a_link_replaces_the_file_behind_it(tmp_path: Path) -> None:
    target, link = tmp_path / "epoch1.safetensors", tmp_path / "latest.safetensors"
    ts.save_file({"x": ts.zeros(1)}, target)
    link.symlink_to(target.name)
    ts.save_file({"x": ts.ones(1)}, link)
    assert link.is_symlink() and ts.load_file(target)["x"].tolist() == [1]
