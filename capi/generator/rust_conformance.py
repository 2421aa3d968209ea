# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The conformance calls as tests of the Rust crate, one function each."""

from __future__ import annotations

import math
import re
from typing import Any

from .model import Constant, DType, Schema
from .replay import Given, Replay, Stored, replays
from .rust_model import is_free, operands, optional, receiver, rust_name
from .rust_text import call, camel
from .text import banner

FILE = "wrappers/rust/tessera/tests/generated/conformance.rs"
PAD = "    "


def outputs(schema: Schema) -> dict[str, str]:
    text = banner("//", "The calls of tests/conformance.")
    text += "use super::{backward, close, complex_copy, copy, leaf, same, same_gradient};\n"
    tests = "".join(_test(replay) for replay in replays(schema))
    used = [n for n in ("DType", "Device", "Result", "Scalar", "Tensor") if re.search(rf"\b{n}\b", tests)]
    return {FILE: f"{text}use tessera::{{{', '.join(used)}}};\n{tests}"}


def _test(replay: Replay) -> str:
    lines = [line for given in replay.args for line in _prepared(replay, given)]
    lines.append(_called(replay))
    for name, expected in replay.results.items():
        if isinstance(expected, tuple):
            lines.append(f"{PAD}assert_eq!({name}.len(), {len(expected)});")
    for name, expected in {**replay.results, **replay.after}.items():
        variable = _changed(replay, name) if name in replay.after else name
        lines += [_compared(replay, v, s) for v, s in _items(variable, expected)]
    if replay.gradient is not None:
        lines += _differentiated(replay)
    body = "\n".join(lines)
    return f"\n#[test]\nfn {replay.name}() -> Result<()> {{\n{body}\n    Ok(())\n}}\n"


def _differentiated(replay: Replay) -> list[str]:
    assert replay.gradient is not None
    roots, weights = [], []
    for name, stored in replay.gradient.weights.items():
        variable = _changed(replay, name) if name in replay.after else name
        roots += [f"&{v}" for v, _ in _items(variable, stored)]
        weights += [_text(s.key) for _, s in _items(variable, stored)]
    lines = [f"{PAD}backward(&[{', '.join(roots)}], &[{', '.join(weights)}])?;"]
    for name, stored in replay.gradient.grads.items():
        lines += [f"{PAD}same_gradient(&{v}, {_text(s.key)})?;" for v, s in _items(name, stored)]
    return lines


# ---- Tensors ----


def _items(name: str, stored: Any) -> list[tuple[str, Stored]]:
    """The variable of each stored tensor."""
    if isinstance(stored, tuple):
        return [(f"{name}[{i}]", s) for i, s in enumerate(stored) if s is not None]
    return [(name, stored)]


def _changed(replay: Replay, name: str) -> str:
    """The variable that the op writes to: a leaf itself must not change."""
    return "changed" if replay.is_leaf(name) else name


def _prepared(replay: Replay, given: Given) -> list[str]:
    name, value = given.arg.name, given.value
    is_leaf = replay.is_leaf(name)
    make = "leaf" if is_leaf else "copy"
    if isinstance(value, Stored):
        lines = [f"{PAD}let {name} = {_taken(make, value)};"]
    elif isinstance(value, tuple) and given.arg.type.is_tensor_list:
        if given.arg.type.holes:
            parts = ["None" if s is None else f"Some({_taken(make, s)})" for s in value]
        else:
            parts = [_taken(make, s) for s in value if s is not None]
        kind = "" if parts else ": [Tensor; 0]"
        lines = [call(f"let {name}{kind} = ", parts, ";", PAD, "[]")]
    else:
        return []
    if given.changes and is_leaf:
        lines.append(f"{PAD}let changed = {name}.deep_clone()?;")
    return lines


def _taken(make: str, stored: Stored) -> str:
    return f"{'complex_copy' if stored.pairs else make}({_text(stored.key)})?"


# ---- The call ----


def _called(replay: Replay) -> str:
    op, form = replay.op, replay.function.form
    names = list(replay.results)
    target = "" if not names else f"let {names[0] if len(names) == 1 else '(' + ', '.join(names) + ')'} = "
    values = {g.arg.name: g for g in replay.args}
    own = receiver(op)
    left = own is not None and values[own.name].arg.type.base == "scalar"
    subject = op.args[1] if left else own
    parts = [_argument(replay, g) for g in replay.args if (g.arg.name != getattr(subject, "name", "")) and _positional(replay, g)]
    stated = [g for g in replay.args if g.stated and g.value is not None and not _positional(replay, g)]
    method = rust_name(op) + ("_left" if left else "_" if form == "inplace" else "_with" if stated else "")
    if stated or (form == "inplace" and optional(op)):
        setters = "".join(f".{g.arg.name}({_argument(replay, g)})" for g in stated)
        parts.append(f"|o| o{setters}")
    if is_free(op):
        head = f"tessera::ops::{method}"
    elif subject is None:
        head = f"Tensor::{method}"
    else:
        head = f"{_changed(replay, subject.name) if values[subject.name].changes else subject.name}.{method}"
    return call(target + head, parts, "?;", PAD)


def _positional(replay: Replay, given: Given) -> bool:
    return replay.op.arg(given.arg.name).required


def _argument(replay: Replay, given: Given) -> str:
    value, name, kind = given.value, given.arg.name, given.arg.type
    if isinstance(value, Stored):
        return f"&{_changed(replay, name) if given.changes else name}"
    if kind.is_tensor_list:
        if not given.arg.type.holes:
            return f"&{name}"
        return "&[" + ", ".join(f"{name}[{i}].as_ref()" for i in range(len(value))) + "]"
    if kind.is_list:
        return "&[" + ", ".join(map(_number, value)) + "]"
    if kind.base == "int64" and kind.optional and value is None:
        return "None"
    if kind.base == "int64":
        return _number(value)
    if kind.base == "scalar" or name in operands(replay.op):
        return _scalar(value)
    if isinstance(value, DType):
        return f"DType::{camel(value.short)}"
    if isinstance(value, Constant):
        return str(value.value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "Device::CPU" if isinstance(value, tuple) else _text(value) if isinstance(value, str) else _number(value)


def _scalar(value: Any) -> str:
    if isinstance(value, complex):
        return f"Scalar::C128({_number(value.real)}, {_number(value.imag)})"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{_number(value)}i64" if isinstance(value, int) else _number(value)


def _number(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "f64::NAN" if math.isnan(value) else "f64::INFINITY" if value > 0 else "f64::NEG_INFINITY"
    return "i64::MIN" if value == -(2**63) else repr(value)


def _text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _compared(replay: Replay, variable: str, stored: Stored) -> str:
    key = _text(stored.key)
    if replay.rtol is None and replay.atol is None:
        return f"{PAD}same(&{variable}, {key})?;"
    rtol, atol = replay.tolerance(stored)
    return f"{PAD}close(&{variable}, {key}, {rtol!r}, {atol!r})?;"
