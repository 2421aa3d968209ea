# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Optimizers. The arithmetic, the state and its file are the library's; groups and closures are Python's."""

from . import functional
from .kinds import LAMB, SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Lion, Muon, NAdam, RAdam, RMSprop
from .optimizer import Optimizer

__all__ = [
    "LAMB", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Lion", "Muon", "NAdam", "Optimizer", "RAdam",
    "RMSprop", "functional",
]  # fmt: skip
