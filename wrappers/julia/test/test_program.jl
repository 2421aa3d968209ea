# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Programs: recording a function, files, dynamic sizes, refusals.

@testset "test_P17_a_program_of_a_file_computes_what_the_function_did" begin
    weight = Tensor(Float32[1, 2])
    program = record_program(x -> (x .* weight, x + x), Tensor(Float32[1, 1]);
        parameters=Dict("weight" => weight))
    mktempdir() do folder
        path = joinpath(folder, "julia.program")
        save_program(path, program)
        loaded = load_program(path)
        for _ in 1:3
            a, b = loaded(Tensor(Float32[3, 4]))
            @test Array(a) == [3, 8]
            @test Array(b) == [6, 8]
        end
        @test Array(Tessera.program_tensor(loaded, "weight")) == [1, 2]
        @test occursin("weight", sprint(show, MIME("text/plain"), loaded))
        @test occursin("\"calls\"", Tessera.describe(loaded))
        bytes = IOBuffer()
        save_program(bytes, program)
        @test Array(load_program(seekstart(bytes))(Tensor(Float32[3, 4]))[1]) == [3, 8]
        @test_throws TesseraError load_program(IOBuffer("no program"))
    end
end

@testset "test_P17_a_program_of_several_sizes_takes_every_size" begin
    programs = [record_program(x -> sum(reshape(x, 2n)), Tensor(ones(Float32, n, 2))) for n in (2, 3, 5)]
    program = Tessera.unify(programs)
    @test item(program(Tensor(ones(Float32, 7, 2)))) == 14
    @test_throws DimensionMismatch program(Tensor(ones(Float32, 2, 7)))
end

@testset "test_P17_a_program_of_named_sizes_takes_every_pair_of_them" begin
    sizes = [(2, 5), (3, 5), (2, 6), (3, 6), (4, 9)]
    programs = [record_program(x -> sum(reshape(x, a * b)), Tensor(ones(Float32, a, b))) for (a, b) in sizes]
    program = Tessera.unify(programs; names=["first", "second"])
    @test item(program(Tensor(ones(Float32, 7, 3)))) == 21
    @test occursin("for any first, second", sprint(show, MIME("text/plain"), program))
    @test_throws ArgumentError Tessera.unify(programs; names=["first"])
end

@testset "test_P17_a_recording_refuses_reads_and_ends_with_the_function" begin
    x = Tensor(Float32[1])
    @test_throws TesseraError record_program(y -> y .* item(exp(y)), x)
    @test_throws ErrorException record_program(_ -> error("no"), x)
    @test item(x) == 1
end

const PROGRAMS = joinpath(@__DIR__, "..", "..", "..", "tests", "conformance", "programs")

@testset "test_P17_a_program_of_another_language_gives_its_outputs" begin
    expected = load_file(joinpath(PROGRAMS, "mlp.safetensors"))
    program = load_program(joinpath(PROGRAMS, "mlp.program"))
    for _ in 1:3
        @test Array(program(expected["x"])) ≈ Array(expected["y"])
    end
end

@testset "test_P17_a_training_step_of_another_language_gives_its_losses" begin
    expected = load_file(joinpath(PROGRAMS, "step.safetensors"))
    program = load_program(joinpath(PROGRAMS, "step.program"))
    for loss in Array(expected["losses"])
        @test item(program(expected["x"], expected["y"])) ≈ loss
    end
end
