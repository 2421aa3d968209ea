# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Where tessera.torch differs from tessera because PyTorch 2.15 does; the expected values are what it computes."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tessera.torch as torch
import tessera.torch.nn.functional as F
from tessera.torch import nn, optim


def gradient(function: Any, *values: Any) -> list[list[float]]:
    given = [torch.tensor(value, requires_grad=True) for value in values]
    function(*given).sum().backward()
    return [tensor.grad.tolist() for tensor in given]


X = [-1.0, 0.0, 0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x.clamp(0, 1), [0, 0, 1, 0, 0]),
        (lambda x: torch.clip(x, 0.0, 1.0), [0, 0, 1, 0, 0]),
        (lambda x: x.clamp(min=0), [0, 0, 1, 1, 1]),
        (lambda x: torch.clamp_max(x, 1), [1, 1, 1, 0, 0]),
        (lambda x: (x * 1).clamp_(0, 1), [0, 0, 1, 0, 0]),
        (lambda x: x.clamp(2, 1), [0, 0, 0, 0, 0]),
        (lambda x: x.clamp(torch.zeros(5), torch.ones(5)), [0, 0.5, 1, 0.5, 0]),
        (lambda x: (x * 1).clamp_(min=torch.zeros(5)), [0, 0.5, 1, 1, 1]),
    ],
)
def test_the_derivative_of_clamp_on_a_bound_is_pytorchs(function: Any, expected: list[float]) -> None:
    assert gradient(function, X) == [expected]


def test_bounds_that_are_tensors_share_the_gradient() -> None:
    found = gradient(torch.clamp, X, [0.0] * 5, [1.0] * 5)
    assert found == [[0, 0.5, 1, 0.5, 0], [1, 0.5, 0, 0, 0], [0, 0, 0, 0.5, 1]]


def test_clamp_wants_a_bound_and_no_mixture() -> None:
    x = torch.ones(2)
    with pytest.raises(RuntimeError):
        x.clamp()
    with pytest.raises(TypeError):
        torch.clamp(x, torch.zeros(2), 1.0)
    assert torch.tensor([1, 5]).clamp(max=2.5).tolist() == [1, 2.5]


def test_repeat_needs_a_number_for_each_axis() -> None:
    x = torch.arange(6).reshape(2, 3)
    with pytest.raises(RuntimeError):
        x.repeat(2)
    assert x.repeat(1, 2).shape == (2, 6) and x.repeat(2, 1, 1).shape == (2, 2, 3)


def test_complex_numbers_become_real_with_a_warning() -> None:
    z = torch.tensor([1 + 2j, 0j, 3j])
    others = (lambda: z.float(), lambda: torch.zeros(3).copy_(z), lambda: z.type(torch.float32))
    to = (lambda: z.to(torch.float32), lambda: z.to("cpu", dtype=float), lambda: z.to(torch.ones(1)), lambda: z.to("float32"))
    for convert in (*to, *others):
        with pytest.warns(UserWarning, match="discards the imaginary part"):
            assert convert().tolist() == [1, 0, 0]
    with pytest.warns(UserWarning):
        assert z.int().dtype is torch.int32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert z.to(torch.bool).tolist() == z.to(bool).tolist() == z.bool().tolist() == [True, False, True]
        assert z.to("cpu").dtype is torch.complex64 and z.to(complex).dtype is torch.complex128
        assert z.to(torch.complex128).dtype is torch.complex128
    with pytest.warns(UserWarning):
        assert gradient(lambda x: (x * 1j).to(torch.float32) + (x * 2j * 1j).to(torch.float32), [1.0]) == [[-2]]


def test_filling_integers_cuts_fractions_off() -> None:
    x, mask = torch.tensor([1, 2]), torch.tensor([True, False])
    assert x.masked_fill(mask, 2.5).tolist() == [2, 2]
    assert x.masked_fill(mask, torch.tensor(-2.5)).tolist() == [-2, 2]
    assert x.clone().masked_fill_(mask, 7.9).tolist() == [7, 2]
    assert x.index_fill(0, torch.tensor([1]), 3.5).tolist() == [1, 3]
    assert torch.tensor([True, False]).masked_fill(mask, 2.5).tolist() == [True, False]
    assert torch.tensor([1, 2], dtype=torch.uint8).masked_fill(mask, -1).tolist() == [255, 2]
    for value in (float("inf"), float("nan"), 2 + 1j):
        with pytest.raises(RuntimeError):
            x.masked_fill(mask, value)
    with pytest.raises(RuntimeError):
        torch.tensor([1, 2], dtype=torch.uint8).masked_fill(mask, 300)


