# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Short programs about derivatives, which compare_pytorch_transforms.py runs with PyTorch and with tessera.torch.

Each takes the module and returns what must be the same: tensors, numbers, texts. A program that one library refuses and
the other one does not is a difference, too.
"""

from __future__ import annotations

from collections.abc import Callable

SCENES: dict[str, Callable[[object], object]] = {}


def scene(function: Callable) -> Callable:
    SCENES[function.__name__] = function
    return function


def ramp(m: object, *shape: int, grad: bool = True, dtype: str = "float64") -> object:
    count = 1
    for size in shape:
        count *= size
    made = (m.arange(count, dtype=getattr(m, dtype)) / 4 + 0.5).reshape(shape)
    return made.requires_grad_() if grad else made


def refused(call: Callable) -> str:
    try:
        call()
    except Exception:  # noqa: BLE001 - the kinds and texts of the errors differ
        return "refused"
    return "done"


# ---- torch.autograd.functional ----

FUNCTIONS = {
    "vector": (lambda x: x.exp() * x.sum(), (3,)),
    "matrix": (lambda x: (x @ x.t()).sin(), (2, 3)),
    "scalar": (lambda x: (x**3).sum(), (3,)),
}


def _of_functional(name: str, *extra: object, **options: object) -> None:
    text = ", ".join([*map(str, extra), *(f"{k}={v}" for k, v in options.items())])

    for kind, (function, shape) in FUNCTIONS.items():
        if name in ("hessian", "vhp", "hvp") and kind != "scalar":
            continue

        def run(m: object, function: Callable = function, shape: tuple = shape) -> object:
            x = ramp(m, *shape)
            vectors = []
            if name in ("jvp", "vhp", "hvp"):
                vectors = [ramp(m, *shape, grad=False) * 2]
            elif name == "vjp":
                vectors = [m.ones_like(function(x)).detach() * 3]
            found = getattr(m.autograd.functional, name)(function, x, *vectors, **options)
            flat = found if isinstance(found, tuple) else (found,)
            traits = [t.requires_grad for t in flat]
            second = []
            if options.get("create_graph"):
                second = list(m.autograd.grad(sum(t.sum() for t in flat), x))
            return found, traits, second

        SCENES[f"functional.{name}({kind}{', ' if text else ''}{text})"] = run


for _name in ("jacobian", "hessian", "vjp", "jvp", "vhp", "hvp"):
    _of_functional(_name)
    _of_functional(_name, create_graph=True)
    _of_functional(_name, strict=True)
_of_functional("jacobian", vectorize=True)
_of_functional("jacobian", vectorize=True, strategy="forward-mode")
_of_functional("jacobian", strict=True, create_graph=True)
_of_functional("hessian", vectorize=True)
_of_functional("hessian", vectorize=True, outer_jacobian_strategy="forward-mode")


@scene
def functional_of_several(m: object) -> object:
    f = m.autograd.functional
    x, y = ramp(m, 2), ramp(m, 3)
    both = lambda a, b: (a.sum() * b, a**2)  # noqa: E731
    one = lambda a, b: (a.sum() ** 2 * b).sum()  # noqa: E731
    return [
        f.jacobian(both, (x, y)), f.jacobian(both, (x, y), vectorize=True), f.hessian(one, (x, y)),
        f.jacobian(both, (x, y), vectorize=True, strategy="forward-mode"),
        f.vjp(both, (x, y), (m.ones(3, dtype=m.float64), m.ones(2, dtype=m.float64))), f.jvp(both, (x, y), (x * 2, y * 3)),
        f.vhp(one, (x, y), (x * 2, y * 3)), f.hvp(one, (x, y), (x * 2, y * 3)), f.hessian(one, (x, y), vectorize=True),
    ]  # fmt: skip


@scene
def functional_independent(m: object) -> object:
    f = m.autograd.functional
    x, y = ramp(m, 2), ramp(m, 3)
    only = lambda a, b: a * 2  # noqa: E731
    constant = lambda a: m.ones(2, dtype=m.float64)  # noqa: E731
    linear = lambda a: a.sum()  # noqa: E731
    return [
        f.jacobian(only, (x, y)), f.jacobian(constant, x), f.hessian(linear, x), f.vhp(linear, x, m.ones_like(x)),
        f.hvp(linear, x, m.ones_like(x)), f.jvp(constant, x, m.ones_like(x)), f.vjp(constant, x, m.ones_like(x)),
        refused(lambda: f.jacobian(only, (x, y), strict=True)), refused(lambda: f.jacobian(constant, x, strict=True)),
        refused(lambda: f.hessian(linear, x, strict=True)), refused(lambda: f.vhp(linear, x, m.ones_like(x), strict=True)),
        refused(lambda: f.hvp(linear, x, m.ones_like(x), strict=True)),
        refused(lambda: f.jvp(constant, x, m.ones_like(x), strict=True)),
        refused(lambda: f.vjp(constant, x, m.ones_like(x), strict=True)),
        refused(lambda: f.vjp(lambda a: a * 2, x)), refused(lambda: f.jvp(lambda a: a * 2, x)),
        refused(lambda: f.vjp(lambda a: a * 2, x, m.ones(3))), refused(lambda: f.hessian(lambda a: a * 2, x)),
        refused(lambda: f.jacobian(lambda a: 3, x)), refused(lambda: f.jacobian(lambda a: a, 3)),
        refused(lambda: f.jacobian(lambda a: a, x, strategy="other")), f.vjp(lambda a: a.sum(), x),
        f.jvp(lambda a: a * 2, x.sum()),
    ]  # fmt: skip


@scene
def functional_shapes(m: object) -> object:
    f = m.autograd.functional
    x = ramp(m, 2, 3)
    number = ramp(m)
    return [
        f.jacobian(lambda a: a.sum(), x), f.jacobian(lambda a: a.reshape(3, 2) * 2, x), f.jacobian(lambda a: a**2, number),
        f.hessian(lambda a: a**3, number), f.hessian(lambda a: (a**3).sum().reshape(1), x),
        f.jacobian(lambda a: (a.sum(),), x),
    ]  # fmt: skip


# ---- torch.autograd.grad, backward ----


@scene
def grad_options(m: object) -> object:
    x, y, z = ramp(m, 3), ramp(m, 3), ramp(m, 3)
    out = (x * y).sum()
    g = m.autograd.grad
    return [
        g((x * y).sum(), (x, z), allow_unused=True), refused(lambda: g((x * y).sum(), (x, z))),
        g((x * y).sum(), (x, z), materialize_grads=True),
        refused(lambda: g((x * y).sum(), (x, z), allow_unused=False, materialize_grads=True)),
        g(x * y, x, m.ones(3, dtype=m.float64)), refused(lambda: g(x * y, x)),
        g([x * y, x.sum()], [x], [m.ones(3, dtype=m.float64), None]),
        g(x * y, (x, y), m.eye(3, dtype=m.float64), is_grads_batched=True),
        g(x * y, (x, z), m.eye(3, dtype=m.float64), is_grads_batched=True, allow_unused=True),
        g(x * y, (x, z), m.eye(3, dtype=m.float64), is_grads_batched=True, materialize_grads=True),
        g((x * y, x.sum()), (x, y), (m.eye(3, dtype=m.float64), m.arange(3, dtype=m.float64)), is_grads_batched=True),
        refused(lambda: g((x * y, x.sum()), x, (m.eye(3, dtype=m.float64), m.arange(2)), is_grads_batched=True)),
        refused(lambda: g(x * y, x, m.ones(2, dtype=m.float64))), refused(lambda: g(x * y, x, m.ones(3, dtype=m.complex128))),
        g(out, (x, x)), refused(lambda: g(out, x)), refused(lambda: g(m.ones(3).sum(), x)),
        refused(lambda: g((x > 1).sum(), x)),
        g((x**3).sum(), x, create_graph=True)[0].requires_grad, g((x**3).sum(), x)[0].requires_grad,
        refused(lambda: g([], [])), refused(lambda: g(x.sum(), [])),
    ]  # fmt: skip


@scene
def grad_batched_through(m: object) -> object:
    x = ramp(m, 2, 3)
    g = m.autograd.grad
    found = []
    for function in (
        lambda t: t.sin() @ t.t(),
        lambda t: t.cumsum(1),
        lambda t: t.sort(1)[0],
        lambda t: m.stack([t, t * 2]),
        lambda t: t.softmax(1),
        lambda t: t.expand(4, 2, 3),
        lambda t: t[:, [0, 0, 2]],
        lambda t: t.prod(1),
        lambda t: t.var(1),
        lambda t: t.norm(dim=0),
        lambda t: m.nn.functional.pad(t, (1, 1)),
        lambda t: t.flip(0).clone().mul_(3),
        lambda t: m.einsum("ij,kj->ik", t, t),
    ):
        y = function(x)
        vectors = ramp(m, 3, *y.shape, grad=False)
        found.append(g(y, x, vectors, is_grads_batched=True)[0])
    return found


@scene
def backward_options(m: object) -> object:
    x, y = ramp(m, 3), ramp(m, 3)
    m.autograd.backward((x * y, x.sum()), (m.ones(3, dtype=m.float64), None), inputs=[x])
    first = x.grad.clone()
    out = (x * y).sum()
    out.backward(retain_graph=True)
    out.backward()
    again = refused(lambda: out.backward())
    (x**2).sum().backward(create_graph=True)
    return [
        first, x.grad, y.grad, again, x.grad.requires_grad, refused(lambda: (x * 2).backward()),
        refused(lambda: m.ones(3).sum().backward()), refused(lambda: (x * y).sum().backward(inputs=[])),
        (x * 2).backward(m.ones(3, dtype=m.float64)), x.grad,
    ]  # fmt: skip


@scene
def leaves_and_grads(m: object) -> object:
    x = ramp(m, 3)
    y = x * 2
    y.retain_grad()
    z = y.detach()
    y.sum().backward()
    w = m.ones(3, requires_grad=True)
    w.grad = m.ones(3)
    found = [
        x.is_leaf, y.is_leaf, z.is_leaf, z.requires_grad, y.retains_grad, x.retains_grad, y.grad, x.output_nr, y.output_nr,
        w.grad,
        refused(lambda: setattr(w, "grad", m.ones(2))), refused(lambda: setattr(w, "grad", m.ones(3, dtype=m.float64))),
        refused(lambda: setattr(w, "grad", 3)), refused(lambda: m.ones(3, dtype=m.int64).requires_grad_()),
        refused(lambda: y.requires_grad_(False)),
        refused(lambda: x.add_(1)), refused(lambda: x.view(-1).add_(1)),
    ]  # fmt: skip
    with m.no_grad():
        x.add_(1)
        found.append((x * 2).requires_grad)
        with m.enable_grad():
            found.append((x * 2).requires_grad)
    with m.inference_mode():
        made = x * 2
        found += [made.is_inference(), made.requires_grad]
    found += [
        refused(lambda: made.add_(1)),
        refused(lambda: (made * x).sum().backward()),
        (made.clone() * x).requires_grad,
        x._version,
        x,
    ]
    with m.set_grad_enabled(False):
        found.append(m.is_grad_enabled())
    with m.autograd.set_grad_enabled(True), m.autograd.inference_mode(False):
        found.append((x * 2).requires_grad)
    return found


# ---- hooks ----


@scene
def tensor_hooks(m: object) -> object:
    log: list = []
    x = ramp(m, 2)
    y = x * 3
    y.register_hook(lambda g: log.append(("first", g.clone())) or g * 2)
    handle = y.register_hook(lambda g: log.append(("second", g.clone())) or g + 1)
    y.retain_grad()
    x.register_hook(lambda g: log.append(("leaf", g.clone())) or g * 10)
    x.register_post_accumulate_grad_hook(lambda t: log.append(("after", t.grad.clone())))
    y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    return log, x.grad, y.grad


@scene
def hooks_on_captured(m: object) -> object:
    log: list = []
    x = ramp(m, 2)
    y = x * 3
    y.register_hook(lambda g: log.append(("y", g.clone())) or g * 2)
    x.register_hook(lambda g: log.append(("x", g.clone())) or g * 5)
    x.register_post_accumulate_grad_hook(lambda t: log.append("after"))
    found = m.autograd.grad((y**2).sum(), (x, y))
    return log, found


@scene
def node_hooks(m: object) -> object:
    log: list = []
    x = ramp(m, 2)
    y = (x * 3).exp()
    node = y.grad_fn
    node.register_prehook(lambda g: log.append(("pre", [t.clone() for t in g])))
    node.register_hook(lambda gi, go: log.append(("post", [t.clone() for t in gi], [t.clone() for t in go])))
    node.register_hook(lambda gi, go: tuple(t * 2 for t in gi))
    node.register_prehook(lambda g: tuple(t * 3 for t in g))
    y.register_hook(lambda g: log.append(("tensor", g.clone())))
    y.sum().backward()
    return log, x.grad


@scene
def order_of_hooks(m: object) -> object:
    log: list = []
    x = ramp(m, 2)
    y = x * 2
    z = y.sin()
    z.grad_fn.register_prehook(lambda g: log.append("pre z"))
    z.register_hook(lambda g: log.append("z"))
    z.grad_fn.register_hook(lambda a, b: log.append("post z"))
    y.register_hook(lambda g: log.append("y"))
    y.grad_fn.register_hook(lambda a, b: log.append("post y"))
    y.retain_grad()
    y.register_hook(lambda g: log.append("y again"))
    acc = m.autograd.graph.get_gradient_edge(x).node
    acc.register_prehook(lambda g: log.append("pre acc"))
    acc.register_hook(lambda a, b: log.append("post acc"))
    x.register_hook(lambda g: log.append("x"))
    x.register_post_accumulate_grad_hook(lambda t: log.append("accumulated"))
    z.sum().backward()
    return [" ".join(log)]


@scene
def multi_hooks(m: object) -> object:
    log: list = []
    x, y, unused = ramp(m, 2), ramp(m, 2), ramp(m, 2)
    a = x * 2
    graph = m.autograd.graph
    graph.register_multi_grad_hook((a, y), lambda gs: log.append(("all", [g is None for g in gs])))
    graph.register_multi_grad_hook((a, unused), lambda gs: log.append(("partly", [g is None for g in gs])))
    any_of = graph.register_multi_grad_hook((a, y), lambda g: log.append(("any", g.clone())), mode="any")
    (a * y).sum().backward(retain_graph=True)
    any_of.remove()
    a.sum().backward()
    return log, refused(lambda: graph.register_multi_grad_hook((a,), print, mode="none"))


@scene
def hook_errors(m: object) -> object:
    x = ramp(m, 2)
    y = x * 2
    y.register_hook(lambda g: m.ones(3))

    def fails(g: object) -> None:
        raise ValueError("mine")

    z = x * 3
    z.register_hook(fails)
    try:
        z.sum().backward()
        text = "none"
    except ValueError as error:
        text = str(error)
    return [
        refused(lambda: y.sum().backward()),
        text,
        refused(lambda: m.ones(2).register_hook(print)),
        refused(lambda: y.register_post_accumulate_grad_hook(print)),
    ]


# ---- saved tensors ----


@scene
def saved_hooks(m: object) -> object:
    log: list = []
    x = ramp(m, 3)

    def pack(t: object) -> object:
        log.append(("pack", tuple(t.shape)))
        return t * 1

    def unpack(t: object) -> object:
        log.append(("unpack", tuple(t.shape)))
        return t

    with m.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x.exp() * x).sum()
    y.backward()
    with m.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t * 2):
        z = (x**2).sum()
    z.backward()
    return sorted(map(str, log)), x.grad


@scene
def saved_hooks_nested(m: object) -> object:
    log: list = []
    x = ramp(m, 3)
    hooks = m.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: log.append("outer") or t, lambda t: t):
        y = x.exp()
        with hooks(lambda t: log.append("inner") or t, lambda t: t):
            y = y.sin()
        y = y.tanh()
    y.sum().backward()
    disable = m.autograd.graph.disable_saved_tensors_hooks
    with disable("not here"):
        inside = refused(lambda: hooks(lambda t: t, lambda t: t).__enter__())
    return [" ".join(log), x.grad, inside]


@scene
def save_on_cpu(m: object) -> object:
    x = ramp(m, 3)
    with m.autograd.graph.save_on_cpu():
        y = (x.exp() * x).sum()
    y.backward()
    with m.autograd.graph.save_on_cpu(pin_memory=False):
        (x.sin() ** 2).sum().backward()
    return x.grad


@scene
def mutation(m: object) -> object:
    x = ramp(m, 3)
    with m.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        z = (y**2).sum()
        y.mul_(5)
        w = y.exp().sum()
        y.sin_()
        (z + w + y.sum()).backward()
    a = x.clone()
    b = (a**2).sum()
    a.mul_(2)
    return x.grad, refused(lambda: b.backward())


@scene
def nodes(m: object) -> object:
    x = ramp(m, 3)
    y = (x * 2).exp()
    node = y.grad_fn
    node.metadata["key"] = "value"
    edge = m.autograd.graph.get_gradient_edge(x)
    edges = m.autograd.graph.get_gradient_edge(y)
    found = [
        isinstance(node, m.autograd.graph.Node), len(node.next_functions), node.next_functions[0][1], node.metadata["key"],
        edge.output_nr, isinstance(edge, m.autograd.graph.GradientEdge), edge.node.variable is not None, node._saved_result,
        len(node.name()) > 0,
        node.next_functions[0][0].next_functions[0][0].name().endswith("AccumulateGrad"),
        node._sequence_nr() > node.next_functions[0][0]._sequence_nr(),
        node._input_metadata[0].shape,
    ]  # fmt: skip
    found.append(m.autograd.grad(y.sum(), [edge, edges], retain_graph=True))
    m.autograd.backward(y, m.ones(3, dtype=m.float64), inputs=[edge], retain_graph=True)
    found.append(x.grad)
    return found


@scene
def versions(m: object) -> object:
    x = m.ones(3)
    before = x._version
    x.add_(1)
    x[0] = 3
    middle = x._version
    m.autograd.graph.increment_version(x)
    return before, middle, x._version, x.detach()._version, x.data._version


@scene
def anomaly(m: object) -> object:
    x = ramp(m, 3)
    with m.autograd.detect_anomaly(check_nan=True):
        y = (x * 0).sqrt().sum() * 0
        nan = refused(lambda: y.backward())
    with m.autograd.set_detect_anomaly(True, check_nan=False):
        on = m.is_anomaly_enabled(), m.is_anomaly_check_nan_enabled()
    return nan, list(on), m.is_anomaly_enabled()


# ---- checkpoints ----


def _checkpoints(use_reentrant: bool) -> None:
    def run(m: object) -> object:
        check = m.utils.checkpoint.checkpoint
        x, w = ramp(m, 3), ramp(m, 3)
        calls: list = []

        def part(a: object, b: object, scale: float = 2.0) -> object:
            calls.append(1)
            return (a * b).sin() * scale, a

        options = {"use_reentrant": use_reentrant}
        first, second = check(part, x, w, **options)
        (first.sum() + second.sum()).backward()
        number = len(calls)
        nested = check(lambda a: check(lambda b: b.exp(), a, **options) * 2, x, **options)
        nested.sum().backward()
        layers = m.nn.Sequential(m.nn.Tanh(), m.nn.Sigmoid(), m.nn.Tanh())
        chained = m.utils.checkpoint.checkpoint_sequential(layers, 2, x, **options)
        chained.sum().backward()
        without = check(lambda a: a * 2, m.ones(3), **options)
        drop = check(lambda a: m.nn.functional.dropout(a, 0.5), x, preserve_rng_state=True, **options)
        drop.sum().backward()
        with m.no_grad():
            silent = check(part, x, w, **options)[0]
        return [
            number,
            x.grad.shape,
            w.grad,
            chained,
            without.requires_grad,
            silent.requires_grad,
            nested,
            first.requires_grad,
            second.requires_grad,
        ]

    SCENES[f"checkpoint(use_reentrant={use_reentrant})"] = run


_checkpoints(True)
_checkpoints(False)


@scene
def checkpoint_options(m: object) -> object:
    import contextlib

    check = m.utils.checkpoint.checkpoint
    x = ramp(m, 3)
    log: list = []

    @contextlib.contextmanager
    def noted(name: str) -> object:
        log.append(name)
        yield

    y = check(lambda a: (a * 2).exp(), x, use_reentrant=False, context_fn=lambda: (noted("first"), noted("second")))
    y.sum().backward()
    z = check(lambda a, k=1: (a * k).exp(), x, use_reentrant=False, k=3)
    g = m.autograd.grad(z.sum(), x, create_graph=True)[0]
    gg = m.autograd.grad(g.sum(), x)[0]
    turn = [0]

    def changes(a: object) -> object:
        turn[0] += 1
        return a.exp().sin() if turn[0] == 1 else a.exp()

    w = check(changes, x, use_reentrant=False)
    different = refused(lambda: w.sum().backward())
    with m.utils.checkpoint.set_checkpoint_early_stop(False):
        check(lambda a: a.exp() + 1, x, use_reentrant=False).sum().backward()
    r = check(lambda a: a.exp(), x, use_reentrant=True)
    by_grad = refused(lambda: m.autograd.grad(r.sum(), x))
    bad = refused(lambda: check(lambda a: a, x, use_reentrant=False, determinism_check="other"))
    return log, x.grad, gg, different, by_grad, bad
