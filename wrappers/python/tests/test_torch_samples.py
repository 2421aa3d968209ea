# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's own samples of its operators showed to differ; the expected values are those of PyTorch 2.15."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tessera.program
import tessera.torch as torch
from tessera.torch.signal import windows


def near(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.detach().numpy(), np.asarray(expected), rtol=1e-5, atol=1e-6)


# ---- windows ----

WINDOWS = [
    ("bartlett(5)", [0, 0.5, 1, 0.5, 0]),
    ("bartlett(4, sym=False)", [0, 0.5, 1, 0.5]),
    ("blackman(5)", [0, 0.34, 1, 0.34, 0]),
    ("cosine(4)", [0.3826834, 0.9238795, 0.9238795, 0.3826834]),
    ("cosine(3, sym=False)", [0.3826834, 0.9238795, 0.9238795]),
    ("exponential(3)", [0.3678795, 1, 0.3678795]),
    ("exponential(4, center=1, tau=2.0, sym=False)", [0.6065307, 1, 0.6065307, 0.3678795]),
    ("gaussian(4, std=2.0)", [0.7548396, 0.9692332, 0.9692332, 0.7548396]),
    ("gaussian(3, sym=False)", [0.3246525, 0.8824969, 0.8824969]),
    ("general_cosine(5, a=[0.5, 0.25, 0.25])", [0.5, 0.25, 1, 0.25, 0.5]),
    ("general_hamming(4, alpha=0.6)", [0.2, 0.8, 0.8, 0.2]),
    ("hamming(3)", [0.08, 1, 0.08]),
    ("hann(4, sym=False)", [0, 0.5, 1, 0.5]),
    ("kaiser(4, beta=3.0)", [0.2048847, 0.8712419, 0.8712419, 0.2048847]),
    ("nuttall(5)", [0.0003628, 0.2269824, 1, 0.2269824, 0.0003628]),
    ("hann(0)", []),
    ("nuttall(1)", [1]),
]


@pytest.mark.parametrize(("call", "expected"), WINDOWS, ids=[call for call, _ in WINDOWS])
def test_a_window_has_pytorchs_values(call: str, expected: list[float]) -> None:
    found = eval(f"windows.{call}", {"windows": windows})
    assert type(found) is torch.Tensor and found.dtype is torch.float32
    near(found, expected)


