# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Optimizers against their formulas in plain Julia.

# Twenty steps on f(x) = sum((x - target)^2) / 2 in plain arrays.
function reference(step!, steps)
    x, state = [1.0, -2.0], Any[]
    for n in 1:steps
        step!(x, x .- [3.0, 0.5], state, n)
    end
    return x
end

function ours(rule, steps)
    x = leaf([1.0, -2.0])
    state = setup(rule, [x])
    for _ in 1:steps
        zero_grad!(x)
        backward!(sum((x .- [3.0, 0.5]) .^ 2) / 2)
        update!(state)
    end
    return Array(detach(x))
end

function adam!(x, g, state, n; lr, decay=0.0, decoupled=false)
    isempty(state) && append!(state, [zeros(2), zeros(2)])
    decoupled ? (x .*= 1 - lr * decay) : (g = g .+ decay .* x)
    m, v = state
    m .= 0.9 .* m .+ 0.1 .* g
    v .= 0.999 .* v .+ 0.001 .* g .^ 2
    x .-= lr .* (m ./ (1 - 0.9^n)) ./ (sqrt.(v ./ (1 - 0.999^n)) .+ 1e-8)
end

@testset "test_twenty_steps_match_the_formulas" begin
    @test ours(SGD(lr=0.1), 20) ≈ reference((x, g, s, n) -> x .-= 0.1 .* g, 20)
    momentum(x, g, s, n) = (isempty(s) ? push!(s, copy(g)) : (s[1] .= 0.9 .* s[1] .+ g); x .-= 0.05 .* s[1])
    @test ours(SGD(lr=0.05, momentum=0.9), 20) ≈ reference(momentum, 20)
    @test ours(Adam(lr=0.1), 20) ≈ reference((x, g, s, n) -> adam!(x, g, s, n; lr=0.1), 20)
    @test ours(Adam(lr=0.1, weight_decay=0.1), 20) ≈ reference((x, g, s, n) -> adam!(x, g, s, n; lr=0.1, decay=0.1), 20)
    @test ours(AdamW(lr=0.1), 20) ≈ reference((x, g, s, n) -> adam!(x, g, s, n; lr=0.1, decay=0.01, decoupled=true), 20)
    @test all(isfinite, ours(Adam(lr=0.1, amsgrad=true), 20))
end

@testset "test_gradients_may_be_given_or_left_out" begin
    x, y = leaf([1.0]), leaf([1.0])
    state = setup(SGD(lr=0.5), [x, y])
    update!(state, [Tensor([1.0]), nothing])
    @test Array(detach(x)) == [0.5] && Array(detach(y)) == [1]
    @test sort!(collect(keys(state_dict(state).tensors))) == ["0.0.step"]
    update!(state, [nothing, Tensor([2.0])])
    @test Array(detach(y)) == [0]
    @test_throws DimensionMismatch update!(state, [nothing])
end

@testset "test_rates_can_be_adjusted" begin
    x = leaf([1.0])
    state = setup(SGD(lr=0.5, weight_decay=0.0), [x])
    Tessera.adjust!(state; lr=0.25)
    update!(state, [Tensor([1.0])])
    @test Array(detach(x)) == [0.75]
    @test_throws ArgumentError Tessera.adjust!(state; lr=-1.0)
end

const KINDS = (SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, NAdam, RAdam, LAMB, Lion, Muon, Rprop, ASGD)

@testset "test_defaults_are_those_of_the_core" begin
    for R in KINDS
        options = Ref(Tessera.C.tsr_optimizer_options())
        Tessera.check(Tessera.C.tsr_optimizer_defaults(Tessera.kind(R), options))
        @test R() == Tessera.rule_of(R, options[])
        @test Tessera.c_options(R()) == options[]
    end
end

@testset "test_groups_have_their_own_options" begin
    x, y = leaf([1.0]), leaf([1.0])
    state = add_group!(setup(SGD(lr=0.5), [x]), SGD(lr=1.0), [y])
    gradients = [Tensor([1.0]), Tensor([1.0])]
    update!(state, gradients)
    @test Array(detach(x)) == [0.5] && Array(detach(y)) == [0]
    Tessera.adjust!(state; group=2, lr=0.25)
    @test Tessera.rule(state, 1).lr == 0.5 && Tessera.rule(state, 2).lr == 0.25
    update!(state, gradients)
    @test Array(detach(x)) == [0] && Array(detach(y)) == [-0.25]
    grad!(x, Tensor([1.0]))
    zero_grad!(state)
    @test grad(x) === nothing
end

