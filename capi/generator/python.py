# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The Python package's generated half: C functions of its extension, their stubs, its constants."""

from __future__ import annotations

from .literals import C
from .model import FLIPPED, PLAIN, REQUIRED, Arg, Enum, Op, ScalarForm, Schema
from .python_model import (
    Callable, creates, enum_values, exports, functions, methods, namespaces, operands, parameter_names, positional,
    public_forms, spread,
)  # fmt: skip
from .python_stubs import core_stub, ops_stub, result_types
from .text import banner, c_banner, c_string
from .types import entry, parse_type, passed

NATIVE = "wrappers/python/native/ops_generated.c"
PACKAGE = "wrappers/python/src/tessera/"
COMPARE = {"__lt__": "Py_LT", "__le__": "Py_LE", "__eq__": "Py_EQ", "__ne__": "Py_NE", "__gt__": "Py_GT", "__ge__": "Py_GE"}
BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "mod": "remainder", "and": "and", "or": "or", "xor": "xor",
    "lshift": "lshift", "rshift": "rshift", "floordiv": "floor_divide", "truediv": "true_divide", "matmul": "matrix_multiply",
}  # fmt: skip
# Schema type -> C variables of argument {0}, the call that fills them from {1}, what frees them; {2} is the default,
# {3} the name of an enumeration.
CONVERTED = {
    "tensor": ("tsr_tensor a{0};", "tpy_tensor({1}, &a{0})"),
    "tensor?": ("tsr_tensor a{0};", "tpy_optional_tensor({1}, &a{0})"),
    "tensor[]": ("tpy_tensors a{0} = {{0, a{0}.room, NULL, {{NULL}}}};", "tpy_tensor_list({1}, 0, &a{0})", "tpy_free_tensors(&a{0});"),
    "tensor?[]": ("tpy_tensors a{0} = {{0, a{0}.room, NULL, {{NULL}}}};", "tpy_tensor_list({1}, 1, &a{0})", "tpy_free_tensors(&a{0});"),
    "int64[]": ("tpy_list a{0}; a{0}.at = a{0}.room;", "tpy_ints({1}, &a{0})", "tpy_free_list(&a{0});"),
    "f64[]": ("tpy_list a{0}; a{0}.at = a{0}.room;", "tpy_floats({1}, &a{0})", "tpy_free_list(&a{0});"),
    "bool": ("int32_t a{0};", "tpy_bool({1}, {2}, &a{0})"),
    "int64": ("int64_t a{0};", "tpy_int64({1}, {2}, &a{0})"),
    "int64?": ("int64_t a{0};", "tpy_optional_int64({1}, {2}, &a{0})"),
    "f64": ("double a{0};", "tpy_f64({1}, {2}, &a{0})"),
    "f64?": ("double a{0}; int32_t has{0};", "tpy_optional_f64({1}, &a{0}, &has{0})"),
    "scalar": ("tsr_number v{0};", "tpy_scalar({1}, {2}, &v{0})"),
    "dtype": ("tsr_dtype a{0};", "tpy_dtype({1}, &a{0})"),
    "device": ("int32_t a{0}, index{0};", "tpy_device({1}, &a{0}, &index{0})"),
    "str": ("const char* a{0}; int64_t length{0};", "tpy_text({1}, {2}, &a{0}, &length{0})"),
    "generator": ("tsr_generator a{0};", "tpy_generator({1}, &a{0})"),
    "enum": ("int32_t a{0};", "tpy_enum({1}, tsr_{3}_values, {2}, &a{0})"),
}
OPERAND = (
    "tsr_tensor a{0}; tsr_number v{0};",
    "tpy_operand({1}, &a{0}, &v{0}, &mask)",
)
PASSED = {base: "a{0}" for base in CONVERTED if "[" not in base} | {
    "[]": ("a{0}.at", "a{0}.n"),
    "f64[]": ("a{0}.at_f64", "a{0}.n"),
    "f64?": ("a{0}", "has{0}"),
    "scalar": "&v{0}",
    "scalar?": "v{0}.kind != 0 ? &v{0} : NULL",
    "device": ("a{0}", "index{0}"),
    "str": ("a{0}", "length{0}"),
}
UNARY = {"__neg__": "negative", "__abs__": "absolute", "__invert__": "invert", "__pos__": "positive"}

BY_HAND = ("contiguous",)  # methods that native/methods.c has

FILLED_IN = {"squeeze": "axes"}  # required arguments that may be left out


