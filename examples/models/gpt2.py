# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""GPT-2 of 124 million parameters (Radford and others, "Language models are unsupervised multitask learners", 2019)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Arrays, Spec, start_normal, transformer_block

VOCABULARY, CONTEXT = 50_257, 1024


def build(
    lib: Any, vocabulary: int = VOCABULARY, length: int = CONTEXT, width: int = 768, heads: int = 12, layers: int = 12
) -> Any:
    nn = lib.nn

    class Gpt2(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(CONTEXT, width)
            self.dropout = nn.Dropout(0.1)
            self.blocks = nn.Sequential(
                *[transformer_block(lib, width, heads, True, "tanh", 1e-5, 0.1) for _ in range(layers)]
            )
            self.norm = nn.LayerNorm(width)

        def forward(self, tokens: Any) -> Any:
            x = self.tokens(tokens) + self.places(lib.arange(tokens.shape[1], device=tokens.device))
            x = self.norm(self.blocks(self.dropout(x)))
            return nn.functional.linear(x, self.tokens.weight)  # the head is the embedding

    model = start_normal(nn, Gpt2())
    for block in model.blocks:  # keeps the deviation of the sum of all blocks
        for layer in (block.join, block.deep[2]):
            nn.init.normal_(layer.weight, 0.0, 0.02 * (2 * layers) ** -0.5)
    return model


def data(random: np.random.Generator, batch: int, vocabulary: int = VOCABULARY, length: int = CONTEXT, **_: int) -> Arrays:
    tokens = random.integers(0, vocabulary, (batch, length + 1))
    return np.ascontiguousarray(tokens[:, :-1]), np.ascontiguousarray(tokens[:, 1:])


def loss(lib: Any, model: Any, tokens: Any, following: Any) -> Any:
    logits = model(tokens)
    return lib.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), following.reshape(-1))


def adamw(optim: Any, parameters: Any) -> Any:
    return optim.AdamW(parameters, lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)


SPEC = Spec(
    "GPT-2, 124M", "tokens", build, data, loss, adamw, batch=2, device_batch=8, clip=1.0,
    each=lambda length=CONTEXT, **_: length,
    sizes={"length": 256}, tiny={"vocabulary": 60, "length": 16, "width": 32, "heads": 4, "layers": 2},
)  # fmt: skip
