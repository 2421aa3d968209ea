# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# t[1, 2:3, :, [3, 1]] as Julia reads it: from 1, ends included, arrays along their own axis.

# An index as the library has it: four numbers for each axis.
const SLICE_ALL = (Int64(C.TSR_INDEX_KIND_SLICE), NONE, NONE, Int64(1))
const NEW_AXIS_ITEM = (Int64(C.TSR_INDEX_KIND_NEW_AXIS), Int64(0), Int64(0), Int64(0))
const ARRAY_ITEM = (Int64(C.TSR_INDEX_KIND_ARRAY), Int64(0), Int64(0), Int64(0))

basic_item(i::Integer, n) = (Int64(C.TSR_INDEX_KIND_INTEGER), Int64(i) - 1, Int64(0), Int64(0))
basic_item(::Colon, n) = SLICE_ALL
function basic_item(r::AbstractRange{<:Integer}, n)
    isempty(r) && return (Int64(C.TSR_INDEX_KIND_SLICE), Int64(0), Int64(0), Int64(1))
    # One past the last element; before the first one there is no number for it.
    stop = step(r) > 0 ? Int64(last(r)) : Int64(last(r)) - 2
    return (Int64(C.TSR_INDEX_KIND_SLICE), Int64(first(r)) - 1, stop < 0 ? NONE : stop, Int64(step(r)))
end
basic_item(::Any, n) = SLICE_ALL  # an array: taken along its axis afterwards

is_array_index(i) = i isa AbstractArray && !(i isa AbstractRange) || i isa Tensor
in_bounds(i::Integer, n) = 1 <= i <= n
in_bounds(::Colon, n) = true
in_bounds(r::AbstractRange, n) = isempty(r) || (in_bounds(first(r), n) && in_bounds(last(r), n))
in_bounds(mask::AbstractArray{Bool}, n) = length(mask) == n
in_bounds(list::AbstractArray{<:Integer}, n) = all(i -> in_bounds(i, n), list)
in_bounds(::Tensor, n) = true  # the library looks at the numbers

function check_bounds(t::Tensor, index)
    shape = size(t)
    fits = length(index) == length(shape) && all(map(in_bounds, index, shape))
    fits || throw(BoundsError(t, index))
    return shape
end

# Positions in a host array count from 1; in a tensor they are data and count from 0.
positions(list::AbstractArray{Bool}) = positions(findall(vec(list)))
positions(list::AbstractArray{<:Integer}) = Tensor(list .- 1; dtype=Int64)
positions(mask::Tensor) = eltype(mask) === Bool ? flatten(argwhere(mask)) : mask

flat(index::Tuple) = foldl((all, i) -> (all..., flat(i)...), index; init=())
flat(i::CartesianIndex) = Tuple(i)
flat(i) = (i,)

# ---- Reading ----

"""
    view(tensor, index...)

The part of a tensor that integers, ranges and colons name, on the same memory. `tensor[index...]`
is a copy of it, as for arrays.
"""
function Base.view(t::Tensor, index...)
    index = flat(index)
    if length(index) == 1 && ndims(t) != 1
        return linear_view(t, index[1])
    end
    any(is_array_index, index) && throw(ArgumentError("view: expected integers, ranges and colons, " *
        "got an array; to assign to its places, write = without a dot"))
    shape = check_bounds(t, index)
    return basic_view(t, index, shape)
end

Base.maybeview(t::Tensor, index...) = view(t, index...)
Base.dotview(t::Tensor, index...) = view(t, index...)
# t[:] .= x : all elements, which a vector cannot show without a copy when they lie in row-major order.
Base.dotview(t::Tensor, ::Colon) = iscontiguous(reversed(t)) ? vec(t) : t

basic_view(t, index, shape) = _getitem_basic(t, reduce_items(map(basic_item, index, shape)))
reduce_items(items) = Int64[x for item in items for x in item]

function linear_view(t::Tensor, i)
    if i isa Integer
        in_bounds(i, length(t)) || throw(BoundsError(t, i))
        return view(t, CartesianIndices(size(t))[i])
    end
    return view(shared_vec(t), i)
end

function shared_vec(t::Tensor)
    iscontiguous(reversed(t)) || throw(ArgumentError("view: positions in all of a tensor need " *
        "elements in Julia's order; name them per axis, or index without view"))
    return vec(t)
