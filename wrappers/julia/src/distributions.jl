# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Probability distributions, with the names, formulas and errors of Python's tessera.distributions.

"""
Probability distributions: random values, densities, moments and divergences.

A distribution is a batch of independent ones, which differ in their parameters. Parameters are tensors or numbers, and
broadcast as in the other languages: sizes are aligned at the last axis. A sample has the sizes of the draws, then those of
the batch, then those of one value.

```julia
using Tessera.Distributions, Statistics
posterior = Normal(requires_grad!(Tensor([0.0, 1.0])), 0.5)
z = rsample(posterior, 10)  # 10×2; gradients flow to the mean
cost = sum(kl_divergence(posterior, Normal(0, 1))) - mean(log_prob(posterior, z))
```
"""
module Distributions

using ..Tessera: Tessera, Tensor, BFloat16, add, subtract, multiply, divide, square, reciprocal, pow, equal, less, less_equal,
    greater, greater_equal, logical_and, logical_or, choose, clip, xlogy, xlog1py, lgamma, digamma, softplus, sigmoid, softmax,
    logsumexp, negative, gather, matmul, solve_triangular, diagonal, astype, detach, device, eigvalsh, isclose, no_grad, select,
    unsqueeze, narrow, broadcast_to, broadcast_tensors, full, reshape_row_major, multinomial, standard_gamma, bernoulli,
    matrix_transpose, uniform!, exponential!
import ..Tessera: log_prob
using LinearAlgebra: cholesky, tril
import Statistics
using Statistics: mean, var

export Distribution, Normal, Uniform, Exponential, Bernoulli, Categorical, Gamma, Dirichlet, Beta, MultivariateNormal
export sample, rsample, log_prob, entropy, kl_divergence, batch_size, event_size

"""
A batch of independent distributions of one kind. [`sample`](@ref) and [`rsample`](@ref) draw, [`log_prob`](@ref),
[`entropy`](@ref), [`kl_divergence`](@ref), `mean` and `var` compute; [`batch_size`](@ref) and [`event_size`](@ref) are the
sizes of the batch and of one value.
"""
abstract type Distribution end

"The sizes of one value; `()` for distributions of numbers."
event_size(::Distribution) = ()

"""
    sample(distribution, sizes...)

Random values, which take no part in any graph.
"""
sample(d::Distribution, sizes::Integer...) = no_grad(() -> rsample(d, sizes...))

Base.rand(d::Distribution, sizes::Integer...) = sample(d, sizes...)

# ---- Parameters ----

const Value = Union{Tensor,Real}

# The parameters as tensors of one shape; numbers take dtype and device of the tensors.
function together(values::Value...)
    place = findfirst(v -> v isa Tensor, values)
    like = place === nothing ? nothing : values[place]
    return Tuple(broadcast_tensors(Tensor[tensor_of(v, like) for v in values]))
end
tensor_of(t::Tensor, like) = t
tensor_of(x::Real, ::Nothing) = full((), Float64(x))
tensor_of(x::Real, like::Tensor) =
    full((), Float64(x); dtype=eltype(like) <: AbstractFloat ? eltype(like) : nothing, device=device(like))

# What a dtype can represent: the distance of 1 to the next number, the smallest normal number, the largest one.
limits(T::Type{<:Union{Float16,Float32,Float64}}) = Float64.((eps(T), floatmin(T), floatmax(T)))
limits(::Type{BFloat16}) = (2.0^-7, Float64(floatmin(Float32)), (1 - 2.0^-8) * 2.0^128)
limits(T::Type) = throw(ArgumentError("a parameter: expected a floating dtype, got $T"))

function clamp_probs(probs)
    unit = limits(eltype(probs))[1]
    return clip(probs, unit, 1 - unit)
end

# Sums and parts along the last axis.
total(t) = sum(t; dims=ndims(t), keepdims=false)
kept_total(t) = sum(t; dims=ndims(t), keepdims=true)
first_of(t) = select(t, 1; dims=ndims(t))
butlast(sizes::Tuple) = sizes[1:(end - 1)]

