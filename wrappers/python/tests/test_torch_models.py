# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""tessera.torch: small models and algorithms as programs of PyTorch write them, with PyTorch's numbers.

Each program starts from NumPy's numbers and gives losses or other numbers. `EXPECTED` is what PyTorch 2.15 gave for the same
code (with its own `torch` for the first argument).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessera.torch
import tessera.torch.nn.functional
import tessera.torch.nn.utils.prune
import tessera.torch.optim.swa_utils

Program = Callable[[Any], list[float]]


def numbers(torch: Any, *shape: int, seed: int = 1) -> Any:
    return torch.from_numpy(np.random.RandomState(seed).randn(*shape).astype("f4"))


def filled(torch: Any, model: Any, seed: int = 0) -> Any:
    """The model with NumPy's numbers in its parameters."""
    draws = np.random.RandomState(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            scale = 0.3 if parameter.dim() < 2 else 1.0 / math.sqrt(max(1, parameter[0].numel()))
            parameter.copy_(torch.from_numpy((draws.randn(*parameter.shape) * scale).astype("f4")))
    return model


def trained(torch: Any, loss: Callable[[], Any], optimizer: Any, steps: int = 3) -> list[float]:
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        found.append(value.item())
    return found


def rotary_attention(torch: Any) -> list[float]:
    """Grouped queries, rotary positions by complex numbers, a cache of keys, RMS normalization, SwiGLU."""
    nn, F = torch.nn, torch.nn.functional  # noqa: N806

    class RMSNorm(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self, dim: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(dim))

        def forward(self, x: Any) -> Any:
            return (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)).type_as(x) * self.weight

    class Block(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v = nn.Linear(16, 16, bias=False), nn.Linear(16, 8, bias=False), nn.Linear(16, 8, bias=False)
            self.o, self.norm, self.norm2 = nn.Linear(16, 16, bias=False), RMSNorm(16), RMSNorm(16)
            self.w1, self.w2, self.w3 = nn.Linear(16, 24, bias=False), nn.Linear(24, 16, bias=False), nn.Linear(16, 24, bias=False)
            self.cache = torch.zeros(2, 2, 8, 2, 4)

        def forward(self, x: Any, start: int | None = None) -> Any:
            b, n, _ = x.shape
            freqs = 1.0 / (10000.0 ** (torch.arange(0, 4, 2)[:2].float() / 4))
            turns = torch.polar(torch.ones(8, 2), torch.outer(torch.arange(8), freqs))[start or 0 :][:n].view(1, n, 1, 2)
            h = self.norm(x)
            q, k = (
                torch.view_as_real(torch.view_as_complex(t.reshape(b, n, -1, 2, 2)) * turns).flatten(3)
                for t in (self.q(h).view(b, n, 4, 4), self.k(h).view(b, n, 2, 4))
            )
            v = self.v(h).view(b, n, 2, 4)
            if start is not None:
                self.cache[0, :b, start : start + n], self.cache[1, :b, start : start + n] = k, v
                k, v = self.cache[0, :b, : start + n], self.cache[1, :b, : start + n]
            k, v = (t[:, :, :, None, :].expand(*t.shape[:3], 2, 4).reshape(b, -1, 4, 4) for t in (k, v))
            scores = q.transpose(1, 2) @ k.permute(0, 2, 3, 1) / math.sqrt(4)
            if n > 1:
                scores = scores + torch.triu(torch.full((n, n), float("-inf")), diagonal=1).type_as(h)
            x = x + self.o((F.softmax(scores, dim=-1) @ v.transpose(1, 2)).transpose(1, 2).reshape(b, n, -1))
            h = self.norm2(x)
            return x + self.w2(F.silu(self.w1(h)) * self.w3(h))

    model, x = filled(torch, Block()), numbers(torch, 2, 8, 16)
    losses = trained(torch, lambda: (model(x) - x.roll(1, 1)).pow(2).mean(), torch.optim.AdamW(model.parameters(), 1e-2))
    with torch.inference_mode():
        parts = [model(x[:, :4], 0), *[model(x[:, i : i + 1], i) for i in range(4, 8)]]
        assert torch.allclose(torch.cat(parts, 1), model(x), atol=1e-5)
    return losses


def selective_scan(torch: Any) -> list[float]:
    """A state space whose step depends on the input, by einsum and a loop."""
    F = torch.nn.functional  # noqa: N806
    u, delta = numbers(torch, 2, 3, 6).requires_grad_(), numbers(torch, 2, 3, 6, seed=2).requires_grad_()
    a = (-torch.exp(torch.log(torch.arange(1, 5, dtype=torch.float32).repeat(3, 1)))).requires_grad_()
    b, c = numbers(torch, 2, 4, 6, seed=3), numbers(torch, 2, 4, 6, seed=4)
    step = F.softplus(delta + 0.1)
    decay, input = torch.exp(torch.einsum("bdl,dn->bdln", step, a)), torch.einsum("bdl,bnl,bdl->bdln", step, b, u)
    state, found = a.new_zeros((2, 3, 4)), []
    for i in range(u.shape[2]):
        state = decay[:, :, i] * state + input[:, :, i]
        found.append(torch.einsum("bdn,bn->bd", state, c[:, :, i]))
    loss = torch.stack(found, dim=2).square().sum()
    loss.backward()
    return [loss.item(), u.grad.norm().item(), delta.grad.norm().item(), a.grad.norm().item()]


def shifted_windows(torch: Any) -> list[float]:
    """Attention in rolled windows with a table of relative positions and a mask."""
    nn, F, side = torch.nn, torch.nn.functional, 4  # noqa: N806

    def windows(x: Any) -> Any:
        b, h, w, c = x.shape
        return x.view(b, h // side, side, w // side, side, c).permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, side * side, c)

    places = torch.stack(torch.meshgrid([torch.arange(side), torch.arange(side)], indexing="ij")).flatten(1)
    apart = (places[:, :, None] - places[:, None, :]).permute(1, 2, 0).contiguous()
    apart += side - 1
    apart[:, :, 0] *= 2 * side - 1
    parts = torch.zeros((1, 8, 8, 1))
    for number, (h, w) in enumerate((h, w) for h in ((0, 4), (4, 6), (6, 8)) for w in ((0, 4), (4, 6), (6, 8))):
        parts[:, slice(*h), slice(*w), :] = number
    kinds = windows(parts).squeeze(-1)
    mask = (kinds.unsqueeze(1) - kinds.unsqueeze(2)).masked_fill_(kinds.unsqueeze(1) != kinds.unsqueeze(2), -100.0)

    class Attention(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.table, self.qkv = nn.Parameter(torch.zeros((2 * side - 1) ** 2, 2)), nn.Linear(8, 24)
            self.register_buffer("index", apart.sum(-1), persistent=False)
            self.scale = nn.Parameter(torch.log(10 * torch.ones((2, 1, 1))))

        def forward(self, x: Any) -> Any:
            w = windows(torch.roll(x, shifts=(-2, -2), dims=(1, 2)))
            q, k, v = self.qkv(w).reshape(*w.shape[:2], 3, 2, 4).permute(2, 0, 3, 1, 4)
            scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
            scores = scores * torch.clamp(self.scale, max=math.log(100.0)).exp()
            scores = scores + self.table[self.index.view(-1)].view(16, 16, -1).permute(2, 0, 1).unsqueeze(0)
            scores = (scores.view(-1, 4, 2, 16, 16) + mask.unsqueeze(1).unsqueeze(0)).view(-1, 2, 16, 16)
            return (scores.softmax(-1) @ v).transpose(1, 2).reshape_as(w)

    model, x = filled(torch, Attention()), numbers(torch, 2, 8, 8, 8)
    return trained(torch, lambda: (model(x) - 1).pow(2).mean(), torch.optim.Adam(model.parameters(), lr=1e-2))


def graph_attention(torch: Any) -> list[float]:
    """Messages along edges: index_add, a softmax by scatter_reduce, a degree that is 0."""
    nn, F = torch.nn, torch.nn.functional  # noqa: N806
    source, target = torch.tensor([[0, 1, 1, 2, 3, 4, 4], [1, 0, 2, 1, 4, 3, 0]])

    def gathered(values: Any, reduce: str) -> Any:
        index = target.view(-1, *[1] * (values.dim() - 1)).expand_as(values)
        return torch.zeros(5, *values.shape[1:]).scatter_reduce(0, index, values, reduce=reduce, include_self=False)

    class Layer(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.lin, self.att, self.bn = nn.Linear(3, 8, bias=False), nn.Parameter(torch.Tensor(1, 2, 8)), nn.BatchNorm1d(4)

        def forward(self, x: Any) -> Any:
            degree = torch.zeros(5).index_add_(0, target, torch.ones(target.numel())).pow(-0.5)
            degree[degree == float("inf")] = 0
            h = self.lin(x).view(-1, 2, 4) * degree[:, None, None]
            scores = F.leaky_relu((torch.cat([h[target], h[source]], -1) * self.att).sum(-1), 0.2)
            weights = (scores - gathered(scores, "amax")[target]).exp()
            weights = weights / (gathered(weights, "sum")[target] + 1e-16)
            return self.bn(torch.zeros(5, 2, 4).index_add_(0, target, h[source] * weights.unsqueeze(-1)).mean(1))

    model, x, y = filled(torch, Layer()), numbers(torch, 5, 3), torch.tensor([0, 1, 1, 0, 3])
    mask = torch.tensor([1, 1, 0, 0, 1], dtype=torch.bool)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    return trained(torch, lambda: F.nll_loss(F.log_softmax(model(x), 1)[mask], y[mask]), optimizer)


def vector_quantized(torch: Any) -> list[float]:
    """The straight-through estimator, the nearest code, its perplexity."""
    nn, F = torch.nn, torch.nn.functional  # noqa: N806
    model = filled(torch, nn.ModuleDict({"e": nn.Conv2d(1, 3, 4, 2, 1), "code": nn.Embedding(5, 3), "d": nn.ConvTranspose2d(3, 1, 4, 2, 1)}))
    x, seen = numbers(torch, 2, 1, 8, 8), []

    def loss() -> Any:
        z = model["e"](x).permute(0, 2, 3, 1).contiguous()
        flat, codes = z.view(-1, 3), model["code"].weight
        apart = torch.sum(flat**2, dim=1, keepdim=True) + torch.sum(codes**2, dim=1) - 2 * torch.matmul(flat, codes.t())
        chosen = torch.zeros(flat.shape[0], 5).scatter_(1, torch.argmin(apart, dim=1).unsqueeze(1), 1)
        q = torch.matmul(chosen, codes).view(z.shape)
        share = torch.mean(chosen, dim=0)
        seen.append(torch.exp(-torch.sum(share * torch.log(share + 1e-10))).item())
        commit = torch.mean((q.detach() - z) ** 2) + 0.25 * torch.mean((q - z.detach()) ** 2)
        return commit + F.mse_loss(model["d"]((z + (q - z).detach()).permute(0, 3, 1, 2).contiguous()), x)

    return trained(torch, loss, torch.optim.Adam(model.parameters(), 1e-2, amsgrad=True)) + seen


def policy_gradient(torch: Any) -> list[float]:
    """Generalized advantages, a clipped ratio, an entropy bonus."""
    nn, D = torch.nn, torch.distributions  # noqa: N806
    net, value = filled(torch, nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))), filled(torch, nn.Linear(3, 1), 1)
    spread = nn.Parameter(torch.zeros(2) - 0.5)
    seen, action, reward = numbers(torch, 10, 3), numbers(torch, 10, 2, seed=4), numbers(torch, 10, seed=5)

    def policy() -> Any:
        return D.Independent(D.Normal(net(seen), spread.exp().expand(2)), 1)

    with torch.no_grad():
        before, worth, first = policy().log_prob(action), value(seen).squeeze(-1), policy()
    advantage, last = torch.zeros(10), 0.0
    for t in reversed(range(10)):
        advantage[t] = last = reward[t] + 0.99 * (worth[t + 1] if t < 9 else 0.0) - worth[t] + 0.99 * 0.95 * last
    wanted = advantage + worth
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)

    def loss() -> Any:
        ratio = (policy().log_prob(action) - before).exp()
        clipped = torch.max(-advantage * ratio, -advantage * torch.clamp(ratio, 0.8, 1.2)).mean()
        return clipped - 0.01 * policy().entropy().mean() + 0.25 * ((value(seen).view(-1) - wanted) ** 2).mean()

    parameters = [*net.parameters(), *value.parameters(), spread]
    losses = trained(torch, loss, torch.optim.Adam(parameters, 3e-3, eps=1e-5))
    return [*losses, D.kl_divergence(first, policy()).mean().item()]


def learning_to_learn(torch: Any) -> list[float]:
    """One inner step for each task by vmap of a gradient, and the gradient of it all."""
    nn, F = torch.nn, torch.nn.functional  # noqa: N806
    net = filled(torch, nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, 1)))
    parameters, x = dict(net.named_parameters()), torch.stack([numbers(torch, 5, 1, seed=i) for i in range(4)])
    y = torch.sin(x + torch.arange(4.0).view(4, 1, 1))

    def task(parameters: Any, x: Any, y: Any) -> Any:
        slopes = torch.func.grad(lambda p: F.mse_loss(torch.func.functional_call(net, p, (x[:3],)), y[:3]))(parameters)
        new = {name: parameters[name] - 0.1 * slopes[name] for name in parameters}
        return F.mse_loss(torch.func.functional_call(net, new, (x[3:],)), y[3:])

    losses = lambda: torch.vmap(task, in_dims=(None, 0, 0))(parameters, x, y).mean()  # noqa: E731
    return trained(torch, losses, torch.optim.Adam(net.parameters(), 1e-2))


