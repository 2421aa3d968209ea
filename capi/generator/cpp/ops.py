# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ wrapper's generated half: constants, the methods of Tensor, the functions of all ops."""

from __future__ import annotations

from dataclasses import dataclass

from ..literals import Words
from ..schema.model import FLIPPED, Arg, Op, ScalarForm, Schema
from ..schema.types import Type, entry, parse_type, passed
from ..template import Template
from ..text import banner
from .constants import constants
from .text import comment, wrap

TEMPLATE = Template(__file__, "ops.hpp.in")
FOLDER = "include/tessera/cpp/"
UNARY = {"__neg__": "-", "__invert__": "~"}
BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "mod": "%", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
COMPARE = {"__lt__": "<", "__le__": "<=", "__eq__": "==", "__ne__": "!=", "__gt__": ">", "__ge__": ">="}

PARAMETERS = {  # by schema type, else by its base
    "tensor": "const Tensor&",
    "scalar": "const Scalar&",
    "scalar?": "std::optional<Scalar>",
    "int64": "int64_t",
    "int64?": "std::optional<int64_t>",
    "f64": "double",
    "f64?": "std::optional<double>",
    "bool": "bool",
    "bool?": "std::optional<bool>",
    "dtype": "DType",
    "dtype?": "std::optional<DType>",
    "device": "Device",
    "device?": "std::optional<Device>",
    "str": "std::string_view",
    "generator": "const Generator&",
    "int64[]": "const IntList&",
    "int64[]?": "const OptionalIntList&",
    "f64[]": "const FloatList&",
    "tensor[]": "const TensorList&",
}
PASSED = {  # the same types as arguments of C
    "tensor": "{0}.handle()",
    "scalar": "{0}.number()",
    "scalar?": "detail::number({0})",
    "generator": "{0}.handle()",
    "int64": "{0}",
    "int64?": "{0}.value_or(tsr_none())",
    "f64": "{0}",
    "f64?": ("{0}.value_or(0)", "{0}.has_value()"),
    "bool": "{0}",
    "bool?": "{0} ? *{0} : -1",
    "enum": "{0}",
    "dtype": "detail::bits({0})",
    "device": ("{0}.type", "{0}.index"),
    "device?": ("detail::device_of({0}).type", "detail::device_of({0}).index"),
    "str": ("{0}.data()", "detail::length({0})"),
    "[]": ("{0}.data()", "{0}.size()"),
}


def outputs(schema: Schema) -> dict[str, str]:
    return {
        FOLDER + "constants.hpp": constants(schema),
        FOLDER + "methods.hpp": _methods(schema),
        FOLDER + "ops.hpp": _ops(schema),
    }


# ---- Plain values ----


WORDS = Words(
    "std::nullopt", lambda d: "tessera::" + d.enumerator, pair="std::complex<double>({}, {})", absent="tsr_none()",
    cpu="tessera::Device::cpu()", fence=("{", "}"), wide="INT64_C({})",
)  # fmt: skip


# ---- Signatures ----


@dataclass(frozen=True)
class Function:
    """One C++ function: an op in one form, with some arguments as numbers."""

    op: Op
    form: str
    overload: ScalarForm

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.overload.args

    def type(self, arg: Arg) -> Type:
        """The type of an argument here, where a number may stand for a tensor."""
        return parse_type("scalar" + "?" * arg.type.optional) if arg.name in self.numbers else arg.type

    def parameter(self, arg: Arg, defaults: bool) -> str:
        kind = self.type(arg)
        spelled = f"tsr_{kind.name}" if kind.base == "enum" else entry(PARAMETERS, kind)
        # Numbers in the place of optional tensors are named, or the call would fit both overloads.
        default = defaults and not arg.required and arg.name not in self.numbers[:1]
        return f"{spelled} {arg.name}" + (f" = {default_text(arg)}" if default else "")

    def parameters(self) -> list[str]:
        parts = [self.parameter(a, True) for a in self.op.args]
        if self.form == "inplace":
            parts[0] = parts[0].removeprefix("const ")
        return ([f"Tensor& {n}" for n in self.op.places] if self.form == "out" else []) + parts

    @property
    def name(self) -> str:
        return self.op.name + {"functional": "", "inplace": "_", "out": "_out"}[self.form]

    @property
    def returns(self) -> str:
        if self.form == "inplace" or (self.form == "out" and len(self.op.returns) == 1):
            return "Tensor&"
        if self.form == "out" or not self.op.returns:
            return "void"
        if self.op.returns_list:
            return "std::vector<Tensor>"
        return "Tensor" if len(self.op.returns) == 1 else self.op.result_name


