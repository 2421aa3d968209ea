# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Layers of sequences, images and volumes: pooling, convolution, normalisation, dropout of channels.

# 0, 1, 2, ... in row-major order.
counting(sizes...) =
    Tensor(permutedims(reshape(Float32.(0:(prod(sizes) - 1)), reverse(sizes)), length(sizes):-1:1))
row_major(t::Tensor) = vec(permutedims(Array(detach(t)), ndims(t):-1:1))

@testset "test_pooling_along_one_two_and_three_axes" begin
    line, image, volume = counting(1, 1, 6), counting(1, 1, 4, 4), counting(1, 1, 2, 2, 4)
    @test row_major(MaxPool1d(2)(line)) == [1, 3, 5]
    @test row_major(MaxPool1d(2; padding=1, ceil_mode=true)(line)) == [0, 2, 4, 5]
    @test row_major(MaxPool2d(2; stride=1, dilation=2)(image)) == [10, 11, 14, 15]
    @test row_major(MaxPool3d((2, 2, 2))(volume)) == [13, 15]
    @test row_major(AvgPool1d(2; padding=1, count_include_pad=false)(line)) == [0, 1.5, 3.5, 5]
    @test row_major(AvgPool2d((2, 4); divisor_override=4)(image)) == [7, 23]
    @test row_major(AvgPool3d(2)(volume)) == [6.5, 8.5]
    @test row_major(LPPool1d(2, 2)(Tensor(reshape(Float32[3, 4], 1, 1, 2)))) ≈ [5]
    @test row_major(LPPool2d(1, 2)(image)) == [10, 18, 42, 50]
    @test row_major(LPPool3d(1, 2)(volume)) == [52, 68]
    @test row_major(AdaptiveAvgPool1d(2)(line)) == [1, 4]
    @test row_major(AdaptiveAvgPool2d((1, 2))(image)) == [6.5, 8.5]
    @test row_major(AdaptiveAvgPool3d((1, 2, 1))(volume)) == [5.5, 9.5]
    @test row_major(AdaptiveMaxPool1d(2)(line)) == [2, 5]
    @test row_major(AdaptiveMaxPool2d((1, 2))(image)) == [13, 15]
    @test row_major(AdaptiveMaxPool3d(1)(volume)) == [15]
    @test_throws ArgumentError MaxPool2d((1, 2, 3))
end

@testset "test_unpooling_puts_the_maxima_back" begin
    line = Tensor(reshape(Float32[1, 5, 7, 2, 4], 1, 1, 5))
    values, positions = MaxPool1d(2; return_indices=true)(line)
    @test row_major(MaxUnpool1d(2)(values, positions)) == [0, 5, 7, 0]
    @test row_major(MaxUnpool1d(2)(values, positions; output_size=(5,))) == [0, 5, 7, 0, 0]
    most, place = AdaptiveMaxPool3d(1; return_indices=true)(counting(1, 1, 2, 2, 2))
    @test item(place) == 7
    @test row_major(MaxUnpool3d(2)(most, place)) == [0, 0, 0, 0, 0, 0, 0, 7]
    @test_throws DimensionMismatch MaxUnpool2d(2)(most, place)
end

@testset "test_convolution_along_one_and_three_axes" begin
    line = Conv1d(3, 4 => 6; padding=:same, groups=2)
    @test size(line.weight) == (6, 2, 3) && size(line(Tessera.ones(Float32, 4, 7))) == (6, 7)
    wider = ConvTranspose1d(3, 4 => 6; stride=2, output_padding=1, groups=2)
    @test size(wider(Tessera.ones(Float32, 2, 4, 5))) == (2, 6, 12)
    volume = Conv3d((1, 2, 3), 2 => 4; padding=(0, 1, 1), bias=false)
    @test size(volume(Tessera.ones(Float32, 2, 2, 3, 5, 4))) == (2, 4, 3, 6, 4)
    @test size(ConvTranspose2d(2, 2 => 3)(Tessera.ones(Float32, 1, 2, 2, 3))) == (1, 3, 3, 4)
    @test size(ConvTranspose3d(2, 2 => 3)(Tessera.ones(Float32, 1, 2, 1, 2, 3))) == (1, 3, 2, 3, 4)
    @test first.(Tessera.named_params(wider)) == ["weight", "bias"]
    @test_throws ArgumentError Conv1d(3, 4 => 6; padding=:same, stride=2)
    @test_throws ArgumentError ConvTranspose3d(3, 4 => 6; groups=4)
