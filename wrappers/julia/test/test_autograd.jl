# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Gradients, modes, hooks and functions written in Julia.

@testset "test_gradients_of_a_list_are_cleared" begin
    w, b = leaf([1.0, 2.0]), leaf([3.0])
    for list in ([w, b], (w, b))
        backward!(sum(w .* b))
        @test grad(w) !== nothing && grad(b) !== nothing
        zero_grad!(list)
        @test grad(w) === nothing && grad(b) === nothing
    end
end

@testset "test_backward_accumulates_into_leaves" begin
    x = leaf([1.0, 2.0])
    @test grad(x) === nothing
    backward!(sum(x .^ 2))
    backward!(sum(x .* 3))
    @test Array(grad(x)) == [5, 7]
    zero_grad!(x)
    @test grad(x) === nothing
    grad!(x, Tensor([1.0, 1.0]))
    @test Array(grad(x)) == [1, 1]
    @test_throws DimensionMismatch grad!(x, Tensor([1.0]))
end

@testset "test_backward_needs_a_scalar_or_a_gradient" begin
    x = leaf([1.0, 2.0])
    y = x .* 2
    @test_throws Exception backward!(y)
    backward!(y; gradient=Tensor([1.0, 10.0]))
    @test Array(grad(x)) == [2, 20]
end

@testset "test_a_graph_runs_once_unless_retained" begin
    x = leaf([3.0])
    y = sum(x .* x)
    backward!(y; retain_graph=true)
    backward!(y)
    @test Array(grad(x)) == [12]
    @test_throws TesseraError backward!(y)
end

@testset "test_backward_with_inputs_touches_only_those" begin
    x, w = leaf([1.0]), leaf([2.0])
    backward!(sum(x .* w); inputs=w)
    @test grad(x) === nothing && Array(grad(w)) == [1]
end

@testset "test_grad_returns_and_changes_nothing" begin
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    y = sum(x .* w)
    gx, gw = grad(y, [x, w]; retain_graph=true)
    @test Array(gx) == [3, 4] && Array(gw) == [1, 2]
    @test Array(grad(y, x; retain_graph=true)) == [3, 4]
    @test grad(x) === nothing
    unused = leaf([1.0])
    @test_throws Exception grad(y, [unused]; retain_graph=true)
    @test grad(y, [unused]; allow_unused=true) == [nothing]
end

@testset "test_second_derivatives" begin
    x = leaf([2.0])
    g = grad(sum(x .^ 3), x; create_graph=true)
    @test Array(g) == [12]
    @test Array(grad(sum(g), x)) == [12]
end

@testset "test_modes_nest_and_restore" begin
    x = leaf([1.0])
    @test Tessera.is_grad_enabled()
    no_grad() do
        @test !requires_grad(x .* 2)
        enable_grad() do
            @test requires_grad(x .* 2)
        end
        @test !Tessera.is_grad_enabled()
    end
    @test_throws ErrorException no_grad(() -> error("out"))
    @test Tessera.is_grad_enabled()
    y = inference_mode(() -> x .* 2)
    @test !requires_grad(y)
    @test no_grad(() -> 7) == 7
end

@testset "test_ambient_state_moves_with_a_task" begin
    x = leaf([1.0])
    state = no_grad(Tessera.ambient)
    @test requires_grad(x .* 2)
    @test Tessera.with_ambient(() -> !requires_grad(x .* 2), state)
    @test requires_grad(x .* 2)
    task = @async Tessera.with_ambient(Tessera.is_grad_enabled, state)
    @test !fetch(task)
    @test Tessera.is_grad_enabled()
    mine = Tessera.Generator(7)
    state = Tessera.with_generator(Tessera.ambient, mine)
    drawn = Tessera.with_ambient(() -> Array(Tessera.rand(4)), state)
    @test drawn == Array(Tessera.rand(4; generator=Tessera.Generator(7)))
    @test Tessera.current_generator().handle == Tessera.default_generator().handle
    @test Tessera.with_device(Tessera.default_device, Tessera.CPU) == Tessera.CPU
    @test_throws TesseraError Tessera.with_device(() -> 0, Tessera.Device(1, 5))
end

