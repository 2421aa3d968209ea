// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Data sets, and loaders that make batches, optionally ahead of time with threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/cpp/autograd.hpp"
#include "tessera/cpp/create.hpp"
#include "tessera/cpp/sampler.hpp"
#include "tessera/cpp/threads.hpp"

namespace tessera::data {

using Batch = std::vector<Tensor>;

// Base class of data sets. A loader with threads calls batch() from several threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  // The parts of one sample, for example image and label.
  virtual Batch sample(int64_t index) const = 0;
  // The parts of several samples, stacked. Override it if that can be done at once.
  virtual Batch batch(const std::vector<int64_t>& indices) const {
    std::vector<Batch> columns;
    for (const int64_t& index : indices) {
      Batch parts = sample(index);
      if (&index == indices.data()) columns.resize(parts.size());
      if (columns.size() != parts.size()) {
        throw InvalidValueError("Dataset: expected " + std::to_string(columns.size()) +
                                " parts in sample " + std::to_string(index) +
                                ", as in the one before, got " + std::to_string(parts.size()));
      }
      for (size_t i = 0; i < parts.size(); ++i) columns[i].push_back(std::move(parts[i]));
    }
    Batch stacked;
    for (const Batch& column : columns) stacked.push_back(stack(column));
    return stacked;
  }
};

// Rows of tensors of equal length. The class is final, because batch() does not call sample() of a
// derived class; a data set that changes samples should contain a TensorDataset.
class TensorDataset final : public Dataset {
 public:
  explicit TensorDataset(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {
    if (tensors_.empty()) {
      throw InvalidValueError("TensorDataset: tensors: expected at least one, got none",
                              "TensorDataset", 0);
    }
    for (const Tensor& tensor : tensors_) {
      if (tensor.ndim() != 0 && tensor.size(0) == tensors_.front().size(0)) continue;
      throw InvalidValueError(
          "TensorDataset: tensors: expected tensors with as many rows as the "
          "first, of shape " +
              tessera::detail::text_of(tensors_.front().shape()) + ", got shape " +
              tessera::detail::text_of(tensor.shape()),
          "TensorDataset", 0);
    }
  }

  int64_t size() const override { return tensors_.front().size(0); }
  Batch sample(int64_t index) const override {
    Batch parts;
    for (const Tensor& tensor : tensors_) parts.push_back(tensor.select(0, index));
    return parts;
  }
  Batch batch(const std::vector<int64_t>& indices) const override {
    // A copy: the graph keeps it if a tensor requires grad.
    const Tensor rows = copy_from(indices.data(), static_cast<int64_t>(indices.size()));
    Batch parts;
    for (const Tensor& tensor : tensors_) parts.push_back(tensor.index_select(0, rows));
    return parts;
  }

 private:
  std::vector<Tensor> tensors_;
};

struct LoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;  // skip a last batch that is not full
  // Threads that work ahead, with the state of the thread that began the pass but for recording,
  // which is off; 0: make each batch on request.
  int64_t workers = 0;
  Generator generator = {};  // of the order if shuffled
  // The samples and their order, instead of `shuffle`.
  std::optional<DistributedSampler> sampler = std::nullopt;
};

// Iterates over the batches of a data set. Each loop is a new pass, in a new order if shuffled.
// Batches come in order for any number of workers; an exception of a worker is thrown by the loop.
class DataLoader {
 public:
  class Iterator;

  // The data set must outlive the loader.
  DataLoader(const Dataset& dataset, LoaderOptions options)
      : dataset_(&dataset), options_(std::move(options)) {
    tessera::detail::check_at_least("DataLoader", "batch_size", 1, options_.batch_size);
    tessera::detail::check_at_least("DataLoader", "workers", 0, options_.workers);
  }

  // A temporary data set is moved into the loader; its copies share it.
  template <class Kind,
            std::enable_if_t<std::is_base_of_v<Dataset, Kind> && std::is_move_constructible_v<Kind>,
                             int> = 0>
  DataLoader(Kind&& dataset, LoaderOptions options)
      : DataLoader(std::make_shared<Kind>(std::forward<Kind>(dataset)), std::move(options)) {}

  // The number of batches of a pass.
  int64_t size() const {
    const int64_t count = options_.sampler ? options_.sampler->size() : dataset_->size();
    const int64_t whole = count / options_.batch_size;
    return whole + (options_.drop_last || count % options_.batch_size == 0 ? 0 : 1);
  }

  Iterator begin() const;
  Iterator end() const;

