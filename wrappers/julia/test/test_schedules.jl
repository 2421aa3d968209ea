# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Schedules against the rates of tests/conformance/schedules.txt, and what sets them.

const SCHEDULE_TABLE = joinpath(@__DIR__, "..", "..", "..", "tests", "conformance", "schedules.txt")

# The schedules of make_schedules.py.
const SCHEDULES = Dict(
    "step" => StepLR(step_size=7),
    "multi_step" => MultiStepLR(milestones=[4, 9, 9, 20], gamma=0.3),
    "constant" => ConstantLR(factor=0.25, total_iters=9),
    "linear" => LinearLR(start_factor=0.1, end_factor=0.75, total_iters=11),
    "exponential" => ExponentialLR(gamma=0.9),
    "polynomial" => PolynomialLR(total_iters=30, power=1.7),
    "cosine" => CosineAnnealingLR(T_max=9, eta_min=0.01),
    "warm_restarts" => CosineAnnealingWarmRestarts(T_0=7),
    "longer_restarts" => CosineAnnealingWarmRestarts(T_0=3, T_mult=2, eta_min=0.02),
    "triangular" => CyclicLR(base_lr=0.01, max_lr=0.2, step_size_up=5, step_size_down=8),
    "triangular2" => CyclicLR(base_lr=0.01, max_lr=0.2, step_size_up=5, mode=:triangular2),
    "exp_range" => CyclicLR(base_lr=0.01, max_lr=0.2, step_size_up=4, mode=:exp_range, gamma=0.9),
    "one_cycle" => OneCycleLR(max_lr=0.5, total_steps=41),
    "three_phases" => OneCycleLR(max_lr=0.5, total_steps=45, linear=true, three_phase=true),
    "sequence" => SequentialLR(
        [LinearLR(start_factor=0.1, total_iters=4), CosineAnnealingLR(T_max=10), ExponentialLR(gamma=0.8)], [4, 12]),
    "chained" => ChainedScheduler([ConstantLR(factor=0.1, total_iters=3), ExponentialLR(gamma=0.9)]),
    "multiplicative" => MultiplicativeLR(step -> step % 3 == 0 ? 0.8 : 1.0),
)
const PLATEAUS = Dict(
    "plateau" => (factor=0.5, patience=3, cooldown=2),
    "plateau_max" => (mode=:max, patience=2, threshold=0.06, threshold_mode=:abs, min_lr=1e-3),
)
schedule_rows() = split.(filter(!startswith('#'), readlines(SCHEDULE_TABLE)))

@testset "test_schedules_have_the_rates_of_the_table" begin
    rows = filter(row -> !haskey(PLATEAUS, row[1]), schedule_rows())
    @test sort(first.(rows)) == sort(collect(keys(SCHEDULES)))
    for row in rows
        name, rates = row[1], row[2:end]
        @test length(rates) == 41
        found = [SCHEDULES[name](0.3, step) for step in 0:40]
        @test isapprox(found, parse.(Float64, rates); rtol=0, atol=1e-12)
    end
end

@testset "test_rates_fall_when_a_measure_stays" begin
    rows = filter(row -> haskey(PLATEAUS, row[1]), schedule_rows())
    @test length(rows) == 2
    for row in rows
        state = setup(SGD(lr=0.3), [leaf([1.0])])
        plateau = ReduceLROnPlateau(state; PLATEAUS[row[1]]...)
        for (step, expected) in zip(0:40, parse.(Float64, row[2:end]))
            @test isapprox(Tessera.rule(state, 1).lr, expected; rtol=0, atol=1e-12)
            measure = step < 10 ? 1 / (step + 1) : 0.1
            step!(plateau, plateau.mode === :max ? -measure : Tensor(measure))
        end
    end
    state = setup(SGD(lr=0.3), [leaf([1.0])])
    @test_throws ArgumentError ReduceLROnPlateau(state; factor=1)
    @test_throws ArgumentError ReduceLROnPlateau(state; mode=:best)
    @test_throws ArgumentError ReduceLROnPlateau(state; threshold_mode=:other)
end

@testset "test_schedulers_set_the_rates_of_all_groups" begin
    state = add_group!(setup(SGD(lr=1.0), [leaf([1.0])]), SGD(lr=2.0), [leaf([1.0])])
    scheduler = Scheduler(state, (base, step) -> base / (1 + step))
    @test Tessera.rule(state, 2).lr == 2
    step!(scheduler)
    @test (Tessera.rule(state, 1).lr, Tessera.rule(state, 2).lr) == (0.5, 1.0)
    step!(scheduler, 3)
    @test Tessera.rule(state, 2).lr == 0.5 && scheduler.step == 3
end

@testset "test_wrong_schedules_are_refused" begin
    @test_throws ArgumentError SequentialLR([StepLR(step_size=1)], [3])
    @test_throws ArgumentError CyclicLR(base_lr=0.1, max_lr=0.2, mode=:square)
    @test_throws ArgumentError SequentialLR([StepLR(step_size=1) for _ in 1:3], [10, 5])
    refused(option, make) = @test occursin(option, message_of(ArgumentError, make))
    refused("T_0", () -> CosineAnnealingWarmRestarts(T_0=0))
    refused("T_mult", () -> CosineAnnealingWarmRestarts(T_0=2, T_mult=0))
    refused("step_size", () -> StepLR(step_size=0))
    refused("total_iters", () -> LinearLR(total_iters=0))
    refused("total_iters", () -> PolynomialLR(total_iters=0))
    refused("T_max", () -> CosineAnnealingLR(T_max=0))
    refused("step_size_up", () -> CyclicLR(base_lr=0.1, max_lr=0.2, step_size_up=0))
    refused("total_steps", () -> OneCycleLR(max_lr=0.5, total_steps=0))
    refused("pct_start", () -> OneCycleLR(max_lr=0.5, total_steps=10, pct_start=1.5))
end

@testset "test_one_cycle_begins_at_the_top_and_ends" begin
    cycle = OneCycleLR(max_lr=0.5, total_steps=10, pct_start=0.1)
    @test cycle(0, 0) == 0.5
    @test OneCycleLR(max_lr=0.5, total_steps=10, pct_start=0.1, three_phase=true)(0, 0) == 0.5
    scheduler = Scheduler(setup(SGD(lr=0.3), [leaf([1.0])]), cycle)
    step!(scheduler, 10)
    @test_throws ArgumentError step!(scheduler)
    @test scheduler.step == 10
end
