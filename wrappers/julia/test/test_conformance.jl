# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# The calls that every language makes on the same tensors: tests/conformance of the repository.

const VECTORS = load_file(joinpath(@__DIR__, "..", "..", "..", "tests", "conformance", "vectors.safetensors"))

const TOLERANCES = Dict(Float16 => (1e-3, 1e-5), BFloat16 => (1.6e-2, 1e-5), Float32 => (1.3e-6, 1e-5),
    ComplexF32 => (1.3e-6, 1e-5), Float64 => (1e-7, 1e-7), ComplexF64 => (1e-7, 1e-7))

"A copy of a stored tensor."
taken(key) = copy(VECTORS[key])

"A copy that requires a gradient."
learned(key) = requires_grad!(taken(key))

# The format has no complex128: the last axis is (real, imaginary).
complex_array(pairs) = complex.(selectdim(pairs, ndims(pairs), 1), selectdim(pairs, ndims(pairs), 2))
complex_taken(key) = Tensor(complex_array(Array(VECTORS[key])))

"What is wrong with a result; nothing when it is the stored one."
function difference(result, key; rtol=nothing, atol=nothing)
    result === nothing && return "no tensor"
    T = eltype(result)
    expected = Array(VECTORS[key])
    T === ComplexF64 && (expected = complex_array(expected))
    T === eltype(expected) || return "elements $T instead of $(eltype(expected))"
    size(result) == size(expected) || return "sizes $(size(result)) instead of $(size(expected))"
    bounds = get(TOLERANCES, T, (0.0, 0.0))
    rtol, atol = something(rtol, bounds[1]), something(atol, bounds[2])
    actual = Array(detach(result))
    wrong = count(map((a, e) -> !near(a, e, rtol, atol), actual, expected))
    return wrong == 0 ? "" : "$wrong of $(length(expected)) differ: $actual instead of $expected"
end

near(a::Complex, e, rtol, atol) = near(real(a), real(e), rtol, atol) && near(imag(a), imag(e), rtol, atol)
near(a::Union{Bool,Integer}, e, rtol, atol) = a == e
function near(a, e, rtol, atol)
    a, e = Float64(a), Float64(e)
    return isequal(a, e) || a == e || abs(a - e) <= atol + rtol * abs(e)
end

@testset "test_differences_are_found" begin
    @test difference(taken("abs_0/out/out"), "abs_0/out/out") == ""
    @test difference(taken("abs_0/out/out") .+ 1, "abs_0/out/out") != ""
    @test difference(Float64.(taken("abs_0/out/out")), "abs_0/out/out") != ""
    @test difference(taken("abs_0/out/out")[1:1], "abs_0/out/out") != ""
    @test difference(nothing, "abs_0/out/out") != ""
end

include("generated/conformance.jl")
