# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The generative adversarial network of Listing 2 in "PyTorch: An Imperative Style,
High-Performance Deep Learning Library" (NeurIPS 2019), corrected, on handwritten digits.

Corrections: gradients are zeroed before each backward, and the two models share one loop. Two models, two optimizers
and losses that flow through both: detach() keeps the gradient of the discriminator's loss out of the generator. Writes
a picture of generated samples.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import tessera as ts
from tessera import nn, optim
from tessera.utils.data import DataLoader, TensorDataset

NOISE = 32


def create_generator() -> nn.Module:
    return nn.Sequential(
        nn.Linear(NOISE, 128), nn.LeakyReLU(0.2), nn.Linear(128, 256), nn.LeakyReLU(0.2), nn.Linear(256, 64), nn.Tanh()
    )


def create_discriminator() -> nn.Module:
    return nn.Sequential(
        nn.Linear(64, 256), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(256, 128), nn.LeakyReLU(0.2),
        nn.Dropout(0.3), nn.Linear(128, 1),
    )


class Gan:
    def __init__(self) -> None:
        self.discriminator, self.generator = create_discriminator(), create_generator()
        self.optim_d = optim.Adam(self.discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
        self.optim_g = optim.Adam(self.generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
        self.criterion = nn.BCEWithLogitsLoss()

    def step(self, real: ts.Tensor) -> tuple[float, float]:
        count = len(real)
        real_label, fake_label = ts.ones((count, 1)), ts.zeros((count, 1))

        # The discriminator learns to tell real images from fake ones; detach() stops the gradient at the generator's
        # output.
        self.optim_d.zero_grad()
        fake = self.generator(ts.randn((count, NOISE)))
        loss_d = self.criterion(self.discriminator(real), real_label * 0.9)
        loss_d = loss_d + self.criterion(self.discriminator(fake.detach()), fake_label)
        loss_d.backward()
        self.optim_d.step()

        # The generator learns to make the discriminator answer "real"; its gradient flows through the discriminator.
        self.optim_g.zero_grad()
        loss_g = self.criterion(self.discriminator(fake), real_label)
        loss_g.backward()
        self.optim_g.step()
        return loss_d.item(), loss_g.item()


def draw(samples: ts.Tensor, path: Path, columns: int = 8) -> None:
    images = np.pad((samples.detach().numpy().reshape(-1, 8, 8) + 1) / 2, ((0, 0), (1, 1), (1, 1)))
    rows = [np.concatenate(images[i : i + columns], axis=1) for i in range(0, len(images), columns)]
    figure, axes = plt.subplots(figsize=(6, 6 * len(rows) / columns), layout="constrained")
    axes.imshow(np.concatenate(rows), cmap="gray_r", vmin=0, vmax=1)
    axes.axis("off")
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("build/gan"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    ts.manual_seed(0)
    images = (load_digits().data / 8.0 - 1.0).astype(np.float32)
    loader = DataLoader(TensorDataset(ts.from_numpy(images)), batch_size=64, shuffle=True, drop_last=True)
    gan = Gan()
    noise = ts.randn((64, NOISE))
    with tqdm(range(options.epochs), desc="gan", unit="epoch", disable=None) as progress:
        for _ in progress:
            losses = [gan.step(real) for (real,) in loader]
            d, g = np.mean(losses, axis=0)
            progress.set_postfix(discriminator=f"{d:.3f}", generator=f"{g:.3f}")
    gan.generator.eval()
    picture = options.out / "gan.png"
    draw(gan.generator(noise), picture)
    print(f"samples: {picture}")


if __name__ == "__main__":
    main()
