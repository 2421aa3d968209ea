# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""schema.json: the schema as it crosses the ABI."""

from __future__ import annotations

import json
from typing import Any

from ..schema.model import Arg, CFunction, Op, Schema
from ..schema.types import SCALAR_KINDS


def canonical(schema: Schema) -> dict[str, Any]:
    """The schema as it crosses the ABI: what a language needs to bind itself."""
    return {
        "tessera_schema": 1,
        "functions": [_json_function(f) for f in schema.c_functions],
        "ops": {
            op.name: {
                "id": op.id,
                "since": op.since,
                "doc": op.doc,
                "args": [_json_arg(a) for a in op.args],
                "number_kinds": _number_kinds(op),
                "returns": [_json_arg(a) for a in op.returns],
                "alias": op.alias,
                "mutates": list(op.mutates),
                "mutates_grad": list(op.mutates_grad),
                "autocast": schema.autocast.get(op.name),
                "autocast_cpu": schema.autocast_cpu.get(op.name),
                "python": op.python.name or None,
            }
            for op in schema.ops
        },
        "structs": {
            s.name: {"size": s.size, "fields": [[f.name, f.ctype, f.offset] for f in s.fields]} for s in schema.structs
        },
        "constants": {c.name: c.value for e in schema.enums for c in e.constants}
        | {t.constant: t.value for t in schema.dtypes},
        "callbacks": {c.name: [c.returns, [[p.ctype, p.name] for p in c.params]] for c in schema.callbacks},
        "handles": [f"tsr_{h.name}" for h in schema.handles],
        "status": {c.name: c.value for c in schema.status.constants},
    }


def _number_kinds(op: Op) -> list[str]:
    """The constants of tsr_number_kind that the op takes; none where no function of it takes a number."""
    return [f"TSR_NUMBER_{SCALAR_KINDS[k]}" for k in op.scalar_kinds if any(f.numbers for f in op.functions)]


def canonical_text(schema: Schema) -> str:
    return json.dumps(canonical(schema), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _json_arg(arg: Arg) -> dict[str, Any]:
    row: dict[str, Any] = {"name": arg.name, "type": arg.type.text}
    return row if arg.required else row | {"default": arg.default}


def _json_function(function: CFunction) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": function.name,
        "id": function.id,
        "since": function.since,
        "returns": function.returns,
        "params": [[p.ctype, p.name] for p in function.params],
    }
    if function.op is not None:
        return row | {"op": function.op.name, "form": function.form, "numbers": list(function.numbers)}
    assert function.function is not None
    extra = function.function
    return row | {"doc": extra.doc, "blocking": extra.blocking, "finalizer_safe": extra.finalizer_safe}
