# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Eight models, each in a file of its own, that run on tessera and on PyTorch: the six of Table 1 of PyTorch's paper and two
transformers. table1.py trains them side by side."""

from __future__ import annotations

from . import alexnet, gnmt, gpt2, mobilenet_v2, ncf, resnet50, vgg19, vit
from .common import Spec

MODELS: dict[str, Spec] = {
    "alexnet": alexnet.SPEC,
    "vgg19": vgg19.SPEC,
    "resnet50": resnet50.SPEC,
    "mobilenet_v2": mobilenet_v2.SPEC,
    "gnmt": gnmt.SPEC,
    "ncf": ncf.SPEC,
    "gpt2": gpt2.SPEC,
    "vit": vit.SPEC,
}
TABLE1 = ("alexnet", "vgg19", "resnet50", "mobilenet_v2", "gnmt", "ncf")
