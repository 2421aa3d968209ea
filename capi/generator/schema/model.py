# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The schema as typed data: what the emitters read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..text import camel
from .types import CParam, Type, c_params, parse_type

KERNEL_FAMILIES = ("unary", "binary", "ternary", "reduce")
FORMS = ("functional", "out", "inplace")  # numbered: part of the ids of functions
AUTOCAST = ("lower", "float32", "promote", "refuse")  # the lists of autocast.yaml; Autocast of capi/call.h
BACKENDS = ("cpu", "cuda")  # whose tables of kernels are generated
BATCHING = (
    "pointwise", "trailing", "reduce", "axes", "new_axes", "view", "expand", "fold", "loss", "fold_loss", "parts", "random",
    "create", "loop",
)  # the rules of func.vmap, which capi/schema/README.md describes
FLIPPED = {
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
}  # a < b: b > a
DTYPE_WORDS = {"uint": "UInt", "int": "Int", "float": "Float", "bfloat": "BFloat", "complex": "Complex", "bool": "Bool"}
REQUIRED = object()  # the default of an argument that has none


@dataclass(frozen=True)
class Arg:
    name: str
    type: Type
    default: Any = REQUIRED
    doc: str = ""
    count_of: str | None = None  # this out list has as many slots as that list
    fuzz: bool = True  # False: extreme values of this argument are legal and costly, do not try them

    @property
    def required(self) -> bool:
        return self.default is REQUIRED


@dataclass(frozen=True)
class CFunction:
    """One exported C function. Those of an op say which form and overload they are."""

    name: str
    since: str
    header: str
    returns: str  # C type
    args: tuple[Arg, ...]  # schema arguments in order, outs last
    params: tuple[CParam, ...]
    doc: str
    op: Op | None = None
    form: str = "functional"  # functional | out | inplace
    function: Function | None = None
    id: int = 0  # of the function for ever: the row's in the lower 16 bits, then form, then overload

    @property
    def declaration(self) -> str:
        return f"{self.returns} {self.name}({', '.join(map(str, self.params)) or 'void'})"

    @property
    def numbers(self) -> tuple[str, ...]:
        """Arguments that are host numbers here: where the op takes only numbers, and where this overload does."""
        return tuple(a.name for a in self.args if a.type.base == "scalar" and a.type.direction == "in")

    @property
    def description(self) -> str:
        """The documentation of the row, with its arguments."""
        lines = [self.doc]
        if self.op is not None and self.op.notes:
            lines.append(self.op.notes)
        lines += [f"{a.name}: {a.doc}" for a in self.args if a.doc]
        if self.function is not None:
            if self.function.consumes:
                lines.append(f"Consumes {self.function.consumes} on success.")
            if self.function.thread == "exclusive":
                lines.append("Needs exclusive access to its arguments.")
        return "\n".join(lines)


@dataclass(frozen=True)
class ScalarForm:
    """Arguments that one overload takes as host numbers, and the suffix of its functions: scalar, scalar_left, scalars."""

    args: tuple[str, ...]
    suffix: str = ""


PLAIN = ScalarForm(())


@dataclass(frozen=True)
class Python:
    """How the op appears in the Python package."""

    name: str
    method: str | None = None  # name of the Tensor method, None when there is none
    operator: tuple[str, ...] = ()  # dunder names, for example __add__, __radd__, __iadd__
    aliases: tuple[str, ...] = ()
    namespace: str = ""  # "" is the package itself; else e.g. nn.functional
    keyword: str | None = None  # name of the first keyword-only argument
    hidden: bool = False  # no generated public function; the hand-written layer calls the raw one
    fields: tuple[str, ...] = ()  # the names of several results, where Python has others than the schema
    arguments: tuple[tuple[str, str], ...] = ()  # an argument and its first name in Python, where that is another one


@dataclass(frozen=True)
class Literal:
    """A tensor written out in a case. `data` is flat; None leaves the values unchecked."""

    dtype: str
    shape: tuple[int, ...]
    data: tuple[Any, ...] | None


@dataclass(frozen=True)
class Case:
    """One call with its expected results (`returns`, in order), or its expected error."""

    args: dict[str, Any]  # tensors as Literal, lists of tensors as lists of Literal, else plain values
    returns: tuple[Any, ...] = ()
    after: dict[str, Any] = field(default_factory=dict)  # mutated arguments as they stand afterwards
    grad: dict[str, Any] = field(default_factory=dict)  # what arguments, then leaves that require grad, hold as .grad
    after_grad: dict[str, Any] = field(default_factory=dict)  # what they hold afterwards; None: nothing
    error: str | None = None
    forms: tuple[str, ...] = ()  # empty: all forms of the row
    rtol: float | None = None
    atol: float | None = None


@dataclass(frozen=True)
class Kernel:
    """One entry of a family of kernels: an id of the backend contract, and the functor behind it."""

    name: str  # gelu_tanh; the enumerator is kGeluTanh, the functor GeluTanh
    id: int
    family: str  # one of KERNEL_FAMILIES
    doc: str = ""

    @property
    def functor(self) -> str:
        return camel(self.name)


