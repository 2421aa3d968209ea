# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A variational autoencoder of small images of crosses, which it draws itself.

Runs under PyTorch (`python vae.py`) and under tessera (`python -m tessera.torch vae.py`).
"""

import argparse

import numpy as np
import torch
import torch.utils.data
from torch import nn, optim
from torch.nn import functional as F

SIZE = 12


class VAE(nn.Module):
    def __init__(self, noise):
        super().__init__()
        self.fc1 = nn.Linear(SIZE * SIZE, 64)
        self.fc21 = nn.Linear(64, 8)
        self.fc22 = nn.Linear(64, 8)
        self.fc3 = nn.Linear(8, 64)
        self.fc4 = nn.Linear(64, SIZE * SIZE)
        self.noise = noise

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = self.noise(std)
        return mu + eps * std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, SIZE * SIZE))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, SIZE * SIZE), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


def crosses(rng, count):
    images = np.zeros((count, 1, SIZE, SIZE), np.float32)
    for image in images:
        row, column = rng.integers(2, SIZE - 2, 2)
        image[0, row, :] = 1.0
        image[0, :, column] = 1.0
    return torch.from_numpy(images)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def noise(like):
        """The same numbers in every library, in the place of torch.randn_like."""
        return torch.from_numpy(rng.standard_normal(tuple(like.shape)).astype(np.float32)).to(like.device)

    model = VAE(noise)
    for p in model.parameters():
        bound = 1.0 / p.size(-1) ** 0.5
        p.data.copy_(torch.from_numpy(rng.uniform(-bound, bound, tuple(p.shape)).astype(np.float32)))
    model.to(device)
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    dataset = torch.utils.data.TensorDataset(crosses(rng, 512))
    train_loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=False)

    model.train()
    step = 0
    while step < args.steps:
        for (data,) in train_loader:
            if step == args.steps:
                break
            data = data.to(device)
            optimizer.zero_grad()
            recon_batch, mu, logvar = model(data)
            loss = loss_function(recon_batch, data, mu, logvar)
            loss.backward()
            optimizer.step()
            print(f"step {step} loss {loss.item() / len(data):.6f}")
            step += 1

    model.eval()
    with torch.no_grad():
        sample = model.decode(torch.zeros(1, 8, device=device)).cpu().view(SIZE, SIZE)
    print(f"brightest pixel of the mean image: {sample.max().item():.4f}")


if __name__ == "__main__":
    main()
