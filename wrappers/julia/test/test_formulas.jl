# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Layers, optimizers and distributions that are made of operators, against the values of tests/conformance/formulas.txt.

using Serialization
using Tessera.Distributions

const FORMULA_TABLE = joinpath(@__DIR__, "..", "..", "..", "tests", "conformance", "formulas.txt")
const FORMULAS = Dict(row[1] => parse.(Float64, row[2:end]) for row in split.(filter(!startswith('#'), readlines(FORMULA_TABLE))))

# The elements in row-major order, as in the table.
function row_major_numbers(t::Tensor)
    a = Array(detach(t))
    Float64.(vec(ndims(a) > 1 ? permutedims(a, ndims(a):-1:1) : a)) # Julia 1.5 refuses to permute no axes
end
same_row(name, t) = isapprox(row_major_numbers(t), FORMULAS[name]; rtol=1e-9, atol=1e-9)
# The numbers sin(0.7 k + phase), as in make_formulas.py.
wave(sizes...; phase=0) = Tessera.reshape_row_major(Tensor(sin.(0.7 .* (0:(prod(sizes) - 1)) .+ phase)), sizes)

@testset "test_padding_layers_give_the_values_of_the_table" begin
    inputs = (wave(1, 2, 4), wave(1, 1, 4, 3), wave(1, 1, 3, 4, 3))
    paddings = ((1, 2), (1, 2, 0, 1), (1, 0, 2, 1, 0, 1))
    kinds = (
        zero=(ZeroPad1d, ZeroPad2d, ZeroPad3d), reflection=(ReflectionPad1d, ReflectionPad2d, ReflectionPad3d),
        replication=(ReplicationPad1d, ReplicationPad2d, ReplicationPad3d),
        circular=(CircularPad1d, CircularPad2d, CircularPad3d), constant=(ConstantPad1d, ConstantPad2d, ConstantPad3d),
    )
    for (name, layers) in pairs(kinds), axes in 1:3
        arguments = name === :constant ? (paddings[axes], 2.5) : (paddings[axes],)
        @test same_row("$(name)_pad$(axes)d", layers[axes](arguments...)(inputs[axes]))
    end
    @test size(ZeroPad2d(1)(inputs[2])) == (1, 1, 6, 5)
    @test_throws ArgumentError ZeroPad2d((1, 2, 3))
end

@testset "test_triplet_losses_take_a_distance" begin
    three = (wave(4, 3), wave(4, 3; phase=0.4), wave(4, 3; phase=1.1))
    city(a, b) = dropdims(sum(abs.(a .- b); dims=2); dims=2)
    @test same_row("triplet_default", TripletMarginWithDistanceLoss()(three...))
    @test same_row("triplet_city", TripletMarginWithDistanceLoss(distance_function=city, margin=2.0)(three...))
    @test same_row("triplet_swap",
        TripletMarginWithDistanceLoss(distance_function=city, swap=true, reduction="none")(three...))
    @test_throws ArgumentError TripletMarginWithDistanceLoss(reduction="all")(three...)
end

@testset "test_fractional_pooling_has_the_windows_of_its_samples" begin
    samples = Tessera.reshape_row_major(Tensor([0.1, 0.6, 0.8, 0.3]), (1, 2, 2))
    layer = FractionalMaxPool2d((2, 3); output_size=(3, 2), return_indices=true)
    values, positions = layer(wave(1, 2, 7, 6); samples)
    @test same_row("fractional_max_pool2d", values)
    @test same_row("fractional_max_pool2d_positions", positions)
    @test size(FractionalMaxPool2d(2; output_size=3)(wave(2, 7, 6))) == (2, 3, 3)
    layer = FractionalMaxPool3d(2; output_ratio=(0.5, 0.6, 0.5), return_indices=true)
    values, positions = layer(wave(1, 1, 6, 5, 7); samples=Tensor(reshape([0.1, 0.6, 0.9], 1, 1, 3)))
    @test same_row("fractional_max_pool3d", values)
    @test same_row("fractional_max_pool3d_positions", positions)
    @test_throws ArgumentError FractionalMaxPool2d(2)
    @test_throws DimensionMismatch FractionalMaxPool2d(2; output_size=3)(wave(1, 3, 3))
    @test_throws DimensionMismatch FractionalMaxPool2d(2; output_size=3)(wave(3, 3))
    @test occursin("got none", message_of(ArgumentError, () -> FractionalMaxPool2d(2)))
    @test occursin("got both", message_of(ArgumentError, () -> FractionalMaxPool2d(2; output_size=3, output_ratio=0.5)))
    # Sizes that are not to be computed in 64 bits.
    x, large = wave(1, 4, 4), typemax(Int)
    @test_throws DimensionMismatch FractionalMaxPool2d(large; output_size=2)(x)
    @test_throws DimensionMismatch FractionalMaxPool2d(2; output_size=large)(x)
    @test_throws DimensionMismatch FractionalMaxPool2d(2; output_ratio=1e300)(x)
    @test_throws ArgumentError FractionalMaxPool2d(2; output_ratio=(NaN, 0.5))(x)
    @test_throws ArgumentError FractionalMaxPool2d(2; output_ratio=Inf)(x)
