# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Memory shared with arrays and through DLPack.

@testset "test_dlpack_round_trip_shares_memory" begin
    for version in (0, 1)
        t = Tensor(Float32[1 2; 3 4])
        s = Tessera.from_dlpack(Tessera.to_dlpack(t; version=version); version=version)
        s .= 5
        @test Array(t) == fill(5, 2, 2)
        c = Tessera.from_dlpack(Tessera.to_dlpack(t; version=version); version=version, copy=true)
        c .= 6
        @test Array(t) == fill(5, 2, 2)
    end
    @test_throws TesseraError Tessera.to_dlpack(leaf([1.0]))
end

@testset "test_arrays_share_memory_both_ways" begin
    a = [1.0 2 3; 4 5 6]
    t = share(a)
    @test size(t) == (2, 3) && strides(t) == (1, 2)
    t[1, 2] = 20
    @test a[1, 2] == 20
    a[2, 3] = 60
    @test t[2, 3] == 60
    b = share(t)
    @test b isa Matrix{Float64} && pointer(b) == pointer(a)
    rows = Tensor(a)
    @test strides(rows) == (3, 1)
    p = share(rows)
    @test p isa PermutedDimsArray && p == a
    p[1, 1] = -1
    @test rows[1, 1] == -1
    @test strides(share(p)) == (3, 1)
    @test Array(share(PermutedDimsArray(a, (2, 1)))) == a'
    @test share(Tensor(2.5))[] == 2.5
    @test size(share(Tessera.zeros(0, 3))) == (0, 3)
    @test Array(share(zeros(Float32, 0, 2))) == zeros(0, 2)
end

@testset "test_sharing_refuses_what_it_cannot_do" begin
    @test_throws ArgumentError share(leaf([1.0]))
    @test_throws ArgumentError share(view(Tensor(collect(1:10)), 1:2:9))
    @test_throws ArgumentError share(BigInt[1])
    @test_throws ArgumentError share(trues(3))
    @test Array(Tensor(trues(3))) == trues(3)
end

@testset "test_owners_live_as_long_as_the_memory_is_used" begin
    function shared_view()
        a = fill(7.0, 1000)
        return view(share(a), 1:2:999)
    end
    part = shared_view()
    boxes = Tessera.live_boxes()
    GC.gc()
    foreach(_ -> fill(0.0, 1000), 1:100)
    @test all(==(7), Array(part))
    free!(part)
    GC.gc()
    @test Tessera.live_boxes() < boxes
    array = share(fill!(Tessera.empty(Float64, 1000), 3))
    GC.gc()
    foreach(_ -> fill!(Tessera.empty(Float64, 1000), 0), 1:100)
    @test all(==(3), array)
    t = Tensor([1.0, 2.0])
    array = share(t)
    free!(t)
    @test array == [1, 2]
end

@testset "test_resized_vectors_leave_the_tensor_its_memory" begin
    grow!(v) = foreach(_ -> push!(v, 1.0), 1:10^6)
    parts = (identity, v -> view(v, 2:length(v)), v -> reshape(v, 2, :), v -> PermutedDimsArray(v, (1,)))
    for part in parts
        v = fill(3.0, 10^5)
        t = share(part(v))
        isdefined(Base, :Memory) ? grow!(v) : @test_throws ErrorException grow!(v)
        @test all(==(3), Array(t))
    end
    # One call has no use of the array later.
    t, v = Tensor([1.0, 2]), [1.0, 2]
    for call in (() -> t .+ v, () -> t * v', () -> (t .= v), () -> copyto!(t, v), () -> (t[:] = v), () -> Tensor(v))
        call()
        push!(v, 1)
        pop!(v)
    end
    @test v == Array(t) == [1, 2]
    @test_throws ArgumentError share(push!(BigInt[1], 2))
end

@testset "test_sharing_takes_constant_time" begin
    a = zeros(1000, 1000)
    share(a)
    @test @allocated(share(a)) < 2000
end
