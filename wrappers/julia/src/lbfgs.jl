# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# LBFGS: a quasi-Newton method that computes the loss several times a step, with PyTorch's options.
#
# Nocedal and Wright, "Numerical Optimization", 2nd edition: algorithm 7.4 (the two loops over the history), 3.5 and 3.6 (the
# line search for the strong Wolfe conditions), 3.59 (cubic interpolation).

"""
    LBFGS(model; lr=1, max_iter=20, max_eval=max_iter * 5 ÷ 4, tolerance_grad=1e-7, tolerance_change=1e-9,
        history_size=100, line_search=false)
    LBFGS(tensors; ...)

Limited-memory BFGS: all parameters are one vector. [`step!`](@ref) minimises for up to `max_iter` iterations and `max_eval`
evaluations. `history_size` is the number of steps that the approximated second derivatives know; at most 0: none. With
`line_search` the length of each step is searched by the strong Wolfe conditions.
"""
mutable struct LBFGS
    params::Vector{Tensor}
    lr::Float64
    max_iter::Int
    max_eval::Int
    tolerance_grad::Float64
    tolerance_change::Float64
    history_size::Int
    line_search::Bool
    history::Vector{Tuple{Tensor,Tensor,Float64}}  # changes of the gradient, of the parameters, 1 / their product
    scale::Float64
    last::Union{Nothing,NamedTuple{(:direction, :distance, :gradient),Tuple{Tensor,Float64,Tensor}}}
end

LBFGS(model::Layer; options...) = LBFGS(params(model); options...)
function LBFGS(tensors::AbstractVector{Tensor}; lr=1, max_iter=20, max_eval=max_iter * 5 ÷ 4, tolerance_grad=1e-7,
    tolerance_change=1e-9, history_size=100, line_search=false)
    isempty(tensors) && throw(ArgumentError("params: expected at least one parameter, got an empty list"))
    return LBFGS(collect(tensors), lr, max_iter, max_eval, tolerance_grad, tolerance_change, history_size, line_search, [], 1.0,
        nothing)
end

# What is known of one step length; the slope is that of the loss in the search direction.
const SearchPoint = NamedTuple{(:t, :loss, :gradient, :slope),Tuple{Float64,Float64,Tensor,Float64}}

"""
    step!(optimizer) do
        loss = ...
        backward!(loss)
        return loss
    end

Minimises by an [`LBFGS`](@ref) optimizer. The function computes the loss, calls its backward and returns it; gradients are
cleared before. Returns the loss of the first evaluation.
"""
step!(f, optimizer::LBFGS) = no_grad(() -> minimise!(f, optimizer))

function minimise!(f, o::LBFGS)
    first = evaluate(f, o)
    evaluations, loss, gradient = 1, Float64(first), all_gradients(o)
    largest(gradient) <= o.tolerance_grad && return first
    for iteration in 1:o.max_iter
        begins, before = o.last === nothing, loss
        direction = next_direction!(o, gradient)
        distance = begins ? o.lr * min(1.0, 1 / Float64(sum(abs(gradient)))) : o.lr
        slope = dot_of(gradient, direction)
        o.last = (direction=direction, distance=0.0, gradient=gradient)
        slope > -o.tolerance_change && break
        ends = iteration == o.max_iter
        start = SearchPoint((0.0, loss, gradient, slope))
        now, more = advance!(f, o, start, direction, distance, ends, o.max_eval - evaluations)
        evaluations += more
        o.last = (direction=direction, distance=now.t, gradient=gradient)
        loss, gradient = now.loss, now.gradient
        (ends || evaluations >= o.max_eval || largest(gradient) <= o.tolerance_grad ||
            now.t * largest(direction) <= o.tolerance_change || abs(loss - before) < o.tolerance_change) && break
    end
    return first
end

# Moves the parameters along the direction: the point where they are now, and how often the function was called. A search
# takes up to `most` steps.
function advance!(f, o::LBFGS, start, direction, distance, ends, most)
    if o.line_search
        begun = map(t -> clone(detach(t)), o.params)
        found, calls = wolfe_search(start, distance, largest(direction), o.tolerance_change, most) do t
            move!(o, t, direction)
            loss = Float64(evaluate(f, o))
            gradient = all_gradients(o)
            foreach(copyto!, o.params, begun)
            return SearchPoint((t, loss, gradient, dot_of(gradient, direction)))
        end
        move!(o, found.t, direction)
        return found, calls
    end
    move!(o, distance, direction)
    ends && return SearchPoint((distance, start.loss, start.gradient, start.slope)), 0  # nobody needs the loss there
    loss = Float64(evaluate(f, o))
    return SearchPoint((distance, loss, all_gradients(o), 0.0)), 1
