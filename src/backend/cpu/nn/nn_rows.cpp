// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Chooses the neural-network and index rows of the level that the other kernels run at.
#include "backend/cpu/nn/nn_rows.h"

#include <cstring>
#include <iterator>

#include "backend/cpu/index/index_rows.h"
#include "backend/cpu/rows.h"

namespace tsr::cpu {

#if defined(TSR_HAVE_sse42)
namespace sse42 {
extern const NnRows<float> kNnRowsFloat;
extern const NnRows<double> kNnRowsDouble;
extern const IndexRows kIndexRows;
}  // namespace sse42
#endif
#if defined(TSR_HAVE_avx2)
namespace avx2 {
extern const NnRows<float> kNnRowsFloat;
extern const NnRows<double> kNnRowsDouble;
extern const IndexRows kIndexRows;
}  // namespace avx2
#endif
#if defined(TSR_HAVE_avx512)
namespace avx512 {
extern const NnRows<float> kNnRowsFloat;
extern const NnRows<double> kNnRowsDouble;
extern const IndexRows kIndexRows;
}  // namespace avx512
#endif

namespace {

struct Candidate {
  const char* name;
  const NnRows<float>* single;
  const NnRows<double>* twice;
  const IndexRows* index;
};
const Candidate kCandidates[] = {
#if defined(TSR_HAVE_avx512)
    {"avx512", &avx512::kNnRowsFloat, &avx512::kNnRowsDouble, &avx512::kIndexRows},
#endif
#if defined(TSR_HAVE_avx2)
    {"avx2", &avx2::kNnRowsFloat, &avx2::kNnRowsDouble, &avx2::kIndexRows},
#endif
#if defined(TSR_HAVE_sse42)
    {"sse42", &sse42::kNnRowsFloat, &sse42::kNnRowsDouble, &sse42::kIndexRows},
#endif
};

// The backend does not start on a machine without a level, so one is found.
const Candidate& chosen() noexcept {
  static const Candidate& found = []() -> const Candidate& {
    const Level* level = best_level();
    for (const Candidate& candidate : kCandidates) {
      if (level != nullptr && std::strcmp(candidate.name, level->name) == 0) return candidate;
    }
    return kCandidates[std::size(kCandidates) - 1];
  }();
  return found;
}

}  // namespace

template <>
const NnRows<float>& nn_rows<float>() noexcept {
  return *chosen().single;
}
template <>
const NnRows<double>& nn_rows<double>() noexcept {
  return *chosen().twice;
}

const IndexRows& index_rows() noexcept {
  return *chosen().index;
}

}  // namespace tsr::cpu
