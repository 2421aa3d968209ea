# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# How arguments of the op layer become those of C.

"One or several sizes or axes."
const Dimensions = Union{Integer,Colon,Nothing,Tuple{Vararg{Integer}},AbstractVector{<:Integer}}

"Several tensors; `nothing` where an op allows a hole."
const TensorList = Union{
    Tuple{Vararg{Union{Nothing,Tensor}}},
    AbstractVector{<:Union{Nothing,Tensor}},
}

const NONE = typemin(Int64)
const NO_INTS = Int64[]  # an absent list; compared by identity

int_list(x::Integer) = Int64[x]
int_list(x::Union{Colon,Nothing}) = NO_INTS
int_list(x::Tuple) = collect(Int64, x)
int_list(x::AbstractVector) = convert(Vector{Int64}, x)
list_count(list::Vector{Int64}) = list === NO_INTS ? -1 : length(list)

# ---- Axes and positions, from 1 in Julia and from 0 in the library ----

@inline function zero_based(x::Integer)
    x >= 1 || throw_position(x)
    return Int64(x) - 1
end
zero_based(::Union{Colon,Nothing}) = NONE
zero_based(x::Integer, default) = zero_based(x)
zero_based(::Union{Colon,Nothing}, default) = Int64(default)

zero_based_list(x::Union{Colon,Nothing}) = NO_INTS
zero_based_list(x::Integer) = Int64[zero_based(x)]
zero_based_list(x) = Int64[zero_based(i) for i in x]

@noinline throw_position(x) =
    throw(ArgumentError("axes and positions are counted from 1, got $x"))

# As in Base, a reduction over named axes keeps them with size 1.
keeps(dims) = !(dims isa Union{Colon,Nothing})

# ---- Lists of tensors ----

function handles(list)
    found = Vector{tsr_tensor}(undef, length(list))
    for (i, t) in enumerate(list)
        found[i] = t === nothing ? C_NULL : Base.unsafe_convert(tsr_tensor, t)
    end
    return found
end

"The results of a function that hands out as many tensors as it finds."
function many(call)
    capacity = 16
    while true
        out = Vector{tsr_tensor}(undef, capacity)
        found = Ref{Int32}(0)
        status = call(out, capacity, found)
        if status == C.TSR_BUFFER && found[] > capacity
            capacity = Int(found[])
            continue
        end
        check(status)
        return Tensor[wrap(out[i]) for i in 1:found[]]
    end
end