def contrastive(torch: Any) -> list[float]:
    """CLIP's symmetric loss, SimCLR's, and the hardest triplets of a batch."""
    nn, F = torch.nn, torch.nn.functional  # noqa: N806
    a = F.normalize(numbers(torch, 4, 8, seed=3), dim=-1).requires_grad_()
    b, scale = F.normalize(numbers(torch, 4, 8, seed=4), dim=-1), nn.Parameter(torch.ones([]) * np.log(1 / 0.07))
    logits, ids = scale.exp() * a @ b.t(), torch.arange(4)
    clip = (F.cross_entropy(logits, ids) + F.cross_entropy(logits.T, ids)) / 2
    both = torch.cat([a, b])
    alike = F.cosine_similarity(both.unsqueeze(1), both.unsqueeze(0), dim=2).masked_fill(torch.eye(8, dtype=bool), -9e15) / 0.5
    pairs = torch.eye(8, dtype=torch.bool).roll(4, dims=0)
    simclr = (-alike[pairs] + torch.logsumexp(alike, dim=-1)).mean()
    y = torch.tensor([0, 1, 2, 3, 1, 0, 0, 2])
    apart, same = torch.cdist(both, both), y[:, None] == y[None]
    triplets = F.relu((apart * same).max(1)[0] - (apart + 1e6 * same).min(1)[0] + 0.2).mean()
    (clip + simclr + triplets).backward()
    return [clip.item(), simclr.item(), triplets.item(), a.grad.norm().item(), scale.grad.item()]


