# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Julia objects as user data of the library's callbacks, and exceptions through C frames.

# The target of a user pointer. The library drops each of its references once, possibly while the
# collector runs finalizers. So dropping the last only overwrites the content; the box itself is removed
# from the roots when the next one is made.
mutable struct Box
    content::Any  # a Content, Dropped, or for the time of a collection Lent: see cycles.jl
    references::Int
end

mutable struct Content
    payload::Any
end

struct Dropped end
struct Lent end

const ROOTS = Set{Ptr{Cvoid}}()
const BOXES = Box[]
const BOXES_LOCK = ReentrantLock()
const SWEEP_AT = Ref(64)

"A user pointer that keeps `payload` alive until the library drops it."
function root(payload)
    box = Box(Content(payload), 1)
    pointer = pointer_from_objref(box)
    lock(BOXES_LOCK) do
        length(BOXES) >= SWEEP_AT[] && sweep_boxes()
        push!(BOXES, box)
        push!(ROOTS, pointer)
    end
    return pointer
end

function sweep_boxes()
    filter!(box -> !(box.content isa Dropped), BOXES)
    empty!(ROOTS)
    foreach(box -> push!(ROOTS, pointer_from_objref(box)), BOXES)
    SWEEP_AT[] = max(64, 2 * length(BOXES))
end

function drop_box(user::Ptr{Cvoid})::Cvoid
    box = unsafe_pointer_to_objref(user)::Box
    (box.references -= 1) == 0 && (box.content = Dropped())
    return nothing
end

# For the library while it registers one callback for several owners, on this thread.
function retain_box(user::Ptr{Cvoid})::Cvoid
    (unsafe_pointer_to_objref(user)::Box).references += 1
    return nothing
end

# The C function pointers are made at their first use, because each one costs a compilation.
# Not inlined: each copy would have a pointer of its own, and cycles.jl recognises boxes by this one.
@noinline drop_pointer() = @cfunction(drop_box, Cvoid, (Ptr{Cvoid},))
retain_pointer() = @cfunction(retain_box, Cvoid, (Ptr{Cvoid},))

unbox(user::Ptr{Cvoid}) = opened((unsafe_pointer_to_objref(user)::Box).content)
opened(content::Content) = content.payload
opened(::Lent) = error("a callback was called during collect_cycles(): another thread uses the library")

"The payload of a pointer in an error record; `nothing` if the pointer is not ours."
function payload(user::Ptr{Cvoid})
    known = lock(() -> user in ROOTS, BOXES_LOCK)
    return known ? unbox(user) : nothing
end

"The number of callbacks and shared arrays that the library still holds."
live_boxes() = lock(() -> count(box -> !(box.content isa Dropped), BOXES), BOXES_LOCK)

"An exception that passes through C as a payload."
struct Failure
    exception::Any
end

"Runs the body of a callback. An exception must not unwind through C, so it becomes a status."
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
