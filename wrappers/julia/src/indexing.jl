# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Julia's indexing, as in t[1, 2:3, :, [3, 1]]: from 1, ends included, each array along its own axis.

# An index in the library's form: four numbers for each axis.
const SLICE_ALL = (Int64(C.TSR_INDEX_KIND_SLICE), NONE, NONE, Int64(1))
const NEW_AXIS_ITEM = (Int64(C.TSR_INDEX_KIND_NEW_AXIS), Int64(0), Int64(0), Int64(0))
const ARRAY_ITEM = (Int64(C.TSR_INDEX_KIND_ARRAY), Int64(0), Int64(0), Int64(0))

# Indices of one axis each that give a view.
const Basic = Union{Integer,Colon,AbstractRange{<:Integer}}
const BasicIndex = Tuple{Vararg{Basic}}

basic_item(i::Integer) = (Int64(C.TSR_INDEX_KIND_INTEGER), Int64(i) - 1, Int64(0), Int64(0))
basic_item(i::Bool) = throw_index(i)
basic_item(::Colon) = SLICE_ALL
function basic_item(r::AbstractRange{<:Integer})
    isempty(r) && return (Int64(C.TSR_INDEX_KIND_SLICE), Int64(0), Int64(0), Int64(1))
    # The exclusive end; a negative step that reaches the first element has none.
    stop = step(r) > 0 ? Int64(last(r)) : Int64(last(r)) - 2
    return (Int64(C.TSR_INDEX_KIND_SLICE), Int64(first(r)) - 1, stop < 0 ? NONE : stop, Int64(step(r)))
end
basic_item(i) = is_array_index(i) ? SLICE_ALL : throw_index(i)  # an array is applied along its axis later

@noinline throw_index(i) = throw(ArgumentError("invalid index: $i of type $(typeof(i))"))

is_array_index(i) = i isa AbstractArray && !(i isa AbstractRange) || i isa Tensor
in_bounds(i::Integer, n) = 1 <= i <= n
in_bounds(::Colon, n) = true
in_bounds(r::AbstractRange, n) = isempty(r) || (in_bounds(first(r), n) && in_bounds(last(r), n))
in_bounds(mask::AbstractArray{Bool}, n) = length(mask) == n
in_bounds(list::AbstractArray{<:Integer}, n) = all(i -> in_bounds(i, n), list)
in_bounds(::Tensor, n) = true  # the library checks the numbers
in_bounds(i, n) = throw_index(i)

@inline in_bounds_of(sizes, d, i, rest...) =
    in_bounds(i, unsafe_load(sizes, d)) && in_bounds_of(sizes, d + 1, rest...)
in_bounds_of(sizes, d) = true

"The items of an index that fits the tensor, in the form for C."
@inline function index_items(t::Tensor, index::Tuple{Vararg{Any,N}}) where {N}
    GC.@preserve t begin
        view = info(t)
        view.ndim == N && in_bounds_of(view.sizes, 1, index...) || throw_bounds(t, index)
    end
    return ShortList{N,NTuple{4,Int64}}(map(basic_item, index))
end
Base.unsafe_convert(::Type{Ptr{Int64}}, items::ShortList{N,NTuple{4,Int64}}) where {N} =
    Ptr{Int64}(pointer_from_objref(items))
list_count(::ShortList{N,NTuple{4,Int64}}) where {N} = 4N
item_list(items) = Int64[x for item in items for x in item]

"The items of linear index `i` of a tensor, in Julia's order."
function linear_items(t::Tensor, i::Integer)
    GC.@preserve t begin
        view = info(t)
        in_bounds(i, view.numel) || throw_bounds(t, i)
        items = Int64[]
        sizehint!(items, 4view.ndim)
        rest = Int64(i) - 1
        for d in 1:view.ndim
            rest, place = divrem(rest, unsafe_load(view.sizes, d))
            append!(items, basic_item(place + 1))
        end
    end
    return items
end
linear_items(t::Tensor, i::Bool) = throw_index(i)

@noinline throw_bounds(t, index) = throw(BoundsError(t, index))

