# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/guide/torch_coverage.md: which public names of PyTorch tessera.torch has.

Usage: torch_coverage.py [--check]        (with the package built)
       PYTHON-WITH-TORCH torch_coverage.py --names > names.json    for a newer list of names: see names()
"""

from __future__ import annotations

import importlib
import json
import sys
import textwrap
import types
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parents[2] / "docs" / "guide" / "torch_coverage.md"

# Names of PyTorch that belong to a part which the library does not have: for them the table only gives a count.
OUTSIDE = {
    "quantization": ("quantize", "qint", "quint", "q_", "fake_quant", "int_repr", "dequantize", "choose_qparams", "fbgemm"),
    "sparse tensors": (
        "sparse", "coalesce", "indices", "ccol", "crow", "col_ind", "row_ind", "to_dense", "smm", "spmm", "hspmm", "dsmm", "hsmm",
    ),
    "compiler, scripts, dispatch": (
        "Script", "Type", "Graph", "sym_", "Sym", "Dispatch", "Benchmark", "Pickle", "PyTorchFile", "import_ir", "parse_", "Capsule",
        "Storage", "storage", "autocast", "AliasDb", "Argument", "Await", "Block", "Future", "Lite", "Object", "Serializ", "Tag", "Use",
        "_copy", "vmap", "Stream", "Event", "Error", "Exception", "Node", "Value", "CallStack", "Code", "Compilation", "Concrete",
        "FileCheck", "Function", "IODescriptor", "Inferred", "Logger", "Module", "Operator", "Static", "Throughput", "Tracing",
        "Execution", "Deep", "Aggregation", "Disable", "Exclude", "Gradient", "fork", "wait", "merge_type", "unify_type", "is_vulkan",
        "Dict", "AVG", "SUM", "native_", "cudnn", "miopen", "mkldnn", "IterDataPipe", "MapDataPipe", "datapipe", "DataChunk", "DFIter",
        "xpu", "ipu", "mtia", "maia", "mps", "xla", "vulkan", "bits", "float8", "float4", "uint1", "uint2", "uint3", "uint4",
        "uint5", "uint6", "uint7", "int1", "int2", "int3", "int4", "int5", "int6", "int7", "bcomplex", "complex32", "chalf",
        "warn_always", "anomaly", "validation", "determinis", "Lazy", "Uninitialized", "functional_", "batch_norm_",
    ),
}  # fmt: skip


def names() -> dict[str, list[str]]:
    """The public names of the PyTorch that runs this, without modules."""
    torch: Any = importlib.import_module("torch")
    parts = (
        "nn nn.functional optim optim.lr_scheduler nn.init nn.utils nn.utils.rnn linalg fft special masked distributions "
        "utils.data autograd random"
    )
    found = {"torch": torch, "Tensor": torch.Tensor}
    found.update({part: importlib.import_module(f"torch.{part}") for part in parts.split()})
    return {
        part: [n for n in dir(owner) if not n.startswith("_") and not isinstance(getattr(owner, n, None), types.ModuleType)]
        for part, owner in found.items()
    }


def reason(name: str) -> str | None:
    """The part of PyTorch outside of the library's purpose that a name belongs to."""
    return next((part for part, marks in OUTSIDE.items() if any(mark in name for mark in marks)), None)


def table() -> str:
    from tessera.torch._names import NAMES

    rows, lists = [], []
    for part, wanted in NAMES.items():
        owner = importlib.import_module("tessera.torch" if part in ("torch", "Tensor") else f"tessera.torch.{part}")
        owner = owner.Tensor if part == "Tensor" else owner
        here = [name for name in wanted if hasattr(owner, name)]
        outside = [name for name in wanted if name not in here and reason(name)]
        lacking = [name for name in wanted if name not in here and not reason(name)]
        title = "torch" if part == "torch" else f"torch.{part}"
        counted = len(wanted) - len(outside)
        rows.append(f"| `{title}` | {len(here)} | {len(lacking)} | {len(here) / counted:.0%} | {len(outside)} |")
        if lacking:
            text = textwrap.fill(" ".join(f"`{name}`" for name in lacking), 118, break_on_hyphens=False)
            lists.append(f"### {title}\n\n{text}\n")
    head = """<!-- SPDX-FileCopyrightText: 2026 The Tessera Authors -->
<!-- SPDX-License-Identifier: Apache-2.0 -->

# What tessera.torch has of PyTorch

Written by `wrappers/python/torch_coverage.py`; do not edit. The list of names is that of PyTorch 2.15
(`wrappers/python/src/tessera/torch/_names.py`). "Outside" are names of parts that the library does not have: quantization,
sparse tensors, the compiler and its types, storages, other devices, names that are private in spirit. [The
guide](torch.md) says how the names that are here differ.

| module | here | lacking | here of those inside | outside |
|---|---|---|---|---|
"""
    return head + "\n".join(rows) + "\n\n## Lacking\n\n" + "\n".join(lists)


def main() -> None:
    if "--names" in sys.argv:
        json.dump(names(), sys.stdout, indent=1)
        return
    text = table()
    if "--check" in sys.argv:
        if TARGET.read_text() != text:
            raise SystemExit(f"{TARGET} is not up to date: run wrappers/python/torch_coverage.py")
        return
    TARGET.write_text(text)


if __name__ == "__main__":
    main()
