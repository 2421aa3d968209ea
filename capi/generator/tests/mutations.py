# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Bad arguments made from a good call: what must be refused, and what must at least be survived."""

from __future__ import annotations

from typing import Any

from ..schema.model import Arg

BAD = "TSR_INVALID_ARGUMENT"
ANY = "kAnyError"  # some typed error, whichever
NUMBERS = ("TSR_TRUTH(1)", "TSR_I64(INT64_MIN)", "TSR_F64(kNan)", "TSR_C128(kNan, kInf)")
Spoiled = list[tuple[list[str], "str | None"]]  # expressions of one argument with the status they give; None: any


def refused_calls(call: Any, extremes: bool = True) -> list[str]:
    """One statement for each way to spoil `call`; every other argument stays good."""
    lines = []
    for arg in call.function.args:
        for parts, expected in _spoil(call, arg, extremes and arg.fuzz):
            text = call.text(call.values | {arg.name: parts})
            check = f"survives({text});" if expected is None else f"refused({text}, {expected});"
            lines.append(check)
    return lines


def _spoil(call: Any, arg: Arg, extremes: bool) -> Spoiled:
    kind, good = arg.type, call.values[arg.name]
    if kind.base == "struct" and kind.is_list:
        return [(["nullptr", "2"], BAD), ([good[0], "-7"], BAD)]
    if kind.base == "struct":
        struct = f"tsr_{kind.name}"
        return [(["nullptr"], BAD), *(([f"f.sized<{struct}>({n})"], "TSR_ABI") for n in ("0", "3", "UINT32_MAX"))]
    if kind.direction == "inout":
        return []  # a variable of the caller's, which may be absent
    if kind.direction == "out":
        return _spoil_out(arg, good)
    if kind.is_list:
        return _spoil_list(arg, good, extremes)
    return _spoil_value(arg, good, extremes)


def _spoil_out(arg: Arg, good: list[str]) -> Spoiled:
    if arg.type.is_tensor_list and not arg.count_of:
        return [
            (["nullptr", "3", good[2]], BAD),
            ([good[0], "-1", good[2]], BAD),
            ([good[0], good[1], "nullptr"], BAD),
            ([good[0], "0", good[2]], None),
        ]
    if arg.type.is_tensor_list:
        return []
    return [([*good[:i], "nullptr", *good[i + 1 :]], BAD) for i in range(len(good))]


def _spoil_list(arg: Arg, good: list[str], extremes: bool) -> Spoiled:
    no_handles = f"kNoHandles<tsr_{arg.type.name}>"
    some = {"int64": "kInts", "f64": "kDoubles", "handle": no_handles}.get(arg.type.base, "kNulls")
    found: Spoiled = [(["nullptr", "2"], BAD), ([some, "-7"], BAD), ([some, "INT32_MAX"], BAD)]
    if arg.type.base == "tensor" and not arg.type.holes:
        found.append((["kNulls", "1"], BAD))
    if arg.type.base == "tensor":
        found.append((["wrong_kinds()", "1"], BAD))
    if arg.type.base == "handle":
        found.append(([no_handles, "1"], BAD))
    if arg.type.base == "int64" and extremes:
        shape = ANY if arg.name == "shape" else None
        found += [
            (["kHuge", "2"], shape),
            (["kNegative", "1"], shape),
            (["kLowest", "1"], shape),
            (["kMany", "70"], None),
        ]
    return found


def _spoiled_numbers(extremes: bool) -> Spoiled:
    """Structs that are no number, and extremes of all kinds."""
    found: Spoiled = [([f"kNoNumbers + {i}"], BAD) for i in range(4)]
    return found + [([text], None) for text in NUMBERS if extremes]


def _spoil_value(arg: Arg, good: list[str], extremes: bool) -> Spoiled:
    kind = arg.type
    absent: Spoiled = [] if kind.optional else [(["nullptr"], BAD)]
    if kind.base == "tensor":
        changed: Spoiled = [([f"{as_other}({good[0]})"], None) for as_other in ("as_complex", "as_bool")]
        return [*absent, (["wrong_kind()"], BAD), *(changed if good != ["nullptr"] else [])]
    if kind.base in ("handle", "generator"):
        return [*absent, ([f"wrong_kind<tsr_{kind.name or 'generator'}>()"], BAD)]
    if kind.base == "fn":
        return [] if kind.optional else [(["nullptr", *good[1:]], BAD)]
    if kind.base == "extern" or (kind.base == "ptr" and not kind.optional):
        return [(["nullptr"], BAD)]
    if kind.base == "scalar":
        return [*absent, *_spoiled_numbers(extremes)]
    table: dict[str, Spoiled] = {
        "bool": [(["2"], BAD), (["-5"], BAD)],
        "enum": [(["12345"], ANY), (["-77"], ANY)],
        "dtype": [(["12345"], "TSR_DTYPE"), (["INT32_MIN"], "TSR_DTYPE")],
        "device": [
            (["99", "0"], "TSR_DEVICE"),
            (["TSR_DEVICE_CPU", "77"], "TSR_DEVICE"),
            (["TSR_DEVICE_CPU", "-9"], "TSR_DEVICE"),
        ],
        "str": [
            (["nullptr", "5"], BAD),
            (['"x"', "-5"], BAD),
            (['"x"', "INT64_MAX"], BAD),
            (['"no such word"', "-1"], None),
        ],
        "int32": [(["1 << 30"], BAD)] if arg.name == "flags" else [],
        "int64": [([v], None) for v in ("INT64_MAX", "INT64_MIN", "-1")] if extremes else [],
        "f64": [([v, *good[1:]], None) for v in ("kNan", "kInf", "-1.0")] if extremes else [],
        "status": [(["-3"], ANY), (["0"], ANY), (["999"], ANY)],
    }
    return table.get(kind.base, [])
