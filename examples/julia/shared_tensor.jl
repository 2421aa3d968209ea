# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Opens a tensor that another process shares, prints its sum and adds 1 to each element.
#
# Usage: shared_tensor.jl PLACE NBYTES COUNT, where PLACE is a name (/tessera-...) or fd:NUMBER of an
# inherited file descriptor.

# Finds the package in this repository, whatever project is active.
pushfirst!(LOAD_PATH, joinpath(@__DIR__, "..", "..", "wrappers", "julia"))

using Printf
using Tessera

length(ARGS) == 3 || error("usage: shared_tensor.jl PLACE NBYTES COUNT")
place, nbytes, count = ARGS[1], parse(Int, ARGS[2]), parse(Int, ARGS[3])
handle = startswith(place, "fd:") ? Tessera.SharedHandle(; fd=parse(Int32, place[4:end]), nbytes=nbytes) :
    Tessera.SharedHandle(; name=place, nbytes=nbytes)
shared = Tessera.from_shared(handle, Float32, count)
@printf("sum %.1f\n", item(sum(shared)))
Tessera.add!(shared, 1)
