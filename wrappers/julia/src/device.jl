# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Devices, threads, and the thread-local state of the library.

"A device: `CPU`, or `CUDA(index)` with CUDA's index, from 0."
struct Device
    type::Int32
    index::Int32
end

const CPU = Device(C.TSR_DEVICE_CPU, 0)
"Device number `index` of CUDA, from 0."
CUDA(index::Integer=0) = Device(C.TSR_DEVICE_CUDA, index)

function Base.show(io::IO, d::Device)
    names = Dict(C.TSR_DEVICE_CPU => "CPU", C.TSR_DEVICE_CUDA => "CUDA($(d.index))")
    print(io, get(names, d.type, "Device($(d.type), $(d.index))"))
end

device_type(::Nothing) = Int32(-1)
device_index(::Nothing) = Int32(-1)
device_type(d::Device) = d.type
device_index(d::Device) = d.index

"The device of a tensor's memory."
function device(t::Tensor)
    view = info(t)
    return Device(view.device_type, view.device_index)
end

"""
    on(device, tensor; non_blocking=false)

The tensor on a device: the tensor itself if it is there already, else a copy. With `non_blocking` the
call does not wait for a copy from pinned memory, see [`pin_memory`](@ref), or for a copy to the CPU;
the result is then in pinned memory and may be read after `synchronize(device)`.
"""
on(d::Device, t::Tensor; non_blocking::Bool=false) = _to(t, d, nothing, false, non_blocking)

"""
    pin_memory(tensor, device=nothing)

A copy in pinned (page-locked) host memory, from and to which the device (by default the default device,
or the first CUDA device) copies asynchronously. Returns the tensor itself if it is pinned; an error if
there is no such device.
"""
function pin_memory(t::Tensor, d=nothing)
    out = Ref{tsr_tensor}()
    check(C.tsr_tensor_pin_memory(t, device_type(d), device_index(d), out))
    return wrap(out[])
end

"Whether the tensor is in memory of [`pin_memory`](@ref)."
function is_pinned(t::Tensor)
    value = Ref{Int32}(0)
    check(C.tsr_tensor_is_pinned(t, value))
    return value[] != 0
end

"The number of usable devices of the type of `d`."
function device_count(d::Device=CPU)
    count = Ref{Int32}(0)
    check(C.tsr_device_count(d.type, count))
    return Int(count[])
end

"Loads a backend from a shared library; loading it again does nothing."
load_plugin(path::AbstractString) = check(C.tsr_plugin_load(path, sizeof(path)))

"Waits until all work queued on a device is done and reports its failures."
synchronize(d::Device=CPU) = check(C.tsr_device_synchronize(d.type, d.index))

"The device on which this thread makes tensors if no device is given; the CPU at first."
function default_device()
    kind, index = Ref{Int32}(0), Ref{Int32}(0)
    check(C.tsr_device_default(kind, index))
    return Device(kind[], index[])
end

"Calls `f` with `d` as this thread's default device."
with_device(f, d::Device) = pinned() do
    kind, index = Ref{Int32}(0), Ref{Int32}(0)
    check(C.tsr_device_set_default(d.type, d.index, kind, index))
    try
        return f()
    finally
        check(C.tsr_device_set_default(kind[], index[], Ref{Int32}(0), Ref{Int32}(0)))
    end
end

const PRECISIONS = (:highest, :high, :medium)  # in the order of tsr_precision

"The precision of matrix products and convolutions of `Float32`: `:highest`, `:high` or `:medium`."
float32_matmul_precision() = PRECISIONS[C.tsr_matmul_precision() + 1]

"""
    set_float32_matmul_precision(precision)

Sets the precision of matrix products and convolutions of `Float32` for the process: `:highest` is
`Float32`; with `:high` and `:medium` factors may be rounded to TensorFloat-32 or bfloat16. Only CUDA
uses this setting, and rounds to TensorFloat-32 for both.
"""
function set_float32_matmul_precision(precision::Symbol)
    place = findfirst(==(precision), PRECISIONS)
    place === nothing && throw(ArgumentError("expected :highest, :high or :medium, got :$precision"))
    check(C.tsr_set_matmul_precision(place - 1))
end

num_threads() = Int(C.tsr_num_threads())
"Sets how many threads the functions of the process may use; at most one per processor."
set_num_threads(count::Integer) = check(C.tsr_set_num_threads(count))

# ---- Ambient state ----

"The library's state of a thread, see [`ambient`](@ref)."
mutable struct Ambient
    handle::tsr_ambient
    function Ambient(handle::tsr_ambient)
        state = new(handle)
        finalizer(x -> C.tsr_ambient_release(x.handle), state)
        return state
    end
end

Base.unsafe_convert(::Type{tsr_ambient}, state::Ambient) = state.handle

"""
    ambient()

The library's state of this thread (recording, inference mode, default device, current generator and
streams, saved-tensor hooks); see [`with_ambient`](@ref).
"""
function ambient()
    out = Ref{tsr_ambient}()
    check(C.tsr_ambient_save(out))
    return Ambient(out[])
end

"""
    with_ambient(f, state)

Calls `f` with a state that [`ambient`](@ref) returned, possibly on another thread, and restores this
thread's own state afterwards. Use it to give a task the state of the task that started it.
"""
with_ambient(f, state) = pinned() do
    before = ambient()
    check(C.tsr_ambient_restore(state))
    try
        return f()
    finally
        check(C.tsr_ambient_restore(before))
    end
end

# Since Julia 1.7 a task may continue on another thread after a wait. It must not do so while it has
# changed the state of its thread.
function pinned(f)
    task = current_task()
    sticky = task.sticky
    task.sticky = true
    try
        return f()
    finally
        task.sticky = sticky
    end
end
