# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Hooks on nodes and on several tensors, edges of the graph (row A9), and cycles through hooks.

@testset "test_A9_order_is_tensor_hook_prehook_node_posthook" begin
    log = Symbol[]
    note(what) = (push!(log, what); nothing)
    noted = differentiable((ctx, x) -> x .* 1, (ctx, g) -> (note(:node); g))
    x = leaf([1.0])
    y = noted(x)
    hook!((results, gradients) -> note(:post), grad_fn(y))
    prehook!(gradients -> note(:pre), grad_fn(y))
    hook!(g -> note(:tensor), y)
    backward!(y)
    @test log == [:tensor, :pre, :node, :post]
end

@testset "test_A9_hooks_of_nodes_replace_and_are_removed" begin
    x = leaf([1.0, 2.0])
    y = x .* 3
    total = sum(y)
    before = prehook!(g -> (g[1] .* 10,), grad_fn(y))
    after = hook!(grad_fn(y)) do results, gradients
        @test Array(gradients[1]) == [10, 10]
        map(r -> r === nothing ? nothing : r .+ 1, results)
    end
    backward!(total; retain_graph=true)
    @test Array(grad(x)) == [31, 31]
    remove!(before)
    remove!(before)
    remove!(after)
    zero_grad!(x)
    backward!(total)
    @test Array(grad(x)) == [3, 3]
end

struct OwnFailure <: Exception end

@testset "test_A9_exceptions_of_hooks_come_back" begin
    x = leaf([1.0])
    y = x .* 3
    fails(given...) = throw(OwnFailure())
    for hook in (() -> prehook!(fails, grad_fn(y)), () -> hook!(fails, grad_fn(y)), () -> multi_hook!(fails, [x, y]),
            () -> multi_hook!(fails, [x, y]; mode=:any))
        handle = hook()
        @test_throws OwnFailure backward!(y; retain_graph=true)
        remove!(handle)
    end
    handle = prehook!(g -> 7, grad_fn(y))
    @test_throws ArgumentError backward!(y; retain_graph=true)
    remove!(handle)
    zero_grad!(x)
    backward!(y)
    @test Array(grad(x)) == [3]
end

@testset "test_A9_multi_hooks_run_once_in_each_backward" begin
    x, y, unused = leaf([1.0]), leaf([2.0]), leaf([3.0])
    log = Any[]
    all_hook = multi_hook!(gs -> push!(log, map(g -> g === nothing ? nothing : item(g), gs)), [x, y, unused])
    any_hook = multi_hook!(g -> push!(log, item(g)), [unused, x]; mode=:any)
    foreach(_ -> backward!(x .* y), 1:2)
    @test log == Any[2.0, (2.0, 1.0, nothing), 2.0, (2.0, 1.0, nothing)]
    remove!(all_hook)
    remove!(any_hook)
    backward!(x .* y)
    @test length(log) == 4
    @test_throws ArgumentError multi_hook!(identity, [x]; mode=:none)
    @test_throws TesseraError multi_hook!(identity, [x, Tensor([1.0])])
end

@testset "test_A9_edges_are_inputs_of_grad_and_backward" begin
    x = leaf([2.0])
    y = x .* x
    z = y .* 5
    at_x, at_y = gradient_edge(x), gradient_edge(y)
    @test at_y.node == grad_fn(y) && at_y.output == 1
    @test Array.(grad(z, [at_x, y, at_y]; retain_graph=true)) == [[20.0], [5.0], [5.0]]
    @test Array(grad(z, at_x; retain_graph=true)) == [20]
    backward!(z; inputs=at_y, retain_graph=true)
    @test grad(x) === nothing
    backward!(z; inputs=[at_x, y], retain_graph=true)
    @test Array(grad(x)) == [20] && Array(grad(y)) == [5]
    @test_throws Exception grad(z, GradientEdge(grad_fn(y), 2))
    @test_throws TesseraError gradient_edge(Tensor([1.0]))
end

@testset "test_A9_hooks_of_an_accumulator" begin
    x = leaf([1.0])
    edge = gradient_edge(x)
    prehook!(g -> (g[1] .* 10,), edge.node)
    GC.@preserve edge backward!(x .* 2)
    @test Array(grad(x)) == [20]
end

@testset "test_A9_version_says_that_memory_has_changed" begin
    y = exp.(leaf([1.0]))
    before = Tessera.version(y)
    increment_version!(y)
    @test Tessera.version(y) == before + 1
    @test_throws TesseraError backward!(y)
end

# ---- Cycles ----

# A model whose finalizer counts. Each of these makes one that only hooks can reach, and drops it.
mutable struct Watched
    parts::Any
end
const FINALIZED = Ref(0)
watched(parts) = finalizer(_ -> FINALIZED[] += 1, Watched(parts))

@noinline function hooked_leaf()
    model = watched(leaf([1.0]))
    hook!(g -> (model; nothing), model.parts)
    accumulate_hook!(t -> (model; nothing), model.parts)
    backward!(sum(model.parts .* 2))
    return nothing
end
@noinline function hooked_result()
    model = watched(nothing)
    y = leaf([1.0]) .* 2
    model.parts = y .* 3
    hook!(g -> (model; nothing), model.parts)
    prehook!(g -> (model; nothing), grad_fn(model.parts))
    return nothing
end
@noinline function hooked_together()
    model = watched((leaf([1.0]), leaf([1.0])))
    multi_hook!(gs -> (model; nothing), collect(model.parts))
    return nothing
end
@noinline function own_function()
    model = watched(nothing)
    f = differentiable((ctx, x) -> x .* 2, (ctx, g) -> (model; g))
    model.parts = f(leaf([1.0]))
    return nothing
end

@testset "test_A9_cycles_through_hooks_are_finalized: $make" for make in
        (hooked_leaf, hooked_result, hooked_together, own_function)
    Tessera.collect_cycles()
    before, boxes = FINALIZED[], Tessera.live_boxes()
    make()
    GC.gc(true)
    @test FINALIZED[] == before  # the library roots the hooks
    foreach(_ -> Tessera.collect_cycles(), 1:2)
    @test FINALIZED[] == before + 1
    @test Tessera.live_boxes() <= boxes
end

@testset "test_A9_hooks_that_are_still_needed_stay" begin
    calls = Ref(0)
    x = leaf([1.0])
    hook!(g -> (calls[] += 1; nothing), x)
    z = let y = x .* 2, w = Tensor([3.0])
        hook!(g -> g .* w, y)  # only the graph of z has this hook, and only the hook has w
        sum(y)
    end
    foreach(_ -> Tessera.collect_cycles(), 1:3)
    backward!(z)
    @test calls[] == 1 && Array(grad(x)) == [6]
end
