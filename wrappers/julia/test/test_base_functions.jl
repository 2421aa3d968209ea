# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Functions of Base, LinearAlgebra and Statistics give the same of a tensor as of an array.

# Both sides compute with a copy, so that functions may write.
function same_of(@nospecialize(f), arrays...)
    found, wanted = f(map(a -> Tensor(copy(a)), arrays)...), f(map(copy, arrays)...)
    return alike(found, wanted)
end
alike(@nospecialize(found), @nospecialize(wanted)) = found == wanted
alike(found::Tensor, @nospecialize(wanted)) = size(found) == size(wanted) && isapprox(ComplexF64.(Array(found)), ComplexF64.(wanted); rtol=1e-5)
as_number(x::Tensor) = item(x)
as_number(x) = x

const MATRIX = Float32[3 1 2; 6 5 4]
const VECTOR = [3.0, 1.0, 2.0]
const SQUARE = [4.0 1 0; 1 3 1; 0 1 2]
const COMPLEX = ComplexF32[1 + 2im 3 - 1im; 0 + 1im 2]
const WHOLE = [3 1 2; 6 5 -4]

@testset "test_dotted_functions_that_are_a_few_ops" begin
    for f in (real, imag, complex, float)
        @test same_of(x -> f.(x), MATRIX) && same_of(x -> f.(x), COMPLEX) && same_of(x -> f.(x), WHOLE)
    end
    for f in (iseven, isodd, iszero, isone, one, zero)
        @test same_of(x -> f.(x), WHOLE)
    end
    @test same_of(x -> cis.(x), MATRIX) && same_of(x -> exp10.(x), MATRIX)
    @test same_of(x -> nextfloat.(x), MATRIX) && same_of(x -> prevfloat.(x), MATRIX)
    @test same_of(x -> cld.(x, 2), WHOLE) && same_of(x -> cld.(7, x), WHOLE) && same_of(x -> mod1.(x, 3), WHOLE)
    @test eltype(float.(Tensor(WHOLE))) === Float64 && eltype(complex.(Tensor(MATRIX))) === ComplexF32
    z = Tensor(COMPLEX)
    parts = real.(z)
    parts .= 9
    @test Array(z) == COMPLEX
    x = leaf([1.0, -2.0])
    backward!(sum(abs2.(complex.(x))))
    @test Array(grad(x)) == [2, -4]
end

@testset "test_functions_with_one_argument_given" begin
    @test same_of(x -> count(>(2), x; dims=1), MATRIX) && as_number(count(>(2), Tensor(MATRIX))) == 4
    @test as_number(any(>(5), Tensor(MATRIX))) && !as_number(all(<(5), Tensor(MATRIX)))
    @test same_of(x -> findall(>(2), x), MATRIX) && same_of(x -> findall(y -> y^2 > 2, x), VECTOR)
    @test same_of(x -> findfirst(<(3), x), VECTOR) && same_of(x -> findlast(isodd, x), WHOLE)
    @test same_of(x -> findall(in([1, 5]), x), WHOLE) && same_of(x -> map(in([1, 5]), x), WHOLE)
    @test same_of(x -> filter(>(1), x), VECTOR)
    text = message_of(ArgumentError, () -> map(x -> x^2 + 1, Tensor(VECTOR)))
    @test occursin("t .^ 2 .+ 1", text)
    @test occursin("sec.(...)", message_of(ArgumentError, () -> sec.(Tensor(VECTOR))))
end

@testset "test_dotted_assignment_to_places_that_arrays_select" begin
    @test same_of(x -> (x[x .> 2] .= 0; x), MATRIX) && same_of(x -> (x[[2, 1], 1] .= 9; x), MATRIX)
    @test same_of(x -> (x[x .> 2] .+= 1; x), MATRIX) && same_of(x -> (x[:, [1, 3]] .*= [10, 20]; x), MATRIX)
    @test same_of(x -> (x[[1, 3]] .= [7, 8]; x), VECTOR) && same_of(x -> (x[x .> 1] .= sqrt.(x[x .> 1]); x), MATRIX)
    @test_throws InexactError Tensor(WHOLE)[[1], 1] .= 0.5
    @test_throws DimensionMismatch Tensor(VECTOR)[[1, 3]] .= [1, 2, 3]
    x = leaf([1.0, 2.0, 3.0])
    y = x .* 1
    y[y .> 1] .= 0
    backward!(sum(y))
    @test Array(grad(x)) == [1, 0, 0]
