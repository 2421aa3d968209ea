// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Saved-tensor hooks over C: their uses (offload, recomputation) and their errors: each payload is
// dropped once, and each error reaches the caller.
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "capi/abi_support.h"
#include "capi/example_support.h"

namespace test_saved_hooks {

using namespace tsr::test;

namespace {

struct Pushed {
  Pushed(tsr_saved_pack_fn pack, tsr_saved_unpack_fn unpack, void* user,
         tsr_drop_fn drop = nullptr) {
    tsr_saved_hooks_vtable vtable = {};
    vtable.struct_size = sizeof(vtable);
    vtable.pack = pack;
    vtable.unpack = unpack;
    vtable.drop = drop;
    ok(tsr_saved_hooks_push(&vtable, user));
  }
  Pushed(const Pushed&) = delete;
  Pushed& operator=(const Pushed&) = delete;
  ~Pushed() { ok(tsr_saved_hooks_pop()); }
};

Tensor leaf_of(std::vector<double> values) {
  const auto count = static_cast<int64_t>(values.size());
  Tensor tensor(reals(TSR_FLOAT32, {count}, std::move(values)));
  ok(tsr_tensor_set_requires_grad(tensor, 1));
  return tensor;
}

Tensor product(tsr_tensor a, tsr_tensor b) {
  Tensor out;
  ok(tsr_multiply(a, b, out.slot()));
  return out;
}

tsr_status backward(const Tensor& output, int32_t flags = 0) {
  Tensor total;
  ok(tsr_sum(output, nullptr, -1, 0, -1, total.slot()));
  const tsr_tensor roots[1] = {total};
  return tsr_backward(roots, 1, nullptr, 0, nullptr, 0, flags);
}

void expect_grad(const Tensor& leaf, std::vector<double> values) {
  Tensor grad;
  ok(tsr_tensor_grad(leaf, grad.slot()));
  const auto count = static_cast<int64_t>(values.size());
  same(grad, reals(TSR_FLOAT32, {count}, std::move(values)));
}

tsr_error_view last() {
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  ok(tsr_error_last(&view));
  return view;
}

int64_t live_bytes() {
  tsr_memory_stats stats = {};
  stats.struct_size = sizeof(stats);
  ok(tsr_memory_stats_get(TSR_DEVICE_CPU, 0, &stats));
  return stats.allocated_bytes.all.current;
}

// ---- Offload: saved tensors leave the device's allocator, here as bytes on the host's heap ----

struct Offload {
  struct Page {
    Offload* owner;
    tsr_info info;
    std::vector<int64_t> sizes;
    std::vector<char> bytes;
  };
  int packed = 0, unpacked = 0, live = 0;

  static tsr_status pack(void* user, tsr_tensor tensor, void** payload, tsr_drop_fn* drop) {
    auto& self = *static_cast<Offload*>(user);
    auto page = std::make_unique<Page>();
    page->owner = &self;
    page->info.struct_size = sizeof(tsr_info);
    tsr_status status = tsr_tensor_info(tensor, &page->info);
    if (status != TSR_OK) return status;
    page->sizes.assign(page->info.sizes, page->info.sizes + page->info.ndim);
    page->bytes.resize(static_cast<size_t>(page->info.nbytes));
    status = tsr_tensor_read(tensor, page->bytes.data(), page->info.nbytes);
    if (status != TSR_OK) return status;
    ++self.packed;
    ++self.live;
    *payload = page.release();
    *drop = [](void* data) {
      const std::unique_ptr<Page> dropped(static_cast<Page*>(data));
      --dropped->owner->live;
    };
    return TSR_OK;
  }
  static tsr_status unpack(void* user, void* payload, tsr_tensor* tensor) {
    auto& page = *static_cast<Page*>(payload);
    ++static_cast<Offload*>(user)->unpacked;
    const tsr_status status =
        tsr_empty(page.sizes.data(), page.info.ndim, page.info.dtype, TSR_DEVICE_CPU, 0, tensor);
    return status != TSR_OK ? status
                            : tsr_tensor_write(*tensor, page.bytes.data(), page.info.nbytes);
  }
};

}  // namespace

TEST(SavedHooks, offload_frees_what_was_saved_and_brings_it_back) {
  Offload offload;
  const Tensor x = leaf_of({1, 2, 3});
  Tensor y;
  {
    const Pushed hooks(Offload::pack, Offload::unpack, &offload);
    const Tensor square = product(x, x);
    ok(tsr_exp(square, y.slot()));
  }
  EXPECT_EQ(offload.packed, 3) << "twice x, and the result of exp";
  EXPECT_EQ(offload.live, 3);
  ok(backward(y, TSR_BACKWARD_RETAIN_GRAPH));
  EXPECT_EQ(offload.unpacked, 3);
  EXPECT_EQ(offload.live, 3) << "a retained graph asks again";
  ok(tsr_tensor_set_grad(x, nullptr));
  ok(backward(y));
  EXPECT_EQ(offload.unpacked, 6);
  EXPECT_EQ(offload.live, 0);
  Tensor grad, expected;
  ok(tsr_tensor_grad(x, grad.slot()));
  const Tensor twice_x(reals(TSR_FLOAT32, {3}, {2, 4, 6}));
  ok(tsr_multiply(twice_x, y, expected.slot()));
  Tensor difference;
  ok(tsr_subtract(grad, expected, difference.slot()));
  same(difference, reals(TSR_FLOAT32, {3}, {0, 0, 0}));
}

TEST(SavedHooks, offloaded_memory_is_not_held_by_the_graph) {
  Offload offload;
  const int64_t shape[1] = {1 << 20};
  Tensor x;
  ok(tsr_ones(shape, 1, TSR_FLOAT32, TSR_DEVICE_CPU, 0, x.slot()));
  ok(tsr_tensor_set_requires_grad(x, 1));
  const auto held_by_graph = [&] {
    const int64_t before = live_bytes();
    Tensor y, total;
    ok(tsr_exp(x, y.slot()));  // saves its result
    ok(tsr_sum(y, nullptr, -1, 0, -1, total.slot()));
    tsr_tensor_release(*y.slot());
    return live_bytes() - before;
  };
  EXPECT_GE(held_by_graph(), int64_t{4} << 20);
  const Pushed hooks(Offload::pack, Offload::unpack, &offload);
  EXPECT_LT(held_by_graph(), 1 << 16);
  EXPECT_EQ(offload.live, 0) << "the graph is gone without a backward";
}

TEST(SavedHooks, second_derivative_goes_through_what_was_unpacked) {
  Offload offload;
  const Tensor x = leaf_of({2});
  Tensor cube, first, second;
  {
    const Pushed hooks(Offload::pack, Offload::unpack, &offload);
    const Tensor square = product(x, x);
    ok(tsr_multiply(square, x, cube.slot()));
  }
  const tsr_tensor in[1] = {x}, out[1] = {cube};
  ok(tsr_grad(out, 1, nullptr, 0, in, 1, TSR_BACKWARD_CREATE_GRAPH, first.slot()));
  same(first, reals(TSR_FLOAT32, {1}, {12}));
  const tsr_tensor outer[1] = {first};
  ok(tsr_grad(outer, 1, nullptr, 0, in, 1, 0, second.slot()));
  same(second, reals(TSR_FLOAT32, {1}, {12}));
}

// ---- Recomputation: only the recipe of a saved tensor is kept ----

namespace {

// f(x) = exp(x * x). Each tensor saved inside it is packed as a number; the first unpack runs f
// again and restores all of them.
struct Checkpoint {
  struct Number {
    Checkpoint* owner;
    int64_t value;
  };
  tsr_tensor input = nullptr;
  bool recording = false;
  int64_t saved = 0;
  int recomputations = 0, drops = 0;
  std::map<int64_t, tsr_tensor> again;

  ~Checkpoint() { forget(); }
  void forget() {
    for (const auto& [number, tensor] : again) tsr_tensor_release(tensor);
    again.clear();
  }
  static void forward(tsr_tensor x, tsr_tensor* out) {
    const Tensor square = product(x, x);
    ok(tsr_exp(square, out));
  }
  static tsr_status pack(void* user, tsr_tensor tensor, void** payload, tsr_drop_fn* drop) {
    auto& self = *static_cast<Checkpoint*>(user);
    if (self.recording) {
      tsr_tensor_retain(tensor);
      self.again[self.saved++] = tensor;
      return TSR_OK;
    }
    *payload = new Number{&self, self.saved++};
    *drop = [](void* data) {
      const std::unique_ptr<Number> number(static_cast<Number*>(data));
      ++number->owner->drops;
    };
    return TSR_OK;
  }
  static tsr_status unpack(void* user, void* payload, tsr_tensor* tensor) {
    auto& self = *static_cast<Checkpoint*>(user);
    if (self.again.empty()) {
      int32_t before = 0;
      ok(tsr_grad_mode_set(1, &before));
      self.recording = true;
      self.saved = 0;
      ++self.recomputations;
      {
        const Pushed hooks(pack, unpack, user);
        Tensor unused;
        forward(self.input, unused.slot());
      }
      self.recording = false;
      ok(tsr_grad_mode_set(before, &before));
    }
    *tensor = self.again.at(static_cast<Number*>(payload)->value);
    tsr_tensor_retain(*tensor);
    return TSR_OK;
  }
};

}  // namespace

TEST(SavedHooks, checkpoint_computes_again_what_it_did_not_keep) {
  const Tensor x = leaf_of({0.5, 1});
  const Tensor plain = leaf_of({0.5, 1});
  const int64_t nodes = tsr_live_nodes();
  {
    Checkpoint checkpoint;
    checkpoint.input = x;
    Tensor y;
    {
      const Pushed hooks(Checkpoint::pack, Checkpoint::unpack, &checkpoint);
      Checkpoint::forward(x, y.slot());
    }
    EXPECT_EQ(checkpoint.saved, 3);
    ok(backward(y));
    EXPECT_EQ(checkpoint.recomputations, 1);
    EXPECT_EQ(checkpoint.drops, 3);
    Tensor kept;
    Checkpoint::forward(plain, kept.slot());
    ok(backward(kept));
  }
  Tensor grad, expected, equal;
  ok(tsr_tensor_grad(x, grad.slot()));
  ok(tsr_tensor_grad(plain, expected.slot()));
  Tensor difference;
  ok(tsr_subtract(grad, expected, difference.slot()));
  same(difference, reals(TSR_FLOAT32, {2}, {0, 0}), 0, 0);
  EXPECT_LE(tsr_live_nodes(), nodes + 2) << "the leaves' accumulators";
}

// ---- The stack ----

TEST(SavedHooks, innermost_hooks_hold_and_none_saves_plainly) {
  Offload outer, inner;
  const Tensor x = leaf_of({3});
  const Pushed first(Offload::pack, Offload::unpack, &outer);
  {
    const Pushed second(Offload::pack, Offload::unpack, &inner);
    ok(backward(product(x, x)));
    const Pushed plainly(nullptr, nullptr, nullptr);
    ok(backward(product(x, x)));
  }
  EXPECT_EQ(inner.packed, 2);
  EXPECT_EQ(outer.packed, 0);
  ok(backward(product(x, x)));
  EXPECT_EQ(outer.packed, 2);
  expect_grad(x, {18});
}

TEST(SavedHooks, stack_belongs_to_its_thread) {
  Offload offload;
  const Tensor x = leaf_of({3});
  const Pushed hooks(Offload::pack, Offload::unpack, &offload);
  std::thread([&] {
    static_cast<void>(product(x, x));
    refused(tsr_saved_hooks_pop(), TSR_AUTOGRAD);
  }).join();
  EXPECT_EQ(offload.packed, 0);
}

TEST(SavedHooks, saved_state_carries_the_stack_to_another_thread) {
  Offload offload;
  const Tensor x = leaf_of({3});
  tsr_ambient ambient = nullptr;
  {
    const Pushed hooks(Offload::pack, Offload::unpack, &offload);
    ok(tsr_ambient_save(&ambient));
  }
  std::thread([&] {
    ok(tsr_ambient_restore(ambient));
    static_cast<void>(product(x, x));
    ok(tsr_saved_hooks_pop());
    static_cast<void>(product(x, x));
  }).join();
  EXPECT_EQ(offload.packed, 2);
  static_cast<void>(product(x, x));
  EXPECT_EQ(offload.packed, 2) << "this thread has none";
  tsr_ambient_release(ambient);
}

TEST(SavedHooks, thread_that_ends_leaves_the_drop_to_poll) {
  int drops = 0;
  std::thread([&] {
    tsr_saved_hooks_vtable vtable = {};
    vtable.struct_size = sizeof(vtable);
    vtable.pack = Offload::pack;
    vtable.unpack = Offload::unpack;
    vtable.drop = count_drop;
    ok(tsr_saved_hooks_push(&vtable, &drops));
  }).join();
  EXPECT_EQ(drops, 0) << "host code must not run in a thread that is ending";
  int64_t count = 0;
  ok(tsr_poll(&count));
  EXPECT_EQ(drops, 1);
}

TEST(SavedHooks, user_data_is_dropped_when_nothing_can_ask_for_it) {
  int drops = 0;
  const Tensor x = leaf_of({3});
  Tensor y;
  {
    const Pushed hooks(keep_packed, give_packed, &drops, count_drop);
    ok(tsr_multiply(x, x, y.slot()));
  }
  EXPECT_EQ(drops, 0);
  ok(backward(y));
  EXPECT_EQ(drops, 1);
  tsr_saved_hooks_vtable half = {};
  half.struct_size = sizeof(half);
  half.pack = keep_packed;
  half.drop = count_drop;
  refused(tsr_saved_hooks_push(&half, &drops), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(drops, 2);
  half.unpack = give_packed;
  half.flags = 1;
  refused(tsr_saved_hooks_push(&half, &drops), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(drops, 3);
}

TEST(SavedHooks, drops_wait_where_they_are_deferred) {
  Offload offload;
  const Tensor x = leaf_of({3});
  {
    const Pushed hooks(Offload::pack, Offload::unpack, &offload);
    Tensor y = product(x, x);
    ok(tsr_defer_drops(1));
    tsr_tensor_release(*y.slot());
  }
  EXPECT_EQ(offload.live, 2);
  ok(tsr_defer_drops(0));
  int64_t count = 0;
  ok(tsr_poll(&count));
  EXPECT_EQ(offload.live, 0);
}

// ---- Failures ----

TEST(SavedHooks, failing_pack_fails_the_function_that_saves) {
  static int exception = 0;
  const Tensor x = leaf_of({3});
  const Pushed hooks(
      [](void*, tsr_tensor, void**, tsr_drop_fn*) {
        ok(tsr_error_set(TSR_CALLBACK, "the disk is full", -1, &exception, nullptr));
        return tsr_status{TSR_CALLBACK};
      },
      give_packed, nullptr);
  tsr_tensor y = nullptr;
  EXPECT_EQ(tsr_multiply(x, x, &y), TSR_CALLBACK);
  EXPECT_EQ(y, nullptr);
  EXPECT_EQ(last().payload, &exception);
  EXPECT_STREQ(last().message, "the disk is full");
}

TEST(SavedHooks, payload_of_a_pack_that_fails_stays_with_the_callback) {
  static int drops = 0;
  drops = 0;
  const Tensor x = leaf_of({3});
  const Pushed hooks(
      [](void*, tsr_tensor, void** payload, tsr_drop_fn* drop) {
        *payload = &drops;
        *drop = count_drop;
        return tsr_status{TSR_IO};
      },
      give_packed, nullptr);
  Tensor y;
  refused(tsr_multiply(x, x, y.slot()), TSR_IO);
  EXPECT_EQ(drops, 0);
}

TEST(SavedHooks, failing_unpack_fails_the_backward_and_leaves_the_engine_usable) {
  static int exception = 0;
  const Tensor x = leaf_of({3});
  Tensor y;
  {
    const Pushed hooks(
        keep_packed,
        [](void*, void*, tsr_tensor*) {
          ok(tsr_error_set(TSR_CALLBACK, "the disk is gone", -1, &exception, nullptr));
          return tsr_status{TSR_CALLBACK};
        },
        nullptr);
    ok(tsr_multiply(x, x, y.slot()));
  }
  EXPECT_EQ(backward(y), TSR_CALLBACK);
  EXPECT_EQ(last().payload, &exception);
  ok(backward(product(x, x)));
  expect_grad(x, {6});
}

TEST(SavedHooks, unpack_must_return_what_was_packed) {
  const Tensor x = leaf_of({3, 4});
  const auto unpacks_to = [&](tsr_saved_unpack_fn unpack, const char* reason) {
    Tensor y;
    {
      const Pushed hooks(keep_packed, unpack, nullptr);
      ok(tsr_multiply(x, x, y.slot()));
    }
    EXPECT_EQ(backward(y), TSR_AUTOGRAD);
    EXPECT_NE(std::string(last().message).find(reason), std::string::npos) << last().message;
  };
  unpacks_to([](void*, void*, tsr_tensor*) { return tsr_status{TSR_OK}; }, "got none");
  unpacks_to(
      [](void*, void*, tsr_tensor* out) {
        *out = f32_vector(5);
        return tsr_status{TSR_OK};
      },
      "float32 [5]");
  unpacks_to(
      [](void*, void*, tsr_tensor* out) {
        *out = i64_vector(2);
        return tsr_status{TSR_OK};
      },
      "int64 [2]");
}

TEST(SavedHooks, pack_cannot_pop_its_own_hooks) {
  const Tensor x = leaf_of({3});
  const Pushed hooks(
      [](void* user, tsr_tensor tensor, void** payload, tsr_drop_fn* drop) {
        EXPECT_EQ(tsr_saved_hooks_pop(), TSR_AUTOGRAD);
        return keep_packed(user, tensor, payload, drop);
      },
      give_packed, nullptr);
  ok(backward(product(x, x)));
  expect_grad(x, {6});
}

TEST(SavedHooks, what_pack_leaves_pushed_goes) {
  static int dropped;
  dropped = 0;
  const Tensor x = leaf_of({3});
  Tensor y;
  {
    const Pushed hooks(
        [](void* user, tsr_tensor tensor, void** payload, tsr_drop_fn* drop) {
          tsr_saved_hooks_vtable inner = {};
          inner.struct_size = sizeof(inner);
          inner.pack = keep_packed;
          inner.unpack = give_packed;
          inner.drop = [](void*) { ++dropped; };
          ok(tsr_saved_hooks_push(&inner, nullptr));
          return keep_packed(user, tensor, payload, drop);
        },
        give_packed, nullptr);
    ok(tsr_multiply(x, x, y.slot()));
    EXPECT_EQ(dropped, 2);
  }
  EXPECT_EQ(tsr_saved_hooks_pop(), TSR_AUTOGRAD);
  ok(backward(y));
  expect_grad(x, {6});
}

TEST(SavedHooks, what_goes_with_the_hooks_may_push_others) {
  static int pushed;
  pushed = 0;
  const Tensor x = leaf_of({3});
  tsr_saved_hooks_vtable outer = {};
  outer.struct_size = sizeof(outer);
  outer.pack = keep_packed;
  outer.unpack = give_packed;
  outer.drop = [](void*) {
    tsr_saved_hooks_vtable inner = {};
    inner.struct_size = sizeof(inner);
    ok(tsr_saved_hooks_push(&inner, nullptr));
    ++pushed;
  };
  ok(tsr_saved_hooks_push(&outer, nullptr));
  ok(tsr_saved_hooks_pop());
  EXPECT_EQ(pushed, 1);
  ok(backward(product(x, x)));
  ok(tsr_saved_hooks_pop());
  EXPECT_EQ(tsr_saved_hooks_pop(), TSR_AUTOGRAD);
}

}  // namespace test_saved_hooks