drawn_like(f, t, sizes) = f(Tessera.empty(sizes; dtype=eltype(t), device=device(t)))
normal_numbers(t, sizes) = Tessera.randn(sizes; dtype=eltype(t), device=device(t))
sizes_of(d, sizes) = (Int.(sizes)..., batch_size(d)..., event_size(d)...)

# ---- Checks ----

function expect(what, expected, met)
    Bool(all(met)) || throw(ArgumentError("$what: expected $expected, got one outside in a tensor of sizes $(size(met))"))
end
positive(what, t) = expect(what, "numbers above 0", greater(t, 0))
numeric(what, t) = expect(what, "numbers that are not NaN", equal(t, t))
unit(what, t) = expect(what, "numbers from 0 to 1", logical_and(greater_equal(t, 0), less_equal(t, 1)))
with_axes(what, t) = ndims(t) > 0 || throw(DimensionMismatch("$what: expected at least one axis, got sizes ()"))
with_outcomes(what, t) = ndims(t) > 0 && last(size(t)) > 0 ||
    throw(DimensionMismatch("$what: expected weights with at least one axis and one outcome, got sizes $(size(t))"))
# The last axes of a value are those of one value of the distribution.
function with_event(d, x)
    event = event_size(d)
    ndims(x) >= length(event) && size(x)[(end - length(event) + 1):end] == event && return
    throw(DimensionMismatch("$(nameof(typeof(d))): value: expected sizes that end in $event, got $(size(x))"))
end

# ---- Real numbers ----

const LOG_TWO_PI = log(2π)

"""
    Normal(loc, scale)

Density `exp(-z^2 / 2) / (scale sqrt(2π))` with `z = (x - loc) / scale`.
"""
struct Normal <: Distribution
    loc::Tensor
    scale::Tensor
    function Normal(loc::Value, scale::Value)
        loc, scale = together(loc, scale)
        numeric("Normal: loc", loc)
        positive("Normal: scale", scale)
        return new(loc, scale)
    end
end

"The sizes of a batch of distributions."
batch_size(d::Normal) = size(d.loc)
Statistics.mean(d::Normal) = d.loc
Statistics.var(d::Normal) = square(d.scale)

"""
    rsample(distribution, sizes...)

Random values that can be differentiated with respect to the parameters; an `ArgumentError` where values are discrete.
"""
rsample(d::Normal, sizes::Integer...) = add(d.loc, multiply(d.scale, normal_numbers(d.loc, sizes_of(d, sizes))))

"""
    log_prob(distribution, values)

The logarithm of the density, or of the probability, at each value; an `ArgumentError` for values that the distribution
cannot have, a `DimensionMismatch` unless their sizes end in `event_size(distribution)`.
"""
function log_prob(d::Normal, x::Tensor)
    numeric("Normal: value", x)
    z = divide(subtract(x, d.loc), d.scale)
    return subtract(subtract(multiply(square(z), -0.5), log(d.scale)), LOG_TWO_PI / 2)
end

"The entropy of each distribution."
entropy(d::Normal) = add(log(d.scale), 0.5 + LOG_TWO_PI / 2)

"""
    kl_divergence(p, q)

The divergence of Kullback and Leibler of two distributions of one kind.
"""
function kl_divergence(p::Normal, q::Normal)
    ratio = square(divide(p.scale, q.scale))
    shift = square(divide(subtract(p.loc, q.loc), q.scale))
    return multiply(subtract(subtract(add(ratio, shift), 1), log(ratio)), 0.5)
end

"""
    Uniform(low, high)

All numbers from `low` to below `high` are equally likely.
"""
struct Uniform <: Distribution
    low::Tensor
    high::Tensor
    function Uniform(low::Value, high::Value)
        low, high = together(low, high)
        expect("Uniform: high", "numbers above low", less(low, high))
        return new(low, high)
    end
end

width(d::Uniform) = subtract(d.high, d.low)
batch_size(d::Uniform) = size(d.low)
Statistics.mean(d::Uniform) = divide(add(d.high, d.low), 2)
Statistics.var(d::Uniform) = divide(square(width(d)), 12)
rsample(d::Uniform, sizes::Integer...) = add(d.low, multiply(drawn_like(uniform!, d.low, sizes_of(d, sizes)), width(d)))
function log_prob(d::Uniform, x::Tensor)
    expect("Uniform: value", "numbers from low to high", logical_and(greater_equal(x, d.low), less_equal(x, d.high)))
    return choose(less(x, d.high), negative(log(width(d))), -Inf)