end

@testset "test_cartesian_indices_read_and_write" begin
    places = findall(MATRIX .> 2)
    @test same_of(x -> x[places], MATRIX) && same_of(x -> (x[places] = 1:4; x), MATRIX)
    @test same_of(x -> (x[places] .= 0; x), MATRIX) && same_of(x -> (x[findall(x .> 2)] .+= 1; x), MATRIX)
    @test same_of(x -> x[reshape(places, 2, 2)], MATRIX)
    @test_throws BoundsError Tensor(MATRIX)[[CartesianIndex(3, 1)]]
    @test_throws DimensionMismatch Tensor(MATRIX)[places] = [1, 2]
end

@testset "test_functions_that_write" begin
    @test same_of(x -> mul!(similar(x), x, x), SQUARE) && same_of((x, v) -> mul!(similar(v), x, v), SQUARE, VECTOR)
    @test same_of(x -> mul!(copy(x), x, x, 2, 3), SQUARE) && same_of(x -> mul!(fill!(similar(x), NaN), x, x, 1, 0), SQUARE)
    @test same_of(x -> rmul!(x, 2), SQUARE) && same_of(x -> lmul!(2, x), SQUARE) && same_of(x -> rdiv!(x, 2), SQUARE)
    @test same_of(x -> axpy!(2, x, copy(x)), SQUARE) && same_of(x -> axpby!(2, x, 3, copy(x)), SQUARE)
    @test Array(ldiv!(Tensor(SQUARE), Tensor(VECTOR))) ≈ SQUARE \ VECTOR
    @test same_of(x -> (sort!(x); x), VECTOR) && same_of(x -> (reverse!(x); x), VECTOR)
    @test same_of(x -> clamp!(x, 2, 4), MATRIX) && same_of(x -> map!(abs, similar(x), x), WHOLE)
    @test same_of(x -> permutedims!(similar(x, 3, 2), x, (2, 1)), MATRIX)
    @test same_of(x -> copyto!(x, 2, [7.0, 8.0], 1, 2), VECTOR) && same_of(x -> copyto!(x, 2, [7.0, 8.0]), MATRIX)
    @test_throws DimensionMismatch mul!(Tensor(MATRIX), Tensor(SQUARE), Tensor(SQUARE))
    @test_throws DimensionMismatch map!(abs, Tensor(VECTOR), Tensor(MATRIX))
    @test_throws DimensionMismatch axpy!(1, Tensor(VECTOR), Tensor(MATRIX))
end

@testset "test_reductions_into_a_tensor_take_the_axes_of_its_sizes" begin
    for f! in (sum!, prod!, maximum!, minimum!, Statistics.mean!)
        @test same_of(x -> f!(similar(x, 2), x), MATRIX) && same_of(x -> f!(similar(x, 1, 3), x), MATRIX)
        @test same_of(x -> f!(similar(x, 2, 1), x), MATRIX)
    end
    @test same_of(x -> any!(similar(x, 2), x), MATRIX .> 5) && same_of(x -> all!(similar(x, 1, 3), x), MATRIX .> 1)
    @test Array(sum!(Tensor(zeros(Float32)), Tensor(MATRIX))) == fill(21)
    @test_throws DimensionMismatch sum!(Tensor(zeros(Float32, 3)), Tensor(MATRIX))
end