# Indices in a Julia array count from 1; indices in a tensor are data and count from 0.
positions(list::AbstractArray{Bool}) = positions(findall(vec(list)))
positions(list::AbstractArray{<:Integer}) = Tensor(list .- 1; dtype=Int64)
positions(mask::Tensor) = eltype(mask) === Bool ? flatten(argwhere(mask)) : mask

# Expands Cartesian indices, single ones and blocks of them.
flat(::Tuple{}) = ()
@inline flat(index::Tuple) = (flat_one(index[1])..., flat(Base.tail(index))...)
flat_one(i::CartesianIndex) = Tuple(i)
flat_one(block::CartesianIndices) = block.indices
flat_one(i) = (i,)

# ---- Reading ----

"""
    view(tensor, index...)

The part of a tensor selected by integers, ranges and colons, on the same memory. `tensor[index...]` is
a copy of it, as for arrays.
"""
# Inlined, so that the type of the index stays known: as an argument of a function that is not inlined,
# a colon is just some function.
@inline Base.view(t::Tensor, index::Vararg{Any,N}) where {N} = view_of(t, flat(index))

function view_of(t::Tensor, index::BasicIndex)
    length(index) == 1 && ndims(t) != 1 && return linear_view(t, index[1])
    return wrap(part(t, index_items(t, index)))
end
function view_of(t::Tensor, index::Tuple)
    foreach(i -> i isa Basic || is_array_index(i) || throw_index(i), index)
    throw(ArgumentError("view: expected integers, ranges and colons, " *
        "got an array; to assign to its places, write = without a dot"))
end

@inline Base.maybeview(t::Tensor, index::Vararg{Any,N}) where {N} = view(t, index...)
@inline Base.dotview(t::Tensor, index::Vararg{Any,N}) where {N} = written_part(t, flat(index))
@inline written_part(t::Tensor, index::BasicIndex) = view_of(t, index)
written_part(t::Tensor, index::Tuple) = Places(t, index)
# The places that arrays select, as in t[mask] .= x: no view has them.
struct Places
    tensor::Tensor
    index::Tuple
end
# t[:] .= x : all elements. If they are in row-major order, no view has them along one axis.
Base.dotview(t::Tensor, ::Colon) = ndims(t) < 2 ? t : iscontiguous(reversed(t)) ? vec(t) : Elements(t)
struct Elements
    tensor::Tensor
end

"A view as a handle that the caller must release."
@inline function part(t::Tensor, items)
    out = Ref{tsr_tensor}()
    check(C.tsr_getitem_basic(t, items, list_count(items), out))
    return out[]
end

linear_view(t::Tensor, i::Integer) = wrap(part(t, linear_items(t, i)))
function linear_view(t::Tensor, i)
    iscontiguous(reversed(t)) || throw(ArgumentError("view: positions in all of a tensor need " *
        "elements in Julia's order; name them per axis, or index without view"))
    return view(vec(t), i)
end

@inline Base.getindex(t::Tensor, index::Vararg{Any,N}) where {N} = read_at(t, flat(index))
Base.getindex(t::Tensor) = item(t)

function read_at(t::Tensor, index::Tuple{Vararg{Integer}})
    linear = length(index) == 1 && ndims(t) != 1
    return linear ? read_item(t, linear_items(t, index[1])) : read_item(t, index_items(t, index))
end

@inline function read_item(t::Tensor, items)
    handle = part(t, items)
    value = item(handle, info(t).dtype)
    C.tsr_tensor_release(handle)
    return value
end

function read_at(t::Tensor, index::BasicIndex)
    length(index) == 1 && ndims(t) != 1 && return getindex(vec(t), index[1])
    return wrap(cloned(part(t, index_items(t, index))))
end