def default_text(arg: Arg) -> str:
    if arg.type.base in ("tensor", "generator"):
        return "{}"
    return WORDS.literal(float(arg.default) if arg.type.base == "f64" and arg.default is not None else arg.default)


def functions(op: Op) -> list[Function]:
    """Every C++ function of an op, the plain one of each form first."""
    return [Function(op, form, o) for form in ("functional", "inplace", "out") for o in op.overloads(form)]


# ---- Bodies ----

def _body(over: Function) -> str:
    """Plain calls: a helper template would be instantiated for each op in every program."""
    op, name = over.op, over.op.c_name(over.form, over.overload)
    parts = [p for a in op.args for p in passed(PASSED, over.type(a), a.name)]
    if over.form == "out":
        parts += [f"{place}.handle()" for place in op.places]
    if over.form == "functional" and op.returns_list:
        return TEMPLATE(
            "list",
            call=wrap(f"  while (out.lacks_room({name}(", [*parts, "out.data()", "out.room()", "&out.count"], "))) {"),
        )
    if over.form == "functional" and len(op.returns) > 1:
        return TEMPLATE(
            "several",
            fields="".join(f"    tsr_tensor {r.name} = nullptr;\n" for r in op.returns),
            call=wrap(f"  check({name}(", parts + [f"&out.{r.name}" for r in op.returns], "));"),
            taken=", ".join(f"Tensor::take(out.{r.name})" for r in op.returns),
        )
    if over.form == "functional" and op.returns:
        call = wrap(f"  check({name}(", [*parts, "&out"], "));")
        return f"  tsr_tensor out = nullptr;\n{call}\n  return Tensor::take(out);\n"
    if over.returns == "void":
        return wrap(f"  check({name}(", parts, "));") + "\n"
    changed = op.args[0].name if over.form == "inplace" else op.places[0]
    return wrap(f"  return detail::checked({changed}, {name}(", parts, "));") + "\n"


# ---- Files ----


def _methods(schema: Schema) -> str:
    declared = ""
    for op in schema.ops:
        for i, over in enumerate(methods(op)):
            declared += comment(op.doc, "  ") if i == 0 else ""
            for params in _method_parameters(over):
                declared += wrap(f"  {over.returns} {over.name}(", params, f"){_const(over)};") + "\n"
    return TEMPLATE(
        "methods",
        banner=banner("//", "The methods of Tensor that follow from ops."),
        results="".join(f"struct {op.result_name};\n" for op in schema.ops if len(op.returns) > 1),
        methods=declared,
    )


def methods(op: Op) -> list[Function]:
    """The C++ methods of an op."""
    named = op.python.method is not None or op.name in ("to",)
    if not named or not op.args or not op.args[0].type.is_tensor or op.args[0].type.optional:
        return []
    first = op.args[0].name
    return [o for o in functions(op) if o.form != "out" and first not in o.numbers]


def _const(over: Function) -> str:
    return "" if over.form == "inplace" else " const"


def _method_lengths(over: Function) -> list[int]:
    """How many arguments the overloads of a method take: one ends before each optional tensor.

    A default of type Tensor must wait until Tensor is whole, so that these overloads stand for it.
    """
    args = over.op.args[1:]
    waits = [i for i, a in enumerate(args) if a.type.base == "tensor" and a.name not in over.numbers and not a.required]
    return [*waits, len(args)]


