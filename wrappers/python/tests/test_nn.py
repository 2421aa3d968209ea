# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules: registration, state, hooks, and every layer against PyTorch with the same weights."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
import torch

import tessera as ts
from tessera import autograd, nn, optim
from tessera.autograd import gradcheck


def both(ours: nn.Module, theirs: Any, *inputs: Any, rtol: float = 1e-4, atol: float = 1e-5) -> None:
    """Asserts that the same weights and input give the same output and gradients."""
    ours.load_state_dict({k: ts.from_numpy(np.array(v.detach().numpy())) for k, v in theirs.state_dict().items()})
    arrays = [np.asarray(i) for i in inputs]
    xs = [ts.tensor(a) for a in arrays]
    ys = [torch.tensor(a) for a in arrays]
    if arrays[0].dtype.kind == "f":
        xs[0].requires_grad_()
        ys[0].requires_grad_()
    result, expected = ours(*xs), theirs(*ys)
    np.testing.assert_allclose(result.detach().numpy(), expected.detach().numpy(), rtol, atol)
    weight = np.random.default_rng(0).standard_normal(result.shape).astype(np.float32)
    (result * ts.from_numpy(weight)).sum().backward()
    (expected * torch.from_numpy(weight)).sum().backward()
    pairs = list(zip(ours.parameters(), theirs.parameters()))
    if arrays[0].dtype.kind == "f":
        pairs.append((xs[0], ys[0]))
    for p, q in pairs:
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol, atol * 10)
    for b, c in zip(ours.buffers(), theirs.buffers()):
        np.testing.assert_allclose(b.numpy(), c.numpy(), rtol, atol)


def normal(*shape: int) -> Any:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


LAYERS: list[Any] = [
    (lambda n: n.Linear(5, 3), (normal(4, 5),)),
    (lambda n: n.Linear(5, 3, bias=False), (normal(2, 4, 5),)),
    (lambda n: n.Conv2d(3, 4, 3, padding=1), (normal(2, 3, 6, 5),)),
    (lambda n: n.Conv2d(4, 6, (3, 2), stride=2, dilation=(1, 2), groups=2, bias=False), (normal(2, 4, 9, 8),)),
    (lambda n: n.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1), (normal(2, 3, 4, 5),)),
    (lambda n: n.ConvTranspose2d(4, 6, 2, groups=2, bias=False), (normal(2, 4, 4, 4),)),
    (lambda n: n.BatchNorm2d(3), (normal(4, 3, 5, 5),)),
    (lambda n: n.BatchNorm2d(3, affine=False, momentum=None), (normal(4, 3, 5, 5),)),
    (lambda n: n.BatchNorm2d(3).eval(), (normal(4, 3, 5, 5),)),
    (lambda n: n.LayerNorm(5), (normal(4, 5),)),
    (lambda n: n.LayerNorm((3, 5)), (normal(4, 3, 5),)),
    (lambda n: n.Embedding(7, 4), (np.array([[1, 2], [6, 1]]),)),
    (lambda n: n.Embedding(7, 4, padding_idx=1), (np.array([1, 2, 1]),)),
    (lambda n: n.ReLU(), (normal(3, 4),)),
    (lambda n: n.LeakyReLU(0.2), (normal(3, 4),)),
    (lambda n: n.GELU(), (normal(3, 4),)),
    (lambda n: n.SiLU(), (normal(3, 4),)),
    (lambda n: n.Sigmoid(), (normal(3, 4),)),
    (lambda n: n.Tanh(), (normal(3, 4),)),
    (lambda n: n.Softmax(-1), (normal(3, 4),)),
    (lambda n: n.LogSoftmax(1), (normal(3, 4),)),
    (lambda n: n.Flatten(), (normal(2, 3, 4),)),
    (lambda n: n.Identity(), (normal(2),)),
    (lambda n: n.MaxPool2d(2), (normal(2, 3, 6, 7),)),
    (lambda n: n.MaxPool2d(3, stride=2, padding=1), (normal(2, 3, 6, 7),)),
    (lambda n: n.AvgPool2d(2, padding=1), (normal(2, 3, 6, 7),)),
    (lambda n: n.AdaptiveAvgPool2d((2, 3)), (normal(2, 3, 6, 7),)),
    (lambda n: n.MSELoss(), (normal(3, 4), normal(3, 4) + 1)),
    (lambda n: n.MSELoss(reduction="sum"), (normal(3, 4), normal(3, 4) + 1)),
    (lambda n: n.CrossEntropyLoss(), (normal(3, 4), np.array([0, 3, 1]))),
    (lambda n: n.CrossEntropyLoss(reduction="none", label_smoothing=0.1), (normal(3, 4), np.array([0, 3, 1]))),
    (lambda n: n.CrossEntropyLoss(ignore_index=3), (normal(3, 4), np.array([0, 3, 1]))),
    (lambda n: n.NLLLoss(), (normal(3, 4), np.array([0, 3, 1]))),
    (lambda n: n.BCEWithLogitsLoss(), (normal(3, 4), np.ones((3, 4), np.float32))),
]  # fmt: skip


