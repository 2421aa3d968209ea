# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators and layers of PyTorch that are written in Python in tessera.torch; the expected values are those of PyTorch 2.15."""

from __future__ import annotations

import copy
import inspect
import math
from typing import Any

import numpy as np
import pytest

import tessera.torch as torch
import tessera.torch.nn.functional as F
from tessera.torch import nn
from tessera.torch.autograd import gradcheck, gradgradcheck

NAN, INF = math.nan, math.inf


def near(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.detach().numpy(), np.asarray(expected), rtol=2e-5, atol=2e-6)


# ---- shapes in place ----

IN_PLACE: list[tuple[str, tuple[Any, ...], tuple[int, ...]]] = [
    ("unsqueeze_", (0,), (1, 1, 3)), ("squeeze_", (), (3,)), ("squeeze_", (0,), (3,)), ("t_", (), (3, 1)), ("transpose_", (0, 1), (3, 1)),
    ("swapaxes_", (0, 1), (3, 1)), ("swapdims_", (0, 1), (3, 1)), ("as_strided_", ((2,), (1,)), (2,)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "shape"), IN_PLACE)
def test_a_shape_changed_in_place_is_part_of_the_history(name: str, arguments: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    x = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    y = x * 2
    y.retain_grad()
    same, seen = y, []
    y.register_hook(lambda g: seen.append(tuple(g.shape)))
    address = y.data_ptr()
    assert getattr(y, name)(*arguments) is y is same
    assert y.shape == shape and y.data_ptr() == address and y.requires_grad and not y.is_leaf
    (y * 3).sum().backward()
    assert x.grad is not None and x.grad.flatten().tolist() == [6.0] * y.numel() + [0.0] * (3 - y.numel())
    assert y.grad is not None and y.grad.shape == shape and seen == [(1, 3)]


def test_a_view_that_changed_its_shape_is_still_a_view() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    base = x * 1
    row = base[0].unsqueeze_(1)
    row.mul_(torch.tensor([[2.0], [3.0], [4.0]]))
    assert base.tolist() == [[2, 3, 4], [1, 1, 1]]
    base.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [[2, 3, 4], [1, 1, 1]]


def test_a_shape_changes_in_place_without_grad_mode() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    with torch.no_grad():
        y.unsqueeze_(1)
        x.unsqueeze_(0)
    assert y.shape == (3, 1) and y.requires_grad and x.shape == (1, 3) and x.is_leaf and x.requires_grad
    for call in (lambda: x.t_(), lambda: y.resize_(2), lambda: x.resize_(1, 3), lambda: y.resize_as_(torch.ones(2))):
        with pytest.raises(RuntimeError):
            call()


def test_a_computed_tensor_is_detached_in_place() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = y * 3
    assert y.detach_() is y and y.is_leaf and not y.requires_grad and y.grad_fn is None
    z.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [6, 6, 6]
    with pytest.raises(RuntimeError, match="view"):
        (x * 2)[:2].detach_()


def test_an_object_becomes_one_of_another_tensor() -> None:
    x, y = torch.zeros(2, requires_grad=True), torch.ones(3)
    x.grad = torch.ones(2)
    kept = x.grad
    x._rebind(y)
    y[0] = 5
    assert x.tolist() == [5, 1, 1] and x.grad is None and kept.tolist() == [1, 1]
    x._rebind(x)
    assert x.tolist() == [5, 1, 1]
    with pytest.raises(TypeError):
        x._rebind(3)  # type: ignore[arg-type]


# ---- images ----

BYTES = [
    ("bilinear", False, False, (3, 2), [[70, 65], [70, 129], [69, 193]]),
    ("bilinear", False, True, (3, 2), [[10, 3], [50, 129], [90, 255]]),
    ("bilinear", True, False, (1, 2), [[80, 129]]),
    ("bicubic", False, False, (3, 4), [[0, 207, 196, 0], [48, 101, 137, 128], [104, 0, 78, 255]]),
    ("bicubic", True, False, (1, 2), [[78, 132]]),
    ("lanczos", True, False, (3, 2), [[119, 99], [77, 135], [35, 170]]),
]


@pytest.mark.parametrize(("mode", "antialias", "align_corners", "size", "expected"), BYTES)
def test_an_image_of_bytes_gets_another_size(
    mode: str, antialias: bool, align_corners: bool, size: tuple[int, int], expected: list[list[int]]
) -> None:
    x = torch.tensor([[[[10, 250, 3], [90, 7, 255]]]], dtype=torch.uint8)
    found = F.interpolate(x, size=size, mode=mode, antialias=antialias, align_corners=align_corners)
    assert found.dtype is torch.uint8 and found[0, 0].tolist() == expected


def test_images_of_bytes_take_factors_and_layers() -> None:
    x = torch.tensor([[[[10, 250, 3], [90, 7, 255]]]], dtype=torch.uint8)
    expected = [[10, 102, 243, 112, 3], [41, 85, 154, 125, 99], [88, 59, 16, 145, 248]]
    assert F.interpolate(x, scale_factor=1.7, mode="bilinear")[0, 0].tolist() == expected
    assert nn.Upsample(scale_factor=(1.7, 1.7), mode="bilinear")(x)[0, 0].tolist() == expected
    assert nn.UpsamplingBilinear2d((3, 2))(x)[0, 0].tolist() == [[10, 3], [50, 129], [90, 255]]
    assert F.interpolate(x[:0], size=(4, 4), mode="bicubic").shape == (0, 1, 4, 4)
    assert F.interpolate(x, size=(2, 3), mode="bilinear").tolist() == x.tolist()


def test_lanczos_is_for_antialiased_images() -> None:
    x = torch.tensor([[[[10.0, 250, 3], [90, 7, 255]]]], dtype=torch.float64, requires_grad=True)
    found = F.interpolate(x, size=(3, 2), mode="lanczos", antialias=True)
    near(found[0, 0], [[119.30055, 98.71443], [77.13741, 134.49533], [34.97427, 170.27626]])
    assert gradcheck(lambda x: F.interpolate(x, size=(3, 2), mode="lanczos", antialias=True), (x,))
    for options in ({}, {"antialias": True, "align_corners": True}):
        with pytest.raises(ValueError, match="lanczos"):
            F.interpolate(x, size=(3, 2), mode="lanczos", **options)
    with pytest.raises(RuntimeError):
        F.interpolate(x[0], size=2, mode="lanczos", antialias=True)


@pytest.mark.parametrize(
    ("padding", "align_corners", "expected"),
    [("zeros", False, [5.369568, 0]), ("zeros", True, [7.372052, 4.324036]), ("border", False, [5.96875, 3.8]),
     ("border", True, [5.087891, 3.996094]), ("reflection", False, [6.109375, 3.8]), ("reflection", True, [5.351562, 3.70625])],
)  # fmt: skip
def test_volumes_have_cubic_samples(padding: str, align_corners: bool, expected: list[float]) -> None:
    x = torch.arange(8.0, dtype=torch.float64).reshape(1, 1, 2, 2, 2).requires_grad_()
    grid = torch.tensor([[[[[-0.5, 0.25, 0.75], [1.5, -0.3, 0.1]]]]], dtype=torch.float64, requires_grad=True)

    def sample(x: Any, grid: Any) -> Any:
        return F.grid_sample(x, grid, "bicubic", padding, align_corners)

    found = sample(x, grid)
    assert found.shape == (1, 1, 1, 1, 2) and gradcheck(sample, (x, grid))
    near(found.flatten(), expected)
    assert sample(x.half(), grid.half()).dtype is torch.float16
    with pytest.raises(RuntimeError):
        sample(x, grid[..., :2])


# ---- matrices, indices ----


def test_a_linear_layer_with_one_output_has_no_axis_for_it() -> None:
    x, weight = torch.ones(2, 3), torch.tensor([1.0, 2.0, 3.0])
    assert F.linear(x, weight).tolist() == [6, 6] and F.linear(x[0], weight, torch.tensor(2.0)) == 8
    with pytest.raises(RuntimeError, match="bias"):
        F.linear(x, weight, torch.ones(2))


def test_an_index_without_elements_has_any_axes() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    found = torch.gather(x, 1, torch.empty(0, 2, 3, dtype=torch.int64))
    assert found.shape == (0, 2, 3) and torch.tensor(1.0).gather(0, torch.empty(0, dtype=torch.int64)).shape == (0,)
    found.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(IndexError):
        torch.gather(x, 2, torch.empty(0, dtype=torch.int64))


def test_limits_of_logit_may_cross() -> None:
    x = torch.tensor([0.1, 0.5, 0.7])
    for found in (torch.logit(x, 0.6), x.clone().logit_(0.6), torch.special.logit(x, 0.6)):
        near(found, [0.405465, 0.405465, -0.405465])


def test_a_matrix_has_polar_factors() -> None:
    found = torch.linalg.polar(torch.tensor([[3.0, 0.0], [4.0, 5.0]]))
    near(found.U, [[0.8944272, -0.4472136], [0.4472136, 0.8944272]])
    near(found.H, [[4.4721360, 2.2360680], [2.2360680, 4.4721360]])
    torch.manual_seed(1)
    a = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda a: tuple(torch.linalg.polar(a)), (a,)) and gradgradcheck(lambda a: tuple(torch.linalg.polar(a)), (a,))
    one = torch.eye(2, requires_grad=True)  # equal singular values
    (torch.linalg.polar(one).U * torch.tensor([[0.0, 1.0], [0.0, 0.0]])).sum().backward()
    near(one.grad, [[0, 0.5], [-0.5, 0]])
    with pytest.raises(RuntimeError, match="rows"):
        torch.linalg.polar(torch.ones(2, 3))