end
entropy(d::Uniform) = log(width(d))
function kl_divergence(p::Uniform, q::Uniform)
    inside = logical_and(less_equal(q.low, p.low), greater_equal(q.high, p.high))
    return choose(inside, log(divide(width(q), width(p))), Inf)
end

"""
    Exponential(rate)

Density `rate exp(-rate x)` for `x >= 0`.
"""
struct Exponential <: Distribution
    rate::Tensor
    function Exponential(rate::Value)
        rate, = together(rate)
        positive("Exponential: rate", rate)
        return new(rate)
    end
end

batch_size(d::Exponential) = size(d.rate)
Statistics.mean(d::Exponential) = reciprocal(d.rate)
Statistics.var(d::Exponential) = pow(d.rate, -2)
rsample(d::Exponential, sizes::Integer...) = divide(drawn_like(exponential!, d.rate, sizes_of(d, sizes)), d.rate)
function log_prob(d::Exponential, x::Tensor)
    expect("Exponential: value", "numbers of at least 0", greater_equal(x, 0))
    return subtract(log(d.rate), multiply(d.rate, x))
end
entropy(d::Exponential) = subtract(1, log(d.rate))
function kl_divergence(p::Exponential, q::Exponential)
    ratio = divide(q.rate, p.rate)
    return subtract(subtract(ratio, 1), log(ratio))
end

# ---- Outcomes ----

no_rsample(d) = throw(ArgumentError("$(nameof(typeof(d))) has no rsample"))

"""
    Bernoulli(probs)
    Bernoulli(; logits)

1 with the probability `probs`, else 0; `logits` are log-odds. Both are computed when the distribution is made, with the
gradient mode of that time.
"""
struct Bernoulli <: Distribution
    probs::Tensor
    logits::Tensor
end
function Bernoulli(probs::Value)
    probs, = together(probs)
    unit("Bernoulli: probs", probs)
    inside = clamp_probs(probs)
    return Bernoulli(probs, subtract(log(inside), log1p(negative(inside))))
end
function Bernoulli(; logits::Value)
    logits, = together(logits)
    numeric("Bernoulli: logits", logits)
    return Bernoulli(sigmoid(logits), logits)
end

batch_size(d::Bernoulli) = size(d.probs)
Statistics.mean(d::Bernoulli) = d.probs
Statistics.var(d::Bernoulli) = multiply(d.probs, subtract(1, d.probs))
sample(d::Bernoulli, sizes::Integer...) = no_grad(() -> bernoulli(broadcast_to(d.probs, sizes_of(d, sizes))))
rsample(d::Bernoulli, sizes::Integer...) = no_rsample(d)
function log_prob(d::Bernoulli, x::Tensor)
    expect("Bernoulli: value", "0 or 1", logical_or(equal(x, 0), equal(x, 1)))
    return subtract(multiply(x, d.logits), softplus(d.logits))
end
entropy(d::Bernoulli) = subtract(softplus(d.logits), multiply(d.probs, d.logits))
kl_divergence(p::Bernoulli, q::Bernoulli) =
    add(relative(p.probs, q.probs), relative(subtract(1, p.probs), subtract(1, q.probs)))

# p log(p / q), 0 where p is 0 and infinite where only q is.
relative(p, q) = choose(logical_and(equal(q, 0), greater(p, 0)), Inf, subtract(xlogy(p, p), xlogy(p, q)))

"""
    Categorical(weights)
    Categorical(; logits)

The number of one outcome of several, which count from 0: those of the last axis. Weights are divided by their sum; `logits`
are logarithms of weights. Probabilities and logits are both computed when the distribution is made, with the gradient mode
of that time.
"""
struct Categorical <: Distribution
    probs::Tensor
    logits::Tensor