@pytest.mark.parametrize("make, inputs", LAYERS, ids=[str(i) for i in range(len(LAYERS))])
def test_layers_match_pytorch(make: Any, inputs: Any) -> None:
    torch.manual_seed(0)
    both(make(nn), make(torch.nn), *inputs)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))
        self.scale = nn.Parameter(ts.ones(()))
        self.register_buffer("steps", ts.zeros((), dtype=ts.int64))
        self.register_buffer("scratch", ts.zeros(2), persistent=False)
        self.plain = ts.ones(1)

    def forward(self, x: ts.Tensor) -> Any:
        return self.rest(self.first(x)) * self.scale


def test_registration_names_everything_once() -> None:
    net = Net()
    names = ["scale", "first.weight", "first.bias", "rest.1.weight", "rest.1.bias"]
    assert [n for n, _ in net.named_parameters()] == names and len(list(net.parameters())) == 5
    assert [n for n, _ in net.named_buffers()] == ["steps", "scratch"]
    assert [n for n, _ in net.named_modules()] == ["", "first", "rest", "rest.0", "rest.1"]
    assert [n for n, _ in net.named_children()] == ["first", "rest"] and net.get_submodule("rest.1") is net.rest[1]
    net.again = net.first
    assert len(list(net.parameters())) == 5
    del net.again
    assert not hasattr(net, "again") and "first" in dir(net)
    net.first = None
    assert net.first is None and len(list(net.parameters())) == 3


def test_wrong_assignments_are_refused() -> None:
    net = Net()
    for name, value in (("scale", ts.ones(1)), ("first", 3), ("steps", "x")):
        with pytest.raises(TypeError):
            setattr(net, name, value)
    with pytest.raises(ts.InvalidValueError):
        net.register_buffer("a.b", None)
    with pytest.raises(AttributeError):
        _ = net.missing

    class Bare(nn.Module):
        def __init__(self) -> None:
            self.p = nn.Parameter(ts.ones(1))

    with pytest.raises(AttributeError, match="__init__"):
        Bare()
    with pytest.raises(NotImplementedError):
        nn.Module()(1)


def test_state_dict_round_trips_and_reports_what_does_not_fit() -> None:
    net, other = Net(), Net()
    state = net.state_dict()
    assert list(state) == ["scale", "steps", "first.weight", "first.bias", "rest.1.weight", "rest.1.bias"]
    assert not any(t.requires_grad for t in state.values()) and state["scale"].data_ptr() == net.scale.data_ptr()
    assert repr(other.load_state_dict(state)) == "<All keys matched successfully>"
    x = ts.rand((2, 3))
    np.testing.assert_array_equal(net(x).detach().numpy(), other(x).detach().numpy())
    broken = {**state, "first.bias": ts.ones(9), "extra": ts.ones(1)}
    del broken["scale"]
    with pytest.raises(RuntimeError) as info:
        other.load_state_dict(broken)
    for part in ("for Net", "Missing key(s)", '"scale"', "Unexpected key(s)", '"extra"', "size mismatch for first.bias", "(9,)", "(4,)"):
        assert part in str(info.value)
    del broken["first.bias"]
    report = other.load_state_dict(broken, strict=False)
    assert report.missing_keys == ["scale", "first.bias"] and report.unexpected_keys == ["extra"]