def test_a_positive_matrix_has_a_root() -> None:
    near(torch.linalg.matrix_sqrth(torch.tensor([[5.0, 4.0], [4.0, 5.0]])), [[2, 1], [1, 2]])
    one = torch.eye(2, requires_grad=True)
    torch.linalg.matrix_sqrth(one).sum().backward()
    near(one.grad, [[0.5, 0.5], [0.5, 0.5]])


def test_a_hash_is_the_exclusive_or_of_bits() -> None:
    x = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
    assert torch.hash_tensor(x, 1).tolist() == x.hash_tensor(-1).tolist() == [4609434218613702656, 4619567317775286272]
    assert torch.hash_tensor(torch.tensor([3, -5, 7], dtype=torch.int8)).item() == 2**64 - 1
    assert torch.hash_tensor(x, (0, 1), keepdim=True).shape == (1, 1) and torch.hash_tensor(x).dtype is torch.uint64
    assert torch.hash_tensor(x).item() == torch.hash_tensor(x.T).item() == 4609434218613702656 ^ 4619567317775286272
    for dtype in (torch.bool, torch.int8, torch.uint16, torch.int64, torch.uint64):
        numbers = (torch.arange(7 * 5 * 3).reshape(7, 5, 3) * 1021 - 40000).to(dtype)
        widened = np.asarray(numbers).astype(np.uint64)
        for dim, kept in ((0, (5, 3)), (1, (7, 3)), (-1, (7, 5)), ((2, 0), (5,)), ((0, 1, 2), ())):
            found = torch.hash_tensor(numbers, dim)
            assert found.shape == kept and torch.equal(torch.hash_tensor(numbers, dim, keepdim=True).reshape(kept), found)
            axes = [axis % 3 for axis in (dim if isinstance(dim, tuple) else (dim,))]
            assert np.array_equal(np.bitwise_xor.reduce(np.moveaxis(widened, axes, range(len(axes))).reshape(-1, *kept), axis=0), found)
        for count in (1, 2, 8, 9, 17, 105):
            some = torch.hash_tensor(numbers.reshape(-1)[:count])
            assert some.shape == () and some.item() == np.bitwise_xor.reduce(widened.reshape(-1)[:count])
        assert torch.hash_tensor(numbers, keepdim=True).shape == (1, 1, 1)
    for one in (torch.tensor(2.0), torch.tensor([2.0])):
        assert torch.hash_tensor(one).item() == torch.hash_tensor(one, 0).item() == 2**62 and torch.hash_tensor(one).shape == ()
    assert torch.hash_tensor(torch.zeros(3, 0, dtype=torch.int32), 1).tolist() == [0, 0, 0]
    for call in (lambda: torch.hash_tensor(x, mode=1), lambda: torch.hash_tensor(x[:0]), lambda: torch.hash_tensor(x.cfloat()),
                 lambda: torch.hash_tensor(x, 2), lambda: torch.hash_tensor(x, (0, -2))):  # fmt: skip
        with pytest.raises(RuntimeError):
            call()


