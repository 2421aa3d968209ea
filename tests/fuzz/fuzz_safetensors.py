#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads damaged safetensors files: the library must accept and refuse the same files as a simple reader of the format."""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import resource
import sys
import time
from typing import Any

from binding import OK, Fault, Library

ITEMSIZES = {
    "BOOL": 1, "U8": 1, "U16": 2, "U32": 4, "U64": 8, "I8": 1, "I16": 2, "I32": 4, "I64": 8, "F16": 2, "BF16": 2,
    "F32": 4, "F64": 8, "C64": 8,
}  # fmt: skip
NUMBERS = [0, 1, 2, 3, 7, 8, 255, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -1, -8, 1.0, 0.5, 1e300]
ODD = [None, True, False, "", "F32", [], {}, [0, 4], [[0]], {"a": 1}, "é\u0000", "x" * 300]
BATCH = 200


class Refused(Exception):
    """The simple reader refuses the file."""


# ---- The simple reader ----


def expected_entries(file: bytes) -> dict[str, tuple[str, list[int], bytes]]:
    """Names with dtype, shape and bytes. Raises Refused if the file violates the format."""
    if len(file) < 8:
        raise Refused
    length = int.from_bytes(file[:8], "little")
    if length > 100_000_000 or length > len(file) - 8:
        raise Refused
    header, data = file[8 : 8 + length], file[8 + length :]
    tree = _parsed(header)
    found, spans = {}, []
    for name, entry in tree.items():
        if name == "__metadata__":
            if not isinstance(entry, dict) or not all(isinstance(v, str) for v in entry.values()):
                raise Refused
            continue
        begin, end = _span(entry)
        spans.append((begin, end))
        found[name] = (entry["dtype"], entry["shape"], data[begin:end])
    at = 0
    for begin, end in sorted(spans):
        if begin != at:
            raise Refused
        at = end
    if at != len(data):
        raise Refused
    return found


def _parsed(header: bytes) -> dict[str, Any]:
    if header[:1] != b"{":
        raise Refused
    try:
        tree = json.loads(
            header.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_integer
        )
    except (ValueError, RecursionError):
        raise Refused from None
    return tree  # type: ignore[no-any-return]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise Refused
    for name, _ in pairs:
        name.encode("utf-8")  # a lone surrogate is a ValueError
    return dict(pairs)


def _no_constant(_: str) -> None:
    raise ValueError


def _span(entry: Any) -> tuple[int, int]:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise Refused
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in ITEMSIZES or not isinstance(shape, list) or len(shape) > 64:
        raise Refused
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_natural, [*shape, *offsets])):
        raise Refused
    nbytes = whole = ITEMSIZES[dtype]
    for size in shape:
        nbytes *= size
        whole *= max(size, 1)
    if whole >= 2**63 or offsets[1] - offsets[0] != nbytes:
        raise Refused
    return offsets[0], offsets[1]


def _integer(text: str) -> float:
    """-0 is not a natural number, as in the format's own library."""
    return -0.0 if text == "-0" else int(text)


def _natural(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


# ---- Files ----


def good_tree(rng: random.Random) -> tuple[dict[str, Any], bytes]:
    tree: dict[str, Any] = {}
    data = b""
    if rng.random() < 0.3:
        tree["__metadata__"] = {"format": "pt", "k": "v"}
    for number in range(rng.randrange(4)):
        dtype = rng.choice(sorted(ITEMSIZES))
        shape = [rng.choice([0, 1, 2, 3]) for _ in range(rng.randrange(4))]
        nbytes = ITEMSIZES[dtype]
        for size in shape:
            nbytes *= size
        tree[f"t{number}"] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + nbytes]}
        data += bytes(rng.randrange(2) for _ in range(nbytes))
    return tree, data


def damage_tree(rng: random.Random, tree: Any) -> None:
    """One change somewhere in the header."""
    place = tree
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = rng.choice(keys)
        inner = place[key]
        if isinstance(inner, (dict, list)) and inner and rng.random() < 0.8:
            place = inner
            continue
        roll = rng.random()
        if roll < 0.5:
            # A copy, because the next change may be inside it, and it must not contain itself.
            place[key] = rng.choice(NUMBERS) if rng.random() < 0.6 else copy.deepcopy(rng.choice(ODD))
        elif roll < 0.7:
            del place[key]
        elif isinstance(place, dict):
            place[rng.choice(["dtype", "shape", "extra", "__metadata__", "t0"])] = place.pop(key)
        else:
            place.append(rng.choice(NUMBERS))
        return


