# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Indexing reads and writes the same elements as on an Array.

const INDEXED = reshape(collect(1.0:60.0), 3, 4, 5)

@testset "test_indexing_matches_arrays" begin
    a, t = INDEXED, Tensor(INDEXED)
    for index in [
        (1, 2, 3), (:, :, :), (2, :, :), (:, 2:3, 5), (1:2, 1:2:4, :), (3:-1:1, :, 2), (:, 4:-2:1, 1),
        (1:0, :, :), (:, [3, 1], :), ([1, 3], [2, 2, 4], 1), ([2], :, [5, 1]), (:, [1 2; 3 4], 2),
        ([true, false, true], :, 3), (7,), (60,), (:,), (5:9,), ([1, 60],), (CartesianIndex(2, 3), 4),
        (CartesianIndices((2:3, 1:2)), 4), (CartesianIndices((3, 4, 5)),),
    ]
        @test (index isa Tuple && t[index...] isa Tensor ? Array(t[index...]) : t[index...]) == a[index...]
    end
    @test t[end] == a[end]
    @test Array(t[end, :, end]) == a[end, :, end]
    @test Array(t[2:end, 1, 1]) == a[2:end, 1, 1]
    @test t[2, 3, 4] === a[2, 3, 4]
end

@testset "test_indexing_with_masks" begin
    a, t = INDEXED, Tensor(INDEXED)
    @test Array(t[t .> 30]) == a[a .> 30]
    @test Array(t[a .> 30]) == a[a .> 30]
    @test Array(t[Array(t) .< 0]) == Float64[]
    m = [1 2; 3 4]
    @test Array(Tensor(m)[[true false; true true]]) == m[[true false; true true]]
end

@testset "test_a_mask_may_change_before_the_backward" begin
    for f in ((x, mask) -> sum(x[mask]), (x, mask) -> (y = x .* 1; y[mask] = 0; sum(y)),
            (x, mask) -> (y = x .* 1; y[mask] = [5.0, 6.0]; sum(y)))
        gradients = map((false, true)) do cleared
            x, mask = leaf([1.0, 2, 3]), Bool[true, false, true]
            y = f(x, mask)
            cleared && fill!(mask, false)
            backward!(y)
            Array(grad(x))
        end
        @test gradients[1] == gradients[2]
    end
end

@testset "test_numbers_in_tensors_count_from_zero" begin
    t = Tensor([10, 20, 30])
    @test Array(t[Tensor([0, 2])]) == [10, 30]
    @test Array(t[[1, 3]]) == [10, 30]
    @test item(t[argmax(t)]) == 30
    @test Array(take(t, Tensor([2, 0]); dims=1)) == [30, 10]
end

@testset "test_writing_matches_arrays" begin
    for (index, value) in [
        ((1, 2, 3), 7.0), ((2, :, :), 0.5), ((:, 2:3, 5), [1.0 2; 3 4; 5 6]), ((3:-1:1, 1, 1), [7.0, 8, 9]),
        ((:, [3, 1], 2), [1.0 2; 3 4; 5 6]), (([1, 3], [2, 4], 1), [1.0 2; 3 4]), ((:, :, :), zeros(3, 4, 5)),
        ((1, :, 2), [1.0, 2, 3, 4]), ((17,), 3.0), ((:,), collect(60.0:-1:1)), ((5:9,), [1.0, 2, 3, 4, 5]),
        (([60, 1],), [1.0, 2]), ((5:9,), 0.0),
    ]
        a, t = copy(INDEXED), Tensor(INDEXED)
        value isa Number && !all(i -> i isa Integer, index) ? (view(a, index...) .= value) : (a[index...] = value)
        t[index...] = value
        @test Array(t) == a
        value isa Array || continue
        t = Tensor(INDEXED)
        t[index...] = Tensor(value)
        @test Array(t) == a
    end
    a, t = copy(INDEXED), Tensor(INDEXED)
    a[a .> 30] .= -1
    t[t .> 30] = -1
    @test Array(t) == a
    a[a .< 0] = collect(1.0:30.0)
    t[t .< 0] = Tensor(collect(1.0:30.0))
    @test Array(t) == a
    t = Tensor([1])
    t[] = 5
    @test Array(t) == [5]
    @test_throws BoundsError (Tensor([1, 2])[] = 5)
    @test_throws DimensionMismatch (Tensor(INDEXED)[1, :, 1] = [1.0, 2])
    @test_throws DimensionMismatch (Tensor(INDEXED)[1:3] = [1.0, 2])
