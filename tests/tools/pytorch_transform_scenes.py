# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of pytorch_autograd_scenes.py about forward mode, mixed precision and torch.func."""

from __future__ import annotations


from pytorch_autograd_scenes import ramp, refused, scene


# ---- forward mode ----


@scene
def dual_numbers(m: object) -> object:
    fwd = m.autograd.forward_ad
    x, t = ramp(m, 3, grad=False), ramp(m, 3, grad=False) * 2
    found = []
    with fwd.dual_level():
        dual = fwd.make_dual(x, t)
        found += [
            fwd.unpack_dual(dual),
            fwd.unpack_dual(dual.sin() * dual),
            fwd.unpack_dual(x).tangent is None,
            fwd.unpack_dual(dual).primal._version,
        ]
        found.append(fwd.unpack_dual(dual[1:]).tangent)
        found.append(fwd.unpack_dual(dual.detach()).tangent is None)
        copy = dual.clone()
        copy[0] = 5.0
        copy.mul_(2)
        found.append(fwd.unpack_dual(copy))
        plain = m.zeros(3, dtype=m.float64)
        plain.copy_(dual)
        found.append(fwd.unpack_dual(plain))
        part = m.zeros(2, 3, dtype=m.float64)
        part[1] = dual
        found.append(fwd.unpack_dual(part))
        with m.no_grad():
            found.append(fwd.unpack_dual(dual * 2).tangent)
        found.append(fwd.unpack_dual(dual > 1))
        found.append(refused(lambda: fwd.make_dual(x, t[:2])))
        found.append(refused(lambda: fwd.make_dual(x, t.float())))
        found.append(refused(lambda: fwd.make_dual(m.ones(3, dtype=m.int64), t)))
        found.append(str(type(fwd.unpack_dual(dual)).__name__))
    found.append(fwd.unpack_dual(dual).tangent is None)
    found.append(refused(lambda: fwd.make_dual(x, t)))
    level = fwd.enter_dual_level()
    fwd.exit_dual_level(level=level)
    return [*found, refused(lambda: fwd.exit_dual_level())]


@scene
def forward_over_reverse(m: object) -> object:
    fwd = m.autograd.forward_ad
    x = ramp(m, 3)
    with fwd.dual_level():
        dual = fwd.make_dual(x, m.ones(3, dtype=m.float64))
        y = (dual**3).sum()
        (g,) = m.autograd.grad(y, x, create_graph=True)
        first = fwd.unpack_dual(y)
        (by_tangent,) = m.autograd.grad(first.tangent, x, retain_graph=True)
        return first, by_tangent, g, fwd.unpack_dual(m.autograd.grad(y, dual)[0])


# ---- autocast ----


@scene
def autocast_regions(m: object) -> object:
    x, w = ramp(m, 2, 2, dtype="float32", grad=False), ramp(m, 2, 2, dtype="float32")
    kinds: list = []

    def note(t: object) -> None:
        kinds.append(str(t.dtype).rpartition(".")[2])

    with m.autocast("cpu"):
        note(x @ w)
        note(x + w)
        note((x @ w).exp())
        note(m.nn.functional.mse_loss((x @ w), x))
        with m.autocast("cpu", enabled=False):
            note(x @ w)
            note((x @ w).to(m.bfloat16) @ w.to(m.bfloat16))
        with m.autocast("cpu", dtype=m.float16):
            note(x @ w)
        note(x @ w)
        kinds += [
            m.is_autocast_enabled("cpu"),
            str(m.get_autocast_dtype("cpu")).rpartition(".")[2],
            m.is_autocast_cache_enabled(),
        ]
        note(x.double() @ w.double())
        note(m.stack([x, x.to(m.bfloat16)]))
        note(m.cat([x, x.to(m.bfloat16)]))
        note(m.mm(x.to(m.bfloat16), w.to(m.bfloat16)))
        note(m.nn.functional.linear(x, w, m.ones(2)))
        note(m.nn.Linear(2, 2)(x))
        note(m.nn.LSTM(2, 2)(x)[0])
        note(m.nn.functional.layer_norm(x.to(m.bfloat16), (2,)))
        note(x.to(m.bfloat16).softmax(-1))
        note(m.nn.functional.cross_entropy(x.to(m.bfloat16), m.tensor([0, 1])))
        kinds.append(refused(lambda: m.nn.functional.binary_cross_entropy(x.sigmoid(), x.sigmoid())))
    note(x @ w)

    @m.autocast("cpu")
    def decorated(a: object) -> object:
        return a @ a

    note(decorated(x))
    with m.autocast("cpu", cache_enabled=False):
        kinds.append(m.is_autocast_cache_enabled())
        note(x @ w)
    with m.amp.autocast("cpu", dtype=m.bfloat16):
        (x @ w).float().sum().backward()
    note(w.grad)
    return kinds, w.grad, m.is_autocast_enabled("cpu"), m.amp.is_autocast_available("cpu")


