# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Segmentation: a small U-Net that separates discs and squares from a noisy background, trained with cross entropy and a
Dice loss, a plateau scheduler and checkpoints.

Runs under PyTorch (`python unet.py`) and under tessera (`python -m tessera.torch unet.py`).
"""

import argparse
import math
import os
import tempfile
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, random_split

CLASSES = 3


class Shapes(Dataset):
    """Images of one disc and one square, and the class of each pixel."""

    def __init__(self, count, size, seed, transform=None):
        rng = np.random.default_rng(seed)
        y, x = np.mgrid[:size, :size]
        self.transform = transform
        self.images, self.masks = [], []
        for _ in range(count):
            mask = np.zeros((size, size), np.int64)
            cy, cx, r = rng.integers(6, size - 6), rng.integers(6, size - 6), rng.integers(3, 6)
            mask[(y - cy) ** 2 + (x - cx) ** 2 <= r * r] = 1
            top, left, side = rng.integers(0, size - 8), rng.integers(0, size - 8), rng.integers(4, 8)
            mask[top : top + side, left : left + side] = 2
            image = 0.5 * mask + 0.3 * rng.standard_normal((size, size))
            self.images.append(image.astype(np.float32))
            self.masks.append(mask)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        image = torch.as_tensor(self.images[idx]).unsqueeze(0)
        mask = torch.as_tensor(self.masks[idx]).long().contiguous()
        if self.transform is not None:
            image = self.transform(image)
        return {"image": image, "mask": mask}


class DoubleConv(nn.Module):
    """(convolution => [BN] => ReLU) * 2"""

    def __init__(self, in_channels, out_channels, mid_channels=None):
        super().__init__()
        if not mid_channels:
            mid_channels = out_channels
        self.double_conv = nn.Sequential(
            OrderedDict(
                [
                    ("conv1", nn.Conv2d(in_channels, mid_channels, kernel_size=3, padding=1, bias=False)),
                    ("norm1", nn.BatchNorm2d(mid_channels)),
                    ("relu1", nn.ReLU(inplace=True)),
                    ("conv2", nn.Conv2d(mid_channels, out_channels, kernel_size=3, padding="same", bias=False)),
                    ("norm2", nn.BatchNorm2d(out_channels)),
                    ("relu2", nn.ReLU(inplace=True)),
                ]
            )
        )

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(in_channels, out_channels))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, in_channels, out_channels, bilinear=True):
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.conv = DoubleConv(in_channels, out_channels, in_channels // 2)
        else:
            self.up = nn.ConvTranspose2d(in_channels, in_channels // 2, kernel_size=2, stride=2)
            self.conv = DoubleConv(in_channels, out_channels)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        diffY = x2.size()[2] - x1.size()[2]
        diffX = x2.size()[3] - x1.size()[3]
        x1 = F.pad(x1, [diffX // 2, diffX - diffX // 2, diffY // 2, diffY - diffY // 2])
        x = torch.cat([x2, x1], dim=1)
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self, n_channels, n_classes, width=8):
        super().__init__()
        self.n_channels = n_channels
        self.n_classes = n_classes
        self.inc = DoubleConv(n_channels, width)
        self.down1 = Down(width, 2 * width)
        self.down2 = Down(2 * width, 4 * width)
        self.up1 = Up(4 * width, 2 * width, bilinear=False)
        self.up2 = Up(3 * width, width, bilinear=True)
        self.outc = nn.Conv2d(width, n_classes, kernel_size=1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x = self.up1(x3, x2)
        x = self.up2(x, x1)
        return self.outc(x)


def dice_coeff(input, target, epsilon=1e-6):
    assert input.size() == target.size()
    inter = 2 * (input * target).sum(dim=(-1, -2))
    sets_sum = input.sum(dim=(-1, -2)) + target.sum(dim=(-1, -2))
    sets_sum = torch.where(sets_sum == 0, inter, sets_sum)
    return ((inter + epsilon) / (sets_sum + epsilon)).mean()


def dice_loss(logits, masks):
    soft = F.softmax(logits, dim=1).float()
    hot = F.one_hot(masks, CLASSES).permute(0, 3, 1, 2).float()
    return 1 - dice_coeff(soft.flatten(0, 1), hot.flatten(0, 1))


@torch.no_grad()
def evaluate(net, dataloader, device):
    net.eval()
    hits, total = 0, 0
    for batch in dataloader:
        image, mask = batch["image"].to(device), batch["mask"].to(device)
        pred = net(image).argmax(dim=1)
        hits += (pred == mask).sum().item()
        total += mask.numel()
    net.train()
    return hits / total


def init_weights(net, rng):
    for m in net.modules():
        if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
            fan_in = m.weight[0].numel()
            m.weight.data = torch.from_numpy(rng.standard_normal(m.weight.shape).astype(np.float32) * math.sqrt(2 / fan_in))
            if m.bias is not None:
                nn.init.zeros_(m.bias)
        elif isinstance(m, nn.BatchNorm2d):
            nn.init.constant_(m.weight, val=1)
            nn.init.constant_(m.bias, 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dataset = Shapes(96, 30, seed=1, transform=lambda image: (image - image.mean()) / image.std())
    n_val = int(len(dataset) * 0.25)
    train_set, val_set = Subset(dataset, range(len(dataset) - n_val)), Subset(dataset, range(len(dataset) - n_val, len(dataset)))
    parts = random_split(dataset, [len(dataset) - n_val, n_val], generator=torch.Generator().manual_seed(0))
    assert [len(part) for part in parts] == [len(train_set), len(val_set)]
    loader_args = {"batch_size": 12, "num_workers": 0, "pin_memory": False}
    train_loader = DataLoader(train_set, shuffle=False, **loader_args)
    val_loader = DataLoader(val_set, shuffle=False, drop_last=True, **loader_args)

    net = UNet(n_channels=1, n_classes=CLASSES)
    init_weights(net, rng)
    net = net.to(device=device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-8, foreach=True)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", patience=2)
    grad_scaler = torch.amp.GradScaler(device.type, enabled=False)
    criterion = nn.CrossEntropyLoss()

    step = 0
    while step < args.steps:
        net.train()
        for batch in train_loader:
            images, true_masks = batch["image"], batch["mask"]
            images = images.to(device=device, dtype=torch.float32, memory_format=torch.channels_last)
            true_masks = true_masks.to(device=device, dtype=torch.long)
            with torch.autocast(device.type if device.type != "mps" else "cpu", enabled=False):
                masks_pred = net(images)
                loss = criterion(masks_pred, true_masks)
                loss += dice_loss(masks_pred, true_masks)
            optimizer.zero_grad(set_to_none=True)
            grad_scaler.scale(loss).backward()
            grad_scaler.unscale_(optimizer)
            norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            grad_scaler.step(optimizer)
            grad_scaler.update()
            print(f"step {step} loss {loss.item():.6f} norm {norm.item():.4f}")
            step += 1
            if step == args.steps:
                break
        score = evaluate(net, val_loader, device)
        scheduler.step(score)
    print(f"validation accuracy {score:.4f} lr {optimizer.param_groups[0]['lr']:.1e}")

    path = os.path.join(tempfile.mkdtemp(), "checkpoint.pth")
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)
    again = UNet(n_channels=1, n_classes=CLASSES)
    checkpoint = torch.load(path, map_location=device)
    again.load_state_dict(checkpoint["net"])
    again.eval()
    net.eval()
    with torch.no_grad():
        assert torch.equal(again(images), net(images.contiguous())) or torch.allclose(again(images), net(images), atol=1e-5)


if __name__ == "__main__":
    main()
