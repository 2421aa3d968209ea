# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Autocast regions and the gradient scaler (feature row AMP).

@testset "test_a_region_ends_with_its_block" begin
    a = Tensor(ones(Float32, 2, 2))
    autocast(Float16) do
        @test Tessera.is_autocast_enabled() && Tessera.autocast_dtype() === Float16
        @test eltype(a * a) === Float16
        @test eltype(exp.(Float16.(a))) === Float32
        @test eltype(autocast(() -> a * a; enabled=false)) === Float32
    end
    @test !Tessera.is_autocast_enabled() && Tessera.autocast_dtype() === BFloat16
    @test eltype(a * a) === Float32
    @test_throws ArgumentError autocast(() -> a, Float32)
    @test_throws ErrorException autocast(() -> error("inside"))
    @test !Tessera.is_autocast_enabled()
end

@testset "test_a_gradient_has_the_type_of_its_parameter" begin
    layer = Dense(4 => 2)
    loss = autocast(() -> sum(layer(Tensor(ones(Float32, 3, 4)))))
    @test eltype(loss) === Float32
    backward!(loss)
    @test all(p -> eltype(grad(p)) === Float32, params(layer))
end

@testset "test_infinite_gradients_are_skipped" begin
    x = leaf([1.0])
    state = setup(SGD(lr=0.5), [x])
    scaler = GradScaler(scale=8)
    @test item(scale_loss(scaler, Tensor(2.0))) == 16
    grad!(x, Tensor([Inf]))
    @test !update!(scaler, state) && found_inf(scaler, state)
    update!(scaler)
    @test state_dict(scaler).scale == 4 && Array(detach(x)) == [1]
    grad!(x, Tensor([8.0]))
    unscale!(scaler, state)
    @test Array(grad(x)) == [2]
    @test_throws ArgumentError unscale!(scaler, state)
    @test update!(scaler, state)
    update!(scaler; scale=32)
    @test state_dict(scaler).scale == 32
end

# The shared test: every language reads this file and writes the same bytes.
const SCALER_FILE = joinpath(@__DIR__, "..", "..", "..", "tests", "conformance", "grad_scaler.safetensors")

@testset "test_the_file_of_a_scaler_is_that_of_all_languages" begin
    scaler = load_state!(GradScaler(), SCALER_FILE)
    numbers = (enabled=true, scale=1024.0, growth_factor=3.0, backoff_factor=0.25, growth_interval=7, growth_tracker=5)
    @test state_dict(scaler) == numbers
    mktempdir() do folder
        path = joinpath(folder, "scaler.safetensors")
        save_state(path, scaler)
        @test read(path) == read(SCALER_FILE)
    end
    @test_throws ArgumentError load_state_dict!(scaler, (backoff_factor=2.0,))
    @test state_dict(scaler) == numbers
    @test state_dict(load_state_dict!(GradScaler(), numbers)) == numbers
end

# Two classes of points, whose border is a circle; the loss after some steps.
function trained(T)
    Tessera.seed!(0)
    points = Tessera.randn(Float32, 128, 2)
    classes = Tensor(Int64.(vec(sum(abs2, Array(points); dims=2)) .> 1.2))
    model = Chain(Dense(2 => 32), x -> relu(x), Dense(32 => 2))
    state, scaler = setup(Adam(lr=0.02), model), GradScaler(enabled=T === Float16)
    last = 0.0
    for _ in 1:150
        zero_grad!(state)
        loss = autocast(() -> cross_entropy(model(points), classes), T; enabled=T !== nothing)
        backward!(scale_loss(scaler, loss))
        update!(scaler, state)
        update!(scaler)
        last = item(detach(loss))
    end
    return last
end

@testset "test_training_in_16_bits_reaches_the_loss_of_float32" begin
    exact = trained(nothing)
    @test exact < 0.15
    @test trained(BFloat16) ≈ exact atol = 0.05
    @test trained(Float16) ≈ exact atol = 0.05
end
