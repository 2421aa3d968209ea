# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Generators of random numbers; `generator=` of the random functions takes one.

"""
    Generator(seed)

A generator of random numbers. The same seed gives the same numbers in every language, on every device
and for any number of threads.
"""
mutable struct Generator
    handle::tsr_generator
    function Generator(handle::tsr_generator)
        g = new(handle)
        finalizer(x -> C.tsr_generator_release(x.handle), g)
        return g
    end
end

function Generator(seed::Integer)
    out = Ref{tsr_generator}()
    check(C.tsr_generator_new(seed % UInt64, out))
    return Generator(out[])
end

Base.unsafe_convert(::Type{tsr_generator}, g::Generator) = g.handle
Base.cconvert(::Type{tsr_generator}, ::Nothing) = C_NULL

"The process's default generator, used by threads that have set no other."
function default_generator()
    out = Ref{tsr_generator}()
    check(C.tsr_generator_default(out))
    return Generator(out[])
end

"The generator that random functions of this thread use when none is given."
function current_generator()
    out = Ref{tsr_generator}()
    check(C.tsr_generator_current(out))
    return Generator(out[])
end

"Calls `f` with `g` as this thread's current generator."
with_generator(f, g::Generator) = pinned() do
    before = set_current(g)
    try
        return f()
    finally
        set_current(before)
    end
end

function set_current(g::Generator)
    out = Ref{tsr_generator}()
    check(C.tsr_generator_set_current(g, out))
    return Generator(out[])
end

"Restarts a generator from a seed."
Random.seed!(g::Generator, seed::Integer) = (check(C.tsr_generator_seed(g, seed % UInt64)); g)

"""
    Tessera.seed!(seed)

Restarts the default generator from a seed.
"""
seed!(seed::Integer) = (Random.seed!(default_generator(), seed); nothing)

"The whole state of a generator, two numbers."
function state(g::Generator)
    seed, offset = Ref{UInt64}(0), Ref{UInt64}(0)
    check(C.tsr_generator_get_state(g, seed, offset))
    return (seed[], offset[])
end

"Sets a generator to a state that `Tessera.state` returned."
state!(g::Generator, (seed, offset)) = (check(C.tsr_generator_set_state(g, seed, offset)); g)
