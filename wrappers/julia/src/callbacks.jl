# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Julia objects as user data of the library's callbacks, and exceptions through C frames.

# What a user pointer points to. The library drops it once, perhaps while the collector runs
# finalizers: then the payload is let go by a plain store, and the box itself is swept out of the
# roots when the next one is made.
mutable struct Box
    payload::Any
end

struct Dropped end

const ROOTS = Set{Ptr{Cvoid}}()
const BOXES = Box[]
const BOXES_LOCK = ReentrantLock()
const SWEEP_AT = Ref(64)

"A pointer for the library that stands for `payload` until it is dropped."
function root(payload)
    box = Box(payload)
    pointer = pointer_from_objref(box)
    lock(BOXES_LOCK) do
        length(BOXES) >= SWEEP_AT[] && sweep_boxes()
        push!(BOXES, box)
        push!(ROOTS, pointer)
    end
    return pointer
end

function sweep_boxes()
    filter!(box -> !(box.payload isa Dropped), BOXES)
    empty!(ROOTS)
    foreach(box -> push!(ROOTS, pointer_from_objref(box)), BOXES)
    SWEEP_AT[] = max(64, 2 * length(BOXES))
end

function drop_box(user::Ptr{Cvoid})::Cvoid
    (unsafe_pointer_to_objref(user)::Box).payload = Dropped()
    return nothing
end

# The pointers that the library gets are made where they are first used: each costs a compilation.
drop_pointer() = @cfunction(drop_box, Cvoid, (Ptr{Cvoid},))

unbox(user::Ptr{Cvoid}) = (unsafe_pointer_to_objref(user)::Box).payload

"What a pointer of an error record stands for; `nothing` for one that is not ours."
function payload(user::Ptr{Cvoid})
    known = lock(() -> user in ROOTS, BOXES_LOCK)
    return known ? unbox(user) : nothing
end

"How many callbacks and shared arrays the library still holds."
live_boxes() = lock(() -> count(box -> !(box.payload isa Dropped), BOXES), BOXES_LOCK)

"An exception on its way through C."
struct Failure
    exception::Any
end

"Runs a callback's body; an exception must not unwind through C and travels as a status instead."
function guarded(body)
    try
        body()
        return C.TSR_OK
    catch e
        message = try
            sprint(showerror, e)
        catch
            string(typeof(e))  # an exception that cannot even be shown
        end
        C.tsr_error_set(C.TSR_CALLBACK, message, sizeof(message), root(Failure(e)), drop_pointer())
        return C.TSR_CALLBACK
    end
end
