# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The Python package's generated half: C functions of its extension, their stubs, its constants."""

from __future__ import annotations

from typing import Any

from .model import REQUIRED, Arg, CFunction, Op, ScalarForm, Schema
from .python_stubs import core_stub, ops_stub, result_types
from .text import banner, c_banner, c_string, wrap_call

NATIVE = "wrappers/python/native/ops_generated.h"
PACKAGE = "wrappers/python/src/tessera/"
ALIASES = {
    "axes": "axis|dim|axes|dims",
    "axis": "axis|dim|axes|dims",
    "keepdims": "keepdims|keepdim",
    "shape": "shape|size",
}
KINDS = {"bool": "TPY_BOOL", "i64": "TPY_I64", "f64": "TPY_F64", "c128": "TPY_C128"}
OWN_METHODS = """\
    {"item", tensor_item, METH_NOARGS, "The value of a tensor of one element."},
    {"numpy", tensor_numpy, METH_NOARGS, "A NumPy array on the same memory."},
"""
COMPARE = {"__lt__": "Py_LT", "__le__": "Py_LE", "__eq__": "Py_EQ", "__ne__": "Py_NE", "__gt__": "Py_GT", "__ge__": "Py_GE"}
BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "mod": "remainder", "and": "and", "or": "or", "xor": "xor",
    "lshift": "lshift", "rshift": "rshift", "floordiv": "floor_divide", "truediv": "true_divide", "matmul": "matrix_multiply",
}  # fmt: skip
UNARY = {"__neg__": "negative", "__abs__": "absolute", "__invert__": "invert", "__pos__": "positive"}


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


# ---- Names ----


def parameter_names(op: Op, arg: Arg) -> str:
    """Names of a parameter in Python, the canonical one first."""
    if arg.name == "axes" and arg.required:
        return "axes|dims|axis|dim"
    return ALIASES.get(arg.name, arg.name)


def positional(op: Op) -> int:
    names = [a.name for a in op.args]
    return names.index(op.python.keyword) if op.python.keyword in names else len(names)


def public_forms(op: Op) -> list[tuple[str, str]]:
    """(form, Python name): the functional function, and the in-place method."""
    found = []
    name = op.python.name
    if "functional" in op.forms:
        found.append(("functional", name))
    if "inplace" in op.forms:
        found.append(("inplace", name if name.endswith("_") else name + "_"))
    return found


# ---- C: one function per op and form ----


def _native(schema: Schema, ops: list[Op]) -> str:
    parts = [c_banner("One C function per op: parse, call, check, wrap.").rstrip("\n"), '#include "buffer.h"\n#include "dlpack.h"', ""]
    parts += [_enum_table(e) for e in schema.enums if any(a.type.name == e.name[4:] for o in ops for a in o.args)]
    thunks = [(op, form, name) for op in ops for form, name in public_forms(op)]
    parts += [_thunk(schema, op, form, name) for op, form, name in thunks]
    parts.append(_prepare([_c_name(op, form) for op, form, _ in thunks]))
    parts.append(_method_table("tpy_functions", [(op, form, n) for op, form, n in thunks if _is_function(op, form)]))
    parts.append(_method_table("tpy_methods", _methods(thunks), OWN_METHODS))
    parts.append(_number_slots(ops))
    return "\n".join(parts)


def _is_function(op: Op, form: str) -> bool:
    return form == "functional" or "functional" not in op.forms or op.python.method is None


def _methods(thunks: list[tuple[Op, str, str]]) -> list[tuple[Op, str, str]]:
    found: dict[str, tuple[Op, str, str]] = {}
    for op, form, name in thunks:
        if not op.args or not op.args[0].type.is_tensor or op.python.method is None:
            continue
        method = op.python.method if form == "functional" else name
        for spelled in (method, *(a + ("_" if form == "inplace" else "") for a in op.python.aliases)):
            found.setdefault(spelled, (op, form, spelled))
    return list(found.values())


def _c_name(op: Op, form: str) -> str:
    return op.name + ("_inplace" if form == "inplace" else "")


