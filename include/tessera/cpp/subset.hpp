// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Data sets made of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cpp/data.hpp"
#include "tessera/cpp/ops.hpp"

namespace tessera::data {

// Some samples of a data set, which must live as long.
class Subset : public Dataset {
 public:
  Subset(const Dataset& dataset, std::vector<int64_t> indices)
      : dataset_(&dataset), indices_(std::move(indices)) {
    for (const int64_t index : indices_) {
      if (index < 0 || index >= dataset.size()) {
        throw OutOfRangeError("Subset: expected numbers from 0 below " +
                              std::to_string(dataset.size()) + ", got " + std::to_string(index));
      }
    }
  }

  Subset(const Dataset&& temporary, std::vector<int64_t> indices) = delete;

  // The numbers of the samples in the whole data set.
  const std::vector<int64_t>& indices() const noexcept { return indices_; }

  int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  Batch sample(int64_t index) const override { return dataset_->sample(whole(index)); }
  Batch batch(const std::vector<int64_t>& indices) const override {
    std::vector<int64_t> chosen;
    for (const int64_t index : indices) chosen.push_back(whole(index));
    return dataset_->batch(chosen);
  }

 private:
  int64_t whole(int64_t index) const { return indices_.at(static_cast<size_t>(index)); }

  const Dataset* dataset_;
  std::vector<int64_t> indices_;
};

// Parts of these lengths, drawn at random without overlap: the same for the same seed in every
// language. The data set must outlive them.
//   auto parts = random_split(data, {80, 20});
inline std::vector<Subset> random_split(const Dataset& dataset, const std::vector<int64_t>& lengths,
                                        const Generator& generator = {}) {
  int64_t sum = 0;
  for (const int64_t length : lengths) {
    if (length < 0) throw InvalidValueError("random_split: lengths: expected none below 0");
    sum += length;
  }
  if (sum != dataset.size()) {
    throw InvalidValueError("random_split: lengths: expected a sum of " +
                            std::to_string(dataset.size()) + ", got " + std::to_string(sum));
  }
  const std::vector<int64_t> order =
      randperm(dataset.size(), {}, {}, generator).to_vector<int64_t>();
  std::vector<Subset> parts;
  auto first = order.begin();
  for (const int64_t length : lengths) {
    parts.push_back({dataset, std::vector<int64_t>(first, first + length)});
    first += length;
  }
  return parts;
}

std::vector<Subset> random_split(const Dataset&& temporary, const std::vector<int64_t>& lengths,
                                 const Generator& generator = {}) = delete;

// The samples of several data sets, which must live as long, one after another.
class ConcatDataset : public Dataset {
 public:
  explicit ConcatDataset(std::vector<const Dataset*> datasets) : datasets_(std::move(datasets)) {}

  int64_t size() const override {
    int64_t sum = 0;
    for (const Dataset* dataset : datasets_) sum += dataset->size();
    return sum;
  }
  Batch sample(int64_t index) const override {
    int64_t place = index;
    for (const Dataset* dataset : datasets_) {
      if (place >= 0 && place < dataset->size()) return dataset->sample(place);
      place -= dataset->size();
    }
    throw OutOfRangeError("ConcatDataset: expected a number from 0 below " +
                          std::to_string(size()) + ", got " + std::to_string(index));
  }

 private:
  std::vector<const Dataset*> datasets_;
};

}  // namespace tessera::data
