# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Memory: released by the collector, by free! and by scopes, and the collector under pressure.

resident_mib() = parse(Int, split(read("/proc/self/statm", String))[2]) * 4096 / 2^20

function collected()
    foreach(_ -> GC.gc(), 1:3)
    return Tessera.live_tensors()
end

@testset "test_the_collector_releases" begin
    make(n) = foreach(_ -> Tessera.zeros(10) .+ 1, 1:n)
    make(10)
    before = collected()
    make(1000)
    @test collected() <= before
end

@testset "test_free_releases_at_once" begin
    t = Tessera.zeros(1000)
    before = Tessera.live_tensors()
    free!(t)
    @test Tessera.live_tensors() == before - 1
end

@testset "test_scopes_free_what_they_do_not_return" begin
    escaped = Ref{Any}()
    kept = Ref{Any}()
    before = Tessera.live_tensors()
    result = scope() do
        a = Tensor([1.0, 2.0])
        b = a .* 2
        escaped[] = a
        kept[] = Tessera.keep!(a .+ 10)
        scope() do
            (b .+ 1) .* 2
        end
    end
    @test Array(result) == [6, 10]
    @test isfreed(escaped[])
    @test Array(kept[]) == [11, 12]
    @test Tessera.live_tensors() == before + 2
    many = scope(() -> Dict("a" => [Tensor(1), Tensor(2)], "b" => (Tensor(3), 4)))
    @test item(many["a"][2]) == 2 && item(many["b"][1]) == 3
    model, state = scope(() -> (m = Chain(Dense(2 => 2), relu); (m, setup(Adam(), m))))
    @test !any(isfreed, params(model)) && !any(isfreed, state.params)
    thrown = Ref{Any}()
    @test_throws ErrorException scope(() -> (thrown[] = Tensor(1); error("out")))
    @test isfreed(thrown[])
    @test !isfreed(Tensor(1))
end

@testset "test_scopes_spare_what_objects_hold" begin
    for make in (() -> Scheduler(setup(SGD(lr=1), [leaf([1.0])]), StepLR(step_size=2)),
            () -> ReduceLROnPlateau(setup(SGD(lr=1), [leaf([1.0])])), () -> LBFGS([leaf([1.0])]),
            () -> Tessera.Distributions.Normal(Tensor([1.0]), Tensor([2.0])), () -> "name" => Tensor([1.0]),
            () -> Tessera.DataLoader((Tensor([1.0 2; 3 4]),); batch_size=2), () -> Tessera.Subset([Tensor([1.0])], [1]))
        made = scope(make)
        held = Base.IdSet{Tensor}()
        Tessera.spare!(held, made)
        @test !isempty(held) && !any(isfreed, held)
    end
    # A tensor of an outer scope.
    kept = Ref{Any}()
    scope() do
        t = Tensor([1.0])
        scope(() -> kept[] = Tessera.keep!(t))
        nothing
    end
    @test Array(kept[]) == [1]
end

@testset "test_scopes_belong_to_their_task" begin
    outside = Ref{Any}()
    scope() do
        wait(@async outside[] = Tensor([1.0]))
    end
    @test !isfreed(outside[])
end

@testset "test_dropped_tensors_do_not_pile_up" begin
    function drop(n)
        peak = 0.0
        for i in 1:n
            fill!(Tessera.empty(Float32, 512, 512), 1)  # 1 MiB
            i % 100 == 0 && (peak = max(peak, resident_mib()))
        end
        return peak
    end
    drop(10)
    GC.gc()
    before = resident_mib()
    # Allocates 8 GiB in all; with TSR_TEST_LONG 100 GiB.
    @test drop(haskey(ENV, "TSR_TEST_LONG") ? 100_000 : 8_000) - before < 200
end

