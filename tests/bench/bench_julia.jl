# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# What one call costs a Julia program: the cases of bench_overhead.cpp, and beside each the same calls
# of the C ABI made and released at once. One JSON line per case, as harness.h prints it.
#
# Usage: TESSERA_BUILD_DIR=build/release julia --project=wrappers/julia tests/bench/bench_julia.jl

using Printf
using Tessera
using Tessera: C, check, tsr_tensor

const OWN_TIME = get(ENV, "TSR_BENCH_CLOCK", "") == "cpu"

struct Timespec
    seconds::Clong
    nanoseconds::Clong
end

function clock()
    time = Ref(Timespec(0, 0))
    ccall(:clock_gettime, Cint, (Cint, Ptr{Timespec}), OWN_TIME ? 2 : 1, time)
    return time[].seconds + 1e-9 * time[].nanoseconds
end

function seconds_of(work)
    start = clock()
    work()
    return clock() - start
end

function summarise(seconds)
    sorted = sort(seconds)
    last = length(sorted) - 1
    return (best=sorted[1], median=sorted[last ÷ 2 + 1], p10=sorted[last ÷ 10 + 1], p90=sorted[last - last ÷ 10 + 1])
end

"TSR_BENCH_ONLY names the cases to run, with commas between them; without it all run."
function is_chosen(name)
    chosen = get(ENV, "TSR_BENCH_ONLY", "")
    return isempty(chosen) || name in split(chosen, ',')
end

"Takes turns with the peer, so that a busy machine disturbs both."
function run_case(ours, name; peer=nothing, shape="[4]", unit="call", count=1, bytes=0, threads=1, rounds=20)
    is_chosen(name) || return nothing
    ours()
    peer === nothing || peer()
    mine, other = Float64[], Float64[]
    for _ in 1:rounds
        push!(mine, seconds_of(ours))
        peer === nothing || push!(other, seconds_of(peer))
    end
    times, scale = summarise(mine), 1e9 / count
    @printf("{\"name\": \"%s\", \"shape\": \"%s\", \"device\": \"cpu\", \"threads\": %d, \"unit\": \"ns per %s\", \"best\": %.3f, \"median\": %.3f, \"p10\": %.3f, \"p90\": %.3f",
        name, shape, threads, unit, times.best * scale, times.median * scale, times.p10 * scale, times.p90 * scale)
    bytes > 0 && @printf(", \"bytes_per_second\": %.4g", bytes / times.median)
    if peer !== nothing
        theirs = summarise(other)
        @printf(", \"peer\": \"C\", \"peer_best\": %.3f, \"peer_median\": %.3f, \"ratio\": %.3f",
            theirs.best * scale, theirs.median * scale, times.median / theirs.median)
    end
    println("}")
end

# A function barrier: the loop is compiled for the functions it calls.
function repeated(f, count)
    for _ in 1:count
        f()
    end
end

"Calls a C function with an out parameter and releases what it gives."
function raw(call, count)
    out = Ref{tsr_tensor}()
    for _ in 1:count
        check(call(out))
        C.tsr_tensor_release(out[])
    end
end

function small_ops(count)
    a, b, w = Tessera.rand((4,)), Tessera.rand((4,)), requires_grad!(Tessera.rand((4,)))
    pairs = [
        ("add", () -> Tessera.add(a, b), out -> C.tsr_add(a, b, out)),
        ("add_dotted", () -> a .+ b, out -> C.tsr_add(a, b, out)),
        ("add_scalar", () -> Tessera.add(a, 1.5), out -> C.tsr_add_f64(a, 1.5, out)),
        ("exp", () -> exp(a), out -> C.tsr_exp(a, out)),
        ("add_with_node", () -> Tessera.add(a, w), out -> C.tsr_add(a, w, out)),
        ("multiply_with_node", () -> Tessera.multiply(a, w), out -> C.tsr_multiply(a, w, out)),
    ]
    for (name, ours, call) in pairs
        run_case(() -> repeated(ours, count), name; peer=() -> raw(call, count), count=count)
    end
    run_case(() -> repeated(() -> Tessera.add!(a, a, b), count), "add_out";
        peer=() -> repeated(() -> check(C.tsr_add_out(a, b, a)), count), count=count)
    run_case(() -> repeated(() -> free!(Tessera.add(a, b)), count), "add_freed";
        peer=() -> raw(out -> C.tsr_add(a, b, out), count), count=count)
end

function forward(w, factor, length)
    y = w
    for _ in 1:length
        y = Tessera.multiply(y, factor)
    end
    return y
end

function chain(length; rounds=20)
    w, factor, seed = requires_grad!(Tessera.rand((4,))), Tessera.rand((4,)), Tessera.ones((4,))
    ready = [forward(w, factor, length) for _ in 1:(rounds + 1)]
    run_case(() -> free!((y = pop!(ready); backward!(y; gradient=seed); y)), "backward"; unit="node", count=length, rounds=rounds)
    run_case(() -> backward!(forward(w, factor, length); gradient=seed), "chain_forward_backward"; unit="op", count=length)
end

function large_add()
    numel = 16 << 20  # 64 MiB of Float32
    a, b = Tessera.rand((numel,)), Tessera.rand((numel,))
    run_case(() -> free!(Tessera.add(a, b)), "fresh_add"; peer=() -> raw(out -> C.tsr_add(a, b, out), 1), shape="64MiB",
        bytes=3.0 * 4 * numel, threads=Tessera.num_threads())
end

function matmul_case(n)
    a, b = Tessera.rand(n, n), Tessera.rand(n, n)
    run_case(() -> free!(matmul(a, b)), "matmul"; peer=() -> raw(out -> C.tsr_matmul(a, b, out), 1), shape=string(n),
        threads=Tessera.num_threads())
end

small_ops(200_000)
chain(10_000)
large_add()
foreach(matmul_case, (256, 512, 1024, 2048))
