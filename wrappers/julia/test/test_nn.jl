# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Layers, their parameters, state and modes.

struct SmallNet <: Tessera.Layer
    conv1::Conv2d
    norm1::BatchNorm2d
    dropout::Dropout
    dense1::Dense
end
SmallNet() = SmallNet(Conv2d(3, 1 => 2; padding=1), BatchNorm2d(2), Dropout(0.5), Dense(2 * 4 * 4 => 3))
(net::SmallNet)(x) = net.dense1(net.dropout(flatten(relu(net.norm1(net.conv1(x))); start=2)))

@testset "test_layers_compute_what_they_say" begin
    x = Tensor(Float32[1 2 3; 4 5 6])
    d = Dense(3 => 2)
    @test Array(d(x)) ≈ Array(x) * Array(detach(d.weight))' .+ Array(detach(d.bias))'
    @test size(Dense(3 => 2; bias=false)(x)) == (2, 2) && Dense(3 => 2; bias=false).bias === nothing
    n = LayerNorm(3)
    a = Array(x)
    @test Array(n(x)) ≈ (a .- mean(a; dims=2)) ./ sqrt.(var(a; dims=2, corrected=false) .+ 1e-5) rtol=1e-5
    e = Embedding(4 => 2; padding_idx=1)
    @test Array(detach(e.weight))[1, :] == [0, 0]
    @test Array(e(Tensor([2, 0]))) ≈ Array(detach(e.weight))[[3, 1], :]
    backward!(sum(e(Tensor([0, 1]))))
    @test Array(grad(e.weight)) == [0 0; 1 1; 0 0; 0 0]
    c = Conv2d((2, 1), 2 => 4; stride=2, groups=2)
    @test size(c.weight) == (4, 1, 2, 1)
    @test size(c(Tessera.zeros(Float32, 1, 2, 4, 4))) == (1, 4, 2, 2)
    b = BatchNorm2d(2)
    images = Tessera.randn(Float32, 8, 2, 3, 3)
    @test abs(item(mean(b(images)))) < 1e-5
    @test item(b.num_batches_tracked) == 1
    @test Array(b.running_mean) ≈ 0.1 .* vec(mean(Array(images); dims=(1, 3, 4))) rtol=1e-4
    chain = Chain(Dense(3 => 4), relu, Dense(4 => 1))
    @test size(chain(x)) == (2, 1) && length(chain) == 3 && chain[2] === relu
end

@testset "test_padding_by_name" begin
    x = Tessera.ones(Float32, 1, 1, 5, 4)
    @test size(Conv2d((3, 2), 1 => 2; padding=:same, dilation=2)(x)) == (1, 2, 5, 4)
    @test size(Conv2d(3, 1 => 2; padding=:valid)(x)) == (1, 2, 3, 2)
    @test_throws ArgumentError Conv2d(3, 1 => 2; padding=:some)
    @test_throws ArgumentError Conv2d(3, 1 => 2; padding=:same, stride=2)
    for mode in ("reflect", "replicate", "circular")
        image = Tessera.randn(Float32, 2, 1, 5, 4)
        layer = Conv2d((3, 2), 1 => 2; padding=(2, 1), padding_mode=mode)
        expected = conv2d(pad(image, (1, 1, 2, 2); mode=mode), layer.weight; bias=layer.bias)
        @test Array(layer(image)) == Array(expected)
        layer = Conv2d((4, 3), 1 => 2; padding=:same, padding_mode=mode)
        expected = conv2d(pad(image, (1, 1, 1, 2); mode=mode), layer.weight; bias=layer.bias)
        @test Array(layer(image)) == Array(expected)
        @test size(layer(image)) == (2, 2, 5, 4)
    end
    @test_throws ArgumentError Conv2d(3, 1 => 2; padding_mode="mirror")
end

@testset "test_registration_names_everything_once" begin
    net = SmallNet()
    @test first.(Tessera.named_params(net)) == ["conv1.weight", "conv1.bias", "norm1.weight", "norm1.bias",
        "dense1.weight", "dense1.bias"]
    @test length(params(net)) == 6
    @test sort(collect(keys(state_dict(net)))) == sort([first.(named_params(net)); "norm1.running_mean";
        "norm1.running_var"; "norm1.num_batches_tracked"])
    @test first.(named_params(Chain(Dense(1 => 1), relu, Dense(1 => 1; bias=false)))) == ["0.weight", "0.bias", "2.weight"]
end

@testset "test_buffers_are_what_is_no_parameter" begin
    net = SmallNet()
    @test Tessera.buffers(net) == [net.norm1.running_mean, net.norm1.running_var, net.norm1.num_batches_tracked]
    @test isempty(Tessera.buffers(Dense(3 => 2)))