end

@testset "test_normalisation_keeps_names_and_statistics" begin
    norm = InstanceNorm1d(1; affine=true, track_running_stats=true)
    x = Tensor(reshape(Float32[1, 3], 1, 1, 2))
    @test row_major(norm(x)) ≈ [-1, 1] rtol = 1e-4
    @test length(state_dict(norm)) == 5
    @test Array(norm.running_mean) ≈ [0.2] && Array(norm.running_var) ≈ [1.1]
    @test row_major(norm(reshape(x, (1, 2)))) ≈ [-1, 1] rtol = 1e-4
    mean_of, var_of = item(norm.running_mean), item(norm.running_var)
    evaluate!(norm)
    @test row_major(norm(x)) ≈ ([1, 3] .- mean_of) ./ sqrt(var_of + 1e-5)
    @test isempty(state_dict(InstanceNorm2d(3)))
    @test row_major(RMSNorm(2)(Tensor(Float32[1, 7]))) ≈ [0.2, 1.4] rtol = 1e-5
    @test isempty(params(RMSNorm(2; elementwise_affine=false)))
    @test row_major(GroupNorm(1, 2)(Tensor(Float32[1 3]))) ≈ [-1, 1] rtol = 1e-4
    local_norm = LocalResponseNorm(2; alpha=2, beta=1)
    @test row_major(local_norm(Tensor(reshape(Float32[3, 4], 1, 2, 1)))) ≈ [0.3, 2 / 13]
    averaging = BatchNorm1d(1; momentum=nothing)
    averaging(Tensor(reshape(Float32[1, 3], 2, 1)))
    averaging(Tensor(reshape(Float32[3, 5], 2, 1)))
    @test Array(averaging.running_mean) ≈ [3]
    @test isempty(state_dict(BatchNorm3d(2; affine=false, track_running_stats=false)))
    @test_throws DimensionMismatch BatchNorm3d(1)(x)
    @test_throws DimensionMismatch InstanceNorm3d(1)(x)
    @test_throws ArgumentError GroupNorm(3, 4)
end

@testset "test_dropout_takes_whole_channels_and_only_in_training" begin
    x = Tessera.ones(Float32, 8, 16, 2, 2)
    drop = Dropout2d(0.5)
    values = Array(drop(x))
    @test all(values .== values[:, :, 1:1, 1:1]) && 0 in values && 2 in values
    evaluate!(drop)
    @test Array(drop(x)) == Array(x)
    for layer in (Dropout3d(0.5), AlphaDropout(0.5), FeatureAlphaDropout(0.5))
        @test Array(layer(x)) != Array(x)
    end
    @test Array(Dropout1d(0.5)(Tessera.ones(Float32, 8, 16, 2))) != ones(8, 16, 2)
    @test_throws ArgumentError Dropout3d(2)
    @test size(Unflatten(2, (4, -1))(Tessera.zeros(Float32, 2, 12))) == (2, 4, 3)
end

@testset "test_instances_without_momentum_keep_their_statistics" begin
    layer = InstanceNorm2d(2; momentum=nothing, track_running_stats=true)
    @test size(layer(Tessera.rand(Float32, 3, 2, 4, 4))) == (3, 2, 4, 4)
    @test Array(layer.running_mean) == [0, 0] && Array(layer.running_var) == [1, 1]
end
