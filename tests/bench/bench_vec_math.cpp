// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The rows on data in the first-level cache, on one core: ns for each element of each function, at
// each instruction-set level.
#include <vector>

#include "backend/cpu/level.h"
#include "backend/cpu/pointwise/pointwise_rows.h"
#include "bench/harness.h"

namespace tsr::bench {
namespace {

using kernel::BinaryOp;
using kernel::UnaryOp;

constexpr int64_t kElements = 2048;
constexpr int64_t kRepeats = 64;

template <class T>
void measure(const char* name, const cpu::Level& level, cpu::Row row, int inputs) {
  if (row == nullptr) return;
  std::vector<T> x(kElements);
  std::vector<T> y(kElements, static_cast<T>(1.7));
  std::vector<T> out(kElements);
  for (size_t i = 0; i < x.size(); ++i) x[i] = T{-5} + T{10} * static_cast<T>(i) / kElements;
  const kernel::Parameter params[3] = {};
  const void* operands[2] = {x.data(), y.data()};
  Case c;
  c.name = std::string(name) + "/" + level.name;
  c.shape = sizeof(T) == 4 ? "2048 float32" : "2048 float64";
  c.unit_of_work = "element";
  c.count = kElements * kRepeats;
  c.bytes = static_cast<double>(c.count) * sizeof(T) * (inputs + 1);
  c.rounds = 50;
  c.ours = [&] {
    for (int64_t i = 0; i < kRepeats; ++i) row(kElements, out.data(), operands, params);
    keep(out.data());
  };
  run(c);
}

struct UnaryCase {
  UnaryOp op;
  const char* name;
};
const UnaryCase kUnary[] = {
    {UnaryOp::kExp, "exp"},     {UnaryOp::kExpm1, "expm1"},     {UnaryOp::kLog, "log"},
    {UnaryOp::kLog1p, "log1p"}, {UnaryOp::kLog2, "log2"},       {UnaryOp::kLog10, "log10"},
    {UnaryOp::kTanh, "tanh"},   {UnaryOp::kSigmoid, "sigmoid"}, {UnaryOp::kErf, "erf"},
    {UnaryOp::kErfc, "erfc"},   {UnaryOp::kGelu, "gelu"},       {UnaryOp::kGeluTanh, "gelu_tanh"},
    {UnaryOp::kSilu, "silu"},   {UnaryOp::kSin, "sin"},         {UnaryOp::kCos, "cos"},
    {UnaryOp::kTan, "tan"},     {UnaryOp::kAsin, "asin"},       {UnaryOp::kAcos, "acos"},
    {UnaryOp::kAtan, "atan"},   {UnaryOp::kSinh, "sinh"},       {UnaryOp::kCosh, "cosh"},
    {UnaryOp::kSqrt, "sqrt"},   {UnaryOp::kRsqrt, "rsqrt"},
};
struct BinaryCase {
  BinaryOp op;
  const char* name;
};
const BinaryCase kBinary[] = {
    {BinaryOp::kAdd, "add"},
    {BinaryOp::kDivide, "divide"},
    {BinaryOp::kPow, "pow"},
    {BinaryOp::kAtan2, "atan2"},
    {BinaryOp::kHypot, "hypot"},
    {BinaryOp::kGeluGrad, "gelu_grad"},
    {BinaryOp::kRemainder, "remainder"},
};

template <class T>
void measure_all(const cpu::Level& level, DType dtype) {
  for (const UnaryCase& c : kUnary)
    measure<T>(c.name, level, level.rows<cpu::PointwiseRows>().unary(c.op, dtype).row, 1);
  for (const BinaryCase& c : kBinary)
    measure<T>(c.name, level, level.rows<cpu::PointwiseRows>().binary(c.op, dtype).row, 2);
}

}  // namespace
}  // namespace tsr::bench

int main() {
  using namespace tsr::bench;
  for (const char* name : {"sse42", "avx2", "avx512"}) {
    const tsr::cpu::Level* level = tsr::cpu::find_level(name);
    if (level == nullptr) continue;
    measure_all<float>(*level, tsr::DType::kFloat32);
    measure_all<double>(*level, tsr::DType::kFloat64);
  }
}