end

struct Tied <: Tessera.Layer
    table::Embedding
    head::Dense
end
Tied() = (table = Embedding(4 => 2); Tied(table, Dense(table.weight, nothing)))
(net::Tied)(x) = net.head(net.table(x))

@testset "test_tied_weights_are_one_parameter" begin
    net = Tied()
    @test length(params(net)) == 1 && params(net)[1] === net.table.weight
    @test first.(named_params(net)) == ["table.weight"]
    @test occursin("Parameters: 8 (", Tessera.summarize(net))
    @test sort(collect(keys(state_dict(net)))) == ["head.weight", "table.weight"]
    state, before = setup(SGD(lr=1), net), Array(detach(net.head.weight))
    backward!(sum(net(Tensor([0, 1]))))
    update!(state)
    @test Array(detach(net.head.weight)) ≈ before .- Array(grad(net.table.weight))
    average = AveragedModel(net)
    update!(average, net)
    first_values = Array(detach(net.table.weight))
    net.table.weight |> detach |> t -> fill!(t, 0)
    update!(average, net)
    @test average.model.table.weight === average.model.head.weight
    @test Array(detach(average.model.head.weight)) ≈ first_values ./ 2
end

@testset "test_state_dict_round_trips_and_reports_what_does_not_fit" begin
    a, b = SmallNet(), SmallNet()
    x = Tessera.rand(Float32, 2, 1, 4, 4)
    load_state_dict!(b, state_dict(a))
    @test Array(evaluate!(a)(x)) == Array(evaluate!(b)(x))
    state = state_dict(a)
    delete!(state, "conv1.bias")
    @test_throws ArgumentError load_state_dict!(b, state)
    @test load_state_dict!(b, state; strict=false) === b
    state["conv1.bias"] = Tessera.zeros(Float32, 5)
    @test_throws DimensionMismatch load_state_dict!(b, state)
    state = merge(state_dict(a), Dict("other" => Tensor(1)))
    @test_throws ArgumentError load_state_dict!(b, state)
end

@testset "test_state_goes_through_safetensors" begin
    mktempdir() do folder
        path = joinpath(folder, "net.safetensors")
        a, b = evaluate!(SmallNet()), evaluate!(SmallNet())
        save_file(path, state_dict(a))
        load_state_dict!(b, load_file(path))
        x = Tessera.rand(Float32, 2, 1, 4, 4)
        @test Array(a(x)) == Array(b(x))
    end
end

@testset "test_modes_and_gradients" begin
    net = SmallNet()
    @test net.dropout.mode.training && net.norm1.mode.training
    evaluate!(net)
    @test !net.dropout.mode.training && !net.norm1.mode.training
    train!(net)
    @test net.norm1.mode.training
    backward!(sum(net(Tessera.rand(Float32, 2, 1, 4, 4))))
    @test all(p -> grad(p) !== nothing, params(net))
    zero_grad!(net)
    @test all(p -> grad(p) === nothing, params(net))
end

@testset "test_conversion_keeps_parameters_and_an_optimizer_goes_on" begin
    for rule in (SGD(lr=0.01, momentum=0.9), Adam(lr=0.002))
        net = Chain(Dense(2 => 4), tanh, Dense(4 => 1))
        before, x = params(net), Tessera.rand(Float32, 8, 2)
        state = setup(rule, net)
        function step(input)
            zero_grad!(net)
            loss = sum(net(input) .^ 2)
            backward!(loss)
            update!(state)
            return item(loss)
        end
        step(x)
        @test convert!(net; dtype=Float64) === net
        @test all(a === b for (a, b) in zip(before, params(net)))
        @test all(p -> eltype(p) === Float64 && eltype(grad(p)) === Float64, before)
        wide = Tessera.astype(x, Float64)
        first = step(wide)
        foreach(_ -> step(wide), 1:10)
        @test step(wide) < first
    end
    @test_throws ArgumentError convert!(Dense(1 => 1); dtype=Int64)
end

@testset "test_running_statistics_stay_float32_in_half_modules" begin
    for half in (Float16, Tessera.BFloat16)
        for norm in (convert!(BatchNorm2d(2); dtype=half), BatchNorm2d(2; dtype=half))
            @test eltype(norm.weight) === half && eltype(norm.running_mean) === Float32
            @test eltype(norm.num_batches_tracked) === Int64
            backward!(sum(norm(Tessera.ones(half, 2, 2, 2, 2))))
            @test eltype(grad(norm.weight)) === half
            convert!(norm; dtype=Float64)
            @test eltype(norm.running_var) === Float64
        end
    end
