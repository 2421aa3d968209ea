# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Checkpoints, hooks on saved tensors, deterministic mode.

noisy(x, w) = dropout(exp.(x); p=0.5) .* w

@testset "test_P1_a_checkpoint_has_the_gradients_of_the_plain_call" begin
    x, w = leaf([0.1, 0.2, 0.3, 0.4]), leaf([1.0, 2.0, 3.0, 4.0])
    Tessera.seed!(5)
    backward!(sum(noisy(x, w)))
    plain = Array(grad(x)), Array(grad(w))
    for early in (true, false)
        zero_grad!(x)
        zero_grad!(w)
        Tessera.seed!(5)
        runs = Ref(0)
        y = checkpoint((a, b) -> (runs[] += 1; noisy(a, b)), x, w; early_stop=early)
        @test runs[] == 1
        backward!(sum(y))
        @test runs[] == 2
        @test (Array(grad(x)), Array(grad(w))) == plain
    end
end

@testset "test_P1_checkpoints_nest_and_have_second_derivatives" begin
    x = leaf([2.0])
    y = sum(checkpoint(a -> checkpoint(b -> b .* b .* b, a), x))
    first = grad(y, x; create_graph=true)
    @test Array(first) == [12]
    @test Array(grad(sum(first), x)) == [12]
end

@testset "test_P1_different_runs_and_exceptions_come_out" begin
    x, runs = leaf([2.0]), Ref(0)
    y = sum(checkpoint(a -> (runs[] += 1; runs[] == 1 ? sin.(exp.(a)) : sin.(a)), x))
    @test_throws TesseraError backward!(y)
    runs[] = 0
    z = sum(checkpoint(a -> (runs[] += 1; runs[] == 2 ? error("second run") : exp.(a)), x))
    @test_throws ErrorException backward!(z)
end

@testset "test_P1_saved_tensors_are_kept_elsewhere" begin
    x = leaf([1.0, 2.0])
    expected = exp.([1.0, 2.0])
    mktempdir() do folder
        y = save_to_disk(() -> exp.(x), folder; min_bytes=0)
        @test length(readdir(folder)) == 1
        backward!(sum(y))
        @test Array(grad(x)) ≈ expected
        @test isempty(readdir(folder))
    end
    @test_throws Exception save_to_disk(() -> nothing, "/no/such/folder")
    zero_grad!(x)
    y = save_copies(() -> exp.(x))
    fill!(Tessera.detach(y), 0)
    backward!(sum(y))
    @test Array(grad(x)) ≈ expected
    y = save_on(() -> exp.(x), CPU)  # it is there already, so the check remains
    fill!(Tessera.detach(y), 0)
    @test_throws TesseraError backward!(sum(y))
    without_saved_hooks("no hooks here") do
        @test_throws TesseraError save_copies(() -> nothing)
    end
end

@testset "test_P1_functions_pack_and_unpack" begin
    x, calls = leaf([1.0, 2.0]), String[]
    y = save_with(t -> (push!(calls, "pack"); Array(t)), a -> (push!(calls, "unpack"); Tensor(a))) do
        exp.(x)
    end
    backward!(sum(y))
    @test calls == ["pack", "unpack"]
    @test Array(grad(x)) ≈ exp.([1.0, 2.0])
    @test_throws ErrorException save_with(() -> exp.(x), t -> error("full"), identity)
end

@testset "test_P1_a_backward_says_whether_it_reaches_all_leaves" begin
    @test_throws TesseraError Tessera.backward_reaches_all()
    x, seen = leaf([1.0]), Bool[]
    y = exp.(x)
    hook!(g -> (push!(seen, Tessera.backward_reaches_all()); nothing), y)
    total = sum(y)
    grad(total, x; retain_graph=true)
    backward!(total)
    @test seen == [false, true]
end

@testset "test_P0_the_deterministic_mode_is_set_and_found" begin
    @test deterministic!(:on) === :off
    @test deterministic_mode() === :on
    @test_throws Exception Tessera.require_deterministic("mine")
    @test Tessera.deterministic_fill() && Tessera.deterministic_fill!(false)
    @test !Tessera.deterministic_fill!(true)
    @test deterministic!(:off) === :on
    @test Tessera.require_deterministic("mine") === nothing
    @test occursin("\"gemm\"", Tessera.nondeterministic_kernels())
    @test_throws ArgumentError deterministic!(:maybe)
end
