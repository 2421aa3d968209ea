# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of optimizers.yaml, compared with the struct and the enumeration of optim.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import]

# Options that are one pair in Python and Julia.
PAIRS = {
    "betas": ("beta1", "beta2"),
    "etas": ("etaminus", "etaplus"),
    "step_sizes": ("step_size_min", "step_size_max"),
}
FILE = Path(__file__).resolve().parents[2] / "schema" / "optimizers.yaml"


@dataclass(frozen=True)
class Option:
    name: str
    default: float | int | bool

    @property
    def is_flag(self) -> bool:
        return isinstance(self.default, bool)

    @property
    def is_count(self) -> bool:
        return not isinstance(self.default, (bool, float))

    @property
    def ctype(self) -> str:
        """The type of the field in tsr_optimizer_options."""
        return "double" if isinstance(self.default, float) else "int32_t"

    def type(self, flag: str, count: str, number: str) -> str:
        """One of three types of a language."""
        return flag if self.is_flag else count if self.is_count else number

    @property
    def literal(self) -> str:
        """The default in C++, Rust and Julia."""
        return repr(self.default).lower()


@dataclass(frozen=True)
class Optimizer:
    name: str
    kind: str  # without the prefix TSR_OPTIMIZER_
    doc: str
    options: tuple[Option, ...]
    keyword: str  # Python: the first option that is given by name only


def with_pairs(row: Optimizer) -> list[str]:
    """The names of a row's options, with a pair in the place of its first part."""
    first = {parts[0]: pair for pair, parts in PAIRS.items()}
    second = {parts[1] for parts in PAIRS.values()}
    return [first.get(o.name, o.name) for o in row.options if o.name not in second]


def read(schema: Any) -> tuple[Optimizer, ...]:
    """All rows; a mistake in them is an AssertionError that says which."""
    rows = tuple(_row(row) for row in yaml.safe_load(FILE.read_text("utf-8"))["optimizers"])
    (struct,) = (s for s in schema.structs if s.name == "tsr_optimizer_options")
    (kinds,) = (e for e in schema.enums if e.name == "tsr_optimizer_kind")
    fields = {f.name: f.ctype for f in struct.fields}
    docs = {c.name.removeprefix("TSR_OPTIMIZER_"): c.doc for c in kinds.constants}
    assert [r.kind for r in rows] == list(docs), f"{FILE.name}: expected the kinds {', '.join(docs)}"
    for row in rows:
        for option in row.options:
            where = f"{FILE.name}: {row.name}: {option.name}"
            assert fields.get(option.name) == option.ctype, f"{where} is no {option.ctype} of tsr_optimizer_options"
            assert option.name in docs[row.kind], f"{where} is not named by the constant {row.kind} in optim.yaml"
    return rows


def _row(row: dict[str, Any]) -> Optimizer:
    options = tuple(Option(name, default) for name, default in row["options"].items())
    known = {"name", "kind", "doc", "options", "keyword"}
    assert row.keys() <= known, f"{FILE.name}: {row['name']}: unknown key {', '.join(row.keys() - known)}"
    return Optimizer(row["name"], row["kind"], row["doc"], options, row.get("keyword", "maximize"))
