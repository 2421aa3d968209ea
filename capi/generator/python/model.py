# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""How an op looks in Python: its functions and methods, and the names of its parameters."""

from __future__ import annotations

from ..schema.model import Arg, Enum, Op
from ..text import c_string

ALIASES = {
    "axes": ["axis", "dim", "axes", "dims"],
    "axis": ["axis", "dim", "axes", "dims"],
    "keepdims": ["keepdims", "keepdim"],
    "shape": ["shape", "size"],
    "uplo": ["UPLO", "uplo"],
}
Callable = tuple[Op, str, str]  # op, form and name of a function or method


def parameter_names(op: Op, arg: Arg) -> list[str]:
    """Names of a parameter in Python, the canonical one first."""
    names = ["axes", "dims", "axis", "dim"] if arg.name == "axes" and arg.required else ALIASES.get(arg.name, [arg.name])
    first = dict(op.python.arguments).get(arg.name)
    return names if first is None else [first, *(n for n in names if n != first)]


def positional(op: Op) -> int:
    """How many parameters need no keyword."""
    names = [a.name for a in op.args]
    return names.index(op.python.keyword) if op.python.keyword in names else len(names)


def operands(op: Op, form: str) -> list[str]:
    """Arguments that may be a number; where C has no function for it, a tensor stands in for the number."""
    pairs = op.kernel is not None and op.kernel.family == "binary" and op.name == op.kernel.name
    return [a.name for a in op.args] if pairs and form == "functional" else op.operands


def creates(op: Op, form: str) -> bool:
    """Whether the result is a leaf, which may be asked to require grad."""
    return form == "functional" and op.returns != () and any(a.type.base == "device" for a in op.args)


def spread(op: Op) -> int:
    """The place of the list that may be given as separate numbers, or -1."""
    count = positional(op)
    for index, arg in enumerate(op.args[: min(2, count)]):
        if arg.type.base == "int64" and arg.type.is_list and arg.required:
            after = op.args[index + 1].type if index + 1 < count else None
            return -1 if after is not None and after.base in ("int64", "scalar", "f64", "tensor") else index
    return -1


def public_forms(ops: list[Op]) -> list[Callable]:
    """The functional function and the in-place method of each op."""
    found = []
    for op in ops:
        name = op.python.name
        if "functional" in op.forms:
            found.append((op, "functional", name))
        if "inplace" in op.forms:
            found.append((op, "inplace", name if name.endswith("_") else name + "_"))
    return found


def functions(ops: list[Op]) -> list[Callable]:
    """What is no method alone."""
    return [
        (op, form, name)
        for op, form, name in public_forms(ops)
        if form == "functional" or "functional" not in op.forms or op.python.method is None
    ]


def methods(ops: list[Op]) -> list[Callable]:
    """The methods of Tensor, aliases included."""
    found: dict[str, Callable] = {}
    for op, form, name in public_forms(ops):
        if not op.args or not op.args[0].type.is_tensor or op.python.method is None:
            continue
        method = op.python.method if form == "functional" else name
        for spelled in (method, *(a + ("_" if form == "inplace" else "") for a in op.python.aliases)):
            found.setdefault(spelled, (op, form, spelled))
    return list(found.values())


def exports(namespace: str, ops: list[Op]) -> str:
    """The list of the functions of a namespace, aliases included, a line for each op: a new one changes no other."""
    rows = [(name, *op.python.aliases) for op, _, name in functions(ops) if op.python.namespace == namespace]
    variable = "__all__" if not namespace else exports_name(namespace)
    lines = "".join(f"    {', '.join(map(c_string, names))},\n" for names in rows)
    return f"{variable} = [\n{lines}]\n"


def exports_name(namespace: str) -> str:
    return namespace.replace(".", "_").upper()


def namespaces(ops: list[Op]) -> list[str]:
    return sorted({op.python.namespace for op in ops})


def enum_values(enum: Enum) -> list[tuple[str, int]]:
    return [(enum.short(c), c.value) for c in enum.constants]