# ---- complex numbers ----


def test_functions_of_complex_numbers() -> None:
    z = torch.tensor([1 + 2j, 0j, -0.5j, 2.0])
    near(torch.logsumexp(z, 0), 2.1253502 + 0.24016517j)
    near(torch.special.logsumexp(z, (0,), True), [2.1253502 + 0.24016517j])
    near(torch.logsumexp(torch.tensor([-INF + 0j, 1 + 1j]), 0), 1 + 1j)
    sinc = [-34.090343 - 17.045168j, 1, 1.4650525, 2.7827532e-08]
    for found in (torch.sinc(z), z.sinc(), torch.special.sinc(z), z.clone().sinc_()):
        near(found, sinc)
    power = torch.tensor([1, 2, 3, -1])
    for found in (torch.ldexp(z, power), z.clone().ldexp_(power)):
        near(found, [2 + 4j, 0, -4j, 1])
    assert torch.tensor([1.0]).ldexp_(torch.tensor(2)).tolist() == [4] and torch.tensor([0.5]).sinc_().dtype is torch.float32
    z = torch.tensor([1 + 2j, 0.5j, 0.3 + 0j], dtype=torch.complex128, requires_grad=True)
    for function in (lambda z: torch.logsumexp(z, 0), torch.sinc, lambda z: torch.ldexp(z, torch.tensor(2)), lambda z: (z * 1).sinc_()):
        assert gradcheck(function, (z,))