@testset "test_young_collections_suffice_beside_held_memory" begin
    GC.gc()
    Tessera.empty_cache!()
    held = [fill!(Tessera.empty(Float32, 512, 512), i) for i in 1:64]
    drop(n) = foreach(_ -> fill!(Tessera.empty(Float32, 512, 512), 1), 1:n)
    drop(200)  # the threshold settles
    before = Base.gc_num()
    drop(1_000)  # 1 GiB past 64 MiB in use: at least 8 collections
    counted = Base.GC_Diff(Base.gc_num(), before)
    @test counted.pause >= 8
    @test counted.full_sweep <= counted.pause ÷ 4
    @test Tessera.memory_stats().reserved <= 4 * length(held) << 20
    foreach(free!, held)
end

@testset "test_memory_in_use_raises_the_threshold" begin
    held = [fill!(Tessera.empty(Float32, 512, 512), i) for i in 1:300]
    @test Tessera.threshold(CPU) > 300 << 20
    @test all(i -> item(view(held[i], 1, 1)) == i, 1:300)
    foreach(free!, held)
end

@testset "test_memory_statistics" begin
    GC.gc()
    Tessera.reset_peak!()
    before = Tessera.memory_stats()
    t = Tessera.zeros(1 << 20)
    after = Tessera.memory_stats()
    @test after.allocated - before.allocated >= 4 << 20
    @test after.allocated_peak >= after.allocated
    free!(t)
    @test Tessera.trim!(typemax(Int64)) == 0
    @test Tessera.empty_cache!() >= 0
    @test Tessera.memory_limit() == typemax(Int64)
    Tessera.memory_limit!(256 << 20)
    @test_throws OutOfMemory Tessera.zeros(1 << 30)
    Tessera.memory_limit!(typemax(Int64))
end

@testset "test_an_op_allocates_its_handle_only" begin
    a, b = Tessera.rand(4), Tessera.rand(4)
    add(n) = (local c = Tessera.add(a, b); for _ in 2:n; c = Tessera.add(a, b); end; c)
    dotted(a, b) = a .+ b
    Tessera.add(a, b), dotted(a, b)
    bytes(f, x, y) = (f(x, y); @allocated f(x, y))
    @test bytes(Tessera.add, a, b) == 16
    @test bytes(dotted, a, b) == 16
    @test bytes(+, a, b) == 16
    @test bytes((x, y) -> Tessera.add!(x, x, y), a, b) == 0
    @test Base.return_types(Tessera.add, (Tensor, Tensor)) == [Tensor]
    @test Base.return_types(dotted, (Tensor, Tensor)) == [Tensor]
end

# One tensor is 16 bytes; a number that is read is boxed, because the compiler does not know its type.
@testset "test_common_calls_allocate_what_they_return" begin
    m, v = Tessera.rand(3, 4), Tessera.rand(3)
    bytes(f) = (f(m, v); @allocated f(m, v))
    for (call, expected) in [
        ((m, v) -> Tessera.zeros((2, 3); dtype=Float64)) => 16,
        ((m, v) -> Tensor(1.5)) => 16,
        ((m, v) -> Array(v)) => 128,
        ((m, v) -> m .+ 1) => 16,
        ((m, v) -> exp.(m .* 2 .+ m)) => 48,
        ((m, v) -> m .+ v) => 32,
        ((m, v) -> m .= 1) => 0,
        ((m, v) -> m .+= 1) => 0,
        ((m, v) -> m[1, 2]) => 16,
        ((m, v) -> m[:, 1]) => 16,
        ((m, v) -> m[2, 1:2]) => 16,
        ((m, v) -> view(m, 1:2, :)) => 16,
        ((m, v) -> m[1, 2] = 3) => 0,
        ((m, v) -> m[:, 1] = v) => 0,
        ((m, v) -> sum(m; dims=1)) => 16,
        ((m, v) -> sum(m; dims=(1, 2))) => 16,
        ((m, v) -> permutedims(m, (2, 1))) => 16,
        ((m, v) -> cat(m, m; dims=1)) => 16,
        ((m, v) -> reshape(m, 4, 3)) => 48,
    ]
        @test bytes(call) <= expected
    end
end

