# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Schedules of learning rates: functions of the initial rate and the number of the step.

"""
A function of the initial rate and the step, counted from 0. Those here have the options and defaults of PyTorch's
schedulers; any function of these two is one, too.
"""
abstract type Schedule end

# Half a cosine from `from` to `to` while the share goes from 0 to 1.
cosine(from, to, share) = to + (from - to) * (1 + cos(pi * share)) / 2
share(step, whole) = min(step, whole) / whole

function at_least(option, least, value)
    value >= least || throw(ArgumentError("$option: expected at least $least, got $value"))
    return value
end

"Times `gamma` every `step_size` steps."
Base.@kwdef struct StepLR <: Schedule
    step_size::Int
    gamma::Float64 = 0.1
    StepLR(step_size, gamma) = new(at_least("StepLR: step_size", 1, step_size), gamma)
end
(s::StepLR)(base, step) = base * s.gamma^(step ÷ s.step_size)

"Times `gamma` at each of the milestones."
Base.@kwdef struct MultiStepLR <: Schedule
    milestones::Vector{Int}
    gamma::Float64 = 0.1
end
(s::MultiStepLR)(base, step) = base * s.gamma^count(<=(step), s.milestones)

"Times `factor` until step `total_iters`."
Base.@kwdef struct ConstantLR <: Schedule
    factor::Float64 = 1 / 3
    total_iters::Int = 5
end
(s::ConstantLR)(base, step) = step >= s.total_iters ? base : base * s.factor

"Times a factor that goes from `start_factor` to `end_factor` in `total_iters` steps."
Base.@kwdef struct LinearLR <: Schedule
    start_factor::Float64 = 1 / 3
    end_factor::Float64 = 1.0
    total_iters::Int = 5
    LinearLR(start_factor, end_factor, total_iters) =
        new(start_factor, end_factor, at_least("LinearLR: total_iters", 1, total_iters))
end
(s::LinearLR)(base, step) =
    base * (s.start_factor + (s.end_factor - s.start_factor) * share(step, s.total_iters))

"Times `gamma` at each step."
Base.@kwdef struct ExponentialLR <: Schedule
    gamma::Float64
end
(s::ExponentialLR)(base, step) = base * s.gamma^step

"Falls as `(1 - step / total_iters)^power` to 0."
Base.@kwdef struct PolynomialLR <: Schedule
    total_iters::Int = 5
    power::Float64 = 1.0
    PolynomialLR(total_iters, power) = new(at_least("PolynomialLR: total_iters", 1, total_iters), power)
end
(s::PolynomialLR)(base, step) = base * (1 - share(step, s.total_iters))^s.power

"Half a cosine from the initial rate to `eta_min` in `T_max` steps, and back."
Base.@kwdef struct CosineAnnealingLR <: Schedule
    T_max::Int
    eta_min::Float64 = 0.0
    CosineAnnealingLR(T_max, eta_min) = new(at_least("CosineAnnealingLR: T_max", 1, T_max), eta_min)
end
(s::CosineAnnealingLR)(base, step) = cosine(base, s.eta_min, step / s.T_max)

"Half a cosine in `T_0` steps, then again in `T_mult` times as many, and so on."
Base.@kwdef struct CosineAnnealingWarmRestarts <: Schedule
    T_0::Int
    T_mult::Int = 1
    eta_min::Float64 = 0.0
    CosineAnnealingWarmRestarts(T_0, T_mult, eta_min) =
        new(at_least("CosineAnnealingWarmRestarts: T_0", 1, T_0),
            at_least("CosineAnnealingWarmRestarts: T_mult", 1, T_mult), eta_min)
end
function (s::CosineAnnealingWarmRestarts)(base, step)
    place, length = s.T_mult == 1 ? step % s.T_0 : step, s.T_0
    while place >= length
        place -= length
        length *= s.T_mult
    end
    return cosine(base, s.eta_min, place / length)
end

