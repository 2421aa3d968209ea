# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Functions of Base that go through a collection, as ops where there is one.

Base.extrema(t::Tensor; options...) = (minimum(t; options...), maximum(t; options...))
Base.count(t::Tensor; options...) = count_nonzero(t; options...)
Base.map(f, t::Tensor) = broadcast(f, t)

# sum(abs2, t): f must be an op, as in abs2.(t).
for reduction in (:sum, :prod, :maximum, :minimum, :any, :all, :count)
    @eval Base.$reduction(f, t::Tensor; options...) = $reduction(broadcast(f, t); options...)
end

"The places of a mask that are true, counted from 1 as in an array."
Base.findall(mask::Tensor) = findall(Array(mask))
Base.keys(t::Tensor) = ndims(t) == 1 ? Base.OneTo(length(t)) : CartesianIndices(t)