def test_a_parameter_in_the_place_of_a_buffer_is_saved() -> None:
    net = nn.Module()
    net.register_buffer("scale", ts.ones(1), persistent=False)
    net.scale = nn.Parameter(ts.ones(2))
    assert list(net.state_dict()) == ["scale"]
    net.register_buffer("scale", ts.ones(1), persistent=False)
    net.scale = ts.zeros(3)
    assert net.state_dict() == {}


def test_a_shared_module_is_saved_under_each_of_its_names() -> None:
    def pair() -> nn.Sequential:
        layer = nn.Linear(2, 2, bias=False)
        return nn.Sequential(layer, nn.Sequential(layer, nn.Linear(2, 2)))

    net, other = pair(), pair()
    state = net.state_dict()
    assert list(state) == ["0.weight", "1.0.weight", "1.1.weight", "1.1.bias"]
    assert state["0.weight"].data_ptr() == state["1.0.weight"].data_ptr()
    assert list(net.state_dict("x."))[:2] == ["x.0.weight", "x.1.0.weight"]
    for assign in (False, True):
        for left_out in ((), ("0.weight",), ("1.0.weight",)):
            given = {key: value + 1 for key, value in state.items() if key not in left_out}
            keys = other.load_state_dict(given, assign=assign)
            assert keys.missing_keys == [] and other[0] is other[1][0]
            assert (other[0].weight == net[0].weight + 1).all()
            assert len(list(other.parameters())) == 3
    with pytest.raises(ts.InvalidValueError, match='Missing key.*"0.weight", "1.0.weight"'):
        other.load_state_dict({key: value for key, value in state.items() if key.startswith("1.1")})
    net.within = net
    assert len(net.state_dict()) == 4


@pytest.mark.parametrize("affine", [True, False])
def test_buffers_of_a_lazy_layer_have_the_dtype_that_it_was_converted_to(affine: bool) -> None:
    layer = nn.LazyBatchNorm1d(affine=affine).double()
    layer(ts.ones((4, 3), dtype=ts.float64))
    assert layer.running_mean.dtype is layer.running_var.dtype is ts.float64
    assert layer.running_mean.shape == (3,) and layer.num_batches_tracked.dtype is ts.int64
    half = nn.LazyBatchNorm1d(affine=affine).half()
    half(ts.ones((4, 3), dtype=ts.float16))
    assert half.running_mean.dtype is ts.float32


def test_state_goes_through_safetensors(tmp_path: Any) -> None:
    net = Net()
    ts.save_file(net.state_dict(), tmp_path / "f")
    other = Net()
    other.load_state_dict(ts.load_file(tmp_path / "f"))
    assert all(bool((a == b).all()) for a, b in zip(net.parameters(), other.parameters()))


def test_modes_conversion_and_gradients() -> None:
    net = Net()
    assert net.training and net.rest[1].training
    assert net.eval() is net and not net.rest[1].training and net.train().training
    net.to(ts.float64)
    assert all(p.dtype is ts.float64 for p in net.parameters()) and net.steps.dtype is ts.int64
    assert net.float().scale.dtype is ts.float32 and isinstance(net.scale, nn.Parameter)
    net(ts.rand((2, 3))).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.zero_grad(set_to_none=False)
    assert float(net.scale.grad.item()) == 0
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())


def test_apply_visits_children_first() -> None:
    seen: list[str] = []
    Net().apply(lambda m: seen.append(type(m).__name__))
    assert seen == ["Linear", "ReLU", "Linear", "Sequential", "Net"]


def test_hooks_change_what_passes() -> None:
    layer, seen = nn.Identity(), []
    first = layer.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    second = layer.register_forward_hook(lambda m, args, out: out * 10)
    third = layer.register_output_grad_hook(lambda m, g: seen.append(g.tolist()))
    x = ts.ones(2).requires_grad_()
    y = layer(x)
    y.sum().backward()
    assert y.tolist() == [20, 20] and seen == [[1, 1]]
    for handle in (first, second, third):
        handle.remove()
    assert layer(x) is x


