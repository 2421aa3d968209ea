# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Data-parallel training: the wrapper's own part, in a group of one rank.

using Tessera: DataParallel, Group, forward, gather_state, join_uneven, load_shards!, no_sync, report, save_shards, shard,
    shards_index

group_of_one(name) = Group("threads"; rank=0, size=1, timeout=60, address=name)

@testset "test_gradients_are_averages_over_the_ranks" begin
    group = group_of_one("julia data parallel")
    model = Dense(3 => 2)
    parallel = DataParallel(group, model; bucket_bytes=1024)
    x = Tensor(ones(Float32, 4, 3))
    backward!(sum(parallel(x)))
    expected = Array(grad(params(model)[1]))
    @test occursin("\"launched\"", report(parallel))
    no_sync(parallel) do
        backward!(sum(parallel(x)))
    end
    @test Array(grad(params(model)[1])) == 2 .* expected
    join_uneven(parallel) do
        backward!(sum(forward(() -> model(x), parallel)))
    end
    @test Array(grad(params(model)[1])) == 3 .* expected
    @test_throws ArgumentError DataParallel(group, model; bucket_bytes=0)
    @test_throws ArgumentError DataParallel(group, [x])
end

@testset "test_states_of_an_optimizer_are_divided_and_gathered" begin
    group = group_of_one("julia sharded")
    model = Dense(3 => 2)
    state = setup(Adam(), model)
    sharded = shard(state, group)
    backward!(sum(model(Tensor(ones(Float32, 4, 3)))))
    before = Array(params(model)[1])
    update!(sharded)
    zero_grad!(sharded)
    @test Array(params(model)[1]) != before
    @test occursin("\"state_bytes\":64", report(sharded))
    whole = gather_state(sharded)
    path = tempname()
    save_state(path, whole)
    load_state!(state, path)
    @test gather_state(sharded; to=-1) !== nothing
    @test_throws BoundsError gather_state(sharded; to=3)
end

@testset "test_checkpoints_are_written_together_and_read_by_one" begin
    group = group_of_one("julia shards")
    folder = mktempdir()
    w = Tensor(Float32[1 2; 3 4])
    save_shards(folder, Dict("w" => w); group, metadata=Dict("made" => "here"))
    back = Tensor(zeros(Float32, 2, 2))
    load_shards!(folder, Dict("w" => back))
    @test Array(back) == Array(w)
    part = Tensor(zeros(Float32, 1, 2))
    load_shards!(folder, Dict("w" => part); slices=Dict("w" => ([1, 0], [2, 2])))
    @test Array(part) == Float32[3 4]
    @test occursin("\"made\": \"here\"", shards_index(folder))
    save_shards(folder, Dict("w" => w))
    @test_throws ArgumentError load_shards!(folder, Dict("v" => back))
end