end
function Categorical(weights::Tensor)
    with_outcomes("Categorical", weights)
    sums = kept_total(weights)
    expect("Categorical: probs", "weights of at least 0 with a finite sum above 0",
        logical_and(greater_equal(weights, 0), logical_and(greater(sums, 0), isfinite(sums))))
    probs = divide(weights, sums)
    return Categorical(probs, log(clamp_probs(probs)))
end
function Categorical(; logits::Tensor)
    with_outcomes("Categorical", logits)
    numeric("Categorical: logits", logits)
    logits = subtract(logits, logsumexp(logits; dims=ndims(logits), keepdims=true))
    return Categorical(softmax(logits; dims=ndims(logits)), logits)
end

outcomes(d::Categorical) = size(d.probs, ndims(d.probs))
batch_size(d::Categorical) = butlast(size(d.probs))
Statistics.mean(d::Categorical) = full(batch_size(d), NaN; dtype=eltype(d.probs), device=device(d.probs))
Statistics.var(d::Categorical) = mean(d)
function sample(d::Categorical, sizes::Integer...)
    found = sizes_of(d, sizes)
    any(==(0), found) && return Tessera.empty(found; dtype=Int64, device=device(d.probs))
    return no_grad() do
        rows = reshape_row_major(d.probs, (-1, outcomes(d)))
        drawn = multinomial(rows, reduce(*, sizes; init=1); replacement=true)
        reshape_row_major(matrix_transpose(drawn), found)
    end
end
rsample(d::Categorical, sizes::Integer...) = no_rsample(d)
function log_prob(d::Categorical, x::Tensor)
    index, count = astype(x, Int64), outcomes(d)
    known = logical_and(greater_equal(index, 0), less(index, count))
    expect("Categorical: value", "whole numbers from 0 to $(count - 1)", logical_and(known, equal(index, x)))
    axis = ndims(d.logits)
    index = broadcast_tensors(Tensor[unsqueeze(index; dims=ndims(index) + 1), narrow(d.logits, 1, 1; dims=axis)])[1]
    logits = broadcast_to(d.logits, (butlast(size(index))..., count))
    return dropdims(gather(logits, index; dims=ndims(index)); dims=ndims(index))
end
# An outcome of probability 0 adds nothing, whatever its logarithm.
entropy(d::Categorical) = negative(total(multiply(d.probs, clip(d.logits, -limits(eltype(d.logits))[3], nothing))))
function kl_divergence(p::Categorical, q::Categorical)
    terms = multiply(p.probs, subtract(p.logits, q.logits))
    terms = choose(logical_and(equal(q.probs, 0), greater(p.probs, 0)), Inf, terms)
    return total(choose(equal(p.probs, 0), 0.0, terms))
end

# ---- Gamma numbers ----

# Gamma numbers of rate 1, none of them 0.
gamma_numbers(concentration, sizes) =
    clip(standard_gamma(broadcast_to(concentration, sizes)), limits(eltype(concentration))[2], nothing)

"""
    Gamma(concentration, rate)

Density `rate^a x^(a - 1) exp(-rate x) / gamma(a)` with the concentration `a`.
"""
struct Gamma <: Distribution
    concentration::Tensor
    rate::Tensor
    function Gamma(concentration::Value, rate::Value)
        concentration, rate = together(concentration, rate)
        positive("Gamma: concentration", concentration)
        positive("Gamma: rate", rate)
        return new(concentration, rate)
    end
end

batch_size(d::Gamma) = size(d.rate)
Statistics.mean(d::Gamma) = divide(d.concentration, d.rate)
Statistics.var(d::Gamma) = divide(d.concentration, square(d.rate))
rsample(d::Gamma, sizes::Integer...) =
    clip(divide(gamma_numbers(d.concentration, sizes_of(d, sizes)), d.rate), limits(eltype(d.rate))[2], nothing)
function log_prob(d::Gamma, x::Tensor)
    expect("Gamma: value", "numbers of at least 0", greater_equal(x, 0))
    factor = subtract(xlogy(d.concentration, d.rate), lgamma(d.concentration))
    return subtract(add(factor, xlogy(subtract(d.concentration, 1), x)), multiply(d.rate, x))
end
function entropy(d::Gamma)
    a = d.concentration
    return add(add(subtract(a, log(d.rate)), lgamma(a)), multiply(subtract(1, a), digamma(a)))
