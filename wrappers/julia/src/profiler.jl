# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# The profiler: what a program's time and memory are spent on, as a table, a trace or a page.

const PROFILE_SORTS = (
    self=C.TSR_PROFILE_SORT_SELF, total=C.TSR_PROFILE_SORT_TOTAL, device=C.TSR_PROFILE_SORT_DEVICE,
    count=C.TSR_PROFILE_SORT_COUNT, flops=C.TSR_PROFILE_SORT_FLOPS, bytes=C.TSR_PROFILE_SORT_BYTES,
    name=C.TSR_PROFILE_SORT_NAME)
const PROFILE_GROUPS = (
    ops=C.TSR_PROFILE_BY_OPS, shapes=C.TSR_PROFILE_BY_OPS_SHAPES, kernels=C.TSR_PROFILE_BY_KERNELS)
const PROFILE_FORMATS = (
    chrome=C.TSR_PROFILE_CHROME, events=C.TSR_PROFILE_EVENTS, html=C.TSR_PROFILE_HTML)
const PROFILE_ACTIONS = (:none, :warmup, :record, :record_and_save)

function profile_choice(choices, name, what)
    haskey(choices, name) || throw(ArgumentError("$what: expected one of $(keys(choices)), got :$name"))
    return choices[name]
end

"""
    Profiler(on_ready=nothing; schedule=NamedTuple(), shapes=false, memory=false, stacks=false, capacity=0)

A profiler that does not run yet: `start!`, `step!`, `stop!`. It records all threads; one runs at a time. A
`schedule` has some of `skip_first`, `wait`, `warmup`, `active`, `repeat`: cycles of steps that are not recorded,
steps whose recording is dropped, and active steps. Without it the recording lasts from start to stop.
`on_ready(profiler)` is called after each cycle. `memory` adds allocations, `shapes` those of arguments, `stacks`
the Julia frames of each function, on all threads. `profile_table`, `profile_text` and `save_profile`
have the last recording; `profile` does all for a function.
"""
mutable struct Profiler
    handle::C.tsr_profiler
    stacks::Bool
    on_ready::Any
end

function Profiler(on_ready=nothing; schedule=NamedTuple(), shapes::Bool=false, memory::Bool=false,
                  stacks::Bool=false, capacity::Integer=0)
    kinds = C.TSR_TRACE_CALL | C.TSR_TRACE_LAUNCH | C.TSR_TRACE_NODE | C.TSR_TRACE_ANNOTATION
    memory && (kinds |= C.TSR_TRACE_ALLOCATE | C.TSR_TRACE_FREE)
    steps = merge((skip_first=0, wait=0, warmup=0, active=0, repeat=0), schedule)
    length(steps) == 5 || throw(ArgumentError(
        "schedule: expected some of skip_first, wait, warmup, active, repeat, got $(keys(schedule))"))
    options = Ref(C.tsr_profiler_options(
        sizeof(C.tsr_profiler_options), kinds, shapes, stacks, steps.skip_first, steps.wait, steps.warmup,
        steps.active, steps.repeat, capacity))
    made = Profiler(C.tsr_profiler(C_NULL), stacks, on_ready)
    handle = Ref{C.tsr_profiler}()
    # The library must not keep the profiler alive, which owns the library's.
    check(C.tsr_profiler_new(options, profile_ready_pointer(), root(WeakRef(made)), drop_pointer(), handle))
    made.handle = handle[]
    return finalizer(p -> C.tsr_profiler_release(p.handle), made)
end

function run_profile_ready(user::Ptr{Cvoid}, ::C.tsr_profiler)::Int32
    return guarded() do
        profiler = unbox(user).value
        profiler isa Profiler && profiler.on_ready !== nothing && profiler.on_ready(profiler)
        nothing
    end
end
profile_ready_pointer() = @cfunction(run_profile_ready, Int32, (Ptr{Cvoid}, C.tsr_profiler))

