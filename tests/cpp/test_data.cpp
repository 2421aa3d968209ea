// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Data sets and loaders, with and without threads.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#if __has_include(<ranges>)
#include <ranges>
#endif

#include "support.hpp"
#include "support/places.h"

namespace test_data {

using namespace tessera;
using namespace tessera::test;

namespace {

data::LoaderOptions options_of(int64_t batch_size, int64_t workers = 0) {
  data::LoaderOptions options;
  options.batch_size = batch_size;
  options.workers = workers;
  return options;
}

std::vector<Numbers> all_batches(const data::DataLoader& loader) {
  std::vector<Numbers> found;
  for (const data::Batch& batch : loader) found.push_back(numbers(batch[0]));
  return found;
}

// Numbers, and their squares as the second part; sample 13 throws.
struct Squares : data::Dataset {
  explicit Squares(int64_t length) : count(length) {}
  int64_t size() const override { return count; }
  data::Batch sample(int64_t index) const override {
    if (index == 13) throw std::domain_error("sample 13");
    ++made;
    return {tensor(index), tensor(index * index)};
  }
  int64_t count;
  mutable std::atomic<int> made{0};
};

// A loader asks for whole batches, so it would never call sample() of a derived class.
static_assert(std::is_final_v<data::TensorDataset>);

TEST(Data, batches_come_in_order_and_the_last_may_be_short) {
  const data::TensorDataset rows({arange(5), arange(5) * 10});
  data::LoaderOptions options = options_of(2);
  EXPECT_EQ(all_batches({rows, options}), (std::vector<Numbers>{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(data::DataLoader(rows, options).size(), 3);
  options.drop_last = true;
  EXPECT_EQ(all_batches({rows, options}), (std::vector<Numbers>{{0, 1}, {2, 3}}));
  EXPECT_EQ(data::DataLoader(rows, options).size(), 2);
  EXPECT_TRUE(all_batches({data::TensorDataset({zeros({0})}), options_of(2)}).empty());
}

TEST(Data, shuffling_is_a_permutation_and_follows_the_seed) {
  const data::TensorDataset rows({arange(20)});
  data::LoaderOptions options = options_of(20);
  options.shuffle = true;
  options.generator = Generator(4);
  const data::DataLoader loader(rows, options);
  const Numbers first = all_batches(loader)[0];
  const Numbers second = all_batches(loader)[0];
  EXPECT_NE(first, second) << "each pass has an order of its own";
  options.generator = Generator(4);
  EXPECT_EQ(all_batches({rows, options})[0], first);
  EXPECT_EQ(first, numbers(randperm(20, {}, {}, Generator(4)))) << "as in every language";
  Numbers sorted = first;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, numbers(arange(20)));
}

// A part of a temporary would be left without its samples.
static_assert(!std::is_constructible_v<data::Subset, data::TensorDataset, std::vector<int64_t>>);
static_assert(std::is_constructible_v<data::Subset, data::TensorDataset&, std::vector<int64_t>>);

TEST(Data, sets_are_split_and_joined) {
  const data::TensorDataset rows({arange(10), arange(10) * 10});
  const auto parts = data::random_split(rows, {7, 3}, Generator(5));
  ASSERT_EQ(parts.size(), 2U);
  const Numbers order = numbers(randperm(10, {}, {}, Generator(5)));
  const data::DataLoader loader(parts[1], options_of(3));
  EXPECT_EQ(all_batches(loader)[0], Numbers(order.begin() + 7, order.end()));
  EXPECT_EQ(numbers(parts[0].sample(2)[1])[0], 10 * order[2]);
  EXPECT_EQ(parts[0].size(), 7);
  EXPECT_EQ(parts[1].indices().size(), 3U);
  EXPECT_THROW(data::random_split(rows, {7, 2}), InvalidValueError);
  EXPECT_THROW(data::random_split(rows, {11, -1}), InvalidValueError);
  EXPECT_THROW(data::Subset(rows, {10}), OutOfRangeError);

  const data::TensorDataset more({arange(10, 13), arange(3)});
  const data::ConcatDataset both({&rows, &more});
  EXPECT_EQ(both.size(), 13);
  EXPECT_EQ(all_batches({both, options_of(5)})[2], (Numbers{10, 11, 12}));
  EXPECT_THROW(both.sample(13), OutOfRangeError);
  EXPECT_THROW(both.sample(-1), OutOfRangeError);
}

TEST(Data, datasets) {
  const data::TensorDataset rows({arange(4), arange(8).reshape({4, 2})});
  EXPECT_EQ(rows.size(), 4);
  EXPECT_EQ(numbers(rows.sample(2)[1]), (Numbers{4, 5}));
  EXPECT_THROW(data::TensorDataset({arange(4), arange(3)}), InvalidValueError);
  EXPECT_THROW(data::TensorDataset({}), InvalidValueError);
}

TEST(Data, a_pass_outlives_its_loader) {
  data::DataLoader::Iterator batches;
  {
    const data::DataLoader loader(data::TensorDataset({arange(6)}), options_of(2, 2));
    batches = loader.begin();
  }
  ++batches;
  batches++;
  EXPECT_EQ(numbers((*batches)[0]), (Numbers{4, 5}));
}

#if defined(__cpp_lib_ranges)
static_assert(std::ranges::input_range<const data::DataLoader>);
#endif

TEST(Data, errors_say_what_was_given) {
  const data::TensorDataset rows({arange(3)});
  EXPECT_EQ(message_of<InvalidValueError>([&] { data::DataLoader(rows, options_of(0)); }),
            "DataLoader: batch_size: expected at least 1, got 0");
  EXPECT_EQ(
      message_of<InvalidValueError>([] {
        data::TensorDataset({arange(4), arange(3)});
      }),
      "TensorDataset: tensors: expected tensors with as many rows as the first, of shape [4], "
      "got shape [3]");
  EXPECT_THROW(data::TensorDataset({tensor(1)}), InvalidValueError);
}

TEST(Data, rows_of_trained_tensors_get_gradients) {
  Tensor table = arange(6, 12, 1, kFloat64).requires_grad_();
  const data::TensorDataset rows({table});
  std::vector<int64_t> wanted = {1, 3};
  const Tensor batch = rows.batch(wanted)[0];
  wanted = {5, 5};  // the graph has the numbers, and not this memory
  batch.sum().backward();
  EXPECT_EQ(numbers(table.grad()), (Numbers{0, 1, 0, 1, 0, 0}));
}

TEST(Data, samples_are_stacked) {
  const Squares squares(4);
  const data::Batch batch = squares.batch({1, 3});
  ASSERT_EQ(batch.size(), 2U);
  EXPECT_EQ(numbers(batch[1]), (Numbers{1, 9}));
}

struct Uneven : data::Dataset {
  int64_t size() const override { return 2; }
  data::Batch sample(int64_t index) const override {
    return data::Batch(static_cast<size_t>(index) + 1, tensor(index));
  }
};

TEST(Data, a_temporary_data_set_lives_in_the_loader) {
  const int64_t before = live_handles();
  {
    const data::DataLoader loader(data::TensorDataset({arange(4)}), options_of(2, 1));
    EXPECT_EQ(live_handles(), before + 1);
    EXPECT_EQ(all_batches(data::DataLoader(loader)), (std::vector<Numbers>{{0, 1}, {2, 3}}));
  }
  EXPECT_EQ(live_handles(), before);
}

TEST(Data, samples_must_have_the_same_parts) {
  EXPECT_THROW(Uneven().batch({0, 1}), InvalidValueError);
  EXPECT_EQ(Uneven().batch({1, 1}).size(), 2U);
}

TEST(Data, contradictions_are_refused) {
  const data::TensorDataset rows({arange(4)});
  EXPECT_THROW(data::DataLoader(rows, options_of(0)), InvalidValueError);
  EXPECT_THROW(data::DataLoader(rows, options_of(1, -1)), InvalidValueError);
}

TEST(Data, workers_keep_the_order_of_the_sampler) {
  const Squares squares(12);
  EXPECT_EQ(all_batches({squares, options_of(2, 3)}), all_batches({squares, options_of(2)}));
  const data::TensorDataset rows({arange(1000)});
  EXPECT_EQ(all_batches({rows, options_of(7, 4)}), all_batches({rows, options_of(7)}));
}

TEST(Data, exceptions_in_workers_arrive_as_themselves) {
  for (const int64_t workers : {0, 3}) {
    const Squares squares(20);
    const data::DataLoader loader(squares, options_of(4, workers));
    int batches = 0;
    EXPECT_THROW(
        {
          for (const data::Batch& batch : loader) batches += batch.empty() ? 0 : 1;
        },
        std::domain_error);
    EXPECT_EQ(batches, 3) << "what came before the failure is whole";
  }
}

TEST(Data, leaving_early_stops_the_workers) {
  const int64_t before = live_handles();
  {
    const Squares squares(12);
    const data::DataLoader loader(squares, options_of(1, 2));
    for (const data::Batch& batch : loader) {
      EXPECT_EQ(batch[0].item<int>(), 0);
      break;
    }
    EXPECT_LE(squares.made, 5);
  }
  EXPECT_EQ(live_handles(), before);
}

TEST(Data, workers_record_nothing) {
  const data::TensorDataset rows({leaf({1, 2, 3, 4})});
  for (const data::Batch& batch : data::DataLoader(rows, options_of(2, 1))) {
    EXPECT_FALSE(batch[0].requires_grad());
  }
}

TEST(Data, workers_have_the_state_of_the_caller) {
  struct Random : data::Dataset {
    int64_t size() const override { return 6; }
    data::Batch sample(int64_t) const override { return {rand({1})}; }
  };
  const auto drawn = [](int64_t workers) {
    const GeneratorGuard guard(Generator(7));
    const Random random;
    return all_batches({random, options_of(2, workers)});
  };
  EXPECT_EQ(drawn(1), drawn(0));
}

// The shuffled orders of tests/conformance/orders.txt, with and without workers.
TEST(Data, D4_orders_are_those_of_every_language) {
  for (const int64_t workers : {0, 2}) {
    std::ifstream file(tsr::testing::source_path("tests/conformance/orders.txt"));
    std::optional<data::DataLoader> loader;
    int rows = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      std::istringstream words(line);
      uint64_t seed = 0;
      int64_t count = 0, size = 0, pass = 0;
      words >> seed >> count >> size >> pass;
      Numbers expected;
      for (double sample = 0; words >> sample;) expected.push_back(sample);
      if (pass == 0) {
        data::LoaderOptions options = options_of(size, workers);
        options.shuffle = true;
        options.generator = Generator(seed);
        loader.emplace(data::TensorDataset({arange(count)}), options);
      }
      Numbers found;
      for (const Numbers& batch : all_batches(*loader)) {
        EXPECT_LE(batch.size(), static_cast<size_t>(size));
        found.insert(found.end(), batch.begin(), batch.end());
      }
      EXPECT_EQ(found, expected) << line;
      ++rows;
    }
    EXPECT_EQ(rows, 12);
  }
}

TEST(DistributedSampler, P18_ranks_share_one_order_of_samples) {
  using data::DistributedSampler;
  using Positions = std::vector<int64_t>;
  EXPECT_EQ(DistributedSampler(7, 3, 1, {false}).positions(), (Positions{1, 4, 0}));
  EXPECT_EQ(DistributedSampler(7, 3, 1, {false, 0, true}).positions(), (Positions{1, 4}));
  // Every language has the same.
  const Positions order[] = {{0, 7, 8}, {2, 4, 5}, {6, 1, 3}};
  for (int64_t rank = 0; rank < 3; ++rank) {
    const DistributedSampler sampler(9, 3, rank, {true, 4});
    const Positions first = sampler.positions();
    sampler.set_epoch(1);
    EXPECT_EQ(sampler.positions(), order[rank]);
    EXPECT_NE(sampler.positions(), first);
    data::LoaderOptions options = options_of(2);
    options.sampler = sampler;
    const data::DataLoader loader(data::TensorDataset({arange(0, 9)}), options);
    EXPECT_EQ(loader.size(), 2);
    Positions seen;
    for (const data::Batch& batch : loader) {
      for (const int64_t value : batch[0].to_vector<int64_t>()) seen.push_back(value);
    }
    EXPECT_EQ(seen, order[rank]);
  }
  EXPECT_THROW(DistributedSampler(9, 3, 3), InvalidValueError);
}

}  // namespace
}  // namespace test_data
