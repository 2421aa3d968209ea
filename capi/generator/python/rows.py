# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The ops in the Python extension: a row of data for each function, one trampoline for each C signature."""

from __future__ import annotations

from ..literals import C
from ..schema.model import FLIPPED, PLAIN, REQUIRED, Arg, CFunction, Op, ScalarForm, Schema
from ..schema.types import Type, entry
from ..template import Template
from ..text import c_string
from .model import creates, functions, methods, operands, parameter_names, positional, public_forms, spread

TEMPLATE = Template(__file__, "native.c.in")
BY_HAND = ("contiguous",)  # methods that native/methods.c has
FILLED_IN = {"squeeze": "axes"}  # required arguments that may be left out
KINDS = {  # by schema type: how native/calls.c reads an argument
    "tensor": "TPY_TENSOR", "tensor?": "TPY_OPTIONAL_TENSOR", "tensor[]": "TPY_TENSORS", "tensor?[]": "TPY_OPTIONAL_TENSORS",
    "int64[]": "TPY_INTS", "f64[]": "TPY_FLOATS", "bool": "TPY_BOOL", "int64": "TPY_INT64", "int64?": "TPY_OPTIONAL_INT64",
    "f64": "TPY_F64", "f64?": "TPY_OPTIONAL_F64", "scalar": "TPY_SCALAR", "dtype": "TPY_DTYPE", "device": "TPY_DEVICE",
    "str": "TPY_TEXT", "generator": "TPY_GENERATOR", "enum": "TPY_WORD",
}  # fmt: skip
# By schema type: a letter for the name of a trampoline, and for each C parameter its type and the value {0} for it.
PASSED: dict[str, tuple[str, ...]] = {
    "tensor": ("t", "tsr_tensor", "v[{0}].tensor"),
    "out tensor": ("o", "tsr_tensor*", "v[{0}].place"),
    "out tensor[]": ("O", "tsr_tensor*", "v[{0}].place", "int32_t", "v[{0}].more", "int32_t*", "v[{0} + 1].found"),
    "tensor[]": ("T", "const tsr_tensor*", "v[{0}].tensors->at", "int32_t", "v[{0}].tensors->n"),
    "int64[]": ("L", "const int64_t*", "v[{0}].list->at", "int32_t", "v[{0}].list->n"),
    "f64[]": ("F", "const double*", "v[{0}].list->at_f64", "int32_t", "v[{0}].list->n"),
    "bool": ("w", "int32_t", "v[{0}].word"),
    "dtype": ("w", "int32_t", "v[{0}].word"),
    "enum": ("w", "int32_t", "v[{0}].word"),
    "int64": ("i", "int64_t", "v[{0}].whole"),
    "f64": ("d", "double", "v[{0}].real"),
    "f64?": ("e", "double", "v[{0}].real", "int32_t", "v[{0}].more"),
    "scalar": ("n", "const tsr_number*", "&v[{0}].number"),
    "scalar?": ("m", "const tsr_number*", "v[{0}].number.kind != 0 ? &v[{0}].number : NULL"),
    "device": ("D", "int32_t", "v[{0}].word", "int32_t", "v[{0}].more"),
    "str": ("s", "const char*", "v[{0}].text", "int64_t", "v[{0}].length"),
    "generator": ("g", "tsr_generator", "v[{0}].generator"),
}


def c_name(op: Op, form: str) -> str:
    return op.name + ("_inplace" if form == "inplace" else "")


