// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/sharded_files.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "data_parallel_support.h"

namespace tsr::dist::test::test_sharded_files {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class ShardedFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::start_up();
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / concat("shards-", ::getpid(), "-", info->name());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path() const { return folder_.string(); }
  [[nodiscard]] size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

// The rows of `whole` that belong to a rank, as even as they can be.
ShardItem rows_of(const std::string& name, const Tensor& whole, const Group& group) {
  const int64_t rows = whole.size(0), size = group.size(), rank = group.rank();
  const int64_t first = rows * rank / size, end = rows * (rank + 1) / size;
  return {name, ops::clone(ops::slice(whole, 0, first, end, 1)),
          ShardItem::Part{Dims{first, 0}, whole.sizes()}};
}

Code code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::kOk;
}

TEST_F(ShardedFiles, parts_of_four_ranks_are_read_by_two_and_then_by_three) {
  const Tensor whole = numbers({10, 3}, 1);
  on_ranks(4, [&](const GroupPtr& group) {
    const ShardItem mine = rows_of("w", whole, *group);
    save_shards(path(), {&mine, 1}, {{"step", "7"}}, group.get());
  });
  EXPECT_EQ(files(), 5U);
  on_ranks(2, [&](const GroupPtr& group) {
    const ShardItem mine = rows_of("w", ops::zeros_like(whole), *group);
    load_shards(path(), {&mine, 1});
    const Tensor exact = rows_of("w", whole, *group).tensor;
    EXPECT_EQ(largest_difference({&mine.tensor, 1}, {&exact, 1}), 0);
    group->barrier()->wait();
    save_shards(path(), {&mine, 1}, {{"step", "8"}}, group.get());
  });
  EXPECT_EQ(files(), 3U);
  on_ranks(3, [&](const GroupPtr& group) {
    const ShardItem mine = rows_of("w", ops::zeros_like(whole), *group);
    load_shards(path(), {&mine, 1});
    const Tensor exact = rows_of("w", whole, *group).tensor;
    EXPECT_EQ(largest_difference({&mine.tensor, 1}, {&exact, 1}), 0);
  });
  const ShardItem all{"w", ops::zeros_like(whole), {}};
  load_shards(path(), {&all, 1});
  EXPECT_EQ(largest_difference({&all.tensor, 1}, {&whole, 1}), 0);
  EXPECT_EQ(json::parse(shards_index(path()))["metadata"]["step"], "8");
}

TEST_F(ShardedFiles, tensors_that_all_ranks_have_are_written_once) {
  const Tensor large = numbers({300, 100}, 1), small = numbers({4}, 2), number = numbers({}, 3);
  on_ranks(3, [&](const GroupPtr& group) {
    std::vector<ShardItem> items{
        {"large", large, {}}, {"small", small, {}}, {"number", number, {}}};
    if (group->rank() == 1) items.push_back({"own", small, {}});
    save_shards(path(), items, {}, group.get());
  });
  const json tensors = json::parse(shards_index(path()))["tensors"];
  EXPECT_EQ(tensors["large"]["parts"].size(), 3U);
  EXPECT_EQ(tensors["small"]["parts"].size(), 1U);
  EXPECT_EQ(tensors["number"]["shape"], json::array());
  EXPECT_EQ(tensors["own"]["parts"].size(), 1U);
  const std::vector<ShardItem> back{{"large", ops::zeros_like(large, DType::kFloat64), {}},
                                    {"small", ops::zeros_like(small), {}},
                                    {"number", ops::zeros_like(number), {}},
                                    {"own", ops::zeros_like(small), {}}};
  load_shards(path(), back);
  EXPECT_EQ(floats(back[0].tensor), floats(large));
  EXPECT_EQ(floats(back[1].tensor), floats(small));
  EXPECT_EQ(floats(back[2].tensor), floats(number));
  EXPECT_EQ(floats(back[3].tensor), floats(small));
}