def test_containers() -> None:
    items = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    items.append(nn.Sigmoid())
    items[0] = nn.Identity()
    assert len(items) == 3 and isinstance(items[0], nn.Identity) and len(items[1:]) == 2
    named = nn.ModuleDict({"a": nn.ReLU()})
    named["b"] = nn.Linear(1, 1)
    assert "b" in named and list(named) == ["a", "b"] and len(list(named.parameters())) == 2
    del named["a"]
    assert list(named.keys()) == ["b"] and len(list(named.items())) == len(list(named.values())) == 1
    chain = nn.Sequential({"x": nn.ReLU(), "y": nn.Tanh()}).append(nn.Identity())
    assert len(chain) == 3 and isinstance(chain[1], nn.Tanh) and len(chain[:2]) == 2


def test_repr_shows_the_tree() -> None:
    assert repr(nn.Sequential(nn.Linear(2, 3), nn.ReLU())) == (
        "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n  (1): ReLU()\n)"
    )


def test_parameters_copy_and_pickle() -> None:
    p = nn.Parameter(ts.ones(2))
    for made in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert isinstance(made, nn.Parameter) and made.requires_grad and made.data_ptr() != p.data_ptr()
    assert repr(p).startswith("Parameter containing:") and not isinstance(p * 2, nn.Parameter)
    net = copy.deepcopy(Net())
    assert len(list(net.parameters())) == 5 and len(list(pickle.loads(pickle.dumps(net)).parameters())) == 5


def test_dropout_scales_and_only_trains() -> None:
    ts.manual_seed(0)
    layer, x = nn.Dropout(0.25), ts.ones((200, 200))
    y = layer(x)
    kept = (y != 0).astype(ts.float32).mean().item()
    assert 0.73 < kept < 0.77 and y.max().item() == pytest.approx(1 / 0.75)
    assert bool((layer.eval()(x) == x).all())
    with pytest.raises(ValueError):
        nn.Dropout(1.5)


def test_initial_values_have_pytorchs_bounds() -> None:
    ts.manual_seed(0)
    layer = nn.Linear(100, 200)
    assert abs(layer.weight.detach().abs().max().item() - 0.1) < 1e-3 and layer.bias.detach().abs().max().item() <= 0.1
    conv = nn.Conv2d(4, 8, 5)
    assert conv.weight.detach().abs().max().item() <= 0.1
    weight = ts.empty((300, 200))
    nn.init.xavier_uniform_(weight)
    assert weight.abs().max().item() <= math.sqrt(6 / 500)
    nn.init.kaiming_normal_(weight, nonlinearity="relu")
    assert weight.std().item() == pytest.approx(math.sqrt(2 / 200), rel=0.05)
    assert nn.init.ones_(weight).min().item() == 1 and nn.init.zeros_(weight).max().item() == 0
    for bad in (lambda: nn.init.xavier_normal_(ts.ones(3)), lambda: nn.init.calculate_gain("soft")):
        with pytest.raises(ValueError):
            bad()


def test_misfits_raise() -> None:
    for bad in (
        lambda: nn.Linear(3, 2)(ts.ones((2, 4))),
        lambda: nn.Conv2d(3, 2, 3)(ts.ones((1, 2, 8, 8))),
        lambda: nn.BatchNorm2d(2)(ts.ones((2, 2))),
        lambda: nn.Conv2d(3, 4, 3, groups=2),
        lambda: nn.MSELoss(reduction="max"),
    ):
        with pytest.raises(ValueError):
            bad()
    for bad in (lambda: nn.Embedding(3, 2)(ts.tensor([3])), lambda: nn.CrossEntropyLoss()(ts.ones((1, 3)), ts.tensor([5]))):
        with pytest.raises(IndexError):
            bad()


def test_a_network_passes_gradcheck() -> None:
    ts.manual_seed(1)
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Tanh(), nn.Flatten(), nn.Linear(8, 2)).double()
    x = ts.rand((1, 1, 4, 4), dtype=ts.float64).requires_grad_()
    assert gradcheck(net, (x,))


