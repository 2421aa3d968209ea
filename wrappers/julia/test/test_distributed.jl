# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Groups of ranks (feature row D9): here of one rank; tests/languages has a program for processes.

using Tessera: Group, abort_group, all_gather!, all_reduce!, all_to_all!, all_to_all_single!, barrier, broadcast_from!,
    first_rank, gather_to!, group_rank, group_size, isaborted, isdone, receive!, reduce!, reduce_scatter!, scatter_from!,
    send_to, source_rank, split_group
using Tessera: all_gather, all_reduce, all_to_all, broadcast_from, receive_recorded, reduce_scatter, reduce_to, send_recorded

@testset "test_d9_collectives_of_one_rank" begin
    group = Group("threads"; rank=0, size=1, timeout=60, address="julia collectives")
    @test group_rank(group) == 0 && group_size(group) == 1
    x() = Tensor(Float32[1, 2])
    for op in (:sum, :avg, :min, :max, :prod)
        t = x()
        all_reduce!(group, t; op)
        @test Array(t) == [1, 2]
    end
    t, u = x(), Tensor(Float32[0, 0])
    work = all_reduce!(group, [t, u]; async=true)
    wait(work)
    @test isdone(work) && source_rank(work) == -1
    reduce!(group, t, 0)
    broadcast_from!(group, t, 0)
    for (name, move) in (("all_gather", () -> all_gather!(group, u, t)),
        ("reduce_scatter", () -> reduce_scatter!(group, u, [t])),
        ("gather", () -> gather_to!(group, [u], t, 0)), ("scatter", () -> scatter_from!(group, u, [t], 0)),
        ("all_to_all", () -> all_to_all!(group, [u], [t])),
        ("all_to_all_single", () -> all_to_all_single!(group, u, t; input_splits=[2])))
        fill!(u, 0)
        move()
        @test Array(u) == [1, 2]
    end
    fill!(u, 0)
    received = receive!(group, u; tag=3, async=true)
    send_to(group, t, 0; tag=3)
    wait(received; seconds=30)
    @test source_rank(received) == 0 && Array(u) == [1, 2]
    barrier(group)
end

@testset "test_d9_parts_and_errors" begin
    group = Group("threads"; rank=0, size=1, timeout=60, address="julia errors")
    @test_throws ArgumentError Group("threads"; rank=0, size=2, address="julia errors")
    part = split_group(group, 4)
    @test group_size(part) == 1 && first_rank(part, 0) == 0
    @test split_group(group, -1) === nothing
    t = Tensor(Float32[1, 2])
    @test_throws ArgumentError all_reduce!(group, t; op=:most)
    @test_throws BoundsError broadcast_from!(group, t, 1)
    @test_throws ArgumentError all_reduce!(group, Tensor([1, 2]); op=:avg)
    abort_group(group, "the user stopped it")
    @test isaborted(group)
    failure = try
        barrier(group)
    catch caught
        caught
    end
    @test failure isa Tessera.TesseraError && failure.code === :CANCELLED && occursin("the user stopped it", failure.message)
end

@testset "test_d9_collectives_with_derivatives" begin
    group = Group("threads"; rank=0, size=1, timeout=60, address="julia functional")
    function gradient(collective)
        x = requires_grad!(Tensor(Float32[1, 2]))
        backward!(sum(collective(x) * 3))
        return Array(grad(x))
    end
    for collective in (x -> all_reduce(group, x), x -> all_reduce(group, x; op=:max), x -> reduce_to(group, x, 0; op=:avg),
        x -> broadcast_from(group, x, 0), x -> all_gather(group, x), x -> reduce_scatter(group, x),
        x -> all_to_all(group, x; input_splits=[2]))
        @test gradient(collective) == [3, 3]
    end
    x = requires_grad!(Tensor(Float32[1, 2]))
    token = send_recorded(group, x, 0; tag=1)
    y = receive_recorded(group, x, 0; tag=1)
    @test Array(y) == [1, 2] && requires_grad(y) && requires_grad(token)
    @test !requires_grad(no_grad(() -> all_reduce(group, x)))
    @test_throws BoundsError broadcast_from(group, x, 1)
end