# Reads with an index that contains arrays.
function read_at(t::Tensor, index::Tuple)
    if length(index) == 1 && index[1] isa Cartesians
        return _getitem(t, cartesian_items(t), cartesian_arrays(t, index[1]))
    elseif length(index) == 1 && is_mask_of(index[1], t)
        # Julia's order of the selected elements is row-major order with the axes reversed.
        return masked_select(reversed(t), reversed(mask_tensor(index[1])))
    elseif length(index) == 1 && ndims(t) != 1
        return getindex(vec(t), index...)
    end
    result = wrap(part(t, index_items(t, index)))
    d = 1
    for i in index
        if is_array_index(i)
            chosen = positions(i)
            result = take(result, chosen; dims=d)
            d += ndims(chosen)
        elseif !(i isa Integer)
            d += 1
        end
    end
    return result
end

# Places as findall gives them.
const Cartesians = AbstractArray{<:CartesianIndex}
cartesian_items(t) = item_list(ARRAY_ITEM for _ in 1:ndims(t))
function cartesian_arrays(t::Tensor, places::Cartesians)
    bounds = CartesianIndices(size(t))
    all(in(bounds), places) || throw_bounds(t, (places,))
    return ntuple(d -> Tensor(Int64[place[d] - 1 for place in places]; device=device(t)), ndims(t))
end

is_mask_of(i, t) = false
is_mask_of(mask::AbstractArray{Bool}, t) = size(mask) == size(t)
is_mask_of(mask::Tensor, t) = eltype(mask) === Bool && size(mask) == size(t)

tensor(t::Tensor) = t
tensor(array::AbstractArray) = lent(dense(array))

# A graph may keep a mask, and the program may write to the array before the backward.
mask_tensor(mask::Tensor) = mask
mask_tensor(mask::AbstractArray{Bool}) = Tensor(mask)

# ---- Writing ----

@inline function Base.setindex!(t::Tensor, value, index::Vararg{Any,N}) where {N}
    value isa Number && check_exact(t, value)
    write_at!(t, value, flat(index))
    return t
end

# As in an array: a number with a fraction does not become an integer. The library checks the range of integers.
check_exact(t, value::Number) = nothing
check_exact(t, value::Union{AbstractFloat,Rational}) =
    isinteger(value) && abs(value) <= maxintfloat() || check_fraction(eltype(t), value)
check_fraction(::Type{T}, value) where {T} = (T <: Integer && convert(T, value); nothing)
check_exact(t, array::AbstractArray{T}) where {T<:Number} = eltype(t) <: Integer && check_each(eltype(t), array)
check_each(::Type{T}, array::AbstractArray{<:T}) where {T} = nothing
check_each(::Type{T}, array) where {T} = foreach(x -> convert(T, x), array)
Base.setindex!(t::Tensor, value) = length(t) == 1 ? (check_exact(t, value); write!(t, value); t) : throw_bounds(t, ())

# What is assigned to a tensor, or to a part of it.
host_source(t, value::Tensor) = value
host_source(t, array::AbstractArray) = (check_exact(t, array); tensor(array))

function write_at!(t::Tensor, value::Number, index::BasicIndex)
    length(index) == 1 && ndims(t) != 1 && return write_linear!(t, value, index[1])
    _setitem!(t, index_items(t, index), (), value)
end

function write_at!(t::Tensor, value, index::BasicIndex)
    length(index) == 1 && ndims(t) != 1 && return write_linear!(t, value, index[1])
    items, source = index_items(t, index), host_source(t, value)
    handle = part(t, items)
    same_sizes(handle, source) || return assign!(wrap(handle), source)
    done_with(handle, C.tsr_copy_inplace(handle, source, false))
end

function write_at!(t::Tensor, value, index::Tuple)
    if length(index) == 1 && index[1] isa Cartesians
        write_cartesian!(t, value, index[1])
    elseif length(index) == 1 && is_mask_of(index[1], t)
        write_masked!(t, value, mask_tensor(index[1]))
    elseif length(index) == 1 && ndims(t) != 1
        write_linear!(t, value, index[1])
    else
        write_taken!(wrap(part(t, index_items(t, index))), value, index)
    end
end

write!(part::Tensor, value::Number) = fill!(part, value)
write!(part::Tensor, value) = assign!(part, host_source(part, value))

assign!(part::Tensor, value::Tensor) =
    copyto!(part, same_sizes(part, value) ? value : (check_assigned(size(part), value); reshape(value, size(part))))