@scene
def autocast_custom(m: object) -> object:
    seen: list = []

    class Cast(m.autograd.Function):
        @staticmethod
        @m.amp.custom_fwd(device_type="cpu", cast_inputs=m.float32)
        def forward(ctx, a, b):
            seen.append((str(a.dtype).rpartition(".")[2], m.is_autocast_enabled("cpu")))
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @m.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            seen.append((str(g.dtype).rpartition(".")[2], m.is_autocast_enabled("cpu")))
            return g @ b.t(), a.t() @ g

    class Plain(m.autograd.Function):
        @staticmethod
        @m.amp.custom_fwd(device_type="cpu")
        def forward(ctx, a, b):
            seen.append((str((a @ b).dtype).rpartition(".")[2], m.is_autocast_enabled("cpu")))
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @m.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            seen.append((str((g @ b.t()).dtype).rpartition(".")[2], m.is_autocast_enabled("cpu")))
            return g @ b.t(), a.t() @ g

    x, w = ramp(m, 2, 2, dtype="float32"), ramp(m, 2, 2, dtype="float32")
    outs = []
    with m.autocast("cpu"):
        outs.append(Cast.apply(x.to(m.bfloat16), w))
        outs.append(Plain.apply(x, w))
    outs.append(Cast.apply(x, w))
    outs.append(Plain.apply(x, w))
    for out in outs:
        out.float().sum().backward()
    return str(seen), [str(o.dtype).rpartition(".")[2] for o in outs], x.grad, w.grad


@scene
def autocast_training(m: object) -> object:
    m.manual_seed(0)
    layer = m.nn.Sequential(m.nn.Linear(3, 4), m.nn.ReLU(), m.nn.LayerNorm(4), m.nn.Linear(4, 2))
    for number, p in enumerate(layer.parameters()):
        with m.no_grad():
            p.copy_(ramp(m, *p.shape, dtype="float32", grad=False) / (number + 4))
    x = ramp(m, 2, 3, dtype="float32", grad=False)
    with m.autocast("cpu", dtype=m.bfloat16):
        out = layer(x)
        loss = m.nn.functional.cross_entropy(out, m.tensor([0, 1]))
    loss.backward()
    return (
        str(out.dtype)[-8:],
        str(loss.dtype)[-7:],
        [(str(p.grad.dtype)[-7:], p.grad.isfinite().all().item()) for p in layer.parameters()],
    )


# ---- vmap ----