end
function kl_divergence(p::Gamma, q::Gamma)
    a, b = p.concentration, q.concentration
    factor = subtract(add(multiply(b, log(divide(p.rate, q.rate))), lgamma(b)), lgamma(a))
    means = multiply(subtract(q.rate, p.rate), divide(a, p.rate))
    return add(add(factor, multiply(subtract(a, b), digamma(a))), means)
end

"""
    Dirichlet(concentration)

Shares that add up to 1, along the last axis: gamma numbers divided by their sum.
"""
struct Dirichlet <: Distribution
    concentration::Tensor
    function Dirichlet(concentration::Tensor)
        with_axes("Dirichlet", concentration)
        positive("Dirichlet: concentration", concentration)
        return new(concentration)
    end
end

batch_size(d::Dirichlet) = butlast(size(d.concentration))
event_size(d::Dirichlet) = (size(d.concentration, ndims(d.concentration)),)
Statistics.mean(d::Dirichlet) = divide(d.concentration, kept_total(d.concentration))
function Statistics.var(d::Dirichlet)
    a, sums = d.concentration, kept_total(d.concentration)
    return divide(multiply(a, subtract(sums, a)), multiply(square(sums), add(sums, 1)))
end
function rsample(d::Dirichlet, sizes::Integer...)
    drawn = gamma_numbers(d.concentration, sizes_of(d, sizes))
    return divide(drawn, kept_total(drawn))
end
function log_prob(d::Dirichlet, x::Tensor)
    with_event(d, x)
    off = abs(subtract(kept_total(x), 1))
    expect("Dirichlet: value", "shares that add up to 1", logical_and(greater_equal(x, 0), less(off, 1e-6)))
    return subtract(total(xlogy(subtract(d.concentration, 1), x)), log_beta(d))
end
entropy(d::Dirichlet) = subtract(log_beta(d), total(multiply(subtract(d.concentration, 1), mean_logs(d))))
kl_divergence(p::Dirichlet, q::Dirichlet) =
    add(subtract(log_beta(q), log_beta(p)), total(multiply(subtract(p.concentration, q.concentration), mean_logs(p))))

# The logarithm of the beta function of several variables, the factor of the density.
log_beta(d::Dirichlet) = subtract(total(lgamma(d.concentration)), lgamma(total(d.concentration)))
# The means of the logarithms of the shares.
mean_logs(d::Dirichlet) = subtract(digamma(d.concentration), digamma(kept_total(d.concentration)))

"""
    Beta(concentration1, concentration0)

Density `x^(a - 1) (1 - x)^(b - 1) / B(a, b)`: the first share of a [`Dirichlet`](@ref) distribution of two.
"""
struct Beta <: Distribution
    concentration1::Tensor
    concentration0::Tensor
    both::Dirichlet
    function Beta(concentration1::Value, concentration0::Value)
        a, b = together(concentration1, concentration0)
        positive("Beta: concentration1", a)
        positive("Beta: concentration0", b)
        return new(a, b, Dirichlet(Tessera.stack((a, b); dims=ndims(a) + 1)))
    end
end

batch_size(d::Beta) = size(d.concentration1)
Statistics.mean(d::Beta) = first_of(mean(d.both))
Statistics.var(d::Beta) = first_of(var(d.both))
rsample(d::Beta, sizes::Integer...) = clamp_probs(first_of(rsample(d.both, sizes...)))
function log_prob(d::Beta, x::Tensor)
    unit("Beta: value", x)
    low, high = xlogy(subtract(d.concentration1, 1), x), xlog1py(subtract(d.concentration0, 1), negative(x))
    return subtract(add(low, high), log_beta(d.both))
end
entropy(d::Beta) = entropy(d.both)
kl_divergence(p::Beta, q::Beta) = kl_divergence(p.both, q.both)

# ---- Vectors ----

