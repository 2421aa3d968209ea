# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A DCGAN on images of discs that it draws itself: a generator of transposed convolutions against a discriminator.

Runs under PyTorch (`python dcgan.py`) and under tessera (`python -m tessera.torch dcgan.py`).
"""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

nz, ngf, ndf, nc = 16, 8, 8, 1


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 4, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 4),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 4, ngf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, nc, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, input):
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(nc, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 2, 1, 4, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, input):
        return self.main(input)


def discs(rng, count, size=16):
    """Images of discs, white on black, from -1 to 1."""
    yy, xx = np.mgrid[0:size, 0:size].astype(np.float32)
    centre = rng.uniform(5, 11, (count, 2, 1, 1))
    radius = rng.uniform(2, 5, (count, 1, 1))
    inside = (xx - centre[:, 0]) ** 2 + (yy - centre[:, 1]) ** 2 < radius**2
    return torch.from_numpy(inside[:, None].astype(np.float32) * 2 - 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()

    rng = np.random.default_rng(0)

    def noise(*shape):
        return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))

    def weights_init(m):
        classname = m.__class__.__name__
        if classname.find("Conv") != -1:
            m.weight.data.copy_(noise(*m.weight.shape) * 0.02)
        elif classname.find("BatchNorm") != -1:
            m.weight.data.copy_(1.0 + noise(*m.weight.shape) * 0.02)
            nn.init.constant_(m.bias.data, 0)

    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    netG, netD = Generator().to(device), Discriminator().to(device)
    netG.apply(weights_init)
    netD.apply(weights_init)
    criterion = nn.BCELoss()
    fixed_noise = noise(8, nz, 1, 1).to(device)
    real_label, fake_label, b_size = 1.0, 0.0, 16
    optimizerD = optim.Adam(netD.parameters(), lr=0.0005, betas=(0.5, 0.999))
    optimizerG = optim.Adam(netG.parameters(), lr=0.0005, betas=(0.5, 0.999))

    for step in range(args.steps):
        # Discriminator: log(D(x)) + log(1 - D(G(z)))
        netD.zero_grad()
        real = discs(rng, b_size).to(device)
        label = torch.full((b_size,), real_label, dtype=torch.float, device=device)
        output = netD(real).view(-1)
        errD_real = criterion(output, label)
        errD_real.backward()
        D_x = output.mean().item()

        fake = netG(noise(b_size, nz, 1, 1).to(device))
        label.fill_(fake_label)
        output = netD(fake.detach()).view(-1)
        errD_fake = criterion(output, label)
        errD_fake.backward()
        D_G_z1 = output.mean().item()
        errD = errD_real + errD_fake
        optimizerD.step()

        # Generator: log(D(G(z)))
        netG.zero_grad()
        label.fill_(real_label)
        output = netD(fake).view(-1)
        errG = criterion(output, label)
        errG.backward()
        D_G_z2 = output.mean().item()
        optimizerG.step()
        print(f"step {step} loss {errD.item():.6f} {errG.item():.6f} D(x) {D_x:.4f} D(G(z)) {D_G_z1:.4f} / {D_G_z2:.4f}")

    with torch.no_grad():
        images = netG(fixed_noise).detach().cpu()
    print(f"{images.size(0)} images, mean {images.mean().item():.4f}")


if __name__ == "__main__":
    main()