def averaged(torch: Any) -> list[float]:
    """Stochastic weight averaging with its schedule, and the statistics of the average."""
    nn, F, swa = torch.nn, torch.nn.functional, torch.optim.swa_utils  # noqa: N806
    net = filled(torch, nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1)))
    x, y = numbers(torch, 8, 2), numbers(torch, 8, 1, seed=2)
    model, optimizer = swa.AveragedModel(net), torch.optim.SGD(net.parameters(), lr=0.1)
    cosine, late = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4), swa.SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
    rates = []
    for epoch in range(6):
        trained(torch, lambda: F.mse_loss(net(x), y), optimizer, 1)
        if epoch > 2:
            model.update_parameters(net)
            late.step()
        else:
            cosine.step()
        rates.append(optimizer.param_groups[0]["lr"])
    swa.update_bn([x[:4], x[4:]], model)
    return [*rates, *model.module[1].running_mean.tolist(), model(x).mean().item()]


def attribution(torch: Any) -> list[float]:
    """Hooks: Grad-CAM, integrated gradients, a gradient that is clipped where it arrives."""
    nn, F = torch.nn, torch.nn.functional  # noqa: N806
    model = filled(torch, nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)))
    seen: dict[str, Any] = {}
    handles = [
        model[2].register_forward_hook(lambda module, args, output: seen.update(out=output.detach())),
        model[2].register_full_backward_hook(lambda module, inner, outer: seen.update(slope=outer[0])),
        model[6].weight.register_hook(lambda slope: slope.clamp(-0.01, 0.01)),
    ]
    x = numbers(torch, 2, 1, 8, 8)
    found = model(x)
    found[range(2), found.argmax(1)].sum().backward()
    cam = F.relu((seen["slope"].mean(dim=(2, 3), keepdim=True) * seen["out"]).sum(1, keepdim=True))
    cam = F.interpolate(cam, size=x.shape[2:], mode="bilinear", align_corners=False)
    [handle.remove() for handle in handles]
    total = torch.zeros_like(x)
    for part in torch.linspace(0, 1, 5)[1:]:
        point = (part * x).requires_grad_()
        total += torch.autograd.grad(model(point)[:, 0].sum(), point)[0]
    return [cam.sum().item(), cam.max().item(), (total / 4 * x).sum().item(), model[6].weight.grad.abs().max().item()]


