# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of pytorch_autograd_scenes.py about custom functions and gradcheck."""

from __future__ import annotations


from pytorch_autograd_scenes import ramp, refused, scene


# ---- custom functions ----


@scene
def function_styles(m: object) -> object:
    class Scale(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, flag=None):
            ctx.save_for_backward(x)
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None, None

        @staticmethod
        def jvp(ctx, t, *_):
            return t * ctx.factor

    class Two(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(x, y)
            return x * y, x + y

        @staticmethod
        def backward(ctx, a, b):
            x, y = ctx.saved_tensors
            seen.append((a is None, b is None, ctx.needs_input_grad))
            first = a * y if a is not None else None
            second = a * x if a is not None else None
            return first, second

    class Setup(m.autograd.Function):
        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def vjp(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x

    seen: list = []
    x, y = ramp(m, 3), ramp(m, 3)
    out = Scale.apply(x, 3.0)
    name = type(out.grad_fn).__name__
    out.sum().backward()
    a, b = Two.apply(x, y)
    a.sum().backward()
    c, d = Two.apply(x, y.detach())
    d.sum().backward()
    Setup.apply(x, y).sum().backward()
    with m.autograd.forward_ad.dual_level():
        dual = m.autograd.forward_ad.make_dual(x.detach(), m.ones(3, dtype=m.float64))
        tangent = m.autograd.forward_ad.unpack_dual(Scale.apply(dual, 2.0)).tangent
        without = refused(lambda: Setup.apply(dual, y))
    return (
        name,
        x.grad,
        y.grad,
        str(seen),
        tangent,
        without,
        out.grad_fn.name() == name,
        b.requires_grad,
        c.requires_grad,
    )


@scene
def function_marks(m: object) -> object:
    class InPlace(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class Parts(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            values, places = x.sort()
            ctx.mark_non_differentiable(places)
            ctx.save_for_backward(places)
            return values, places

        @staticmethod
        def backward(ctx, g, _):
            (places,) = ctx.saved_tensors
            return m.zeros_like(g).scatter_(0, places, g)

    class Once(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        @m.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * ctx.saved_tensors[0].exp()

    class Same(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 3

    class View(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, g):
            return g * 4

    x = ramp(m, 3)
    y = x.clone()
    z = InPlace.apply(y)
    same = z is y
    z.sum().backward()
    values, places = Parts.apply(x)
    traits = [places.requires_grad, places.dtype == m.int64, values.requires_grad]
    (values * m.arange(3, dtype=m.float64)).sum().backward()
    once = Once.apply(x)
    (g,) = m.autograd.grad(once.sum(), x, create_graph=True)
    twice = refused(lambda: m.autograd.grad(g.sum(), x)) if g.requires_grad else "constant"
    Same.apply(x).sum().backward()
    View.apply(x).sum().backward()
    return same, x.grad, traits, g.detach(), twice, Same.apply(x) is x, y._version, refused(lambda: InPlace.apply(x))


@scene
def function_errors(m: object) -> object:
    def kind(count: int, **more: object) -> object:
        class Bad(m.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                return x * y

            @staticmethod
            def backward(ctx, g):
                return (g,) * count

        return Bad

    class NoTensor(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 3

    class NoBackward(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    class WrongShape(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, g):
            return m.ones(7, dtype=m.float64)

    class Mixed(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, d):
            return x * 2, "text", None, d

        @staticmethod
        def backward(ctx, g, *rest):
            seen.append(len(rest))
            return g * 2, None

    seen: list = []
    x, y = ramp(m, 3), ramp(m, 3)
    mixed = Mixed.apply(x, {"a": 1})
    mixed[0].sum().backward()
    return [
        refused(lambda: kind(1).apply(x, y).sum().backward()), refused(lambda: kind(3).apply(x, y).sum().backward()),
        refused(lambda: NoBackward.apply(x).sum().backward()), refused(lambda: WrongShape.apply(x).backward()),
        refused(lambda: NoBackward().forward), mixed[1], mixed[2] is None, mixed[3], seen, x.grad,
        refused(lambda: m.autograd.Function.apply(x)),
        refused(lambda: NoTensor.apply(x.detach())),
    ]  # fmt: skip


@scene
def function_double_backward(m: object) -> object:
    class Cube(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    class Exp(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = x.exp()
            ctx.save_for_backward(out)
            return out

        @staticmethod
        def backward(ctx, g):
            (out,) = ctx.saved_tensors
            return g * out

    x = ramp(m, 3)
    (g,) = m.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    (h,) = m.autograd.grad(Exp.apply(x).sum(), x, create_graph=True)
    free = Cube.apply(x)
    free.sum().backward()
    node = free.grad_fn
    return [
        m.autograd.grad(g.sum(), x), m.autograd.grad(h.sum(), x), m.autograd.gradcheck(Cube.apply, x),
        m.autograd.gradgradcheck(Exp.apply, x),
        refused(lambda: free.sum().backward()), refused(lambda: node.saved_tensors),
    ]  # fmt: skip


# ---- gradcheck ----


@scene
def gradcheck_options(m: object) -> object:
    check, twice = m.autograd.gradcheck, m.autograd.gradgradcheck
    x, y = ramp(m, 2, 2), ramp(m, 2)
    z = m.tensor([1 + 2j, 0.5 - 1j], dtype=m.complex128, requires_grad=True)

    class Wrong(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    f = lambda a, b: a @ b  # noqa: E731
    return [
        check(f, (x, y)), check(f, (x, y), fast_mode=True), check(f, (x, y), check_forward_ad=True),
        check(f, (x, y), check_batched_grad=True),
        check(f, (x, y), check_batched_forward_grad=True, check_forward_ad=True),
        check(f, (x, y), check_forward_ad=True, check_backward_ad=False),
        check(lambda a: a * a, z), check(lambda a: a.abs(), z),
        check(lambda a: a * a, z, fast_mode=True, check_forward_ad=True),
        twice(f, (x, y)), twice(f, (x, y), gen_non_contig_grad_outputs=True), twice(f, (x, y), check_fwd_over_rev=True),
        twice(f, (x, y), check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=False),
        twice(f, (x, y), fast_mode=True), twice(lambda a: a * a, z),
        check(Wrong.apply, (y,), raise_exception=False), refused(lambda: check(Wrong.apply, (y,))),
        check(lambda a: (a.sum(), a * 2), (y,)), check(lambda a: a.to(m.int64), (y,)), check(f, (x.detach(), y)),
        refused(lambda: check(f, (x.detach(), y.detach()))),
        check(lambda a: a * 2, (y,), eps=1e-5, atol=1e-4, rtol=1e-3, nondet_tol=1e-6),
        check(lambda a: a.float(), (y,), raise_exception=False, check_grad_dtypes=True), check(lambda a: a[:0], (y,)),
        check(lambda a: m.ones(2, dtype=m.float64), (y,)),
        check(lambda a: a.clone().undefined() if False else a * 1, (y,), check_undefined_grad=False),
        refused(lambda: check(lambda a: a * 2, (y,), check_forward_ad=False, check_backward_ad=False)),
    ]  # fmt: skip
