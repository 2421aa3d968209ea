# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Differentiable functions written in Julia.

"A function of tensors with a custom derivative; [`differentiable`](@ref) makes one."
struct Differentiable{F,B}
    forward::F
    backward::B
    jvp::Any
    name::String
    flags::UInt32
end

"""
    differentiable(forward, backward; jvp, name, once=false, undefined=false)

Makes a function of tensors with a custom derivative.

`forward(ctx, inputs...)` computes a tensor or a tuple of them, without recording; it saves tensors for
the derivative with `save!(ctx, tensors...)`. `backward(ctx, gradients...)` gets one gradient for each
output and returns one, or `nothing`, for each input, as a tuple if there are several; `saved(ctx)`
returns the saved tensors. Both run on the calling thread, and their exceptions come out unchanged.

`jvp(ctx, tangents...)`, for forward mode, gets a tangent, or `nothing`, for each input and returns one for
each output; `saved(ctx)` works there too.

With `once` the derivative is not differentiable again; with `undefined` a gradient that was not
computed is `nothing` instead of zeros.

```julia
cube = differentiable(
    (ctx, x) -> (save!(ctx, x); x .^ 3),
    (ctx, dy) -> 3 .* saved(ctx)[1] .^ 2 .* dy)
```
"""
function differentiable(forward, backward; jvp=nothing, name="Julia", once=false, undefined=false)
    flags = (once ? C.TSR_NODE_ONCE_DIFFERENTIABLE : Int32(0)) |
            (undefined ? C.TSR_NODE_UNDEFINED_GRADS : Int32(0))
    return Differentiable(forward, backward, jvp, name, flags % UInt32)
end

"The context that forward passes to backward; valid while one of them runs."
mutable struct FunctionContext
    node::tsr_node
end

Base.cconvert(::Type{tsr_node}, ctx::FunctionContext) = ctx
function Base.unsafe_convert(::Type{tsr_node}, ctx::FunctionContext)
    ctx.node == C_NULL && throw(ArgumentError("the context was used after its function had returned"))
    return ctx.node
end

function (f::Differentiable)(inputs::Tensor...)
    ctx = FunctionContext(create_node(f, inputs))
    try
        result = no_grad(() -> forward_off(() -> f.forward(ctx, inputs...)))
        outputs = result isa Tuple ? result : (result,)
        raw = map(o -> give_borrowed(o, f), outputs)
        attached = collect(tsr_tensor, raw)
        GC.@preserve outputs check(C.tsr_node_attach(ctx, attached, length(attached)))
        foreach(own_callbacks, outputs)
        return result
    finally
        C.tsr_node_release(ctx.node)
        ctx.node = C_NULL
    end
end

give_borrowed(t::Tensor, f) = Base.unsafe_convert(tsr_tensor, t)
give_borrowed(other, f) =
    throw(ArgumentError("$(f.name): forward returns tensors, got $(typeof(other))"))

function create_node(f::Differentiable, inputs)
    table = Ref(C.tsr_node_vtable(
        sizeof(C.tsr_node_vtable), f.flags, C_NULL, node_backward_pointer(), drop_pointer(),
        f.jvp === nothing ? C_NULL : node_jvp_pointer()))
    raw = handles(inputs)
    node = Ref{tsr_node}()
    GC.@preserve inputs check(C.tsr_node_create(
        f.name, sizeof(f.name), table, root(f), raw, length(raw), node))
    return node[]
end

# Both rules take handles that may be absent, and return one tensor for each result.
function run_rule(rule, name, ctx::FunctionContext, given, results::Ptr{tsr_tensor}, n_results, (kind, slots))
    made = try
        rule(ctx, given...)
    finally
        ctx.node = C_NULL
    end
    made isa Tuple || (made = (made,))
    length(made) == n_results || throw(ArgumentError(
        "$name returned $(length(made)) $kind for $n_results $slots"))
    give_all!(results, made, name)
end

function run_node_backward(user::Ptr{Cvoid}, node::tsr_node, gradients::Ptr{tsr_tensor},
        n_gradients::Int32, results::Ptr{tsr_tensor}, n_results::Int32)::Int32
    return guarded() do
        f = unbox(user)::Differentiable
        run_rule(f.backward, "backward of $(f.name)", FunctionContext(node), borrow_all(gradients, n_gradients), results,
            n_results, ("gradients", "inputs"))
    end
end