end

@testset "test_assignment_does_not_broadcast" begin
    for make in (identity, Tensor)
        for (index, value) in [
            (([1, 3], :), [1.0, 2, 3]), ((:, [1, 3]), [1.0, 2, 3]), (([true, false, true], 1), [5.0]), (([1, 2], 1), [1.0 2]),
            ((trues(3, 3),), [5.0]), ((INDEXED[1:3, 1:3, 1] .> 2,), [1.0, 2]), (([1 2; 3 1], 1), [1.0, 2, 3, 4]),
        ]
            a = copy(INDEXED[1:3, 1:3, 1])
            fits = try; a[index...] = value; true; catch e; e isa DimensionMismatch ? false : rethrow(); end
            t = Tensor(INDEXED[1:3, 1:3, 1])
            fits ? (t[index...] = make(value)) : @test_throws DimensionMismatch (t[index...] = make(value))
            @test Array(t) == a
        end
    end
    a, t = zeros(3, 3), Tessera.zeros(Float64, 3, 3)
    a[[1 2; 3 1], [2, 3]] = reshape(1.0:8, 4, 2)
    t[[1 2; 3 1], [2, 3]] = reshape(1.0:8, 2, 2, 2)
    @test Array(t) == a
    # copyto! copies to the first elements.
    @test Array(copyto!(t, [1.0, 2, 3, 4])) == copyto!(a, [1.0, 2, 3, 4])
    @test Array(copyto!(t, 1.0:9)) == reshape(1.0:9, 3, 3)
    @test_throws BoundsError copyto!(t, ones(10))
    @test_throws ArgumentError copy!(t, ones(9))
    @test Array(copy!(t, ones(3, 3))) == ones(3, 3)
    # All elements, in Julia's order, also where no view has them along one axis.
    t[:] .= 1:9
    @test Array(t) == reshape(1:9, 3, 3)
    t[:] .+= t[:] .* [2]
    @test Array(t) == 3 .* reshape(1:9, 3, 3)
    @test_throws DimensionMismatch (t[:] .= 1:3)
    x = leaf([1.0, 2, 3, 4])
    y = Tessera.zeros(Float64, 2, 2)
    y[:] .= x .* 2
    backward!(sum(y .* [1 3; 2 4]))
    @test Array(grad(x)) == [2, 4, 6, 8]
end

