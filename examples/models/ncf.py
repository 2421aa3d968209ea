# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Neural collaborative filtering (He and others, 2017): NeuMF at the sizes of MovieLens-20M, as MLPerf trains it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Arrays, Spec

USERS, ITEMS = 138_493, 26_744  # of MovieLens-20M


def build(lib: Any, users: int = USERS, items: int = ITEMS, factors: int = 64) -> Any:
    nn = lib.nn

    class NeuMF(nn.Module):  # type: ignore[misc,name-defined]
        """A product of factors beside a perceptron."""

        def __init__(self) -> None:
            super().__init__()
            self.users, self.items = nn.Embedding(users, factors), nn.Embedding(items, factors)
            self.deep_users, self.deep_items = nn.Embedding(users, 2 * factors), nn.Embedding(items, 2 * factors)
            layers: list[Any] = []
            for inputs, outputs in ((4, 4), (4, 2), (2, 1)):
                layers += [nn.Linear(inputs * factors, outputs * factors), nn.ReLU()]
            self.deep = nn.Sequential(*layers)
            self.last = nn.Linear(2 * factors, 1)

        def forward(self, user: Any, item: Any) -> Any:
            shallow = self.users(user) * self.items(item)
            deep = self.deep(lib.cat([self.deep_users(user), self.deep_items(item)], 1))
            return self.last(lib.cat([shallow, deep], 1)).reshape(-1)

    model = NeuMF()
    for table in (model.users, model.items, model.deep_users, model.deep_items):
        nn.init.normal_(table.weight, 0.0, 0.01)
    return model


def data(random: np.random.Generator, batch: int, users: int = USERS, items: int = ITEMS, **_: int) -> Arrays:
    liked = random.integers(0, 2, batch).astype(np.float32)
    return random.integers(0, users, batch), random.integers(0, items, batch), liked


def loss(lib: Any, model: Any, user: Any, item: Any, liked: Any) -> Any:
    return lib.nn.functional.binary_cross_entropy_with_logits(model(user, item), liked)


def adam(optim: Any, parameters: Any) -> Any:
    return optim.Adam(parameters, lr=2.5e-4)


SPEC = Spec(
    "NCF", "samples", build, data, loss, adam, batch=16384, device_batch=65536,
    tiny={"users": 100, "items": 50, "factors": 8}, paper="5.4e6 ± 3.4 %",
)  # fmt: skip