def outputs(schema: Schema) -> dict[str, str]:
    ops = [op for op in schema.ops if not op.python.hidden]
    return {
        NATIVE: _native(schema, ops),
        PACKAGE + "_ops.py": _ops(ops),
        PACKAGE + "_results.py": result_types(ops),
        PACKAGE + "_ops.pyi": ops_stub(schema, ops),
        PACKAGE + "_core.pyi": core_stub(schema, ops),
        PACKAGE + "_constants.py": _constants(schema),
    }


# ---- C: one function per op and form ----


def _native(schema: Schema, ops: list[Op]) -> str:
    parts = [c_banner("One C function per op: parse, call, check, wrap.").rstrip("\n"), '#include "native.h"', ""]
    parts += [_enum_table(e) for e in schema.enums if any(a.type.name == e.name[4:] for o in ops for a in o.args)]
    thunks = public_forms(ops)
    parts += [_thunk(schema, op, form, name) for op, form, name in thunks]
    parts.append(_prepare([_c_name(op, form) for op, form, _ in thunks]))
    parts.append(_method_table("tpy_functions", functions(ops)))
    parts.append(_method_table("tpy_methods", [m for m in methods(ops) if m[2] not in BY_HAND]))
    parts.append(_number_slots(ops))
    return "\n".join(parts)


def _c_name(op: Op, form: str) -> str:
    return op.name + ("_inplace" if form == "inplace" else "")


def _enum_table(enum: Enum) -> str:
    rows = "".join(f"    {{{c_string(n)}, {v}}},\n" for n, v in enum_values(enum))
    return f"static const tpy_constant {enum.name}_values[] = {{\n{rows}    {{NULL, 0}},\n}};\n"


def _thunk(schema: Schema, op: Op, form: str, name: str) -> str:
    c_name = _c_name(op, form)
    with_out = form == "functional" and "out" in op.forms
    names = ["|".join(parameter_names(op, a)) for a in op.args] + (["out"] if with_out else [])
    names += ["requires_grad"] if creates(op, form) else []
    count = len(names)
    required = sum(1 for a in op.args if a.required and FILLED_IN.get(op.name) != a.name)
    quoted = ", ".join(c_string(n) for n in names) or "NULL"
    text = f"static const char* const names_{c_name}[] = {{{quoted}}};\n"
    text += f"static PyObject* keys_{c_name}[{max(count, 1)} * TPY_MAX_ALIASES];\n"
    text += f"static const tpy_signature sig_{c_name} = {{{c_string(name)}, {count}, {positional(op)}, {required}, "
    text += f"{spread(op)},\n    names_{c_name}, keys_{c_name}, {_tensor_bits(op)}u}};\n"
    text += (
        f"static PyObject* py_{c_name}(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {{\n"
        f"  const tpy_signature* sig = &sig_{c_name};\n  PyObject* s[{count + 1}];\n"
        "  if (!tpy_parse(sig, self, args, nargs, kwnames, s)) return NULL;\n"
        + _filled_in(op, count)
        + "  PyObject* result = NULL;\n  tsr_status status = TSR_OK;\n"
    )
    text += _body(schema, op, form, with_out) + f"  Py_XDECREF(s[{count}]);\n"
    returned = f"tpy_requiring(sig, {count - 1}, s[{count - 1}], result)" if creates(op, form) else "result"
    return f"{text}  return {returned};\n}}\n"


def _filled_in(op: Op, count: int) -> str:
    """What Python says in other words: padding="same" and "valid" of convolutions, which have a switch for the first, and
    squeeze() of all axes that can be."""
    index = {a.name: i for i, a in enumerate(op.args)}
    if "padding" in index and "same" in index:
        call = f"tpy_padding(sig, s, {index['padding']}, {index['same']})"
    elif op.name in FILLED_IN:
        call = f"tpy_axes_of_one(sig, s, 0, {index[FILLED_IN[op.name]]})"
    else:
        return ""
    return f"  if (!{call}) {{\n    Py_XDECREF(s[{count}]);\n    return NULL;\n  }}\n"


def _tensor_bits(op: Op) -> int:
    """The parameters in whose place a NumPy array may stand, as bits."""
    return sum(1 << i for i, a in enumerate(op.args) if a.type.base == "tensor" and not a.type.is_list)


class _Converted:
    """How the arguments of one op come from Python."""

    def __init__(self, schema: Schema, op: Op, form: str) -> None:
        self.declare: list[str] = []
        self.check: list[str] = []
        self.clean: list[str] = []
        self.operands = operands(op, form)
        if self.operands:
            self.declare.append("unsigned mask = 0;")
        for index, arg in enumerate(op.args):
            at = f"sig, {index}, s[{index}]"
            parts = OPERAND if arg.name in self.operands else entry(CONVERTED, arg.type)
            texts = [part.format(index, at, _given(schema, arg), arg.type.name) for part in parts]
            for target, text in zip((self.declare, self.check, self.clean), texts):
                target.append(text)


