# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Dotted expressions give the same results as on arrays, with Julia's alignment of axes.

@testset "test_dotted_expressions_match_arrays" begin
    a, b = [0.5 1.5; -2.0 3.0], [1.0 2.0; 3.0 -4.0]
    s, t = Tensor(a), Tensor(b)
    @test Array(s .+ t) == a .+ b
    @test Array(s .- t .* 2) == a .- b .* 2
    @test Array(2 ./ t) == 2 ./ b
    @test Array(1 .- s) == 1 .- a
    @test Array(s .^ 2) == a .^ 2
    @test Array(s .^ 3) ≈ a .^ 3
    @test Array(s .^ -1) ≈ a .^ -1
    @test Array(2 .^ t) == 2 .^ b
    @test Array(exp.(s) .+ sin.(t)) ≈ exp.(a) .+ sin.(b)
    @test Array(-s) == -a && Array(.-s) == .-a
    @test Array(abs.(s)) == abs.(a)
    @test Array(max.(s, 0)) == max.(a, 0)
    @test Array(max.(0, s)) == max.(0, a)
    @test Array(min.(s, t)) == min.(a, b)
    @test Array(mod.(t, 3)) == mod.(b, 3)
    @test Array(fld.(t, 2)) == fld.(b, 2)
    @test Array(atan.(s, t)) ≈ atan.(a, b)
    @test Array(clamp.(s, 0, 1)) == clamp.(a, 0, 1)
    @test Array(ifelse.(s .> 0, s, t)) == ifelse.(a .> 0, a, b)
    @test Array(ifelse.(s .> 0, 1.5, t)) == ifelse.(a .> 0, 1.5, b)
    @test Array(ifelse.(s .> 0, 1, 2.5)) == ifelse.(a .> 0, 1, 2.5)
    @test Array(inv.(s)) ≈ inv.(a)
    @test Array(sqrt.(abs.(s))) ≈ sqrt.(abs.(a))
    @test Array(identity.(s)) == a
end

@testset "test_comparisons_and_logic" begin
    a, b = [1, 2, 3], [3, 2, 1]
    s, t = Tensor(a), Tensor(b)
    for (ours, theirs) in [
        (s .== t, a .== b), (s .!= t, a .!= b), (s .< t, a .< b), (s .<= t, a .<= b), (s .> t, a .> b),
        (s .>= 2, a .>= 2), (2 .< s, 2 .< a), (2 .>= s, 2 .>= a), ((s .> 1) .& (t .> 1), (a .> 1) .& (b .> 1)),
        ((s .> 1) .| (t .> 1), (a .> 1) .| (b .> 1)), (xor.(s .> 1, t .> 1), xor.(a .> 1, b .> 1)),
        (.!(s .> 1), .!(a .> 1)),
    ]
        @test Array(ours) == theirs
        @test eltype(ours) === Bool
    end
    @test Array(s .& 1) == a .& 1
    @test Array(.~s) == .~a
    @test Array(isnan.(Tensor([NaN, 1.0]))) == [true, false]
end

