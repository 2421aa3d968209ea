// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/agreement.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/json.h"
#include "ops/create/copy.h"
#include "optim/optimizer.h"

namespace tsr::dist {
namespace {

using optim::Quiet;

template <class T>
Tensor tensor_of(const T* values, size_t count, DType dtype, Device device) {
  const Tensor made = empty(Dims{static_cast<int64_t>(count)}, dtype);
  if (count > 0) std::memcpy(made.data(), values, count * sizeof(T));
  return ops::to(made, device, std::nullopt);
}

template <class T>
void read_back(const Tensor& tensor, T* values, size_t count) {
  const Tensor here = ops::to(tensor, Device{}, std::nullopt);
  if (count > 0) std::memcpy(values, here.data(), count * sizeof(T));
}

}  // namespace

void sum_numbers(Group& group, Device device, std::vector<int64_t>& numbers) {
  const Quiet quiet;
  const Tensor message = tensor_of(numbers.data(), numbers.size(), DType::kInt64, device);
  group.all_reduce(message, ReduceOp::kSum)->wait();
  read_back(message, numbers.data(), numbers.size());
}

void broadcast_numbers(Group& group, Device device, std::vector<int64_t>& numbers, int32_t source) {
  const Quiet quiet;
  const Tensor message = tensor_of(numbers.data(), numbers.size(), DType::kInt64, device);
  group.broadcast(message, source)->wait();
  read_back(message, numbers.data(), numbers.size());
}

// Two sums: of the lengths, and of a buffer in which each rank fills only its own part.
std::vector<std::string> gather_texts(Group& group, Device device, std::string_view mine) {
  const Quiet quiet;
  std::vector<int64_t> lengths(static_cast<size_t>(group.size()), 0);
  const auto rank = static_cast<size_t>(group.rank());
  lengths[rank] = static_cast<int64_t>(mine.size());
  sum_numbers(group, device, lengths);
  const auto all = static_cast<size_t>(std::accumulate(lengths.begin(), lengths.end(), int64_t{0}));
  const auto start = static_cast<size_t>(
      std::accumulate(lengths.begin(), lengths.begin() + group.rank(), int64_t{0}));
  std::string bytes(all, '\0');
  bytes.replace(start, mine.size(), mine);
  if (all > 0) {
    const Tensor message = tensor_of(bytes.data(), all, DType::kUInt8, device);
    group.all_reduce(message, ReduceOp::kSum)->wait();
    read_back(message, bytes.data(), all);
  }
  std::vector<std::string> texts;
  size_t at = 0;
  for (const int64_t length : lengths) {
    texts.push_back(bytes.substr(at, static_cast<size_t>(length)));
    at += static_cast<size_t>(length);
  }
  return texts;
}

void check_equal_lists(Group& group, Device device, const std::vector<std::string>& list,
                       const char* arg) {
  // First a checksum, because the lists are long and nearly always equal.
  const std::string mine = Json(list).dump();
  const std::string sum = concat(list.size(), " ", std::hash<std::string>()(mine));
  const auto sums = gather_texts(group, device, sum);
  if (std::count(sums.begin(), sums.end(), sums[0]) == group.size()) return;
  const auto lists = gather_texts(group, device, mine);
  const auto first = Json::parse(lists[0]).get<std::vector<std::string>>();
  for (size_t rank = 1; rank < lists.size(); ++rank) {
    const auto other = Json::parse(lists[rank]).get<std::vector<std::string>>();
    const size_t common = std::min(first.size(), other.size());
    const auto [a, b] =
        std::mismatch(first.begin(), first.begin() + static_cast<long>(common), other.begin());
    TSR_CHECK(a == first.begin() + static_cast<long>(common), Code::kShape, arg,
              "expected the same on all ranks: rank 0 has ", *a, ", got ", *b, " on rank ", rank);
    TSR_CHECK(first.size() == other.size(), Code::kShape, arg,
              "expected the same on all ranks: rank 0 has ", first.size(),
              " parameters and buffers, got ", other.size(), " on rank ", rank);
  }
}

}  // namespace tsr::dist