@testset "test_requires_grad_rules" begin
    x = leaf([1.0])
    @test is_leaf(x) && !is_leaf(x .* 2)
    @test_throws ArgumentError requires_grad!(Tensor([1]))
    @test_throws TesseraError requires_grad!(x .* 2, false)
    @test !requires_grad(detach(x .* 2))
    y = x .* 2
    @test !Tessera.retains_grad(y)
    retain_grad!(y)
    @test Tessera.retains_grad(y)
    @test inference_mode(Tessera.is_inference_mode) && !Tessera.is_inference_mode()
    backward!(sum(y .* 3))
    @test Array(grad(y)) == [3]
end

@testset "test_changed_saved_tensors_are_noticed" begin
    x = leaf([1.0, 2.0])
    y = exp.(x)
    no_grad(() -> (y .= 0))
    @test_throws TesseraError backward!(sum(y))
end

@testset "test_graph_can_be_walked" begin
    x = leaf([1.0])
    y = exp.(x .* 2)
    node = grad_fn(y)
    @test grad_fn(x) === nothing
    @test startswith(Tessera.name(node), "Exp")
    inner = only(filter(!isnothing, Tessera.next_nodes(node)))
    @test occursin("Multiply", Tessera.name(inner)) || occursin("Mul", Tessera.name(inner))
    @test repr(node) == "Node($(Tessera.name(node)))"
    @test grad_fn(y) == node
end

@testset "test_hooks_see_and_replace_gradients" begin
    x = leaf([1.0, 2.0])
    seen = Vector{Float64}[]
    first = hook!(g -> (push!(seen, Array(g)); nothing), x)
    hook!(g -> g .* 10, x)
    backward!(sum(x .* 2))
    @test seen == [[2, 2]]
    @test Array(grad(x)) == [20, 20]
    remove!(first)
    backward!(sum(x .* 2))
    @test length(seen) == 1
    @test_throws ArgumentError remove!(first)
end

@testset "test_post_accumulate_hooks_see_the_leaf" begin
    x = leaf([1.0])
    seen = Float64[]
    accumulate_hook!(t -> push!(seen, item(grad(t))), x)
    backward!(sum(x .* 5))
    @test seen == [5]
end

struct Refusal <: Exception
    number::Int
end

struct Unshowable <: Exception end
Base.showerror(::IO, ::Unshowable) = error("cannot be shown")

@testset "test_exceptions_pass_through_as_themselves" begin
    x = leaf([1.0])
    y = x .* 2
    hook!(g -> throw(Refusal(7)), y)
    error = try; backward!(sum(y)); catch e; e; end
    @test error === Refusal(7)
    f = differentiable((ctx, x) -> x .* 1, (ctx, g) -> throw(KeyError(:inner)))
    @test_throws KeyError backward!(sum(f(x)))
    g = differentiable((ctx, x) -> throw(Refusal(8)), (ctx, g) -> g)
    @test_throws Refusal g(x)
    shy = leaf([1.0])
    hook!(g -> throw(Unshowable()), shy)
    @test_throws Unshowable backward!(sum(shy .* 2))
    # An error of the library inside a callback comes out unchanged.
    h = differentiable((ctx, x) -> x .* 1, (ctx, g) -> g .+ Tensor(zeros(7)))
    @test_throws DimensionMismatch backward!(sum(h(leaf([1.0, 2.0]))))
end

@testset "test_hooks_must_return_tensors" begin
    x = leaf([1.0])
    hook!(g -> 3, x)
    @test_throws ArgumentError backward!(sum(x .* 2))
end

@testset "test_callbacks_run_when_the_backward_ends" begin
    x = leaf([1.0])
    order = String[]
    hook!(x) do g
        after_backward!(() -> push!(order, "end"))
        push!(order, "hook")
        nothing
    end
    backward!(sum(x .* 2))
    @test order == ["hook", "end"]
    @test_throws TesseraError after_backward!(() -> nothing)
end

@testset "test_backward_inside_a_hook" begin
    x, inner = leaf([1.0]), leaf([4.0])
    hook!(x) do g
        enable_grad(() -> backward!(sum(inner .* inner)))
        nothing
    end
    backward!(sum(x .* 2))
    @test Array(grad(inner)) == [8] && Array(grad(x)) == [2]
end

const cube = differentiable((ctx, x) -> (save!(ctx, x); x .^ 3), (ctx, g) -> g .* saved(ctx)[1] .^ 2 .* 3; name="Cube")