class Rows:
    """The rows of all ops, with what they share: trampolines by C signature, and lists of parameters by what stands in them."""

    def __init__(self, schema: Schema, ops: list[Op]) -> None:
        self._schema = schema
        self._trampolines: dict[str, str] = {}
        self._lists: dict[str, str] = {}  # a list of parameters: its name
        spelled: dict[str, list[str]] = {}
        for op, form, name in methods(ops):
            if name not in BY_HAND:
                spelled.setdefault(c_name(op, form), []).append(name)
        public = {c_name(op, form) for op, form, _ in functions(ops)}
        self.rows = "".join(
            self._row(op, form, name, c_name(op, form) in public, spelled.get(c_name(op, form), []))
            for op, form, name in public_forms(ops)
        )

    @property
    def shared(self) -> str:
        text = "".join(self._trampolines[key] for key in sorted(self._trampolines)) + "\n"
        for parameters, name in self._lists.items():
            text += f"static const tpy_parameter takes_{name}[] = {{{parameters}}};\n"
            text += f"static PyObject* keys_{name}[sizeof takes_{name} / sizeof(tpy_parameter) * TPY_MAX_ALIASES];\n"
        return text

    def _row(self, op: Op, form: str, name: str, is_function: bool, methods: list[str]) -> str:
        with_out = form == "functional" and "out" in op.forms
        made = creates(op, form)
        parameters = [_parameter(self._schema, op, form, arg) for arg in op.args]
        parameters += ['{"out", TPY_OPTIONAL_TENSOR}'] * with_out + ['{"requires_grad", TPY_BOOL}'] * made
        names = [a.name for a in op.args] + ["out"] * with_out + ["requires_grad"] * made
        shared = self._list(names, ", ".join(parameters))
        required = sum(1 for a in op.args if a.required and FILLED_IN.get(op.name) != a.name)
        results = -1 if op.returns_list else len(op.returns)
        alias = next((i for i, a in enumerate(op.args) if a.name == op.alias), -1) if results == 1 else -1
        bounds = any(op.arg(n).type.optional for n in operands(op, form))
        prepare, prepared = _prepared(op)
        plain = form == "functional" and results == 1 and alias < 0 and not made
        tensors = [a for a in op.args if a.type.base == "tensor" and not a.type.is_list and a.required]
        quick = len(op.args) if plain and len(tensors) == len(op.args) <= 2 and prepare == "NULL" else 0
        ways = _ways(op, form, with_out, self._trampolines)
        return TEMPLATE(
            "row",
            cname=c_name(op, form),
            is_function=int(is_function),
            methods=c_string("|".join(methods)) if methods else "NULL",
            doc=c_string(f"({signature_text(op, form)})\n--\n\n{op.doc}"),
            signature=f"{c_string(name)}, {len(parameters)}, {positional(op)}, {required}, {spread(op)}, {_tensor_bits(op)}u",
            shared=shared,
            form="TPY_INPLACE" if form == "inplace" else "TPY_FUNCTIONAL",
            facts=", ".join(str(int(f)) for f in (len(op.args), results, with_out, made, alias, bounds, plain, quick)),
            prepare=f"{prepare}, {prepared}",
            ways=",\n        ".join([*ways, "{0}"] if len(ways) > 1 else [f"{ways[0]}, {{0}}"]),
        )

    def _list(self, names: list[str], parameters: str) -> str:
        """The name of a list of parameters; the second one of like names has a number."""
        if parameters not in self._lists:
            name = "_".join(names)
            others = sum(1 for known in self._lists.values() if known.rstrip("0123456789") == name + "_" or known == name)
            self._lists[parameters] = f"{name}_{others + 1}" if others else name
        return self._lists[parameters]


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


def _prepared(op: Op) -> tuple[str, str]:
    """What Python says in other words: padding="same" and "valid" of convolutions, which have a switch for the first, and
    squeeze() of all axes that can be. What draws random numbers is looked at because func.vmap has a say in it."""
    index = {a.name: i for i, a in enumerate(op.args)}
    if "padding" in index and "same" in index:
        return "tpy_padding", f"{{{index['padding']}, {index['same']}}}"
    if op.name in FILLED_IN:
        return "tpy_axes_of_one", f"{{0, {index[FILLED_IN[op.name]]}}}"
    if any(a.type.base == "generator" for a in op.args):
        return "tpy_randomness", "{0, 0}"
    return "NULL", "{0, 0}"


def _tensor_bits(op: Op) -> int:
    """The parameters in whose place a NumPy array may stand, as bits."""
    return sum(1 << i for i, a in enumerate(op.args) if a.type.base == "tensor" and not a.type.is_list)


def _parameter(schema: Schema, op: Op, form: str, arg: Arg) -> str:
    names = c_string("|".join(parameter_names(op, arg)))
    if arg.name in operands(op, form):
        return f"{{{names}, TPY_OPERAND}}"
    words = f"tsr_{arg.type.name}_values" if arg.type.base == "enum" else "NULL"
    absent = _absent(schema, arg)
    more = f", {words}, {absent}" if absent else f", {words}" if words != "NULL" else ""
    return f"{{{names}, {entry(KINDS, arg.type)}{more}}}"


