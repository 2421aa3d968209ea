# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Data sets, and loading their samples in batches."""

from .collate import default_collate
from .dataset import ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, random_split
from .loader import DataLoader
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler
from .workers import WorkerError, WorkerInfo, get_worker_info

__all__ = [
    "BatchSampler",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Subset",
    "TensorDataset",
    "WorkerError",
    "WorkerInfo",
    "default_collate",
    "get_worker_info",
    "random_split",
]
