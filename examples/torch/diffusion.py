# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A denoising diffusion model of small images, with an exponential moving average of its weights.

Runs under PyTorch (`python diffusion.py`) and under tessera (`python -m tessera.torch diffusion.py`).
"""

import argparse
import math

import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, TensorDataset

TIMES = 50


class SinusoidalPositionEmbeddings(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, time):
        half_dim = self.dim // 2
        embeddings = math.log(10000) / (half_dim - 1)
        embeddings = torch.exp(torch.arange(half_dim, device=time.device) * -embeddings)
        embeddings = time[:, None] * embeddings[None, :]
        return torch.cat((embeddings.sin(), embeddings.cos()), dim=-1)


class Block(nn.Module):
    def __init__(self, in_ch, out_ch, time_emb_dim, up=False):
        super().__init__()
        self.time_mlp = nn.Linear(time_emb_dim, out_ch)
        if up:
            self.conv1 = nn.Conv2d(2 * in_ch, out_ch, 3, padding=1)
            self.transform = nn.ConvTranspose2d(out_ch, out_ch, 4, 2, 1)
        else:
            self.conv1 = nn.Conv2d(in_ch, out_ch, 3, padding=1)
            self.transform = nn.Conv2d(out_ch, out_ch, 4, 2, 1)
        self.conv2 = nn.Conv2d(out_ch, out_ch, 3, padding=1)
        self.bnorm1 = nn.BatchNorm2d(out_ch)
        self.bnorm2 = nn.GroupNorm(4, out_ch)
        self.relu = nn.SiLU()

    def forward(self, x, t):
        h = self.bnorm1(self.relu(self.conv1(x)))
        time_emb = self.relu(self.time_mlp(t))
        h = h + time_emb[(...,) + (None,) * 2]
        h = self.bnorm2(self.relu(self.conv2(h)))
        return self.transform(h)


class SimpleUnet(nn.Module):
    def __init__(self, channels=(8, 16, 32), time_emb_dim=16):
        super().__init__()
        self.time_mlp = nn.Sequential(
            SinusoidalPositionEmbeddings(time_emb_dim), nn.Linear(time_emb_dim, time_emb_dim), nn.ReLU()
        )
        self.conv0 = nn.Conv2d(1, channels[0], 3, padding=1)
        pairs = list(zip(channels[:-1], channels[1:]))
        self.downs = nn.ModuleList([Block(a, b, time_emb_dim) for a, b in pairs])
        self.ups = nn.ModuleList([Block(b, a, time_emb_dim, up=True) for a, b in reversed(pairs)])
        self.output = nn.Conv2d(channels[0], 1, 1)

    def forward(self, x, timestep):
        t = self.time_mlp(timestep)
        x = self.conv0(x)
        residual_inputs = []
        for down in self.downs:
            x = down(x, t)
            residual_inputs.append(x)
        for up in self.ups:
            residual_x = residual_inputs.pop()
            x = up(torch.cat((x, residual_x), dim=1), t)
        return self.output(x)


def get_index_from_list(vals, t, x_shape):
    """The values of the times of a batch, with the axes of the images."""
    out = vals.gather(-1, t.cpu())
    return out.reshape(t.shape[0], *((1,) * (len(x_shape) - 1))).to(t.device)


def stripes(rng, count):
    images = np.full((count, 1, 8, 8), -1.0, np.float32)
    for image in images:
        image[0, rng.integers(0, 8), :] = 1.0
    return torch.from_numpy(images)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = SimpleUnet()
    for p in model.parameters():
        bound = 1.0 / p[0].numel() ** 0.5
        values = rng.uniform(-bound, bound, tuple(p.shape)).astype(np.float32)
        p.data.copy_(torch.from_numpy(values))
    model.to(device)
    ema_model = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    optimizer = optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=100)

    betas = torch.linspace(0.0001, 0.02, TIMES)
    alphas_cumprod = torch.cumprod(1.0 - betas, axis=0)
    sqrt_alphas_cumprod = torch.sqrt(alphas_cumprod)
    sqrt_one_minus_alphas_cumprod = torch.sqrt(1.0 - alphas_cumprod)

    data = TensorDataset(stripes(rng, 64))
    step = 0
    while step < args.steps:
        for (images,) in DataLoader(data, batch_size=16, drop_last=True):
            images = images.to(device)
            t = torch.from_numpy(rng.integers(0, TIMES, len(images))).long().to(device)
            noise = torch.from_numpy(rng.standard_normal(tuple(images.shape)).astype(np.float32)).to(device)
            signal = get_index_from_list(sqrt_alphas_cumprod, t, images.shape) * images
            noisy = signal + get_index_from_list(sqrt_one_minus_alphas_cumprod, t, images.shape) * noise
            loss = F.smooth_l1_loss(model(noisy, t), noise)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            ema_model.update_parameters(model)
            with torch.no_grad():
                averaged = F.mse_loss(ema_model.eval()(noisy, t), noise)
            print(f"step {step} loss {loss.item():.6f} {averaged.item():.6f}")
            step += 1
            if step == args.steps:
                break


if __name__ == "__main__":
    main()
