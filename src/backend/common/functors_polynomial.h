// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Functors of orthogonal polynomials of x and their degree n, a whole number (see Note [Functors]).
// Their recurrences in three terms (Abramowitz and Stegun, Handbook of Mathematical
// Functions, 22.7) add up errors, so they run in double. Degrees below 0 give 0.
#pragma once

#include "backend/common/functor_types.h"

namespace tsr::math {

// A recurrence from p(0) = 1, by p(1) = first(x) and p(k + 1) = next(x, p(k), p(k - 1), k), up to
// the degree of each lane. Lanes that have reached theirs keep their value, so that nothing
// overflows beyond it.
template <class Steps>
struct Recurrence {
  Steps steps;

  template <class V>
  [[gnu::always_inline]] TSR_HD V operator()(V x, V n) const {
    V before(1.0);
    V value = select(n >= V(1.0), steps.first(x), before);
    const double highest = largest_lane(n);
    for (double k = 1; k < highest; k += 1) {
      const V next = steps.next(x, value, before, k);
      before = value;
      value = select(n > V(k), next, value);
    }
    return select(n < V(0.0), V(0.0), value);
  }
};

// All kinds step by p(k + 1) = 2 y p(k) - p(k - 1) for y = stretch x + 1 - stretch.
template <bool kOfFirstKind>
struct ChebyshevSteps {
  double start, stretch;

  template <class V>
  [[gnu::always_inline]] TSR_HD V twice(V x) const {
    return fma(V(2 * stretch), x, V(2 - 2 * stretch));
  }
  template <class V>
  [[gnu::always_inline]] TSR_HD V first(V x) const {
    return kOfFirstKind ? V(0.5) * twice(x) : twice(x) + V(start);
  }
  template <class V>
  [[gnu::always_inline]] TSR_HD V next(V x, V value, V before, double) const {
    return fma(twice(x), value, -before);
  }
};

// T of y = p0 x + 1 - p0.
struct ChebyshevFirstKind {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V n, V stretch) const {
    return in_wide_lanes(x, n, Recurrence<ChebyshevSteps<true>>{{0, first_lane(stretch)}});
  }
};
// U, V or W of y = p1 x + 1 - p1: those whose p(1) is 2 y + p0.
struct ChebyshevOtherKinds {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V n, V start, V stretch) const {
    return in_wide_lanes(
        x, n, Recurrence<ChebyshevSteps<false>>{{first_lane(start), first_lane(stretch)}});
  }
};

// C of order p0 of y = p1 x + 1 - p1; Legendre's polynomials are those of order 1/2.
struct GegenbauerSteps {
  double order, stretch;

  template <class V>
  [[gnu::always_inline]] TSR_HD V mapped(V x) const {
    return fma(V(stretch), x, V(1 - stretch));
  }
  template <class V>
  [[gnu::always_inline]] TSR_HD V first(V x) const {
    return V(2 * order) * mapped(x);
  }
  template <class V>
  [[gnu::always_inline]] TSR_HD V next(V x, V value, V before, double k) const {
    const double share = 1 / (k + 1);
    return fma(V(2 * (k + order) * share) * mapped(x), value,
               V(-(k + 2 * order - 1) * share) * before);
  }
};
struct Gegenbauer {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V n, V order, V stretch) const {
    return in_wide_lanes(x, n,
                         Recurrence<GegenbauerSteps>{{first_lane(order), first_lane(stretch)}});
  }
};

// H (p0 = 2) or He (p0 = 1).
struct HermiteSteps {
  double factor;

  template <class V>
  [[gnu::always_inline]] TSR_HD V first(V x) const {
    return V(factor) * x;
  }
  template <class V>
  [[gnu::always_inline]] TSR_HD V next(V x, V value, V before, double k) const {
    return fma(V(factor) * x, value, V(-factor * k) * before);
  }
};
struct Hermite {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V n, V factor) const {
    return in_wide_lanes(x, n, Recurrence<HermiteSteps>{{first_lane(factor)}});
  }
};

// L of order p0.
struct LaguerreSteps {
  double order;

  template <class V>
  [[gnu::always_inline]] TSR_HD V first(V x) const {
    return V(1 + order) - x;
  }
  template <class V>
  [[gnu::always_inline]] TSR_HD V next(V x, V value, V before, double k) const {
    const double share = 1 / (k + 1);
    return fma(V(share) * (V(2 * k + 1 + order) - x), value, V(-(k + order) * share) * before);
  }
};
struct Laguerre {
  static constexpr unsigned kTypes = kReal;
  template <class V>
  TSR_HD V operator()(V x, V n, V order) const {
    return in_wide_lanes(x, n, Recurrence<LaguerreSteps>{{first_lane(order)}});
  }
};

}  // namespace tsr::math
