// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/metadata.h"

#include <gtest/gtest.h>

#include <thread>

#include "autograd/host_data.h"
#include "toy_ops.h"

namespace tsr::test_metadata {
namespace {

using toy::leaf;

class A21_Metadata : public toy::GraphTest {};

MetadataValue text_value(std::string text) {
  MetadataValue value;
  value.text = std::move(text);
  return value;
}
MetadataValue object_value(std::shared_ptr<void> object, HostData host = {}) {
  MetadataValue value;
  value.object = std::move(object);
  value.host = host;
  return value;
}

TEST_F(A21_Metadata, is_found_by_key_until_it_is_removed) {
  const Tensor y = toy::exp(leaf({2}, {1, 2}));
  Node& node = *grad_fn(y);
  EXPECT_FALSE(find_metadata(node, "layer").has_value());
  set_metadata(node, "layer", text_value("first"));
  set_metadata(node, "layer", text_value("second"));
  set_metadata(node, "a", text_value(""));
  EXPECT_EQ(find_metadata(node, "layer")->text, "second");
  EXPECT_EQ(metadata_keys(node), (std::vector<std::string>{"a", "layer"}));
  EXPECT_TRUE(remove_metadata(node, "layer"));
  EXPECT_FALSE(remove_metadata(node, "layer"));
}

TEST_F(A21_Metadata, objects_go_when_replaced_removed_or_with_the_node) {
  const auto object = std::make_shared<int>(1);
  {
    const Tensor y = toy::exp(leaf({2}, {1, 2}));
    Node& node = *grad_fn(y);
    set_metadata(node, "a", object_value(object));
    set_metadata(node, "b", object_value(object));
    set_metadata(node, "c", object_value(object));
    EXPECT_EQ(object.use_count(), 4);
    set_metadata(node, "a", text_value("text"));
    EXPECT_TRUE(remove_metadata(node, "b"));
    EXPECT_EQ(object.use_count(), 2);
  }
  EXPECT_EQ(object.use_count(), 1);
}

TEST_F(A21_Metadata, an_object_that_uses_the_node_when_it_goes_meets_no_lock) {
  const Tensor y = toy::exp(leaf({2}, {1, 2}));
  Node* node = grad_fn(y).get();
  size_t seen = 9;
  std::shared_ptr<void> object(
      node, [&seen](void* of) { seen = metadata_keys(*static_cast<Node*>(of)).size(); });
  set_metadata(*node, "a", object_value(std::move(object)));
  EXPECT_TRUE(remove_metadata(*node, "a"));
  EXPECT_EQ(seen, 0U);
}

TEST_F(A21_Metadata, a_tracing_collector_visits_its_objects) {
  Tensor y = toy::exp(leaf({2}, {1, 2}));
  int user = 0;
  set_metadata(*grad_fn(y), "a", object_value(nullptr, {&user, [](void*) {}}));
  int64_t visits = 0;
  const auto count = [](void* arg, void*, void (*)(void*)) { ++*static_cast<int64_t*>(arg); };
  visit_host_data(y, {count, &visits});
  EXPECT_EQ(visits, 1);
}

TEST_F(A21_Metadata, threads_may_change_it_at_the_same_time) {
  const Tensor y = toy::exp(leaf({2}, {1, 2}));
  Node& node = *grad_fn(y);
  const auto work = [&node](const char* key) {
    for (int i = 0; i < 200; ++i) {
      set_metadata(node, key, text_value(std::to_string(i)));
      EXPECT_EQ(find_metadata(node, key)->text, std::to_string(i));
    }
  };
  std::thread other([&] { work("other"); });
  work("mine");
  other.join();
  EXPECT_EQ(metadata_keys(node).size(), 2U);
}

}  // namespace
}  // namespace tsr::test_metadata
