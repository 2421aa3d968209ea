# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# The structs, constants and functions of the raw layer match the schema of the loaded library.

const SCHEMA = let text = Ref{Ptr{UInt8}}(), length = Ref{Int64}()
    Tessera.check(Tessera.C.tsr_schema_json(text, length))
    read_json(IOBuffer(unsafe_string(text[], length[])))
end

@testset "test_structs_have_the_librarys_layout" begin
    for (name, row) in SCHEMA["structs"].pairs
        type = getfield(Tessera.C, Symbol(name))
        @test sizeof(type) == row["size"]
        @test [fieldoffset(type, i) for i in 1:fieldcount(type)] == last.(row["fields"])
    end
end

@testset "test_every_function_exists" begin
    functions = [f["name"] for f in SCHEMA["functions"]]
    @test length(functions) > 100
    @test isempty(filter(f -> !isdefined(Tessera.C, Symbol(f)), functions))
    @test isempty(filter(f -> Tessera.C.tsr_has(f, sizeof(f)) == 0, functions))
end
