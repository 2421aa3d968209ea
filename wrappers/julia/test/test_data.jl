# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# DataLoader.

@testset "test_batches_come_in_order_and_the_last_may_be_short" begin
    x, y = Tensor(reshape(collect(1.0:14.0), 7, 2)), Tensor(collect(1:7))
    loader = DataLoader((x, y); batch_size=3)
    batches = collect(loader)
    @test length(loader) == 3 == length(batches)
    @test Array(batches[1][1]) == Array(x)[1:3, :] && Array(batches[3][2]) == [7]
    @test length(DataLoader((x, y); batch_size=3, drop_last=true)) == 2
    @test length(collect(DataLoader((x, y); batch_size=3, drop_last=true))) == 2
    @test [Array(b) for b in DataLoader(y; batch_size=4)] == [[1, 2, 3, 4], [5, 6, 7]]
    @test isempty(collect(DataLoader(Tessera.zeros(0, 2))))
end

@testset "test_shuffling_is_a_permutation_and_follows_the_seed" begin
    y = Tensor(collect(1:50))
    once(seed) = reduce(vcat, [Array(b) for b in DataLoader(y; batch_size=8, shuffle=true, generator=Generator(seed))])
    @test sort(once(1)) == 1:50
    @test once(1) == once(1) != once(2)
    loader = DataLoader(y; batch_size=50, shuffle=true, generator=Generator(3))
    @test Array(first(loader)) != Array(first(loader))
end

@testset "test_arrays_side_by_side_are_samples_like_tensors" begin
    x, y = Float32[1 2; 3 4; 5 6], 1:3
    (rows, numbers) = first(DataLoader((x, y); batch_size=2))
    @test rows isa Tensor && Array(rows) == x[1:2, :] && Array(numbers) == [1, 2]
    @test length(DataLoader((x, Tensor(collect(y))); batch_size=2)) == 2
    parts = random_split((x, y), [2, 1])
    @test map(part -> size(part[1], 1), parts) == [2, 1]
    @test_throws DimensionMismatch DataLoader((x, 1:2))
end

@testset "test_functions_are_datasets" begin
    loader = DataLoader(i -> (Tensor([i, 10i]), Tensor(i)), 5; batch_size=2)
    batches = collect(loader)
    @test Array(batches[1][1]) == [1 10; 2 20] && Array(batches[3][2]) == [5]
    @test [Array(b) for b in DataLoader(i -> Tensor([i]), 2)] == [fill(1, 1, 1), fill(2, 1, 1)]
end

struct NumberedSquares end
Base.length(::NumberedSquares) = 10
Base.getindex(::NumberedSquares, i::Integer) = (Float32[i, i^2], i)

@testset "test_anything_with_a_length_is_a_data_set" begin
    batches = collect(DataLoader(NumberedSquares(); batch_size=4))
    @test Array(batches[3][1]) == [9 81; 10 100] && Array(batches[3][2]) == [9, 10]
    @test [Array(b) for b in DataLoader([1.0, 2.0, 3.0]; batch_size=2)] == [[1, 2], [3]]
    @test_throws ArgumentError DataLoader(sin)
    @test_throws ArgumentError collect(DataLoader(["a", "b"]))
end

@testset "test_data_sets_are_split_and_joined" begin
    train, test = random_split(NumberedSquares(), [7, 3]; generator=Generator(5))
    @test train.positions == [0, 2, 7, 1, 4, 6, 8] .+ 1 && test.positions == [5, 3, 9] .+ 1  # as in every language
    @test Array(first(DataLoader(test; batch_size=3))[2]) == [6, 4, 10]
    x = Tensor(collect(0:9))
    parts = random_split((x, 2 .* x), [0.7, 0.3]; generator=Generator(5))
    @test Array(parts[1][1]) == train.positions .- 1 && Array(parts[2][2]) == 2 .* (test.positions .- 1)
    @test map(length, random_split(x, (0.33, 0.33, 0.34))) == [4, 3, 3]
    @test_throws ArgumentError random_split(x, [5, 4])
    @test_throws ArgumentError random_split(x, [0.5, 0.4])
    @test_throws BoundsError Subset(NumberedSquares(), [11])
    both = ConcatDataset(NumberedSquares(), test)
    @test length(both) == 13 && both[12] == (Float32[4, 16], 4)
    @test_throws BoundsError both[14]
    @test_throws BoundsError both[0]
end

@testset "test_contradictions_are_refused" begin
    @test_throws ArgumentError DataLoader(Tessera.zeros(3, 1); batch_size=0)
    @test_throws DimensionMismatch DataLoader((Tessera.zeros(3, 1), Tessera.zeros(4, 1)))
end

@testset "test_exceptions_arrive" begin
    loader = DataLoader(i -> i == 2 ? error("sample 2") : Tensor([i]), 3)
    @test_throws ErrorException collect(loader)
end

# The shuffled orders of tests/conformance/orders.txt.
@testset "test_D4_orders_are_those_of_every_language" begin
    rows, loader = 0, nothing
    for line in eachline(joinpath(@__DIR__, "..", "..", "..", "tests", "conformance", "orders.txt"))
        startswith(line, '#') && continue
        numbers = parse.(Int, split(line))
        (seed, count, size, pass), expected = numbers[1:4], numbers[5:end]
        if pass == 0
            samples = Tensor(collect(0:(count - 1)))
            loader = DataLoader(samples; batch_size=size, shuffle=true, generator=Generator(seed))
        end
        @test reduce(vcat, [Array(b) for b in loader]) == expected
        rows += 1
    end
    @test rows == 12
end

@testset "test_p18_ranks_share_one_order_of_samples" begin
    own = Tessera.positions
    @test own(DistributedSampler(7, 3, 1; shuffle=false)) == [2, 5, 1]
    @test own(DistributedSampler(7, 3, 1; shuffle=false, drop_last=true)) == [2, 5]
    order = [[0, 7, 8], [2, 4, 5], [6, 1, 3]]  # from 0; every language has the same
    for rank in 0:2
        sampler = DistributedSampler(9, 3, rank; seed=4)
        first = own(sampler)
        set_epoch!(sampler, 1)
        @test own(sampler) == order[rank+1] .+ 1 != first
        loader = DataLoader(Tensor(collect(0:8)); batch_size=2, sampler)
        @test length(loader) == 2
        @test reduce(vcat, Array.(collect(loader))) == order[rank+1]
    end
    @test_throws ArgumentError DistributedSampler(9, 3, 3)
end
