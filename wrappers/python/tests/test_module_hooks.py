# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks of modules with options, and states that keep or give the tensors themselves."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import tessera as ts
import tessera.torch as torch
from tessera import nn


class Scaled(nn.Module):
    def forward(self, x: ts.Tensor, factor: float = 1.0) -> ts.Tensor:
        if factor < 0:
            raise ValueError("negative")
        return x * factor


def test_hooks_see_and_replace_named_arguments() -> None:
    layer, seen = Scaled(), []

    def before(module: nn.Module, args: Any, kwargs: Any) -> Any:
        seen.append(("before", dict(kwargs)))
        return args, {"factor": 3.0}

    def after(module: nn.Module, args: Any, kwargs: Any, result: Any) -> Any:
        seen.append(("after", dict(kwargs)))
        return result + 1

    with layer.register_forward_pre_hook(before, with_kwargs=True), layer.register_forward_hook(after, with_kwargs=True):
        assert layer(ts.ones(2), factor=2.0).tolist() == [4.0, 4.0]
    assert seen == [("before", {"factor": 2.0}), ("after", {"factor": 3.0})]
    assert layer(ts.ones(2), factor=2.0).tolist() == [2.0, 2.0]


def test_a_prepended_hook_runs_first() -> None:
    layer, order = Scaled(), []
    for name, prepend in (("a", False), ("b", True), ("c", False)):
        layer.register_forward_pre_hook(lambda m, a, name=name: order.append(name), prepend=prepend)
        layer.register_forward_hook(lambda m, a, r, name=name: order.append(name.upper()), prepend=prepend)
    handle = layer.register_forward_pre_hook(lambda m, a: order.append("d"), prepend=True)
    layer(ts.ones(1))
    assert order == ["d", "b", "a", "c", "B", "A", "C"]
    handle.remove()
    order.clear()
    layer(ts.ones(1))
    assert order == ["b", "a", "c", "B", "A", "C"]


def test_some_hooks_run_after_an_error() -> None:
    layer, seen = Scaled(), []
    layer.register_forward_hook(lambda m, a, r: seen.append(r), always_call=True)
    layer.register_forward_hook(lambda m, a, r: seen.append("other"))
    with pytest.raises(ValueError, match="negative"):
        layer(ts.ones(1), factor=-1.0)
    assert seen == [None]
    seen.clear()
    assert layer(ts.ones(1)).tolist() == [1.0] and len(seen) == 2


def test_a_handle_removes_its_own_hook_only() -> None:
    layer, seen = Scaled(), []
    first = layer.register_forward_hook(lambda *_: seen.append("first"))
    first.remove()
    second = layer.register_forward_hook(lambda *_: seen.append("second"))
    first.remove()
    layer(ts.ones(1))
    assert seen == ["second"]
    second.remove()
    layer(ts.ones(1))
    assert seen == ["second"]


def test_states_with_the_tensors_themselves() -> None:
    model, other = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)), nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    kept = model.state_dict(keep_vars=True)
    assert kept["0.weight"] is model[0].weight and kept["1.running_mean"] is model[1].running_mean
    assert not model.state_dict()["0.weight"].requires_grad
    other[0].weight.requires_grad = False
    doubles = {key: value.double() if value.dtype.is_floating_point else value for key, value in model.state_dict().items()}
    other.load_state_dict(doubles, assign=True)
    assert other[0].weight.dtype is ts.float64 and not other[0].weight.requires_grad and other[0].bias.requires_grad
    assert isinstance(other[0].weight, nn.Parameter) and other[1].running_var is doubles["1.running_var"]
    assert bool((other[0].weight == model[0].weight).all())
    with pytest.raises(ValueError, match="size mismatch"):
        other.load_state_dict({**doubles, "0.bias": ts.ones(4)}, assign=True)


def test_layers_can_be_reset() -> None:
    norm = nn.BatchNorm1d(2)
    norm(ts.tensor([[1.0, 5.0], [3.0, 9.0]]))
    norm.weight.data.fill_(7)
    norm.reset_parameters()
    assert norm.weight.tolist() == [1.0, 1.0] and norm.running_mean.tolist() == [0.0, 0.0]
    assert norm.running_var.tolist() == [1.0, 1.0] and int(norm.num_batches_tracked) == 0


