// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Every collective with every dtype, compared with the plain computation. Run by the ranks of any
// group: threads here, processes under mpirun.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "dist/collectives.h"
#include "dist/signature.h"

namespace tsr::dist {

// A value that rank `rank` has at place `at`; small, so that every dtype holds products of four.
inline double value_of(int32_t rank, int64_t at) {
  return static_cast<double>((rank * 3 + at) % 3 + 1);
}

inline double load(DType dtype, const void* from) {
  return visit_dtype(dtype, [&]<class T>(TypeTag<T>) -> double {
    const T value = *static_cast<const T*>(from);
    if constexpr (requires { value.real(); })
      return static_cast<double>(value.real());
    else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      return static_cast<double>(static_cast<float>(value));
    else
      return static_cast<double>(value);
  });
}

inline void store(DType dtype, void* to, double value) {
  visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<T, bool>)
      *static_cast<T*>(to) = value > 1.5;
    else if constexpr (requires(T x) { x.real(); })
      *static_cast<T*>(to) = T(static_cast<typename T::value_type>(value));
    else
      *static_cast<T*>(to) = static_cast<T>(static_cast<float>(value));
  });
}

inline void* element(const Tensor& tensor, int64_t at) {
  return static_cast<std::byte*>(tensor.data()) + at * itemsize(tensor.dtype());
}
inline double get_value(const Tensor& tensor, int64_t at) {
  return load(tensor.dtype(), element(tensor, at));
}
inline void set_value(const Tensor& tensor, int64_t at, double value) {
  store(tensor.dtype(), element(tensor, at), value);
}

// What the dtype makes of a value.
inline double stored(DType dtype, double value) {
  alignas(16) std::byte one[16];
  store(dtype, one, value);
  return load(dtype, one);
}

inline Tensor filled(int64_t count, DType dtype, const std::function<double(int64_t)>& value) {
  const Tensor tensor = empty(Dims{count}, dtype);
  for (int64_t i = 0; i < count; ++i) set_value(tensor, i, value(i));
  return tensor;
}

// Many elements of the same kind: value() repeats itself after three of them, as value_of does.
inline Tensor filled_in_threes(int64_t count, DType dtype,
                               const std::function<double(int64_t)>& value) {
  const Tensor tensor = empty(Dims{count}, dtype);
  for (int64_t i = 0; i < 3; ++i) set_value(tensor, i, value(i));
  const auto whole = static_cast<size_t>(tensor.nbytes());
  char* data = static_cast<char*>(tensor.data());
  for (size_t done = 3 * whole / static_cast<size_t>(count); done < whole; done *= 2)
    std::memcpy(data + done, data, std::min(done, whole - done));
  return tensor;
}

// Runs all checks on one rank of a group and collects what is wrong.
class CollectiveChecks {
 public:
  explicit CollectiveChecks(Group& group) : group_(group) {}

  std::string run() {
    for (int i = 0; i < kDTypeCount; ++i) {
      const auto dtype = static_cast<DType>(i);
      for (int32_t op = 0; op < kReduceOpCount; ++op) {
        const auto reduce = static_cast<ReduceOp>(op);
        if (reduces(reduce, dtype)) check_reductions(reduce, dtype);
      }
      check_moves(dtype);
      check_messages(dtype);
    }
    check_long();
    check_long_reductions();
    return problems_;
  }

 private:
  static constexpr int64_t kCount = 5;
  // Of the elements of long results that are looked at; no multiple of three.
  static constexpr int64_t kStep = 31;

  // Looks at every element, or at every one of so many.
  void expect(const Tensor& got, const std::function<double(int64_t)>& expected,
              const std::string& what, int64_t step = 1) {
    for (int64_t i = 0; i < got.numel(); i += step) {
      const double want = stored(got.dtype(), expected(i)), found = get_value(got, i);
      const double slack =
          is_floating(got.dtype()) || is_complex(got.dtype()) ? 1e-2 * std::abs(want) : 0;
      if (std::abs(want - found) <= slack) continue;
      problems_ += concat("rank ", rank_, " of ", size_, ": ", what, " of ", got.dtype(), " at ", i,
                          ": expected ", want, ", got ", found, "\n");
      return;
    }
  }

  [[nodiscard]] double reduced(ReduceOp op, DType dtype, int64_t at) const {
    double result = stored(dtype, value_of(0, at));
    for (int32_t rank = 1; rank < size_; ++rank) {
      const double next = stored(dtype, value_of(rank, at));
      const auto a = static_cast<int64_t>(result), b = static_cast<int64_t>(next);
      if (op == ReduceOp::kSum || op == ReduceOp::kAvg)
        result += next;
      else if (op == ReduceOp::kProd)
        result *= next;
      else if (op == ReduceOp::kMin)
        result = std::min(result, next);
      else if (op == ReduceOp::kMax)
        result = std::max(result, next);
      else if (op == ReduceOp::kBitAnd)
        result = static_cast<double>(a & b);
      else if (op == ReduceOp::kBitOr)
        result = static_cast<double>(a | b);
      else
        result = static_cast<double>(a ^ b);
    }
    if (dtype == DType::kBool && result > 1) return 2;  // "true" for set_value
    if (dtype == DType::kBool) return result * 2;
    return op == ReduceOp::kAvg ? result / size_ : result;
  }