def pruned_and_compiled(torch: Any) -> list[float]:
    """Masks of pruning in training, and a model that torch.compile has wrapped."""
    nn, F = torch.nn, torch.nn.functional  # noqa: N806
    plain = filled(torch, nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1)))
    torch.nn.utils.prune.global_unstructured(
        [(plain[0], "weight"), (plain[2], "weight")], pruning_method=torch.nn.utils.prune.L1Unstructured, amount=0.4
    )
    model, x = torch.compile(plain, backend="eager"), numbers(torch, 6, 4)
    assert list(model.state_dict())[0].startswith("_orig_mod.0.") and model._orig_mod is plain
    model.extra = 3
    assert plain.extra == 3 and not model.eval().training and not plain.training and model.train().training
    losses = trained(torch, lambda: F.mse_loss(model(x), x[:, :1]), torch.optim.RMSprop(model.parameters(), lr=0.01))
    torch.nn.utils.prune.remove(plain[0], "weight")
    return [*losses, float((plain[0].weight == 0).sum()), float((plain[2].weight == 0).sum())]


PROGRAMS: list[Program] = [
    rotary_attention, selective_scan, shifted_windows, graph_attention, vector_quantized, policy_gradient, learning_to_learn,
    contrastive, averaged, attribution, pruned_and_compiled,
]  # fmt: skip
EXPECTED: dict[str, list[float]] = {
    "rotary_attention": [1.87659, 1.85384, 1.833],
    "selective_scan": [167.266, 126.357, 95.9426, 8.57809],
    "shifted_windows": [1.38945, 1.33543, 1.28407],
    "graph_attention": [1.25431, 1.10027, 0.964797],
    "vector_quantized": [1.63408, 1.57736, 1.50421, 4.72828, 4.72828, 4.72563],
    "policy_gradient": [0.38039, 0.318295, 0.284885, 0.00607537],
    "learning_to_learn": [33.7129, 27.7955, 22.4673],
    "contrastive": [3.90741, 2.02737, 0.574043, 8.22686, 3.42598],
    "averaged": [0.0853553, 0.05, 0.0146447, 0.0323223, 0.05, 0.05, 0.692584, -1.0236, 1.81478, 1.0795, -0.483025],
    "attribution": [9.81877, 0.184489, 1.92456, 0.01],
    "pruned_and_compiled": [0.322638, 0.177506, 0.112924, 4, 2],
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_pytorchs_numbers(program: Program) -> None:
    np.testing.assert_allclose(program(tessera.torch), EXPECTED[program.__name__], rtol=2e-4, atol=1e-5)
