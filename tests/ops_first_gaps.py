#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of ops_first.txt that the schema lacks, or has without a case of each form it offers.

Usage: ops_first_gaps.py [--strict]     (--strict: exit 1 when there is a gap)
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "capi"))

from generator import model, tests  # noqa: E402

# Names of the list that several rows, or functions outside ops, serve.
SERVED_BY = {
    "item": ["tsr_tensor_item_f64", "tsr_tensor_item_i64", "tsr_tensor_item_c128"],
    "tolist": ["tsr_tensor_read"],
    "asarray": ["tsr_tensor_from_data"],
}


def rows_by_name(schema):
    """Every name a row is known under: its own, its Python name, method and aliases."""
    found = {}
    for op in schema.ops:
        names = [op.name, op.python.name, op.python.method, *op.python.aliases]
        if op.forms == ("inplace",) or "inplace" in op.forms:
            names.append(op.name + "_")
        for name in filter(None, names):
            found.setdefault(name, []).append(op)
            found.setdefault(name.rstrip("_") + "_", []).append(op)
    return found


def main():
    schema = model.load(ROOT / "capi" / "schema")
    rows = rows_by_name(schema)
    exported = {f.name for f in schema.c_functions}
    uncovered = set(tests.uncovered(schema))
    missing, thin = [], []
    for name in (ROOT / "tests" / "ops_first.txt").read_text().split():
        if name in SERVED_BY and set(SERVED_BY[name]) <= exported:
            continue
        ops = rows.get(name, [])
        if not ops:
            missing.append(name)
        thin += [f.name for op in ops for f in op.functions if f.name in uncovered]
    print(f"missing ({len(missing)}): {' '.join(missing)}")
    print(f"without a case ({len(set(thin))}): {' '.join(sorted(set(thin)))}")
    return 1 if "--strict" in sys.argv and (missing or thin) else 0


if __name__ == "__main__":
    sys.exit(main())
