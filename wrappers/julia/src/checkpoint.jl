# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# How nodes keep the tensors that they save: on another device, on disk, or not at all.

function with_pushed(f, push)
    return pinned() do
        check(push())
        try
            return f()
        finally
            check(C.tsr_saved_hooks_pop())
        end
    end
end

"""
    save_on(f, device; pinned=false)

Runs `f()`; what nodes save meanwhile is kept on the device and comes back to its own when the backward
needs it. What is there already, and leaves that require grad, are saved as they are. With `pinned`,
copies in host memory are pinned for the device that they come from.
"""
save_on(f, device::Device; pinned=false) =
    with_pushed(f, () -> C.tsr_saved_hooks_push_device(device.type, device.index, pinned, false))

"""
    save_to_disk(f, folder; min_bytes=65536)

Runs `f()`; tensors of at least `min_bytes` that nodes save meanwhile are files in the folder, each until
no node needs it any more.
"""
save_to_disk(f, folder::AbstractString; min_bytes=65536) =
    with_pushed(f, () -> C.tsr_saved_hooks_push_disk(folder, sizeof(folder), min_bytes))

"Runs `f()`; nodes save copies meanwhile, and the program may write to what they have saved."
save_copies(f) = with_pushed(f, () -> C.tsr_saved_hooks_push_device(Int32(-1), Int32(-1), false, true))

"Runs `f()`; pushing saved-tensor hooks on this thread is an error with this message meanwhile."
without_saved_hooks(f, message::AbstractString) =
    with_pushed(f, () -> C.tsr_saved_hooks_disable(message, sizeof(message)))

# ---- Custom hooks ----

"""
    save_with(f, pack, unpack)

Runs `f()`; instead of a tensor, nodes save what `pack(tensor)` returns meanwhile, and the backward calls
`unpack` with it, which must return a tensor of the same sizes, dtype and device. `pack` must not modify
the tensor. Exceptions come out of the operation that saves, or of the backward.
"""
function save_with(f, pack, unpack)
    table = Ref(saved_hooks_table())
    return with_pushed(f, () -> C.tsr_saved_hooks_push(table, root((pack, unpack))))
end

saved_hooks_table() = C.tsr_saved_hooks_vtable(
    sizeof(C.tsr_saved_hooks_vtable), 0, pack_pointer(), unpack_pointer(), drop_pointer())

function run_pack(user::Ptr{Cvoid}, t::tsr_tensor, payload::Ptr{Ptr{Cvoid}}, drop::Ptr{Ptr{Cvoid}})::Int32
    return guarded() do
        packed = unbox(user)[1](borrow(t))
        unsafe_store!(payload, root(packed))
        unsafe_store!(drop, drop_pointer())
    end
end
pack_pointer() = @cfunction(run_pack, Int32, (Ptr{Cvoid}, tsr_tensor, Ptr{Ptr{Cvoid}}, Ptr{Ptr{Cvoid}}))

function run_unpack(user::Ptr{Cvoid}, payload::Ptr{Cvoid}, out::Ptr{tsr_tensor})::Int32
    return guarded() do
        unsafe_store!(out, give(unbox(user)[2](unbox(payload)), "an unpack function"))
    end
end
unpack_pointer() = @cfunction(run_unpack, Int32, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{tsr_tensor}))

# ---- Checkpoints ----

"""
    checkpoint(f, tensors...; preserve_random=true, early_stop=true, check_sizes=true)

Returns `f(tensors...)` without keeping what its nodes save: the backward calls `f` again, with tensors
of the same values. `f` must do the same each time; random numbers are the same, unless `preserve_random`
is false. For derivatives of any order; checkpoints can be nested.

The second run ends when it has computed the last tensor that is needed, by a `TesseraError` that passes
through `f`, unless `early_stop` is false. The two runs must save tensors of the same number, sizes,
dtypes and devices, unless `check_sizes` is false.
"""
function checkpoint(f, tensors::Tensor...; preserve_random=true, early_stop=true, check_sizes=true)
    is_grad_enabled() || return f(tensors...)
    flags = (preserve_random ? Int32(0) : C.TSR_CHECKPOINT_FRESH_RANDOM) |
            (early_stop ? Int32(0) : C.TSR_CHECKPOINT_RUN_TO_END) |
            (check_sizes ? Int32(0) : C.TSR_CHECKPOINT_UNCHECKED)
    raw = handles(tensors)
    begin_run() = GC.@preserve tensors C.tsr_checkpoint_begin(
        raw, length(raw), run_again_pointer(), root(f), drop_pointer(), flags)
    return with_pushed(() -> f(tensors...), begin_run)
end

function run_again(user::Ptr{Cvoid}, inputs::Ptr{tsr_tensor}, count::Int32)::Int32
    return guarded(() -> (unbox(user)((borrow(unsafe_load(inputs, i)) for i in 1:count)...); nothing))
end
run_again_pointer() = @cfunction(run_again, Int32, (Ptr{Cvoid}, Ptr{tsr_tensor}, Int32))

"""
Whether the backward that is running on this thread, and those around it, add to all leaves; false
inside [`grad`](@ref) and for a backward with given inputs.
"""
function backward_reaches_all()
    value = Ref{Int32}(0)
    check(C.tsr_backward_reaches_all(value))
    return value[] != 0
end

# ---- Deterministic mode ----

const DETERMINISTIC_MODES = (:off, :on, :warn)  # in the order of tsr_deterministic_mode

"The deterministic mode of the process: `:off`, `:on` or `:warn`."
deterministic_mode() = DETERMINISTIC_MODES[C.tsr_deterministic_get() + 1]

"""
    deterministic!(mode)

Sets the deterministic mode of the process and returns the one before. With `:on` and `:warn`, products,
convolutions and factorizations on the CPU do not depend on the number of threads. Where there is no
deterministic kernel, `:on` is an error and `:warn` a warning in the log.
"""
function deterministic!(mode::Symbol)
    place = findfirst(==(mode), DETERMINISTIC_MODES)
    place === nothing && throw(ArgumentError("expected :off, :on or :warn, got :$mode"))
    before = Ref{Int32}(0)
    check(C.tsr_deterministic_set(place - 1, before))
    return DETERMINISTIC_MODES[before[] + 1]
end

"Whether uninitialised tensors are filled in deterministic mode."
deterministic_fill() = C.tsr_deterministic_fill() != 0

"Sets whether uninitialised tensors are filled in deterministic mode; returns the setting before."
function deterministic_fill!(enabled::Bool)
    before = Ref{Int32}(0)
    check(C.tsr_deterministic_set_fill(enabled, before))
    return before[] != 0
end

"""
For operations outside the library whose results may differ from run to run: an error in deterministic
mode.
"""
require_deterministic(operation::AbstractString) =
    (check(C.tsr_deterministic_require(operation, sizeof(operation))); nothing)

"The kernels whose results depend on more than their inputs while the mode is off, as JSON."
function nondeterministic_kernels()
    text, length = Ref{Ptr{UInt8}}(), Ref{Int64}()
    check(C.tsr_deterministic_list(text, length))
    return unsafe_string(text[], length[])
end
