# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Layers of images without parameters.

image_of(numbers...) = Tensor(reshape(Float32[numbers...], 1, 1, 1, :))

@testset "test_upsample" begin
    x = image_of(1, 3)
    @test vec(Array(Upsample(; scale_factor=(1, 2))(x))) == [1, 1, 3, 3]
    linear = Upsample(; size=(1, 4), mode="bilinear")
    @test vec(Array(linear(x))) == [1, 1.5, 2.5, 3]
    corners = Upsample(; size=(1, 3), mode="bilinear", align_corners=true)
    @test vec(Array(corners(x))) == [1, 2, 3]
    @test size(Upsample(; scale_factor=2)(x)) == (1, 1, 2, 4)
    @test_throws ArgumentError Upsample(; scale_factor=2, size=3)(x)
end

@testset "test_shuffles" begin
    x = Tensor(reshape(Float32.(1:4), 1, 4, 1, 1))
    blocks = PixelShuffle(2)(x)
    @test Array(blocks)[1, 1, :, :] == [1 2; 3 4]
    @test Array(PixelUnshuffle(2)(blocks)) == Array(x)
    @test vec(Array(ChannelShuffle(2)(x))) == [1, 3, 2, 4]
end

@testset "test_windows_as_columns" begin
    x = image_of(1, 2, 3)
    columns = Unfold((1, 2))(x)
    @test Array(columns)[1, :, :] == [1 2; 2 3]
    @test vec(Array(Fold((1, 3), (1, 2))(columns))) == [1, 4, 3]
    @test size(Unfold(2; padding=1, stride=2)(x)) == (1, 4, 2)
end
