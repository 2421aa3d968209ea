#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds names of ops_first.txt that the schema lacks, or that have no case for some form or no gradient.

Usage: check_ops_first.py [--strict]     (--strict: exit 1 if there is a gap)
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "capi"))

from generator.cases import matching  # noqa: E402
from generator.schema import load  # noqa: E402

# Names of the list that are covered by several rows, or by functions that are not operators.
SERVED_BY = {
    "item": ["tsr_tensor_item"],
    "tolist": ["tsr_tensor_read"],
    "asarray": ["tsr_tensor_from_data"],
}


def rows_by_name(schema):
    """All names of a row: its own, its Python name, method and aliases."""
    found = {}
    for op in schema.ops:
        names = [op.name, op.python.name, op.python.method, *op.python.aliases]
        if op.forms == ("inplace",) or "inplace" in op.forms:
            names.append(op.name + "_")
        for name in filter(None, names):
            found.setdefault(name, []).append(op)
            found.setdefault(name.rstrip("_") + "_", []).append(op)
    return found


def lacks_gradient(op):
    """Whether a row with a floating input and result has no case to differentiate and does not say why."""
    if not op.gradient or any(
        matching.gradient_case(op, form) for form in ("functional", "inplace")
    ):
        return False
    floating = {"f32", "f64"}
    values = [v for c in op.cases for v in (*c.args.values(), *c.returns, *c.after.values())]
    takes = any(a.type.base == "tensor" for a in op.args)
    return (
        takes
        and any(v.dtype in floating for value in values for v in matching.literals_in(value))
        and not all(
            r.dtype not in floating
            for c in op.cases
            for value in c.returns
            for r in matching.literals_in(value)
        )
    )


def main():
    schema = load(ROOT / "capi" / "schema")
    rows = rows_by_name(schema)
    exported = {f.name for f in schema.c_functions}
    uncovered = set(matching.uncovered(schema))
    missing, thin, flat = [], [], []
    for name in (ROOT / "tests" / "capi" / "ops_first.txt").read_text().split():
        if name in SERVED_BY and set(SERVED_BY[name]) <= exported:
            continue
        ops = rows.get(name, [])
        if not ops:
            missing.append(name)
        flat += [op.name for op in ops if lacks_gradient(op)]
        thin += [f.name for op in ops for f in op.functions if f.name in uncovered]
    print(f"missing ({len(missing)}): {' '.join(missing)}")
    print(f"without a case ({len(set(thin))}): {' '.join(sorted(set(thin)))}")
    print(f"without a gradient case ({len(set(flat))}): {' '.join(sorted(set(flat)))}")
    return 1 if "--strict" in sys.argv and (missing or thin or flat) else 0


if __name__ == "__main__":
    sys.exit(main())