def test_windows_take_dtypes_and_refuse_what_pytorch_refuses() -> None:
    assert torch.signal.windows.hann(3, dtype=torch.float64, requires_grad=True).requires_grad
    for call in (
        lambda: windows.hann(-1), lambda: windows.hann(3, dtype=torch.int64), lambda: windows.gaussian(3, std=0),
        lambda: windows.exponential(3, center=1), lambda: windows.exponential(3, tau=0), lambda: windows.kaiser(3, beta=-1),
        lambda: windows.general_cosine(3, a=[]),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()


# ---- counts, differences ----


def test_points_are_counted_in_boxes() -> None:
    points = torch.tensor([[0.1, 0.9], [0.1, 0.2], [0.6, 0.9], [1.0, 1.0], [0.6, 3.0]])
    found = torch.histogramdd(points, [2, 2], range=[0.0, 1.0, 0.0, 1.0])
    assert found.hist.tolist() == [[1, 1], [0, 2]] and found.bin_edges[0].tolist() == [0, 0.5, 1]
    edges = (torch.tensor([0.0, 0.5, 1.0]), torch.tensor([0.0, 0.5, 1.0, 4.0]))
    assert torch.histogramdd(points, edges).hist.tolist() == [[1, 1, 0], [0, 1, 2]]
    near(torch.histogramdd(points, edges, density=True).hist, [[0.8, 0.8, 0], [0, 0.8, 0.26666668]])
    weighted = torch.histogramdd(points, edges, weight=torch.tensor([1.0, 2, 4, 8, 16]))
    assert weighted.hist.tolist() == [[2, 1, 0], [0, 4, 24]]
    assert torch.histogramdd(points, 2).bin_edges[1].tolist() == pytest.approx([0.2, 1.6, 3.0])
    assert [edge.tolist() for edge in torch.histogramdd(torch.zeros(2, 1), 1).bin_edges] == [[-0.5, 0.5]]
    assert [edge.tolist() for edge in torch.histogramdd(torch.zeros(0, 1), 1).bin_edges] == [[0, 1]]
    with pytest.raises(RuntimeError):
        torch.histogramdd(points, [2, 2, 2])


def test_gradient_takes_every_form_of_spacing() -> None:
    y = torch.tensor([[0.0, 1, 4], [9, 16, 25]])
    for spacing in (2, 2.0, torch.tensor(2.0), [2, 2], None):
        scale = 1 if spacing is None else 2
        rows, columns = torch.gradient(y, spacing=spacing)
        near(rows, [[9 / scale, 15 / scale, 21 / scale]] * 2)
        near(columns, [[1 / scale, 2 / scale, 3 / scale], [7 / scale, 8 / scale, 9 / scale]])
    (found,) = torch.gradient(y, spacing=(torch.tensor([0.0, 1, 3]),), dim=1)
    near(found, [[1, 1.1666666, 1.5], [7, 6.1666665, 4.5]])
    assert torch.gradient(torch.arange(4) ** 2, dim=None)[0].tolist() == [1, 2, 4, 5]
    with pytest.raises(RuntimeError):
        torch.gradient(y, spacing=[2.0])
    with pytest.raises(RuntimeError):
        torch.gradient(y, dim=(1, -1))


def test_covariances_of_one_row_are_a_number() -> None:
    x = torch.tensor([[1.0, 2.0, 6.0]])
    assert torch.cov(x).shape == torch.corrcoef(x).shape == () and torch.cov(x) == 7 and torch.corrcoef(x) == 1
    assert torch.cov(x, aweights=torch.ones(3)).shape == torch.cov(x.T[:1]).shape == ()


# ---- conditions ----


def test_a_condition_is_bool_or_uint8() -> None:
    x, y = torch.ones(2), torch.zeros(2)
    condition = torch.tensor([2, 0], dtype=torch.uint8)
    assert torch.where(condition, x, y).tolist() == x.where(condition, y).tolist() == [1, 0]
    for dtype in (torch.int64, torch.float32):
        with pytest.raises(RuntimeError):
            torch.where(condition.to(dtype), x, y)


def test_places_of_a_0_dim_tensor_are_those_of_a_vector() -> None:
    for value, places in ((3, [0]), (0, [])):
        x = torch.tensor(value)
        for found in (torch.nonzero(x, as_tuple=True), x.nonzero(as_tuple=True), torch.where(x)):
            assert len(found) == 1 and found[0].tolist() == places
        assert x.nonzero().shape == (len(places), 0)


def test_all_and_any_of_uint8_are_uint8() -> None:
    x = torch.tensor([[0, 2], [3, 1]], dtype=torch.uint8)
    assert x.all().dtype is x.any(1).dtype is torch.uint8 and x.all(0).tolist() == [0, 1]
    assert torch.any(x, 0, keepdim=True).tolist() == [[1, 1]] and torch.all(x.int()).dtype is torch.bool
    assert torch.all(x, out=torch.empty((), dtype=torch.bool)).dtype is torch.bool


# ---- linear algebra ----


def test_a_batch_of_vectors_is_solved() -> None:
    a = torch.tensor([[[2.0, 0], [0, 4]], [[1, 0], [0, 2]], [[4, 0], [0, 1]]])
    b = torch.tensor([[2.0, 4], [2, 4], [4, 4]])
    wanted = [[1, 1], [2, 2], [1, 4]]
    assert torch.linalg.solve(a, b).tolist() == torch.linalg.solve_ex(a, b).result.tolist() == wanted
    assert torch.linalg.solve(a, b, out=torch.empty(0)).tolist() == wanted
    near(torch.linalg.lstsq(a, b).solution, wanted)
    singular = torch.stack([a[0], torch.zeros(2, 2), a[2]])
    found, info = torch.linalg.solve_ex(singular, b)
    assert found[0].tolist() == [1, 1] and math.isnan(found[1, 0].item()) and info.tolist() == [0, 1, 0]


def test_lstsq_tells_what_its_driver_tells() -> None:
    a, b = torch.tensor([[1.0], [1.0]]), torch.tensor([[1.0], [3.0]])
    sizes = {None: (0, (), 0), "gelsy": (0, (), 0), "gels": (1, (0,), 0), "gelsd": (1, (), 1), "gelss": (1, (), 1)}
    for driver, (residuals, rank, values) in sizes.items():
        found = torch.linalg.lstsq(a, b, driver=driver)
        near(found.solution, [[2]])
        assert found.residuals.tolist() == pytest.approx([2] * residuals)
        assert found.rank.shape == rank and found.rank.dtype is torch.int64 and found.singular_values.shape == (values,)
    assert torch.linalg.lstsq(a.expand(4, 2, 1), b.expand(4, 2, 1), driver="gelsd").residuals.shape == (4, 1)
    with pytest.raises(RuntimeError):
        torch.linalg.lstsq(a, b, driver="gelsx")


def test_factors_of_sums_of_products_may_be_complex_or_lose_fractions() -> None:
    z, m = torch.ones(2, 2, dtype=torch.complex64), torch.eye(2, dtype=torch.complex64)
    near(torch.addmm(z, m, m, beta=1j, alpha=2), [[2 + 1j, 1j], [1j, 2 + 1j]])
    near(torch.baddbmm(z[None], m[None], m[None], beta=1j), [[[1 + 1j, 1j], [1j, 1 + 1j]]])
    near(torch.addmv(z[0], m, z[0], alpha=1j), [1 + 1j, 1 + 1j])
    i = torch.ones(2, 2, dtype=torch.int64)
    assert torch.addmm(i, i, i, beta=0.6, alpha=1.5).tolist() == [[2, 2], [2, 2]]


def test_tolerances_of_pinv_may_be_tensors_together() -> None:
    a = torch.diag(torch.tensor([4.0, 2.0, 1.0])).expand(2, 3, 3)
    found = torch.linalg.pinv(a, rtol=torch.tensor([0.3, 0.6]), atol=torch.tensor([1.0, 1.5]))
    near(found, [np.diag([0.25, 0.5, 0]), np.diag([0.25, 0, 0])])
    assert torch.linalg.pinv(torch.zeros(0, 3), atol=torch.tensor(1.0)).shape == (3, 0)
    assert torch.linalg.matrix_rank(torch.zeros(0, 0), atol=1.0) == 0


def test_reflectors_without_columns_are_the_identity() -> None:
    other = torch.arange(6.0).reshape(3, 2)
    assert torch.equal(torch.ormqr(torch.zeros(3, 0), torch.zeros(0), other), other)


def test_factors_of_lu_are_methods_of_the_right_side() -> None:
    a, b = torch.tensor([[2.0, 1.0], [4.0, 6.0]]), torch.tensor([[4.0], [16.0]])
    near(b.lu_solve(*a.lu()), [[1], [2]])
    assert torch.lu(a, get_infos=True)[2] == 0 and torch.linalg.vander(torch.tensor(2.0), N=2).shape == (1, 2)


def test_powers_of_numbers_are_columns_of_a_matrix() -> None:
    x = torch.tensor([2, 3j, 0], requires_grad=True)
    powers = torch.vander(x, 4)
    near(powers, [[8, 4, 2, 1], [-27j, -9, 3j, 1], [0, 0, 0, 1]])
    powers.real.sum().backward()
    near(x.grad, [1 + 4 + 12, 1 - 6j - 27, 1])
    assert torch.vander(x, 0).shape == (3, 0) and torch.vander(torch.tensor([2, 3]), 3, increasing=True).tolist() == [[1, 2, 4], [1, 3, 9]]


def test_least_squares_have_a_gradient_of_their_residuals() -> None:
    a, b = torch.tensor([[1.0], [1.0]]), torch.tensor([[1.0], [3.0]], requires_grad=True)
    torch.linalg.lstsq(a, b, driver="gelsd").residuals.sum().backward()
    near(b.grad, [[-2], [2]])


# ---- random numbers, creation ----


def test_random_numbers_may_be_complex() -> None:
    torch.manual_seed(3)
    for dtype in (torch.complex64, torch.complex128):
        z = torch.randn(20000, dtype=dtype, requires_grad=True)
        assert z.dtype is dtype and z.is_leaf and z.requires_grad and type(z) is torch.Tensor
        assert abs(z.detach().abs().square().mean().item() - 1) < 0.05 and abs(z.detach().imag.var().item() - 0.5) < 0.05
        u = torch.rand_like(z.detach())
        assert 0 <= u.real.min() and u.imag.max() < 1 and abs(u.imag.mean().item() - 0.5) < 0.02
    values = torch.svd_lowrank(torch.randn(5, 4, dtype=torch.complex64), q=2)[1]
    assert values.shape == (2,) and values.dtype is torch.float32
    assert torch.randn_like(u, dtype=torch.float32).dtype is torch.float32


def test_ends_of_whole_numbers_lose_their_fractions() -> None:
    assert torch.linspace(4.3, -3, 5, dtype=torch.int64).tolist() == [4, 2, 0, -1, -3]
    assert torch.logspace(0, 1.2, 2, dtype=torch.int64).tolist() == [1, 10]
    assert torch.normal(0.0, 1.0, (2,), layout=torch.strided, pin_memory=False).shape == (2,)
    assert torch.hann_window(3, layout=torch.strided).shape == torch.range(0, 2, layout=torch.strided).shape == (3,)


# ---- shapes, dtypes ----


def test_functions_named_copy_give_memory_of_their_own() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    copy = torch.t_copy(x)
    copy[0, 1] = 9
    assert x[1, 0] == 3 and copy.shape == (3, 2) and torch.diagonal_copy(x, 1).tolist() == [1, 5]
    assert [part.tolist() for part in torch.unbind_copy(x)] == x.tolist() and torch.equal(torch.alias_copy(x), x)
    assert x.narrow_copy(1, 0, 1).tolist() == [[0], [3]]
    assert torch.view_copy(x.t(), (6,)).tolist() == x.t().reshape(6).tolist()
    assert torch.view_copy(x, torch.int32).tolist() == x.view(torch.int32).tolist()
    assert torch.broadcast_to(x[0], (2, -1)).tolist() == x[0].broadcast_to((2, -1)).tolist() == [x[0].tolist()] * 2
    with pytest.raises(AttributeError):
        torch.no_such_copy  # noqa: B018


def test_conversions_take_a_memory_format() -> None:
    x = torch.zeros(2, 3, 4, 5)
    for name in ("float", "double", "half", "bfloat16", "int", "long", "short", "char", "byte", "bool", "cfloat", "cdouble"):
        found = getattr(x, name)(memory_format=torch.channels_last)
        assert found.is_contiguous(memory_format=torch.channels_last)
        assert getattr(x, name)(memory_format=torch.preserve_format).is_contiguous()


def test_numbers_are_those_of_the_dtype_they_are_written_to() -> None:
    i = torch.zeros(2, dtype=torch.int64)
    assert i.scatter(0, torch.tensor([1]), 2.5).tolist() == i.clone().scatter_(0, torch.tensor([1]), 2.5).tolist() == [0, 2]
    b = torch.ones(2, dtype=torch.uint8)
    assert b.index_add(0, torch.tensor([0]), b[:1], alpha=-1).tolist() == [0, 1]
    assert torch.eye(2, dtype=torch.uint8).trace().dtype is torch.int64
    assert torch.broadcast_shapes((5, 1), 3, 1) == (5, 3)
    wide = torch.zeros(2).masked_scatter(torch.tensor([[True, False], [True, True]]), torch.arange(1.0, 4.0))
    assert wide.tolist() == [[1, 0], [2, 3]]
    near(torch.lerp(torch.ones(1, dtype=torch.complex64), torch.zeros(1, dtype=torch.complex64), 0.5j), [1 - 0.5j])


def test_negative_numbers_wrap_in_unsigned_integers() -> None:
    u = torch.zeros(2, dtype=torch.uint8)
    for found in (torch.full((2,), -1, dtype=torch.uint8), torch.full_like(u, -1), u.new_full((2,), -1), u.clone().fill_(-1)):
        assert found.tolist() == [255, 255]
    assert torch.full((1,), 2.5, dtype=torch.int64).tolist() == [2]
    assert [place.dtype for place in torch.unravel_index(torch.tensor([3], dtype=torch.int32), (2, 3))] == [torch.int64] * 2
    near(torch.nn.functional.softmin(u + 1, 0, dtype=torch.float32), [0.5, 0.5])


IN_PLACE: list[tuple[str, tuple[Any, ...]]] = [
    ("cumprod", (0,)),
    ("scatter_reduce", (0, torch.tensor([0, 1]), torch.tensor([2.0, 3.0]), "prod")),
    ("scatter_reduce", (0, torch.tensor([0, 1]), torch.tensor([2.0, 3.0]), "amax")),
    ("index_reduce", (0, torch.tensor([1]), torch.tensor([2.0]), "amin")),
    ("mvlgamma", (1,)),
]


@pytest.mark.parametrize(("name", "arguments"), IN_PLACE)
def test_a_form_in_place_has_the_gradient_of_the_other(name: str, arguments: tuple[Any, ...]) -> None:
    gradients = []
    for form in (name, name + "_"):
        x = torch.tensor([1.5, 2.5], requires_grad=True)
        getattr(x * 1, form)(*arguments).sum().backward()
        gradients.append(x.grad.tolist())
    assert gradients[0] == gradients[1]


def test_complex_numbers_without_nan_have_a_gradient_in_place() -> None:
    z = torch.tensor([1 + 1j, 2j], requires_grad=True)
    (z * 2).nan_to_num_().real.sum().backward()
    assert z.grad.tolist() == [2, 2]


# ---- layers ----


def test_functions_of_layers_take_complex_numbers() -> None:
    z = torch.tensor([3 + 4j, 0j, 1j])
    assert torch.nn.functional.l1_loss(z, torch.zeros(3)) == 2 and torch.nn.functional.l1_loss(z, z, reduction="sum") == 0
    near(torch.nn.functional.normalize(z, dim=0, p=1), [0.5 + 2j / 3, 0, 1j / 6])
    torch.manual_seed(0)
    kept = torch.nn.functional.dropout(torch.ones(100, dtype=torch.complex64), 0.5)
    assert set(kept.real.tolist()) == {0, 2} and torch.nn.functional.dropout(z, training=False).tolist() == z.tolist()


def test_the_target_of_gaussian_nll_loss_broadcasts() -> None:
    x, var = torch.tensor([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([1.0, 4.0])
    loss = torch.nn.functional.gaussian_nll_loss
    near(loss(x, torch.ones(2), var, reduction="none"), [[0, 0.5], [1.1931472, 2.6931472]])
    near(loss(x, torch.ones(1), torch.ones(2, 2), reduction="sum"), 10.5)


def test_a_linear_layer_and_its_cross_entropy_are_one_module() -> None:
    loss = torch.nn.LinearCrossEntropyLoss(2, 3, bias=True, weight=torch.tensor([1.0, 2.0, 1.0]), label_smoothing=0.1)
    assert list(loss.state_dict()) == ["weight", "linear.weight", "linear.bias"]
    assert repr(loss).splitlines()[1].startswith("  in_features=2, num_classes=3, out_features=(), bias=True, reduction=mean")
    x, target = torch.tensor([[1.0, 2.0], [0.0, 1.0]]), torch.tensor([1, 2])
    plain = torch.nn.CrossEntropyLoss(torch.tensor([1.0, 2.0, 1.0]), label_smoothing=0.1)
    near(loss(x, target), plain(loss.linear(x), target).item())
    wide = torch.nn.LinearCrossEntropyLoss(2, 3, out_features=(4,), options=torch.nn.LinearCrossEntropyOptions(batch_chunk_size=1))
    value = wide(x, torch.zeros(2, 4, dtype=torch.int64))
    near(value, torch.nn.functional.cross_entropy(wide.linear(x).reshape(2, 3, 4), torch.zeros(2, 4, dtype=torch.int64)).item())
    with pytest.raises(RuntimeError):
        torch.nn.LinearCrossEntropyLoss(2, 3, weight=torch.ones(2))
    with pytest.raises(RuntimeError):
        torch.nn.LinearCrossEntropyLoss(2, 3, label_smoothing=2)


def test_dropout_of_whole_features_does_nothing_outside_of_training() -> None:
    assert torch.nn.functional.feature_alpha_dropout(torch.ones(3), training=False).tolist() == [1, 1, 1]


def test_a_spectrum_is_complex_where_the_signal_is() -> None:
    z = torch.ones(8, dtype=torch.complex64)
    assert torch.stft(z, 4, window=torch.ones(4)).dtype is torch.complex64
    with pytest.raises(RuntimeError):
        torch.stft(z, 4, window=torch.ones(4), align_to_window=True)
    whole = torch.stft(torch.arange(8.0), 4, window=torch.ones(4), onesided=False, return_complex=True)
    near(torch.istft(whole, 4, window=torch.ones(4)), np.arange(8.0))


# ---- results in given tensors ----

X = [[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]]
OUT = [
    "argmax(x, 1)", "argmin(x)", "argsort(x, dim=1, stable=True)", "cholesky_inverse(s)", "cholesky_solve(s, s)", "cummax(x, 1)", "cummin(x, 0)", "diff(x)",
    "frexp(x)", "histc(x, 3)", "histogram(x, 2)", "index_add(x, 0, i, x)", "index_copy(x, 0, i, x)", "index_reduce(x, 0, i, x, 'prod')",
    "isin(x, s)", "kthvalue(x, 2)", "log_softmax(x, 1)", "max(x)", "max(x, 1)", "median(x, 1)", "min(x)", "mode(x)", "mvlgamma(x, 1)",
    "nonzero(x)", "slice_scatter(x, x[:1], 0, 1)", "softmax(x, 0)", "squeeze_copy(x)", "svd(s)", "t_copy(x)", "take(x, i)",
    "triangular_solve(s, s)", "unsqueeze_copy(x, 0)", "hardshrink(x, -1.0)", "nn.functional.linear(x, x)", "nn.functional.linear(x, x[0])",
    "nn.functional.avg_pool2d(x[None], 2)",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")  # of PyTorch, about its own old functions
@pytest.mark.parametrize("call", OUT)
def test_results_are_written_to_given_tensors(call: str) -> None:
    names = {"x": torch.tensor(X), "s": torch.tensor([[2.0, 1.0], [0.0, 3.0]]), "i": torch.tensor([1, 0]), "torch": torch}
    wanted = eval(f"torch.{call}", names)
    pair = (wanted,) if isinstance(wanted, torch.Tensor) else tuple(wanted)
    targets = tuple(torch.empty_like(t) for t in pair)
    names["out"] = targets[0] if isinstance(wanted, torch.Tensor) else targets
    found = eval(f"torch.{call[:-1]}, out=out)", names)
    for target, result, value in zip(targets, (found,) if isinstance(wanted, torch.Tensor) else found, pair):
        assert target.data_ptr() == result.data_ptr() and torch.equal(target, value)


# ---- what PyTorch's samples showed in all forms of a call ----


def test_the_gradient_of_eigenvectors_is_hermitian() -> None:
    x = torch.tensor([[2.0, 0, 0], [1, 3, 0], [0.5, -1, 5]], dtype=torch.float64, requires_grad=True)
    torch.linalg.eigh(x).eigenvectors[:, 0].abs().sum().backward()
    near(x.grad, [[0.0888177, 0.0028370, 0.0512966], [0.0028370, -0.0481477, -0.0565936], [0.0512966, -0.0565936, -0.0406700]])


def test_a_summed_axis_of_size_1_stretches() -> None:
    a, b = torch.full((1, 1, 1), 2.0, requires_grad=True), torch.arange(4.0).reshape(2, 1, 2).requires_grad_()
    found = torch.tensordot(a, b, dims=[[0, 1], [2, 0]])
    assert found.tolist() == [[12]]
    found.sum().backward()
    assert a.grad.tolist() == [[[6]]] and b.grad.tolist() == [[[2, 2]], [[2, 2]]]
    assert torch.tensordot(torch.ones(3, 1), torch.ones(4), 1).tolist() == [4, 4, 4]
    with pytest.raises(ValueError):
        torch.tensordot(torch.ones(2), torch.ones(3), 1)


def test_shrinking_by_a_negative_bound_keeps_everything() -> None:
    x = torch.tensor([-1, 0, 0.25], requires_grad=True)
    found = torch.nn.functional.hardshrink(x, -0.5)
    found.sum().backward()
    assert found.tolist() == [-1, 0, 0.25] and x.grad.tolist() == [1, 1, 1]
    assert torch.hardshrink(x.detach(), 0.5).tolist() == [-1, 0, 0]


def test_margins_of_one_sample_may_have_no_axes_or_one() -> None:
    F = torch.nn.functional
    assert F.multi_margin_loss(torch.tensor(1.0), torch.tensor(0)).item() == 0
    near(F.multi_margin_loss(torch.tensor([0.0, 0.5]), torch.tensor([1])), 0.25)
    assert F.multilabel_margin_loss(torch.tensor(1.0), torch.tensor(0)).item() == 0


def test_fractional_pooling_of_no_images() -> None:
    x = torch.zeros(0, 2, 4, 5, 4)
    assert torch.nn.functional.fractional_max_pool3d(x, 2, output_size=2).shape == (0, 2, 2, 2, 2)
    assert torch.nn.functional.fractional_max_pool2d(x[:, :, 0], 2, output_ratio=0.5).shape == (0, 2, 2, 2)


def test_lu_with_infos_has_named_results() -> None:
    found = torch.lu(torch.eye(2), get_infos=True)
    assert found.LU.tolist() == [[1, 0], [0, 1]] and found.pivots.tolist() == [1, 2] and found.info.item() == 0


def test_dtypes_of_one_kind_can_be_cast() -> None:
    assert torch.can_cast(torch.double, torch.float) and torch.can_cast(torch.int64, torch.uint8)
    assert torch.can_cast(torch.bool, torch.int8) and torch.can_cast(torch.int32, torch.float16)
    assert not torch.can_cast(torch.float, torch.int) and not torch.can_cast(torch.int8, torch.bool)
    assert not torch.can_cast(torch.complex64, torch.float64)


def test_conjugates_of_real_numbers_share_their_memory() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    for found in (x.conj(), torch.conj(x), x.conj_physical(), x.mH, x.H, x.adjoint()):
        assert found.data_ptr() == x.data_ptr()
    x.mH[0, 1] = 7
    assert x[1, 0].item() == 7
    z = torch.tensor([[1 + 2j]])
    assert z.mH.tolist() == [[1 - 2j]] and z.adjoint().tolist() == z.conj().tolist()


def test_ravel_copies_what_has_gaps() -> None:
    x = torch.zeros(4, 4)
    x[:, ::2].ravel().fill_(1)
    assert x.sum().item() == 0
    x.ravel().fill_(1)
    assert x.sum().item() == 16


def test_copies_and_new_matrices_are_contiguous() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    found = torch.transpose_copy(x, 0, 1)
    assert found.is_contiguous() and found.tolist() == x.T.tolist()
    assert all(part.is_contiguous() for part in torch.gradient(x[:, :2]))
    packed, pivots = torch.linalg.lu_factor(torch.tensor([[1.0, 2], [3, 4]]))
    assert torch.lu_unpack(packed, pivots).P.is_contiguous()


def test_no_axes_of_roll_are_all_in_one_row() -> None:
    x = torch.arange(6).reshape(2, 3)
    for dims in (None, [], ()):
        assert torch.roll(x, 2, dims).tolist() == x.roll(2, dims=dims).tolist() == [[4, 5, 0], [1, 2, 3]]


def test_lu_unpack_takes_each_matrix_of_a_batch_apart() -> None:
    for shape in ((4, 4), (2, 3, 5, 5), (3, 4, 6), (2, 6, 4), (0, 4, 5)):
        a = torch.rand(shape)
        p, lower, upper = torch.lu_unpack(*torch.linalg.lu_factor(a))
        assert p.shape == (*shape[:-1], shape[-2]) and torch.allclose(p @ lower @ upper, a, atol=1e-5)
    packed, pivots = torch.linalg.lu_factor(torch.rand(3, 3))
    for wrong in (0, 4):
        with pytest.raises(ValueError, match=f"expected rows from 1 to 3, got {wrong}"):
            torch.lu_unpack(packed, torch.full_like(pivots, wrong))
    for shape in ((3, 0), (2, 3, 0), (0, 3, 3), (2, 0, 3)):
        p, lower, upper = torch.lu_unpack(torch.zeros(shape), torch.zeros((*shape[:-2], min(shape[-2:])), dtype=torch.int32))
        rows, least = shape[-2], min(shape[-2:])
        assert torch.equal(p, torch.eye(rows).expand(*shape[:-2], rows, rows))
        assert lower.shape == (*shape[:-1], least) and upper.shape == (*shape[:-2], least, shape[-1])
    none = torch.lu_unpack(torch.zeros(0, 3, 2), torch.zeros(0, 2, dtype=torch.int32))
    assert [type(part) for part in none] == [torch.Tensor] * 3 and none.P.shape == (0, 3, 3)


def test_a_tensor_of_one_integer_selects_a_view() -> None:
    x = torch.zeros(3, 4)
    for row in torch.arange(2):
        x[row].fill_(1)
    x[torch.tensor(-1), torch.tensor([0, 1])] = 2
    x[:, torch.tensor(3, dtype=torch.int16)][0] = 5
    assert x.tolist() == [[1, 1, 1, 5], [1, 1, 1, 1], [2, 2, 0, 0]]
    assert torch.arange(3)[torch.tensor(1)].item() == 1
    with pytest.raises(IndexError):
        x[torch.tensor(3)]
    leaf = torch.ones(2, 2, requires_grad=True)
    leaf[torch.tensor(1)].sum().backward()
    assert leaf.grad.tolist() == [[0, 0], [1, 1]]
    found = torch.vmap(lambda i: x[i])(torch.tensor([2, 0]))
    assert found.tolist() == [[2, 2, 0, 0], [1, 1, 1, 5]]


def test_an_index_stays_a_tensor_in_a_recorded_program() -> None:
    x = torch.arange(6.0).reshape(3, 2)
    program = tessera.program.record(lambda i: x[i], (torch.tensor(0),))
    assert program(torch.tensor(2)).tolist() == [4, 5]


def test_the_weight_of_lerp_in_place_may_be_complex() -> None:
    assert torch.tensor([2 + 0j]).lerp_(torch.tensor([4 + 0j]), 0.5j).tolist() == [2 + 1j]


def test_istft_reads_one_side_of_a_real_signals_spectrum() -> None:
    spectrum = torch.ones(4, 3, dtype=torch.complex64)
    other = spectrum.clone()
    other[3] = 7
    near(torch.istft(other, 4, window=torch.ones(4)), torch.istft(spectrum, 4, window=torch.ones(4)).tolist())


def test_rrelu_in_place_has_a_gradient() -> None:
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    torch.nn.functional.rrelu(x * 1, 0.25, 0.75, inplace=True).sum().backward()
    assert x.grad.tolist() == [0.5, 1]


def test_truths_are_written_to_a_tensor_of_another_shape() -> None:
    out = torch.empty(0, dtype=torch.bool)
    assert torch.any(torch.eye(2), dim=0, out=out) is out and out.tolist() == [True, True]


def test_residuals_have_a_derivative_in_forward_mode() -> None:
    a, b = torch.tensor([[1.0], [1.0]]), torch.tensor([[1.0], [3.0]])
    residuals = torch.func.jvp(lambda t: torch.linalg.lstsq(a, t, driver="gels").residuals, (b,), (torch.tensor([[0.0], [1.0]]),))
    assert residuals[0].tolist() == [2] and residuals[1].tolist() == [2]


@pytest.mark.parametrize("name", ["polar", "matrix_sqrth"])
def test_roots_and_polar_factors_have_a_derivative_in_forward_mode(name: str) -> None:
    function = getattr(torch.linalg, name)
    a = torch.tensor([[3.0, 1], [1, 2]], dtype=torch.float64)
    d = torch.tensor([[1.0, -2], [-2, 0.5]], dtype=torch.float64)

    def of(x: Any) -> Any:
        return torch.stack(list(function(x))) if name == "polar" else function(x)

    _, found = torch.func.jvp(of, (a,), (d,))
    near(found, ((of(a + 1e-6 * d) - of(a - 1e-6 * d)) / 2e-6).tolist())


def test_cells_and_pools_are_functions_of_torch() -> None:
    x, hidden, weights = torch.ones(1, 2), torch.zeros(1, 1), torch.full((4, 2), 0.5)
    near(torch.rnn_tanh_cell(x, hidden, weights[:1], torch.ones(1, 1)), [[math.tanh(1)]])
    found, state = torch.lstm_cell(x, [hidden, hidden], weights, torch.zeros(4, 1))
    near(state, [[0.5567750]])
    near(found, [[0.3696063]])
    values, places = torch.max_pool1d_with_indices(torch.tensor([[1.0, 3, 2, 0]]), 2)
    assert values.tolist() == [[3, 2]] and places.tolist() == [[1, 2]]
    moved = torch.nn.functional.conv_tbc(torch.arange(3.0).reshape(3, 1, 1), torch.ones(2, 1, 1), torch.zeros(1))
    assert moved.flatten().tolist() == [1, 3]


@pytest.mark.parametrize(
    "call",
    [
        "torch.cat(torch.ones(2, 3))",
        "torch.stack(torch.ones(2, 3))",
        "torch.ones(2).masked_fill(torch.tensor([True, False]), torch.ones(1))",
        "torch.ones(2, 2, 2).trace()",
        "torch.zeros(2).scatter(0, torch.tensor([0]), torch.ones(1, dtype=torch.float64))",
        "torch.zeros(2).scatter_add_(0, torch.tensor([0]), torch.ones(1, dtype=torch.int64))",
        "torch.zeros(2).scatter_reduce(0, torch.tensor([0]), torch.ones(1, dtype=torch.float16), 'sum')",
        "torch.argsort(torch.ones(2), out=torch.empty(2, dtype=torch.bool))",
        "torch.fft.fft(torch.ones(2), out=torch.empty(2))",
        "torch.nn.functional.triplet_margin_loss(*torch.ones(3, 2, 4), margin=0)",
        "torch.nn.functional.triplet_margin_with_distance_loss(*torch.ones(3, 2, 4), margin=-1.0)",
        "torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.ones(2, 3), ignore_index=0)",
        "torch.linalg.cross(torch.ones(5, 3), torch.ones(5, 1))",
        "torch.linalg.cross(torch.ones(5, 5, 3), torch.ones(5, 3))",
    ],
)
def test_what_is_more_often_a_mistake_than_meant_is_refused(call: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        eval(call, {"torch": torch})
