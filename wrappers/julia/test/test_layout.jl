# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# The structs and functions of the raw layer are those of the library.

include("generated/layout.jl")

@testset "test_structs_have_the_librarys_layout" begin
    for (type, size, offsets) in LAYOUT
        @test sizeof(type) == size
        @test Tuple(fieldoffset(type, i) for i in 1:fieldcount(type)) == offsets
    end
end

@testset "test_every_function_exists" begin
    @test all(f -> isdefined(Tessera.C, Symbol(f)), FUNCTIONS)
    missing_in_library = filter(f -> Tessera.C.tsr_has(f, sizeof(f)) == 0, FUNCTIONS)
    @test isempty(missing_in_library)
end
