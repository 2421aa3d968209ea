# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# The rules of the extension, with a stand-in for ChainRulesCore: the Julia of these tests is too old to
# load extensions, and there is no package server.

module ChainRulesCoreStandIn
const SOURCE = """
    module ChainRulesCore
    export rrule, NoTangent, ZeroTangent, unthunk
    function rrule end
    struct NoTangent end
    struct ZeroTangent end
    unthunk(x) = x
    end
    """
end

const RULES = mktempdir() do folder
    name = "ChainRulesCore"
    write(joinpath(mkpath(joinpath(folder, name, "src")), "$name.jl"), ChainRulesCoreStandIn.SOURCE)
    pushfirst!(LOAD_PATH, folder)
    try
        include(joinpath(@__DIR__, "..", "ext", "TesseraChainRulesCoreExt.jl"))
    finally
        popfirst!(LOAD_PATH)
    end
end

const rrule = RULES.ChainRulesCore.rrule

@testset "test_arrays_enter_and_leave" begin
    t, back = rrule(Tensor, [1.0 2; 3 4])
    @test Array(t) == [1 2; 3 4]
    @test back(Tensor([5.0 6; 7 8]))[2] == [5 6; 7 8]
    a, back = rrule(Array, t)
    @test a == [1 2; 3 4]
    @test Array(back([1.0 0; 0 1])[2]) == [1 0; 0 1]
end

@testset "test_taped_functions_answer_with_gradients" begin
    x, w, unused = Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), Tensor([1.0])
    y, back = rrule(taped, (x, w, _) -> x .^ 2 .* w, x, w, unused)
    @test Array(y) == [3, 16] == Array(taped((x, w) -> x .^ 2 .* w, x, w))
    @test !requires_grad(y) && !requires_grad(x)
    for _ in 1:2  # a pullback may be called again
        gradients = back(Tensor([1.0, 10.0]))
        @test Array(gradients[3]) == [6, 160]
        @test Array(gradients[4]) == [1, 40]
        @test gradients[5] isa RULES.ChainRulesCore.ZeroTangent
    end
end

@testset "test_integers_have_no_tangent" begin
    x, classes = Tensor([1.0 2; 3 4]), Tensor([0, 1])
    y, back = rrule(taped, (x, classes) -> sum(x[1, :]) .+ sum(classes), x, classes)
    gradients = back(Tensor(1.0))
    @test Array(gradients[3]) == [1 1; 0 0] && gradients[4] isa RULES.ChainRulesCore.NoTangent
    _, back = rrule(taped, (x, classes) -> classes .* 2, x, classes)
    @test back(Tensor([1, 1]))[3] isa RULES.ChainRulesCore.ZeroTangent
end