end

@testset "test_fractional_pooling_of_16_bit_floats_has_the_windows_of_float64" begin
    layer = FractionalMaxPool2d((1, 2); output_size=(2, 400), return_indices=true)
    samples = Tessera.reshape_row_major(Tensor([0.25, 0.5]), (1, 1, 2))
    for dtype in (Float16, Tessera.BFloat16)
        x = Tessera.astype(wave(1, 1, 2, 5000), dtype)
        drawn(x) = (Tessera.seed!(3); Array(layer(x)[2]))
        @test drawn(x) == drawn(Tessera.astype(x, Float32))
        wanted = layer(Tessera.astype(x, Float64); samples)[2]
        @test Array(layer(x; samples=Tessera.astype(samples, dtype))[2]) == Array(wanted)
    end
end

@testset "test_the_adaptive_softmax_gives_the_values_of_the_table" begin
    layer = AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6]; div_value=2, head_bias=true, dtype=Float64)
    named = sort(named_params(layer); by=first)
    @test first.(named)[1:3] == ["head.bias", "head.weight", "tail.0.0.weight"]
    for (number, (_, t)) in enumerate(named)
        no_grad(() -> copyto!(t, wave(size(t)...; phase=0.3(number - 1))))
    end
    x = wave(5, 8; phase=0.2)
    output, loss = layer(x, Tensor([0, 4, 9, 2, 6]))
    @test same_row("adaptive_output", output)
    @test same_row("adaptive_loss", loss)
    @test same_row("adaptive_log_prob", log_prob(layer, x))
    @test same_row("adaptive_predict", predict(layer, x))
    @test item(layer(x[1, :], Tensor(0)).output) ≈ FORMULAS["adaptive_output"][1]
    @test occursin("expected classes from 0 to 9, got numbers from 1 to 10",
        message_of(BoundsError, () -> layer(x, Tensor([1, 4, 10, 2, 6]))))
    @test_throws DimensionMismatch layer(x, Tensor([0, 4]))
    @test_throws ArgumentError AdaptiveLogSoftmaxWithLoss(8, 10, [6, 3])
    # 1.1 goes 9 times into 11, although the quotient of these floats is 10.
    narrow = state_dict(AdaptiveLogSoftmaxWithLoss(11, 20, [4, 10]; div_value=1.1))
    @test size(narrow["tail.0.0.weight"]) == size(narrow["tail.1.0.weight"]) == (9, 11)
end

@testset "test_lbfgs_makes_the_steps_of_the_table" begin
    for (name, options) in (("lbfgs", (lr=0.5, max_iter=4, history_size=3)), ("lbfgs_wolfe", (max_iter=3, line_search=true)))
        parameters = Tensor[requires_grad!(wave(2; phase=0.5)), requires_grad!(wave(1, 3; phase=1))]
        optimizer = LBFGS(parameters; options...)
        found = Tensor[]
        for _ in 1:5
            loss = step!(optimizer) do
                total = sum(sum((p .* p .- 2) .^ 2) + sum(cos.(3 .* p)) for p in parameters)
                backward!(total)
                return total
            end
            push!(found, Tessera.reshape_row_major(detach(loss), (1,)))
        end
        append!(found, [Tessera.reshape_row_major(detach(p), (-1,)) for p in parameters])
        @test same_row(name, vcat(found...))
    end
end

