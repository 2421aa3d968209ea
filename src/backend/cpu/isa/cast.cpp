// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The conversions of one instruction-set level: every dtype to every dtype over contiguous
// elements.
//
// A float outside the range of an integer type becomes what float_to_int.h says. Complex to real
// keeps the real part. 16-bit floats go through float32, complex numbers through their real parts.
#include "backend/common/float_to_int.h"
#include "backend/cpu/isa/find.h"
#include "backend/cpu/isa/half_vec.h"
#include "backend/cpu/isa/row_loop.h"

namespace tsr::cpu::TSR_ISA {
namespace {

// Tags for dtypes without an arithmetic type in C++, and for bool, whose storage is a byte; 16-bit
// floats have theirs in half_vec.h.
struct Bool {
  using Storage = uint8_t;
};
template <class T>
struct Number {
  using Storage = T;
};
template <class T>
struct ComplexOf {
  using Storage = T;  // of one part
};

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<ComplexOf<T>> = true;

template <class To, class From>
[[gnu::always_inline]] inline To convert(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return math::to_integer<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// ---- Types with arithmetic ----
// These functions are not copied into those that call them for chunks.

template <class From, class To>
[[gnu::noinline]] void cast_numbers(int64_t count, void* to, const void* from) {
  using Source = typename From::Storage;
  using Target = typename To::Storage;
  const Source* source = static_cast<const Source*>(from);
  Target* target = static_cast<Target*>(to);
  constexpr int64_t kStep = kIsComplex<From> ? 2 : 1;
  if constexpr (std::is_same_v<To, Bool>) {
    for (int64_t i = 0; i < count; ++i) {
      bool nonzero = source[kStep * i] != 0;
      if constexpr (kIsComplex<From>) nonzero |= source[2 * i + 1] != 0;
      target[i] = nonzero ? 1 : 0;
    }
  } else if constexpr (kIsComplex<To>) {
    for (int64_t i = 0; i < count; ++i) {
      target[2 * i] = convert<Target>(source[kStep * i]);
      if constexpr (kIsComplex<From>)
        target[2 * i + 1] = convert<Target>(source[2 * i + 1]);
      else
        target[2 * i + 1] = 0;
    }
  } else {
    for (int64_t i = 0; i < count; ++i) target[i] = convert<Target>(source[i]);
  }
}

template <class T>
[[gnu::noinline]] void real_parts(int64_t count, void* to, const void* from) {
  using V = Vec<T>;
  const T* source = static_cast<const T*>(from);
  T* target = static_cast<T*>(to);
  int64_t i = 0;
  for (; i + V::kSize <= count; i += V::kSize) load_pairs(source + 2 * i).re.store(target + i);
  for (; i < count; ++i) target[i] = source[2 * i];
}

// ---- 16-bit floats ----

template <class Short>
[[gnu::noinline]] void short_to_float(int64_t count, void* to, const void* from) {
  const auto* source = static_cast<const uint16_t*>(from);
  auto* target = static_cast<float*>(to);
  int64_t i = 0;
  for (; i + VF::kSize <= count; i += VF::kSize) Short::load(source + i).store(target + i);
  if (i < count) load_short_part<Short>(source + i, count - i).store_part(target + i, count - i);
}
template <class Short>
[[gnu::noinline]] void float_to_short(int64_t count, void* to, const void* from) {
  const auto* source = static_cast<const float*>(from);
  auto* target = static_cast<uint16_t*>(to);
  int64_t i = 0;
  for (; i + VF::kSize <= count; i += VF::kSize) Short::store(VF::load(source + i), target + i);
  if (i < count)
    store_short_part<Short>(VF::load_part(source + i, count - i, 0.0F), target + i, count - i);
}

// ---- float32 to the integers of at most 32 bits: the low bits of an int64 ----

// The instruction returns the smallest number where the truncated value is none of int32's.
[[gnu::noinline]] void float_to_int32(int64_t count, void* to, const void* from) {
  const auto* source = static_cast<const float*>(from);
  auto* target = static_cast<int32_t*>(to);
  const auto convert_part = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) target[i] = convert<int32_t>(source[i]);
  };
  int64_t i = 0;
  for (; i + VF::kSize <= count; i += VF::kSize) {
    const VI whole = convert_lanes<int32_t>(VF::load(source + i));
    if (__builtin_expect(any(whole == VI(INT32_MIN)), 0))
      convert_part(i, i + VF::kSize);
    else
      whole.store(target + i);
  }
  convert_part(i, count);
}

// ---- Conversions in two steps ----

constexpr int64_t kChunk = 256;

template <class From, class To, class Between>
void cast_through(int64_t count, void* to, const void* from);

// Integers that are as long as T and signed or unsigned; other types stay as they are. A bool is
// read as the byte that it is.
template <class T>
struct Integer {
  using Signed = T;
  using Read = T;
};
template <class T>
requires std::is_integral_v<T>
struct Integer<Number<T>> {
  using Signed = Number<std::make_signed_t<T>>;
  using Read = Number<T>;
};
template <>
struct Integer<Bool> {
  using Signed = Bool;
  using Read = Number<uint8_t>;
};

// Conversions between integers that write the same bits are one function: the sign of the target
// never matters, and the sign of the source only to a longer type and to a float.
template <class From, class To>
constexpr CastRow number_row() {
  using Source = typename Integer<From>::Read;
  if constexpr (std::is_integral_v<typename Source::Storage>) {
    constexpr bool kAsLong = sizeof(typename To::Storage) <= sizeof(typename Source::Storage);
    using Signed = typename Integer<Source>::Signed;
    if constexpr (std::is_same_v<To, Bool>)
      return &cast_numbers<Signed, Bool>;
    else if constexpr (std::is_integral_v<typename To::Storage>)
      return &cast_numbers<std::conditional_t<kAsLong, Signed, Source>,
                           typename Integer<To>::Signed>;
    else
      return &cast_numbers<Source, To>;
  } else {
    return &cast_numbers<From, To>;
  }
}

template <class T>
inline constexpr bool kIsSmallInteger = std::is_integral_v<typename T::Storage> &&
                                        sizeof(typename T::Storage) <= 4;

template <class From, class To>
constexpr CastRow cast_row() {
  using Real = typename From::Storage;
  if constexpr (kIsComplex<From> && std::is_same_v<To, Number<Real>>)
    return &real_parts<Real>;
  else if constexpr (kIsComplex<From> && !kIsComplex<To> && !std::is_same_v<To, Bool>)
    return &cast_through<From, To, Real>;
  else if constexpr (kIsShort<From> && std::is_same_v<To, Number<float>>)
    return &short_to_float<From>;
  else if constexpr (kIsShort<To> && std::is_same_v<From, Number<float>>)
    return &float_to_short<To>;
  else if constexpr (kIsShort<From> || kIsShort<To>)
    return &cast_through<From, To, float>;
  else if constexpr (std::is_same_v<From, Number<float>> && kIsSmallInteger<To> &&
                     !std::is_same_v<To, Bool>)
    return sizeof(typename To::Storage) == 4
               ? &float_to_int32
               : &cast_through<From, typename Integer<To>::Signed, int32_t>;
  else
    return number_row<From, To>();
}

template <class From, class To, class Between>
void cast_through(int64_t count, void* to, const void* from) {
  constexpr int64_t kFromBytes = sizeof(typename From::Storage) * (kIsComplex<From> ? 2 : 1);
  constexpr int64_t kToBytes = sizeof(typename To::Storage) * (kIsComplex<To> ? 2 : 1);
  Between chunk[kChunk];
  for (int64_t i = 0; i < count; i += kChunk) {
    const int64_t part = count - i < kChunk ? count - i : kChunk;
    cast_row<From, Number<Between>>()(part, chunk, static_cast<const char*>(from) + i * kFromBytes);
    cast_row<Number<Between>, To>()(part, static_cast<char*>(to) + i * kToBytes, chunk);
  }
}

// ---- The table ----

template <class Fn>
inline CastRow with_tag(DType dtype, Fn fn) {
  switch (dtype) {
    case DType::kBool:
      return fn.template operator()<Bool>();
    case DType::kUInt8:
      return fn.template operator()<Number<uint8_t>>();
    case DType::kUInt16:
      return fn.template operator()<Number<uint16_t>>();
    case DType::kUInt32:
      return fn.template operator()<Number<uint32_t>>();
    case DType::kUInt64:
      return fn.template operator()<Number<uint64_t>>();
    case DType::kInt8:
      return fn.template operator()<Number<int8_t>>();
    case DType::kInt16:
      return fn.template operator()<Number<int16_t>>();
    case DType::kInt32:
      return fn.template operator()<Number<int32_t>>();
    case DType::kInt64:
      return fn.template operator()<Number<int64_t>>();
    case DType::kFloat16:
      return fn.template operator()<Float16>();
    case DType::kBFloat16:
      return fn.template operator()<Brain16>();
    case DType::kFloat32:
      return fn.template operator()<Number<float>>();
    case DType::kFloat64:
      return fn.template operator()<Number<double>>();
    case DType::kComplex64:
      return fn.template operator()<ComplexOf<float>>();
    default:
      return fn.template operator()<ComplexOf<double>>();
  }
}

}  // namespace

CastRow find_cast(DType from, DType to) {
  return with_tag(from, [to]<class From>() {
    return with_tag(to, []<class To>() { return cast_row<From, To>(); });
  });
}

void stream_copy(void* to, const void* from, int64_t nbytes) {
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  for (int64_t i = 0; i < nbytes; i += 64) {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(target + i), _mm512_loadu_si512(source + i));
#else
    for (int64_t k = i; k < i + 64; k += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + k),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + k)));
    }
#endif
  }
}

}  // namespace tsr::cpu::TSR_ISA