def _enum_table(enum: Any) -> str:
    rows = "".join(f"    {{{c_string(n)}, {v}}},\n" for n, v in enum_values(enum))
    return f"static const tpy_constant {enum.name}_values[] = {{\n{rows}    {{NULL, 0}},\n}};\n"


def enum_values(enum: Any) -> list[tuple[str, int]]:
    prefix = f"TSR_{enum.name[4:].upper()}_"
    return [(c.name.removeprefix(prefix).lower(), c.value) for c in enum.constants]


def _vararg(op: Op, count: int) -> int:
    for index in (0, 1):
        if index >= len(op.args) or index >= count:
            continue
        kind = op.args[index].type
        if kind.base == "int64" and kind.is_list and op.args[index].required:
            after = op.args[index + 1].type if index + 1 < count else None
            return -1 if after is not None and after.base in ("int64", "scalar", "f64", "tensor") else index
    return -1


def _thunk(schema: Schema, op: Op, form: str, name: str) -> str:
    c_name = _c_name(op, form)
    with_out = form == "functional" and "out" in op.forms
    names = [parameter_names(op, a) for a in op.args] + (["out"] if with_out else [])
    count = len(names)
    required = sum(1 for a in op.args if a.required)
    quoted = ", ".join(c_string(n) for n in names) or "NULL"
    text = f"static const char* const names_{c_name}[] = {{{quoted}}};\n"
    text += f"static PyObject* keys_{c_name}[{max(count, 1)} * TPY_MAX_ALIASES];\n"
    text += f"static const tpy_signature sig_{c_name} = {{{c_string(name)}, {count}, {positional(op)}, {required}, "
    text += f"{_vararg(op, positional(op))},\n    names_{c_name}, keys_{c_name}}};\n"
    text += (
        f"static PyObject* py_{c_name}(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {{\n"
        f"  const tpy_signature* sig = &sig_{c_name};\n  PyObject* s[{count + 1}];\n"
        "  if (!tpy_parse(sig, self, args, nargs, kwnames, s)) return NULL;\n"
        "  PyObject* result = NULL;\n  tsr_status status = TSR_OK;\n"
    )
    return text + _body(schema, op, form, with_out) + "  Py_XDECREF(s[" + str(count) + "]);\n  return result;\n}\n"