# Steps for x^2 / 2 from a start: where they end, and how often the loss was computed.
function halves(start; steps=1, options...)
    x, calls = requires_grad!(Tensor([start])), 0
    optimizer = LBFGS(Tensor[x]; options...)
    for _ in 1:steps
        step!(optimizer) do
            calls += 1
            loss = sum(x .* x) / 2
            backward!(loss)
            return loss
        end
    end
    return only(Array(detach(x))), calls
end

@testset "test_a_step_of_lbfgs_ends_by_its_tolerances" begin
    # The first slope is almost 0: nothing moves, and the next step begins as this one did.
    @test halves(1e-5; steps=2) == (1e-5, 2)
    # The gradient is flat enough at the beginning, and after the first iteration.
    @test halves(2.0; tolerance_grad=2) == (2, 1)
    @test halves(2.0; tolerance_grad=1.9) == (1, 2)
    # The parameters change by less than the tolerance.
    @test halves(1.0; lr=0.01, tolerance_change=0.5) == (0.99, 2)
end

@testset "test_lbfgs_without_a_history_scales_the_gradient" begin
    for history_size in (0, -1)
        x = requires_grad!(Tensor([1.0, 1]))
        step!(LBFGS(Tensor[x]; max_iter=3, history_size)) do
            loss = sum(x .* x .* Tensor([1.0, 2]))
            backward!(loss)
            return loss
        end
        @test isapprox(Array(detach(x)), [16, -1] ./ 51; rtol=1e-12)
    end
    @test occursin("params: expected at least one parameter, got an empty list",
        message_of(ArgumentError, () -> LBFGS(Tensor[])))
    @test_throws ArgumentError LBFGS(ZeroPad1d(1))
end

@testset "test_averages_of_models_are_those_of_the_table" begin
    model = Dense(3 => 2; dtype=Float64)
    for (name, decay) in (("swa", nothing), ("ema", 0.9))
        average = AveragedModel(model; decay)
        for number in 0:3
            no_grad(() -> copyto!(model.weight, wave(2, 3; phase=number)))
            update!(average, model)
        end
        @test same_row(name, average.model.weight)
        @test item(state_dict(average)["n_averaged"]) == 4
        @test haskey(state_dict(average), "module.bias")
        @test length(params(average)) == 2
        @test average(wave(1, 3)) == average.model(wave(1, 3))
    end
    @test occursin("expected weight of sizes (2, 4), got weight of sizes (2, 3)",
        message_of(ArgumentError, () -> update!(AveragedModel(Dense(4 => 2)), model)))
    @test_throws ArgumentError AveragedModel(model; decay=1.5)
end

@testset "test_averages_of_models_copy_or_average_buffers" begin
    for (use_buffers, middle) in ((false, 4), (true, 3))
        model = BatchNorm1d(2)
        average = AveragedModel(model; use_buffers)
        for value in (2, 4)
            no_grad(() -> foreach(t -> fill!(t, value), (model.weight, model.running_mean, model.num_batches_tracked)))
            update!(average, model)
        end
        # A model whose parameters fit and whose buffers do not changes nothing.
        other = BatchNorm1d(2; track_running_stats=false)
        @test occursin("expected a model with 5 parameters and buffers, got 2",
            message_of(ArgumentError, () -> update!(average, other)))
        @test Array(detach(average.model.weight)) == [3, 3]
        @test Array(average.model.running_mean) == [middle, middle]
        @test item(average.model.num_batches_tracked) == middle
        @test item(average.n_averaged) == 2
    end
end

@testset "test_a_model_with_ranks_is_copied_and_averaged" begin
    group = Tessera.Group("threads"; rank=0, size=1, timeout=60, address="julia averaged norm")
    model = Chain(Dense(3 => 2), SyncBatchNorm(2, group))
    average = AveragedModel(model)
    update!(average, model)
    @test average.model.layers[2].group === group
    @test average.model.layers[2].weight !== model.layers[2].weight
    @test average(Tessera.ones(Float32, 4, 3)) == model(Tessera.ones(Float32, 4, 3))
    @test_throws ArgumentError serialize(IOBuffer(), model)
end