function run_node_jvp(user::Ptr{Cvoid}, node::tsr_node, tangents::Ptr{tsr_tensor},
        n_tangents::Int32, results::Ptr{tsr_tensor}, n_results::Int32)::Int32
    return guarded() do
        f = unbox(user)::Differentiable
        run_rule(f.jvp, "jvp of $(f.name)", FunctionContext(node), borrow_all(tangents, n_tangents), results,
            n_results, ("tangents", "outputs"))
    end
end
node_jvp_pointer() = @cfunction(run_node_jvp, Int32,
    (Ptr{Cvoid}, tsr_node, Ptr{tsr_tensor}, Int32, Ptr{tsr_tensor}, Int32))

node_backward_pointer() = @cfunction(run_node_backward, Int32,
    (Ptr{Cvoid}, tsr_node, Ptr{tsr_tensor}, Int32, Ptr{tsr_tensor}, Int32))

"Saves tensors for the backward, which throws if they were changed in place meanwhile."
save!(ctx::FunctionContext, tensors::Union{Nothing,Tensor}...) = mark(C.tsr_node_save, ctx, tensors)

"Declares the inputs that forward changed in place; it must return them."
mark_dirty!(ctx::FunctionContext, tensors::Tensor...) = mark(C.tsr_node_mark_dirty, ctx, tensors)

"Declares the outputs that have no gradient."
mark_constant!(ctx::FunctionContext, tensors::Tensor...) =
    mark(C.tsr_node_mark_non_differentiable, ctx, tensors)

function mark(how, ctx, tensors)
    raw = handles(tensors)
    GC.@preserve tensors check(how(ctx, raw, length(raw)))
    return nothing
end

"The tensors that [`save!`](@ref) saved, in order."
function saved(ctx::FunctionContext)
    count = Ref{Int64}(0)
    check(C.tsr_node_saved_count(ctx, count))
    return map(0:(count[] - 1)) do i
        out = Ref{tsr_tensor}()
        check(C.tsr_node_saved(ctx, i, out))
        adopt(out[])
    end
end

"Whether the gradient of input number `i` is needed."
function needs_grad(ctx::FunctionContext, i::Integer)
    value = Ref{Int32}(0)
    check(C.tsr_node_needs_input_grad(ctx, zero_based(i), value))
    return value[] != 0
end

"""
    gradcheck(f, tensors...)

Compares the gradients of `f(tensors...)`, which returns a tensor of `Float64`, with central differences, for tests of
your own functions. The tensors are leaves of `Float64` that require grad. Throws a `TesseraError` that
names the first tensor and element where they differ.
"""
function gradcheck(f, tensors::Tensor...)
    for (k, t) in enumerate(tensors)
        eltype(t) == Float64 && requires_grad(t) && is_leaf(t) || throw(ArgumentError(
            "gradcheck: expected leaves of Float64 that require grad, tensor $k is none"))
    end
    return enable_grad() do
        output = f(tensors...)
        eltype(output) == Float64 ||
            throw(ArgumentError("gradcheck: expected an output of Float64, got $(eltype(output))"))
        # One factor for each element, none near 0 and no two the same.
        factors = [0.5 + mod(0.618034i, 1) for i in 0:(length(output) - 1)]
        weights = on(device(output), Tensor(reshape(factors, size(output))))
        found = grad(output, collect(tensors); gradient=weights, allow_unused=true)
        for (k, t) in enumerate(tensors)
            given = found[k] === nothing ? Base.zeros(size(t)) : Array(found[k])
            compare_gradients(k, given, difference_quotients(f, tensors, t, weights))
        end
    end
end

function compare_gradients(k, given, expected)
    for i in eachindex(expected)
        abs(given[i] - expected[i]) <= 1e-5 + 1e-3 * abs(expected[i]) || throw(TesseraError(:AUTOGRAD, "gradcheck",
            "gradcheck: tensor $k, element $i: the gradient is $(given[i]), the difference quotient $(expected[i])", 0))
    end
end

# The derivative of the weighted sum by each element of one tensor, which is changed and restored.
function difference_quotients(f, tensors, t, weights; step=1e-6)
    values = Array(t)
    return no_grad() do
        plain = detach(t)
        function sum_at(i, value)
            moved = copy(values)
            moved[i] = value
            copyto!(plain, moved)
            return item(sum(f(tensors...) .* weights))
        end
        try
            map(i -> (sum_at(i, values[i] + step) - sum_at(i, values[i] - step)) / 2step, eachindex(values))
        finally
            copyto!(plain, values)
        end
    end
end