# ---- masks ----

MASKED: list[tuple[str, list[float], str]] = [
    ("sum(x, 1, mask=k)", [4, 0], "float32"), ("prod(x, mask=k)", [3], "float32"), ("mean(x, 1, mask=k)", [2, NAN], "float32"),
    ("amax(x, 1, mask=k)", [3, -INF], "float32"), ("amin(x, 0, mask=k)", [1, INF, 3], "float32"),
    ("argmax(x, 1, mask=k)", [2, 0], "float32"), ("argmin(x, mask=k, dtype=torch.int64)", [0], "int64"),
    ("var(x, 1, mask=k)", [2, NAN], "float32"), ("std(x, 1, unbiased=False, mask=k)", [1, NAN], "float32"),
    ("var(x[1].cfloat() * 1j, mask=k[0])", [2], "complex64"), ("norm(x, 1.0, 1, mask=k)", [4, 0], "float32"),
    ("normalize(x, 1.0, 1, mask=k)", [0.25, 0, 0.75, 0, 0, 0], "float32"), ("cumsum(x, 1, mask=k)", [1, 1, 4, 0, 0, 0], "float32"),
    ("cumsum(x[1].int(), 0, mask=k[0])", [4, 4, 10], "int32"),
    ("cumprod(x, 1, mask=k)", [1, 1, 3, 1, 1, 1], "float32"), ("softmax(x, 1, mask=k)", [0.119203, 0, 0.880797, NAN, NAN, NAN], "float32"),
    ("log_softmax(x, 1, mask=k)", [-2.126928, -INF, -0.126928, NAN, NAN, NAN], "float32"),
    ("softmin(x, 1, mask=k)", [0.880797, 0, 0.119203, NAN, NAN, NAN], "float32"), ("logsumexp(x, 1, mask=k)", [3.126928, -INF], "float32"),
    ("median(x, 1, mask=k)", [1, NAN], "float32"), ("median(x[1].int(), mask=k[0])", [4], "int32"),
    ("sum(x[1].int(), mask=k[0], keepdim=True, dtype=torch.float64)", [10], "float64"), ("sum(x[1].to(torch.uint8))", [15], "int64"),
    ("logaddexp(x[1], x[1], input_mask=k[0], other_mask=k[1])", [4, -INF, 6], "float32"), ("sum(x, mask=k[0].int())", [14], "float32"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "expected", "dtype"), MASKED, ids=[call for call, _, _ in MASKED])
def test_a_reduction_takes_a_mask(call: str, expected: list[float], dtype: str) -> None:
    x, k = torch.tensor([[1.0, NAN, 3.0], [4.0, 5.0, 6.0]]), torch.tensor([[True, False, True], [False, False, False]])
    found = eval(f"torch.masked.{call}", {"torch": torch, "x": x, "k": k})
    assert found.dtype is getattr(torch, dtype) and type(found) is torch.Tensor
    near(found.flatten(), expected)


def test_masks_and_dtypes_that_do_not_fit_are_errors() -> None:
    x = torch.tensor([1, 2])
    with pytest.raises(IndexError, match="mask"):
        torch.masked.sum(x, mask=torch.ones(1, 2))
    for call in (
        lambda: torch.masked.mean(x), lambda: torch.masked.median(x, mask=x > 5), lambda: torch.masked.var(x, unbiased=True, correction=1),
        lambda: torch.masked.masked_tensor,
    ):  # fmt: skip
        with pytest.raises(RuntimeError):
            call()


# ---- texts and arguments of layers ----