  // The results at the first three places, which repeat themselves as value_of does.
  [[nodiscard]] std::array<double, 3> period(ReduceOp op, DType dtype) const {
    return {reduced(op, dtype, 0), reduced(op, dtype, 1), reduced(op, dtype, 2)};
  }

  void check_reductions(ReduceOp op, DType dtype) {
    const auto mine = [this](int64_t i) { return value_of(rank_, i); };
    const auto all = [&](int64_t i) { return reduced(op, dtype, i); };
    const Tensor data = filled(kCount, dtype, mine);
    group_.all_reduce(data, op)->wait();
    expect(data, all, concat("all_reduce ", name(op)));

    const int32_t root = size_ - 1;
    const Tensor partial = filled(kCount, dtype, mine);
    group_.reduce(partial, op, root)->wait();
    if (rank_ == root)
      expect(partial, all, concat("reduce ", name(op)));
    else
      expect(partial, mine, "reduce elsewhere");

    const Tensor whole = filled(kCount * size_, dtype, mine), part = empty(Dims{kCount}, dtype);
    group_.reduce_scatter(part, whole, op)->wait();
    expect(
        part, [&](int64_t i) { return all(rank_ * kCount + i); },
        concat("reduce_scatter ", name(op)));
  }

  void check_moves(DType dtype) {
    const auto mine = [this](int64_t i) { return value_of(rank_, i); };
    for (int32_t root = 0; root < size_; ++root) {
      const Tensor data = filled(kCount, dtype, mine);
      group_.broadcast(data, root)->wait();
      expect(
          data, [&](int64_t i) { return value_of(root, i); }, "broadcast");
      check_roots(root, dtype);
    }
    const Tensor part = filled(kCount, dtype, mine), all = empty(Dims{kCount * size_}, dtype);
    group_.all_gather(all, part)->wait();
    const auto by_rank = [&](int64_t i) {
      return value_of(static_cast<int32_t>(i / kCount), i % kCount);
    };
    expect(all, by_rank, "all_gather");
    // In place: the part lies in the result.
    const Tensor slot = make_view(all, Dims{kCount}, Dims{1}, rank_ * kCount);
    for (int64_t i = 0; i < kCount; ++i) set_value(slot, i, mine(i));
    group_.all_gather(all, slot)->wait();
    expect(all, by_rank, "all_gather in place");

    const Tensor sent = filled(kCount * size_, dtype, mine),
                 got = empty(Dims{kCount * size_}, dtype);
    group_.all_to_all(got, sent)->wait();
    expect(
        got,
        [&](int64_t i) {
          return value_of(static_cast<int32_t>(i / kCount), rank_ * kCount + i % kCount);
        },
        "all_to_all");
    check_uneven(dtype);
  }

  // Rank r sends r + 1 + s rows to rank s.
  void check_uneven(DType dtype) {
    std::vector<int64_t> out, in;
    int64_t sent = 0, got = 0;
    for (int32_t other = 0; other < size_; ++other) {
      out.push_back(rank_ + 1 + other);
      in.push_back(other + 1 + rank_);
      sent += out.back();
      got += in.back();
    }
    const Tensor from = filled(sent, dtype, [this](int64_t) { return value_of(rank_, rank_); });
    const Tensor to = empty(Dims{got}, dtype);
    group_.all_to_all(to, from, in, out)->wait();
    std::vector<int32_t> owner;
    for (int32_t other = 0; other < size_; ++other) {
      owner.insert(owner.end(), static_cast<size_t>(in[static_cast<size_t>(other)]), other);
    }
    expect(
        to,
        [&](int64_t i) {
          const int32_t rank = owner[static_cast<size_t>(i)];
          return value_of(rank, rank);
        },
        "all_to_all with parts");
  }

