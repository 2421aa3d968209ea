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

mutable struct Bare
    pointer::Ptr{Cvoid}
end

# What Julia itself takes for an object of a tensor's size with a finalizer that does nothing, made and
# collected as tensors are: less than this over C no package can reach.
function bare_objects(count)
    nothing_to_do = cglobal((:tsr_live_handles, C.libtessera))
    run_case("bare_object"; count=count) do
        for i in 1:count
            finalizer(nothing_to_do, Bare(C_NULL))
            i % Tessera.COLLECT_LEAST == 0 && GC.gc(false)
        end
    end
end

function small_ops(count)
    a, b, w = Tessera.rand((4,)), Tessera.rand((4,)), requires_grad!(Tessera.rand((4,)))
    pairs = [
        ("add", () -> Tessera.add(a, b), out -> C.tsr_add(a, b, out)),
        ("add_dotted", () -> a .+ b, out -> C.tsr_add(a, b, out)),
        ("add_scalar", () -> Tessera.add(a, 1.5), out -> C.tsr_add_scalar(a, Tessera.host_number(1.5), out)),
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

# ---- The calls that programs are made of ----

# Each of these makes a handle from an owned one, which is given back, as a wrapper of C would.
function then(call, handle)
    out = Ref{tsr_tensor}()
    status = call(handle, out)
    C.tsr_tensor_release(handle)
    check(status)
    return out[]
end

function made(call)
    out = Ref{tsr_tensor}()
    check(call(out))
    return out[]
end

dropped(handle) = C.tsr_tensor_release(handle)

# The index items of C: kind, start, stop, step for each axis.
const ALL_OF = (Int64(C.TSR_INDEX_KIND_SLICE), typemin(Int64), typemin(Int64), 1)
at(i) = (Int64(C.TSR_INDEX_KIND_INTEGER), Int64(i), 0, 0)
from_to(start, stop) = (Int64(C.TSR_INDEX_KIND_SLICE), Int64(start), Int64(stop), 1)
items(list...) = Int64[x for item in list for x in item]
part(t, items) = made(out -> C.tsr_getitem_basic(t, items, length(items), out))
copied(handle) = then(C.tsr_clone, handle)
turned(handle, axes) = then((h, out) -> C.tsr_permute_dims(h, axes, length(axes), out), handle)
reshaped(handle, sizes) = then((h, out) -> C.tsr_reshape(h, sizes, length(sizes), -1, out), handle)

function number_of(handle)
    value = Ref{C.tsr_number}()
    status = C.tsr_tensor_item(handle, value)
    C.tsr_tensor_release(handle)
    check(status)
    return value[].real
end

function item_of(t)
    value = Ref{C.tsr_number}()
    check(C.tsr_tensor_item(t, value))
    return value[].real
end

filled(make, sizes, bits=C.TSR_FLOAT32) = made(out -> make(sizes, length(sizes), bits, -1, -1, out))

function creation(count)
    four, shape, steps = Int64[4], Int64[2, 3], Int64[1, 2]
    array, matrix = Float32[1, 2], Float32[1 2 3; 4 5 6]
    read_into(t, array) = (check(C.tsr_tensor_read(t, array, sizeof(array))); array)
    v, m = Tensor(array), Tensor(matrix)
    function written(array)
        h = filled(C.tsr_empty, Int64[length(array)])
        check(C.tsr_tensor_write(h, array, sizeof(array)))
        return h
    end
    calls("empty", count, () -> Tessera.empty(Float32, 4), () -> dropped(filled(C.tsr_empty, four)))
    calls("zeros", count, () -> Tessera.zeros(Float32, 2, 3), () -> dropped(filled(C.tsr_zeros, shape)))
    calls("zeros_dtype", count, () -> Tessera.zeros((2, 3); dtype=Float64),
        () -> dropped(filled(C.tsr_zeros, shape, C.TSR_FLOAT64)))
    calls("tensor_of_number", count, () -> Tensor(1.5),
        () -> dropped(made(out -> C.tsr_full(C_NULL, 0, Tessera.host_number(1.5), C.TSR_FLOAT64, -1, -1, out))))
    calls("tensor_of_vector", count, () -> Tensor(array), () -> dropped(written(array)))
    calls("tensor_of_matrix", count, () -> Tensor(matrix), () -> begin
        h, out = filled(C.tsr_empty, shape), Ref{tsr_tensor}()
        check(C.tsr_tensor_from_data(matrix, C.TSR_FLOAT32, 1, 0, shape, 2, steps, 2, 0, C_NULL, C_NULL, out))
        check(C.tsr_copy_inplace(h, out[], false))
        dropped(out[])
        dropped(h)
    end)
    calls("array_of_vector", count, () -> Array(v), () -> read_into(v, Vector{Float32}(undef, 2)))
    calls("array_of_matrix", count, () -> Array(m), () -> begin
        h = made(out -> C.tsr_permute_dims(m, Int64[1, 0], 2, out))
        read_into(h, Matrix{Float32}(undef, 2, 3))
        C.tsr_tensor_release(h)
    end)
    one = Tessera.rand(1)
    calls("item", count, () -> item(one), () -> item_of(one))
end

calls(name, count, ours, peer) =
    run_case(() -> repeated(ours, count), name; peer=() -> repeated(peer, count), count=count)

function expressions(count)
    a, m, v = Tessera.rand(4), Tessera.rand(3, 4), Tessera.rand(3)
    scaled() = made(out -> C.tsr_multiply_scalar(a, Tessera.host_number(2.0), out))
    calls("dotted_scalar", count, () -> a .+ 1.0, () -> dropped(made(out -> C.tsr_add_scalar(a, Tessera.host_number(1.0), out))))
    calls("dotted_scalar_first", count, () -> 2.0 .* a, () -> dropped(scaled()))
    calls("dotted_expression", count, () -> exp.(a .* 2.0 .+ a),
        () -> dropped(then(C.tsr_exp, then((h, out) -> C.tsr_add(h, a, out), scaled()))))
    calls("dotted_column", count, () -> m .+ v, () -> dropped(then((h, out) -> C.tsr_add(m, h, out),
        made(out -> C.tsr_unsqueeze(v, 1, out)))))
    calls("dotted_fill", count, () -> m .= 1.0, () -> check(C.tsr_fill_inplace(m, Tessera.host_number(1.0))))
    calls("dotted_update", count, () -> a .+= 1.0, () -> check(C.tsr_add_scalar_inplace(a, Tessera.host_number(1.0))))
end

function indexing(count)
    a, m, row = Tessera.rand(4), Tessera.rand(3, 4), Tessera.rand(4)
    whole, first_two = items(at(0)), items(from_to(0, 2))
    first_row, inner = items(from_to(0, 2), ALL_OF), items(at(0), from_to(1, 3))
    column, corner = items(ALL_OF, at(0)), items(at(0), at(1))
    calls("index_number", count, () -> a[1], () -> number_of(part(a, whole)))
    calls("index_numbers", count, () -> m[1, 2], () -> number_of(part(m, corner)))
    calls("index_range", count, () -> a[1:2], () -> dropped(copied(part(a, first_two))))
    calls("index_number_range", count, () -> m[1, 2:3], () -> dropped(copied(part(m, inner))))
    calls("index_column", count, () -> m[:, 1], () -> dropped(copied(part(m, column))))
    calls("view", count, () -> view(m, 1:2, :), () -> dropped(part(m, first_row)))
    calls("set_number", count, () -> (m[1, 2] = 1.0),
        () -> check(C.tsr_setitem_scalar_inplace(m, corner, 8, C_NULL, 0, Tessera.host_number(1.0))))
    calls("set_part", count, () -> (m[1, 2:3] = 1.0),
        () -> check(C.tsr_setitem_scalar_inplace(m, inner, 8, C_NULL, 0, Tessera.host_number(1.0))))
    calls("set_row", count, () -> (m[1, :] = row), () -> begin
        h = part(m, items(at(0), ALL_OF))
        check(C.tsr_copy_inplace(h, row, false))
        C.tsr_tensor_release(h)
    end)
end

function shapes_and_sums(count)
    a, m, first_axis, both = Tessera.rand(4), Tessera.rand(3, 4), Int64[0], Int64[0, 1]
    swapped = Int64[1, 0]
    bits = Int32(-1)
    calls("sum", count, () -> sum(a), () -> dropped(made(out -> C.tsr_sum(a, C_NULL, -1, false, bits, out))))
    calls("sum_dims", count, () -> sum(m; dims=1),
        () -> dropped(made(out -> C.tsr_sum(m, first_axis, 1, true, bits, out))))
    calls("sum_two_dims", count, () -> sum(m; dims=(1, 2)),
        () -> dropped(made(out -> C.tsr_sum(m, both, 2, true, bits, out))))
    calls("argmax", count, () -> argmax(m; dims=1), () -> dropped(made(out -> C.tsr_argmax(m, 0, true, out))))
    calls("softmax", count, () -> softmax(m; dims=2), () -> dropped(made(out -> C.tsr_softmax(m, 1, bits, out))))
    calls("reshape", count, () -> reshape(m, 4, 3), () -> begin
        rows = made(out -> C.tsr_permute_dims(m, swapped, 2, out))
        dropped(turned(reshaped(rows, Int64[3, 4]), swapped))
    end)
    calls("permutedims", count, () -> permutedims(m, (2, 1)),
        () -> dropped(copied(made(out -> C.tsr_permute_dims(m, swapped, 2, out)))))
    calls("adjoint", count, () -> m', () -> dropped(made(out -> C.tsr_matrix_transpose(m, out))))
    both_parts = [m.handle, m.handle]
    calls("cat", count, () -> cat(m, m; dims=1), () -> dropped(made(out -> C.tsr_concat(both_parts, 2, 0, out))))
    b = Tessera.rand(4, 3)
    calls("matmul_small", count, () -> m * b, () -> dropped(made(out -> C.tsr_matmul(m, b, out))))
end

function training(count)
    layer, x = Dense(4 => 3), Tessera.rand(2, 4)
    calls("dense", count, () -> layer(x),
        () -> dropped(made(out -> C.tsr_linear(x, layer.weight, layer.bias, out))))
    w = requires_grad!(Tessera.rand(1))
    calls("backward_one", count, () -> backward!(w),
        () -> check(C.tsr_backward([w.handle], 1, C_NULL, 0, C_NULL, 0, 0)))
    model = Chain((Dense(4 => 4) for _ in 1:4)...)
    state = setup(SGD(lr=1e-3), model)
    y = model(x)
    backward!(sum(y))
    list, gradients = params(model), map(grad, params(model))
    left, right = [t.handle for t in list], [t.handle for t in gradients]
    calls("update_8_parameters", count, () -> update!(state), () -> check(C.tsr_sgd_step(
        left, 8, right, 8, C_NULL, 0, 1e-3, 0, 0, 0, false, false, false)))
    calls("zero_grad_8_parameters", count, () -> zero_grad!(model),
        () -> foreach(t -> check(C.tsr_tensor_set_grad(t, nothing)), list))
end

bare_objects(200_000)
small_ops(200_000)
foreach(f -> f(20_000), (creation, expressions, indexing, shapes_and_sums, training))
chain(10_000)
large_add()
foreach(matmul_case, (256, 512, 1024, 2048))