# The rows of one distribution; `make` gets the first parameter.
function check_distribution(make, name, start, other, values)
    p = make(start)
    @test same_row("$name.log_prob", log_prob(p, values))
    @test same_row("$name.entropy", entropy(p))
    @test same_row("$name.kl", kl_divergence(p, other))
    if name != "categorical"
        @test same_row("$name.mean", mean(p))
        @test same_row("$name.variance", var(p))
    end
    Tessera.seed!(7)
    drawn = sample(p, 2)
    @test same_row("$name.sample", drawn)
    @test size(drawn) == (2, batch_size(p)..., event_size(p)...)
    Tessera.seed!(7)
    @test rand(p, 2) == drawn
    begun = requires_grad!(start)
    p = make(begun)
    @test !requires_grad(sample(p, 2))
    if haskey(FORMULAS, "$name.gradient")
        Tessera.seed!(7)
        drawn = rsample(p, 2)
        backward!(sum(name == "dirichlet" ? drawn .^ 2 : drawn))
        @test same_row("$name.gradient", grad(begun))
    else
        @test_throws ArgumentError rsample(p, 2)
    end
end

@testset "test_distributions_have_the_values_of_the_table" begin
    shared, positive = wave(2, 3; phase=1), Tensor([0.2 1 4; 0.7 2 3])
    scale, high, b, rate = Tensor([0.5, 1, 2]), Tensor([2.0, 1, 3]), Tensor([1.5, 1, 4]), Tensor([1, 2, 0.5])
    check_distribution(x -> Normal(x, scale), "normal", wave(3), Normal(Tensor([0.3]), 1.5), shared)
    check_distribution(x -> Uniform(x, high), "uniform", Tensor([-1, 0, 0.5]), Uniform(Tensor([-2.0]), 4),
        Tensor([0 0.5 1; 1.5 0.25 2.5]))
    check_distribution(Bernoulli, "bernoulli", Tensor([0.2, 0.5, 0.9]), Bernoulli(logits=Tensor([0.3, -1, 2])),
        Tensor([0.0 1 1; 1 0 0]))
    check_distribution(Categorical, "categorical", Tensor([1.0 2 3 4; 4 3 2 1]), Categorical(logits=wave(2, 4)),
        Tensor([0 3; 2 1; 3 0]))
    check_distribution(x -> Beta(x, b), "beta", Tensor([0.5, 2, 3]), Beta(Tensor([2.0]), 3),
        Tensor([0.1 0.5 0.9; 0.3 0.2 0.6]))
    check_distribution(x -> Gamma(x, rate), "gamma", Tensor([0.5, 2, 3]), Gamma(Tensor([1.5]), 2), positive)
    check_distribution(Exponential, "exponential", Tensor([0.5, 1, 3]), Exponential(Tensor([2.0])), positive)
    check_distribution(Dirichlet, "dirichlet", Tensor([0.5 2 3; 1 1 1]), Dirichlet(Tensor([1.0, 2, 3])),
        Tensor([0.2 0.3 0.5; 0.6 0.1 0.3]))
    a = wave(3, 3)
    covariance = a * transpose(a) + I
    other = MultivariateNormal(Tensor([0.0, 0, 0]); scale_tril=Tensor([1 0 0; 0.5 2 0; -0.3 0.2 0.7]))
    check_distribution(x -> MultivariateNormal(x, covariance), "multivariate_normal", wave(3), other, shared)
end

@testset "test_distributions_refuse_wrong_parameters_and_values" begin
    minus, both = Tensor([-1.0, 1]), Tensor([1.0, 1])
    for make in (() -> Normal(0, 0), () -> Normal(NaN, 1), () -> Uniform(1, 1), () -> Bernoulli(1.5),
        () -> Categorical(minus), () -> Categorical(Tensor([-1.0, -2])), () -> Categorical(Tensor([Inf, 1])),
        () -> Beta(0, 1), () -> Gamma(1, -1), () -> Dirichlet(minus), () -> Exponential(0),
        () -> MultivariateNormal(minus; scale_tril=Tensor([1.0 1; 1 1])), () -> log_prob(Exponential(1), minus),
        () -> log_prob(Bernoulli(0.5), Tensor([0.5])), () -> log_prob(Categorical(both), Tensor([2])),
        () -> log_prob(Beta(1, 1), minus), () -> log_prob(Dirichlet(both), minus))
        @test_throws ArgumentError make()
    end
    @test_throws DimensionMismatch MultivariateNormal(minus, minus)
    @test_throws DimensionMismatch Categorical(Tensor(1.0))
    @test_throws DimensionMismatch Categorical(Tessera.zeros(Float32, 2, 0))
    @test_throws DimensionMismatch Categorical(logits=Tessera.zeros(Float32, 0))
    @test Tessera.Distributions.limits(BFloat16)[3] == 3.3895313892515355e38
    # Numbers take the dtype of the tensor beside them, or the default one.
    @test eltype(sample(Normal(minus, 1))) == Float64
    @test eltype(sample(Normal(0, 1), 4)) == Float32
    @test size(sample(Categorical(both), 0)) == (0,)