@testset "test_fractions_do_not_become_integers" begin
    for assign! in (
            (t, x) -> (t .= x), (t, x) -> (t[:] = x), (t, x) -> (t[1:2] = x), (t, x) -> (t[[2, 1]] = x), (t, x) -> (t[:] .= x),
            (t, x) -> (t[[true, true]] = x), copyto!, copy!, (t, x) -> (t .= Tuple(x)), (t, x) -> (t[1:1] = x[1:1]),
            (t, x) -> (t[1:1][] = x[1]), (t, x) -> (view(t, 1)[] = x[1]))
        for wrong in ([1.5, 2.0], [NaN, 2.0], [1//2, 1//1])
            t = Tensor([7, 8])
            @test_throws InexactError assign!(t, wrong)
            @test Array(t) == [7, 8]
        end
        t = Tensor([7, 8])
        assign!(t, [1.0, 2.0])
        @test Array(t) in ([1, 2], [2, 1], [1, 8], [7, 8])
    end
    @test_throws InexactError copyto!(Tensor(Int8[1]), [300])
    @test Array(Tensor([1.0, 2.0]) .= [1.5, 2]) == [1.5, 2]
end

@testset "test_views_share_and_copies_do_not" begin
    t = Tensor([1.0 2; 3 4])
    copied = t[1, :]
    copied .= 9
    @test Array(t) == [1 2; 3 4]
    row = view(t, 1, :)
    row .= 9
    @test Array(t) == [9 9; 3 4]
    @views t[:, 2] .= 5
    @test Array(t) == [9 5; 3 5]
    t[2, :] .+= 1
    @test Array(t) == [9 5; 4 6]
    @test_throws ArgumentError view(t, [1, 2], :)
    @test_throws ArgumentError view(t, 1:3)  # these elements lie in row-major order
    @test_throws ArgumentError view(t, :)
    t[:] .= 7
    @test Array(t) == [7 7; 7 7]
    t[[2, 1], :] .= [8, 9]
    @test Array(t) == [9 9; 8 8]
    columns = share([1.0 2; 3 4])
    columns[:] .= [1.0, 3, 2, 4]
    @test Array(columns) == [1 2; 3 4]
    view(columns, 2:3) .= 0
    @test Array(columns) == [1 0; 0 4]
end

@testset "test_bad_indices_raise" begin
    t = Tensor(INDEXED)
    for index in [(4, 1, 1), (0, 1, 1), (1, 1), (1, 1, 1, 1), (1:4, 1, 1), (61,), ([1, 4], 1, 1), (0:2, :, :)]
        @test_throws BoundsError t[index...]
    end
    for index in [(1.5, 1, 1), (1.0:2.0, :, :), (true, 1, 1), ("a", 1, 1), (true,)]
        @test_throws ArgumentError t[index...]
        @test_throws ArgumentError view(t, index...)
        @test_throws ArgumentError (t[index...] = 1)
    end
    @test_throws BoundsError (t[4, 1, 1] = 1)
    @test_throws BoundsError (t[61] = 1)
    @test_throws BoundsError t[Tensor([3]), :, :]
    message = sprint(showerror, try; sum(t; dims=4); catch e; e; end)
    @test occursin("sum", message)
end

@testset "test_iteration_is_guarded" begin
    t = Tensor([1.0, 2.0])
    @test_throws ArgumentError collect(x for x in t)
    @test allowscalar(() -> [x for x in t]) == [1, 2]
    allowscalar(true)
    @test sum(x for x in t) == 3
    allowscalar(false)
    @test_throws ArgumentError iterate(t)
    @test t[1] == 1  # one element by name is fine
end

@testset "test_first_and_last_read_one_element" begin
    t = Tensor([1.0 2; 3 4])
    @test first(t) === 1.0 && last(t) === 4.0 && first(t[2:2, 2]) === 4.0
    @test Array(first(t, 3)) == [1, 3, 2] && Array(last(t, 3)) == [3, 2, 4]
    @test Array(first(t, 9)) == [1, 3, 2, 4] && length(last(t, 0)) == 0
    @test_throws ArgumentError first(t, -1)
    @test_throws BoundsError first(Tensor(Float64[]))
    @test_throws BoundsError last(Tensor(Float64[]))
    @test only(Tensor([5])) === 5
    @test_throws ArgumentError only(t)
end

@testset "test_slices_are_views_one_after_the_other" begin
    array = Float64[1 2 3; 4 5 6]
    t = leaf(array)
    @test [Array(row) for row in eachrow(t)] == [row for row in eachrow(array)]
    @test [Array(column) for column in eachcol(t)] == [column for column in eachcol(array)]
    @test [Array(part) for part in eachslice(Tensor(cat(array, 2array; dims=3)); dims=3)] == [array, 2array]
    backward!(sum(i .* sum(row) for (i, row) in enumerate(eachrow(t))))
    @test Array(grad(t)) == [1 1 1; 2 2 2]
    free = Tensor(array)
    for column in eachcol(free)
        column .= 0
    end
    @test all(iszero, Array(free))
    v = Tensor([1.0, 2])
    @test [Array(x) for x in eachrow(v)] == [[1], [2]] && [Array(x) for x in eachcol(v)] == [[1, 2]]
    @test length(collect(eachrow(Tensor(zeros(0, 2))))) == 0
    @test_throws DimensionMismatch eachslice(t; dims=3)
    @test_throws DimensionMismatch eachrow(Tensor(zeros(2, 2, 2)))
    @test_throws DimensionMismatch eachcol(Tensor(zeros(2, 2, 2)))
end

@testset "test_circshift_is_that_of_arrays" begin
    array = reshape(collect(1.0:24), 2, 3, 4)
    t = Tensor(array)
    for shifts in (1, -2, (1,), (0, 2), (1, -1, 7), [1, 1])
        @test Array(circshift(t, shifts)) == circshift(array, shifts)
    end
    @test Array(circshift(t, 1; dims=2)) == circshift(array, (0, 1))
    @test_throws BoundsError circshift(t, (1, 1, 1, 1))
end

@testset "test_indexing_is_differentiable" begin
    x = leaf([1.0 2 3; 4 5 6])
    backward!(sum(x[2, :] .* x[1, 1:3]) + sum(x[:, [1, 1]]))
    @test Array(grad(x)) == [4 + 2 5 6; 1 + 2 2 3]
    y = leaf(zeros(3))
    z = y .* 1
    z[2] = 7
    backward!(sum(z))
    @test Array(grad(y)) == [1, 0, 1]
end