class _Converted:
    """How the arguments of one op come from Python."""

    def __init__(self, schema: Schema, op: Op) -> None:
        self.declare: list[str] = []
        self.check: list[str] = []
        self.clean: list[str] = []
        self.operands = [a.name for a in op.args if any(a.name in f.args for f in op.scalar)]
        self.scalars = [a.name for a in op.args if a.type.base == "scalar"]
        if self.operands or self.scalars:
            self.declare.append("int kind = TPY_BOOL;")
        if self.operands:
            self.declare.append("unsigned mask = 0, absent = 0;")
        for index, arg in enumerate(op.args):
            self._argument(schema, index, arg)

    def _argument(self, schema: Schema, i: int, arg: Arg) -> None:
        kind, at = arg.type, f"sig, {i}, s[{i}]"
        add, check = self.declare.append, self.check.append
        if arg.name in self.operands:
            add(f"tsr_tensor a{i}; tpy_number v{i}; PyObject* keep{i} = NULL;")
            check(f"tpy_operand({at}, &a{i}, &v{i}, &kind, &mask, &absent)")
            self.clean.append(f"Py_XDECREF(keep{i});")
        elif kind.base == "scalar":
            add(f"tpy_number v{i};")
            if arg.default not in (REQUIRED, None):
                value = arg.default
                rank = KINDS["i64" if isinstance(value, int) else "f64"]
                check(f"(s[{i}] != NULL || (v{i} = (tpy_number){{1, {int(value)}, {float(value)}, 0}}, kind = kind > {rank} ? kind : {rank}, 1))")
                check(f"(s[{i}] == NULL || tpy_scalar({at}, &v{i}, &kind))")
            else:
                check(f"tpy_scalar({at}, &v{i}, &kind)")
        elif kind.is_list:
            self._list(i, kind, at)
        elif kind.base == "tensor":
            add(f"tsr_tensor a{i};")
            check(f"tpy_{'optional_' if kind.optional else ''}tensor({at}, &a{i})")
        else:
            self._plain(schema, i, arg, at)

    def _list(self, i: int, kind: Any, at: str) -> None:
        if kind.base == "tensor":
            self.declare.append(f"tpy_tensors a{i} = {{0, a{i}.room, NULL, {{NULL}}}};")
            self.check.append(f"tpy_tensor_list({at}, {int(kind.holes)}, &a{i})")
            self.clean.append(f"tpy_free_tensors(&a{i});")
            return
        self.declare.append(f"tpy_list a{i}; a{i}.at = a{i}.room;")
        self.check.append(f"tpy_{'ints' if kind.base == 'int64' else 'floats'}({at}, &a{i})")
        self.clean.append(f"tpy_free_list(&a{i});")

    def _plain(self, schema: Schema, i: int, arg: Arg, at: str) -> None:
        kind, add, check = arg.type, self.declare.append, self.check.append
        given = None if arg.default is REQUIRED else arg.default
        if kind.base == "bool":
            add(f"int32_t a{i};")
            check(f"tpy_bool({at}, {-1 if kind.optional else int(bool(given))}, &a{i})")
        elif kind.base == "int64":
            add(f"int64_t a{i};")
            check(f"tpy_{'optional_' if kind.optional else ''}int64({at}, {'INT64_MIN' if given is None else given}, &a{i})")
        elif kind.base == "f64" and kind.optional:
            add(f"double a{i}; int32_t has{i};")
            check(f"tpy_optional_f64({at}, &a{i}, &has{i})")
        elif kind.base == "f64":
            add(f"double a{i};")
            check(f"tpy_f64({at}, {float(given or 0)!r}, &a{i})")
        elif kind.base == "dtype":
            add(f"tsr_dtype a{i};")
            check(f"tpy_dtype({at}, &a{i})")
        elif kind.base == "device":
            add(f"int32_t a{i}, index{i};")
            check(f"tpy_device({at}, &a{i}, &index{i})")
        elif kind.base == "str":
            add(f"const char* a{i}; int64_t length{i};")
            check(f"tpy_text({at}, {'NULL' if given is None else c_string(given)}, &a{i}, &length{i})")
        elif kind.base == "generator":
            add(f"tsr_generator a{i};")
            check(f"tpy_generator({at}, &a{i})")
        else:
            add(f"int32_t a{i};")
            check(f"tpy_enum({at}, tsr_{kind.name}_values, {enum_default(schema, arg)}, &a{i})")


def enum_default(schema: Schema, arg: Arg) -> int:
    if arg.default is REQUIRED or arg.default is None:
        return -1
    if isinstance(arg.default, int):
        return arg.default
    values = dict(enum_values(schema.enum(str(arg.type.name))))
    return values[str(arg.default).removeprefix(f"TSR_{str(arg.type.name).upper()}_").lower()]


def _call_parts(op: Op, scalar_args: tuple[str, ...], kind: str | None) -> list[str]:
    """The C arguments of one overload, outs not included."""
    parts = []
    for i, arg in enumerate(op.args):
        if arg.name in scalar_args or arg.type.base == "scalar":
            parts += {"f64": [f"v{i}.re"], "i64": [f"v{i}.i"], "bool": [f"(int32_t)v{i}.i"], "c128": [f"v{i}.re", f"v{i}.im"]}[kind or "f64"]
            parts += [f"v{i}.has"] if arg.type.optional else []
        elif arg.type.is_list:
            parts += [f"a{i}.at_f64" if arg.type.base == "f64" else f"a{i}.at", f"a{i}.n"]
        elif arg.type.base == "f64" and arg.type.optional:
            parts += [f"a{i}", f"has{i}"]
        elif arg.type.base == "device":
            parts += [f"a{i}", f"index{i}"]
        elif arg.type.base == "str":
            parts += [f"a{i}", f"length{i}"]
        else:
            parts.append(f"a{i}")
    return parts