@testset "test_view_that_became_differentiable_says_so" begin
    w, base = leaf([1.0, 2.0]), Tensor(zeros(2))
    v = view(base, 1:2)
    @test !requires_grad(v)
    base .+= w
    @test requires_grad(v) && !is_leaf(v)
    backward!(sum(cube(v)))
    @test Array(grad(w)) == [3, 12]
end

@testset "test_view_made_without_recording_cannot_be_written_with_it" begin
    x = leaf([1.0, 2.0])
    for base in (x, x .* 1)
        v = no_grad(() -> view(base, 1:1))
        @test_throws TesseraError v .*= 2
        @test Array(detach(base)) == [1, 2]
    end
end

@testset "test_saved_tensors_of_a_used_graph_raise" begin
    f = differentiable((ctx, x) -> (save!(ctx, x); x .* 2), (ctx, g) -> isempty(saved(ctx)) ? g : g .* 2)
    x = leaf([1.0])
    y = sum(f(x))
    backward!(y)
    @test_throws TesseraError backward!(y)
    @test Array(grad(x)) == [2]
end

@testset "test_leaf_frozen_after_the_forward_receives_nothing" begin
    w = leaf([1.0, 2.0])
    y = sum(w .* 2)
    requires_grad!(w, false)
    backward!(y)
    @test grad(w) === nothing
end

@testset "test_function_of_one_input" begin
    x = leaf([1.0, 2.0])
    y = cube(x)
    @test Array(y) == [1, 8]
    @test occursin("Cube", Tessera.name(grad_fn(y)))
    backward!(sum(y))
    @test Array(grad(x)) == [3, 12]
    g = grad(sum(cube(x)), x; create_graph=true)
    @test Array(grad(sum(g), x)) == [6, 12]
    @test !requires_grad(cube(Tensor([1.0])))
end

@testset "test_function_of_several_inputs_and_outputs" begin
    f = differentiable(
        (ctx, a, b) -> (save!(ctx, a, b); (a .* b, a .+ b)),
        (ctx, p, s) -> begin
            a, b = saved(ctx)
            @test needs_grad(ctx, 1) && !needs_grad(ctx, 2)
            (p .* b .+ s, nothing)
        end)
    a, b = leaf([2.0]), Tensor([5.0])
    p, s = f(a, b)
    backward!(sum(p .* 3 + s))
    @test Array(grad(a)) == [16]
end

@testset "test_mark_dirty_returns_the_same_object" begin
    double! = differentiable((ctx, x) -> (mark_dirty!(ctx, x); x .*= 2), (ctx, g) -> g .* 2)
    x = leaf([1.0, 2.0])
    y = x .* 1
    z = double!(y)
    @test z === y && Array(y) == [2, 4]
    backward!(sum(z))
    @test Array(grad(x)) == [2, 2]
end

@testset "test_mark_non_differentiable_and_materialize" begin
    f = differentiable((ctx, x) -> begin
        positions = argmax(x)
        mark_constant!(ctx, positions)
        (x .* 2, positions)
    end, (ctx, g, _) -> g .* 2)
    x = leaf([1.0, 5.0])
    y, positions = f(x)
    @test !requires_grad(positions) && item(positions) == 1
    backward!(sum(y))
    @test Array(grad(x)) == [2, 2]
    seen = Any[]
    h = differentiable((ctx, x) -> (x .* 1, x .* 2), (ctx, a, b) -> (push!(seen, b); a); undefined=true)
    backward!(sum(h(x)[1]))
    @test seen == [nothing]
end

@testset "test_wrong_backwards_raise" begin
    x = leaf([1.0, 2.0])
    for backward in [(ctx, g) -> (g, g), (ctx, g) -> 5, (ctx, g) -> "text"]
        f = differentiable((ctx, x) -> x .* 1, backward)
        @test_throws ArgumentError backward!(sum(f(x)))
    end
    f = differentiable((ctx, x) -> 5, (ctx, g) -> g)
    @test_throws ArgumentError f(x)
    escaped = Ref{Any}()
    f = differentiable((ctx, x) -> (escaped[] = ctx; x .* 1), (ctx, g) -> g)
    f(x)
    @test_throws ArgumentError saved(escaped[])
end

