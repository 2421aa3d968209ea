# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training of a small GPT (row P18): accumulated gradients, layers that some ranks leave out, tied weights."""

from __future__ import annotations

from typing import Any

import pytest

import tessera as ts
import tessera.nn.functional as F
from tessera import nn, optim
from tessera.nn.parallel import DistributedDataParallel
from tessera.utils.data import DataLoader, DistributedSampler, TensorDataset

from test_data_parallel import _build, on_ranks

WORDS, WIDTH, LENGTH, STEPS = 13, 16, 6, 4


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.other_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        rows = x.shape[0]
        q, k, v = (
            part.reshape((rows, LENGTH, 2, WIDTH // 2)).swapaxes(1, 2)
            for part in ts.split(self.qkv(self.norm(x)), WIDTH, axis=-1)
        )
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.swapaxes(1, 2).reshape((rows, LENGTH, WIDTH)))
        return x + self.narrow(F.gelu(self.wide(self.other_norm(x))))


class Gpt(nn.Module):
    """Its output layer is the embedding; `left_out` is the number of a block that a forward leaves out."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        with _build:
            ts.manual_seed(seed)
            self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
            self.blocks = nn.ModuleList([Block() for _ in range(2)])
            self.norm = nn.LayerNorm(WIDTH)

    def forward(self, words: ts.Tensor, left_out: int = -1) -> ts.Tensor:
        x = self.words(words) + self.places(ts.arange(LENGTH))
        for number, block in enumerate(self.blocks):
            if number != left_out:
                x = block(x)
        return F.linear(self.norm(x), self.words.weight)


def texts(step: int, part: int) -> ts.Tensor:
    """Two texts of each step and part."""
    return ts.randint(0, WORDS, (2, LENGTH + 1), generator=ts.Generator(100 * step + part))


def loss_of(model: Any, words: ts.Tensor, left_out: int = -1) -> ts.Tensor:
    logits = model(words[:, :-1], left_out)
    return F.cross_entropy(logits.reshape((-1, WORDS)), words[:, 1:].reshape((-1,)))


def left_out(step: int, part: int) -> int:
    """Of the four parts of a step some leave a block out; in step 2 all leave out block 1."""
    return 1 if step == 2 else (part + step) % 3 - 1


def weights(model: nn.Module) -> list[ts.Tensor]:
    return [p.detach().clone() for p in model.parameters()]


def trained_alone(leaves_out: bool) -> list[ts.Tensor]:
    model = Gpt(0)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(STEPS):
        optimizer.zero_grad()
        for part in range(4):
            (loss_of(model, texts(step, part), left_out(step, part) if leaves_out else -1) / 4).backward()
        optimizer.step()
    return weights(model)


@pytest.mark.parametrize("views", [False, True], ids=["copies", "views"])
@pytest.mark.parametrize("leaves_out", [False, True], ids=["all", "find_unused"])
def test_p18_accumulated_gradients_of_a_gpt_equal_those_of_one_process(leaves_out: bool, views: bool) -> None:
    """[P18] Two ranks, each with two parts of a batch per step, of which only the second backward is synchronized."""
    alone = trained_alone(leaves_out)

    def body(rank: int) -> list[ts.Tensor]:
        model = DistributedDataParallel(
            Gpt(rank), find_unused_parameters=leaves_out, gradient_as_bucket_view=views, bucket_cap_mb=0.005
        )
        optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for step in range(STEPS):
            optimizer.zero_grad()
            for micro in range(2):
                part = 2 * rank + micro
                number = left_out(step, part) if leaves_out else -1
                if micro == 0:
                    with model.no_sync():
                        (loss_of(model, texts(step, part), number) / 2).backward()
                else:
                    (loss_of(model, texts(step, part), number) / 2).backward()
            if leaves_out and step == 2:
                assert all(p.grad is None for p in model.module.blocks[1].parameters())
            optimizer.step()
        return weights(model.module)

    for found in on_ranks(2, body):
        for got, wanted in zip(found, alone):
            assert ts.allclose(got, wanted, rtol=1e-4, atol=2e-6)


def test_p18_ranks_load_parts_that_are_the_whole_epoch() -> None:
    """[P18]"""
    data = TensorDataset(ts.arange(10))

    def body(rank: int) -> list[list[int]]:
        sampler = DistributedSampler(data, num_replicas=2, rank=rank, seed=3)
        epochs = []
        for epoch in range(2):
            sampler.set_epoch(epoch)
            epochs.append([int(i) for (rows,) in DataLoader(data, batch_size=2, sampler=sampler) for i in rows.tolist()])
        return epochs

    first, second = on_ranks(2, body)
    assert sorted(first[0] + second[0]) == sorted(first[1] + second[1]) == list(range(10))
    assert first[0] != first[1]


def test_p18_every_language_deals_samples_in_this_order() -> None:
    """[P18]"""
    order = [[0, 7, 8], [2, 4, 5], [6, 1, 3]]
    for rank in range(3):
        sampler = DistributedSampler(range(9), num_replicas=3, rank=rank, seed=4)
        sampler.set_epoch(1)
        assert list(sampler) == order[rank]
