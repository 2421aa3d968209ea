# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""DistributedSampler: each rank loads its own part of the samples."""

from __future__ import annotations

from collections.abc import Iterator

from ..._errors import InvalidValueError
from ...capi import lib, made
from .dataset import Sized
from .sampler import Sampler


class DistributedSampler(Sampler):
    """Every sample on one rank: rank r has the positions r, r + num_replicas, ... of an order that all ranks share.

    The order is random if `shuffle`, and other for each epoch that set_epoch() announces. So that all ranks have equally
    many, the first samples are repeated at the end, or with `drop_last` the last ones are left out. Without `num_replicas`
    and `rank`: those of the default process group.
    """

    def __init__(
        self, dataset: Sized, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True, seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            from ... import distributed

            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise InvalidValueError(f"rank: expected a number from 0 below {num_replicas}, got {rank}")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0

    @property
    def num_samples(self) -> int:
        """How many samples each rank has."""
        count = len(self.dataset)
        return count // self.num_replicas if self.drop_last else -(-count // self.num_replicas)

    @property
    def total_size(self) -> int:
        """How many samples all ranks have together."""
        return self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        order = int(self.seed + self.epoch) if self.shuffle else lib.tsr_none()
        positions = made(
            "tsr_tensor", lib.tsr_rank_positions, len(self.dataset), self.num_replicas, self.rank, order, self.drop_last
        )
        return iter(positions.tolist())

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Gives the next iteration another order, the same on all ranks."""
        self.epoch = epoch
