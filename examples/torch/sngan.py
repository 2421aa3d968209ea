# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A generative adversarial network with spectral normalisation and a gradient penalty, of points on a ring.

Runs under PyTorch (`python sngan.py`) and under tessera (`python -m tessera.torch sngan.py`).
"""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import autograd, optim
from torch.nn.utils.parametrizations import spectral_norm, weight_norm


class Generator(nn.Module):
    def __init__(self, latent_dim=8, hidden=32):
        super().__init__()
        self.main = nn.Sequential(
            weight_norm(nn.Linear(latent_dim, hidden)),
            nn.BatchNorm1d(hidden),
            nn.LeakyReLU(0.2, inplace=True),
            weight_norm(nn.Linear(hidden, 2)),
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.main = nn.Sequential(
            spectral_norm(nn.Linear(2, hidden)), nn.LeakyReLU(0.2), spectral_norm(nn.Linear(hidden, 1))
        )

    def forward(self, x):
        return self.main(x).squeeze(1)


def gradient_penalty(discriminator, real, fake, share):
    inter = (share * real + (1 - share) * fake).requires_grad_(True)
    scores = discriminator(inter)
    (gradients,) = autograd.grad(
        outputs=scores, inputs=inter, grad_outputs=torch.ones_like(scores), create_graph=True, retain_graph=True
    )
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"

    def numbers(values):
        return torch.from_numpy(values.astype(np.float32)).to(device)

    generator, discriminator = Generator().to(device), Discriminator().to(device)
    for name, tensor in [*generator.state_dict().items(), *discriminator.state_dict().items()]:
        if "original" in name or name.endswith("bias"):
            tensor.copy_(numbers(rng.uniform(0.1, 0.5, tuple(tensor.shape)) * rng.choice([-1, 1], tuple(tensor.shape))))
        elif name.endswith(("_u", "_v")):
            tensor.copy_(F.normalize(torch.ones_like(tensor), dim=0))
    opt_g = optim.Adam(generator.parameters(), lr=2e-3, betas=(0.0, 0.9))
    opt_d = optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.0, 0.9))

    for step in range(args.steps):
        angle = rng.uniform(0, 2 * np.pi, args.batch_size)
        real = numbers(np.stack([np.cos(angle), np.sin(angle)], 1))
        noise = numbers(rng.standard_normal((args.batch_size, 8)))

        opt_d.zero_grad()
        fake = generator(noise).detach()
        share = numbers(rng.uniform(size=(args.batch_size, 1)))
        loss_d = F.relu(1 - discriminator(real)).mean() + F.relu(1 + discriminator(fake)).mean()
        penalty = gradient_penalty(discriminator, real, fake, share)
        (loss_d + 10 * penalty).backward()
        opt_d.step()

        discriminator.requires_grad_(False)
        opt_g.zero_grad()
        loss_g = -discriminator(generator(noise)).mean()
        loss_g.backward()
        opt_g.step()
        discriminator.requires_grad_(True)
        print(f"step {step} loss {loss_d.item():.6f} {loss_g.item():.6f} {penalty.item():.6f}")


if __name__ == "__main__":
    main()