"""
Triangles between `base_lr` and `max_lr`, whose tops are of one height (`mode=:triangular`), of half the height before
(`:triangular2`), or of the height `gamma^step` (`:exp_range`).
"""
Base.@kwdef struct CyclicLR <: Schedule
    base_lr::Float64
    max_lr::Float64
    step_size_up::Int = 2000
    step_size_down::Int = step_size_up
    mode::Symbol = :triangular
    gamma::Float64 = 1.0
    function CyclicLR(base_lr, max_lr, step_size_up, step_size_down, mode, gamma)
        mode in (:triangular, :triangular2, :exp_range) || throw(ArgumentError(
            "CyclicLR: expected the mode :triangular, :triangular2 or :exp_range, got $(repr(mode))"))
        return new(base_lr, max_lr, at_least("CyclicLR: step_size_up", 1, step_size_up),
            at_least("CyclicLR: step_size_down", 0, step_size_down), mode, gamma)
    end
end
function (s::CyclicLR)(base, step)
    cycle, place = divrem(step, s.step_size_up + s.step_size_down)
    rises = place <= s.step_size_up
    height = rises ? place / s.step_size_up : 1 - (place - s.step_size_up) / s.step_size_down
    scale = s.mode === :triangular ? 1.0 : s.mode === :triangular2 ? 0.5^cycle : s.gamma^step
    return s.base_lr + (s.max_lr - s.base_lr) * height * scale
end

"""
One rise from `max_lr / div_factor` to `max_lr` in the share `pct_start` of the steps, and a fall to
`1 / final_div_factor` of the start; in three phases the fall pauses at the start's rate.
"""
Base.@kwdef struct OneCycleLR <: Schedule
    max_lr::Float64
    total_steps::Int
    pct_start::Float64 = 0.3
    linear::Bool = false
    div_factor::Float64 = 25.0
    final_div_factor::Float64 = 1e4
    three_phase::Bool = false
    function OneCycleLR(max_lr, total_steps, pct_start, rest...)
        0 <= pct_start <= 1 || throw(ArgumentError(
            "OneCycleLR: pct_start: expected a number from 0 to 1, got $pct_start"))
        return new(max_lr, at_least("OneCycleLR: total_steps", 1, total_steps), pct_start, rest...)
    end
end
function (s::OneCycleLR)(base, step)
    step <= s.total_steps ||
        throw(ArgumentError("OneCycleLR: expected at most $(s.total_steps) steps, got $step"))
    first_rate = s.max_lr / s.div_factor
    least = first_rate / s.final_div_factor
    top, last_step = s.pct_start * s.total_steps - 1, s.total_steps - 1
    function between(from, to, place, length)
        share = length > 0 ? place / length : 1.0 # a phase without length is at its end
        return s.linear ? from + (to - from) * share : cosine(from, to, share)
    end
    step <= top && return between(first_rate, s.max_lr, step, top)
    s.three_phase || return between(s.max_lr, least, step - top, last_step - top)
    step <= 2top && return between(s.max_lr, first_rate, step - top, top)
    return between(first_rate, least, step - 2top, last_step - 2top)
end

"""
One schedule after the other: the next begins with its step 0 at each of the milestones, which do not fall and are one
fewer.
"""
struct SequentialLR <: Schedule
    schedules::Vector{Any}
    milestones::Vector{Int}
    function SequentialLR(schedules, milestones)
        length(schedules) == length(milestones) + 1 || throw(ArgumentError(
            "SequentialLR: expected one milestone fewer than the $(length(schedules)) schedules, " *
            "got $(length(milestones))"))
        issorted(milestones) || throw(ArgumentError(
            "SequentialLR: expected milestones that do not fall, got $milestones"))
        return new(collect(Any, schedules), milestones)
    end
end
function (s::SequentialLR)(base, step)
    number = count(<=(step), s.milestones)
    return s.schedules[number+1](base, number == 0 ? step : step - s.milestones[number])
end

"Several schedules at once: each changes the rate that the one before gives."
struct ChainedScheduler <: Schedule
    schedules::Vector{Any}
    ChainedScheduler(schedules) = new(collect(Any, schedules))