@testset "test_state_continues_where_it_was" begin
    gradient(n) = [Tensor([sin(n) 0.5; -1.0 cos(n)])]
    run!(state, steps) = foreach(n -> update!(state, gradient(n)), steps)
    path = tempname()
    for R in KINDS
        x = leaf([1.0 -2.0; 0.5 3.0])
        decay = R === Rprop ? (;) : (; weight_decay=0.25)
        first_run = setup(R(; lr=0.1, maximize=true, decay...), [x])
        run!(first_run, 1:5)
        save_state(path, first_run)
        from_file, from_state = leaf(Array(detach(x))), leaf(Array(detach(x)))
        second = load_state!(setup(R(), [from_file]), path)
        third = load_state_dict!(setup(R(), [from_state]), state_dict(first_run))
        @test Tessera.rule(second).lr == 0.1 && Tessera.rule(third).maximize
        foreach(state -> run!(state, 6:10), (first_run, second, third))
        @test Array(detach(x)) == Array(detach(from_file)) == Array(detach(from_state))
    end
    @test_throws ArgumentError load_state!(setup(SGD(), [leaf([1.0])]), path)
    rm(path)
end

@testset "test_wrong_options_are_refused" begin
    x = leaf([1.0])
    @test_throws ArgumentError setup(SGD(lr=-1.0), [x])
    @test_throws ArgumentError setup(SGD(nesterov=true), [x])
    @test_throws ArgumentError setup(Adam(betas=(1.0, 0.9)), [x])
    @test_throws ArgumentError setup(AdamW(eps=-1.0), [x])
    @test_throws ArgumentError setup(SGD(), Tensor[])
    @test_throws ArgumentError setup(SGD(), [x, x])
    @test_throws ArgumentError setup(SGD(), [x .* 2])
end

@testset "test_a_small_network_learns" begin
    Tessera.seed!(1)
    x = Tensor(Float32[0 0; 0 1; 1 0; 1 1])
    y = Tensor(Float32[0; 1; 1; 0])
    net = Chain(Dense(2 => 8), tanh, Dense(8 => 1), vec)
    state = setup(Adam(lr=0.05), net)
    for _ in 1:300
        zero_grad!(net)
        backward!(mse_loss(net(x), y))
        update!(state)
    end
    @test item(mse_loss(net(x), y)) < 0.01
end

@testset "test_clip_grad_norm_scales_all_gradients" begin
    net = Chain(Dense(1 => 1), Dense(1 => 1))
    parameters = params(net)
    before = map(Array, map(detach, parameters))
    grad!(parameters[1], Tensor(fill(3f0, size(parameters[1]))))
    grad!(parameters[3], Tensor(fill(4f0, size(parameters[3]))))
    @test item(clip_grad_norm!(parameters, 1.0)) ≈ 5
    @test only(Array(grad(parameters[1]))) ≈ 0.6 && only(Array(grad(parameters[3]))) ≈ 0.8
    @test grad(parameters[2]) === nothing
    @test item(clip_grad_norm!(net, 0.5)) ≈ 1
    @test map(Array, map(detach, parameters)) == before
    grad!(parameters[1], Tensor(fill(Inf32, size(parameters[1]))))
    @test_throws ArgumentError clip_grad_norm!(net, 1.0; error_if_nonfinite=true)
    @test only(Array(grad(parameters[1]))) == Inf
end

@testset "test_clip_grad_value_clips_each_element" begin
    net = Dense(1 => 1)
    foreach(t -> grad!(t, Tensor(fill(-8f0, size(t)))), params(net))
    clip_grad_value!(net, 2)
    @test all(t -> only(Array(grad(t))) == -2, params(net))
end

@testset "test_clip_norm_takes_tensors_and_refuses_leaves" begin
    tensors = [Tensor([3.0]), Tensor([4.0])]
    @test item(clip_norm!(tensors, 1.0)) ≈ 5
    @test isapprox(vcat(map(Array, tensors)...), [0.6, 0.8]; rtol=1e-5)
    leaf = requires_grad!(Tensor([3.0, 4.0]))
    @test_throws TesseraError clip_norm!([leaf], 1.0)
    @test Array(detach(leaf)) == [3, 4]
end

@testset "test_training_steps_do_not_leak" begin
    net = Chain(Dense(4 => 4), relu, Dense(4 => 1))
    state = setup(AdamW(), net)
    x = Tessera.rand(Float32, 3, 4)
    step() = (zero_grad!(net); backward!(sum(net(x))); update!(state))
    foreach(_ -> step(), 1:3)
    foreach(_ -> GC.gc(), 1:3)
    before = Tessera.live_tensors()
    foreach(_ -> step(), 1:20)
    foreach(_ -> GC.gc(), 1:3)
    @test Tessera.live_tensors() <= before
end

@testset "test_an_optimizer_is_shown_by_its_options" begin
    @test repr(SGD(lr=0.5, momentum=0.9)) |> text -> startswith(text, "SGD(lr=0.5, momentum=0.9")
    model = Dense(2 => 1)
    state = setup(Adam(lr=0.25), model)
    @test startswith(repr(state), "OptimizerState(Adam(lr=0.25, betas=(0.9, 0.999)") && endswith(repr(state), "2 parameters)")
    add_group!(state, Adam(), [leaf([1.0])])
    @test endswith(repr(state), "3 parameters in 2 groups)")
end
