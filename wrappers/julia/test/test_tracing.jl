# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Traces: the content of records, and that a trace ends with its function.

only_record(trace, kind, name) = only(r for r in trace.records if r.kind == kind && r.name == name)

@testset "test_a_call_has_its_kernel_and_its_arguments" begin
    x = Tessera.ones(2, 3)
    before = time_ns()
    y, trace = Tessera.record(() -> exp.(x); arguments=true)
    after = time_ns()
    call, kernel = only_record(trace, :call, "exp"), only_record(trace, :launch, "exp")
    @test before <= call.begin_time <= kernel.begin_time <= kernel.end_time <= call.end_time <= after
    @test kernel.family == "unary" && kernel.device == CPU
    @test kernel.parent == call.correlation
    @test call.args == Any[(Float32, (2, 3))]
    @test any(r.kind == :allocate && r.value > 0 for r in trace.records)
    @test trace.lost == 0
    @test Array(y) ≈ fill(exp(1), 2, 3)
end

@testset "test_functions_that_are_no_operators_show_their_arguments" begin
    x = Tessera.ones(2, 3)
    state, trace = Tessera.record(() -> setup(SGD(), [x]); arguments=true)
    options, tensors = only_record(trace, :call, "tsr_optimizer_new").args
    @test options isa Ptr{Cvoid} && options != C_NULL
    @test tensors == Any[(Float32, (2, 3))]
end

@testset "test_an_integer_that_only_uint64_can_hold_is_shown_whole" begin
    x = Tensor(UInt64[1])
    y, trace = Tessera.record(() -> Tessera.add(x, typemax(UInt64) - 1); arguments=true)
    @test only_record(trace, :call, "add").args[2] === typemax(UInt64) - 1
end

@testset "test_a_trace_ends_with_its_function" begin
    @test_throws ErrorException Tessera.record(() -> error("of the function"))
    x = Tessera.ones(1)
    inner, trace = Tessera.record(; kinds=(:launch,), capacity=1) do
        refusal = try
            Tessera.record(() -> nothing)
        catch e
            e
        end
        foreach(_ -> exp.(x), 1:3)
        refusal
    end
    @test inner isa ArgumentError && occursin("running", inner.msg)
    @test (length(trace.records), trace.lost) == (1, 2)
    @test_throws ArgumentError Tessera.record(() -> nothing; kinds=(:everything,))
end
