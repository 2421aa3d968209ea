# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Tensors in memory that other processes map.

@testset "test_D6_a_tensor_moves_with_its_views" begin
    whole = Tensor(Float32[1, 2, 3, 4])
    tail = view(whole, 3:4)
    @test !Tessera.is_shared(whole)
    @test_throws TesseraError Tessera.shared_handle(whole)
    @test Tessera.share_memory!(whole) === whole
    @test Tessera.is_shared(whole) && Tessera.is_shared(tail)
    Tessera.add!(whole, 1)
    @test Array(tail) == [4, 5]
    @test_throws ArgumentError Tessera.share_memory!(tail; strategy=:pigeon)
end

@testset "test_D6_memory_that_an_array_uses_does_not_move" begin
    x = Tensor(Float32[1, 2, 3])
    array = Tessera.share(x)
    @test_throws TesseraError Tessera.share_memory!(x)
    finalize(isdefined(Base, :Memory) ? getfield(getfield(array, :ref), :mem) : array)
    @test Tessera.is_shared(Tessera.share_memory!(x))
    @test_throws ArgumentError Tessera.share(view(Tensor(collect(Float32, 1:9)), 1:2:9))
end

@testset "test_D6_memory_opens_by_descriptor_and_by_name" begin
    for strategy in (:file_descriptor, :file_system)
        x = Tessera.empty_shared(Float32, 2, 3; strategy=strategy)
        @test Array(x) == zeros(2, 3)
        x .= Tensor(Float32[1 2 3; 4 5 6])
        handle = Tessera.shared_handle(x; in_transit=true)
        @test isempty(handle.name) == (strategy === :file_descriptor)
        @test Array(Tessera.from_shared(handle, Float32, 2; offset=1, strides=(3,))) == [2, 5]
        handle = Tessera.shared_handle(x)
        again = Tessera.from_shared(handle, Float32, 2, 3)
        Tessera.multiply!(again, 2)
        @test Array(x) == Float32[2 4 6; 8 10 12]
        @test_throws DimensionMismatch Tessera.from_shared(handle, Float32, 7)
    end
end

@testset "test_D7_memory_of_devices_needs_a_device_that_shows_it" begin
    @test_throws TesseraError Tessera.ipc_export(Tensor([1.0]))
    @test_throws ArgumentError Tessera.ipc_open("no handle", Float32, 1)
    @test Tessera.ipc_collect() == 0
end
