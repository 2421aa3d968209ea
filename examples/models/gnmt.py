# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""GNMTv2 (Wu and others, "Google's neural machine translation system", 2016, in MLPerf's second form).

Four layers encode, of which the first reads in both directions, and four decode; the first decoding layer attends
(Bahdanau, normalised), and its context enters all later ones. Both languages have one vocabulary and one embedding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Arrays, Spec

VOCABULARY, LENGTH = 32_320, 25  # pieces of words; of a sentence, near the mean of WMT16's
PADDING = 0
SMOOTHING = 0.1


def build(
    lib: Any, vocabulary: int = VOCABULARY, hidden: int = 1024, layers: int = 4, length: int = LENGTH, percent: int = 20
) -> Any:
    """`percent` is the share of numbers that dropout clears."""
    nn = lib.nn

    class Attention(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.query, self.key = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, hidden, bias=False)
            self.direction, self.shift = nn.Parameter(lib.empty(hidden)), nn.Parameter(lib.zeros(hidden))
            self.scale = nn.Parameter(lib.full((1,), hidden**-0.5))
            nn.init.uniform_(self.direction, -0.1, 0.1)

        def forward(self, queries: Any, memory: Any, hidden_pieces: Any) -> Any:
            """queries (target, batch, hidden), memory (source, batch, hidden) -> contexts like the queries."""
            q = self.query(queries).transpose(0, 1).unsqueeze(2)
            k = self.key(memory).transpose(0, 1).unsqueeze(1)
            direction = self.direction * (self.scale / (self.direction * self.direction).sum().sqrt())
            scores = lib.tanh(q + k + self.shift).matmul(direction)
            scores = scores.masked_fill(hidden_pieces.unsqueeze(1), -65504.0)
            weights = nn.functional.softmax(scores, -1)
            return weights.matmul(memory.transpose(0, 1)).transpose(0, 1)

    class Encoder(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.both_ways = nn.LSTM(hidden, hidden, bidirectional=True)
            widths = [2 * hidden] + [hidden] * (layers - 2)
            self.rest = nn.ModuleList([nn.LSTM(width, hidden) for width in widths])
            self.dropout = nn.Dropout(percent / 100)

        def forward(self, x: Any) -> Any:
            x, _ = self.both_ways(self.dropout(x))
            for i, layer in enumerate(self.rest):
                y, _ = layer(self.dropout(x))
                x = y + x if i > 0 else y
            return x

    class Decoder(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.attention = nn.LSTM(hidden, hidden), Attention()
            self.rest = nn.ModuleList([nn.LSTM(2 * hidden, hidden) for _ in range(layers - 1)])
            self.dropout = nn.Dropout(percent / 100)

        def forward(self, x: Any, memory: Any, hidden_pieces: Any) -> Any:
            x, _ = self.first(self.dropout(x))
            context = self.attention(x, memory, hidden_pieces)
            for i, layer in enumerate(self.rest):
                y, _ = layer(lib.cat([self.dropout(x), context], 2))
                x = y + x if i > 0 else y
            return x

    class Gnmt(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.pieces = nn.Embedding(vocabulary, hidden, padding_idx=PADDING)
            self.encoder, self.decoder = Encoder(), Decoder()
            self.classifier = nn.Linear(hidden, vocabulary)
            nn.init.uniform_(self.pieces.weight, -0.1, 0.1)

        def forward(self, source: Any, target: Any) -> Any:
            """source (length, batch) and target (length, batch) -> logits (length, batch, vocabulary)."""
            memory = self.encoder(self.pieces(source))
            return self.classifier(self.decoder(self.pieces(target), memory, source.transpose(0, 1) == PADDING))

    model = Gnmt()
    for layer in model.modules():
        if isinstance(layer, nn.LSTM):
            for weight in layer.parameters():
                nn.init.uniform_(weight, -0.1, 0.1)
    return model


def data(random: np.random.Generator, batch: int, vocabulary: int = VOCABULARY, length: int = LENGTH, **_: int) -> Arrays:
    """Sentences of nearly one length, as a batch that is sorted by length has them; the targets begin one piece earlier."""
    source, target = (random.integers(1, vocabulary, (length + extra, batch)) for extra in (0, 1))
    for column, end in enumerate(random.integers(length - length // 8, length + 1, batch)):
        source[end:, column] = target[end + 1 :, column] = PADDING
    return source, np.ascontiguousarray(target[:-1]), np.ascontiguousarray(target[1:])


def loss(lib: Any, model: Any, source: Any, before: Any, after: Any) -> Any:
    logits = model(source, before)
    options = {"ignore_index": PADDING, "label_smoothing": SMOOTHING}
    return lib.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), after.reshape(-1), **options)


def adam(optim: Any, parameters: Any) -> Any:
    return optim.Adam(parameters, lr=1e-5)  # the first of the published warm-up, which rises to 1e-3 in 200 steps


SPEC = Spec(
    "GNMTv2", "tokens", build, data, loss, adam, batch=8, device_batch=64, clip=5.0,
    each=lambda length=LENGTH, **_: 2 * length,
    tiny={"vocabulary": 50, "hidden": 16, "length": 8}, paper="15512 ± 4.8 %",
)  # fmt: skip