def _invoke(op: Op, form: str, with_out: bool, suffix: str, parts: list[str], pad: str) -> str:
    """Calls one C function and sets `result`."""
    base = f"tsr_{op.name}{suffix}"
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
    converted = _Converted(schema, op)
    count = len(op.args)
    if with_out and len(op.returns) == 1:
        converted.declare.append("tsr_tensor dst = NULL;")
        converted.check.append(f"tpy_out(sig, {count}, s[{count}], &dst)")
    elif with_out:
        converted.declare.append("tpy_tensors dst = {0, dst.room, NULL, {NULL}};")
        converted.check.append(f"tpy_outs(sig, {count}, s[{count}], {len(op.returns)}, &dst)")
        converted.clean.append("tpy_free_tensors(&dst);")
    text = "".join(f"  {d}\n" for d in converted.declare)
    condition = " &&\n      ".join(converted.check) or "1"
    text += f"  if ({condition}) {{\n{_dispatch(op, form, with_out, converted)}  }}\n"
    return text + "".join(f"  {c}\n" for c in converted.clean)


def _dispatch(op: Op, form: str, with_out: bool, converted: _Converted) -> str:
    if converted.scalars:
        return _kinds(op, form, with_out, ScalarForm(()), "    ")
    plain = _invoke(op, form, with_out, "", _call_parts(op, (), None), "      ")
    if not converted.operands:
        return plain
    index = {a.name: i for i, a in enumerate(op.args)}
    text = ""
    like = "NULL"
    for i in reversed([k for k, a in enumerate(op.args) if a.type.base == "tensor" and not a.type.is_list]):
        like = f"s[{i}] != NULL && TPY_IS_TENSOR(s[{i}]) ? s[{i}] : {like}"
    lifted = "" if "bool" in op.scalar_kinds else f"!(kind == TPY_BOOL && tpy_is_bool({like})) && "
    for overload in op.scalar:
        if form == "inplace" and op.args[0].name in overload.args:
            continue
        bits = sum(1 << index[n] for n in overload.args)
        text += f"    {'} else ' if text else ''}if (mask != 0 && {lifted}(mask & ~{bits}u) == 0 && ({bits}u & ~mask & ~absent) == 0) {{\n"
        text += _kinds(op, form, with_out, overload, "      ")
    lifts = [index[n] for n in converted.operands]
    lift = " &&\n        ".join(f"(!(mask >> {i} & 1) || tpy_lift(s[{i}], like, &a{i}, &keep{i}))" for i in lifts)
    body = f"      PyObject* like = {like};\n      if (mask == 0 || (like != NULL ? ({lift}) : tpy_no_kind(sig))) {{\n"
    body += plain.replace("      ", "        ", 1).replace("\n      ", "\n        ") + "      }\n"
    return (f"{text}    }} else {{\n{body}    }}\n" if text else body) 


def _kinds(op: Op, form: str, with_out: bool, overload: ScalarForm, pad: str) -> str:
    known = " | ".join(f"1 << {KINDS[k]}" for k in op.scalar_kinds)
    text = f"{pad}switch (tpy_fit_kind(kind, {known})) {{\n"
    for kind in op.scalar_kinds:
        suffix = f"_{kind}" + (f"_{overload.suffix}" if overload.suffix else "")
        body = _invoke(op, form, with_out, suffix, _call_parts(op, overload.args, kind), pad + "    ")
        text += f"{pad}  case {KINDS[kind]}: {{\n{body}{pad}    break;\n{pad}  }}\n"
    return text + f"{pad}  default: tpy_no_kind(sig);\n{pad}}}\n"


def _prepare(names: list[str]) -> str:
    calls = " &&\n         ".join(f"tpy_prepare(&sig_{n})" for n in names)
    return f"static int tpy_prepare_signatures(void) {{\n  return {calls or 1};\n}}\n"


