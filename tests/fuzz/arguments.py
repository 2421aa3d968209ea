# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of any function with arguments of the right type and any value: each gives an error or a success, no crash."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from binding import OK, Fault, Library
from generator.schema.model import Arg, CFunction
from generator.schema.types import c_params
from graphs import BEHAVIOURS, Callbacks
from tensors import STATES, Tensors, Value, random_numbers, with_layout

# These functions trust the caller's memory or code, or change the whole process.
TRUSTING = {
    "tsr_tensor_from_data", "tsr_tensor_read", "tsr_tensor_write", "tsr_plugin_load", "tsr_memory_allocator_set",
    "tsr_from_dlpack", "tsr_from_dlpack_versioned", "tsr_to_dlpack", "tsr_to_dlpack_versioned", "tsr_stream_wrap",
    "tsr_dltensor_view", "tsr_saved_hooks_push", "tsr_log_set", "tsr_trace_set", "tsr_memory_pressure_add",
    "tsr_scope_begin", "tsr_scope_set_current", "tsr_ambient_restore", "tsr_device_set_default", "tsr_memory_pressure_threshold_set",
}  # fmt: skip
INTS = [-(2**63), -7, -1, 0, 1, 2, 3, 70, 2**62, 2**63 - 1]
COUNTS = [-(2**31), -7, -1, 2**31 - 1]
SMALL = [-(2**31), -77, -1, 0, 1, 2, 3, 12345, 1 << 30, 2**31 - 1]
DOUBLES = [-1.0, 0.0, 0.5, 1.0, 2.0, 1e300, float("inf"), float("-inf"), float("nan")]
TEXTS = [b"", b"mean", b"tanh", b"\xff\xfe nonsense", b"no such file"]
HALVES = (0x11002, 0x11004)  # float16, bfloat16
SHORTS = ("f32", "f32", "f64", "i64", "bool", "bf16", "f16", "c64", "u8")


