# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Mixed precision: regions of autocast, and the scaler of a loss.

autocast_struct(device, enabled, dtype, cache, own_lists=false) = C.tsr_autocast_state(
    sizeof(C.tsr_autocast_state), device_type(device), Int32(enabled), dtype_bits(dtype), Int32(cache), Int32(own_lists))

function autocast_state(device::Device)
    state = Ref(autocast_struct(device, false, nothing, false))
    check(C.tsr_autocast_get(device.type, state))
    return state[]
end

"""
    autocast(T=nothing; device=CPU, enabled=true, cache_enabled=nothing, own_lists=false) do
        ...
    end

Runs the function with autocast: operators get tensors of the element type `T`, `Float16` or `BFloat16`, or
`Float32` where they need its range or digits. Without `T` it is `BFloat16`, on CUDA `Float16`. The cast of
a parameter is kept until the outermost region ends. With `own_lists` the operators are those that
PyTorch lists for this kind of device, which differ on the CPU; else those for CUDA. The state belongs to the thread, as that of
[`no_grad`](@ref) does.
"""
function autocast(f, T::Union{Type,Nothing}=nothing; device::Device=CPU, enabled::Bool=true, cache_enabled=nothing,
                  own_lists::Bool=false)
    return pinned() do
        before = Ref(autocast_state(device))
        cache = cache_enabled === nothing ? before[].cache_enabled != 0 : cache_enabled
        check(C.tsr_autocast_begin(Ref(autocast_struct(device, enabled, T, cache, own_lists)), before))
        try
            return f()
        finally
            check(C.tsr_autocast_end(before))
        end
    end
end

"Whether autocast is on for this thread and the device's kind."
is_autocast_enabled(device::Device=CPU) = autocast_state(device).enabled != 0

"The element type to which this thread casts tensors of the device's kind."
autocast_dtype(device::Device=CPU) = element_type(autocast_state(device).dtype)

"Drops the casts of parameters that the regions of this thread keep."
clear_autocast_cache() = (check(C.tsr_autocast_clear_cache()); nothing)

# ---- The scaler ----

"""
    GradScaler(; scale=65536, growth_factor=2, backoff_factor=0.5, growth_interval=2000, enabled=true)

Multiplies a loss by a scale and divides the gradients by it, so that small gradients of `Float16` do not become
zero:

    loss = autocast(() -> loss_of(model, x, y), Float16)
    backward!(scale_loss(scaler, loss))
    update!(scaler, state)   # in place of update!(state): skipped unless the gradients are finite
    update!(scaler)          # the scale shrinks after a skipped step, and grows after growth_interval others

`unscale!(scaler, state)` divides the gradients before, for example to clip them. One thread at a time may use it.
"""
mutable struct GradScaler
    handle::C.tsr_grad_scaler
    function GradScaler(; enabled::Bool=true, numbers...)
        out = Ref{C.tsr_grad_scaler}()
        check(C.tsr_grad_scaler_new(Ref(scaler_struct(; enabled, numbers...)), out))
        scaler = new(out[])
        finalizer(x -> C.tsr_grad_scaler_release(x.handle), scaler)
        return scaler
    end
end

scaler_struct(; enabled=true, scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
    growth_tracker=0) = C.tsr_grad_scaler_state(sizeof(C.tsr_grad_scaler_state), Int32(enabled), scale, growth_factor,
    backoff_factor, growth_interval, growth_tracker)

Base.unsafe_convert(::Type{C.tsr_grad_scaler}, scaler::GradScaler) = scaler.handle

"The loss times the scale, for its backward."
function scale_loss(scaler::GradScaler, loss::Tensor)
    out = Ref{tsr_tensor}()
    check(C.tsr_grad_scaler_scale(scaler, loss, out))
    return wrap(out[])
end

"Divides the gradients of the optimizer by the scale, for example before they are clipped."
unscale!(scaler::GradScaler, state::OptimizerState) = (check(C.tsr_grad_scaler_unscale(scaler, state)); nothing)

"""
    update!(scaler, state)

Updates the parameters of an optimizer if its gradients are finite, and returns whether they are.
"""
function update!(scaler::GradScaler, state::OptimizerState)
    stepped = Ref{Int32}(0)
    check(C.tsr_grad_scaler_step(scaler, state, stepped))
    return stepped[] != 0
end

"""
    update!(scaler; scale=nothing)

Ends an iteration: changes the scale by what the optimizers' updates found, or to the given one.
"""
function update!(scaler::GradScaler; scale::Union{Real,Nothing}=nothing)
    check(C.tsr_grad_scaler_update(scaler, scale === nothing ? 0.0 : Float64(scale), scale !== nothing))
    return scaler
end

"Whether gradients of this optimizer that are not finite were found since the last `update!(scaler)`."
function found_inf(scaler::GradScaler, state::OptimizerState)
    found = Ref{Int32}(0)
    check(C.tsr_grad_scaler_found_inf(scaler, state, found))
    return found[] != 0
end

"The numbers of a scaler, by the names of the keywords of [`GradScaler`](@ref), and `growth_tracker`."
function state_dict(scaler::GradScaler)
    state = Ref(scaler_struct())
    check(C.tsr_grad_scaler_state_get(scaler, state))
    names = (:scale, :growth_factor, :backoff_factor, :growth_interval, :growth_tracker)
    return (; enabled=state[].enabled != 0, (name => getfield(state[], name) for name in names)...)
end

"Sets the numbers that `state_dict` returned; after an error nothing has changed."
function load_state_dict!(scaler::GradScaler, numbers)
    check(C.tsr_grad_scaler_state_set(scaler, Ref(scaler_struct(; numbers...))))
    return scaler
end

"Writes the numbers of a scaler to a file that every language loads."
save_state(path::AbstractString, scaler::GradScaler) = (check(C.tsr_grad_scaler_save(scaler, path, sizeof(path))); nothing)

"Reads the numbers of a scaler from a file that any language saved."
load_state!(scaler::GradScaler, path::AbstractString) = (check(C.tsr_grad_scaler_load(scaler, path, sizeof(path))); scaler)
