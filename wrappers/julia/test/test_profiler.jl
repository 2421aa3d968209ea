# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Profilers: ranges, schedules, tables, files, exceptions of the callback.

# The frames of a task on any thread.
function function_of_a_task()
    return tan.(Tessera.ones(2))
end

@testset "test_R11_stacks_are_those_of_all_threads" begin
    _, profiler = profile(; stacks=true) do
        fetch(Threads.@spawn function_of_a_task())
    end
    @test occursin(r"test_profiler.jl:\d+ in function_of_a_task", profile_text(profiler, :events))
end

@testset "test_R11_table_and_formats_have_the_ranges_and_functions" begin
    x = requires_grad!(Tessera.ones(2, 3))
    result, profiler = profile(; shapes=true, memory=true, stacks=true) do
        profile_range("forward") do
            profile_range(() -> backward!(sum(exp.(x))), "exponential")
            42
        end
    end
    @test result == 42
    @test occursin("forward", profile_table(profiler; sort=:total, rows=3))
    @test occursin("[[", profile_table(profiler; sort=:name, group=:shapes))
    @test occursin("\"exp\"", profile_rows(profiler; group=:kernels))
    events = profile_text(profiler, :events)
    for wanted in ("\"exponential\"", "\"ExpBackward\"", "\"allocate\"", "test_profiler.jl")
        @test occursin(wanted, events)
    end
    mktempdir() do folder
        path = save_profile(profiler, joinpath(folder, "profile.html"))
        @test read(path, String) == profile_text(profiler, :html)
        @test occursin("traceEvents", read(save_profile(profiler, joinpath(folder, "trace.json")), String))
    end
end

@testset "test_R11_schedule_calls_back_after_each_cycle" begin
    cycles = 0
    profiler = Tessera.Profiler(; schedule=(wait=1, warmup=1, active=1, repeat=2)) do p
        cycles += 1
        @test occursin("exp", profile_table(p))
    end
    Tessera.start!(profiler)
    for step in 1:8
        exp.(Tessera.ones(1))
        step!(profiler)
        step == 2 && @test profile_action(profiler) == :record_and_save
    end
    Tessera.stop!(profiler)
    @test cycles == 2
    @test profile_action(profiler) == :none
end

@testset "test_exceptions_of_the_callback_and_of_wrong_use_come_back" begin
    profiler = Tessera.Profiler(_ -> error("full"))
    @test_throws ArgumentError Tessera.stop!(profiler)
    @test_throws ArgumentError profile_table(profiler)
    Tessera.start!(profiler)
    @test_throws ErrorException("full") Tessera.stop!(profiler)
    @test_throws ArgumentError profile_table(profiler; sort=:weight)
    @test_throws ArgumentError Tessera.Profiler(; schedule=(pause=1,))
    @test_throws ArgumentError Tessera.Profiler(; schedule=(wait=1,))
end

@testset "test_R11_roof_adds_the_share_of_it" begin
    roof = profile_roof()
    @test roof.bytes_per_second > 0
    @test profile_roof() == roof
    _, profiler = profile(() -> exp.(Tessera.ones(1000)))
    @test occursin("Of roof", profile_table(profiler))
end