  void check_roots(int32_t root, DType dtype) {
    const auto mine = [this](int64_t i) { return value_of(rank_, i); };
    std::vector<Tensor> parts;
    for (int32_t i = 0; rank_ == root && i < size_; ++i)
      parts.push_back(empty(Dims{kCount}, dtype));
    group_.gather(parts, filled(kCount, dtype, mine), root)->wait();
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto from = static_cast<int32_t>(i);
      expect(
          parts[i], [&](int64_t at) { return value_of(from, at); }, "gather");
    }
    const Tensor part = empty(Dims{kCount}, dtype);
    group_.scatter(part, parts, root)->wait();
    expect(part, mine, "scatter");
  }

  void check_messages(DType dtype) {
    const Tensor out = filled(kCount, dtype, [this](int64_t i) { return value_of(rank_, i); });
    const Tensor in = empty(Dims{kCount}, dtype);
    const int32_t next = (rank_ + 1) % size_, before = (rank_ + size_ - 1) % size_;
    const WorkPtr sent = group_.send(out, next, 7), got = group_.recv(in, before, 7);
    got->wait();
    sent->wait();
    expect(
        in, [&](int64_t i) { return value_of(before, i); }, "recv");
    if (got->source() != before) problems_ += concat("recv: source ", got->source(), "\n");
    const WorkPtr again = group_.send(out, next, 8), any = group_.recv(in, {}, 8);
    any->wait();
    again->wait();
    if (any->source() != before) problems_ += concat("recv: any source ", any->source(), "\n");
    group_.barrier()->wait();
  }

  // Many elements, tensors with gaps, several at a time, and several operations under way.
  void check_long() {
    constexpr int64_t kLong = 300001;
    const auto mine = [this](int64_t i) { return value_of(rank_, i); };
    const Tensor a = filled_in_threes(kLong, DType::kFloat32, mine);
    const Tensor b = filled(2 * kCount, DType::kFloat32, mine);
    const Tensor gaps = make_view(b, Dims{kCount}, Dims{2}, 0);
    const Tensor c = filled(kCount, DType::kInt64, mine);
    const std::vector<Tensor> list{a, gaps, c};
    const WorkPtr first = group_.all_reduce(list, ReduceOp::kSum);
    const Tensor d = filled(kCount, DType::kFloat64, mine);
    const WorkPtr second = group_.all_reduce(d, ReduceOp::kMax);
    second->wait();
    first->wait();
    first->wait();
    if (!first->done()) problems_ += "a finished operation is not done\n";
    const auto sums = period(ReduceOp::kSum, DType::kFloat32);
    expect(
        a, [&](int64_t i) { return sums[static_cast<size_t>(i % 3)]; }, "long", kStep);
    expect(
        b,
        [&](int64_t i) {
          return i % 2 == 0 ? reduced(ReduceOp::kSum, DType::kFloat32, i) : mine(i);
        },
        "with gaps");
    expect(
        c, [&](int64_t i) { return reduced(ReduceOp::kSum, DType::kInt64, i); }, "of a list");
    expect(
        d, [&](int64_t i) { return reduced(ReduceOp::kMax, DType::kFloat64, i); }, "second");
    const Tensor none = empty(Dims{0}, DType::kFloat32);
    group_.all_reduce(none, ReduceOp::kSum)->wait();
  }

  // Lengths around the pieces of which transports make long buffers, several at a time.
  void check_long_reductions() {
    struct Case {
      DType dtype;
      ReduceOp op;
      int64_t count;
    };
    constexpr Case kCases[] = {
        {DType::kFloat32, ReduceOp::kSum, 16 << 10}, {DType::kFloat32, ReduceOp::kMax, 700'003},
        {DType::kBFloat16, ReduceOp::kAvg, 300'001}, {DType::kBool, ReduceOp::kSum, (64 << 10) + 1},
        {DType::kInt64, ReduceOp::kProd, 8193},      {DType::kComplex128, ReduceOp::kSum, 70'000}};
    std::vector<Tensor> sums, parts, sources;
    std::vector<WorkPtr> works;
    const auto mine = [this](int64_t i) { return value_of(rank_, i); };
    for (const Case& one : kCases) {
      sums.push_back(filled_in_threes(one.count, one.dtype, mine));
      works.push_back(group_.all_reduce(sums.back(), one.op));
      parts.push_back(empty(Dims{one.count}, one.dtype));
      sources.push_back(filled_in_threes(one.count * size_, one.dtype, mine));
      works.push_back(group_.reduce_scatter(parts.back(), sources.back(), one.op));
    }
    // Backwards: operations end beside each other.
    for (size_t i = works.size(); i-- > 0;) works[i]->wait();
    for (size_t i = 0; i < sums.size(); ++i) {
      const Case& one = kCases[i];
      const auto whole = period(one.op, one.dtype);
      const auto at_place = [&](int64_t at) { return whole[static_cast<size_t>(at % 3)]; };
      expect(sums[i], at_place, "long reduction", kStep);
      expect(
          parts[i], [&](int64_t at) { return at_place(rank_ * one.count + at); }, "long part",
          kStep);
      expect(sources[i], mine, "source of long parts", kStep);
    }
  }

  Group& group_;
  const int32_t rank_ = group_.rank();
  const int32_t size_ = group_.size();
  std::string problems_;
};

}  // namespace tsr::dist