"Begins the first step of a profiler."
function start!(p::Profiler)
    p.stacks && give_host_stack()
    GC.@preserve p check(C.tsr_profiler_start(p.handle))
    return p
end
"Ends the current step of a profiler and begins the next one."
step!(p::Profiler) = (GC.@preserve p check(C.tsr_profiler_step(p.handle)); p)
"Ends a profiler and the cycle that it records."
stop!(p::Profiler) = (GC.@preserve p check(C.tsr_profiler_stop(p.handle)); p)

"What a profiler does during the current step: `:none`, `:warmup`, `:record` or `:record_and_save`."
function profile_action(p::Profiler)
    action = Ref{Int32}()
    GC.@preserve p check(C.tsr_profiler_action(p.handle, action))
    return PROFILE_ACTIONS[action[]+1]
end

"""
    profile(f; options...) -> (f(), profiler)

Records what the library does while `f` runs; the options are those of `Profiler`.

    y, profiler = profile(() -> model(x); shapes=true)
    print(profile_table(profiler; sort=:total, rows=20))
    save_profile(profiler, "profile.html")
"""
function profile(f; options...)
    profiler = Profiler(; options...)
    return pinned() do
        start!(profiler)
        result = try
            f()
        finally
            stop!(profiler)
        end
        return result, profiler
    end
end

"""
    profile_range(f, name)

Calls `f()` as a named range of profiles and traces. Ranges nest. Without a profiler a range costs a test.
"""
function profile_range(f, name::AbstractString)
    text = String(name)
    return pinned() do
        range = C.tsr_profile_range_begin(text, sizeof(text))
        try
            return f()
        finally
            C.tsr_profile_range_end(range)
        end
    end
end

"The last recording as a table: `sort` is one of $(keys(PROFILE_SORTS)), `group` one of $(keys(PROFILE_GROUPS))."
function profile_table(p::Profiler; sort::Symbol=:self, rows::Integer=100, group::Symbol=:ops)
    text = Ref{C.tsr_buffer}()
    GC.@preserve p check(C.tsr_profiler_table(
        p.handle, profile_choice(PROFILE_GROUPS, group, "group"), profile_choice(PROFILE_SORTS, sort, "sort"), rows, text))
    return take_text(text[])
end

"The rows of `profile_table` as JSON."
function profile_rows(p::Profiler; sort::Symbol=:self, group::Symbol=:ops)
    json = Ref{C.tsr_buffer}()
    GC.@preserve p check(C.tsr_profiler_rows(
        p.handle, profile_choice(PROFILE_GROUPS, group, "group"), profile_choice(PROFILE_SORTS, sort, "sort"), json))
    return take_text(json[])
end

"The last recording as text: `:chrome` (for chrome://tracing and Perfetto), `:events` (all facts as JSON) or `:html`."
function profile_text(p::Profiler, format::Symbol)
    text = Ref{C.tsr_buffer}()
    GC.@preserve p check(C.tsr_profiler_text(p.handle, profile_choice(PROFILE_FORMATS, format, "format"), text))
    return take_text(text[])
end

"""
    save_profile(profiler, path; format)

Writes the last recording to a file: one page that needs no network (`:html`, the default for `.html`), or as
`profile_text`.
"""
function save_profile(p::Profiler, path::AbstractString; format::Symbol=endswith(path, ".html") ? :html : :chrome)
    name = String(path)
    GC.@preserve p check(C.tsr_profiler_export(
        p.handle, profile_choice(PROFILE_FORMATS, format, "format"), name, sizeof(name)))
    return path
end

"""
    profile_roof(device=CPU)

What a device can do at most: bytes per second of a copy, operations per second of a product of Float32
matrices. Measured at the first call, which takes half a second. Tables then have the shares of it.
"""
function profile_roof(device::Device=CPU)
    bytes, flops = Ref{Float64}(), Ref{Float64}()
    check(C.tsr_profile_roof(device.type, device.index, bytes, flops))
    return (bytes_per_second=bytes[], flops_per_second=flops[])
end