end

# The gradient times the approximate inverse of the matrix of second derivatives, negative.
function next_direction!(o::LBFGS, gradient)
    o.last === nothing && return negative(gradient)
    y, s = subtract(gradient, o.last.gradient), multiply(o.last.direction, o.last.distance)
    curvature = dot_of(y, s)
    if curvature > 1e-10
        o.scale = curvature / dot_of(y, y)
        push!(o.history, (y, s, 1 / curvature))
        deleteat!(o.history, 1:(length(o.history) - max(o.history_size, 0)))
    end
    q, weights = negative(gradient), Float64[]
    for (y, s, rho) in Iterators.reverse(o.history)
        push!(weights, rho * dot_of(s, q))
        q = subtract(q, multiply(y, last(weights)))
    end
    q = multiply(q, o.scale)
    for (y, s, rho) in o.history
        q = add(q, multiply(s, pop!(weights) - rho * dot_of(y, q)))
    end
    return q
end

evaluate(f, o::LBFGS) = (foreach(zero_grad!, o.params); enable_grad(f))

# All gradients as one vector.
all_gradients(o::LBFGS) = concat(map(o.params) do t
    gradient = grad(t)
    reshape_row_major(gradient === nothing ? zeros_like(t) : detach(gradient), (-1,))
end; dims=1)

function move!(o::LBFGS, distance, direction)
    begun = 1
    for t in o.params
        part = narrow(direction, begun, length(t); dims=1)
        add!(t, multiply(reshape_row_major(part, size(t)), distance))
        begun += length(t)
    end
end

dot_of(a, b) = Float64(vecdot(a, b))
largest(t) = isempty(t) ? 0.0 : Float64(maximum(abs(t)))

# ---- The line search ----

# Where the cubic through two points with their slopes is lowest, in [low, high]; the middle if it has no such place.
function cubic_lowest(one, two, low, high)
    one.t > two.t && ((one, two) = (two, one))
    d1 = one.slope + two.slope - 3 * (one.loss - two.loss) / (one.t - two.t)
    squared = d1 * d1 - one.slope * two.slope
    squared >= 0 || return (low + high) / 2
    d2 = sqrt(squared)
    place = two.t - (two.t - one.t) * ((two.slope + d2 - d1) / (two.slope - one.slope + 2d2))
    return min(max(place, low), high)
end

# The strong Wolfe conditions, with the usual numbers c1 = 1e-4 and c2 = 0.9.
too_high(point, start) = point.loss > start.loss + 1e-4 * point.t * start.slope
is_flat(point, start) = abs(point.slope) <= -0.9 * start.slope

# A point that lowers the loss enough and has a flat enough slope, and how many points were tried: the first one and up to
# `most` more. `widest` is the largest element of the direction.
function wolfe_search(evaluate, start, t, widest, tolerance, most)
    before, now, calls = start, evaluate(t), 1
    other = nothing
    while calls <= most
        passed = too_high(now, start) || (calls > 2 && now.loss >= before.loss)
        !passed && is_flat(now, start) && return now, calls
        if passed || now.slope >= 0
            other = before
            break
        end
        t = cubic_lowest(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10)
        before, now = now, evaluate(t)
        calls += 1
    end
    return narrow_bracket(evaluate, start, other === nothing ? start : other, now, calls, widest, tolerance, most)
end

# Narrows a bracket until a point meets both conditions.
function narrow_bracket(evaluate, start, low, high, calls, widest, tolerance, most)
    high.loss < low.loss && ((low, high) = (high, low))
    stuck = false
    while calls <= most
        width = abs(high.t - low.t)
        width * widest < tolerance && break
        left, right = minmax(low.t, high.t)
        t = cubic_lowest(low, high, left, right)
        # A place near an end, twice in a row or at the end itself, moves inwards by a tenth of the width.
        near = min(right - t, t - left) < 0.1width
        moves = near && (stuck || t >= right || t <= left)
        moves && (t = abs(t - right) < abs(t - left) ? right - 0.1width : left + 0.1width)
        stuck = near && !moves
        now = evaluate(t)
        calls += 1
        if too_high(now, start) || now.loss >= low.loss
            high = now
            high.loss < low.loss && ((low, high) = (high, low))
        else
            is_flat(now, start) && return now, calls
            now.slope * (high.t - low.t) >= 0 && (high = low)
            low = now
        end
    end
    return low, calls
end
