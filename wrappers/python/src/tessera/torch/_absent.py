# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch of which nothing is here. They can be imported, because programs do so at their beginning; each name in
them raises an error that says what is missing."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from . import _rows

_PROGRAM = "tessera.program records what a function computes"
_REASONS = {
    "ao": "there are no quantized tensors",
    "export": f"there are no graphs of modules; {_PROGRAM}",
    "fx": f"there are no graphs of modules; {_PROGRAM}",
    "library": "operators cannot be added; torch.autograd.Function has derivatives of one's own",
    "monitor": "there are no counters; torch.profiler records what a program does",
    "mtia": "there are no such devices",
    "nested": "there are no nested tensors; torch.nn.utils.rnn packs and pads sequences",
    "onnx": "there is no writer of ONNX files; torch.save writes safetensors",
    "package": "there are no packages of code; torch.save writes a state_dict()",
    "quantization": "there are no quantized tensors",
    "sparse": "there are no sparse tensors",
    "distributed.fsdp": "parameters are not divided among ranks; ZeroRedundancyOptimizer divides the states of an optimizer",
    "distributed.pipelining": "models are not divided among ranks",
    "distributed.rpc": "ranks exchange tensors and objects, not calls",
    "distributed.tensor": "there are no tensors of several ranks",
}


class Absent(ModuleType):
    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{__package__}.{name}", f"torch.{name}: {reason}.")
        self.__dict__["_names"] = (f"torch.{name}", reason)
        self.__dict__["__file__"] = reason  # the error of "from torch.x import y" shows it and nothing else of the module
        sys.modules[self.__name__] = self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        own, reason = self.__dict__["_names"]
        raise _rows.missing(f"{own}.{name}", reason)


MODULES = {name: Absent(name, reason) for name, reason in _REASONS.items() if "." not in name}
OF_DISTRIBUTED = {name.partition(".")[2]: Absent(name, reason) for name, reason in _REASONS.items() if "." in name}
