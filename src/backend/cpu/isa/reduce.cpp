// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The reductions of one instruction-set level: every fold over the types it is written for. The
// states of float32 are float64.
#include "backend/common/generated/visit_reduce.h"
#include "backend/cpu/isa/find.h"
#include "backend/cpu/isa/reduce_fold_pairs.h"
#include "backend/cpu/isa/reduce_narrow.h"
#include "backend/cpu/isa/reduce_short.h"
#include "backend/cpu/isa/reduce_sum_complex.h"

namespace tsr::cpu::TSR_ISA {
namespace {

// ---- States in memory: word w of result j is words[w * width + j] ----

template <class State>
inline constexpr int kWords = sizeof(State) / sizeof(int64_t);
template <class State>
State read_state(const void* states, int64_t j, int64_t width) {
  static_assert(kWords<State> <= kMaxWords);
  int64_t words[kMaxWords];
  for (int w = 0; w < kWords<State>; ++w)
    words[w] = static_cast<const int64_t*>(states)[w * width + j];
  State state;
  __builtin_memcpy(&state, words, sizeof(State));
  return state;
}
template <class State>
void write_state(const State& state, void* states, int64_t j, int64_t width) {
  int64_t words[kMaxWords];
  __builtin_memcpy(words, &state, sizeof(State));
  for (int w = 0; w < kWords<State>; ++w) static_cast<int64_t*>(states)[w * width + j] = words[w];
}

template <class Loops>
void start_states(int64_t count, void* states, int64_t width) {
  for (int64_t j = 0; j < count; ++j) write_state(Loops::start(), states, j, width);
}
template <class Loops>
void merge_states(int64_t count, void* states, int64_t elements, const void* other,
                  int64_t other_elements, int64_t width) {
  using State = typename Loops::State;
  int64_t j = 0;
  if constexpr (requires { requires Loops::kMergesBySum; }) {
    using S = typename Loops::Vector;
    auto* into = static_cast<typename S::Element*>(states);
    const auto* from = static_cast<const typename S::Element*>(other);
    for (; j + S::kSize <= count; j += S::kSize) {
      for (int64_t w = j; w < j + kWords<State> * width; w += width)
        (S::load(into + w) + S::load(from + w)).store(into + w);
    }
  }
  for (; j < count; ++j) {
    const State joined = Loops::merge(read_state<State>(states, j, width), elements,
                                      read_state<State>(other, j, width), other_elements);
    write_state(joined, states, j, width);
  }
}

// ---- From a fold to the kernel of a dtype ----

template <class Loops>
using ResultOf = decltype(Loops::finish(typename Loops::State(), 0, 0.0));
template <class Result>
inline constexpr DType kResult = dtype_of<Result>();
template <>
inline constexpr DType kResult<math::Complex<double>> = DType::kComplex128;

template <class Loops>
void finish_states(const kernel::ReducePlan& plan, int64_t count, const void* states, int64_t width,
                   void* results) {
  const double p = first_parameter(plan.params);
  for (int64_t j = 0; j < count; ++j) {
    static_cast<ResultOf<Loops>*>(results)[j] =
        Loops::finish(read_state<typename Loops::State>(states, j, width), plan.reduced_numel, p);
  }
}

// Loops that take one row at a time.
template <class Loops>
void across_by_row(int64_t count, AcrossRows rows, int64_t before, void* state, int64_t width,
                   const Parameter* params) {
  const auto* row = static_cast<const char*>(rows.first);
  for (int64_t r = 0; r < rows.count; ++r, row += rows.step)
    Loops::across_row(count, row, before + r, state, width, params);
}
template <class Loops>
constexpr auto across_of() {
  if constexpr (requires { &Loops::across; })
    return &Loops::across;
  else
    return &across_by_row<Loops>;
}

// Rows side by side where the loops take them so.
template <class Loops>
void along_rows(int64_t rows, int64_t count, const void* in, int64_t step, void* states,
                int64_t width, const Parameter* params) {
  if constexpr (requires { &Loops::along_rows; })
    return Loops::along_rows(rows, count, in, step, states, width, params);
  const auto* row = static_cast<const char*>(in);
  auto* state = static_cast<typename Loops::State*>(states);
  int64_t r = 0;
  if constexpr (requires { requires Loops::kPairs; }) {
    for (; r + 2 <= rows; r += 2) Loops::along_pair(count, row + r * step, step, state + r, params);
  }
  for (; r < rows; ++r) Loops::along(count, row + r * step, 0, state + r, params);
}

// The loops whose functions of states these share: those of the same fold and state.
template <class Loops>
struct StatesOf {
  using type = Loops;
};
template <class Loops>
requires requires {
  typename Loops::States;
}
struct StatesOf<Loops> {
  using type = typename Loops::States;
};

template <class Loops>
ReduceKernel make_kernel(DType element) {
  using States = typename StatesOf<Loops>::type;
  ReduceKernel kernel{};
  kernel.along = &Loops::along;
  if constexpr (kWords<typename Loops::State> == 1 || requires { &Loops::along_rows; })
    kernel.along_rows = &along_rows<Loops>;
  kernel.across = across_of<Loops>();
  kernel.start = &start_states<States>;
  kernel.merge = &merge_states<States>;
  kernel.finish = &finish_states<States>;
  kernel.element = element;
  kernel.result = kResult<ResultOf<States>>;
  kernel.words = kWords<typename States::State>;
  if constexpr (requires { Loops::kShortRow; }) kernel.short_row = Loops::kShortRow;
  return kernel;
}

// The loops of fold F over real elements of T. A fold whose state is a struct has a specialisation.
template <class F, class T, class S>
struct LoopsOf {
  using type = OneNumber<F, T, S>;
};
template <class F>
requires kIsPlainSum<F>
struct LoopsOf<F, float, VD> {
  using type = FloatSumLoops<F>;
};
template <class T>
requires std::is_floating_point_v<T>
struct LoopsOf<math::Nansum, T, VD> {
  using type = NansumLoops<T>;
};
template <class T, class S>
struct LoopsOf<math::Var, T, S> {
  using type = VarianceLoops<T>;
};
template <class T, class S>
struct LoopsOf<math::Logsumexp, T, S> {
  using type = LogsumexpLoops<T>;
};
template <class F, class T, class S>
requires requires {
  typename F::PositionOf;
}
struct LoopsOf<F, T, S> {
  using type = PositionLoops<typename F::PositionOf, T, S>;
};

// 16-bit floats and small integers widen, unless the fold has loops for them.
template <class F>
DType wide_element(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return kHasShortLoops<F> ? dtype : DType::kFloat32;
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kComplex64:
    case DType::kComplex128:
    case DType::kUInt64:
      return dtype;
    default:
      return kHasNarrowLoops<F> ? dtype : DType::kInt64;
  }
}

// The kernel of fold F over elements of T; without functions where there is none.
template <class F, class T>
ReduceKernel kernel_of(DType element) {
  constexpr auto kHas = [](unsigned types) { return (F::kTypes & types) != 0; };
  if constexpr (kIsShort<T>) {
    if constexpr (kHasShortLoops<F>) return make_kernel<ShortLoops<F, T>>(element);
  } else if constexpr (std::is_floating_point_v<T>) {
    if constexpr (kHas(math::kReal)) return make_kernel<typename LoopsOf<F, T, VD>::type>(element);
  } else if constexpr (sizeof(T) < sizeof(int64_t)) {
    if constexpr (kHasNarrowLoops<F>) return make_kernel<NarrowExtremum<F, T>>(element);
  } else if constexpr (kHas(math::kIntegers | math::kSignless)) {
    return make_kernel<typename LoopsOf<F, T, Vec<T>>::type>(element);
  }
  return {};
}
template <class F, class T>
ReduceKernel complex_kernel(DType element) {
  if constexpr (kIsPlainSum<F>)
    return make_kernel<ComplexSumLoops<F, T>>(element);
  else if constexpr ((F::kTypes & math::kComplexes) != 0)
    return make_kernel<OneComplex<F, T>>(element);
  return {};
}

template <class F>
ReduceKernel find_fold(DType element) {
  // A fold that has no code of its own for unsigned integers takes that of signed ones.
  using Longest = std::conditional_t<(F::kTypes & math::kIntegers) != 0, uint64_t, int64_t>;
  switch (element) {
    case DType::kBool:
    case DType::kUInt8:
      return kernel_of<F, uint8_t>(element);
    case DType::kInt8:
      return kernel_of<F, int8_t>(element);
    case DType::kUInt16:
      return kernel_of<F, uint16_t>(element);
    case DType::kInt16:
      return kernel_of<F, int16_t>(element);
    case DType::kUInt32:
      return kernel_of<F, uint32_t>(element);
    case DType::kInt32:
      return kernel_of<F, int32_t>(element);
    case DType::kUInt64:
      return kernel_of<F, Longest>(element);
    case DType::kInt64:
      return kernel_of<F, int64_t>(element);
    case DType::kFloat16:
      return kernel_of<F, Float16>(element);
    case DType::kBFloat16:
      return kernel_of<F, Brain16>(element);
    case DType::kFloat32:
      return kernel_of<F, float>(element);
    case DType::kFloat64:
      return kernel_of<F, double>(element);
    case DType::kComplex64:
      return complex_kernel<F, float>(element);
    default:
      return complex_kernel<F, double>(element);
  }
}

}  // namespace

ReduceKernel find_reduce(kernel::ReduceOp op, DType input) {
  return math::visit_functor(op, [input]<class F>() {
    if constexpr (F::kTypes == math::kBools) {
      return make_kernel<CountOfTrue<F>>(DType::kBool);
    } else {
      if (std::is_same_v<F, math::Sum> && input == DType::kBool)
        return make_kernel<CountOfTrue<math::CountNonzero>>(input);
      constexpr bool kOfMagnitudes = requires {
        F::kOfMagnitudes;
      };
      ReduceKernel kernel =
          find_fold<F>(wide_element<F>(kOfMagnitudes ? real_dtype(input) : input));
      kernel.of_magnitudes = kOfMagnitudes && real_dtype(input) != input;
      kernel.by_position = requires {
        typename F::PositionOf;
      };
      return kernel;
    }
  });
}

}  // namespace tsr::cpu::TSR_ISA