@testset "test_slices_scans_and_searches" begin
    @test same_of(x -> mapslices(sum, x; dims=1), MATRIX) && same_of(x -> mapslices(sort, x; dims=2), MATRIX)
    @test same_of(x -> mapslices(y -> y .* 2, x; dims=(1, 3)), reshape(collect(1.0:24), 2, 3, 4))
    @test_throws DimensionMismatch mapslices(sum, Tensor(MATRIX); dims=3)
    for op in (+, *, max, min)
        @test same_of(x -> accumulate(op, x), VECTOR) && same_of(x -> accumulate(op, x; dims=2), MATRIX)
    end
    @test_throws ArgumentError accumulate(+, Tensor(MATRIX))
    @test same_of(unique, [3.0, 1, 3, 2]) && same_of(allunique, VECTOR) && same_of(issorted, VECTOR)
    @test same_of((x, y) -> map(+, x, y), MATRIX, MATRIX)
    @test_throws DimensionMismatch map(+, Tensor(MATRIX), Tensor(VECTOR))
end

@testset "test_joints_and_products_with_numbers_and_integers" begin
    @test same_of(x -> [x; 1], VECTOR) && same_of(x -> vcat(5.0, x, [6.0]), VECTOR)
    @test same_of(x -> x * [1, 2, 3], MATRIX) && same_of(x -> [1 2; 3 4] * x, MATRIX) && same_of(x -> x \ [1, 2, 3], SQUARE)
    @test same_of(x -> x / (x + I), SQUARE) && same_of(x -> x / [4 1 0; 1 3 1; 0 1 2], SQUARE) && same_of(x -> [1 2 3] / x, SQUARE)
    @test Array(Tensor(MATRIX) / Tensor(SQUARE[1:3, 1:3] .|> Float32)) ≈ MATRIX / SQUARE
end

@testset "test_linear_algebra_and_statistics" begin
    @test as_number(opnorm(Tensor(MATRIX))) ≈ opnorm(MATRIX) && as_number(opnorm(Tensor(MATRIX), 1)) ≈ opnorm(MATRIX, 1)
    @test as_number(opnorm(Tensor(MATRIX), Inf)) ≈ opnorm(MATRIX, Inf)
    @test all(map(as_number, logabsdet(Tensor(-SQUARE))) .≈ logabsdet(-SQUARE))
    @test same_of(x -> diag(x, 1), SQUARE) && same_of(x -> diagm(1 => x), VECTOR)
    @test same_of(ishermitian, SQUARE) && same_of(ishermitian, COMPLEX)
    for f in (x -> mean(x), x -> mean(x; dims=1))
        @test all(Array(f(Tensor(WHOLE))) .≈ f(WHOLE)) && eltype(f(Tensor(WHOLE))) === Float64
    end
    for f in (var, std)
        @test same_of(x -> f(x; dims=2, corrected=false), MATRIX) && same_of(x -> f(x; dims=1), MATRIX)
        @test as_number(f(Tensor(MATRIX); corrected=false)) ≈ f(MATRIX; corrected=false)
    end
    other = [1.0, 5.0, 2.0]
    for f in (cov, cor, (a, b) -> cov(a, b; corrected=false))
        @test as_number(f(Tensor(VECTOR), Tensor(other))) ≈ f(VECTOR, other)
    end
    @test_throws DimensionMismatch cor(Tensor(VECTOR), Tensor(MATRIX))
end

@testset "test_places" begin
    @test same_of(x -> collect(LinearIndices(x)), MATRIX) && same_of(x -> collect(eachindex(IndexCartesian(), x)), MATRIX)
    @test same_of(x -> eachindex(IndexLinear(), x), MATRIX) && same_of(x -> stride(x, 1), VECTOR)
    for index in ((3, 1), (2, 3), (7,), (6,), (:, 4), (1:2, 1))
        @test same_of(x -> checkbounds(Bool, x, index...), MATRIX)
    end
    @test_throws BoundsError checkbounds(Tensor(MATRIX), 3, 1)
end

@testset "test_tensors_of_one_number_become_numbers" begin
    losses = Float64[]
    push!(losses, sum(leaf([1.0, 2.5])))
    @test losses == [3.5] && convert(Float32, Tensor(2)) === 2.0f0 && convert(Int, Tensor(2.0)) === 2
    @test_throws InexactError convert(Int, Tensor(2.5))
    @test_throws ArgumentError push!(losses, Tensor(VECTOR))
    @test same_of((x, y) -> x isa Tensor ? einsum("ij,j->i", x, y) : x * y, SQUARE, VECTOR)
end
