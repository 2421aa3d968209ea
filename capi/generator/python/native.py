# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The C of the Python extension that follows from the schema: the rows of all ops, and the operators."""

from __future__ import annotations

from ..schema.model import FLIPPED, Enum, Op, Schema
from ..text import c_banner, c_string
from .model import enum_values
from .rows import TEMPLATE, Rows

COMPARE = {"__lt__": "Py_LT", "__le__": "Py_LE", "__eq__": "Py_EQ", "__ne__": "Py_NE", "__gt__": "Py_GT", "__ge__": "Py_GE"}
BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "mod": "remainder", "and": "and", "or": "or", "xor": "xor",
    "lshift": "lshift", "rshift": "rshift", "floordiv": "floor_divide", "truediv": "true_divide", "matmul": "matrix_multiply",
}  # fmt: skip
UNARY = {"__neg__": "negative", "__abs__": "absolute", "__invert__": "invert", "__pos__": "positive"}


def native(schema: Schema, ops: list[Op]) -> dict[str, str]:
    """Two files: what the rows share, and the rows, which the first includes."""
    rows = Rows(schema, ops)
    used = [e for e in schema.enums if any(a.type.name == e.name[4:] for o in ops for a in o.args)]
    return {
        "ops_generated.c": TEMPLATE(
            "file",
            banner=c_banner("The ops of the library in Python."),
            enums="".join(map(_enum_table, used)),
            shared=rows.shared,
            operators=_number_slots(ops),
        ),
        "ops_generated.h": TEMPLATE("rows", banner=c_banner("A row for each function and method of Python."), rows=rows.rows),
    }


def _enum_table(enum: Enum) -> str:
    values = ", ".join(f"{{{c_string(n)}, {v}}}" for n, v in enum_values(enum))
    return f"static const tpy_constant {enum.name}_values[] = {{{values}, {{NULL, 0}}}};\n"


# ---- C: operators ----


def _number_slots(ops: list[Op]) -> str:
    text, slots, compares = "", "", ""
    for op in ops:
        dunders = set(op.python.operator)
        for name in sorted(dunders & UNARY.keys()):
            text += f"static PyObject* nb_{UNARY[name]}(PyObject* a) {{ return tpy_operate_unary(tsr_{op.name}, a); }}\n"
            slots += f"    {{Py_nb_{UNARY[name]}, nb_{UNARY[name]}}},\n"
        binary = sorted(k for k in [*BINARY, "pow"] if f"__{k}__" in dunders)
        if binary or dunders & COMPARE.keys():
            text += _operator(op)
        for name in sorted(dunders & COMPARE.keys()):
            compares += f"    case {COMPARE[name]}: return tpy_operate(&op_{op.name}, a, b);\n"
        for key in binary:
            operate = "tpy_operate_promoting" if key == "matmul" else "tpy_operate"
            for prefix, call in (("", f"{operate}(&op_{op.name}, a, b)"), ("inplace_", f"tpy_operate_inplace(&inplace_{op.name}, a, b)")):
                if prefix and "inplace" not in op.forms:
                    continue
                slot = prefix + BINARY.get(key, "power")
                text += TEMPLATE("power" if key == "pow" else "operator", slot=slot, call=call)
                slots += f"    {{Py_nb_{slot}, nb_{slot}}},\n"
    if compares:
        text += TEMPLATE("compare", cases=compares)
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