end
(s::ChainedScheduler)(base, step) = foldl((rate, schedule) -> schedule(rate, step), s.schedules; init=base)

"At each step times a function of its number; step 0 has the initial rate."
struct MultiplicativeLR{F} <: Schedule
    factor::F
end
(s::MultiplicativeLR)(base, step) = foldl((rate, i) -> rate * s.factor(i), 1:step; init=base)

"""
    Scheduler(state, schedule)

Sets the rates of an optimizer's groups by a schedule: those of step 0 at once, those of the next step with
[`step!`](@ref).
"""
mutable struct Scheduler{S}
    state::OptimizerState
    schedule::S
    initial::Vector{Float64}
    step::Int
    function Scheduler(state::OptimizerState, schedule::S) where {S}
        initial = [Float64(rule(state, group).lr) for group in 1:group_count(state)]
        return step!(new{S}(state, schedule, initial, -1))
    end
end

"Goes to the next step, or to the step with this number."
function step!(scheduler::Scheduler, step::Integer=scheduler.step + 1)
    for (group, base) in enumerate(scheduler.initial)
        adjust!(scheduler.state; group, lr=scheduler.schedule(base, step))
    end
    scheduler.step = step
    return scheduler
end

"""
    ReduceLROnPlateau(state; mode=:min, factor=0.1, patience=10, threshold=1e-4, threshold_mode=:rel, cooldown=0,
        min_lr=0.0, eps=1e-8)

Times `factor` when a measure, such as the loss of held-out samples, has not become better for `patience` steps:
`step!(plateau, measure)`. A measure is better if it is lower (of `mode=:max`, higher) than the best by the share
`threshold`, or with `threshold_mode=:abs` by that difference. `cooldown` steps after a change do not count. A
checkpoint keeps the fields `best`, `bad_steps` and `cooling`.
"""
Base.@kwdef mutable struct ReduceLROnPlateau
    state::OptimizerState
    mode::Symbol = :min
    factor::Float64 = 0.1
    patience::Int = 10
    threshold::Float64 = 1e-4
    threshold_mode::Symbol = :rel
    cooldown::Int = 0
    min_lr::Float64 = 0.0
    eps::Float64 = 1e-8
    best::Float64 = mode === :max ? -Inf : Inf
    bad_steps::Int = 0
    cooling::Int = 0
end

function ReduceLROnPlateau(state::OptimizerState; options...)
    plateau = ReduceLROnPlateau(; state, options...)
    plateau.factor < 1 ||
        throw(ArgumentError("ReduceLROnPlateau: factor: expected a number below 1, got $(plateau.factor)"))
    plateau.mode in (:min, :max) ||
        throw(ArgumentError("ReduceLROnPlateau: mode: expected :min or :max, got $(repr(plateau.mode))"))
    plateau.threshold_mode in (:rel, :abs) || throw(ArgumentError(
        "ReduceLROnPlateau: threshold_mode: expected :rel or :abs, got $(repr(plateau.threshold_mode))"))
    return plateau
end

function is_better(p::ReduceLROnPlateau, measure)
    margin = p.mode === :max ? -p.threshold : p.threshold
    bound = p.threshold_mode === :abs ? p.best - margin : p.best * (1 - margin)
    return p.mode === :max ? measure > bound : measure < bound
end

"Takes the measure of a step, and changes the rates of all groups if it is time."
function step!(p::ReduceLROnPlateau, measure::Real)
    if is_better(p, measure)
        p.best, p.bad_steps = measure, 0
    else
        p.bad_steps += 1
    end
    if p.cooling > 0
        p.cooling, p.bad_steps = p.cooling - 1, 0
    end
    p.bad_steps > p.patience || return p
    p.cooling, p.bad_steps = p.cooldown, 0
    for group in 1:group_count(p.state)
        before = rule(p.state, group).lr
        rate = max(before * p.factor, p.min_lr)
        before - rate > p.eps && adjust!(p.state; group, lr=rate)
    end
    return p
end
step!(p::ReduceLROnPlateau, measure::Tensor) = step!(p, Float64(measure))