@scene
def vmap_arguments(m: object) -> object:
    x = ramp(m, 3, 4, grad=False)
    v = m.vmap
    return [
        v(lambda a: a * 2, in_dims=1, out_dims=1)(x), v(lambda a, b: a + b, in_dims=(0, None))(x, 2.0),
        v(lambda a: (a.sum(), a), out_dims=(0, 1))(x),
        v(lambda d: d["a"] * 2, in_dims=({"a": 0},))({"a": x}), v(lambda a: {"s": a.sum()})(x),
        v(lambda a, k=None: a + k)(x, k=x),
        refused(lambda: v(lambda a: a.item())(x)), refused(lambda: v(lambda a: 3)(x)),
        refused(lambda: v(lambda a: a, in_dims=2)(x)),
        refused(lambda: v(lambda a, b: a + b)(x, x.t())), refused(lambda: v(lambda a: a, in_dims=None)(x)),
        refused(lambda: v(lambda a: a, in_dims=(0, 0))(x)),
        refused(lambda: v(lambda a: a, out_dims=3)(x)), v(lambda a: a.sum(), chunk_size=2)(x),
        refused(lambda: v(lambda a: a, chunk_size=0)(x)),
        refused(lambda: v(lambda a: m.rand(2))(x)), v(lambda a: m.rand(2), randomness="same")(x).std(0).sum(),
        v(lambda a: m.rand(2), randomness="different")(x).shape, refused(lambda: v(lambda a: a, randomness="other")(x)),
        refused(lambda: v(lambda a: a if a.sum() > 0 else -a)(x)), v(lambda a: m.zeros(2) + a[0])(x),
        refused(lambda: v(lambda a: m.zeros(4).add_(a))(x)),
        v(lambda a: a.new_zeros(4).add_(a))(x), v(lambda a: m.zeros_like(a).copy_(a))(x), v(lambda a: a.clone().fill_(2))(x),
        v(lambda a: None if False else a)(x),
        v(lambda a: m.dropout(a, 0.5, True), randomness="same")(m.ones(3, 4)).std(0).sum(),
        v(v(lambda a: a**2, in_dims=0), in_dims=1, out_dims=1)(x),
        v(lambda a: a.shape[0] * a, in_dims=-1)(x), v(lambda a: (a.dim(), a)[1])(x), v(m.func.grad(lambda a: (a**2).sum()))(x),
        v(lambda a: a, out_dims=-1)(x), v(lambda a: [a, a.sum()])(x), v(lambda a, b: a @ b, in_dims=(0, None))(x, x.t()),
        refused(lambda: v(lambda a: (a, 3))(x)),
        v(lambda a: m.randint(0, 5, (2,)), randomness="different")(x).shape,
        v(lambda a: m.nn.functional.dropout(a, 0.0), randomness="error")(x),
        v(lambda a: m.bernoulli(a * 0 + 1), randomness="different")(x),
        v(lambda a: a.clone().uniform_(2, 2.0000001).round(), randomness="different")(x),
        refused(lambda: v(lambda a: a.clone().normal_())(x)), v(lambda a: m.normal(a, 0.0), randomness="different")(x),
    ]  # fmt: skip


@scene
def func_arguments(m: object) -> object:
    f = m.func
    x, y = ramp(m, 3, grad=False), ramp(m, 3, grad=False) * 2
    s = lambda a, b: (a * b).sum()  # noqa: E731
    v = lambda a, b: a * b.sum()  # noqa: E731
    return [
        f.grad(s)(x, y), f.grad(s, argnums=(0, 1))(x, y), f.grad(s, argnums=-1)(x, y),
        f.grad(lambda a: (a.sum(), {"k": a * 2}), has_aux=True)(x),
        f.grad_and_value(s, argnums=(0,))(x, y), f.vjp(v, x, y)[1](x), f.vjp(lambda a: (a.sum(), a * 2), x, has_aux=True)[2],
        f.jvp(v, (x, y), (y, x)), f.jvp(lambda a: (a.sum(), a), (x,), (y,), has_aux=True), f.jacrev(v, argnums=(0, 1))(x, y),
        f.jacfwd(v, argnums=1)(x, y),
        f.jacrev(v, chunk_size=1)(x, y), f.hessian(s, argnums=(0, 1))(x, y),
        f.jacrev(lambda a: (a.sum(), a * 2), has_aux=True)(x),
        f.jacfwd(lambda a: (a.sum(), a * 2), has_aux=True)(x), f.linearize(v, x, y)[1](y, x),
        f.jacrev(lambda a: {"u": a * 2, "v": (a.sum(),)})(x),
        f.jacfwd(lambda a: {"u": a * 2, "v": (a.sum(),)})(x), refused(lambda: f.grad(lambda a: a * 2)(x)),
        refused(lambda: f.grad(s, argnums=5)(x, y)),
        refused(lambda: f.grad(lambda a: 3)(x)), refused(lambda: f.vjp(v, x, y)[1](x, y)),
        refused(lambda: f.jvp(v, (x,), (x, y))), refused(lambda: f.jvp(v, (x, y), (x,))),
        refused(lambda: f.grad(lambda a: a.sum())(m.ones(3, dtype=m.int64))), f.grad(lambda a: m.ones((), dtype=m.float64))(x),
        f.grad(lambda a: f.grad(lambda b: (a * b).sum() * b.sum())(a).sum())(x), f.jacrev(f.jacfwd(lambda a: a**3))(x),
        f.vjp(lambda a: (a, a * 2), x)[1]((x, y)),
        f.functionalize(lambda a: a.clone().add_(1))(x), f.grad(lambda p: (p["a"] * p["b"]).sum())({"a": x, "b": y}),
        f.jacrev(v, argnums=0, chunk_size=2)(x, y),
        f.grad(lambda a: (a.detach() * a).sum())(x), f.jacrev(lambda a: a[:0])(x).shape,
        f.vjp(lambda a: a.sum(), x)[1](m.tensor(2.0, dtype=m.float64)),
    ]  # fmt: skip