fits(shape, value) = filter(!=(1), collect(shape)) == filter(!=(1), collect(size(value)))
check_assigned(shape, value) = fits(shape, value) ||
    throw(DimensionMismatch("tried to assign $(size(value)) to $(Tuple(shape)); to broadcast, write .="))
check_count(value, count) = length(value) == count ||
    throw(DimensionMismatch("tried to assign $(length(value)) values to $count places"))

# Selected elements are numbered in Julia's order, so the axes of both sides are reversed.
write_masked!(t, value::Number, mask) = masked_fill!(t, mask, value)
function write_masked!(t, value, mask)
    check_count(value, item(count_nonzero(mask)))
    _setitem!(reversed(t), item_list((ARRAY_ITEM,)), (reversed(mask),), vec(host_source(t, value)))
end

write_cartesian!(t, value::Number, places) = _setitem!(t, cartesian_items(t), cartesian_arrays(t, places), value)
function write_cartesian!(t, value, places)
    check_count(value, length(places))
    _setitem!(t, cartesian_items(t), cartesian_arrays(t, places), reshape(host_source(t, value), size(places)))
end

# Linear indices in Julia's order, converted to one index array for each axis.
write_linear!(t, value::Number, i::Integer) = _setitem!(t, linear_items(t, i), (), value)
write_linear!(t, value, i::Integer) = assign!(linear_view(t, i), host_source(t, value))
write_linear!(t, value, ::Colon) = write!(t, value isa Number ? value : reshape(host_source(t, value), size(t)))
function write_linear!(t, value, chosen)
    chosen isa Tensor && (chosen = Array(chosen) .+ 1)
    places = vec(CartesianIndices(size(t))[chosen])
    value isa Number || check_count(value, length(places))
    arrays = ntuple(d -> Tensor(Int64[p[d] - 1 for p in places]), ndims(t))
    _setitem!(t, item_list(map(_ -> ARRAY_ITEM, arrays)), arrays, value isa Number ? value : vec(host_source(t, value)))
end

# Several arrays select every combination: they are reshaped to broadcast against each other.
function write_taken!(part::Tensor, value, index)
    axes_left = filter(i -> !(i isa Integer), collect(Any, index))
    places = findall(is_array_index, axes_left)
    places == places[1]:places[end] || throw(ArgumentError(
        "arrays in an assignment must stand side by side"))
    count = length(places)
    chosen = map(place -> positions(axes_left[place]), places)
    arrays = map(k -> view_row_major(vec(chosen[k]), ntuple(d -> d == k ? length(chosen[k]) : 1, count)), 1:count)
    items = item_list(map(i -> is_array_index(i) ? ARRAY_ITEM : SLICE_ALL, axes_left))
    value isa Number && return _setitem!(part, items, arrays, value)
    # An index array of several axes has its positions along one here.
    sizes = Vector{Any}(collect(size(part)))
    sizes[places] = map(size, chosen)
    flat, source = Tuple(prod.(sizes)), host_source(part, value)
    fits(flat, source) || check_assigned(collect(Iterators.flatten(sizes)), source)
    return _setitem!(part, items, arrays, reshape(source, flat))
end

# ---- Element by element ----

const SCALAR_ACCESS = Ref(false)

"""
    allowscalar(true)
    allowscalar(f)

Allows iteration over the elements of a tensor, for good or while `f` runs. It is off by default: each
element costs a call of the library, and usually a dotted expression was meant.
"""
allowscalar(allow::Bool) = (SCALAR_ACCESS[] = allow; nothing)
function allowscalar(f)
    before = SCALAR_ACCESS[]
    SCALAR_ACCESS[] = true
    try
        return f()
    finally
        SCALAR_ACCESS[] = before
    end
end

function Base.iterate(t::Tensor, state=nothing)
    if state === nothing
        SCALAR_ACCESS[] || throw(ArgumentError("iteration over a Tensor goes element by element; " *
            "write a dotted expression, iterate over Array(t), or call allowscalar(true)"))
        state = (Array(t), 1)
    end
    array, i = state
    return i > length(array) ? nothing : (array[i], (array, i + 1))
end