def damaged(rng: random.Random) -> bytes:
    tree, data = good_tree(rng)
    for _ in range(rng.choice([0, 1, 1, 2])):
        damage_tree(rng, tree)
    header = json.dumps(tree, ensure_ascii=rng.random() < 0.5).encode("utf-8")
    if rng.random() < 0.1:
        header = header.replace(b'"t1"', b'"t0"')
    if rng.random() < 0.1:
        header = rng.choice([b"[" * 80, b'{"a":' * 80, b" ", b"\xff", b"{}x"]) + header
    header += b" " * (-len(header) % 8)
    length = len(header) if rng.random() < 0.9 else rng.choice([0, 1, len(header) + 1, 2**40, 2**63, 2**64 - 1])
    file = bytearray(length.to_bytes(8, "little") + header + data)
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        if file:
            file[rng.randrange(len(file))] = rng.randrange(256)
    if rng.random() < 0.1:
        del file[rng.randrange(len(file) + 1) :]
    if rng.random() < 0.05:
        file += bytes(rng.randrange(1, 20))
    return bytes(file)


# ---- The library ----


class Reader:
    def __init__(self, library: Library) -> None:
        self.library = library
        self.memory = os.memfd_create("fuzzed.safetensors")
        self.path = f"/proc/self/fd/{self.memory}".encode()
        self.info = library.ffi.new("tsr_info*", {"struct_size": library.ffi.sizeof("tsr_info")})

    def entries(self, file: bytes) -> dict[str, tuple[str, list[int], bytes]]:
        os.ftruncate(self.memory, 0)
        os.pwrite(self.memory, file, 0)
        archive = self.library.ffi.new("tsr_archive*")
        status = self.library.call("tsr_archive_open", self.path, len(self.path), archive)
        if status != OK:
            if status != self.library.codes["IO"]:
                raise Fault(f"{file!r}: {self.library.names[status]}: {self.library.message()}")
            raise Refused
        try:
            return self._read(archive[0])
        finally:
            self.library.lib.tsr_archive_release(archive[0])

    def _read(self, archive: Any) -> dict[str, tuple[str, list[int], bytes]]:
        library, ffi = self.library, self.library.ffi
        count, text, length = ffi.new("int64_t*"), ffi.new("const char**"), ffi.new("int64_t*")
        library.check("tsr_archive_count", archive, count)
        found = {}
        for index in range(count[0]):
            library.check("tsr_archive_name", archive, index, text, length)
            name = bytes(ffi.buffer(text[0], length[0])).decode()
            out = ffi.new("tsr_tensor*")
            if library.call("tsr_archive_tensor", archive, index, out) != OK:
                raise Refused  # bools that are neither 0 nor 1
            found[name] = self._tensor(out[0])
            library.lib.tsr_tensor_release(out[0])
        return found

    def _tensor(self, tensor: Any) -> tuple[str, list[int], bytes]:
        self.library.check("tsr_tensor_info", tensor, self.info)
        data = bytearray(self.info.nbytes)
        self.library.check("tsr_tensor_read", tensor, self.library.ffi.from_buffer(data), len(data))
        return str(self.info.dtype), [self.info.sizes[i] for i in range(self.info.ndim)], bytes(data)


def compare(reader: Reader, file: bytes, codes: dict[str, str]) -> None:
    try:
        expected: Any = {n: (codes[d], s, b) for n, (d, s, b) in expected_entries(file).items()}
        if any(d == codes["BOOL"] and set(b) - {0, 1} for d, s, b in expected.values()):
            raise Refused
    except Refused:
        expected = None
    try:
        found: Any = reader.entries(file)
    except Refused:
        found = None
    if found != expected:
        raise Fault(f"{file!r}: read as {found}, expected {expected}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--calls", type=int, default=200_000, help="number of files")
    parser.add_argument("--seed", type=int, default=20260101)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    start = time.monotonic()
    library = Library(options.library, f"fuzz_safetensors_{options.seed}.txt")
    codes = {t.short.upper(): str(t.value) for t in library.schema.dtypes}
    reader, rng, faults = Reader(library), random.Random(options.seed), 0
    reader.entries(b"\x02\0\0\0\0\0\0\0{}")
    for number in range(options.calls):
        library.step = number
        before = library.counters() if number % BATCH == 0 else None
        try:
            compare(reader, damaged(rng), codes)
            if number % BATCH == 0 and library.counters() != before:
                raise Fault(f"{before} became {library.counters()}")
        except Fault as fault:
            faults += 1
            if faults < 10:
                print(f"file {number}: {fault}"[:2000], flush=True)
    library.close()
    print(f"{options.calls} files, {faults} faults, {time.monotonic() - start:.1f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