TEST_F(ShardedFiles, a_tensor_with_fewer_rows_than_ranks_is_written_by_one) {
  const Tensor wide = numbers({2, 20000}, 1);
  on_ranks(3, [&](const GroupPtr& group) {
    const std::vector<ShardItem> items{{"a", wide, {}}, {"b", wide, {}}, {"c", wide, {}}};
    save_shards(path(), items, {}, group.get());
  });
  const json tensors = json::parse(shards_index(path()))["tensors"];
  std::set<std::string> writers;
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_EQ(tensors[name]["parts"].size(), 1U);
    writers.insert(tensors[name]["parts"][0]["file"]);
  }
  EXPECT_EQ(writers.size(), 3U);  // the one with the least to write
  const ShardItem back{"b", ops::zeros_like(wide), {}};
  load_shards(path(), {&back, 1});
  EXPECT_EQ(floats(back.tensor), floats(wide));
}

TEST_F(ShardedFiles, a_save_removes_the_files_of_earlier_saves_only) {
  const ShardItem item{"w", numbers({4}, 1), {}};
  save_shards(path(), {&item, 1}, {}, nullptr);
  const std::vector<std::string> own{"shard-0123456789ab-7.safetensors",
                                     "shard-0123456789ab-7.safetensors.12.3.tmp"};
  const std::vector<std::string> others{"shard-notes.safetensors",
                                        "shard-0123456789ab-7.safetensors.bak",
                                        "shard-0123456789ab-.safetensors",
                                        "shard-0123456789-1.safetensors",
                                        "my-shard-0123456789ab-1.safetensors",
                                        "shard-0123456789ab-7xsafetensors"};
  for (const auto& list : {own, others}) {
    for (const std::string& name : list) std::ofstream(folder_ / name) << name;
  }
  save_shards(path(), {&item, 1}, {}, nullptr);
  for (const std::string& name : own) EXPECT_FALSE(fs::exists(folder_ / name)) << name;
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(folder_ / name)) << name;
  EXPECT_EQ(files(), 2 + others.size());
}

TEST_F(ShardedFiles, a_save_that_fails_on_one_rank_fails_on_all_and_leaves_the_old_files) {
  const Tensor first = numbers({4}, 1), second = numbers({4}, 2);
  const ShardItem old{"w", first, {}};
  save_shards(path(), {&old, 1}, {}, nullptr);
  const auto errors = errors_of(2, [&](const GroupPtr& group) {
    // safetensors has no complex128.
    const ShardItem mine{group->rank() == 1 ? "v" : "w",
                         group->rank() == 1 ? ops::astype(second, DType::kComplex128) : second,
                         {}};
    save_shards(path(), {&mine, 1}, {}, group.get());
  });
  for (const auto& error : errors) EXPECT_TRUE(error);
  const ShardItem back{"w", ops::zeros_like(first), {}};
  load_shards(path(), {&back, 1});
  EXPECT_EQ(floats(back.tensor), floats(first));
}

// One rank alone finds it; the others must not wait for it.
TEST_F(ShardedFiles, a_text_that_is_not_utf8_is_refused_on_all_ranks) {
  std::vector<Code> codes(4, Code::kOk);
  on_ranks(2, [&](const GroupPtr& group) {
    const bool wrong = group->rank() == 1;
    const ShardItem mine{wrong ? "w\xff" : "w", numbers({2}, 1), {}};
    const auto at = static_cast<size_t>(group->rank());
    codes[at] = code_of([&] { save_shards(path(), {&mine, 1}, {}, group.get()); });
    const ShardItem good{"w", numbers({2}, 1), {}};
    const io::Metadata metadata{{"step", wrong ? "\xff" : "7"}};
    codes[2 + at] = code_of([&] { save_shards(path(), {&good, 1}, metadata, group.get()); });
  });
  EXPECT_EQ(codes, (std::vector<Code>{Code::kIo, Code::kValue, Code::kIo, Code::kValue}));
}