end

@testset "test_values_have_the_axes_of_one_value" begin
    shares = Dirichlet(Tensor([1.0, 2, 3]))
    @test occursin("Dirichlet: value: expected sizes that end in (3,), got (1,)",
        message_of(DimensionMismatch, () -> log_prob(shares, Tensor([1.0]))))
    @test_throws DimensionMismatch log_prob(shares, Tensor(1.0))
    unit(n) = Tensor(Matrix(1.0I, n, n))
    vectors = MultivariateNormal(Tensor(zeros(3)), unit(3))
    @test_throws DimensionMismatch log_prob(vectors, Tensor(zeros(3, 1)))
    @test size(log_prob(vectors, Tensor(zeros(4, 3)))) == (4,)
    @test occursin("expected vectors of one length, got 3 and 2",
        message_of(DimensionMismatch, () -> kl_divergence(vectors, MultivariateNormal(Tensor(zeros(2)), unit(2)))))
end

@testset "test_covariances_are_symmetric_and_positive_definite" begin
    make(matrix) = MultivariateNormal(Tensor([0.0, 0]), Tensor(matrix))
    @test occursin("expected a positive definite matrix (eigenvalues above 0), got one outside in a tensor of sizes (2,)",
        message_of(ArgumentError, () -> make([1.0 2; 2 1])))
    @test occursin("expected a symmetric matrix", message_of(ArgumentError, () -> make([1.0 0.5; 0.4 1])))
    @test make([2e4 1e4; 1e4+0.05 2e4]) isa MultivariateNormal # the difference is 5e-6 of these
end

@testset "test_divergences_are_infinite_where_a_value_is_excluded" begin
    every = Bernoulli(Tensor([0, 0.5, 1]))
    @test Array(kl_divergence(every, Bernoulli(Tensor([0.0])))) == [0, Inf, Inf]
    @test Array(kl_divergence(every, Bernoulli(Tensor([1.0])))) == [Inf, Inf, 0]
    some = Categorical(Tensor([0.0, 1, 1]))
    @test item(kl_divergence(some, Categorical(Tensor([1.0, 1, 0])))) == Inf
    @test item(kl_divergence(some, Categorical(Tensor([0.0, 1, 3])))) ≈ log(4 / 3) / 2
    @test first(Array(kl_divergence(Uniform(Tensor([0.0, 1]), 2), Uniform(Tensor([0.5]), 3)))) == Inf
end

# One rank here; two ranks with different batches are tested in Rust and C++.
@testset "test_sync_batch_norm_of_one_rank_is_the_batch_norm" begin
    group = Tessera.Group("threads"; rank=0, size=1, timeout=60, address="julia sync norm")
    x, later = wave(8, 2, 3), wave(8, 2, 3; phase=4)
    for options in ((), (momentum=nothing,), (affine=false,), (track_running_stats=false,))
        layer, plain = SyncBatchNorm(2, group; dtype=Float64, options...), BatchNorm1d(2; dtype=Float64, options...)
        @test layer(x) == plain(x) && layer(later) == plain(later)
        @test keys(state_dict(layer)) == keys(state_dict(plain))
        # What ranks compute together, here by one.
        fresh = SyncBatchNorm(2, group; dtype=Float64, options...)
        for batch in (x, later)
            @test isapprox(Array(detach(Tessera.normalize_ranks(fresh, batch))), Array(detach(plain(batch))); atol=1e-12)
        end
        for (name, t) in state_dict(layer)
            @test isapprox(Array(state_dict(fresh)[name]), Array(t); atol=1e-12)
        end
        @test_throws DimensionMismatch layer(wave(2, 3))
    end
    layer = SyncBatchNorm(2, group; dtype=Float64)
    @test occursin("got 1", message_of(ArgumentError, () -> Tessera.normalize_ranks(layer, wave(1, 2))))
end