def _absent(schema: Schema, arg: Arg) -> str:
    """What C gets where Python says nothing, as a tpy_value; nothing for zeros."""
    value, kind = None if arg.default is REQUIRED else arg.default, arg.type
    if kind.is_list:
        return f"{{.{'list = &tpy_no_list' if kind.base in ('int64', 'f64') else 'tensors = &tpy_no_tensors'}}}"
    if kind.base == "enum":
        constant = schema.enum(str(kind.name)).constant(value)
        return f"{{.word = {constant.value if constant else -1}}}"
    if kind.base == "scalar":
        return "" if value is None else f"{{.number = {_number(value)}}}"
    if kind.base == "str":
        return "" if value is None else f"{{.text = {c_string(value)}, .length = {len(value.encode())}}}"
    if kind.base == "f64":
        return "" if not value else f"{{.real = {C.literal(float(value))}}}"
    if kind.base == "bool":
        given = -1 if value is None and kind.optional else int(bool(value))
        return f"{{.word = {given}}}" if given else ""
    if kind.base == "int64":
        return "{.whole = INT64_MIN}" if value is None else f"{{.whole = {C.literal(value)}}}"
    return {"dtype": "{.word = -1}", "device": "{.word = -1, .more = -1}"}.get(kind.base, "")


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{{TSR_NUMBER_INTEGER, 0, {value}, 0, 0}}"
    return f"{{TSR_NUMBER_REAL, 0, 0, {C.literal(value)}, 0}}"


# ---- the C functions of a row ----


def _ways(op: Op, form: str, with_out: bool, trampolines: dict[str, str]) -> list[str]:
    """For no operand that is a number, then for each choice of those that are."""
    index = {a.name: i for i, a in enumerate(op.args)}
    known = {function.name: function for function in op.functions}
    chosen = op.overloads(form)
    ways = [_way(op, form, with_out, overload, known, sum(1 << index[n] for n in overload.args), trampolines) for overload in chosen]
    sides = operands(op, form)
    if len(sides) == 2 and len(op.args) == 2 and not any(o.args == (sides[0],) for o in chosen) and len(chosen) > 1:
        # What takes a number on the right only is the same with both sides exchanged.
        ways.append(_flipped(op, form, with_out, chosen, known, trampolines))
    return ways


def _way(
    op: Op, form: str, with_out: bool, overload: ScalarForm, known: dict[str, CFunction], bits: int, trampolines: dict[str, str]
) -> str:
    plain = known[op.c_name(form, overload)]
    out = known[op.c_name("out", overload)] if with_out else None
    call_out, function_out = (_trampoline(out, trampolines), f"(tpy_function){out.name}") if out else ("NULL", "NULL")
    return f"{{{bits}, 0, {_trampoline(plain, trampolines)}, {call_out}, (tpy_function){plain.name}, {function_out}}}"


def _flipped(
    op: Op, form: str, with_out: bool, chosen: list[ScalarForm], known: dict[str, CFunction], trampolines: dict[str, str]
) -> str:
    right = next(o for o in chosen if o is not PLAIN)
    name = f"tsr_{FLIPPED.get(op.name, op.name)}_scalar"
    call = _trampoline(known[op.c_name(form, right)], trampolines)
    call_out = _trampoline(known[op.c_name("out", right)], trampolines) if with_out else "NULL"
    return f"{{1, 1, {call}, {call_out}, (tpy_function){name}, {f'(tpy_function){name}_out' if with_out else 'NULL'}}}"


def _trampoline(function: CFunction, trampolines: dict[str, str]) -> str:
    """The name of what calls functions of this signature; written when it is the first of them."""
    entries = [_passed(arg.type) for arg in function.args]
    name = "call_" + ("".join(e[0] for e in entries) or "nothing")
    types = ", ".join(kind for e in entries for kind in e[1::2]) or "void"
    values = ", ".join(text.format(i) for i, e in enumerate(entries) for text in e[2::2])
    call = f"((tsr_status (*)({types}))f)({values})"
    trampolines[name] = f"static tsr_status {name}(tpy_function f, const tpy_value* v) {{ return {call}; }}\n"
    return name


def _passed(kind: Type) -> tuple[str, ...]:
    if kind.direction == "out":
        return PASSED["out tensor[]" if kind.is_list else "out tensor"]
    return entry(PASSED, kind)