@pytest.mark.parametrize("name", ["poisson_nll_loss", "kl_div", "soft_margin_loss", "hinge_embedding_loss"])
def test_losses_broadcast_without_a_warning(name: str) -> None:
    x, y = torch.full((2, 3), 0.5), torch.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = getattr(F, name)(x, y, reduction="sum")
        assert torch.allclose(found, getattr(F, name)(x, y.expand(2, 3), reduction="sum"))
    with pytest.warns(UserWarning, match="different to the input size"):
        F.mse_loss(x, y)


# ---- optimizers ----


def test_adafactor_steps_as_pytorchs() -> None:
    w = nn.Parameter(torch.tensor([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]]))
    b = nn.Parameter(torch.tensor([0.5, -0.5]))
    optimizer = optim.Adafactor([w, b], lr=0.1, weight_decay=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        ((w @ torch.tensor([1.0, 2.0, 3.0]) + b) ** 2).sum().backward()
        optimizer.step()
    expected = [[1.1254039, -1.7854933, 0.6402544], [-0.1108665, 2.5574558, -1.3237401]]
    assert torch.allclose(w, torch.tensor(expected), atol=1e-5), w
    assert torch.allclose(b, torch.tensor([0.5336890, -0.6051317]), atol=1e-5), b
    assert sorted(optimizer.state[w]) == ["col_var", "row_var", "step"] and sorted(optimizer.state[b]) == ["step", "variance"]
    with pytest.raises(ValueError, match="beta2_decay"):
        optim.Adafactor([w], beta2_decay=0.5)


def test_sparse_adam_leaves_the_other_rows_alone() -> None:
    table = nn.Embedding(5, 2, sparse=True)
    with torch.no_grad():
        table.weight.copy_(torch.arange(10.0).reshape(5, 2))
    optimizer = optim.SparseAdam(table.parameters(), lr=0.1)
    for rows in ([0, 1, 1], [1, 3], [0, 3]):
        optimizer.zero_grad()
        (table(torch.tensor(rows)) ** 2).sum().backward()
        optimizer.step()
    expected = [[0.0, 0.8145077], [1.8075399, 2.8072815], [4.0, 5.0], [5.8397694, 6.8397651], [8.0, 9.0]]
    assert torch.allclose(table.weight, torch.tensor(expected), atol=1e-5)
    again = optim.SparseAdam(table.parameters(), lr=1.0)
    again.load_state_dict(optimizer.state_dict())
    assert again.param_groups[0]["lr"] == 0.1 and again.state[table.weight]["step"] == 3


# ---- ranks of a group ----


def test_a_rank_may_be_a_place_in_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    from tessera.torch import distributed as dist

    class Members:
        def _first_rank(self, place: int) -> int:
            return (4, 6)[place]

    called: list[Any] = []
    monkeypatch.setattr("tessera.distributed.broadcast", lambda *args: called.append(args))
    monkeypatch.setattr("tessera.distributed.gather", lambda *args: called.append(args))
    group, x = Members(), torch.ones(2)
    dist.broadcast(x, group_src=1, group=group)
    dist.broadcast(x, 6, group)
    dist.gather(x, dst=None, group_dst=0, group=group)
    dist.gather(x)
    assert called == [(x, 6, group, False), (x, 6, group, False), (x, None, 4, group, False), (x, None, 0, None, False)]
    with pytest.raises(ValueError, match="both"):
        dist.broadcast(x, 0, group_src=0)
    with pytest.raises(ValueError, match="neither"):
        dist.send(x)


def test_groups_show_the_options_that_choose_an_implementation() -> None:
    w = nn.Parameter(torch.ones(2))
    optimizer = optim.AdamW([("weight", w)], lr=0.1, fused=False)
    group = optimizer.param_groups[0]
    assert group["param_names"] == ["weight"] and group["fused"] is False and group["decoupled_weight_decay"] is True
    optimizer.add_param_group({"params": [("other", nn.Parameter(torch.ones(1)))]})
    assert optimizer.param_groups[1]["foreach"] is None and optimizer.param_groups[1]["param_names"] == ["other"]
    again = optim.AdamW([w, nn.Parameter(torch.ones(1))], lr=1.0)
    with pytest.raises(ValueError):
        again.load_state_dict(optimizer.state_dict())
    with pytest.raises(NotImplementedError, match="adjust_lr_fn"):
        optim.Muon([w.view(1, -1)], lr=0.1, adjust_lr_fn="match_rms_adamw")


def test_adam_with_decoupled_weight_decay_is_adamw() -> None:
    one, two = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
    adam = optim.Adam([one], lr=0.1, weight_decay=0.5, decoupled_weight_decay=True)
    adamw = optim.AdamW([two], lr=0.1, weight_decay=0.5)
    for _ in range(3):
        one.grad = two.grad = torch.tensor([1.0, -2.0, 0.5])
        adam.step()
        adamw.step()
    assert torch.equal(one, two)
    assert adam.param_groups[0]["decoupled_weight_decay"] is True
    assert optim.Adam([one], lr=0.1).param_groups[0]["decoupled_weight_decay"] is False
    assert optim.NAdam([one], 1e-3, (0.9, 0.999), 1e-8, 0.1, 4e-3, True).param_groups[0]["decoupled_weight_decay"] is True


# ---- names and texts ----


def test_sizes_may_be_named() -> None:
    for make in (torch.zeros, torch.ones, torch.rand, torch.randn, torch.empty):
        assert make(size=(2, 3)).shape == make((2, 3)).shape == make(2, 3).shape == (2, 3)
    x = torch.ones(2, 3)
    assert x.new_zeros(size=(4,)).shape == (4,) and x.repeat(repeats=(1, 2)).shape == (2, 6)
    assert torch.randint(high=3, size=(5,)).max() < 3 and torch.rand_like(x, generator=torch.Generator()).shape == (2, 3)
    assert torch.split(tensor=x, split_size_or_sections=1)[1].shape == x.split(split_size=1)[1].shape == (1, 3)
    assert torch.dot(input=x[0], tensor=x[1]) == 3 and torch.promote_types(type1=torch.int8, type2=torch.int16) is torch.int16


def test_a_tolerance_may_be_a_size() -> None:
    x = torch.diag(torch.tensor([4.0, 1.0, 0.5]))
    assert torch.linalg.matrix_rank(x, atol=0.7) == torch.linalg.matrix_rank(x, 0.7) == 2
    assert torch.linalg.matrix_rank(x, atol=0.1, rtol=0.3) == 1
    assert torch.allclose(torch.linalg.pinv(x, atol=0.7), torch.diag(torch.tensor([0.25, 1.0, 0.0])))
    assert torch.linalg.matrix_rank(torch.zeros(2, 2), atol=0.1) == 0


def test_results_are_written_to_out() -> None:
    x, spectrum = torch.arange(4.0), torch.empty(4, dtype=torch.complex64)
    assert torch.fft.fft(x, out=spectrum) is spectrum and torch.equal(spectrum, torch.fft.fft(x))
    factor, info = torch.empty(2, 2), torch.empty((), dtype=torch.int32)
    torch.linalg.cholesky_ex(torch.eye(2) * 4, out=(factor, info))
    assert factor.tolist() == [[2, 0], [0, 2]] and info == 0


def test_modules_and_nodes_show_what_programs_look_for() -> None:
    layers = nn.ModuleList(nn.Linear(1, 2) for _ in range(3))
    assert repr(layers) == "ModuleList(\n  (0-2): 3 x Linear(in_features=1, out_features=2, bias=True)\n)"
    assert repr(nn.BatchNorm1d(2, bias=False)).endswith("affine=True, bias=False, track_running_stats=True)")
    assert nn.GroupNorm(1, 2, bias=False).bias is None and nn.BatchNorm1d(2, bias=False)(torch.ones(3, 2)).shape == (3, 2)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kept, self.left = nn.Buffer(torch.ones(2)), nn.Buffer(torch.zeros(1), persistent=False)

    model = Model()
    assert [name for name, _ in model.named_buffers()] == ["kept", "left"] and list(model.state_dict()) == ["kept"]
    model.register_forward_hook(lambda *_: None)
    assert len(model._forward_hooks) == 1
    node = torch.ones(1, requires_grad=True).exp().grad_fn
    assert type(node).__name__ == node.name() == "ExpBackward"
    assert repr(torch.finfo(torch.float16)).startswith("finfo(resolution=0.001, min=-65504, max=65504,")
    assert torch.finfo(torch.float32).dtype == "float32" and torch.iinfo(torch.int8).max == 127


def test_modules_that_programs_import_are_there() -> None:
    names: dict[str, Any] = {}
    exec("from tessera.torch.nn.utils.rnn import *\nfrom tessera.torch.nn.modules import *\nfrom tessera.torch.linalg import *", names)
    assert {"pack_padded_sequence", "Linear", "inv"} <= names.keys()
    assert torch.jit.script(nn.ReLU)().training and not torch.jit.is_scripting() and not torch.compiler.is_compiling()
    assert not torch.mps.is_available() and not torch.xpu.is_available()
    torch.serialization.add_safe_globals([int])
    with torch.serialization.safe_globals([int]):
        assert torch.compiler.disable(len)([1]) == 1


# ---- modules ----


def test_full_backward_hooks_see_and_replace_the_gradients_of_inputs() -> None:
    class Product(nn.Module):
        def forward(self, a: Any, b: Any, scale: float = 1.0) -> Any:
            return a * b * scale, a + b

    module, seen = Product(), []
    module.register_full_backward_hook(lambda m, grads, outputs: seen.append([g.tolist() for g in (*grads, *outputs)]))
    a, b = torch.ones(1, requires_grad=True), torch.full((1,), 3.0, requires_grad=True)
    first, second = module(a, b, scale=2.0)
    (first + 5 * second).backward()
    assert seen == [[[11.0], [7.0], [1.0], [5.0]]] and a.grad.item() == 11 and b.grad.item() == 7


def test_full_backward_hooks_may_change_gradients() -> None:
    first, second = nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False)
    x = torch.ones(1, 2)
    second(first(x)).sum().backward()
    plain = first.weight.grad.clone()
    first.weight.grad = None
    after = second.register_full_backward_hook(lambda m, grads, outputs: (grads[0] * 2,))
    before = second.register_full_backward_pre_hook(lambda m, outputs: (outputs[0] * 3,))
    second(first(x)).sum().backward()
    assert torch.allclose(first.weight.grad, plain * 6)
    first.weight.grad = None
    after.remove()
    before.remove()
    second(first(x)).sum().backward()
    assert torch.equal(first.weight.grad, plain)
    seen: list[Any] = []
    first.register_full_backward_hook(lambda m, grads, outputs: seen.append(grads))
    first(x).sum().backward()  # no input requires a gradient
    assert seen == [(None,)]