TEXTS = [
    ("AvgPool1d(2)", "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))"),
    ("AvgPool1d((3,), 1, padding=1)", "AvgPool1d(kernel_size=(3,), stride=(1,), padding=(1,))"),
    ("LPPool1d(2, 2)", "LPPool1d(norm_type=2, kernel_size=2, stride=None, ceil_mode=False)"),
    ("LPPool2d(2, (2, 3), 1)", "LPPool2d(norm_type=2, kernel_size=(2, 3), stride=1, ceil_mode=False)"),
    ("ConstantPad1d(2, 0)", "ConstantPad1d(padding=(2, 2), value=0)"),
    ("ConstantPad2d(1, 3.5)", "ConstantPad2d(padding=(1, 1, 1, 1), value=3.5)"),
    ("RNNCell(2, 3, nonlinearity='relu')", "RNNCell(2, 3, nonlinearity=relu)"),
    ("RNNCell(2, 3)", "RNNCell(2, 3)"),
    ("MaxUnpool2d(2)", "MaxUnpool2d(kernel_size=(2, 2), stride=(2, 2), padding=(0, 0))"),
    ("EmbeddingBag(3, 4)", "EmbeddingBag(3, 4, mode='mean')"),
    ("Unflatten(1, [2, 3])", "Unflatten(dim=1, unflattened_size=[2, 3])"),
]


@pytest.mark.parametrize(("call", "text"), TEXTS)
def test_a_layer_prints_what_pytorch_prints(call: str, text: str) -> None:
    assert repr(eval(f"nn.{call}", {"nn": nn})) == text


def test_layers_whose_attributes_are_pytorchs_still_work() -> None:
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    assert nn.MaxUnpool2d(2)(*nn.MaxPool2d(2, return_indices=True)(x)).sum() == 5 + 7 + 13 + 15
    assert nn.AvgPool1d(2)(x[0])[0, 0].tolist() == [0.5, 2.5] and nn.LPPool2d(1, 2)(x)[0, 0].tolist() == [[10, 18], [42, 50]]
    assert nn.ConstantPad1d(1, 2)(x[0])[0, 0].tolist() == [2, 0, 1, 2, 3, 2]


def test_the_layer_behind_an_attention_has_pytorchs_class() -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8)
    for attention in (nn.MultiheadAttention(4, 2), layer.self_attn, copy.deepcopy(layer).self_attn):
        out = attention.out_proj
        assert type(out) is nn.modules.linear.NonDynamicallyQuantizableLinear and isinstance(out, nn.Linear)
        assert repr(attention).splitlines()[1] == "  (out_proj): NonDynamicallyQuantizableLinear(in_features=4, out_features=4, bias=True)"
    assert layer(torch.ones(1, 3, 4)).shape == (1, 3, 4)


def test_a_layer_has_the_arguments_of_pytorchs() -> None:
    arguments = {name: [*inspect.signature(getattr(nn, name)).parameters][:-2] for name in ("AvgPool1d", "LPPool2d", "ConstantPad1d")}
    assert arguments == {
        "AvgPool1d": ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"],
        "LPPool2d": ["norm_type", "kernel_size", "stride", "ceil_mode"],
        "ConstantPad1d": ["padding", "value"],
    }


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32, torch.bool, torch.complex64], ids=str)
def test_comparisons_in_place_write_ones_and_zeros(dtype: Any) -> None:
    """Of many elements as of few, whatever the layout."""
    draw = np.random.default_rng(6)
    for shape in ((3, 5), (70, 131)):
        a, b = (torch.tensor(draw.integers(-2, 3, shape)).to(dtype) for _ in range(2))
        if dtype.is_floating_point:
            a[::3] = float("nan")
        names = ("eq", "ne") if dtype.is_complex else ("eq", "ne", "lt", "le", "gt", "ge")
        for name in names:
            for other in (b, 1, torch.tensor(1).to(dtype), b[0], b.flip([0])):
                wanted = getattr(a, name)(other).to(dtype)
                for x in (a.clone(), a.T.clone().T, torch.stack([a, a], 2)[..., 1]):
                    assert getattr(x, name + "_")(other) is x and x.dtype is dtype and torch.equal(x, wanted)
            own = a.clone()
            assert torch.equal(getattr(own, name + "_")(own), getattr(a, name)(a).to(dtype))
            moved = torch.cat([a.reshape(-1), a.reshape(-1)[:1]])
            wanted = getattr(moved[:-1], name)(moved[1:]).to(dtype)
            assert torch.equal(getattr(moved[:-1], name + "_")(moved[1:]), wanted)
    x = torch.ones(70, 131, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        x.eq_(1.0)
    (x * 2).eq_(2.0).sum().backward()
    assert x.grad.count_nonzero().item() == 0
    with pytest.raises(ValueError):
        torch.ones(70, 131).eq_(torch.ones(2, 70, 131))
