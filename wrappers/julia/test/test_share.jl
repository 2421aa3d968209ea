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

# A tensor of recycled memory as a receiver gets it, who is this process; and the file behind it.
function passed_on(value)
    made = Tessera.empty_shared(Float32, 1000; strategy=:recycled)
    Tessera.fill!(made, value)
    handle = Tessera.shared_handle(made; in_transit=true)
    @test handle.recycled && handle.in_transit && isempty(handle.name)
    fd = ccall(:dup, Cint, (Cint,), handle.fd)
    file = stat(RawFD(fd)).inode
    free!(made)
    sent = Tessera.SharedHandle(; fd=fd, nbytes=handle.nbytes, in_transit=true, recycled=true)
    got = Tessera.from_shared(sent, Float32, 1000)
    ccall(:close, Cint, (Cint,), fd)
    return got, file
end

@testset "test_D4_recycled_memory_is_filled_again_when_its_receiver_has_released_it" begin
    before = Tessera.shared_memory_counts().blocks
    first, place = passed_on(1)
    second, other = passed_on(2)
    @test place != other
    @test item(sum(first)) == 1000
    free!(first)
    third, again = passed_on(3)
    @test again == place
    @test item(sum(second)) == 2000 && item(sum(third)) == 3000
    @test Tessera.shared_memory_counts().blocks > before
    x = Tessera.share_memory!(Tensor(Float32[1, 2]); strategy=:recycled)
    uncounted = Tessera.shared_handle(x)  # ends the recycling
    @test !uncounted.recycled
    @test Array(Tessera.from_shared(uncounted, Float32, 2)) == [1, 2]
end

@testset "test_D7_memory_of_devices_needs_a_device_that_shows_it" begin
    @test_throws TesseraError Tessera.ipc_export(Tensor([1.0]))
    @test_throws ArgumentError Tessera.ipc_open("no handle", Float32, 1)
    @test Tessera.ipc_collect() == 0
end
