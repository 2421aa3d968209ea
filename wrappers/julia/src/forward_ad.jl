# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Forward mode, and derivatives of functions of one tensor.

"""
    dual_level(f)

Calls `f(level)` inside a new level of forward mode. Levels may be nested: the tangent of a level may
have tangents of the levels around it.

```julia
dual_level() do level
    y, tangent = unpack_dual(f(make_dual(x, v; level)); level)
end
```
"""
function dual_level(f)
    return pinned() do
        level = Ref{Int64}(-1)
        check(C.tsr_forward_enter(level))
        try
            return f(level[])
        finally
            check(C.tsr_forward_exit(level[]))
        end
    end
end

"A new tensor on the memory of `primal`, with its history, that has a tangent at a level (the innermost one)."
function make_dual(primal::Tensor, tangent::Tensor; level::Integer=-1)
    out = Ref{tsr_tensor}()
    check(C.tsr_make_dual(primal, tangent, level, out))
    return adopt(out[])
end

"The value and the tangent of a tensor at a level (the innermost one); no tangent is `nothing`, which means zero."
function unpack_dual(dual::Tensor; level::Integer=-1)
    primal, tangent = Ref{tsr_tensor}(), Ref{tsr_tensor}()
    check(C.tsr_unpack_dual(dual, level, primal, tangent))
    return adopt(primal[]), adopt(tangent[])
end

# Inside, dual tensors count as ordinary ones.
forward_off(f) = with_mode(f, C.tsr_forward_mode_set, false)

something_like(t::Tensor, like::Tensor) = t
something_like(::Nothing, like::Tensor) = zero(like)

"""
    jvp(f, x, v)

Returns `f(x)` and the Jacobian of `f` at `x` times `v`; by forward mode.
"""
function jvp(f, x::Tensor, v::Tensor)
    return dual_level() do level
        y, tangent = unpack_dual(f(make_dual(x, v; level)); level)
        return y, something_like(tangent, y)
    end
end

# A leaf on the same memory; it keeps the tangents of forward mode.
as_leaf(x::Tensor) = requires_grad!(detach(x))

"""
    vjp(f, x, v)

Returns `f(x)` and `v` times the Jacobian of `f` at `x`; by a backward.
"""
function vjp(f, x::Tensor, v::Tensor)
    connected = is_grad_enabled() && requires_grad(x)
    return enable_grad() do
        leaf = connected ? x : as_leaf(x)
        y = f(leaf)
        requires_grad(y) || return y, zero(x)
        g = grad(y, leaf; gradient=v, create_graph=connected, allow_unused=true)
        return connected ? y : detach(y), something_like(g, x)
    end
end

"""
    jacobian(f, x)

Returns the Jacobian of `f` at `x`, of the sizes of `f(x)` and then those of `x`; by forward mode.
"""
function jacobian(f, x::Tensor)
    n = length(x)
    n == 0 && return zero(reshape(f(x), size(f(x))..., map(_ -> 1, size(x))...) .* reshape(x, map(_ -> 1, size(f(x)))..., size(x)...))
    directions = eye(n; dtype=eltype(x), device=device(x))
    columns = map(1:n) do j
        v = reshape(directions[:, j], size(x))
        return jvp(f, x, v)[2]
    end
    sizes = size(columns[1])
    flat = concat(map(c -> reshape(c, :, 1), columns); dims=2)
    return reshape(flat, (sizes..., size(x)...))
end

"""
    jacrev(f, x)

As [`jacobian`](@ref), by one batched backward: the better way where `f(x)` is smaller than `x`.
"""
function jacrev(f, x::Tensor)
    connected = is_grad_enabled() && requires_grad(x)
    return enable_grad() do
        leaf = connected ? x : as_leaf(x)
        y = f(leaf)
        n = length(y)
        ones_of(t) = map(_ -> 1, size(t))
        empty() = zero(detach(reshape(y, size(y)..., ones_of(x)...) .* reshape(x, ones_of(y)..., size(x)...)))
        (n == 0 || !requires_grad(y)) && return empty()
        rows = reshape(eye(n; dtype=eltype(y), device=device(y)), (n, size(y)...))
        g = grad(y, leaf; gradient=rows, create_graph=connected, allow_unused=true, batched=true)
        return g === nothing ? empty() : reshape(g, (size(y)..., size(x)...))
    end
end

"""
    hessian(f, x)

Returns the second derivatives of `f`, a function to one number, of the sizes of `x` twice: a batched
backward over a recorded one.
"""
function hessian(f, x::Tensor)
    gradient(at) = enable_grad() do
        y = f(at)
        requires_grad(y) || return zero(detach(at))
        return something_like(grad(y, at; create_graph=true, allow_unused=true), detach(at))
    end
    return jacrev(gradient, x)
end