class Arguments:
    def __init__(self, library: Library, tensors: Tensors, callbacks: Callbacks, rng: random.Random) -> None:
        self.library = library
        self.tensors = tensors
        self.callbacks = callbacks
        self.rng = rng
        self.functions = [
            f
            for f in library.schema.c_functions
            if f.returns == "tsr_status" and f.name not in TRUSTING and not (f.function and not f.function.fuzz)
        ]
        self.calls = 0
        self._outs: list[tuple[str, Any]] = []

    def step(self) -> None:
        function = self.rng.choice(self.functions)
        self._outs = []
        values = [v for arg in function.args for v in self._values(function, arg)]
        self.calls += 1
        status = self.library.call(function.name, *values)
        for kind, place in self._outs:
            self._take(function, status, kind, place)

    def _take(self, function: CFunction, status: int, kind: str, place: Any) -> None:
        """Releases the results; a failed call has none."""
        for i in range(len(place)):
            if place[i] == self.library.ffi.NULL:
                continue
            if status != OK:
                raise Fault(f"{function.name}: failed and left a {kind} in an out place")
            getattr(self.library.lib, f"tsr_{kind}_release")(place[i])

    # ---- Values ----

    def _values(self, function: CFunction, arg: Arg) -> list[Any]:
        kind, ffi, roll = arg.type, self.library.ffi, self.rng.random()
        if kind.direction != "in":
            return self._places(arg)
        if kind.base == "fn":
            return self._callback(function, arg)
        if kind.is_list:
            return self._list(arg)
        if kind.base == "tensor":
            return [ffi.NULL if roll < 0.08 else self._wrong("tsr_tensor") if roll < 0.12 else self.tensor()]
        if kind.base in ("handle", "generator"):
            return [self._handle(kind.name or "generator", roll)]
        if kind.base == "struct":
            return [self._struct(kind.name or "")]
        if kind.base == "str":
            text = self.rng.choice(TEXTS)
            return (
                [ffi.NULL, self.rng.choice([-1, 0, 3])] if roll < 0.1 else [text, self.rng.choice([-1, len(text), -7])]
            )
        return self._plain(function, arg)

    def _plain(self, function: CFunction, arg: Arg) -> list[Any]:
        kind, choice = arg.type, self.rng.choice
        if kind.base == "scalar":
            return [self._number()]
        if kind.base == "f64":
            return [choice(DOUBLES), *[choice([0, 1, 1, 5])] * kind.optional]
        if kind.base == "device":
            return [choice([1, 1, -1, 2, 77]), choice([0, 0, -1, 3])]
        if kind.base == "bool":
            return [choice([0, 1, 0, 1, -1, 9])]
        if kind.base == "dtype":
            return [choice([*self.tensors.shorts, -1, 0, 12345])]
        if kind.base == "enum":
            return [choice([0, 1, 2, 3, -1, 77])]
        if kind.base in ("int64", "uint64"):
            small = choice([-1, 0, 1, 2, 3])
            value = choice(INTS) if arg.fuzz and self.rng.random() < 0.4 else small
            return [abs(value) if kind.base == "uint64" else value]
        if any(a.count_of == arg.name for a in function.args):
            return [choice([-7, -1, 0, 1, 3])]  # the size of the caller's array
        if kind.base in ("int32", "uint32", "status"):
            return [choice(SMALL) if arg.fuzz else 1]
        return [self.library.ffi.NULL]

    def _number(self) -> Any:
        """A number of any kind, or of none; the fields that its kind does not use are garbage."""
        choice = self.rng.choice
        if self.rng.random() < 0.05:
            return self.library.ffi.NULL
        kind = choice([1, 2, 2, 3, 3, 3, 4, choice([0, 5, -1, 2**31 - 1])])
        integer = choice([0, 1, 1, *INTS]) if kind == 1 else choice(INTS)
        reserved = choice([1, -1]) if self.rng.random() < 0.03 else 0
        return self.tensors.keep("tsr_number*", [kind, reserved, integer, choice(DOUBLES), choice(DOUBLES)])

    def tensor(self) -> Any:
        """A live tensor of a small shape, of any dtype and layout, anywhere in a graph."""
        rng, dtype = self.rng, self.rng.choice(SHORTS)
        shape = tuple(rng.choice([0, 1, 2, 3]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4])))
        state = rng.choice(STATES) if dtype in ("f32", "f64", "c64") and rng.random() < 0.3 else "constant"
        value = with_layout(rng, Value(random_numbers(rng, shape, dtype), dtype))
        return self.tensors.make(Value(value.array, dtype, value.layout, state))

    def _wrong(self, ctype: str) -> Any:
        """A handle of another kind than `ctype`."""
        if ctype != "tsr_tensor":
            return self.library.ffi.cast(ctype, self.tensor())
        return self.library.ffi.cast(ctype, self._generator())

    def _generator(self) -> Any:
        place = self.library.ffi.new("tsr_generator*")
        self.library.check("tsr_generator_new", 1, place)
        self.tensors.others.append(("generator", place[0]))
        return place[0]

    def _optimizer(self) -> Any:
        """An optimizer of any kind, for a leaf that mostly has a gradient."""
        ffi, rng = self.library.ffi, self.rng
        leaf = self.tensors.make(Value(random_numbers(rng, (2, 3), "f32"), "f32", state="leaf"))
        options, place = self.tensors.keep("tsr_optimizer_options*"), ffi.new("tsr_optimizer*")
        options.struct_size = ffi.sizeof("tsr_optimizer_options")
        self.library.check("tsr_optimizer_defaults", rng.randint(1, 12), options)
        self.library.check("tsr_optimizer_new", options, ffi.new("tsr_tensor[]", [leaf]), 1, place)
        self.tensors.others.append(("optimizer", place[0]))
        if rng.random() < 0.8:
            grad = self.tensors.make(Value(random_numbers(rng, (2, 3), "f32"), "f32"))
            self.library.check("tsr_optimizer_step_with", place[0], ffi.new("tsr_tensor[]", [grad]), 1)
        return place[0]

    def _scaler(self) -> Any:
        """A scaler that mostly has scaled a loss."""
        ffi, rng = self.library.ffi, self.rng
        numbers, place = self.tensors.keep("tsr_grad_scaler_state*"), ffi.new("tsr_grad_scaler*")
        numbers.struct_size = ffi.sizeof("tsr_grad_scaler_state")
        self.library.check("tsr_grad_scaler_defaults", numbers)
        numbers.enabled = rng.random() < 0.8
        self.library.check("tsr_grad_scaler_new", numbers, place)
        self.tensors.others.append(("grad_scaler", place[0]))
        if rng.random() < 0.8:
            loss, out = self.tensors.make(Value(random_numbers(rng, (), "f32"), "f32")), ffi.new("tsr_tensor*")
            self.library.check("tsr_grad_scaler_scale", place[0], loss, out)
            self.library.lib.tsr_tensor_release(out[0])
        return place[0]

    def _program(self) -> Any:
        """A program of one call."""
        ffi, library = self.library.ffi, self.library
        given = ffi.new("tsr_tensor[]", [self.tensors.make(Value(random_numbers(self.rng, (2, 3), "f32"), "f32"))])
        made, place = ffi.new("tsr_tensor*"), ffi.new("tsr_program*")
        library.check("tsr_program_record_begin", given, 1, ffi.NULL, 0, ffi.NULL, 0, ffi.NULL, 0)
        library.check("tsr_exp", given[0], made)
        library.check("tsr_program_record_end", made, 1, ffi.NULL, 0, place)
        library.lib.tsr_tensor_release(made[0])
        self.tensors.others.append(("program", place[0]))
        return place[0]

    def _profiler(self) -> Any:
        """A profiler that mostly has a recording; another one may be running."""
        ffi, lib = self.library.ffi, self.library.lib
        options, place = self.tensors.keep("tsr_profiler_options*"), ffi.new("tsr_profiler*")
        options.struct_size = ffi.sizeof("tsr_profiler_options")
        options.capacity = 1000
        self.library.check("tsr_profiler_new", options, ffi.NULL, ffi.NULL, ffi.NULL, place)
        self.tensors.others.append(("profiler", place[0]))
        if self.rng.random() < 0.8 and lib.tsr_profiler_start(place[0]) == 0:
            self.library.check("tsr_profiler_stop", place[0])
        return place[0]

    def _handle(self, kind: str, roll: float) -> Any:
        if roll < 0.15:
            return self.library.ffi.NULL
        if kind == "generator" and roll < 0.8:
            return self._generator()
        if kind == "optimizer" and roll < 0.8:
            return self._optimizer()
        if kind == "program" and roll < 0.8:
            return self._program()
        if kind == "grad_scaler" and roll < 0.8:
            return self._scaler()
        if kind == "profiler" and roll < 0.8:
            return self._profiler()
        if kind == "node" and roll < 0.8:
            place = self.library.ffi.new("tsr_node*")
            self.library.check("tsr_tensor_grad_fn", self.tensor(), place)
            self.tensors.others.append(("node", place[0]))
            return place[0]
        return self._wrong(f"tsr_{kind}")

    def _list(self, arg: Arg) -> list[Any]:
        kind, ffi, rng = arg.type, self.library.ffi, self.rng
        if rng.random() < 0.1:
            return [ffi.NULL, rng.choice([-1, 0, 2, *COUNTS])]
        count = rng.choice([0, 1, 2, 3])
        if kind.base == "tensor":
            entries = [ffi.NULL if rng.random() < 0.05 else self.tensor() for _ in range(count)]
            array = self.tensors.keep("tsr_tensor[]", entries)
        elif kind.base == "handle":
            name = kind.name or ""
            array = self.tensors.keep(f"tsr_{name}[]", [self._handle(name, rng.random()) for _ in range(count)])
        elif kind.base == "f64":
            array = self.tensors.keep("double[]", [rng.choice(DOUBLES) for _ in range(count)])
        else:
            pick: Callable[[], int] = lambda: rng.choice(INTS) if arg.fuzz and rng.random() < 0.3 else rng.choice([-1, 0, 1, 2, 3])  # noqa: E731  # fmt: skip
            array = self.tensors.keep("int64_t[]", [pick() for _ in range(count)])
        return [array, count if rng.random() < 0.9 else rng.choice(COUNTS)]

    def _struct(self, name: str) -> Any:
        """A struct of any size that it claims; its callbacks are absent or real."""
        ctype = f"tsr_{name}"
        if self.rng.random() < 0.1:
            return self.library.ffi.NULL
        struct = self.library.ffi.cast(f"{ctype}*", self.tensors.keep("uint64_t[]", 1024))
        size = self.library.ffi.sizeof(ctype)
        if name == "value":  # no growing struct: its kind comes first
            struct.kind = self.rng.randrange(-1, 18)
            return struct
        struct.struct_size = self.rng.choice([0, 3, size, size, size, 4096, 2**32 - 1])
        if name == "optimizer_options" and struct.struct_size == size:
            self._optimizer_options(struct)
        if name == "grad_scaler_state" and struct.struct_size == size:
            self.library.call("tsr_grad_scaler_defaults", struct)
        if name == "autocast_state":
            struct.device_type, struct.dtype = self.rng.choice([1, 2, 3, 12]), self.rng.choice([-1, -1, *HALVES, 77])
            struct.enabled, struct.cache_enabled = self.rng.choice([0, 0, 1, 2]), self.rng.choice([0, 1, 1, 7])
        if name == "node_vtable" and self.rng.random() < 0.8:
            struct.forward, struct.backward = self.callbacks.forward, self.callbacks.backward
        return struct

    def _optimizer_options(self, struct: Any) -> None:
        """Mostly good options of a kind, with some that may be anything."""
        rng = self.rng
        if self.library.call("tsr_optimizer_defaults", rng.choice([*range(1, 13), 0, 77]), struct) != OK:
            return
        for field in ("lr", "beta1", "eps", "momentum", "rho", "initial_accumulator_value"):
            if rng.random() < 0.15:
                setattr(struct, field, rng.choice(DOUBLES))
        for field in ("kind", "ns_steps", "nesterov", "amsgrad", "maximize"):
            if rng.random() < 0.1:
                setattr(struct, field, rng.choice(SMALL))

    def _callback(self, function: CFunction, arg: Arg) -> list[Any]:
        ffi = self.library.ffi
        if arg.type.name != "hook" or self.rng.random() < 0.2:
            return [ffi.NULL, ffi.NULL, ffi.NULL]
        return [self.callbacks.hook, self.callbacks.user(self.rng.choice(BEHAVIOURS)), self.callbacks.drop]

    def _places(self, arg: Arg) -> list[Any]:
        kind, ffi, rng = arg.type, self.library.ffi, self.rng
        if kind.direction == "inout" or kind.base == "struct":
            # Of an array there is one element; a larger count is the caller's lie.
            return [self._struct(kind.name or ""), *[rng.choice([0, 1, -1, -(2**31)])] * kind.is_list]
        if kind.is_list:
            place = self.tensors.keep("tsr_tensor[64]")
            self._outs.append(("tensor", place))
            if arg.count_of:
                return [place]
            return [
                place,
                rng.choice([64, 64, 0, 1, -1]),
                ffi.NULL if rng.random() < 0.05 else self.tensors.keep("int32_t*"),
            ]
        if kind.base in ("tensor", "handle", "generator"):
            name = kind.name or kind.base
            place = self.tensors.keep(f"tsr_{name}[1]")
            self._outs.append((name, place))
            return [ffi.NULL if rng.random() < 0.08 else place]
        memory = [ffi.NULL if rng.random() < 0.08 else self.tensors.keep("uint64_t[4]") for _ in c_params("x", kind)]
        return [ffi.cast(p.ctype, m) for p, m in zip(c_params("x", kind), memory)]