def test_modules_of_torch_take_pytorchs_options() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    twin = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    twin.load_state_dict(model.state_dict(), assign=True)
    assert isinstance(twin[0].weight, torch.nn.Parameter) and twin[0].weight.equal(model[0].weight)
    assert model.state_dict(keep_vars=True)["0.weight"] is model[0].weight
    model.set_submodule("1", torch.nn.Tanh())
    assert isinstance(model[1], torch.nn.Tanh) and model.to_empty(device="cpu") is model and model.compile() is None
    with pytest.raises(AttributeError, match="'2'"):
        model.set_submodule("2", torch.nn.Tanh(), strict=True)
    seen: list[Any] = []
    model.register_full_backward_pre_hook(lambda m, g: seen.append(g[0].size()))
    model(torch.ones(3, 2)).sum().backward()
    assert seen == [torch.Size([3, 2])]
    encoder = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1, enable_nested_tensor=False, mask_check=False
    )
    assert encoder(torch.ones(1, 3, 4)).size() == (1, 3, 4)
    assert "output_padding=(1, 1)" in repr(torch.nn.ConvTranspose2d(1, 1, 3, stride=2, output_padding=1))


def test_functions_take_numpys_names_of_arguments() -> None:
    x = torch.arange(6.0).view(2, 3)
    assert x.sum(axis=0, keepdims=True).tolist() == [[3.0, 5.0, 7.0]]
    assert torch.cumsum(x, axis=1).tolist() == [[0.0, 1.0, 3.0], [3.0, 7.0, 12.0]]
    assert torch.cat([x, x], axis=1).size() == (2, 6) and torch.stack([x, x], axis=2).size() == (2, 3, 2)
    assert x.max(axis=1).values.tolist() == [2.0, 5.0] and torch.softmax(x, axis=1).sum().item() == pytest.approx(2)
    assert x.unsqueeze(axis=1).size() == (2, 1, 3) and torch.argmax(x, axis=1, keepdims=True).size() == (2, 1)
    with pytest.raises((TypeError, ValueError)):
        torch.cumsum(x)


def test_every_layer_with_parameters_can_be_reset() -> None:
    for layer in (nn.LayerNorm(2), nn.GroupNorm(1, 2), nn.RMSNorm(2), nn.PReLU(init=0.5), nn.InstanceNorm1d(2, affine=True)):
        first = [parameter.tolist() for parameter in layer.parameters()]
        for parameter in layer.parameters():
            parameter.data.fill_(7)
        layer.reset_parameters()
        assert [parameter.tolist() for parameter in layer.parameters()] == first, layer


def test_hooks_of_an_optimizers_step_run_before_and_after_it() -> None:
    p = torch.nn.Parameter(torch.ones(1))
    optimizer, seen = torch.optim.SGD([p], lr=0.5), []
    first = optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(("pre", p.item())))
    second = optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(("post", p.item())))
    p.grad = torch.ones(1)
    optimizer.step()
    first.remove()
    second.remove()
    optimizer.step()
    assert seen == [("pre", 1.0), ("post", 0.5)] and p.item() == 0.0


def test_states_of_generators_are_bytes_as_pytorchs() -> None:
    state = torch.get_rng_state()
    drawn = torch.rand(3)
    torch.set_rng_state(state.clone())
    assert state.dtype is torch.uint8 and torch.rand(3).equal(drawn)
    generator = torch.Generator().manual_seed(3)
    twins = [generator.clone_state(), pickle.loads(pickle.dumps(generator))]
    kept, drawn = generator.get_state(), torch.rand(2, generator=generator)
    assert all(torch.rand(2, generator=twin).equal(drawn) for twin in twins)
    generator.set_state(kept)
    assert torch.rand(2, generator=generator).equal(drawn)
    with torch.random.fork_rng():
        torch.rand(1)
    assert torch.nn.init._calculate_fan_in_and_fan_out(torch.ones(4, 3, 2)) == (6, 8)


def test_modules_of_torch_export_their_names() -> None:
    names = {"optim.lr_scheduler": "StepLR", "distributions": "Normal", "nn": "Linear", "optim": "Adam", "nn.init": "eye_"}
    for module, name in names.items():
        space: dict[str, Any] = {}
        exec(f"from tessera.torch.{module} import *", space)
        assert name in space
