# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""ViT-B/16 (Dosovitskiy and others, "An image is worth 16x16 words", 2020)."""

from __future__ import annotations

from typing import Any

from .common import CLASSES, Spec, classify, images, start_normal, transformer_block

PATCH = 16


def build(
    lib: Any, classes: int = CLASSES, size: int = 224, width: int = 768, heads: int = 12, layers: int = 12
) -> Any:
    nn = lib.nn
    patches = (size // PATCH) ** 2

    class Vit(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Conv2d(3, width, PATCH, PATCH)
            self.whole = nn.Parameter(lib.zeros((1, 1, width)))  # whose last state stands for the image
            self.places = nn.Parameter(lib.zeros((1, patches + 1, width)))
            nn.init.normal_(self.places, 0.0, 0.02)
            self.blocks = nn.Sequential(
                *[transformer_block(lib, width, heads, False, "none", 1e-6) for _ in range(layers)]
            )
            self.norm, self.head = nn.LayerNorm(width, eps=1e-6), nn.Linear(width, classes)

        def forward(self, pixels: Any) -> Any:
            x = self.patches(pixels).flatten(2).transpose(1, 2)
            x = lib.cat([self.whole.expand(x.shape[0], 1, width), x], 1) + self.places
            return self.head(self.norm(self.blocks(x))[:, 0])

    return start_normal(nn, Vit())


def adamw(optim: Any, parameters: Any) -> Any:
    return optim.AdamW(parameters, lr=1e-4, weight_decay=0.3)


SPEC = Spec(
    "ViT-B/16", "images", build, images, classify, adamw, device_batch=32, clip=1.0,
    tiny={"size": 48, "classes": 10, "width": 32, "heads": 4, "layers": 2},
)  # fmt: skip
