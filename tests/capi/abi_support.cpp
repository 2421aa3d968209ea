// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "capi/abi_support.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

namespace tsr::test {
namespace {

int32_t bits_of(tsr_dtype dtype) {
  return dtype >> 8 & 0xff;
}
size_t itemsize_of(tsr_dtype dtype) {
  return static_cast<size_t>(bits_of(dtype)) / 8;
}
int32_t code_of(tsr_dtype dtype) {
  return dtype & 0xff;
}
bool is_complex(tsr_dtype dtype) {
  return code_of(dtype) == 5;
}
bool is_floating(tsr_dtype dtype) {
  return code_of(dtype) == 2 || code_of(dtype) == 4;
}

int64_t count_of(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

template <class T>
void put(char* place, T value) {
  std::memcpy(place, &value, sizeof(T));
}
template <class T>
T take(const char* place) {
  T value;
  std::memcpy(&value, place, sizeof(T));
  return value;
}

// bfloat16 is the upper half of a float; float16 uses the exponent arithmetic of IEEE 754.
uint16_t encode_half(double value, bool brain) {
  if (brain) {
    uint32_t bits = 0;
    const auto single = static_cast<float>(value);
    std::memcpy(&bits, &single, 4);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  // Below 2^-14 the spacing is that of the smallest normal number; a carry raises the exponent.
  const int exponent = magnitude == 0 ? -14 : std::max(std::ilogb(magnitude), -14);
  const double units = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  return static_cast<uint16_t>(sign + (exponent + 14) * 1024 + static_cast<int>(units));
}
double decode_half(uint16_t bits, bool brain) {
  if (brain) {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float single = 0;
    std::memcpy(&single, &wide, 4);
    return single;
  }
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  if (exponent == 31) return sign * (fraction != 0 ? kNan : kInf);
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

void put_real(char* place, tsr_dtype dtype, double value) {
  switch (bits_of(dtype)) {
    case 16:
      put(place, encode_half(value, code_of(dtype) == 4));
      break;
    case 32:
      put(place, static_cast<float>(value));
      break;
    default:
      put(place, value);
      break;
  }
}
double take_real(const char* place, tsr_dtype dtype) {
  switch (bits_of(dtype)) {
    case 16:
      return decode_half(take<uint16_t>(place), code_of(dtype) == 4);
    case 32:
      return take<float>(place);
    default:
      return take<double>(place);
  }
}
int64_t take_integer(const char* place, tsr_dtype dtype) {
  const bool is_signed = code_of(dtype) == 0;
  switch (bits_of(dtype)) {
    case 8:
      return is_signed ? take<int8_t>(place) : take<uint8_t>(place);
    case 16:
      return is_signed ? take<int16_t>(place) : take<uint16_t>(place);
    case 32:
      return is_signed ? take<int32_t>(place) : int64_t{take<uint32_t>(place)};
    default:
      return take<int64_t>(place);
  }
}

tsr_dtype part_of(tsr_dtype dtype) {
  return bits_of(dtype) == 64 ? TSR_FLOAT32 : TSR_FLOAT64;
}

std::vector<char> packed(const Literal& literal) {
  const size_t size = itemsize_of(literal.dtype);
  const size_t count = static_cast<size_t>(count_of(literal.shape));
  std::vector<char> bytes(std::max<size_t>(count * size, 1));
  for (size_t i = 0; i < count && literal.has_values; ++i) {
    char* place = bytes.data() + i * size;
    if (is_complex(literal.dtype)) {
      put_real(place, part_of(literal.dtype), literal.real[2 * i]);
      put_real(place + size / 2, part_of(literal.dtype), literal.real[2 * i + 1]);
    } else if (is_floating(literal.dtype)) {
      put_real(place, literal.dtype, literal.real[i]);
    } else {
      std::memcpy(place, &literal.integer[i], size);  // little endian: the low bytes
    }
  }
  return bytes;
}

std::string last_error() {
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  if (tsr_error_last(&view) != TSR_OK) return "no error record";
  return std::string(view.message, static_cast<size_t>(view.message_len));
}

void fail_at(const Where& where, const std::string& text) {
  ADD_FAILURE_AT(where.file_name(), where.line()) << text;
}

struct Tolerance {
  double relative, absolute;
};
Tolerance tolerance_of(tsr_dtype dtype) {
  switch (dtype) {
    case TSR_FLOAT16:
      return {1e-3, 1e-5};
    case TSR_BFLOAT16:
      return {1.6e-2, 1e-5};
    case TSR_FLOAT32:
    case TSR_COMPLEX64:
      return {1.3e-6, 1e-5};
    default:
      return {1e-7, 1e-7};
  }
}
bool close(double got, double want, Tolerance tolerance) {
  if (std::isnan(want)) return std::isnan(got);
  if (got == want) return true;
  return std::abs(got - want) <= tolerance.absolute + tolerance.relative * std::abs(want);
}

std::string difference(const std::vector<char>& bytes, const Literal& want, Tolerance tolerance) {
  const size_t size = itemsize_of(want.dtype);
  const size_t count = static_cast<size_t>(count_of(want.shape));
  for (size_t i = 0; i < count; ++i) {
    const char* place = bytes.data() + i * size;
    const bool complex = is_complex(want.dtype);
    if (!complex && !is_floating(want.dtype)) {
      const int64_t got = take_integer(place, want.dtype);
      if (got == want.integer[i]) continue;
      return "element " + std::to_string(i) + ": expected " + std::to_string(want.integer[i]) +
             ", got " + std::to_string(got);
    }
    for (size_t part = 0; part < (complex ? 2U : 1U); ++part) {
      const tsr_dtype real = complex ? part_of(want.dtype) : want.dtype;
      const double got = take_real(place + part * size / 2, real);
      const double wanted = want.real[complex ? 2 * i + part : i];
      if (close(got, wanted, tolerance)) continue;
      return "element " + std::to_string(i) + ": expected " + std::to_string(wanted) + ", got " +
             std::to_string(got);
    }
  }
  return "";
}

Tensor sibling(tsr_tensor tensor, tsr_dtype dtype) {
  tsr_info info = {};
  info.struct_size = sizeof(info);
  if (tsr_tensor_info(tensor, &info) != TSR_OK) return {};
  const std::vector<int64_t> shape(info.sizes, info.sizes + info.ndim);
  return Tensor(shaped(dtype, shape));
}

tsr_tensor keep(Tensor tensor) {
  static auto* const kPool = new std::vector<Tensor>;
  kPool->push_back(std::move(tensor));
  return kPool->back();
}

}  // namespace

Literal reals(tsr_dtype dtype, std::vector<int64_t> shape, std::vector<double> values) {
  return {dtype, std::move(shape), std::move(values), {}};
}
Literal ints(tsr_dtype dtype, std::vector<int64_t> shape, std::vector<int64_t> values) {
  return {dtype, std::move(shape), {}, std::move(values)};
}
Literal complexes(tsr_dtype dtype, std::vector<int64_t> shape, std::vector<double> pairs) {
  return {dtype, std::move(shape), std::move(pairs), {}};
}
Literal shaped(tsr_dtype dtype, std::vector<int64_t> shape) {
  return {dtype, std::move(shape), {}, {}, false};
}

Literal literal_of(tsr_tensor tensor) {
  tsr_info info = {};
  info.struct_size = sizeof(info);
  ok(tsr_tensor_info(tensor, &info));
  Literal found = shaped(info.dtype, {info.sizes, info.sizes + info.ndim});
  found.has_values = true;
  std::vector<char> bytes(static_cast<size_t>(info.nbytes) + 1);
  ok(tsr_tensor_read(tensor, bytes.data(), info.nbytes));
  const bool complex = is_complex(info.dtype);
  const size_t size = itemsize_of(info.dtype) / (complex ? 2 : 1);
  const auto count = static_cast<size_t>(info.numel) * (complex ? 2 : 1);
  for (size_t i = 0; i < count; ++i) {
    const char* place = bytes.data() + i * size;
    if (complex || is_floating(info.dtype)) {
      found.real.push_back(take_real(place, complex ? part_of(info.dtype) : info.dtype));
    } else {
      found.integer.push_back(take_integer(place, info.dtype));
    }
  }
  return found;
}

Tensor::Tensor(const Literal& literal) {
  auto* bytes = new std::vector<char>(packed(literal));
  ok(tsr_tensor_from_data(
      bytes->data(), literal.dtype, TSR_DEVICE_CPU, 0, literal.shape.data(),
      static_cast<int32_t>(literal.shape.size()), nullptr, -1, 0, bytes,
      [](void* user) { delete static_cast<std::vector<char>*>(user); }, &handle_));
}

void Places::release() {
  tsr_tensor_release_many(slots_, kCapacity);
  std::memset(slots_, 0, sizeof(slots_));
  count_ = 0;
}

Tensor place_for(const Literal& literal) {
  std::vector<int64_t> strides(literal.shape.size(), 1);
  for (size_t i = literal.shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * std::max<int64_t>(literal.shape[i], 1);
  }
  const auto rank = static_cast<int32_t>(strides.size());
  Tensor place;
  ok(tsr_tensor_empty_strided(literal.shape.data(), rank, strides.data(), rank, literal.dtype, -1,
                              -1, place.slot()));
  return place;
}

void ok(tsr_status status, Where where) {
  if (status != TSR_OK) fail_at(where, std::string(tsr_status_name(status)) + ": " + last_error());
}

void refused(tsr_status status, tsr_status expected, Where where) {
  if (status == TSR_OK) return fail_at(where, "expected an error, got success");
  if (expected == kAnyError) return survives(status, where);
  if (status != expected) {
    fail_at(where, std::string("expected ") + tsr_status_name(expected) + ", got " +
                       tsr_status_name(status) + ": " + last_error());
  } else if (last_error().size() < 10) {
    fail_at(where, "the error says nothing: " + last_error());
  }
}

void survives(tsr_status status, Where where) {
  const bool typed = status >= TSR_OK && status <= TSR_LINALG && status != TSR_INTERNAL;
  if (!typed) fail_at(where, std::string(tsr_status_name(status)) + ": " + last_error());
}

void same(tsr_tensor tensor, const Literal& expected, double rtol, double atol, Where where) {
  tsr_info info = {};
  info.struct_size = sizeof(info);
  const tsr_status status = tsr_tensor_info(tensor, &info);
  if (status != TSR_OK) return fail_at(where, "no tensor: " + last_error());
  const std::vector<int64_t> shape(info.sizes, info.sizes + info.ndim);
  EXPECT_EQ(info.dtype, expected.dtype) << where.file_name() << ":" << where.line();
  EXPECT_EQ(shape, expected.shape) << where.file_name() << ":" << where.line();
  if (info.dtype != expected.dtype || shape != expected.shape || !expected.has_values) return;
  std::vector<char> bytes(static_cast<size_t>(info.nbytes) + 1);
  if (tsr_tensor_read(tensor, bytes.data(), info.nbytes) != TSR_OK)
    return fail_at(where, last_error());
  Tolerance tolerance = tolerance_of(expected.dtype);
  if (rtol >= 0) tolerance.relative = rtol;
  if (atol >= 0) tolerance.absolute = atol;
  const std::string text = difference(bytes, expected, tolerance);
  if (!text.empty()) fail_at(where, text);
}

tsr_tensor wrong_kind() {
  static const tsr_generator kGenerator = [] {
    tsr_generator generator = nullptr;
    ok(tsr_generator_new(0, &generator));
    return generator;
  }();
  return reinterpret_cast<tsr_tensor>(kGenerator);
}

const tsr_tensor* wrong_kinds() {
  static const tsr_tensor kHandles[1] = {wrong_kind()};
  return kHandles;
}

tsr_tensor tensor_for_wrong_kind() {
  static const tsr_tensor kTensor = keep(Tensor(reals(TSR_FLOAT32, {2}, {1, 2})));
  return kTensor;
}

tsr_tensor as_complex(tsr_tensor tensor) {
  return keep(sibling(tensor, TSR_COMPLEX64));
}
tsr_tensor as_bool(tsr_tensor tensor) {
  return keep(sibling(tensor, TSR_BOOL));
}

}  // namespace tsr::test