def test_clip_grad_norm_scales_all_gradients() -> None:
    p, q = nn.Parameter(ts.ones(2)), nn.Parameter(ts.ones(1))
    p.grad, q.grad = ts.tensor([3.0, 0.0]), ts.tensor([4.0])
    norm = nn.utils.clip_grad_norm_([p, q], 1.0)
    assert norm.item() == pytest.approx(5) and p.grad.tolist() == pytest.approx([0.6, 0], rel=1e-4)
    assert p.tolist() == [1, 1] and q.tolist() == [1]
    assert nn.utils.clip_grad_norm_([nn.Parameter(ts.ones(1))], 1.0).item() == 0


def test_clip_grad_norm_takes_parameters_in_any_list() -> None:
    model = nn.Linear(3, 1, bias=False)
    model(ts.tensor([[3.0, 0.0, 4.0]])).sum().backward()
    assert nn.utils.clip_grad_norm_(model.parameters(), 1.0).item() == pytest.approx(5)
    assert nn.utils.clip_grad_norm_(model.weight, 10.0).item() == pytest.approx(1)
    # One gradient counts once, however often its parameter is named.
    assert nn.utils.clip_grad_norm_([model.weight, model.weight], 10.0).item() == pytest.approx(1)


def test_weights_without_elements_have_initial_values_too() -> None:
    for rule in (nn.init.xavier_uniform_, nn.init.xavier_normal_, nn.init.kaiming_uniform_, nn.init.kaiming_normal_):
        assert rule(ts.empty((0, 0))).shape == (0, 0)
    assert nn.Linear(0, 3)(ts.ones(2, 0)).tolist() == [[0.0] * 3] * 2


def test_clip_grad_norm_can_refuse_a_norm_that_is_not_finite() -> None:
    p = nn.Parameter(ts.ones(2))
    p.grad = ts.tensor([3.0, float("inf")])
    with pytest.raises(ValueError, match="finite norm, got inf"):
        nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)
    assert p.grad.tolist() == [3, float("inf")]
    assert nn.utils.clip_grad_norm_([p], 1.0).item() == float("inf")


def test_clip_grad_value_clips_each_element() -> None:
    p = nn.Parameter(ts.full((3,), 9.0))
    p.grad = ts.tensor([3.0, -0.5, -8.0])
    nn.utils.clip_grad_value_([p, nn.Parameter(ts.ones(1))], 2.0)
    assert p.grad.tolist() == [2, -0.5, -2] and p.tolist() == [9, 9, 9]
    with pytest.raises(ValueError, match="clip_value"):
        nn.utils.clip_grad_value_([p], -1.0)


def test_clip_norm_takes_tensors_and_refuses_leaves() -> None:
    p = nn.Parameter(ts.tensor([3.0, 4.0]))
    with pytest.raises(ts.AutogradError, match="require grad"):
        optim.functional.clip_norm([p], 1.0)
    assert p.tolist() == [3, 4]
    with ts.no_grad():
        assert optim.functional.clip_norm([p], 1.0).item() == 5
    assert p.tolist() == pytest.approx([0.6, 0.8])


def test_gan_losses_reach_only_what_they_should() -> None:
    generator, discriminator = nn.Linear(2, 3), nn.Linear(3, 1)
    fake = generator(ts.rand((4, 2)))
    discriminator(fake.detach()).sum().backward()
    assert all(p.grad is None for p in generator.parameters())
    discriminator(fake).sum().backward()
    assert all(p.grad is not None for p in generator.parameters())


@pytest.mark.parametrize("last", [False, True])
def test_a_window_of_padding_alone_has_no_gradient(last: bool) -> None:
    shape = (2, 3, 1, 4)
    x = ts.rand(shape) if not last else ts.permute_dims(ts.rand((2, 1, 4, 3)), (0, 3, 1, 2))
    x.requires_grad_()
    values, positions = nn.functional.max_pool2d_with_positions(x, 2, 1, 1, 2)  # the rows -1 and 1 of an image that has row 0
    assert (values == -float("inf")).all() and (positions == -1).all()
    (grad,) = autograd.grad([values.sum()], [x], create_graph=True)
    assert (grad == 0).all()
    g = ts.ones(values.shape, requires_grad=True)
    (grad,) = autograd.grad([nn.functional.max_pool2d(x, 2, 1, 1, 2)], [x], [g], create_graph=True)
    (twice,) = autograd.grad([grad.sum()], [g])
    assert (twice == 0).all()