@dataclass(frozen=True)
class Family:
    """One entry of the kernel table: a plan that every backend may implement."""

    name: str
    plan: str  # the C++ struct
    header: str  # below src/kernel, where the plan is
    op: str | None  # the C++ enumeration of its first argument, if it has one
    backends: tuple[str, ...]  # those of BACKENDS that have it
    doc: str


@dataclass(frozen=True)
class Nondeterministic:
    """Kernels whose results depend on more than their inputs, unless the mode is deterministic."""

    family: str  # the name of a Family
    backend: str  # one of BACKENDS
    when: str  # what they depend on
    instead: str  # what happens in deterministic mode


@dataclass(frozen=True)
class Batching:
    """How func.vmap runs the op on a whole batch: the name of a rule in tessera/func/_rules.py and what it asks for."""

    rule: str
    rank: int = 0  # fold: axes of the arguments without their own batch axis; 0: they always have one
    folded: tuple[str, ...] = ()  # fold: the arguments with a batch axis; none: the first tensor


@dataclass(frozen=True)
class Op:
    name: str
    id: int
    since: str
    family: str
    header: str
    args: tuple[Arg, ...]
    returns: tuple[Arg, ...]  # empty: the op only mutates
    forms: tuple[str, ...]
    scalar: tuple[ScalarForm, ...]
    scalar_kinds: tuple[str, ...]  # what its numbers may be: types.SCALAR_KINDS, or fewer of them
    cpp: str
    alias: str | None  # the results may share memory with this argument
    mutates: tuple[str, ...]
    mutates_grad: tuple[str, ...]  # list arguments whose gradients change, and nothing else
    python: Python
    doc: str
    notes: str
    kernel: Kernel | None  # None: made of other ops, or not of a family whose ids are generated
    batching: Batching
    gradient: bool  # False: no gradient by nature, or one that finite differences cannot see
    gradient_args: dict[str, Any] | None  # where to differentiate, when the first fitting case is no good place
    cases: tuple[Case, ...]

    @property
    def returns_list(self) -> bool:
        return len(self.returns) == 1 and self.returns[0].type.is_list

    def arg(self, name: str) -> Arg:
        return next(a for a in self.args if a.name == name)

    @property
    def places(self) -> list[str]:
        """Names of the tensors that the out form writes to."""
        return ["dst"] if len(self.returns) == 1 else [f"{r.name}_dst" for r in self.returns]

    @property
    def result_name(self) -> str:
        """The struct, or named tuple, of an op with several results."""
        return camel(self.name) + "Result"

    @property
    def operands(self) -> list[str]:
        """Arguments that are a tensor or a host number."""
        return [a.name for a in self.args if any(a.name in overload.args for overload in self.scalar)]

    def overloads(self, form: str) -> list[ScalarForm]:
        """Which arguments are host numbers in the functions of a form; first, no operand is."""
        if form not in self.forms:
            return []
        # A host number cannot be changed in place.
        return [PLAIN, *(o for o in self.scalar if form != "inplace" or self.args[0].name not in o.args)]

    def c_name(self, form: str, overload: ScalarForm) -> str:
        parts = [self.name, overload.suffix, None if form == "functional" else form]
        return "tsr_" + "_".join(p for p in parts if p)

    @cached_property
    def functions(self) -> tuple[CFunction, ...]:
        """Every C function of this row: each form, then each form of each scalar overload."""
        return tuple(
            self._function(form, overload)
            for overload in (PLAIN, *self.scalar)
            for form in self.forms
            if overload in self.overloads(form)
        )

    def _function(self, form: str, overload: ScalarForm) -> CFunction:
        args = tuple(_as_scalar(a) if a.name in overload.args else a for a in self.args)
        if form == "functional":
            args += self.returns
        elif form == "out":
            args += tuple(Arg(n, parse_type("tensor"), doc="receives the result") for n in self.places)
        params = tuple(p for a in args for p in c_params(a.name, a.type))
        name = self.c_name(form, overload)
        number = self.id | FORMS.index(form) << 16 | (PLAIN, *self.scalar).index(overload) << 18
        return CFunction(name, self.since, self.header, "tsr_status", args, params, self.doc, self, form, id=number)


def _as_scalar(arg: Arg) -> Arg:
    return Arg(arg.name, parse_type("scalar?" if arg.type.optional else "scalar"), arg.default, arg.doc)


@dataclass(frozen=True)
class Function:
    """A function outside ops; written by hand in capi/<file>.cpp."""

    name: str  # C name
    id: int
    since: str
    header: str
    returns: str
    args: tuple[Arg, ...]
    doc: str
    notes: str
    example: str  # C statements; documentation and generated test at once
    thread: str  # any | exclusive
    blocking: bool
    finalizer_safe: bool
    consumes: str | None
    fuzz: bool
    nodiscard: bool  # false where clean-up code may well ignore the status

    @cached_property
    def functions(self) -> tuple[CFunction, ...]:
        params = tuple(p for a in self.args for p in c_params(a.name, a.type, count_of=a.count_of))
        doc = f"{self.doc}\n{self.notes}".strip()
        return (
            CFunction(
                self.name, self.since, self.header, self.returns, self.args, params, doc, function=self, id=self.id
            ),
        )