TEST_F(ShardedFiles, parts_that_overlap_or_leave_gaps_are_refused_on_all_ranks) {
  for (const int64_t shift : {-1, 1}) {
    const auto errors = errors_of(2, [&](const GroupPtr& group) {
      const ShardItem mine{"w", numbers({4, 2}, 1),
                           ShardItem::Part{Dims{group->rank() * (4 + shift), 0}, Dims{9, 2}}};
      save_shards(path(), {&mine, 1}, {}, group.get());
    });
    for (const auto& error : errors) {
      ASSERT_TRUE(error);
      EXPECT_EQ(error->code(), Code::kValue);
    }
  }
}

TEST_F(ShardedFiles, what_does_not_fit_is_refused_and_changes_nothing) {
  const Tensor saved = numbers({4, 2}, 1);
  const ShardItem item{"w", saved, {}};
  save_shards(path(), {&item, 1}, {}, nullptr);
  const Tensor target = ops::zeros(Dims{4, 2});
  const auto load = [&](std::vector<ShardItem> items) {
    return code_of([&] { load_shards(path(), items); });
  };
  EXPECT_EQ(load({{"w", target, {}}, {"v", target, {}}}), Code::kValue);
  EXPECT_EQ(load({{"w", target, {}}, {"w", target, {}}}), Code::kValue);
  EXPECT_EQ(load({{"w", ops::zeros(Dims{2, 4}), {}}}), Code::kShape);
  EXPECT_EQ(load({{"w", target, ShardItem::Part{Dims{1, 0}, Dims{4, 2}}}}), Code::kValue);
  // Behind a tensor that could be loaded.
  const ShardItem all[] = {
      item, {"v", saved, {}}, {"z", ops::astype(saved, DType::kComplex64), {}}};
  save_shards(path(), all, {}, nullptr);
  const Tensor read_only = ops::zeros(Dims{4, 2});
  read_only.storage()->read_only = true;
  EXPECT_EQ(load({{"w", target, {}}, {"v", read_only, {}}}), Code::kBuffer);
  const Tensor expanded = ops::expand(ops::zeros(Dims{1, 2}), Dims{4, 2});
  EXPECT_EQ(load({{"w", target, {}}, {"v", expanded, {}}}), Code::kValue);
  EXPECT_EQ(load({{"w", target, {}}, {"z", ops::zeros(Dims{4, 2}), {}}}), Code::kDType);
  Tensor inferred;
  {
    const GradModeScope inference({false, true});
    inferred = ops::zeros(Dims{4, 2});
  }
  EXPECT_EQ(load({{"w", target, {}}, {"v", inferred, {}}}), Code::kAutograd);
  EXPECT_EQ(floats(target), std::vector<float>(8, 0));
  EXPECT_EQ(code_of([&] { load_shards(path() + "/none", {&item, 1}); }), Code::kIo);
}

TEST_F(ShardedFiles, an_index_that_breaks_the_format_is_refused) {
  const Tensor saved = numbers({4}, 1);
  const ShardItem item{"w", saved, {}};
  save_shards(path(), {&item, 1}, {}, nullptr);
  const std::string text = shards_index(path());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos);
    if (at != std::string::npos) changed.replace(at, from.size(), to);
    std::ofstream(path() + "/index.json") << changed;
    return code_of([&] { load_shards(path(), {&item, 1}); });
  };
  EXPECT_EQ(with("shard-", "../shard-"), Code::kIo);
  EXPECT_EQ(with("tessera.shards.1", "tessera.shards.9"), Code::kIo);
  EXPECT_EQ(with("\"F32\"", "\"F99\""), Code::kIo);
  EXPECT_EQ(with("{", "["), Code::kIo);
  EXPECT_EQ(with(text, ""), Code::kIo);
  EXPECT_EQ(with("\"w\"", "\"v\""), Code::kValue);
  EXPECT_EQ(with("tensors", "Tensors"), Code::kIo);
  EXPECT_EQ(with("w", "w"), Code::kOk);
}

}  // namespace
}  // namespace tsr::dist::test::test_sharded_files