def test_names_of_parts_are_checked_as_pytorch_does() -> None:
    module = nn.Sequential(nn.Linear(1, 1))
    module.plain = None
    module.plain = nn.ReLU()  # an assignment replaces
    assert [name for name, _ in module.named_children()] == ["0", "plain"]
    for wrong in (
        lambda: module.register_buffer("plain", torch.ones(1)), lambda: module.add_module("forward", nn.ReLU()),
        lambda: module.register_parameter("training", nn.Parameter(torch.ones(1))), lambda: module.register_parameter("a.b", None),
    ):
        with pytest.raises(KeyError):
            wrong()
    for wrong in (lambda: module.register_buffer("x", 3), lambda: module.add_module("x", 3), lambda: nn.ModuleList([3])):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: module.get_parameter("0.nope"), lambda: module.get_buffer("nope"), lambda: module.nope):
        with pytest.raises(AttributeError, match="nope"):
            wrong()


def test_a_negative_zero_does_not_widen_a_column() -> None:
    assert repr(torch.tensor([1.0, -0.0])) == "tensor([1., -0.])"



def test_a_range_needs_a_step_towards_its_end() -> None:
    assert torch.arange(3, 3).shape == (0,) and torch.arange(5, 1, -2).tolist() == [5, 3]
    with pytest.raises(RuntimeError, match="step"):
        torch.arange(1, 5, -1)
    assert torch.ones(2).layout is torch.strided and torch.ones(3)[1:]._is_view() and not torch.ones(3)._is_view()