@testset "test_axes_line_up_from_the_first" begin
    a, v, m = ones(2, 3), [10.0, 20.0], reshape(collect(1.0:12.0), 2, 3, 2)
    @test Array(Tensor(a) .+ Tensor(v)) == a .+ v
    @test Array(Tensor(v) .+ Tensor(a)) == v .+ a
    @test Array(Tensor(m) .* Tensor(a)) == m .* a
    @test Array(Tensor(m) .* Tensor(v)) == m .* v
    @test Array(Tensor(a) .+ Tensor([1.0 2.0 3.0])) == a .+ [1.0 2.0 3.0]
    @test Array(Tensor(v) .+ Tensor(v)') == v .+ v'
    @test Array(Tensor(a) .+ Tensor(5.0)) == a .+ 5
    @test_throws DimensionMismatch Tensor(a) .+ Tensor([1.0, 2.0, 3.0])
end

@testset "test_arrays_and_numbers_mix" begin
    a = [1.0 2; 3 4]
    t = Tensor(a)
    @test (t .+ a) isa Tensor
    @test Array(t .+ a) == a .+ a
    @test Array(a .* t) == a .* a
    @test Array(t .+ (1, 2)) == a .+ (1, 2)
    @test Array(t .+ π) ≈ a .+ π
    @test Array(t .* 1//2) == a ./ 2
    @test Array(t .+ [1, 2]') == a .+ [1, 2]'
    @test eltype(Tensor([1, 2]) .+ 0.5) === Float32
    @test eltype(Tensor([1, 2]) .+ 1) === Int64
    @test eltype(Tensor(Float32[1, 2]) .* 2.5) === Float32
    @test eltype(Tensor(Float32[1]) .+ 1im) === ComplexF32
end

@testset "test_inplace_operators_keep_the_object" begin
    t = Tensor([1.0, 2.0])
    same = t
    memory = Tessera.info(t).data
    t .+= 1
    t .*= Tensor([2.0, 3.0])
    t .= t .- 1
    t .= exp.(t) .* 0 .+ t
    @test t === same
    @test Tessera.info(t).data == memory
    @test Array(t) == [3, 8]
    t .= 4
    @test Array(t) == [4, 4]
    t .= [5.0, 6.0]
    @test Array(t) == [5, 6]
    m = Tessera.zeros(2, 3)
    m .= Tensor([1.0, 2.0])
    @test Array(m) == [1 1 1; 2 2 2]
    m .= Tensor([1.0, 2.0]) .+ 1
    @test Array(m) == [2 2 2; 3 3 3]
    i = Tensor([1, 2])
    i .+= 1
    @test Array(i) == [2, 3] && eltype(i) === Int64
    @test_throws DimensionMismatch (Tessera.zeros(2) .= Tessera.zeros(3))
end

# Every function of the table, with the number 0.5 or 1 in each place that takes one.
@testset "test_writing_gives_what_a_new_tensor_would_be" begin
    written = 0
    for method in methods(Tessera.operation)
        f, arity = fieldtypes(method.sig)[2:3]
        arity isa DataType && arity.parameters[1] isa Int && isdefined(f, :instance) || continue
        n = arity.parameters[1]
        for numbers in 0:(2^n - 2), (number, x) in ((0.5, Tensor([2.0, 3.0])), (1, Tensor([2, 3])))
            args = [(numbers >> (k - 1)) & 1 == 1 ? number : x for k in 1:n]
            expected = try
                f.instance.(args...)
            catch
                continue  # the op does not take these
            end
            found = similar(expected, eltype(expected) <: Complex ? ComplexF64 : Float64)
            @test (found .= f.instance.(args...)) === found && isequal(Array(found), Array(Tensor(expected; dtype=eltype(found))))
            written += 1
        end
    end
    @test written > 400
    # A conversion, then that of the assignment.
    y = Tensor([0.0, 0.0])
    y .= Int8.(Tensor([1.5, 2.5]))
    @test Array(y) == [1, 2]
    y .= Float32.(Tensor([0.1, 2.0]))
    @test Array(y) == Float32[0.1, 2]
end

@testset "test_arrays_take_the_results_of_tensors" begin
    t = Tensor([0.0 1; 2 3])
    a = zeros(2, 2)
    a .= exp.(t) .+ 1
    @test a ≈ exp.([0 1; 2 3]) .+ 1
    a .= Tensor([1.0, 2.0])
    @test a == [1 1; 2 2]
    a .+= t
    @test a == [1 2; 4 5]
    whole = zeros(Int, 2, 2)
    whole .= t
    @test whole == [0 1; 2 3]
    @test_throws InexactError (whole .= t .+ 0.5)
    @test item(mean(abs2, t)) ≈ mean(abs2, Array(t)) && Array(mean(abs2, t; dims=1)) ≈ [2 5]
end

@testset "test_inplace_operators_are_recorded" begin
    x = leaf([1.0, 2.0])
    y = x .* 2
    y .*= x
    y .+= 1
    y .= exp.(y)
    backward!(sum(y))
    @test Array(grad(x)) ≈ 4 .* [1, 2] .* exp.(2 .* [1, 4] .+ 1)
    @test_throws TesseraError (x .+= 1)
end

@testset "test_unknown_functions_are_refused" begin
    t = Tensor([1.0, 2.0])
    error = try; (x -> x + 1).(t); catch e; e; end
    @test error isa ArgumentError
    @test occursin("no op", error.msg)
    @test_throws ArgumentError string.(t)
end

@testset "test_library_functions_take_a_dot" begin
    t = Tensor([-1.0, 2.0])
    @test Array(relu.(t)) == [0, 2]
    @test Array(sigmoid.(t) .* 2) ≈ 2 ./ (1 .+ exp.([1.0, -2.0]))
    @test Array(relu.(t) .+ gelu.(t)) ≈ Array(relu(t)) .+ Array(gelu(t))
end
