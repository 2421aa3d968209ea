# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The C file of the Python extension: the rows of all ops, the tables of its functions, the operators."""

from __future__ import annotations

from ..schema.model import FLIPPED, Enum, Op, Schema
from ..text import c_banner, c_string
from .model import Callable, creates, enum_values, functions, methods, parameter_names, positional
from .rows import FILLED_IN, c_name, rows

COMPARE = {"__lt__": "Py_LT", "__le__": "Py_LE", "__eq__": "Py_EQ", "__ne__": "Py_NE", "__gt__": "Py_GT", "__ge__": "Py_GE"}
BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "mod": "remainder", "and": "and", "or": "or", "xor": "xor",
    "lshift": "lshift", "rshift": "rshift", "floordiv": "floor_divide", "truediv": "true_divide", "matmul": "matrix_multiply",
}  # fmt: skip
UNARY = {"__neg__": "negative", "__abs__": "absolute", "__invert__": "invert", "__pos__": "positive"}

BY_HAND = ("contiguous",)  # methods that native/methods.c has



# ---- C: the ops ----


def native(schema: Schema, ops: list[Op]) -> str:
    parts = [c_banner("The ops: rows of data, the C functions of Python, tables of both.").rstrip("\n"), '#include "native.h"\n']
    parts.append("enum { CALL = METH_FASTCALL | METH_KEYWORDS };\n")
    parts += [_enum_table(e) for e in schema.enums if any(a.type.name == e.name[4:] for o in ops for a in o.args)]
    parts.append(rows(schema, ops))
    parts.append(_method_table("tpy_functions", functions(ops)))
    parts.append(_method_table("tpy_methods", [m for m in methods(ops) if m[2] not in BY_HAND]))
    parts.append(_number_slots(ops))
    return "\n".join(parts)


def _enum_table(enum: Enum) -> str:
    values = ", ".join(f"{{{c_string(n)}, {v}}}" for n, v in enum_values(enum))
    return f"static const tpy_constant {enum.name}_values[] = {{{values}, {{NULL, 0}}}};"


def _method_table(table: str, thunks: list[Callable]) -> str:
    text = f"PyMethodDef {table}[] = {{\n"
    for op, form, name in thunks:
        doc = f"{name}({signature_text(op, form)})\n--\n\n{op.doc}"
        text += f"    {{{c_string(name)}, (PyCFunction)(tpy_function)py_{c_name(op, form)}, CALL, {c_string(doc)}}},\n"
    return text + "    {NULL, NULL, 0, NULL},\n};\n"


def signature_text(op: Op, form: str) -> str:
    """A signature that inspect.signature reads."""
    parts, star = [], positional(op)
    for i, arg in enumerate(op.args):
        if i == star and star < len(op.args):
            parts.append("*")
        name = parameter_names(op, arg)[0]
        filled = FILLED_IN.get(op.name) == arg.name
        parts.append(f"{name}=None" if filled else name if arg.required else f"{name}={arg.default!r}")
    if form == "functional" and "out" in op.forms:
        parts += ([] if "*" in parts else ["*"]) + ["out=None"]
    if creates(op, form):
        parts += ([] if "*" in parts else ["*"]) + ["requires_grad=False"]
    if op.args and op.args[0].type.is_tensor:
        parts[0] = "$" + parts[0]
    return ", ".join(parts)


# ---- C: operators ----


def _number_slots(ops: list[Op]) -> str:
    text, slots, compares = "", "", ""
    for op in ops:
        dunders = set(op.python.operator)
        for name in sorted(dunders & UNARY.keys()):
            text += f"static PyObject* nb_{UNARY[name]}(PyObject* a) {{ return tpy_operate_unary(tsr_{op.name}, a); }}\n"
            slots += f"    {{Py_nb_{UNARY[name]}, nb_{UNARY[name]}}},\n"
        binary = {k for k in [*BINARY, "pow"] if f"__{k}__" in dunders}
        if binary or dunders & COMPARE.keys():
            text += _operator(op)
        for name in sorted(dunders & COMPARE.keys()):
            compares += f"    case {COMPARE[name]}: return tpy_operate(&op_{op.name}, a, b);\n"
        for key in sorted(binary):
            slot = BINARY.get(key, "power")
            third = ", PyObject* modulus" if key == "pow" else ""
            check = "  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;\n" if key == "pow" else ""
            text += f"static PyObject* nb_{slot}(PyObject* a, PyObject* b{third}) {{\n{check}"
            text += f"  return tpy_operate(&op_{op.name}, a, b);\n}}\n"
            slots += f"    {{Py_nb_{slot}, nb_{slot}}},\n"
            if "inplace" in op.forms:
                text += f"static PyObject* nb_inplace_{slot}(PyObject* a, PyObject* b{third}) {{\n{check}"
                text += f"  return tpy_operate_inplace(&inplace_{op.name}, a, b);\n}}\n"
                slots += f"    {{Py_nb_inplace_{slot}, nb_inplace_{slot}}},\n"
    if compares:
        text += f"static PyObject* tpy_compare(PyObject* a, PyObject* b, int which) {{\n  switch (which) {{\n{compares}"
        text += "    default: Py_RETURN_NOTIMPLEMENTED;\n  }\n}\n"
        slots += "    {Py_tp_richcompare, tpy_compare},\n"
    return f"{text}const PyType_Slot tpy_number_slots[] = {{\n{slots}    {{0, NULL}},\n}};\n"


def _operator(op: Op) -> str:
    base, names = f"tsr_{op.name}", {f.name for f in op.functions}
    right = f"{base}_scalar" if f"{base}_scalar" in names else "NULL"
    left, mirrored = "NULL", "NULL"
    if f"{base}_scalar_left" in names:
        left = f"{base}_scalar_left"
    elif right != "NULL":
        mirrored = f"tsr_{FLIPPED.get(op.name, op.name)}_scalar"
    compares = bool(COMPARE.keys() & set(op.python.operator))
    text = f"static const tpy_operator op_{op.name} = {{{base}, {right}, {left}, {mirrored}, {int(compares)}}};\n"
    if "inplace" in op.forms and not compares:
        inplace = f"{base}_scalar_inplace" if f"{base}_scalar_inplace" in names else "NULL"
        text += f"static const tpy_inplace_operator inplace_{op.name} = {{{base}_inplace, {inplace}}};\n"
    return text