end

@testset "test_a_tensor_takes_over_other_data" begin
    x = requires_grad!(Tensor([1.0, 2.0]))
    held, y = x, sum(x .* x)
    set_data!(x, Tessera.ones(Float32, 3))
    @test eltype(held) === Float32 && size(held) == (3,) && requires_grad(held)
    @test_throws TesseraError backward!(y)
    @test_throws TesseraError set_data!(x .* 2, Tessera.ones(3))
end

@testset "test_dropout_scales_and_only_trains" begin
    Tessera.seed!(0)
    d = Dropout(0.25)
    y = Array(d(Tessera.ones(Float32, 10_000)))
    @test Set(y) == Set(Float32[0, 1 / 0.75])
    @test 0.7 < count(!iszero, y) / 10_000 < 0.8
    evaluate!(d)
    @test Array(d(Tessera.ones(3))) == ones(3)
    @test_throws ArgumentError Dropout(1.5)
end

@testset "test_initial_values_have_pythons_bounds" begin
    w = Array(detach(Dense(100 => 50).weight))
    @test maximum(abs, w) <= 0.1 && maximum(abs, w) > 0.09
    k = Array(detach(Conv2d(3, 4 => 8).weight))
    @test maximum(abs, k) <= 1 / 6 && maximum(abs, k) > 0.14
end

@testset "test_losses" begin
    logits = leaf([2.0 1 0; 0 1 2])
    classes = Tensor([0, 2])
    expected = -mean(log.([exp(2), exp(2)] ./ sum(exp.([0, 1, 2]))))
    @test item(cross_entropy(logits, classes)) ≈ expected
    @test item(nll_loss(log_softmax(logits; dims=2), classes)) ≈ expected
    @test item(mse_loss(Tensor([1.0, 2]), Tensor([1.0, 4]))) == 2
    @test item(mse_loss(Tensor([1.0, 2]), Tensor([1.0, 4]); reduction="sum")) == 4
    backward!(cross_entropy(logits, classes))
    @test Array(sum(grad(logits); dims=2)) ≈ [0; 0] atol=1e-12
end

@testset "test_repr_shows_the_tree" begin
    @test repr(Chain(Dense(2 => 3), relu)) == "Chain(Dense(weight=3×2, bias=3), relu)"
    @test occursin("conv1=Conv2d(weight=2×1×3×3", repr(SmallNet()))
end

@testset "test_misfits_raise" begin
    @test_throws DimensionMismatch Dense(3 => 2)(Tessera.zeros(Float32, 4, 5))
    @test_throws DimensionMismatch BatchNorm2d(2)(Tessera.zeros(Float32, 4, 2))
    @test_throws ArgumentError Conv2d(3, 3 => 4; groups=2)
    @test_throws ArgumentError Embedding(3 => 2; padding_idx=4)
end

struct ListedParts <: Tessera.Layer
    blocks::Vector{Dense}
    pair::Tuple{BatchNorm1d,typeof(relu)}
    named::NamedTuple{(:a, :b),Tuple{Dense,Int}}
    table::Dict{String,Dense}
    tensors::Vector{Tensor}
    kept::Vector{Tensor}
    sizes::Vector{Int}
end
Tessera.buffer_names(::ListedParts) = ("kept",)

@testset "test_lists_of_layers_are_visited" begin
    layer = ListedParts([Dense(1 => 2; bias=false), Dense(2 => 1; bias=false)], (BatchNorm1d(2), relu),
        (a=Dense(1 => 1; bias=false), b=3), Dict("z" => Dense(1 => 3; bias=false), "y" => Dense(1 => 2; bias=false)),
        [leaf([1.0])], [Tensor([2.0])], [1, 2, 3])
    names = ["blocks.0.weight", "blocks.1.weight", "pair.0.weight", "pair.0.bias", "named.a.weight", "table.y.weight",
        "table.z.weight", "tensors.0"]
    @test map(first, named_params(layer)) == names
    @test length(params(layer)) == 8 && all(params(layer) .=== map(last, named_params(layer)))
    @test haskey(state_dict(layer), "kept.0") && haskey(state_dict(layer), "pair.0.running_mean")
    evaluate!(layer)
    @test !layer.pair[1].mode.training
    convert!(layer; dtype=Float64)
    @test eltype(layer.blocks[2].weight) === Float64
    backward!(sum(layer.blocks[1](Tensor([1.0 2.0]'))))
    zero_grad!(layer)
    @test grad(layer.blocks[1].weight) === nothing
    @test occursin("blocks.0=Dense", sprint(show, layer))
end
