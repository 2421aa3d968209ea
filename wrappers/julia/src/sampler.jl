# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# DistributedSampler: the samples of one of several ranks.

"""
    DistributedSampler(count, ranks, rank; shuffle=true, seed=0, drop_last=false)

Every sample on one rank: rank r, from 0, has each `ranks`-th of an order that all ranks share, in every language. The order is
random if `shuffle`, and another one for each epoch that `set_epoch!` announces. So that all ranks have equally many, the
first samples are repeated at the end, or with `drop_last` the last ones are left out. For the `sampler` of a
[`DataLoader`](@ref).
"""
mutable struct DistributedSampler
    count::Int
    ranks::Int
    rank::Int
    shuffle::Bool
    seed::Int
    drop_last::Bool
    epoch::Int

    function DistributedSampler(count::Integer, ranks::Integer, rank::Integer; shuffle::Bool=true, seed::Integer=0,
            drop_last::Bool=false)
        0 <= rank < ranks || throw(ArgumentError("DistributedSampler: expected a rank from 0 below $ranks, got $rank"))
        return new(count, ranks, rank, shuffle, seed, drop_last, 0)
    end
end

"Gives the next pass another order, the same on all ranks."
set_epoch!(s::DistributedSampler, epoch::Integer) = (s.epoch = epoch; s)

Base.length(s::DistributedSampler) = s.drop_last ? s.count ÷ s.ranks : cld(s.count, s.ranks)

"The positions of this rank's samples in the epoch, from 1."
positions(s::DistributedSampler) = Array(zero_based_positions(s)) .+ 1

function zero_based_positions(s::DistributedSampler)
    out = Ref{tsr_tensor}()
    seed = s.shuffle ? s.seed + s.epoch : typemin(Int64)
    check(C.tsr_rank_positions(s.count, s.ranks, s.rank, seed, s.drop_last, out))
    return wrap(out[])
end