"""
    MultivariateNormal(loc, covariance)
    MultivariateNormal(loc; scale_tril)

Normal vectors: means of sizes (..., n) and a positive definite covariance of sizes (..., n, n), or its lower triangular
factor, whose diagonal is above 0.
"""
struct MultivariateNormal <: Distribution
    loc::Tensor
    scale_tril::Tensor
    function MultivariateNormal(loc::Tensor; scale_tril::Tensor)
        check_shapes(loc, scale_tril)
        numeric("MultivariateNormal: loc", loc)
        expect("MultivariateNormal: scale_tril", "a lower triangular matrix", equal(scale_tril, tril(scale_tril)))
        expect("MultivariateNormal: scale_tril", "a diagonal above 0", greater(last_diagonal(scale_tril), 0))
        batch, n = size(broadcast_tensors(Tensor[first_of(loc), first_of(first_of(scale_tril))])[1]), size(loc, ndims(loc))
        return new(broadcast_to(loc, (batch..., n)), broadcast_to(scale_tril, (batch..., n, n)))
    end
end
function MultivariateNormal(loc::Tensor, covariance::Tensor)
    check_shapes(loc, covariance)
    matrix = detach(covariance)
    expect("MultivariateNormal: covariance", "a symmetric matrix",
        isclose(matrix, matrix_transpose(matrix); rtol=1e-5, atol=1e-6))
    expect("MultivariateNormal: covariance", "a positive definite matrix (eigenvalues above 0)",
        greater(eigvalsh(matrix), 0))
    return MultivariateNormal(loc; scale_tril=cholesky(covariance))
end

function check_shapes(loc, matrix)
    n = ndims(loc) > 0 ? size(loc, ndims(loc)) : 0
    n > 0 && ndims(matrix) > 1 && size(matrix)[(end - 1):end] == (n, n) || throw(DimensionMismatch("MultivariateNormal: " *
        "expected a vector loc and a square matrix of its length, got sizes $(size(loc)) and $(size(matrix))"))
end
last_diagonal(matrix) = diagonal(matrix; dim1=ndims(matrix) - 1, dim2=ndims(matrix))
# The logarithm of the determinant of the factor.
half_log_det(d::MultivariateNormal) = total(log(last_diagonal(d.scale_tril)))
squares(t) = total(total(square(t)))
# The squared length of the factor's inverse times vectors.
function distance(d::MultivariateNormal, difference)
    sizes = size(broadcast_tensors(Tensor[first_of(d.scale_tril), difference])[1])
    column = unsqueeze(broadcast_to(difference, sizes); dims=length(sizes) + 1)
    return squares(solve_triangular(broadcast_to(d.scale_tril, (sizes..., last(sizes))), column, false))
end

batch_size(d::MultivariateNormal) = butlast(size(d.loc))
event_size(d::MultivariateNormal) = (size(d.loc, ndims(d.loc)),)
Statistics.mean(d::MultivariateNormal) = d.loc
Statistics.var(d::MultivariateNormal) = total(square(d.scale_tril))
function rsample(d::MultivariateNormal, sizes::Integer...)
    drawn = normal_numbers(d.loc, sizes_of(d, sizes))
    moved = matmul(d.scale_tril, unsqueeze(drawn; dims=ndims(drawn) + 1))
    return add(d.loc, dropdims(moved; dims=ndims(moved)))
end
function log_prob(d::MultivariateNormal, x::Tensor)
    with_event(d, x)
    numeric("MultivariateNormal: value", x)
    exponent = multiply(distance(d, subtract(x, d.loc)), -0.5)
    return subtract(subtract(exponent, half_log_det(d)), event_size(d)[1] * LOG_TWO_PI / 2)
end
entropy(d::MultivariateNormal) = add(half_log_det(d), event_size(d)[1] * (1 + LOG_TWO_PI) / 2)
function kl_divergence(p::MultivariateNormal, q::MultivariateNormal)
    n = event_size(p)[1]
    event_size(q) == (n,) ||
        throw(DimensionMismatch("kl_divergence: expected vectors of one length, got $n and $(event_size(q)[1])"))
    own, other = broadcast_tensors(Tensor[p.scale_tril, q.scale_tril])
    squared = add(squares(solve_triangular(other, own, false)), distance(q, subtract(q.loc, p.loc)))
    return add(subtract(half_log_det(q), half_log_det(p)), multiply(subtract(squared, n), 0.5))
end

end
