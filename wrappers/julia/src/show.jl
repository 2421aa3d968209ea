# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# How tensors print: on one line inside other values, as a table at the prompt.

function Base.summary(io::IO, t::Tensor)
    isfreed(t) && return print(io, "freed Tensor")
    shape = size(t)
    sizes = isempty(shape) ? "0-dimensional" : length(shape) == 1 ? "$(shape[1])-element" :
        join(shape, '×')
    print(io, sizes, " Tensor of ", eltype(t))
    device(t) == CPU || print(io, " on ", device(t))
    requires_grad(t) && print(io, ", requires grad")
end
Base.summary(t::Tensor) = sprint(summary, t)

function Base.show(io::IO, t::Tensor)
    isfreed(t) && return print(io, "Tensor(freed)")
    print(io, "Tensor(")
    ndims(t) == 0 ? show(io, item(t)) : show(io, shown(io, t))
    print(io, ")")
end

function Base.show(io::IO, ::MIME"text/plain", t::Tensor)
    summary(io, t)
    (isfreed(t) || isempty(t)) && return nothing
    println(io, ":")
    ndims(t) == 0 && return print(io, ' ', item(t))
    fitting = get(io, :limit, false) ? io : IOContext(io, :limit => true)
    Base.print_array(IOContext(fitting, :compact => true), shown(fitting, t))
end

# A large tensor as an array that reads single elements: of a text that is cut, only those at the edges are needed,
# and an expanded tensor may have more elements than there is memory.
struct Shown{T,N} <: AbstractArray{T,N}
    tensor::Tensor
end
Base.size(x::Shown) = size(x.tensor)
Base.getindex(x::Shown{T,N}, places::Vararg{Int,N}) where {T,N} = x.tensor[places...]::T

shown(io::IO, t::Tensor) =
    length(t) > 10_000 && get(io, :limit, false) ? Shown{eltype(t),ndims(t)}(detach(t)) : host(t)

host(t::Tensor) = no_grad(() -> Array(on(CPU, detach(t))))
