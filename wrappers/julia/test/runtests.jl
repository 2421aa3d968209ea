# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Runs every test file, or those named on the command line (without test_ and .jl), or all but those with a minus.
# conformance:add_2 is one case of tests/conformance.
# TESSERA_TEST_REPORT names a file for the junit report.

using LinearAlgebra, Random, Statistics, Test
using Tessera

include("reporter.jl")
include("json.jl")
using .Reporter

const FILES = [
    "package", "tensor", "copies", "indexing", "broadcast", "base_functions", "autograd", "amp", "hooks", "checkpoint", "graph",
    "forward_ad", "errors", "memory", "interop", "io", "nn", "nn_image", "nn_layers",
    "attention", "losses", "formulas", "recurrent", "optim", "schedules", "data", "share", "distributed", "data_parallel", "layout",
    "tracing", "profiler", "program", "conformance", "chain_rules", "examples",
]
const FORGOTTEN = setdiff(filter(name -> occursin(r"^test_.*\.jl$", name), readdir(@__DIR__)), "test_" .* FILES .* ".jl")
isempty(FORGOTTEN) || error("FILES does not name $(join(FORGOTTEN, ", "))")

# Helpers for several files.
values_of(t::Tensor) = Array(t)
leaf(array) = requires_grad!(Tensor(array))
# The message of the exception that a call throws.
function message_of(kind, f)
    try
        f()
    catch e
        @test e isa kind
        return sprint(showerror, e)
    end
    return "no error"
end

const LEFT_OUT = [argument[2:end] for argument in ARGS if startswith(argument, "-")]
isempty(setdiff(LEFT_OUT, FILES)) || error("there is no file $(join(setdiff(LEFT_OUT, FILES), ", "))")
const NAMED = filter(!startswith("-"), ARGS)

const CHOSEN = Ref("")  # the case to replay; empty: all
for argument in setdiff(isempty(NAMED) ? FILES : NAMED, LEFT_OUT)
    file, CHOSEN[] = split(argument * ":", ":")
    started = time()
    # One suite after another: an exception in a file is a failure of that file and does not stop the
    # others.
    Reporter.FILE[] = "test_$file"
    @testset Suite "test_$file" begin
        include("test_$file.jl")
    end
    println(rpad("test_$file", 20), round(time() - started; digits=1), " s")
end

const REPORT = get(ENV, "TESSERA_TEST_REPORT", "")
const COUNTS = isempty(REPORT) ? Reporter.counts() : write_report(REPORT)
println("$(COUNTS.passed) passed, $(COUNTS.failed) failed, $(COUNTS.skipped) skipped")
exit(COUNTS.failed == 0 && COUNTS.passed > 0 ? 0 : 1)
