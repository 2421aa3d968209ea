#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A binding for one more language, here Python's ctypes: it uses only the C functions.

The library describes itself: tsr_schema_json gives every function with its C types, every struct
with its fields, and every operator with the types and defaults of its arguments. So the binding
has no list of operators. The program at the end fits a line.

Usage: binding.py <path of libtessera>
"""

import ctypes
import json
import sys

BASIC = {
    "double": ctypes.c_double, "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64, "void": None, "void*": ctypes.c_void_p, "char*": ctypes.c_char_p,
}  # fmt: skip
ABSENT = -(2**63)  # tsr_none(): an int64 that is not given
FLOAT64, CPU = 0x14002, (1, 0)  # dtypes and device types are DLPack's


class Library:
    """The C functions, with the types that the schema gives them."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        text, length = ctypes.c_char_p(), ctypes.c_int64()
        self.c.tsr_schema_json(ctypes.byref(text), ctypes.byref(length))
        self.schema = json.loads(text.value)
        self.types = dict(BASIC) | dict.fromkeys(self.schema["handles"], ctypes.c_void_p)
        for name, struct in self.schema["structs"].items():
            fields = [(field, self.type_of(c_type)) for field, c_type, _ in struct["fields"]]
            self.types[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
        self.functions = {row["name"]: row for row in self.schema["functions"]}
        for name, row in self.functions.items():
            function = getattr(self.c, name)
            function.argtypes = [self.type_of(c_type) for c_type, _ in row["params"]]
            function.restype = self.type_of(row["returns"])

    def type_of(self, name):
        name = name.removeprefix("const ").removeprefix("struct ")
        if name in self.types:
            return self.types[name]
        if name.endswith("*"):
            inner = self.type_of(name[:-1])
            return ctypes.c_void_p if inner is None else ctypes.POINTER(inner)
        return ctypes.c_void_p if name.endswith("_fn") or name.startswith("DL") else ctypes.c_int32  # enumerations

    def call(self, name, *arguments):
        """Raises with the library's own message when the function fails."""
        if getattr(self.c, name)(*arguments) != 0:
            view = self.types["tsr_error_view"]()
            view.struct_size = ctypes.sizeof(view)
            self.c.tsr_error_last(ctypes.byref(view))
            raise RuntimeError(view.message[: view.message_len].decode())

    def number(self, value):
        """Converts a host number to a tsr_number."""
        kinds = {bool: "BOOL", int: "INTEGER", float: "REAL", complex: "COMPLEX"}
        kind = self.schema["constants"]["TSR_NUMBER_" + kinds[type(value)]]
        whole = isinstance(value, int)
        parts = {"integer": value} if whole else {"real": value.real, "imaginary": value.imag}
        return ctypes.byref(self.types["tsr_number"](kind=kind, **parts))


class Tensor:
    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        lib.c.tsr_tensor_release(self.handle)

    def tolist(self):
        """The elements of a float64 tensor in row-major order."""
        info = lib.types["tsr_info"](struct_size=ctypes.sizeof(lib.types["tsr_info"]))
        lib.call("tsr_tensor_info", self.handle, ctypes.byref(info))
        numbers = (ctypes.c_double * info.numel)()
        lib.call("tsr_tensor_read", self.handle, numbers, info.nbytes)
        return list(numbers)


def to_c(schema_type, value):
    """The C arguments of one argument of an operator."""
    if schema_type.startswith("tensor"):
        return [None if value is None else value.handle]
    if schema_type.startswith("int64[]"):
        return [None, -1] if value is None else [(ctypes.c_int64 * len(value))(*value), len(value)]
    if schema_type.startswith("device"):
        return [-1, -1] if value is None else list(value)
    if schema_type.startswith("int64"):
        return [ABSENT if value is None else value]
    return [-1 if value is None else value]  # numbers, truth values, dtypes, enumerations


def operator(name):
    """The functional form of an operator as a Python function; a number as an operand selects the form for numbers."""
    row = lib.schema["ops"][name]

    def function(*values, **options):
        given = {arg["name"]: arg.get("default") for arg in row["args"]}
        given |= dict(zip(given, values)) | options
        arguments, suffix = [], ""
        for arg in row["args"]:
            value = given[arg["name"]]
            if arg["type"] == "tensor" and not isinstance(value, Tensor):
                suffix = "_scalar_left" if arg is row["args"][0] else "_scalar"
                arguments.append(lib.number(value))
            else:
                arguments += to_c(arg["type"], value)
        outs = [ctypes.c_void_p() for _ in row["returns"]]
        lib.call(f"tsr_{name}{suffix}", *arguments, *map(ctypes.byref, outs))
        results = [Tensor(out.value) for out in outs]
        return results[0] if len(results) == 1 else results

    return function


def tensor(numbers, requires_grad=False):
    result = operator("empty")([len(numbers)], FLOAT64, CPU)
    data = (ctypes.c_double * len(numbers))(*numbers)
    lib.call("tsr_tensor_write", result.handle, data, ctypes.sizeof(data))
    lib.call("tsr_tensor_set_requires_grad", result.handle, int(requires_grad))
    return result


def gradients(loss, inputs):
    results = (ctypes.c_void_p * len(inputs))()
    roots, leaves = (ctypes.c_void_p * 1)(loss.handle), (ctypes.c_void_p * len(inputs))(*(x.handle for x in inputs))
    lib.call("tsr_grad", roots, 1, None, 0, leaves, len(inputs), 0, results)
    return [Tensor(handle) for handle in results]


lib = Library(sys.argv[1])
add, subtract, multiply, mean = map(operator, ("add", "subtract", "multiply", "mean"))
x = tensor([0.0, 0.5, 1.0, 1.5])
line = multiply(add(multiply(x, 3.0), 2.0), 1)
slope, offset = tensor([0.0], True), tensor([0.0], True)
for _ in range(400):
    error = subtract(add(multiply(slope, x), offset), line)
    steps = gradients(mean(multiply(error, error)), [slope, offset])
    slope, offset = (tensor(subtract(p, multiply(g, 0.4)).tolist(), True) for p, g in zip((slope, offset), steps))
print(f"{slope.tolist()[0]:.4f} x + {offset.tolist()[0]:.4f}")
assert abs(slope.tolist()[0] - 3) < 1e-6 and abs(offset.tolist()[0] - 2) < 1e-6
try:
    add(x, tensor([1.0, 2.0, 3.0]))
except RuntimeError as refused:
    print(refused)
