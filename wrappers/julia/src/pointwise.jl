# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Functions of Base that are no ops, in dotted expressions: each is a few ops together.

is_kind(t::Tensor, kind) = eltype(t) <: kind

# ---- Complex numbers ----

# Copies, because the library's real and imag are views.
part_real(t::Tensor) = iscomplex(t) ? clone(real(t)) : t
part_imag(t::Tensor) = iscomplex(t) ? clone(imag(t)) : zeros_like(t)
as_complex(t::Tensor) = iscomplex(t) ? t : astype(t, eltype(t) === Float64 || is_kind(t, Integer) ? ComplexF64 : ComplexF32)
on_circle(t::Tensor) = Base.complex(cos(t), sin(t))

# ---- Numbers of a kind ----

as_floating(t::Tensor) = is_kind(t, Integer) ? astype(t, Float64) : t
remainder_is(t::Tensor, rest) = is_kind(t, Bool) ? equal(t, rest == 1) : equal(remainder(t, 2), rest)
is_even(t::Tensor) = remainder_is(t, 0)
is_odd(t::Tensor) = remainder_is(t, 1)
is_zero(t::Tensor) = equal(t, 0)
is_one(t::Tensor) = equal(t, 1)
ten_to(t::Tensor) = pow(10, t)
next_up(t::Tensor) = nextafter(t, Inf)
next_down(t::Tensor) = nextafter(t, -Inf)

# ---- Integer division ----

ceiled_quotient(a, b) = negative(floor_divide(minus(a), b))
minus(x::Number) = -x
minus(t::Tensor) = negative(t)
from_one(a, b) = add(remainder(a isa Number ? a - 1 : subtract(a, 1), b), 1)  # mod1

for (f, op) in ((:real, :part_real), (:imag, :part_imag), (:complex, :as_complex), (:cis, :on_circle), (:float, :as_floating),
    (:iseven, :is_even), (:isodd, :is_odd), (:iszero, :is_zero), (:isone, :is_one), (:one, :ones_like), (:zero, :zeros_like),
    (:exp10, :ten_to), (:nextfloat, :next_up), (:prevfloat, :next_down))
    @eval operation(::typeof($f), ::Val{1}) = ($op, by_copy($op), false)
end
for (f, op) in ((:cld, :ceiled_quotient), (:mod1, :from_one))
    @eval operation(::typeof($f), ::Val{2}) = ($op, by_copy($op), false)
end

# ---- Functions with one argument given: >(2), as in count(>(2), t) ----

operation(f::Base.Fix2, ::Val{1}) = (t -> broadcast(f.f, t, f.x), by_copy(t -> broadcast(f.f, t, f.x)), false)
operation(f::Base.Fix1, ::Val{1}) = (t -> broadcast(f.f, f.x, t), by_copy(t -> broadcast(f.f, f.x, t)), false)
operation(f::Base.Fix2{typeof(in)}, ::Val{1}) = (t -> is_among(t, f.x), by_copy(t -> is_among(t, f.x)), false)
is_among(t::Tensor, list::Tensor) = isin(t, list)
is_among(t::Tensor, list) = isin(t, Tensor(collect(list); device=device(t)))

Base.float(t::Tensor) = is_kind(t, Integer) ? as_floating(t) : clone(t)
