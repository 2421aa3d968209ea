#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls every function with random bad arguments: each must return a typed error or succeed, never crash.

Usage: fuzz_arguments.py <tessera_ffi.h> <libtessera.so> [calls per function] [seed]
"""

import math
import os
import pathlib
import random
import resource
import sys

import cffi

# These believe what the caller says about memory of its own, so random arguments prove nothing.
TRUSTING = {
    "tsr_tensor_from_data",
    "tsr_tensor_read",
    "tsr_tensor_write",
    "tsr_plugin_load",
    "tsr_poll",
    "tsr_function_apply",
}
INTS = [-(2**63), -7, -1, 0, 1, 2, 3, 70, 2**63 - 1]
COUNTS = [-(2**31), -7, -1, 0, 1, 2, 3, 70, 2**31 - 1]
SMALL = [-(2**31), -77, -1, 0, 1, 2, 3, 12345, 1 << 30, 2**31 - 1]
DOUBLES = [-1.0, 0.0, 0.5, 1.0, 2.0, 1e300, math.inf, -math.inf, math.nan]
DTYPES = [0x10801, 0x12002, 0x14002, 0x14000, 0x10806, 0x14005, 0x11002, -1, 0, 12345]
INTERNAL = 17


class Fuzzer:
    def __init__(self, header, library, seed):
        self.ffi = cffi.FFI()
        self.ffi.cdef(pathlib.Path(header).read_text(encoding="utf-8"))
        self.lib = self.ffi.dlopen(library)
        self.random = random.Random(seed)
        self.made = []
        self.kept = []
        self.drop = self.ffi.callback("tsr_drop_fn", lambda user: None)

    def tensor(self):
        """A live tensor of a random small shape and dtype."""
        shape = [
            self.random.choice([0, 1, 2, 3]) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3]))
        ]
        out = self.ffi.new("tsr_tensor*")
        dtype = self.random.choice(DTYPES[:7])
        strides = [math.prod(max(s, 1) for s in shape[i + 1 :]) for i in range(len(shape))]
        sizes, steps = self.ffi.new("int64_t[]", shape), self.ffi.new("int64_t[]", strides)
        assert (
            self.lib.tsr_tensor_empty_strided(
                sizes, len(shape), steps, len(shape), dtype, -1, -1, out
            )
            == 0
        )
        data = self.ffi.new("void**")
        assert self.lib.tsr_tensor_mutable_data(out[0], data) == 0
        if data[0] != self.ffi.NULL:
            self.ffi.memmove(
                data[0],
                bytes(math.prod(shape) * (dtype >> 8 & 0xFF) // 8),
                math.prod(shape) * (dtype >> 8 & 0xFF) // 8,
            )
        if dtype in (0x12002, 0x14002) and self.random.random() < 0.3:
            assert self.lib.tsr_tensor_set_requires_grad(out[0], 1) == 0
        self.made.append(out[0])
        return out[0]

    def handle(self, kind):
        """NULL, a live handle of the kind, or one of another kind."""
        roll = self.random.random()
        if roll < 0.15:
            return self.ffi.NULL
        if kind == "tsr_tensor" and roll < 0.9:
            return self.tensor()
        if kind == "tsr_generator" and roll < 0.6:
            out = self.ffi.new("tsr_generator*")
            assert self.lib.tsr_generator_new(1, out) == 0
            self.kept.append(out)
            return out[0]
        return self.ffi.cast(kind, self.tensor())

    def value(self, ctype, previous):
        """A value for one parameter; `previous` tells how long the array before a count really is."""
        name = ctype.cname.replace("const ", "").strip()
        choice = self.random.choice
        if name == "double":
            return choice(DOUBLES)
        if ctype.kind == "primitive":
            if name == "int32_t" and previous is not None:
                return choice(COUNTS if previous == 0 else [n for n in COUNTS if n <= previous])
            if name == "int32_t" or name == "int":
                return choice(DTYPES + SMALL)
            if name == "uint64_t":
                return abs(choice(INTS))
            return choice(INTS)
        if ctype.kind == "function" or (ctype.kind == "pointer" and ctype.item.kind == "function"):
            return self.ffi.NULL
        if name.endswith("_s *"):
            return self.handle(f"tsr_{name.removeprefix('struct tsr_').removesuffix('_s *')}")
        return self.pointer(ctype, name)

    def pointer(self, ctype, name):
        if self.random.random() < 0.15:
            return self.ffi.NULL
        item = ctype.item
        if item.kind == "void":
            return self.kept_new("char[]", 256)
        if item.kind == "pointer" and item.cname.endswith("_s *"):
            array = self.kept_new(self.ffi.getctype(item, "[128]"))
            for i in range(4):
                array[i] = self.handle("tsr_tensor") if "tensor" in item.cname else self.ffi.NULL
            return array
        if item.kind == "struct":
            if not item.fields or "DLManaged" in item.cname:
                return self.ffi.NULL
            page = self.kept_new("uint64_t[]", 1024)
            struct = self.ffi.cast(ctype, page)
            struct.struct_size = self.random.choice(
                [0, 3, self.ffi.sizeof(item), self.ffi.sizeof(item), 4096, 2**32 - 1]
            )
            return struct
        if item.cname == "char":
            return self.kept_new(
                "char[]", self.random.choice([b"", b"mean", b"tanh", b"\xff\xfe nonsense"])
            )
        array = self.kept_new(self.ffi.getctype(item, "[128]"))
        if item.cname in ("int64_t", "double"):
            for i in range(128):
                array[i] = self.random.choice(INTS if item.cname == "int64_t" else DOUBLES)
        return array

    def kept_new(self, *what):
        self.kept.append(self.ffi.new(*what))
        return self.kept[-1]

    def length(self, value):
        """Entries behind a pointer that a count may follow; None when the value is no array."""
        if not isinstance(value, self.ffi.CData) or self.ffi.typeof(value).kind not in (
            "pointer",
            "array",
        ):
            return None
        if value == self.ffi.NULL:
            return 0
        kind = self.ffi.typeof(value)
        if kind.kind != "array":
            return None
        return (
            4
            if kind.item.kind == "pointer"
            else (len(value) - 1 if kind.item.cname == "char" else 100)
        )

    def arguments(self, ctype):
        values, previous = [], None
        for arg in ctype.args:
            values.append(self.value(arg, previous))
            previous = self.length(values[-1])
        return values

    def clean(self):
        for handle in self.made:
            self.lib.tsr_tensor_release(handle)
        self.made.clear()
        self.kept.clear()


def main():
    header, library = sys.argv[1:3]
    calls = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 20260101
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    fuzzer = Fuzzer(header, library, seed)
    lib, ffi = fuzzer.lib, fuzzer.ffi
    assert lib.tsr_memory_set_limit(1, 0, 1 << 30) == 0
    last = os.open("fuzz_last_call.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    total = failures = 0
    for name in sorted(n for n in dir(lib) if n.startswith("tsr_")):
        function = getattr(lib, name)
        if (
            not isinstance(function, ffi.CData)
            or name in TRUSTING
            or "release" in name
            or "retain" in name
        ):
            continue
        ctype = ffi.typeof(function)
        if ctype.result.cname != "int32_t" and ctype.result.cname != "int":
            continue
        fallible = name not in ("tsr_has", "tsr_num_threads", "tsr_grad_mode", "tsr_inference_mode")
        for _ in range(calls):
            arguments = fuzzer.arguments(ctype)
            os.pwrite(last, f"{name}{arguments}\n".encode().ljust(2000)[:2000], 0)
            status = function(*arguments)
            total += 1
            if fallible and (not 0 <= status <= 18 or status == INTERNAL):
                failures += 1
                view = ffi.new("tsr_error_view*")
                view.struct_size = ffi.sizeof(view[0])
                lib.tsr_error_last(view)
                print(
                    f"{name}{arguments}: status {status}: {ffi.string(view.message).decode(errors='replace')}"
                )
            reset(lib, ffi)
            fuzzer.clean()
    os.close(last)
    os.unlink("fuzz_last_call.txt")
    print(f"{total} calls, {failures} failures, seed {seed}")
    return 1 if failures else 0


def reset(lib, ffi):
    """Back to the state a call may have changed."""
    previous = ffi.new("int32_t*")
    lib.tsr_inference_mode_set(0, previous)
    lib.tsr_grad_mode_set(1, previous)
    lib.tsr_defer_drops(0)
    lib.tsr_memory_set_limit(1, 0, 1 << 30)
    scope, generator = ffi.new("tsr_scope*"), ffi.new("tsr_generator*")
    lib.tsr_scope_set_current(ffi.NULL, scope)
    lib.tsr_generator_set_current(ffi.NULL, generator)
    lib.tsr_generator_release(generator[0])
    while lib.tsr_saved_hooks_pop() == 0:
        pass
    lib.tsr_set_num_threads(1)


if __name__ == "__main__":
    sys.exit(main())
