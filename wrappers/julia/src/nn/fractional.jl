# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Fractional max pooling (Graham, "Fractional max-pooling", 2014): windows whose distances are random, so that the output has
# any size.

for (count, along) in ((2, "two axes"), (3, "three axes"))
    layer = Symbol(:FractionalMaxPool, count, :d)
    text = """
        $layer(kernel; output_size=nothing, output_ratio=nothing, return_indices=false)

    The maxima of windows at random distances along $along; with `return_indices` also their positions in the flattened
    spatial axes in row-major order, from 0. Either `output_size` or `output_ratio`, the share of the input's size.
    `layer(x; samples)` takes numbers from 0 to 1 in place of random ones: for each sample and channel one for each axis.
    """
    @eval begin
        @doc $text struct $layer <: Layer
            kernel::NTuple{$count,Int}
            output_size::Union{Nothing,NTuple{$count,Int}}
            output_ratio::Union{Nothing,NTuple{$count,Float64}}
            return_indices::Bool
        end
        function $layer(kernel; output_size=nothing, output_ratio=nothing, return_indices=false)
            (output_size === nothing) == (output_ratio === nothing) && throw(ArgumentError(
                string($(string(layer)), ": expected either output_size or output_ratio, got ",
                    output_size === nothing ? "none" : "both")))
            sizes = output_size === nothing ? nothing : per_axis(output_size, $count, "output_size")
            ratio = output_ratio isa Real ? ntuple(_ -> output_ratio, $count) : output_ratio
            return $layer(per_axis(kernel, $count, "kernel"), sizes, ratio, return_indices)
        end
        function (layer::$layer)(x::Tensor; samples=nothing)
            found = fractional_pool(layer, x, samples, Val($count))
            return layer.return_indices ? found : found[1]
        end
    end
end

function fractional_pool(layer, x, samples, ::Val{N}) where {N}
    kind = nameof(typeof(layer))
    if ndims(x) == N + 1
        values, positions = fractional_pool(layer, unsqueeze(x; dims=1), samples, Val(N))
        return dropdims(values; dims=1), dropdims(positions; dims=1)
    end
    ndims(x) == N + 2 || throw(DimensionMismatch("$kind: expected $(N + 1) or $(N + 2) axes, got $(size(x))"))
    lead, lengths = size(x)[1:2], size(x)[3:end]
    counts = layer.output_size === nothing ? shares_of(kind, lengths, layer.output_ratio) : layer.output_size
    all(1 .<= counts) && all(1 .<= layer.kernel .<= lengths) && all(counts .<= lengths .- layer.kernel .+ 1) ||
        throw(DimensionMismatch("$kind: expected sizes of at least 1 with output + kernel - 1 at most the input's $lengths, " *
            "got output $counts and kernel $(layer.kernel)"))
    samples === nothing && (samples = rand((lead..., N); dtype=exact_for_places(eltype(x)), device=device(x)))
    size(samples) == (lead..., N) ||
        throw(DimensionMismatch("$kind: samples: expected sizes $((lead..., N)), got $(size(samples))"))
    samples = astype(samples, exact_for_places(eltype(samples)); copy=false)
    places = zeros((); dtype=Int64, device=device(x))
    for axis in 1:N
        # The numbers of two axes belong to the last axis first, those of three to the first one.
        sample = select(samples, N == 2 ? 3 - axis : axis; dims=3)
        first = window_starts(sample, lengths[axis], counts[axis], layer.kernel[axis])
        inside = add(unsqueeze(first; dims=4), counted(layer.kernel[axis], Int64, x))
        # (samples, channels, count, window), with an axis of size 1 for each other count and window
        shape = ntuple(d -> d <= 2 ? lead[d] : d == 2 + axis ? counts[axis] : d == 2 + N + axis ? layer.kernel[axis] : 1, 2 + 2N)
        places = add(multiply(places, lengths[axis]), reshape_row_major(inside, shape))
    end
    flat, by_window = reshape_row_major(places, (lead..., -1)), (lead..., counts..., -1)
    picked = reshape_row_major(gather(reshape_row_major(x, (lead..., -1)), flat; dims=3), by_window)
    values, best = max_with_indices(picked; dims=N + 3, keepdims=false)
    positions = gather(reshape_row_major(flat, by_window), unsqueeze(best; dims=N + 3); dims=N + 3)
    return values, dropdims(positions; dims=N + 3)
end

function shares_of(kind, lengths, ratios)
    all(isfinite, ratios) || throw(ArgumentError("$kind: output_ratio: expected finite numbers, got $ratios"))
    return trunc.(Int, clamp.(lengths .* ratios, -1e18, 1e18)) # the bounds are what an Int holds, and larger than any axis
end

# The type in which places are computed: 16-bit floats do not hold every place.
exact_for_places(dtype) = dtype in (Float16, BFloat16) ? Float32 : dtype

counted(n, dtype, like) = _arange(0, n, 1, dtype, device(like))

# Where the windows of one axis begin; the last one ends at the end.
function window_starts(sample, distance, count, window)
    sample = unsqueeze(sample; dims=3)
    last = full(size(sample), distance - window; dtype=Int64, device=device(sample))
    count == 1 && return last
    pace = (distance - window) / (count - 1)
    steps = add(counted(count - 1, eltype(sample), sample), sample)
    found = subtract(trunc(multiply(steps, pace)), trunc(multiply(sample, pace)))
    return concat((astype(found, Int64), last); dims=3)
end