def _method_table(table: str, thunks: list[tuple[Op, str, str]], more: str = "") -> str:
    text = f"static PyMethodDef {table}[] = {{\n{more}"
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
        name = parameter_names(op, arg).split("|")[0]
        parts.append(name if arg.required else f"{name}={arg.default!r}")
    if form == "functional" and "out" in op.forms:
        parts += ([] if "*" in parts else ["*"]) + ["out=None"]
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
            slots += f"  {{Py_nb_{UNARY[name]}, nb_{UNARY[name]}}}, \\\n"
        binary = {k for k in [*BINARY, "pow"] if f"__{k}__" in dunders}
        if binary or dunders & COMPARE.keys():
            text += _operator(op)
        for name in sorted(dunders & COMPARE.keys()):
            compares += f"    case {COMPARE[name]}: return tpy_operate(&op_{op.name}, a, b);\n"
        for key in sorted(binary):
            slot = BINARY.get(key, "power")
            third = ", PyObject* modulus" if key == "pow" else ""
            check = "  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;\n" if key == "pow" else ""
            text += f"static PyObject* nb_{slot}(PyObject* a, PyObject* b{third}) {{\n{check}  return tpy_operate(&op_{op.name}, a, b);\n}}\n"
            slots += f"  {{Py_nb_{slot}, nb_{slot}}}, \\\n"
            if "inplace" in op.forms:
                text += f"static PyObject* nb_inplace_{slot}(PyObject* a, PyObject* b{third}) {{\n{check}"
                text += f"  return tpy_operate_inplace(&inplace_{op.name}, a, b);\n}}\n"
                slots += f"  {{Py_nb_inplace_{slot}, nb_inplace_{slot}}}, \\\n"
    if compares:
        text += f"static PyObject* tpy_compare(PyObject* a, PyObject* b, int which) {{\n  switch (which) {{\n{compares}"
        text += "    default: Py_RETURN_NOTIMPLEMENTED;\n  }\n}\n"
        slots += "  {Py_tp_richcompare, tpy_compare}, \\\n"
    return f"{text}#define TPY_NUMBER_SLOTS \\\n{slots}\n"


def _operator(op: Op) -> str:
    names = {f.name for f in op.functions}

    def fn(name: str) -> str:
        return name if name in names else "NULL"

    base = f"tsr_{op.name}"
    right = ", ".join(fn(f"{base}_{k}") for k in ("f64", "i64", "c128", "bool"))
    left = ", ".join(fn(f"{base}_{k}_left") for k in ("f64", "i64", "c128"))
    reflected = {f"__r{k}__" for k in BINARY} & set(op.python.operator)
    compares = bool(COMPARE.keys() & set(op.python.operator))
    commutes = int("_left" not in left and (compares or bool(reflected)) and op.name not in ("matmul", "pow", "remainder", "floor_divide"))
    text = f"static const tpy_operator op_{op.name} = {{{base}, {{{right}}}, {{{left}}}, {commutes}}};\n"
    if "inplace" in op.forms and not compares:
        inplace = ", ".join(fn(f"{base}_{k}_inplace") for k in ("f64", "i64", "c128"))
        text += f"static const tpy_inplace_operator inplace_{op.name} = {{{base}_inplace, {inplace}}};\n"
    return text


# ---- Python ----


def _ops(ops: list[Op]) -> str:
    text = banner("#", "The functions of all ops, as the extension made them.") + "\nfrom ._core import table as _table\n\n"
    names = function_names(ops)
    text += "".join(f'{name} = _table["{source}"]\n' for name, source in names)
    for namespace in sorted({o.python.namespace for o in ops}):
        inside = [o for o in ops if o.python.namespace == namespace]
        spelled = [n for n, _ in function_names(inside)]
        text += "\n" + exports_text(namespace, spelled)
    return text


def exports_text(namespace: str, names: list[str]) -> str:
    variable = "__all__" if not namespace else namespace.replace(".", "_").upper()
    return wrap_call(f"{variable} = [", [f'"{n}"' for n in names], "]") + "\n"


def function_names(ops: list[Op]) -> list[tuple[str, str]]:
    """(name, name in the table) of all functions, aliases included."""
    found = []
    for op in ops:
        for form, name in public_forms(op):
            if _is_function(op, form):
                found += [(name, name)] + [(a, name) for a in op.python.aliases]
    return found


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