def test_layers_have_the_default_dtype() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        layers = [nn.Linear(2, 2), nn.BatchNorm1d(2), nn.LSTM(2, 2), nn.TransformerEncoderLayer(4, 2, 8), nn.Embedding(2, 2)]
        assert {p.dtype for layer in layers for p in layer.parameters()} == {torch.float64}
        assert nn.BatchNorm1d(2).num_batches_tracked.dtype is torch.int64
        single = nn.Linear(1, 1, dtype=torch.float32)
        assert nn.Sequential(single)[0].weight.dtype is torch.float32
    finally:
        torch.set_default_dtype(torch.float32)
    assert nn.Linear(1, 1).weight.dtype is torch.float32


# ---- functions of other parts ----


def test_factorizations_of_symmetric_matrices_have_pytorchs_names() -> None:
    a = torch.tensor([[1.0, 2, 4], [2, -3, 5], [4, 5, 6]], dtype=torch.float64)
    found = torch.linalg.ldl_factor(a)
    expected = [[6, 0, 0], [0.8333333, -7.1666667, 0], [0.6666667, 0.1860465, -1.4186047]]
    assert torch.allclose(found.LD, torch.tensor(expected, dtype=torch.float64)) and found.pivots.tolist() == [3, 2, 3]
    assert repr(found).startswith("torch.return_types.linalg_ldl_factor(")
    b = torch.ones(3, 1, dtype=torch.float64)
    assert torch.allclose(a @ torch.linalg.ldl_solve(*found, b), b)
    assert torch.linalg.ldl_factor_ex(torch.zeros(2, 2)).info == 1
    with pytest.raises(RuntimeError):
        torch.linalg.ldl_factor_ex(torch.zeros(2, 2), check_errors=True)
    assert torch.linalg.lu_factor_ex(torch.zeros(2, 2)).info == 1 and torch.linalg.solve_ex(torch.eye(2), b[:2, 0].float()).info == 0
    assert torch.linalg.solve_ex(torch.zeros(2, 2), torch.ones(2)).result.isnan().all()


