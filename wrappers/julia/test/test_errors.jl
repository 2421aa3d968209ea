# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Status codes become Julia's exceptions, with the library's messages.

@testset "test_every_status_has_an_exception" begin
    kinds = Dict(:INDEX => BoundsError, :SHAPE => DimensionMismatch, :OUT_OF_MEMORY => OutOfMemory,
        :INVALID_ARGUMENT => ArgumentError, :VALUE => ArgumentError, :TYPE => ArgumentError, :DTYPE => ArgumentError)
    for (status, name) in Tessera.C.STATUS_NAMES
        name === :OK && continue
        error = Tessera.exception(status, "op", "words", 3)
        @test error isa get(kinds, name, TesseraError)
        error isa TesseraError || continue
        @test error.code === name && error.op == "op" && error.native_code == 3
        @test sprint(showerror, error) == "TesseraError($name): words"
    end
end

@testset "test_wrong_arguments_of_layers_and_rules_get_a_hint" begin
    hinted(f) = message_of(MethodError, f)
    @test occursin("Layers take tensors: write Tensor(x).", hinted(() -> Dense(3 => 2)(ones(2, 3))))
    @test occursin("Options of a rule have names: Adam(lr=0.1).", hinted(() -> Adam(0.1)))
    @test !occursin("Layers", hinted(() -> Dense(3 => 2)("text")))
end

@testset "test_errors_carry_the_librarys_words" begin
    t = Tensor([1.0 2; 3 4])
    shape = try; t * Tensor(ones(3, 3)); catch e; e; end
    @test shape isa DimensionMismatch && occursin("matmul", shape.msg)
    value = try; chunk(t, 0); catch e; e; end
    @test value isa ArgumentError && occursin("chunk", value.msg)
    index = try; sum(t; dims=5); catch e; e; end
    @test index isa BoundsError && occursin("axis", sprint(showerror, index))
    missing_file = try; load_file("no/such.safetensors"); catch e; e; end
    @test missing_file isa TesseraError && missing_file.code === :IO && missing_file.native_code == 2
    @test !startswith(missing_file.op, "tsr_") && !startswith(missing_file.message, "tsr_")
end

@testset "test_memory_errors_are_typed_and_harmless" begin
    error = try; Tessera.empty(Float32, 1 << 45); catch e; e; end
    @test error isa OutOfMemory && error.op == "empty"
    @test occursin("out of memory on cpu: asked for 128", error.message)
    @test sprint(showerror, error) == "OutOfMemory: " * error.message
    @test Array(Tensor([1.0]) .+ 1) == [2]
end

@testset "test_freed_tensors_are_refused" begin
    t = Tensor([1.0])
    free!(t)
    @test isfreed(t)
    free!(t)
    @test_throws ArgumentError t .+ 1
    @test_throws ArgumentError linear(Tensor([1.0 2]), Tensor([1.0 2]); bias=t)
end

@testset "test_a_library_that_does_not_fit_is_refused" begin
    major, minor = Tessera.C.ABI_VERSION
    @test Tessera.check_version(major << 16 | minor + 1, "file") === nothing
    @test_throws ErrorException Tessera.check_version((major + 1) << 16 | minor, "file")
    minor > 0 && @test_throws ErrorException Tessera.check_version(major << 16 | minor - 1, "file")
    @test Tessera.version() >= v"0.1.0"
end

@testset "test_what_other_packages_write_is_answered" begin
    @test occursin("`?Conv2d` tells", message_of(MethodError, () -> Conv2d(1 => 8, 3)))
    @test occursin("Chain(Dense(3 => 4), tanh)", message_of(ArgumentError, () -> Dense(3 => 4, tanh)))
    @test occursin("Options of a rule have names", message_of(MethodError, () -> Adam(1e-3)))
    @test occursin("elements of type String", message_of(ArgumentError, () -> Tensor(["a"])))
    @test occursin("identity.(array)", message_of(ArgumentError, () -> Tensor(Any[1, 2.5])))
    @test occursin("hcat(array...)", message_of(ArgumentError, () -> Tensor([[1, 2], [3, 4]])))
    @test occursin("Missing", message_of(ArgumentError, () -> Tensor([1, missing])))
end
