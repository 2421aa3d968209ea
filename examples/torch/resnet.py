# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a small ResNet to tell apart images of bars, rings, checks and blobs, which it draws itself.

Runs under PyTorch (`python resnet.py`) and under tessera (`python -m tessera.torch resnet.py`).
"""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    """Noisy images of four classes."""

    def __init__(self, count, seed, size=16):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[0:size, 0:size].astype(np.float32) / size - 0.5
        self.images = np.zeros((count, 3, size, size), np.float32)
        self.labels = rng.integers(0, 4, count)
        for i, label in enumerate(self.labels):
            a, b, phase = rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2), rng.uniform(0, 6.28)
            r = np.sqrt((xx - a) ** 2 + (yy - b) ** 2)
            plane = [
                np.sin(25 * xx + phase), np.cos(30 * r), np.sign(np.sin(20 * xx + phase) * np.sin(20 * yy)),
                np.exp(-30 * r**2),
            ][label]  # fmt: skip
            self.images[i] = plane * rng.uniform(0.5, 1.0, (3, 1, 1))
        self.images += 0.1 * rng.standard_normal(self.images.shape).astype(np.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return torch.from_numpy(self.images[index]), int(self.labels[index])


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, in_planes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=1, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != self.expansion * planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_planes, self.expansion * planes, kernel_size=1, stride=stride, bias=False),
                nn.BatchNorm2d(self.expansion * planes),
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self, block, num_blocks, num_classes=4):
        super().__init__()
        self.in_planes = 8
        self.conv1 = nn.Conv2d(3, 8, kernel_size=3, stride=1, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.layer1 = self._make_layer(block, 8, num_blocks[0], stride=1)
        self.layer2 = self._make_layer(block, 16, num_blocks[1], stride=2)
        self.layer3 = self._make_layer(block, 32, num_blocks[2], stride=2)
        self.linear = nn.Linear(32 * block.expansion, num_classes)

    def _make_layer(self, block, planes, num_blocks, stride):
        strides = [stride] + [1] * (num_blocks - 1)
        layers = []
        for stride in strides:
            layers.append(block(self.in_planes, planes, stride))
            self.in_planes = planes * block.expansion
        return nn.Sequential(*layers)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.layer3(self.layer2(self.layer1(out)))
        out = F.adaptive_avg_pool2d(out, (1, 1))
        out = torch.flatten(out, 1)
        return self.linear(out)


def set_weights(net, rng):
    """The same initial weights in every library."""
    for m in net.modules():
        if isinstance(m, (nn.Conv2d, nn.Linear)):
            fan_in = m.weight[0].numel()
            values = rng.standard_normal(tuple(m.weight.shape)) * (2.0 / fan_in) ** 0.5
            m.weight.data.copy_(torch.from_numpy(values.astype(np.float32)))
            if m.bias is not None:
                nn.init.constant_(m.bias, 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()

    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    trainloader = DataLoader(Shapes(512, seed=1), batch_size=32, shuffle=False, num_workers=0, drop_last=True)
    testloader = DataLoader(Shapes(128, seed=2), batch_size=64)
    net = ResNet(BasicBlock, [1, 1, 1])
    set_weights(net, np.random.default_rng(0))
    net = net.to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4)

    step = 0
    while step < args.steps:
        net.train()
        for inputs, labels in trainloader:
            if step == args.steps:
                break
            inputs, labels = inputs.to(device), labels.to(device)
            optimizer.zero_grad()
            outputs = net(inputs)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            _, predicted = outputs.max(1)
            correct = predicted.eq(labels).sum().item()
            print(f"step {step} loss {loss.item():.6f} correct {correct}/{labels.size(0)}")
            step += 1

    net.eval()
    correct = total = 0
    with torch.no_grad():
        for inputs, labels in testloader:
            outputs = net(inputs.to(device))
            _, predicted = torch.max(outputs.data, 1)
            total += labels.size(0)
            correct += (predicted.cpu() == labels).sum().item()
    print(f"accuracy {100 * correct // total} %")


if __name__ == "__main__":
    main()