@testset "test_once_differentiable_refuses_a_second_derivative" begin
    f = differentiable((ctx, x) -> (save!(ctx, x); x .^ 2), (ctx, g) -> g .* saved(ctx)[1] .* 2; once=true)
    x = leaf([3.0])
    g = grad(sum(f(x)), x; create_graph=true)
    @test Array(g) == [6]
    @test_throws TesseraError grad(sum(g), x)
end

@testset "test_e9_functions_and_hooks_leave_nothing_behind" begin
    function work()
        for _ in 1:20
            x = leaf([1.0])
            hook!(g -> g .* 2, x)
            backward!(sum(cube(x .* 1)))
        end
    end
    work()
    foreach(_ -> GC.gc(), 1:3)
    tensors, boxes = Tessera.live_tensors(), Tessera.live_boxes()
    work()
    foreach(_ -> GC.gc(), 1:3)
    @test Tessera.live_tensors() <= tensors
    @test Tessera.live_boxes() <= boxes
    @test Tessera.live_nodes() == 0 || Tessera.live_nodes() < 40
end

@testset "test_e9_wrong_results_and_freed_tensors_leave_nothing_behind" begin
    freed() = (t = Tensor([1.0]); free!(t); t)
    rule(results, undefined) = differentiable((ctx, a, b) -> (a .* 2, b .* 2), (ctx, g, h) -> results(g);
        jvp=(ctx, u, v) -> results(something(u, v)), undefined)
    alive() = (foreach(_ -> GC.gc(), 1:3); (Tessera.live_tensors(), Tessera.live_boxes()))
    for wrong in (3, freed())
        f = rule(g -> (g .* 1, wrong), true)
        for attempt in (
                () -> (x = leaf([1.0]); backward!(sum(f(x, x .* 1)[1]))),
                () -> dual_level(level -> f(make_dual(Tensor([1.0]), Tensor([1.0]); level), Tensor([1.0]))),
                () -> hook!(identity, freed()), () -> accumulate_hook!(identity, freed()))
            @test_throws ArgumentError attempt()
            before = alive()
            foreach(_ -> try; attempt(); catch; end, 1:20)
            @test all(alive() .< before .+ 10)
        end
    end
    boxes = Tessera.live_boxes()
    @test_throws Exception share(1:3)
    @test Tessera.live_boxes() == boxes
end

# Derivatives against central differences.
function numeric_gradient(f, x; h=1e-6)
    return map(eachindex(x)) do i
        above, below = copy(x), copy(x)
        above[i] += h
        below[i] -= h
        (item(f(Tensor(above))) - item(f(Tensor(below)))) / 2h
    end
end

@testset "test_gradients_match_finite_differences" begin
    x = [0.3 -1.2; 0.7 2.0]
    for f in [
        t -> sum(sin.(t) .* exp.(t)), t -> sum(t * t), t -> sum(reshape(t, 4) .* Tensor([1.0, 2, 3, 4])),
        t -> sum(permutedims(t, (2, 1))[1, :] .^ 2), t -> sum(softmax(t; dims=1) .* t), t -> sum(maximum(t; dims=2)),
        t -> var(t), t -> sum(vcat(t, t .* 2) .^ 2), t -> sum(ifelse.(t .> 0, t .^ 2, t)), t -> sum(cube(t)),
    ]
        p = leaf(x)
        backward!(f(p))
        @test Array(grad(p)) ≈ reshape(numeric_gradient(f, x), size(x)) rtol=1e-5
    end
end

@testset "test_gradcheck_finds_a_wrong_derivative" begin
    x, y = leaf([0.5 2.0; -1.0 1.5]), leaf([1.0 3.0; 2.0 -2.0])
    @test gradcheck((a, b) -> tanh.(a) .* b, x, y) === nothing
    @test gradcheck((a, b) -> 2 .* a, x, y) === nothing  # y is not used
    wrong = differentiable((ctx, a) -> (save!(ctx, a); a .* a), (ctx, g) -> g .* saved(ctx)[1])
    @test_throws TesseraError gradcheck(wrong, x)
    @test_throws ArgumentError gradcheck(wrong, Tensor([1.0]))
    @test_throws ArgumentError gradcheck(a -> Tessera.astype(a, Float32), x)
    @test_throws ErrorException gradcheck(a -> Tessera.is_grad_enabled() ? a .* 1 : error("stopped"), x)
    @test Array(x) == [0.5 2.0; -1.0 1.5]
end