def _method_parameters(over: Function) -> list[list[str]]:
    """Of each overload, as the function's; arguments that tell it from the one before have no default."""
    args = over.op.args[1:]
    starts = [-1, *_method_lengths(over)]
    return [
        [over.parameter(a, i > start) for i, a in enumerate(args[:stop])]
        for start, stop in zip(starts, starts[1:], strict=False)
    ]


def _ops(schema: Schema) -> str:
    results, functions = "", ""
    for op in schema.ops:
        if len(op.returns) > 1:
            fields = "".join(f"  Tensor {r.name};\n" for r in op.returns)
            results += TEMPLATE("result", op=op.name, name=op.result_name, fields=fields)
    for domain in schema.domains:
        functions += f"// ---- {domain.title} ----\n\n" if domain.ops else ""
        functions += "".join(map(_op, domain.ops))
    return TEMPLATE(
        "ops",
        banner=banner("//", "One function per op."),
        results=results,
        functions=functions,
        operators="".join(map(_operators, schema.ops)),
        methods="".join(_method(over) for op in schema.ops for over in methods(op)),
    )


def _op(op: Op) -> str:
    text = comment(op.doc + (f" {op.notes}" if op.notes else ""))
    return text + "".join(map(_function, functions(op))) + "\n"


def _function(over: Function) -> str:
    return _short(wrap(f"inline {over.returns} {over.name}(", over.parameters(), ") {") + "\n" + _body(over) + "}\n")


def _short(function: str) -> str:
    """On one line where that is not too long."""
    line = " ".join(part.strip() for part in function.splitlines())
    return function if len(line) > 100 else line + "\n"


def _method(over: Function) -> str:
    text = ""
    for length in _method_lengths(over):
        shown = over.op.args[1 : length + 1]
        args = ["self()"] + [a.name for a in shown]
        params = [over.parameter(a, False) for a in shown]
        head = wrap(f"inline {over.returns} TensorMethods::{over.name}(", params, f"){_const(over)} {{") + "\n"
        text += _short(head + f"  return tessera::{over.name}({', '.join(args)});\n}}\n")
    return text


def _operators(op: Op) -> str:
    text = ""
    dunders = set(op.python.operator)
    for dunder in sorted(dunders & UNARY.keys()):
        text += f"inline Tensor operator{UNARY[dunder]}(const Tensor& a) {{ return {op.name}(a); }}\n"
    signs = [s for k, s in BINARY.items() if f"__{k}__" in dunders] + [COMPARE[d] for d in sorted(dunders & COMPARE.keys())]
    for sign in signs:
        text += _binary(op, sign)
    return text


def _binary(op: Op, sign: str) -> str:
    compares = sign in COMPARE.values()
    left = any(f.suffix == "scalar_left" for f in op.scalar)
    text = ""
    to_the_right = op.scalar and not left  # where the number on the left goes
    swapped = f"{FLIPPED.get(op.name, op.name)}(b, a)" if to_the_right else f"{op.name}(a, b)"
    for a, b, call in (
        ("const Tensor&", "const Tensor&", f"{op.name}(a, b)"),
        ("const Tensor&", "const Scalar&", f"{op.name}(a, b)"),
        ("const Scalar&", "const Tensor&", swapped),
    ):
        text += f"inline Tensor operator{sign}({a} a, {b} b) {{ return {call}; }}\n"
    if "inplace" in op.forms and not compares:
        for b in ("const Tensor&", "const Scalar&"):
            text += f"inline Tensor& operator{sign}=(Tensor& a, {b} b) {{ return {op.name}_(a, b); }}\n"
            text += f"inline Tensor operator{sign}=(Tensor&& a, {b} b) {{ return {op.name}_(a, b); }}\n"
    return text

