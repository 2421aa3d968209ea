# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of ops and arguments in the Julia package, and what they mean in Base."""

from __future__ import annotations

from ..schema.model import FLIPPED, Arg, Op

# Ops that Julia knows by another name. The reductions and the pointwise maximum trade theirs.
NAMES = {
    "max": "maximum",
    "min": "minimum",
    "maximum": "max",
    "minimum": "min",
    "cumulative_sum": "cumsum",
    "cumulative_prod": "cumprod",
    "where": "choose",
    "copy": "copyto",
    "squeeze": "dropdims",
    "flip": "reverse",
    "transpose": "swapaxes",
    "reshape": "reshape_row_major",
    "view": "view_row_major",
    "repeat": "repeat_interleave",
    "tensor_split": "tensor_split",
    "dot": "dotu",
}
# Ops behind hand-written functions, with arguments as the library counts them, from 0.
HIDDEN = {
    "getitem", "getitem_basic", "getitem_boolean", "getitem_integer", "setitem", "slice",
    "arange", "asarray", "to", "norm",
}  # fmt: skip

# Functions of Julia's own modules that get methods, also those that no op has yet; every other name is
# the package's. A test of the package fails for a name that is missing here.
EXTENDED = {
    "Base": """abs sign sqrt exp expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh floor ceil
        round trunc conj conj! isnan isinf isfinite max min hypot sum sum! prod prod! maximum maximum! minimum
        minimum! argmax argmin any any! all all! cumsum cumsum! copyto! fill! sort sort! dropdims reverse reverse!
        split detach take! exp2 exp10 cbrt asinh acosh atanh sinpi cospi signbit copysign real imag angle isreal
        cumprod cumprod! diff gcd lcm inv kron unique count put! sinc deg2rad rad2deg ldexp complex""",
    "LinearAlgebra": """tril tril! triu triu! cross det diag logdet norm pinv tr qr qr! cholesky cholesky! cond eigvals
        eigvals! svdvals svdvals! normalize normalize!""",
    "Statistics": "mean mean! var std quantile quantile!",
}
# The package's own although Julia has another function of this name: call them as Tessera.zeros.
SHADOWING = {"binomial", "cov", "empty", "kron", "lu", "median", "mv", "zeros", "ones", "rand", "randn", "randperm", "searchsorted",
             "svd", "view_row_major"}
# Pointwise ops with an operator or a function of Base: `operation` in generated/broadcast.jl.
OPERATORS = {
    "negative": ["-"], "reciprocal": ["inv"], "logical_not": ["!"], "bitwise_invert": ["~"],
    "add": ["+"], "subtract": ["-"], "multiply": ["*"], "divide": ["/"], "floor_divide": ["fld"],
    "remainder": ["mod"], "pow": ["^"], "atan2": ["atan"], "equal": ["=="], "not_equal": ["!="],
    "less": ["<"], "less_equal": ["<="], "greater": [">"], "greater_equal": [">="],
    "bitwise_and": ["&"], "bitwise_or": ["|"], "bitwise_xor": ["xor"], "where": ["ifelse"], "clip": ["clamp"],
    "maximum": ["max"], "minimum": ["min"], "fmod": ["rem"], "bitwise_left_shift": ["<<"], "bitwise_right_shift": [">>"],
}  # fmt: skip
UNEXPORTED = {o for o in OPERATORS if o not in ("where", "clip", "maximum", "minimum")}

# What `f(number, tensor)` is for ops that take the number on the right only.
MIRRORED = {name: name for name in (
    "add", "multiply", "maximum", "minimum", "hypot", "equal", "not_equal", "bitwise_and", "bitwise_or",
    "bitwise_xor", "logical_and", "logical_or", "logical_xor", "logaddexp", "logaddexp2", "fmax", "fmin", "gcd", "lcm",
)} | FLIPPED  # fmt: skip

# Arguments that count axes, rows or elements of the host: from 1 here, from 0 in the library.
POSITIONS = {"axis", "axis0", "axis1", "axis2", "start", "end_axis", "index", "padding_idx", "axes", "source", "destination",
             "input_axes", "other_axes", "path"}
ARGUMENTS = {"axis": "dims", "axes": "dims", "axis0": "dim1", "axis1": "dim1", "axis2": "dim2", "end_axis": "stop", "descending": "rev"}
# Per op, where the rule above does not fit.
OP_ARGUMENTS = {
    ("transpose", "axis1"): "dim2",
    ("permute_dims", "axes"): "perm",
}
# Defaults that follow Julia where the library follows Python.
DEFAULTS = {
    ("var", "correction"): "Int(corrected)", ("std", "correction"): "Int(corrected)", ("normalize", "axis"): "features_axis(input)",
    ("mean", "dtype"): "mean_type(input)",
}  # fmt: skip
# Keywords of Julia's own functions, before the argument of the library whose default they give.
EXTRA_KEYWORDS = {("var", "correction"): "corrected::Bool=true", ("std", "correction"): "corrected::Bool=true"}


def base_name(op: Op) -> str:
    name = "_" + op.name if op.name in HIDDEN else NAMES.get(op.name, op.python.name)
    return name.rstrip("_") if op.python.name.endswith("_") and name == op.python.name else name


def home(name: str) -> str:
    """`name` with its module when it is a function of Julia's own."""
    for module, names in EXTENDED.items():
        if name in names.split():
            return f"{module}.{name}"
    return name


def mutates_only(op: Op) -> bool:
    """The op is there for what it changes, but has no in-place form of its own."""
    return "inplace" not in op.forms and op.args[0].name in (*op.mutates, *op.mutates_grad)


def qualified(op: Op, bang: bool = False) -> str:
    return home(base_name(op) + ("!" if bang or mutates_only(op) else ""))


def spelled(op: Op) -> list[str]:
    """Every function that the op layer defines for an op."""
    found = [qualified(op)] if "functional" in op.forms else []
    if ("out" in op.forms and not op.returns_list) or "inplace" in op.forms:
        found.append(qualified(op, bang=True))
    return found


def exported(name: str) -> bool:
    plain = name.rstrip("!")
    hidden = {NAMES.get(n, n) for n in UNEXPORTED} | SHADOWING
    return "." not in name and not name.startswith("_") and (plain not in hidden or name.endswith("!") and plain not in SHADOWING)


def spoken(name: str) -> str:
    """A qualified name as a program that is `using Tessera, LinearAlgebra, Statistics` writes it."""
    if "." in name:
        return name.split(".")[1]
    return name if exported(name) else f"Tessera.{name}"


def is_position(op: Op, arg: Arg) -> bool:
    if arg.type.base != "int64" or arg.name not in POSITIONS or op.name in HIDDEN:
        return False
    return not (op.name in ("linspace",) and arg.name == "start")


def argument(op: Op, arg: Arg) -> str:
    if op.name in HIDDEN:
        return arg.name
    if is_position(op, arg) or arg.name == "descending":
        return OP_ARGUMENTS.get((op.name, arg.name), ARGUMENTS.get(arg.name, arg.name))
    return arg.name


def is_keyword(op: Op, arg: Arg) -> bool:
    if op.name in HIDDEN or arg.name in op.operands:  # dispatch needs operands by position
        return False
    return not arg.required or argument(op, arg) == "dims"
