# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules of learning rates, with PyTorch's names and steps: each changes "lr" of an optimizer's groups.

A scheduler is made after its optimizer and sets the rates of the first step at once; call step() after each epoch (or
batch) of training. `state_dict` has everything but the optimizer and functions.
"""

from .base import LRScheduler
from .factors import ConstantLR, ExponentialLR, LambdaLR, LinearLR, MultiplicativeLR, MultiStepLR, PolynomialLR, StepLR
from .several import ChainedScheduler, ReduceLROnPlateau, SequentialLR
from .waves import CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR

_LRScheduler = LRScheduler  # PyTorch's former name

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip
