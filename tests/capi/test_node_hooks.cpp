// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Hooks on nodes and on several tensors through the C ABI: ownership, order, failures. Row A9.
#include <string>
#include <vector>

#include "capi/abi_support.h"
#include "capi/example_support.h"

namespace test_node_hooks {

using namespace tsr::test;

namespace {

int g_exception = 0;  // represents a host-language exception object

struct Owned {
  explicit Owned(tsr_tensor handle) : tensor(handle) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { tsr_tensor_release(tensor); }
  operator tsr_tensor() const { return tensor; }
  tsr_tensor tensor;
};

struct OwnedNode {
  OwnedNode() = default;
  OwnedNode(const OwnedNode&) = delete;
  OwnedNode& operator=(const OwnedNode&) = delete;
  ~OwnedNode() { tsr_node_release(node); }
  operator tsr_node() const { return node; }
  tsr_node node = nullptr;
  int64_t output = -1;
};

void edge_of(tsr_tensor tensor, OwnedNode& edge) {
  ok(tsr_tensor_gradient_edge(tensor, &edge.node, &edge.output));
}

tsr_status backward(tsr_tensor root, int32_t flags = 0) {
  const tsr_tensor seed[1] = {nullptr};
  return tsr_backward(&root, 1, seed, 1, nullptr, 0, flags);
}

Tensor total_of(tsr_tensor tensor) {
  Tensor total;
  ok(tsr_sum(tensor, nullptr, -1, 0, -1, total.slot()));
  return total;
}

tsr_status set_failure() {
  ok(tsr_error_set(TSR_CALLBACK, "the host's own words", -1, &g_exception, nullptr));
  return TSR_CALLBACK;
}

// What the callbacks of a test have noted.
struct Notes {
  std::string order;
  int references = 1;
  int drops = 0;
};

tsr_status times_ten(void* user, const tsr_tensor* grads, int32_t n, tsr_tensor* replacements,
                     int32_t* replaced) {
  static_cast<Notes*>(user)->order += 'b';
  *replaced = 1;
  return n == 1 ? tsr_multiply_scalar(grads[0], TSR_F64(10), replacements) : set_failure();
}

tsr_status note_results(void* user, const tsr_tensor* results, int32_t n_results,
                        const tsr_tensor* grads, int32_t n_grads, tsr_tensor*, int32_t*) {
  auto& notes = *static_cast<Notes*>(user);
  notes.order += 'p';
  for (int32_t i = 0; i < n_results; ++i) notes.order += results[i] != nullptr ? '1' : '0';
  for (int32_t i = 0; i < n_grads; ++i) notes.order += grads[i] != nullptr ? '1' : '0';
  return TSR_OK;
}

void note_drop(void* user) {
  auto& notes = *static_cast<Notes*>(user);
  ++notes.drops;
  --notes.references;
}
void note_retain(void* user) {
  ++static_cast<Notes*>(user)->references;
}

tsr_status note_gradients(void* user, const tsr_tensor* grads, int32_t n) {
  auto& notes = *static_cast<Notes*>(user);
  notes.order += '[';
  for (int32_t i = 0; i < n; ++i) notes.order += grads[i] != nullptr ? '1' : '0';
  notes.order += ']';
  return TSR_OK;
}

tsr_multi_hook_vtable table_of(int32_t mode, bool counted) {
  tsr_multi_hook_vtable table = {};
  table.struct_size = sizeof(table);
  table.mode = mode;
  table.run = note_gradients;
  table.retain = counted ? note_retain : nullptr;
  table.drop = note_drop;
  return table;
}

}  // namespace

TEST(A9_NodeHook, pre_and_post_run_around_the_node_and_replace) {
  Notes notes;
  const Owned x(leaf(2));
  Tensor y, grad;
  ok(tsr_exp(x, y.slot()));
  int64_t pre = 0, post = 0;
  {
    OwnedNode node;
    edge_of(y, node);
    ok(tsr_node_posthook_add(node, note_results, &notes, note_drop, &post));
    ok(tsr_node_prehook_add(node, times_ten, &notes, note_drop, &pre));
  }
  const Tensor total = total_of(y);
  ok(backward(total, TSR_BACKWARD_RETAIN_GRAPH));
  EXPECT_EQ(notes.order, "bp11");
  ok(tsr_hook_remove(pre));
  EXPECT_EQ(notes.drops, 1);
  ok(tsr_hook_remove(pre));
  EXPECT_EQ(notes.drops, 1);
  ok(backward(total));
  EXPECT_EQ(notes.order, "bp11p11");
  ok(tsr_tensor_grad(x, grad.slot()));
  EXPECT_NEAR(item(grad, 0), 11 * item(y, 0), 1e-4);
}

TEST(A9_NodeHook, failure_reaches_the_caller_with_its_payload) {
  const Owned x(leaf(2));
  Tensor y;
  ok(tsr_exp(x, y.slot()));
  OwnedNode node;
  edge_of(y, node);
  int64_t id = 0;
  ok(tsr_node_prehook_add(
      node,
      [](void*, const tsr_tensor* grads, int32_t, tsr_tensor* replacements, int32_t* replaced) {
        *replaced = 1;
        ok(tsr_exp(grads[0], replacements));
        tsr_tensor_release(replacements[0]);
        replacements[0] = nullptr;
        return set_failure();
      },
      nullptr, nullptr, &id));
  EXPECT_EQ(backward(total_of(y), TSR_BACKWARD_RETAIN_GRAPH), TSR_CALLBACK);
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  ok(tsr_error_last(&view));
  EXPECT_EQ(view.payload, &g_exception);
  EXPECT_STREQ(view.message, "the host's own words");
}

TEST(A9_NodeHook, user_data_is_dropped_once_when_registration_fails) {
  Notes notes;
  int64_t id = 0;
  OwnedNode node;
  const Owned x(leaf(2));
  edge_of(x, node);
  refused(tsr_node_prehook_add(nullptr, times_ten, &notes, note_drop, &id), TSR_INVALID_ARGUMENT);
  refused(tsr_node_prehook_add(node, nullptr, &notes, note_drop, &id), TSR_INVALID_ARGUMENT);
  refused(tsr_node_posthook_add(node, note_results, &notes, note_drop, nullptr),
          TSR_INVALID_ARGUMENT);
  EXPECT_EQ(notes.drops, 3);
}

TEST(A9_MultiHook, all_and_any_modes) {
  Notes all, any;
  const Owned x(leaf(2)), y(leaf(2)), unused(leaf(2));
  const tsr_tensor tensors[3] = {unused, x, y};
  int64_t id = 0, other = 0;
  const tsr_multi_hook_vtable all_table = table_of(TSR_MULTI_HOOK_ALL, false);
  const tsr_multi_hook_vtable any_table = table_of(TSR_MULTI_HOOK_ANY, false);
  ok(tsr_multi_hook_add(tensors, 3, &all_table, &all, &id));
  ok(tsr_multi_hook_add(tensors, 3, &any_table, &any, &other));
  for (int i = 0; i < 2; ++i) {
    Tensor product;
    ok(tsr_dot(x, y, product.slot()));
    ok(backward(product));
  }
  EXPECT_EQ(all.order, "[011][011]");
  EXPECT_EQ(any.order.size(), 10U) << "one gradient each time: " << any.order;
  ok(tsr_hook_remove(id));
  ok(tsr_hook_remove(other));
  EXPECT_EQ(all.drops, 1);
  EXPECT_EQ(any.drops, 1);
}

TEST(A9_MultiHook, counting_host_gives_each_tensor_a_reference_that_is_visited) {
  Notes notes;
  const auto visited = [&](tsr_tensor tensor) {
    std::vector<void*> found;
    ok(tsr_tensor_traverse(
        tensor,
        [](void* arg, void* user, tsr_drop_fn drop) {
          EXPECT_EQ(drop, note_drop);
          static_cast<std::vector<void*>*>(arg)->push_back(user);
        },
        &found));
    return found;
  };
  {
    const Owned x(leaf(2)), y(leaf(2));
    const tsr_tensor tensors[2] = {x, y};
    const tsr_multi_hook_vtable table = table_of(TSR_MULTI_HOOK_ALL, true);
    int64_t id = 0;
    ok(tsr_multi_hook_add(tensors, 2, &table, &notes, &id));
    EXPECT_EQ(notes.references, 2);
    EXPECT_EQ(visited(x), (std::vector<void*>{&notes}));
    EXPECT_EQ(visited(y), (std::vector<void*>{&notes}));
  }
  EXPECT_EQ(notes.references, 0);
  EXPECT_EQ(notes.drops, 2);
}

TEST(A9_MultiHook, refused_registration_drops_what_it_retained) {
  const Owned x(leaf(2));
  const Tensor plain(reals(TSR_FLOAT32, {1}, {1}));
  const tsr_tensor tensors[2] = {x, plain};
  int64_t id = 0;
  for (const bool counted : {false, true}) {
    Notes notes;
    tsr_multi_hook_vtable table = table_of(TSR_MULTI_HOOK_ALL, counted);
    refused(tsr_multi_hook_add(tensors, 2, &table, &notes, &id), TSR_AUTOGRAD);
    EXPECT_EQ(notes.references, 0);
    notes = {};
    refused(tsr_multi_hook_add(tensors, 0, &table, &notes, &id), TSR_INVALID_ARGUMENT);
    EXPECT_EQ(notes.references, 0);
    notes = {};
    table.mode = 7;
    refused(tsr_multi_hook_add(tensors, 1, &table, &notes, &id), TSR_INVALID_ARGUMENT);
    EXPECT_EQ(notes.references, 0);
    notes = {};
    table = table_of(TSR_MULTI_HOOK_ALL, counted);
    table.run = nullptr;
    refused(tsr_multi_hook_add(tensors, 1, &table, &notes, &id), TSR_INVALID_ARGUMENT);
    EXPECT_EQ(notes.references, 0);
  }
}

TEST(A9_Edge, lists_of_nodes_and_numbers_must_fit) {
  const Owned x(leaf(2));
  const Tensor total = total_of(x);
  OwnedNode edge;
  edge_of(x, edge);
  const tsr_node nodes[2] = {edge, nullptr};
  const int64_t numbers[2] = {0, -1};
  const tsr_tensor roots[1] = {total};
  tsr_tensor grads[2] = {nullptr, nullptr};
  refused(tsr_grad_edges(roots, 1, nullptr, 0, nodes, 1, numbers, 2, 0, grads), TSR_VALUE);
  refused(tsr_grad_edges(roots, 1, nullptr, 0, nodes, 2, numbers, 2, 0, grads),
          TSR_INVALID_ARGUMENT);
  refused(tsr_grad_edges(roots, 1, nullptr, 0, nodes, 1, numbers + 1, 1, 0, grads), TSR_INDEX);
  refused(tsr_backward_edges(roots, 1, nullptr, 0, nodes, 1, numbers + 1, 1, 0), TSR_INDEX);
  EXPECT_EQ(grads[0], nullptr);
}

TEST(A9_PackedTensor, is_visited_with_its_hooks) {
  static int hooks_user = 0;
  const Owned x(leaf(2));
  tsr_saved_hooks_vtable table = {};
  table.struct_size = sizeof(table);
  table.pack = keep_packed;
  table.unpack = give_packed;
  table.drop = count_drop;
  Tensor y;
  ok(tsr_saved_hooks_push(&table, &hooks_user));
  ok(tsr_exp(x, y.slot()));
  int count = 0;
  const auto visit = [](void* arg, void*, tsr_drop_fn) { ++*static_cast<int*>(arg); };
  ok(tsr_tensor_traverse(y, visit, &count));
  EXPECT_EQ(count, 1) << "the payload; the thread still has the hooks";
  ok(tsr_saved_hooks_pop());
  ok(tsr_tensor_traverse(y, visit, &count));
  EXPECT_EQ(count, 3);
  ok(backward(total_of(y)));
  ok(tsr_tensor_traverse(y, visit, &count));
  EXPECT_EQ(count, 3) << "the backward has freed them";
  EXPECT_EQ(hooks_user, 1);
}

}  // namespace test_node_hooks
