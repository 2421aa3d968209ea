# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Predicts the classes of test images with a model that any language's digits program trained.

Writes the logits (safetensors) and prints the accuracy.
"""

from __future__ import annotations

import argparse

import tessera as ts

from digits_model import Net, logits_of, share_right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="a file with test_images and test_classes")
    parser.add_argument("model", help="the state dict of a trained network")
    parser.add_argument("result", help="the file to write")
    options = parser.parse_args()
    data = ts.load_file(options.data)
    model = Net()
    model.load_state_dict(ts.load_file(options.model))
    logits = logits_of(model, data["test_images"])
    ts.save_file({"logits": logits}, options.result)
    print(f"test accuracy {share_right(logits, data['test_classes']):.4f}")


if __name__ == "__main__":
    main()