def _given(schema: Schema, arg: Arg) -> str:
    """What C gets where Python says nothing."""
    value, kind = None if arg.default is REQUIRED else arg.default, arg.type
    if kind.base == "enum":
        constant = schema.enum(str(kind.name)).constant(value)
        return str(constant.value if constant else -1)
    if kind.base == "scalar":
        return "NULL" if value is None else f"TSR_I64({value})" if isinstance(value, int) else f"TSR_F64({C.literal(value)})"
    if value is None:
        return {"bool": "-1" if kind.optional else "0", "int64": "INT64_MIN", "f64": "0.0", "str": "NULL"}.get(kind.base, "")
    return C.literal(float(value) if kind.base == "f64" else value)


def _call_parts(op: Op, overload: ScalarForm) -> list[str]:
    """The C arguments of one overload, outs not included."""
    number, absent = parse_type("scalar"), parse_type("scalar?")
    types = [(absent if a.type.optional else number) if a.name in overload.args else a.type for a in op.args]
    return [part for i, kind in enumerate(types) for part in passed(PASSED, kind, i)]


def _invoke(op: Op, form: str, with_out: bool, base: str, parts: list[str], pad: str) -> str:
    """Calls one C function, named without its form, and sets `result`."""
    if form == "inplace":
        return f"{pad}TPY_CALL(status, {base}_inplace({', '.join(parts)}));\n{pad}result = tpy_same(status, s[0]);\n"
    if not op.returns:
        call = f"{pad}TPY_CALL(status, {base}({', '.join(parts)}));\n"
        return call + f"{pad}result = status != TSR_OK ? tpy_fail(status) : Py_NewRef(Py_None);\n"
    if op.returns_list:
        return _invoke_list(base, parts, pad)
    count = len(op.returns)
    text = ""
    if with_out:
        dsts = ["dst"] if count == 1 else [f"dst.at[{k}]" for k in range(count)]
        text += f"{pad}if ({'dst' if count == 1 else 'dst.items'} != NULL) {{\n"
        text += f"{pad}  TPY_CALL(status, {base}_out({', '.join(parts + dsts)}));\n"
        given = f"s[{len(op.args)}]"
        same = f"tpy_same(status, {given})" if count == 1 else f"tpy_named_same(status, {c_string(op.name)}, {given}, {count})"
        text += f"{pad}  result = {same};\n{pad}}} else {{\n"
        pad += "  "
    outs = [f"out{k}" for k in range(count)]
    text += f"{pad}tsr_tensor {', '.join(o + ' = NULL' for o in outs)};\n"
    text += f"{pad}TPY_CALL(status, {base}({', '.join(parts + ['&' + o for o in outs])}));\n"
    if count == 1 and op.alias:
        text += f"{pad}result = tpy_result_alias(status, out0, s[{[a.name for a in op.args].index(op.alias)}]);\n"
    elif count == 1:
        text += f"{pad}result = tpy_result(status, out0);\n"
    else:
        made = f"(tsr_tensor[]){{{', '.join(outs)}}}"
        text += f"{pad}result = tpy_named_of(status, {c_string(op.name)}, {made}, {count});\n"
    return text + (pad[:-2] + "}\n" if with_out else "")


def _invoke_list(base: str, parts: list[str], pad: str) -> str:
    call = f"TPY_CALL(status, {base}({', '.join([*parts, 'many', 'capacity', '&found'])}));\n"
    return (
        f"{pad}tsr_tensor room[16], *many = room;\n{pad}int32_t capacity = 16, found = 0;\n{pad}{call}"
        f"{pad}if (status == TSR_BUFFER && found > capacity) {{\n{pad}  capacity = found;\n"
        f"{pad}  many = PyMem_Malloc(sizeof(tsr_tensor) * (size_t)capacity);\n"
        f"{pad}  if (many != NULL) {call}{pad}}}\n"
        f"{pad}result = many == NULL ? PyErr_NoMemory() : status != TSR_OK ? tpy_fail(status) : tpy_tuple_of(many, found);\n"
        f"{pad}if (many != room) PyMem_Free(many);\n"
    )


def _body(schema: Schema, op: Op, form: str, with_out: bool) -> str:
    converted = _Converted(schema, op, form)
    count = len(op.args)
    if with_out and len(op.returns) == 1:
        converted.declare.append("tsr_tensor dst = NULL;")
        converted.check.append(f"tpy_optional_tensor(sig, {count}, s[{count}], &dst)")
    elif with_out:
        converted.declare.append("tpy_tensors dst = {0, dst.room, NULL, {NULL}};")
        converted.check.append(f"tpy_outs(sig, {count}, s[{count}], {len(op.returns)}, &dst)")
        converted.clean.append("tpy_free_tensors(&dst);")
    text = "".join(f"  {d}\n" for d in converted.declare)
    condition = " &&\n      ".join(converted.check) or "1"
    text += f"  if ({condition}) {{\n{_dispatch(op, form, with_out, converted)}  }}\n"
    return text + "".join(f"  {c}\n" for c in converted.clean)


