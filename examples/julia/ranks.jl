# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# One rank of a group of processes: mpirun -n 4 julia ranks.jl. Every rank brings its number, and all get the
# sum and the largest. Ranks in other languages may be in the same group.

# Finds the package in this repository, whatever project is active.
pushfirst!(LOAD_PATH, joinpath(@__DIR__, "..", "..", "wrappers", "julia"))

using Tessera
using Tessera: Group, all_reduce!, group_rank, group_size

function reduced(group, op)
    x = Tensor(Float32[group_rank(group)])
    all_reduce!(group, x; op)
    return Int(Array(x)[1])
end

group = Group("mpi"; timeout=120)
total, largest = reduced(group, :sum), reduced(group, :max)
println("rank ", group_rank(group), " of ", group_size(group), " in julia: sum ", total, ", largest ", largest)