def test_special_functions_of_two_arguments() -> None:
    x = torch.tensor([0.5, -0.25])
    assert torch.special.chebyshev_polynomial_t(x, 3).tolist() == [-1, 0.6875]
    assert torch.special.legendre_polynomial_p(x, n=2).tolist() == [-0.125, -0.40625]
    assert torch.equal(torch.special.modified_bessel_i0(x), torch.i0(x))
    drawn = torch.binomial(torch.tensor([10.0, 10.0]), torch.tensor([0.0, 1.0]))
    assert drawn.tolist() == [0, 10]
    with pytest.raises(ValueError):
        torch.binomial(torch.tensor([10]), torch.tensor([0.5]))


def test_autocast_on_the_cpu_has_lists_of_its_own() -> None:
    x = torch.ones(4, 4)
    with torch.autocast("cpu"):
        y = x @ x
        kinds = [t.dtype for t in (y, y.exp(), y.softmax(-1), y.sum(), F.layer_norm(y, (4,)), F.mse_loss(y, y), torch.cat([x, y]), x.mv(x[0]))]
        low, wide = torch.bfloat16, torch.float32
        assert kinds == [low, low, low, low, low, wide, wide, wide]
        assert F.binary_cross_entropy(torch.sigmoid(y), torch.ones(4, 4)).dtype is wide

    @torch.autocast("cpu", dtype=torch.float16)
    def product() -> Any:
        return (x @ x).exp()

    assert product().dtype is torch.float16


def test_all_axes_of_vecdot_broadcast() -> None:
    x, y = torch.arange(6.0).reshape(2, 3), torch.tensor([[2.0], [3.0]])
    assert torch.linalg.vecdot(x, y).tolist() == [6.0, 36.0]


def test_cat_of_tensors_without_elements() -> None:
    """Empty vectors join with anything, tensors without elements add nothing but their size."""
    none, rows = torch.empty(0), torch.ones(2, 3)
    for tensors in ([none, rows], [rows, none], [none, rows, none]):
        for dim in (0, 1, -1):
            assert torch.cat(tensors, dim).tolist() == rows.tolist()
    assert torch.cat([none, none]).shape == (0,) and torch.cat([none, torch.ones(2)]).tolist() == [1, 1]
    flat = torch.empty(0, 3)
    assert torch.cat([flat, flat, rows]).shape == (2, 3) and torch.cat([flat, flat], 1).shape == (0, 6)
    with pytest.raises(ValueError, match="expected 1 dimensions"):
        torch.cat([torch.ones(2), rows])
    with pytest.raises(IndexError):
        torch.cat([none, none], 1)
