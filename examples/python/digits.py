# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a convolutional network on scikit-learn's handwritten digits.

digits.py trains for three seeds and writes the first run's weights (safetensors), a plot of loss and
accuracy, and the data as a file that the digits programs of the other languages read. The test set is used once per
seed, after training.

digits.py DATA OUT does the same as those programs: trains once on such a file and writes the weights.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import tessera as ts
from tessera import optim
from tessera.amp import GradScaler
from tessera.utils.data import DataLoader, TensorDataset

from digits_model import BATCH_SIZE, LEARNING_RATE, WEIGHT_DECAY, Net, accuracy, set_rate, train_epoch


@dataclass
class History:
    loss: list[float] = field(default_factory=list)
    train_accuracy: list[float] = field(default_factory=list)
    held_out_accuracy: list[float] = field(default_factory=list)


@dataclass
class Run:
    seed: int
    model: Net
    history: History
    test_accuracy: float
    seconds: float


def load() -> tuple[np.ndarray, ...]:
    """Images (N, 1, 8, 8) in [0, 1] and class numbers: training part, test part."""
    images, classes = load_digits(return_X_y=True)
    images = (images / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
    classes = classes.astype(np.int64)
    return tuple(train_test_split(images, classes, test_size=0.25, random_state=0, stratify=classes))


def write_data(data: tuple[np.ndarray, ...], path: Path) -> None:
    """The data as one file, for programs in any language."""
    train_x, test_x, train_y, test_y = map(ts.from_numpy, data)
    tensors = {"train_images": train_x, "train_classes": train_y, "test_images": test_x, "test_classes": test_y}
    ts.save_file(tensors, path)


def trainer(seed: int, images: ts.Tensor, classes: ts.Tensor) -> tuple[Net, optim.Optimizer, DataLoader]:
    """A network, its optimizer and the batches of one run, all from one seed."""
    ts.manual_seed(seed)
    model = Net()
    optimizer = optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    dataset = TensorDataset(images, classes)
    loader = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, generator=ts.Generator(seed))
    return model, optimizer, loader


def scaler_for(amp: ts.DType | None) -> GradScaler:
    """bfloat16 has the range of float32: its gradients need no scale."""
    return GradScaler(enabled=amp is ts.float16)


def train_on_file(data: Path, out: Path, epochs: int, seed: int, amp: ts.DType | None) -> None:
    """The digits program of every language: train on all training images, test, write the weights."""
    tensors = ts.load_file(data)
    model, optimizer, loader = trainer(seed, tensors["train_images"], tensors["train_classes"])
    scaler = scaler_for(amp)
    with tqdm(range(epochs), unit="epoch", disable=None) as progress:
        for epoch in progress:
            set_rate(optimizer, epoch, epochs)
            loss, met = train_epoch(model, optimizer, loader, amp, scaler)
            progress.set_postfix(loss=f"{loss:.4f}", accuracy=f"{met:.4f}")
    out.mkdir(parents=True, exist_ok=True)
    ts.save_file(model.state_dict(), out / "digits.safetensors")
    print(f"test accuracy {accuracy(model, tensors['test_images'], tensors['test_classes']):.4f}")


def run(seed: int, epochs: int, data: tuple[np.ndarray, ...], amp: ts.DType | None) -> Run:
    start = time.perf_counter()
    train_x, test_x, train_y, test_y = data
    # A part of the training data is held out for validation; the test data is not used until the end.
    fit_x, watch_x, fit_y, watch_y = train_test_split(train_x, train_y, test_size=0.1, random_state=seed, stratify=train_y)
    model, optimizer, loader = trainer(seed, ts.from_numpy(fit_x), ts.from_numpy(fit_y))
    watch = ts.from_numpy(watch_x), ts.from_numpy(watch_y)
    history, scaler = History(), scaler_for(amp)
    with tqdm(range(epochs), desc=f"seed {seed}", unit="epoch", disable=None) as progress:
        for epoch in progress:
            set_rate(optimizer, epoch, epochs)
            loss, met = train_epoch(model, optimizer, loader, amp, scaler)
            history.loss.append(loss)
            history.train_accuracy.append(met)
            history.held_out_accuracy.append(accuracy(model, *watch))
            progress.set_postfix(loss=f"{loss:.4f}", held_out=f"{history.held_out_accuracy[-1]:.4f}")
    result = accuracy(model, ts.from_numpy(test_x), ts.from_numpy(test_y))
    return Run(seed, model, history, result, time.perf_counter() - start)


def plot(runs: list[Run], path: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for item in runs:
        epochs = range(1, len(item.history.loss) + 1)
        color = f"C{item.seed}"
        left.plot(epochs, item.history.loss, color=color, label=f"seed {item.seed}")
        right.plot(epochs, item.history.train_accuracy, color=color, alpha=0.4, linestyle="--")
        right.plot(epochs, item.history.held_out_accuracy, color=color, label=f"seed {item.seed}, test {item.test_accuracy:.2%}")
    left.set(xlabel="epoch", ylabel="training loss", yscale="log", title="Loss")
    right.set(xlabel="epoch", ylabel="accuracy", ylim=(0.8, 1.005), title="Accuracy: held out (solid), training (dashed)")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="DATA OUT", help="train once on the file DATA, write into OUT")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0, help="with DATA OUT")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="without")
    parser.add_argument("--out", type=Path, default=Path("build/digits"))
    parser.add_argument("--only-data", action="store_true", help="write the file of the data and stop")
    parser.add_argument("--amp", choices=["float16", "bfloat16"], help="train in mixed precision")
    options = parser.parse_args()
    if len(options.files) not in (0, 2):
        parser.error("expected both DATA and OUT, or neither")
    return options


def main() -> int:
    options = read_options()
    amp = options.amp and getattr(ts, options.amp)
    if options.files:
        train_on_file(*options.files, options.epochs, options.seed, amp)
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    data = load()
    write_data(data, options.out / "data.safetensors")
    if options.only_data:
        return 0
    runs = [run(seed, options.epochs, data, amp) for seed in options.seeds]
    for item in runs:
        print(f"seed {item.seed}: test accuracy {item.test_accuracy:.4f} in {item.seconds:.1f} s")
    mean = statistics.mean(r.test_accuracy for r in runs)
    weights, picture = options.out / "digits.safetensors", options.out / "digits.png"
    first = runs[0]
    ts.save_file(first.model.state_dict(), weights, {"seed": str(first.seed), "test_accuracy": f"{first.test_accuracy:.4f}"})
    again = Net()
    again.load_state_dict(ts.load_file(weights))
    assert accuracy(again, ts.from_numpy(data[1]), ts.from_numpy(data[3])) == first.test_accuracy
    plot(runs, picture)
    print(f"mean test accuracy over seeds {options.seeds}: {mean:.4f}")
    print(f"weights: {weights}\nplot: {picture}")
    return 0 if mean >= 0.98 else 1


if __name__ == "__main__":
    raise SystemExit(main())
