# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs of modules for compare_pytorch_modules.py, beside those of PyTorch's module_db."""

from __future__ import annotations

import re
import types

import torch
from torch import nn
from torch.testing._internal.common_modules import FunctionInput, ModuleInput
from torch.testing._internal.common_nn import get_new_module_tests, module_tests


def older_samples(match: str) -> list[tuple[object, object]]:
    """The inputs of PyTorch's older tests of modules, in the form of the newer ones."""
    found = []
    for entry in [*module_tests, *get_new_module_tests()]:
        cls = getattr(torch.nn, entry.get("module_name", ""), None)
        if cls is None or not re.search(match, cls.__name__):
            continue
        arguments = entry.get("constructor_args", ())
        given = entry["input_fn"]() if "input_fn" in entry else torch.randn(entry["input_size"])
        inputs = [
            t.float() if t.dtype == torch.float64 else t for t in (given if isinstance(given, tuple) else (given,))
        ]
        inputs = [t.detach().clone().requires_grad_(t.dtype.is_floating_point) for t in inputs]
        info = types.SimpleNamespace(module_cls=cls, is_lazy=False)
        found.append((info, ModuleInput(FunctionInput(*arguments), FunctionInput(*inputs))))
    return found


def own_samples(match: str) -> list[tuple[object, object]]:
    """Inputs of modules and of their options that PyTorch's tests leave out."""

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape)

    def grad(*shape: int) -> torch.Tensor:
        return draw(*shape).requires_grad_()

    def ints(*values: int) -> torch.Tensor:
        return torch.tensor(values)

    cases = [
        (nn.Dropout, FunctionInput(0.3), FunctionInput(grad(4, 5))),
        (nn.Dropout2d, FunctionInput(0.3), FunctionInput(grad(2, 4, 5, 5))),
        (nn.AlphaDropout, FunctionInput(), FunctionInput(grad(4, 5))),
        (nn.FeatureAlphaDropout, FunctionInput(0.2), FunctionInput(grad(2, 4, 5))),
        (nn.Dropout1d, FunctionInput(), FunctionInput(grad(2, 3, 4))),
        (nn.Dropout3d, FunctionInput(), FunctionInput(grad(2, 3, 4, 2, 2))),
        (nn.PixelShuffle, FunctionInput(2), FunctionInput(grad(2, 8, 3, 3))),
        (nn.PixelUnshuffle, FunctionInput(2), FunctionInput(grad(2, 3, 4, 4))),
        (nn.ChannelShuffle, FunctionInput(2), FunctionInput(grad(2, 4, 3, 3))),
        (nn.Fold, FunctionInput((4, 5), (2, 3), stride=1, padding=1), FunctionInput(grad(2, 12, 25))),
        (nn.Fold, FunctionInput((4, 4), 2, 2), FunctionInput(grad(2, 12, 4))),
        (nn.Unfold, FunctionInput((2, 3), dilation=1, padding=1, stride=2), FunctionInput(grad(2, 3, 6, 6))),
        (nn.Upsample, FunctionInput(scale_factor=2), FunctionInput(grad(2, 3, 4, 4))),
        (nn.Upsample, FunctionInput(size=(5, 7), mode="bilinear", align_corners=True), FunctionInput(grad(2, 3, 4, 4))),
        (nn.Upsample, FunctionInput(scale_factor=(1.5, 2.3), mode="bicubic"), FunctionInput(grad(2, 3, 4, 4))),
        (nn.Upsample, FunctionInput(scale_factor=2.5, mode="nearest-exact"), FunctionInput(grad(2, 3, 4))),
        (nn.Upsample, FunctionInput(size=7, mode="linear"), FunctionInput(grad(2, 3, 4))),
        (nn.Upsample, FunctionInput(scale_factor=2, mode="trilinear"), FunctionInput(grad(1, 2, 3, 3, 3))),
        (
            nn.Upsample,
            FunctionInput(scale_factor=1.7, mode="bilinear", recompute_scale_factor=True),
            FunctionInput(grad(1, 2, 5, 5)),
        ),
        (nn.UpsamplingNearest2d, FunctionInput(scale_factor=2), FunctionInput(grad(2, 3, 4, 4))),
        (nn.UpsamplingBilinear2d, FunctionInput(size=(6, 6)), FunctionInput(grad(2, 3, 4, 4))),
        (nn.EmbeddingBag, FunctionInput(6, 3, mode="sum"), FunctionInput(ints(1, 2, 4, 5, 4, 3), ints(0, 2, 4))),
        (nn.EmbeddingBag, FunctionInput(6, 3, mode="max"), FunctionInput(torch.tensor([[1, 2], [3, 4]]))),
        (
            nn.EmbeddingBag,
            FunctionInput(6, 3, mode="mean", padding_idx=2, include_last_offset=True),
            FunctionInput(ints(1, 2, 4, 5, 4, 3), ints(0, 2, 4, 6)),
        ),
        (nn.EmbeddingBag, FunctionInput(6, 3, mode="sum"), FunctionInput(ints(1, 2, 4, 5), ints(0, 2), draw(4))),
        (nn.AdaptiveLogSoftmaxWithLoss, FunctionInput(8, 12, [3, 6]), FunctionInput(grad(5, 8), ints(0, 4, 11, 7, 2))),
        (
            nn.AdaptiveLogSoftmaxWithLoss,
            FunctionInput(8, 12, [3, 6], div_value=2.0, head_bias=True),
            FunctionInput(grad(5, 8), ints(0, 4, 11, 7, 2)),
        ),
        (
            nn.MultiheadAttention,
            FunctionInput(8, 2, add_bias_kv=True, add_zero_attn=True),
            FunctionInput(grad(4, 2, 8), grad(3, 2, 8), grad(3, 2, 8)),
        ),
        (
            nn.MultiheadAttention,
            FunctionInput(8, 2, kdim=5, vdim=6, batch_first=True),
            FunctionInput(grad(2, 4, 8), grad(2, 3, 5), grad(2, 3, 6)),
        ),
        (
            nn.MultiheadAttention,
            FunctionInput(8, 2, bias=False),
            FunctionInput(grad(4, 2, 8), grad(3, 2, 8), grad(3, 2, 8), need_weights=True, average_attn_weights=False),
        ),
        (nn.Transformer, FunctionInput(8, 2, 1, 2, 16, 0.0), FunctionInput(grad(4, 2, 8), grad(3, 2, 8))),
        (
            nn.Transformer,
            FunctionInput(8, 2, 1, 1, 16, 0.0, batch_first=True, norm_first=True, activation="gelu"),
            FunctionInput(
                grad(2, 4, 8),
                grad(2, 3, 8),
                tgt_mask=nn.Transformer.generate_square_subsequent_mask(3),
                tgt_is_causal=True,
            ),
        ),
        (nn.LSTM, FunctionInput(3, 4, 2, dropout=0.0, bidirectional=True, proj_size=2), FunctionInput(grad(5, 2, 3))),
        (
            nn.LSTM,
            FunctionInput(3, 4, 1, batch_first=True),
            FunctionInput(grad(2, 5, 3), (grad(1, 2, 4), grad(1, 2, 4))),
        ),
        (nn.GRU, FunctionInput(3, 4, 2, bias=False, batch_first=True), FunctionInput(grad(2, 5, 3))),
        (nn.RNN, FunctionInput(3, 4, nonlinearity="relu"), FunctionInput(grad(5, 3))),
        (nn.LSTMCell, FunctionInput(3, 4), FunctionInput(grad(2, 3))),
        (nn.LSTMCell, FunctionInput(3, 4, bias=False), FunctionInput(grad(3), (grad(4), grad(4)))),
        (nn.GRUCell, FunctionInput(3, 4), FunctionInput(grad(2, 3), grad(2, 4))),
        (nn.RNNCell, FunctionInput(3, 4, nonlinearity="relu"), FunctionInput(grad(2, 3))),
        (
            nn.Conv2d,
            FunctionInput(
                4,
                6,
                (3, 2),
                stride=(2, 1),
                padding=(1, 0),
                dilation=(1, 2),
                groups=2,
                bias=False,
                padding_mode="reflect",
            ),
            FunctionInput(grad(2, 4, 7, 8)),
        ),
        (nn.Conv1d, FunctionInput(3, 4, 3, padding="same", padding_mode="circular"), FunctionInput(grad(2, 3, 7))),
        (nn.Conv3d, FunctionInput(2, 2, 2, padding_mode="replicate", padding=1), FunctionInput(grad(1, 2, 4, 4, 4))),
        (nn.Conv2d, FunctionInput(3, 4, 3, padding="valid"), FunctionInput(grad(3, 7, 7))),
        (nn.ConvTranspose2d, FunctionInput(4, 6, 3, 2, 1, 1, groups=2, dilation=2), FunctionInput(grad(2, 4, 5, 5))),
        (nn.ConvTranspose1d, FunctionInput(4, 6, 3), FunctionInput(grad(4, 5))),
        (nn.ConvTranspose2d, FunctionInput(3, 4, 3, stride=2), FunctionInput(grad(1, 3, 4, 4), output_size=[10, 10])),
        (
            nn.MaxPool2d,
            FunctionInput((3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), return_indices=True, ceil_mode=True),
            FunctionInput(grad(2, 3, 7, 8)),
        ),
        (nn.MaxUnpool2d, FunctionInput(2, 2), FunctionInput(grad(1, 1, 2, 2), torch.tensor([[[[0, 3], [9, 11]]]]))),
        (nn.AdaptiveMaxPool2d, FunctionInput((3, None), return_indices=True), FunctionInput(grad(2, 3, 7, 8))),
        (nn.AdaptiveAvgPool3d, FunctionInput((2, 3, None)), FunctionInput(grad(2, 3, 4, 5, 6))),
        (nn.LPPool2d, FunctionInput(1.2, (3, 2)), FunctionInput(grad(1, 3, 7, 7).abs())),
        (nn.BatchNorm1d, FunctionInput(3, momentum=None), FunctionInput(grad(4, 3, 5))),
        (nn.BatchNorm2d, FunctionInput(3, affine=False, track_running_stats=False), FunctionInput(grad(4, 3, 5, 5))),
        (nn.BatchNorm1d, FunctionInput(3, bias=False), FunctionInput(grad(4, 3))),
        (nn.InstanceNorm1d, FunctionInput(3, affine=True, track_running_stats=True), FunctionInput(grad(4, 3, 5))),
        (nn.InstanceNorm2d, FunctionInput(3), FunctionInput(grad(3, 5, 5))),
        (nn.LayerNorm, FunctionInput([3, 5], bias=False), FunctionInput(grad(4, 3, 5))),
        (nn.GroupNorm, FunctionInput(2, 4, affine=False), FunctionInput(grad(4, 4, 5))),
        (nn.SyncBatchNorm, FunctionInput(3), FunctionInput(grad(4, 3, 5))),
        (nn.CosineSimilarity, FunctionInput(dim=0), FunctionInput(grad(4, 3), grad(4, 3))),
        (nn.PairwiseDistance, FunctionInput(1.0, keepdim=True), FunctionInput(grad(4, 3), grad(4, 3))),
        (nn.Flatten, FunctionInput(0, -2), FunctionInput(grad(4, 3, 2))),
        (nn.Unflatten, FunctionInput(1, (2, 2)), FunctionInput(grad(4, 4, 2))),
        (nn.Identity, FunctionInput(3, b=4), FunctionInput(grad(2))),
        (nn.Hardtanh, FunctionInput(-2, 2), FunctionInput(grad(5) * 3)),
        (nn.Threshold, FunctionInput(0.1, 20, True), FunctionInput(draw(5))),
        (nn.RReLU, FunctionInput(), FunctionInput(grad(4, 4))),
        (nn.PReLU, FunctionInput(3, 0.1), FunctionInput(grad(2, 3, 4))),
        (nn.GLU, FunctionInput(1), FunctionInput(grad(2, 4, 3))),
        (nn.Softmax, FunctionInput(), FunctionInput(grad(2, 3))),
        (nn.Softmin, FunctionInput(0), FunctionInput(grad(2, 3))),
        (nn.LogSoftmax, FunctionInput(-1), FunctionInput(grad(2, 3))),
        (nn.NLLLoss, FunctionInput(), FunctionInput(grad(2, 3, 4, 4), torch.randint(0, 3, (2, 4, 4)))),
        (
            nn.CrossEntropyLoss,
            FunctionInput(label_smoothing=0.2, weight=torch.tensor([0.1, 0.5, 1.0]), ignore_index=2, reduction="none"),
            FunctionInput(grad(4, 3), ints(0, 2, 1, 1)),
        ),
        (nn.CrossEntropyLoss, FunctionInput(label_smoothing=0.2), FunctionInput(grad(4, 3), draw(4, 3).softmax(-1))),
        (
            nn.CTCLoss,
            FunctionInput(blank=2, zero_infinity=True),
            FunctionInput(draw(6, 2, 4).log_softmax(-1), torch.tensor([[0, 1, 3], [3, 3, 0]]), ints(6, 5), ints(3, 2)),
        ),
        (
            nn.MultiMarginLoss,
            FunctionInput(2, 0.5, torch.tensor([1.0, 2.0, 0.5])),
            FunctionInput(grad(4, 3), ints(0, 2, 1, 1)),
        ),
        (nn.TripletMarginLoss, FunctionInput(swap=True, p=1.0), FunctionInput(grad(3, 4), grad(3, 4), grad(3, 4))),
        (
            nn.TripletMarginWithDistanceLoss,
            FunctionInput(distance_function=nn.functional.pairwise_distance, swap=True, margin=0.3),
            FunctionInput(grad(3, 4), grad(3, 4), grad(3, 4)),
        ),
        (nn.GaussianNLLLoss, FunctionInput(full=True), FunctionInput(grad(3, 4), grad(3, 4), grad(3, 1).exp())),
        (nn.PoissonNLLLoss, FunctionInput(False, True), FunctionInput(grad(3, 4).exp(), draw(3, 4).abs() * 4)),
        (
            nn.CosineEmbeddingLoss,
            FunctionInput(0.2, reduction="sum"),
            FunctionInput(grad(3, 4), grad(3, 4), ints(1, -1, 1)),
        ),
        (
            nn.BCEWithLogitsLoss,
            FunctionInput(pos_weight=torch.tensor([1.0, 2.0]), weight=torch.tensor([0.3, 0.4])),
            FunctionInput(grad(3, 2), draw(3, 2).sigmoid()),
        ),
        (nn.SmoothL1Loss, FunctionInput(beta=0.0), FunctionInput(grad(3), draw(3))),
        (nn.SmoothL1Loss, FunctionInput(beta=2.5, reduction="sum"), FunctionInput(grad(3), draw(3))),
        (nn.HuberLoss, FunctionInput("sum", 0.3), FunctionInput(grad(3), draw(3))),
        (nn.KLDivLoss, FunctionInput(reduction="batchmean", log_target=True), FunctionInput(grad(3, 2), grad(3, 2))),
    ]
    infos = [
        (types.SimpleNamespace(module_cls=cls, is_lazy=False), ModuleInput(given, inputs))
        for cls, given, inputs in cases
    ]
    return [pair for pair in infos if re.search(match, pair[0].module_cls.__name__)]