@dataclass(frozen=True)
class Field:
    name: str
    ctype: str
    offset: int
    size: int
    doc: str


@dataclass(frozen=True)
class Struct:
    name: str  # C name, tsr_info
    since: str
    header: str
    fields: tuple[Field, ...]
    size: int
    first_size: int  # of the version that had it first: callers may pass as little for ever
    doc: str

    @property
    def sized(self) -> bool:
        return self.fields[0].name == "struct_size"


@dataclass(frozen=True)
class Constant:
    name: str  # TSR_REDUCTION_MEAN
    value: int
    doc: str
    wrapper: str = ""  # for status codes: the built-in Python exception users would catch


@dataclass(frozen=True)
class Enum:
    """Constants of one int32 type. `cpp` names the C++ enum class that mirrors it, if any."""

    name: str  # C type, tsr_reduction
    since: str
    header: str
    constants: tuple[Constant, ...]
    doc: str
    prefix: str  # of the constants, TSR_REDUCTION_
    cpp: str = ""
    cpp_header: str = ""

    def short(self, constant: Constant) -> str:
        """TSR_REDUCTION_MEAN -> mean."""
        return constant.name.removeprefix(self.prefix).lower()

    def constant(self, value: Any) -> Constant | None:
        """The constant that a case names or numbers."""
        named = (c for c in self.constants if value in (c.value, c.name, self.short(c), self.short(c).upper()))
        return next(named, None)


@dataclass(frozen=True)
class Callback:
    name: str  # C type, tsr_hook_fn
    since: str
    header: str
    returns: str
    params: tuple[CParam, ...]
    doc: str


@dataclass(frozen=True)
class Handle:
    name: str  # node -> tsr_node
    since: str
    header: str
    doc: str


@dataclass(frozen=True)
class DType:
    name: str  # float32
    short: str  # f32
    constant: str  # TSR_FLOAT32
    value: int  # DLPack bits
    itemsize: int
    category: str  # bool | integral | floating | complex

    @property
    def enumerator(self) -> str:
        """In C++: kFloat32."""
        word = self.name.rstrip("0123456789")
        return "k" + DTYPE_WORDS[word] + self.name[len(word) :]


@dataclass(frozen=True)
class Domain:
    """One schema file."""

    name: str
    title: str
    doc: str
    header: str
    includes: tuple[str, ...]
    ids: tuple[int, int]
    ops: tuple[Op, ...]
    kernels: tuple[Kernel, ...]  # those that no op of this name has
    functions: tuple[Function, ...]
    structs: tuple[Struct, ...]
    enums: tuple[Enum, ...]
    callbacks: tuple[Callback, ...]
    handles: tuple[Handle, ...]
    dtypes: tuple[DType, ...]
    externs: tuple[str, ...]
    nondeterministic: tuple[Nondeterministic, ...]

    @property
    def rows(self) -> tuple[Function | Op, ...]:
        """What has C functions."""
        return self.functions + self.ops


def _all(kind: str) -> Callable[[Any], list[Any]]:
    return lambda schema: [row for domain in schema.domains for row in getattr(domain, kind)]


@dataclass(frozen=True)
class Schema:
    domains: tuple[Domain, ...]
    families: tuple[Family, ...] = ()
    autocast: dict[str, str] = field(default_factory=dict)  # the name of an op -> the list of AUTOCAST that it stands in
    autocast_cpu: dict[str, str] = field(default_factory=dict)  # the same for the CPU's own lists

    # All rows of a kind, in the order of the files.
    ops = cached_property[list[Op]](_all("ops"))
    functions = cached_property[list[Function]](_all("functions"))
    structs = cached_property[list[Struct]](_all("structs"))
    enums = cached_property[list[Enum]](_all("enums"))
    callbacks = cached_property[list[Callback]](_all("callbacks"))
    handles = cached_property[list[Handle]](_all("handles"))
    dtypes = cached_property[list[DType]](_all("dtypes"))

    def kernels(self, family: str) -> list[Kernel]:
        """Every kernel of a family, by id."""
        own = [op.kernel for op in self.ops if op.kernel is not None]
        found = [k for k in [*own, *_all("kernels")(self)] if k.family == family]
        return sorted(found, key=lambda k: k.id)

    @cached_property
    def rows(self) -> list[Function | Op]:
        return [*self.functions, *self.ops]

    @cached_property
    def c_functions(self) -> list[CFunction]:
        """Every exported function, in header order."""
        return [f for row in self.rows for f in row.functions]

    def dtype(self, name: str) -> DType:
        return next(t for t in self.dtypes if name in (t.short, t.name))

    def enum(self, name: str) -> Enum:
        return next(e for e in self.enums if e.name == f"tsr_{name}")

    @cached_property
    def status(self) -> Enum:
        return self.enum("status")

    @cached_property
    def headers(self) -> list[str]:
        """Header names in the order of their domains."""
        return list(dict.fromkeys(d.header for d in self.domains))