 private:
  DataLoader(std::shared_ptr<const Dataset> dataset, LoaderOptions options)
      : DataLoader(*dataset, std::move(options)) {
    owned_ = std::move(dataset);
  }

  // One pass: the order, and the batches that workers are making.
  class Pass {
   public:
    explicit Pass(const DataLoader& loader)
        : owned_(loader.owned_),
          dataset_(*loader.dataset_),
          options_(loader.options_),
          batches_(loader.size()) {
      if (options_.sampler) {
        order_ = options_.sampler->positions();
      } else if (options_.shuffle) {
        order_ = randperm(dataset_.size(), kInt64, std::nullopt, options_.generator)
                     .to_vector<int64_t>();
      } else {
        order_.resize(static_cast<size_t>(dataset_.size()));
        std::iota(order_.begin(), order_.end(), int64_t{0});
      }
      for (int64_t i = 0; i < options_.workers; ++i) send();
    }

    // Writes the next batch; returns false at the end.
    bool next(Batch& batch) {
      if (options_.workers == 0) {
        if (sent_ == batches_) return false;
        batch = dataset_.batch(indices(sent_++));
        return true;
      }
      if (ahead_.empty()) return false;
      const std::unique_ptr<Work> first = std::move(ahead_.front());
      ahead_.erase(ahead_.begin());
      batch = first->result();
      send();
      return true;
    }

   private:
    // A batch that a thread is making. It must not move.
    class Work {
     public:
      Work(const Pass& pass, std::vector<int64_t> wanted)
          : pass_(pass), wanted_(std::move(wanted)), thread_([this] { run(); }) {}
      Work(const Work&) = delete;
      Work& operator=(const Work&) = delete;
      ~Work() {
        if (thread_.joinable()) thread_.join();
      }

      // Waits for the batch; throws what the thread threw.
      Batch result() {
        thread_.join();
        if (failure_ != nullptr) std::rethrow_exception(failure_);
        return std::move(batch_);
      }

     private:
      void run() noexcept {
        try {
          const AmbientGuard ambient(pass_.caller_);
          const NoGradGuard no_grad;
          batch_ = pass_.dataset_.batch(wanted_);
        } catch (...) {
          failure_ = std::current_exception();
        }
      }

      const Pass& pass_;
      std::vector<int64_t> wanted_;
      Batch batch_;
      std::exception_ptr failure_;
      std::thread thread_;  // last: begins when the others are there
    };

    std::vector<int64_t> indices(int64_t batch) const {
      const auto count = static_cast<int64_t>(order_.size());
      const int64_t start = batch * options_.batch_size;
      const int64_t stop = std::min(start + options_.batch_size, count);
      return {order_.begin() + start, order_.begin() + stop};
    }

    void send() {
      if (sent_ == batches_) return;
      ahead_.push_back(std::make_unique<Work>(*this, indices(sent_++)));
    }

    // Of its own, so that the loader may be moved or end while batches are read.
    std::shared_ptr<const Dataset> owned_;
    const Dataset& dataset_;
    LoaderOptions options_;
    int64_t batches_;
    int64_t sent_ = 0;
    std::vector<int64_t> order_;
    AmbientState caller_;
    // In order; few. Last: destroyed first, its threads use the others.
    std::vector<std::unique_ptr<Work>> ahead_;
  };

  std::shared_ptr<const Dataset> owned_;
  const Dataset* dataset_;
  LoaderOptions options_;
};

class DataLoader::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  using pointer = const Batch*;
  using reference = const Batch&;

  Iterator() = default;
  explicit Iterator(std::shared_ptr<Pass> pass) : pass_(std::move(pass)) { ++*this; }

  const Batch& operator*() const noexcept { return batch_; }
  const Batch* operator->() const noexcept { return &batch_; }
  Iterator& operator++() {
    if (!pass_->next(batch_)) pass_.reset();
    return *this;
  }
  void operator++(int) { ++*this; }  // what std::ranges wants of an iterator of one pass
  friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
    return a.pass_ == b.pass_;
  }
  friend bool operator!=(const Iterator& a, const Iterator& b) noexcept { return !(a == b); }

 private:
  std::shared_ptr<Pass> pass_;
  Batch batch_;
};

inline DataLoader::Iterator DataLoader::begin() const {
  return Iterator(std::shared_ptr<Pass>(new Pass(*this)));
}
inline DataLoader::Iterator DataLoader::end() const {
  return {};
}

}  // namespace tessera::data