@scene
def func_and_requires_grad(m: object) -> object:
    f = m.func
    x = ramp(m, 3)
    w = ramp(m, 3)
    g = f.grad(lambda a: (a**2 * w).sum())(x)
    g.sum().backward()
    inner = f.vmap(lambda a: (a * w).sum())(ramp(m, 2, 3, grad=False))
    inner.sum().backward()
    with m.no_grad():
        silent = f.grad(lambda a: (a**2).sum())(x)

    def off(a: object) -> object:
        with m.no_grad():
            c = a**2
        return (a - c).sum()

    out, pull = f.vjp(lambda a: a * w, x)
    pull(m.ones(3, dtype=m.float64))[0].sum().backward()
    return (
        x.grad,
        w.grad,
        g.requires_grad,
        silent.requires_grad,
        f.grad(off)(x.detach()),
        out.requires_grad,
        f.jacrev(lambda a: a * w)(x.detach()).requires_grad,
    )


@scene
def functional_call(m: object) -> object:
    f = m.func
    layer = m.nn.Sequential(m.nn.Linear(2, 3), m.nn.Tanh(), m.nn.Linear(3, 1))
    params = {n: ramp(m, *p.shape, grad=False, dtype="float32") for n, p in layer.named_parameters()}
    x = ramp(m, 4, 2, grad=False, dtype="float32")

    def loss(p: object, a: object) -> object:
        return f.functional_call(layer, p, (a,)).square().sum()

    each = f.vmap(f.grad(loss), in_dims=(None, 0))(params, x)
    models = [m.nn.Linear(2, 2) for _ in range(3)]
    p, b = f.stack_module_state(models)
    out = f.vmap(lambda q, r, a: f.functional_call(models[0], (q, r), (a,)), in_dims=(0, 0, None))(p, b, x)
    return [
        each, f.functional_call(layer, params, (x,)), out.shape, sorted(p), p["weight"].requires_grad,
        refused(lambda: f.functional_call(layer, {"none": x}, (x,))),
        refused(lambda: f.functional_call(layer, {}, (x,), strict=True)), f.functional_call(layer, params, args=x, kwargs=None),
        f.hessian(loss)(params, x[:1])["2.bias"]["2.bias"],
    ]  # fmt: skip


@scene
def writes_in_one_place(m: object) -> object:
    f = m.func
    x, s = ramp(m, 4, grad=False), ramp(m, 3, grad=False) * 3
    i = m.tensor([1, 1, 2])
    direction = m.tensor([1.0, 10.0, 100.0], dtype=m.float64)
    return [
        f.jvp(lambda a: x.scatter(0, i, a), (s,), (direction,)), f.jvp(lambda a: x.index_put((i,), a), (s,), (direction,)),
        f.jvp(lambda a: x.index_copy(0, i, a), (s,), (direction,)), f.jvp(lambda a: x.put(i, a), (s,), (direction,)),
        f.jvp(lambda a: x.put(i, a, True), (s,), (direction,)), f.jvp(lambda a: x.index_put((i,), a, True), (s,), (direction,)),
        f.jvp(lambda a: x.scatter_add(0, i, a), (s,), (direction,)),
        f.jvp(lambda a: x.scatter_reduce(0, i, a, "sum"), (s,), (direction,)),
        f.jvp(lambda a: x.scatter_reduce(0, i, a, "amax"), (s,), (direction,)),
        f.jvp(lambda a: x.scatter_reduce(0, i, a, "mean"), (s,), (direction,)),
        f.jvp(lambda a: x.masked_scatter(x > 0.6, a), (s,), (direction,)),
        f.jvp(lambda a: x.index_add(0, i, a), (s,), (direction,)),
        f.jvp(lambda a: m.nn.functional.max_unpool1d(a.reshape(1, 3), m.tensor([[1, 1, 4]]), 2), (s,), (direction,)),
    ]  # fmt: skip