def _dispatch(op: Op, form: str, with_out: bool, converted: _Converted) -> str:
    """Which arguments are numbers says which C function is called."""
    plain = _invoke(op, form, with_out, f"tsr_{op.name}", _call_parts(op, PLAIN), "      ")
    if not converted.operands:
        return plain
    index = {a.name: i for i, a in enumerate(op.args)}
    text = f"    if (mask == 0) {{\n{plain}"
    ways = {o.args: (op.c_name("functional", o), _call_parts(op, o)) for o in op.overloads(form)[1:]}
    if len(converted.operands) == 2 and len(op.args) == 2 and (converted.operands[0],) not in ways:
        # What takes a number on the right only is the same with both sides exchanged.
        ways[(op.args[0].name,)] = (f"tsr_{FLIPPED.get(op.name, op.name)}_scalar", ["a1", "&v0"])
    for args, (name, parts) in ways.items():
        bits = sum(1 << index[n] for n in args)
        none = " && ".join(f"a{index[n]} == NULL" for n in args)
        known = none if op.arg(args[0]).type.optional else f"mask == {bits}u"
        text += f"    }} else if ({known}) {{\n" + _invoke(op, form, with_out, name, parts, "      ")
    if any(op.arg(n).type.optional for n in converted.operands):
        text += "    } else {\n" + _between(op, form, with_out, [index[n] for n in converted.operands])
    else:
        text += "    } else {\n      tpy_no_tensor(sig);\n"
    return text + "    }\n"


def _between(op: Op, form: str, with_out: bool, bounds: list[int]) -> str:
    """A tensor and a number as bounds: one after the other."""
    dst = "dst" if with_out else "NULL"
    low, high = (f"a{i}, &v{i}" for i in bounds)
    text = f"      tsr_tensor limited = NULL;\n      status = tpy_between(a0, {low}, {high}, &limited);\n"
    if form == "inplace":
        text += "      if (status == TSR_OK) TPY_CALL(status, tsr_copy_inplace(a0, limited, 0));\n"
        return text + "      tsr_tensor_release(limited);\n      result = tpy_same(status, s[0]);\n"
    return text + f"      result = tpy_written(status, limited, {dst}, s[{len(op.args)}]);\n"


def _prepare(names: list[str]) -> str:
    calls = " &&\n         ".join(f"tpy_prepare(&sig_{n})" for n in names)
    return f"int tpy_prepare_signatures(void) {{\n  return {calls or 1};\n}}\n"


def _method_table(table: str, thunks: list[Callable]) -> str:
    text = f"PyMethodDef {table}[] = {{\n"
    for op, form, name in thunks:
        doc = f"{name}({signature_text(op, form)})\n--\n\n{op.doc}"
        text += f"    {{{c_string(name)}, (PyCFunction)(void (*)(void))py_{_c_name(op, form)},\n"
        text += f"     METH_FASTCALL | METH_KEYWORDS, {c_string(doc)}}},\n"
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


# ---- Python ----


def _ops(ops: list[Op]) -> str:
    text = banner("#", "The functions of all ops, as the extension made them.") + "\nfrom . import _core\n\n"
    for op, _, name in functions(ops):
        text += "".join(f"{spelled} = _core.{name}\n" for spelled in (name, *op.python.aliases))
    return text + "".join("\n" + exports(namespace, ops) for namespace in namespaces(ops))


def _constants(schema: Schema) -> str:
    text = banner("#", "Dtypes, status codes and flags of the C ABI.") + "\nfrom typing import Final\n\n"
    text += "# (name, bits, bytes, category)\nDTYPES: Final = (\n"
    text += "".join(f'    ("{d.name}", {d.value:#x}, {d.itemsize}, "{d.category}"),\n' for d in schema.dtypes)
    text += ")\n\n# code: (name, the exception that users of Python would catch)\nSTATUS: Final = {\n"
    for constant in schema.status.constants:
        if constant.value:
            text += f'    {constant.value}: ("{constant.name[4:]}", "{constant.wrapper or "RuntimeError"}"),\n'
    text += "}\n"
    for enum in schema.enums:
        if enum.name != "tsr_status":
            text += "".join(f"\n{c.name[4:]}: Final = {c.value}" for c in enum.constants) + "\n"
    return text