@testset "test_what_an_expression_is_made_of_is_freed_at_once" begin
    t = Tensor([1.0, 2.0])
    before = collected()
    result = exp.(t .* 2 .+ [1.0, 2.0]) .- identity.(t)
    @test Tessera.live_tensors() == before + 1
    @test !isfreed(t) && Array(t) == [1, 2]
    matrix = Tensor([1.0 2.0; 3.0 4.0]) .+ t
    @test Tessera.live_tensors() <= before + 3
    same = identity.(t)
    @test same !== t && same == t && !isfreed(t)
    @test Array(identity.(t) .^ 1 .+ (t .^ 1)) == [2, 4] && !isfreed(t)
    t .= t .* 2 .+ 1
    @test Array(t) == [3, 5]
    x = requires_grad!(Tensor([1.0, 2.0]))
    backward!(sum(exp.(x .* 2) .* x))
    @test Array(grad(x)) ≈ exp.([2.0, 4.0]) .* [3.0, 5.0]
end

@testset "test_recordings_name_operations_and_places" begin
    make_block() = Tessera.ones(512, 1024)
    @test_throws ArgumentError Tessera.memory_holders()
    holders, snapshot, page = Tessera.record_memory(stacks=16) do
        @test Tessera.is_memory_recorded()
        kept = make_block()
        found = Tessera.memory_holders(1), Tessera.memory_snapshot(), Tessera.memory_viewer()
        free!(kept)
        @test !occursin("float32[512, 1024]", Tessera.memory_holders(1))
        found
    end
    @test !Tessera.is_memory_recorded()
    top = only(read_json(IOBuffer(holders)))
    @test top["operation"] == "ones"
    @test top["tensor"] == "float32[512, 1024]"
    @test top["bytes"] == 2 << 20
    @test occursin(r"test_memory.jl:\d+ in make_block|test_memory.jl:\d+ in #\d*make_block", first(top["stack"]))
    @test startswith(page, "<!DOCTYPE html>") && occursin("float32[512, 1024]", page)
    @test startswith(Tessera.memory_viewer(snapshot), "<!DOCTYPE html>")
    @test_throws ArgumentError Tessera.memory_viewer("[]")
end

@testset "test_out_of_memory_is_observed" begin
    GC.gc()
    Tessera.empty_cache!()
    asked, told = Ref(0), Ref("")
    observer(n) = (asked[] = n; told[] = Tessera.memory_holders(1))
    Tessera.record_memory() do
        kept = Tessera.ones(2048, 1024)
        Tessera.memory_limit!(Tessera.memory_stats().reserved)
        try
            @test_throws OutOfMemory Tessera.with_out_of_memory_observer(
                () -> Tessera.ones(64, 1024, 1024), observer)
        finally
            Tessera.memory_limit!(typemax(Int64))
            free!(kept)
        end
    end
    @test asked[] == 256 << 20
    @test occursin("float32[2048, 1024]", told[])
end

@testset "test_R15_the_collector_gives_everything_back" begin
    function work()
        x = requires_grad!(Tessera.ones(64, 64))
        for _ in 1:100
            y = sum(exp.(x))
            backward!(y)
        end
    end
    work()
    tensors, nodes = collected(), Tessera.live_nodes()
    bytes = Tessera.memory_stats().allocated
    work()
    @test collected() <= tensors
    @test Tessera.live_nodes() == nodes
    @test Tessera.memory_stats().allocated <= bytes
    x = Tessera.ones(1 << 20)
    held = Tessera.memory_stats().allocated
    free!(x)
    @test Tessera.memory_stats().allocated == held - (4 << 20)
end

@testset "test_R9_settings_change_one_by_one" begin
    before = Tessera.memory_settings()
    Tessera.memory_settings!(; roundup_power2_divisions=4)
    @test Tessera.memory_settings() == merge(before, (roundup_power2_divisions=4,))
    @test_throws ArgumentError Tessera.memory_settings!(; roundup_power2_divisions=3)
    @test_throws ArgumentError Tessera.memory_settings!(; no_such_setting=1)
    Tessera.memory_settings!(; roundup_power2_divisions=0)
    @test Tessera.memory_settings() == before
    Tessera.memory_fraction!(0.5)
    @test Tessera.memory_limit() < typemax(Int64)
    Tessera.memory_limit!(typemax(Int64))
end
