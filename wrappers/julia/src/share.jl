# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Memory of several processes: tensors that another process opens by a file descriptor or a name.

"""
What another process needs to open the storage of a tensor: `fd`, a file descriptor of this process
that is borrowed from the tensor, or `name`; and `nbytes`. With `in_transit` the handle counts as a
user, of a name or of recycled memory, until [`from_shared`](@ref) opens it, which must happen once.
`shared_handle` sets `recycled` for memory of the strategy `:recycled`; tell the other process.
"""
struct SharedHandle
    fd::Int32
    name::String
    nbytes::Int64
    in_transit::Bool
    recycled::Bool
end
SharedHandle(; fd=-1, name="", nbytes, in_transit=false, recycled=false) =
    SharedHandle(fd, name, nbytes, in_transit, recycled)

const SHARE_STRATEGIES = (file_descriptor=C.TSR_SHARE_FILE_DESCRIPTOR,
    file_system=C.TSR_SHARE_FILE_SYSTEM, recycled=C.TSR_SHARE_RECYCLED)

function share_strategy(name::Symbol)
    haskey(SHARE_STRATEGIES, name) && return SHARE_STRATEGIES[name]
    known = join((":$key" for key in keys(SHARE_STRATEGIES)), ", ", " or ")
    throw(ArgumentError("strategy: expected $known, got :$name"))
end

"""
    share_memory!(tensor; strategy=:file_descriptor)

Moves the storage of a tensor, with all its views, to memory that other processes can map; returns the
tensor. Arrays that shared its memory before keep the old memory. Another process finds the memory by a
descriptor, or with `:file_system` by a name. `:recycled` is for a stream of tensors to another process:
as `:file_descriptor`, but memory that its receivers have released holds the next tensor. Send handles in
transit; another handle ends the recycling.
"""
function share_memory!(t::Tensor; strategy::Symbol=:file_descriptor)
    check(C.tsr_storage_share(t, share_strategy(strategy)))
    return t
end

"Whether other processes can open the memory of the tensor."
function is_shared(t::Tensor)
    value = Ref{Int32}(0)
    check(C.tsr_tensor_is_shared(t, value))
    return value[] != 0
end

"""
    empty_shared(T, dims...; strategy=:file_descriptor)

A tensor in new shared memory, filled with zeros; recycled memory holds any bytes.
"""
function empty_shared(T, dims::Integer...; strategy::Symbol=:file_descriptor)
    shape, out = collect(Int64, dims), Ref{tsr_tensor}()
    check(C.tsr_empty_shared(shape, length(shape), dtype_bits(T), share_strategy(strategy), out))
    return wrap(out[])
end

"""
    shared_handle(tensor; in_transit=false)

The [`SharedHandle`](@ref) by which another process opens the shared memory of a tensor.
"""
function shared_handle(t::Tensor; in_transit::Bool=false)
    found = Ref(C.tsr_shared_handle())
    GC.@preserve t begin
        check(C.tsr_storage_shared_handle(t, in_transit ? C.TSR_SHARED_IN_TRANSIT : Int32(0), found))
        name = found[].name == C_NULL ? "" : unsafe_string(found[].name)
        recycled = found[].flags & C.TSR_SHARED_RECYCLED != 0
        return SharedHandle(found[].fd, name, found[].nbytes, in_transit, recycled)
    end
end

"""
    from_shared(handle, T, dims...; offset=0, strides=nothing)

A tensor of element type `T` on shared memory; `offset` and `strides` are in elements. Without strides
it is row-major. If this process has the memory already, the tensor is a view of the same storage.
"""
function from_shared(h::SharedHandle, T, dims::Integer...; offset::Integer=0, strides=nothing)
    shape, out = collect(Int64, dims), Ref{tsr_tensor}()
    steps = strides === nothing ? row_major(shape) : collect(Int64, strides)
    name = isempty(h.name) ? C_NULL : pointer(h.name)
    flags = (h.in_transit ? C.TSR_SHARED_IN_TRANSIT : Int32(0)) |
        (h.recycled ? C.TSR_SHARED_RECYCLED : Int32(0))
    GC.@preserve h begin
        from = Ref(C.tsr_shared_handle(sizeof(C.tsr_shared_handle), h.fd, h.nbytes, name, flags, 0))
        check(C.tsr_tensor_from_shared(from, offset, shape, length(shape), steps, length(steps),
            dtype_bits(T), out))
    end
    return wrap(out[])
end

row_major(shape) = Int64[prod(shape[(i + 1):end]) for i in eachindex(shape)]

"""
    shared_memory_counts()

The shared memory that this process has mapped: the number of `blocks`, their `nbytes`, and the
`descriptors` that are kept open, so that a storage can be sent again.
"""
function shared_memory_counts()
    found = Ref(C.tsr_shared_counts())
    check(C.tsr_shared_memory_counts(found))
    return (blocks=Int(found[].blocks), nbytes=Int(found[].nbytes), descriptors=Int(found[].descriptors))
end

# ---- Memory of devices ----

"""
    ipc_export(tensor)

A text by which one other process opens the memory of a tensor on a device, once, with
[`ipc_open`](@ref). This process keeps the memory until then, and must live longer than that use.
"""
function ipc_export(t::Tensor)
    buffer = Ref{C.tsr_buffer}()
    check(C.tsr_ipc_export(t, buffer))
    return take_text(buffer[])
end

"""
    ipc_open(handle, T, dims...; offset=0, strides=nothing)

A tensor on the device memory of another process, from the text of [`ipc_export`](@ref) there.
"""
function ipc_open(handle::AbstractString, T, dims::Integer...; offset::Integer=0, strides=nothing)
    shape, out = collect(Int64, dims), Ref{tsr_tensor}()
    steps = strides === nothing ? row_major(shape) : collect(Int64, strides)
    check(C.tsr_ipc_open(handle, sizeof(handle), offset, shape, length(shape), steps, length(steps),
        dtype_bits(T), out))
    return wrap(out[])
end

"""
    ipc_collect()

Gives up exported device memory that no other process uses any more, and recycled memory that this
process keeps; returns how many exported storages.
"""
function ipc_collect()
    count = Ref{Int64}(0)
    check(C.tsr_ipc_collect(count))
    return Int(count[])
end
