# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""One side of table1.py: a process that trains models with one library, as told on its standard input.

Requests and answers are lines of JSON. A process of its own gives each library its threads and its memory, and lets the two
come from different interpreters.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from models import MODELS  # noqa: E402
from models.common import first_losses, queued_step, set_weights, weights_of  # noqa: E402


class Side:
    def __init__(self, name: str) -> None:
        self.name, self.lib = name, importlib.import_module(name)
        self.tensors: tuple[Any, ...] = ()
        self.step: Callable[..., Any] = lambda: None
        self.model: Any = None

    def about(self, threads: int) -> dict[str, Any]:
        """Version, and whether a CUDA device is there."""
        self.lib.set_num_threads(threads)
        if self.name == "torch":
            self.lib.backends.cuda.matmul.allow_tf32 = self.lib.backends.cudnn.allow_tf32 = False
            cuda = self.lib.cuda.is_available()
        else:
            cuda = importlib.import_module("tessera.torch").cuda.is_available()
        return {"version": self.lib.__version__, "cuda": bool(cuda)}

    def wait(self, loss: Any) -> None:
        loss.item()  # which is computed last but for the optimizer's step
        if self.device != "cpu":
            library = self.lib if self.name == "torch" else importlib.import_module("tessera.torch")
            library.cuda.synchronize()

    def prepare(
        self, model: str, batch: int, sizes: dict[str, int], device: str, weights: str, write: bool, steps: int
    ) -> dict[str, Any]:
        """Builds the model and returns its first losses, each with a batch of its own. The weights come from the file, or go
        there."""
        lib, spec, self.device = self.lib, MODELS[model], device
        lib.manual_seed(0)
        self.model = spec.build(lib, **sizes)
        if write:
            np.savez(weights, **weights_of(self.model))
        else:
            with np.load(weights) as stored:
                set_weights(lib, self.model, dict(stored))
        if device != "cpu":
            self.model = self.model.to(device)
        random = np.random.default_rng(0)
        arrays = [spec.data(random, batch, **sizes) for _ in range(steps)]
        batches = [tuple(lib.from_numpy(array).to(device) for array in part) for part in arrays]
        losses = first_losses(lib, spec, self.model, batches)
        self.tensors, self.step = batches[0], queued_step(lib, spec, self.model)
        self.wait(self.step(*self.tensors))
        return {"losses": losses, "parameters": sum(int(np.prod(p.shape)) for p in self.model.parameters())}

    def run(self, steps: int) -> dict[str, Any]:
        """The seconds of so many steps, and the seconds of processor time."""
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(steps):
            loss = self.step(*self.tensors)
        self.wait(loss)
        return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}

    def drop(self) -> dict[str, Any]:
        self.model, self.tensors, self.step = None, (), lambda: None
        return {}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not be taken for an answer
    side = Side(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(side, request.pop("do"))(**request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
