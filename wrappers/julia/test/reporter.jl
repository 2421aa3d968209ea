# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# A test set that continues after failures, prints them, and writes one junit case for each @test.

module Reporter

using Test: Test, AbstractTestSet, Broken, Error, Fail, Pass, Result

export Suite, write_report

struct Case
    suite::String
    name::String
    failure::Union{Nothing,String}
    skipped::Bool
end

const CASES = Case[]
const FILE = Ref("")  # the file whose tests run now

"One `@testset`; its tests are cases of it, counted through."
mutable struct Suite <: AbstractTestSet
    description::String
    count::Int
end
Suite(description::AbstractString; options...) = Suite(description, 0)

function Test.record(suite::Suite, result::Result)
    suite.count += 1
    failure = result isa Union{Fail,Error} ? sprint(show, result) : nothing
    failure === nothing || println(stderr, "Julia, $(suite.description): ", failure)
    push!(CASES, Case(FILE[], "$(suite.description)[$(suite.count)]", failure, result isa Broken))
    return result
end

Test.record(::Suite, inner::AbstractTestSet) = inner

Test.finish(suite::Suite) =
    Test.get_testset_depth() == 0 ? suite : Test.record(Test.get_testset(), suite)

escaped(text) = foldl(replace, ["&" => "&amp;", "<" => "&lt;", ">" => "&gt;", "\"" => "&quot;"]; init=text)

"Writes the cases so far; tells how many passed, failed and were skipped."
function write_report(path)
    open(path, "w") do io
        println(io, "<testsuite name=\"julia\">")
        for case in CASES
            print(io, "<testcase classname=\"", escaped(case.suite), "\" name=\"", escaped(case.name), "\">")
            case.failure === nothing || print(io, "<failure>", escaped(case.failure), "</failure>")
            case.skipped && print(io, "<skipped/>")
            println(io, "</testcase>")
        end
        println(io, "</testsuite>")
    end
    return counts()
end

function counts()
    failed = count(c -> c.failure !== nothing, CASES)
    skipped = count(c -> c.skipped, CASES)
    return (passed=length(CASES) - failed - skipped, failed=failed, skipped=skipped)
end

end