end

function Base.getindex(t::Tensor, index...)
    index = flat(index)
    if length(index) == 1 && is_mask_of(index[1], t)
        # Julia's order of the chosen elements is row-major order of the reversed axes.
        return masked_select(reversed(t), reversed(tensor(index[1])))
    elseif length(index) == 1 && ndims(t) != 1 && !(index[1] isa Integer)
        return getindex(vec(t), index...)
    elseif !any(is_array_index, index)
        part = view(t, index...)
        return all(i -> i isa Integer, index) ? item(part) : clone(part)
    end
    result = basic_view(t, index, check_bounds(t, index))
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
Base.getindex(t::Tensor) = item(t)

is_mask_of(i, t) = false
is_mask_of(mask::AbstractArray{Bool}, t) = size(mask) == size(t)
is_mask_of(mask::Tensor, t) = eltype(mask) === Bool && size(mask) == size(t)

tensor(t::Tensor) = t
tensor(array::AbstractArray) = share(dense(array))

# ---- Writing ----

function Base.setindex!(t::Tensor, value, index...)
    index = flat(index)
    if length(index) == 1 && is_mask_of(index[1], t)
        write_masked!(t, value, tensor(index[1]))
    elseif length(index) == 1 && ndims(t) != 1 && !(index[1] isa Integer)
        write_linear!(t, value, index[1])
    elseif !any(is_array_index, index)
        write!(view(t, index...), value)
    else
        write_taken!(basic_view(t, index, check_bounds(t, index)), value, index)
    end
    return t
end
Base.setindex!(t::Tensor, value) = write!(t, value)

write!(part::Tensor, value::Number) = fill!(part, value)
write!(part::Tensor, value) = assign!(part, tensor(value))

function assign!(part::Tensor, value::Tensor)
    shape = filter(!=(1), collect(size(part)))
    shape == filter(!=(1), collect(size(value))) || throw(DimensionMismatch(
        "tried to assign $(size(value)) to $(size(part)); to broadcast, write .="))
    return copyto!(part, size(part) == size(value) ? value : reshape(value, size(part)))
end

# Chosen elements are numbered in Julia's order, so both sides are turned around.
write_masked!(t, value::Number, mask) = masked_fill!(t, mask, value)
write_masked!(t, value, mask) =
    _setitem!(reversed(t), reduce_items((ARRAY_ITEM,)), (reversed(mask),), tensor(value))

# Positions in all of the tensor, in Julia's order: one index array for each axis names them.
write_linear!(t, value, ::Colon) = write!(t, value isa Number ? value : reshape(tensor(value), size(t)))
function write_linear!(t, value, chosen)
    chosen isa Tensor && (chosen = Array(chosen) .+ 1)
    places = vec(CartesianIndices(size(t))[chosen])
    value isa Number || length(value) == length(places) ||
        throw(DimensionMismatch("tried to assign $(length(value)) values to $(length(places)) places"))
    arrays = ntuple(d -> Tensor(Int64[p[d] - 1 for p in places]), ndims(t))
    _setitem!(t, reduce_items(map(_ -> ARRAY_ITEM, arrays)), arrays, value isa Number ? value : vec(tensor(value)))
end

# Several arrays choose every combination: shaped so that they broadcast against each other.
function write_taken!(part::Tensor, value, index)
    axes_left = filter(i -> !(i isa Integer), collect(Any, index))
    places = findall(is_array_index, axes_left)
    places == places[1]:places[end] || throw(ArgumentError(
        "arrays in an assignment must stand side by side"))
    count = length(places)
    arrays = map(enumerate(places)) do (k, place)
        chosen = positions(axes_left[place])
        view_row_major(chosen, ntuple(d -> d == k ? length(chosen) : 1, count))
    end
    items = reduce_items(map(i -> is_array_index(i) ? ARRAY_ITEM : SLICE_ALL, axes_left))
    _setitem!(part, items, arrays, value isa Number ? value : tensor(value))
end

# ---- Element by element ----

const SCALAR_ACCESS = Ref(false)

"""
    allowscalar(true)
    allowscalar(f)

Allows iteration over the elements of a tensor, for good or while `f` runs. It is off at first: each
element would cost a call into the library, and usually a dotted expression was meant.
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
