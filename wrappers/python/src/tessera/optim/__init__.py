# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Optimizers. The library does the arithmetic and keeps the state and its file; groups and closures are in Python."""

from . import functional, lr_scheduler
from .adafactor import Adafactor
from .kinds import ASGD, LAMB, SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Lion, Muon, NAdam, RAdam, RMSprop, Rprop
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .sharded import ZeroRedundancyOptimizer
from .sparse_adam import SparseAdam

__all__ = [
    "ASGD", "LAMB", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Lion", "Muon", "NAdam",
    "Optimizer", "RAdam", "RMSprop", "Rprop", "SparseAdam", "ZeroRedundancyOptimizer", "functional", "lr_scheduler",
]  # fmt: skip
