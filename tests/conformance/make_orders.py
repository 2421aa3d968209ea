# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes orders.txt, the orders in which the loaders of every language give shuffled samples.

    .venv/bin/python tests/conformance/make_orders.py
"""

from __future__ import annotations

from pathlib import Path

import tessera as ts
from tessera.utils.data import DataLoader, TensorDataset

CASES = [(0, 1, 1), (0, 10, 3), (1, 10, 4), (7, 31, 8), (12345678901234567, 16, 16), (2**63 - 1, 100, 7)]
PASSES = 2


def main() -> None:
    lines = ["# seed, number of samples, batch size, pass, then the samples in order: see make_orders.py."]
    for seed, count, size in CASES:
        loader = DataLoader(TensorDataset(ts.arange(count)), size, shuffle=True, generator=ts.Generator(seed))
        for number in range(PASSES):
            order = [sample for batch in loader for sample in batch[0].tolist()]
            assert sorted(order) == list(range(count))
            lines.append(" ".join(map(str, (seed, count, size, number, *order))))
    (Path(__file__).parent / "orders.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
