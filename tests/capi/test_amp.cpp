// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Autocast and gradient scalers over C (feature row AMP; E12 for the state of a backward).
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "capi/example_support.h"
#include "capi/optimizer_support.h"
#include "support/places.h"

namespace test_amp {

using namespace tsr::test;

namespace {

tsr_autocast_state state_of(tsr_device_type type = TSR_DEVICE_CPU) {
  tsr_autocast_state state = {};
  state.struct_size = sizeof(state);
  ok(tsr_autocast_get(type, &state));
  return state;
}

// A region on the CPU.
class Region {
 public:
  explicit Region(tsr_dtype dtype = TSR_BFLOAT16, int32_t enabled = 1, int32_t cache = 1) {
    tsr_autocast_state state = state_of();
    state.enabled = enabled;
    state.dtype = dtype;
    state.cache_enabled = cache;
    ok(tsr_autocast_begin(&state, &before_));
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() { ok(tsr_autocast_end(&before_)); }

 private:
  tsr_autocast_state before_ = state_of();
};

tsr_dtype dtype_of(tsr_tensor tensor) {
  tsr_info info = {};
  info.struct_size = sizeof(info);
  ok(tsr_tensor_info(tensor, &info));
  return info.dtype;
}

Tensor matrix(tsr_dtype dtype = TSR_FLOAT32) {
  return Tensor(reals(dtype, {2, 2}, {1, 2, 3, 4}));
}

tsr_dtype dtype_of_product(tsr_tensor a, tsr_tensor b) {
  Tensor product;
  ok(tsr_matmul(a, b, product.slot()));
  return dtype_of(product);
}

// ---- what is traced ----

struct Launches {
  int copies = 0;
};
void count_copies(void* user, const tsr_trace_event* event) {
  if (event->phase == TSR_TRACE_BEGIN && strcmp(event->name, "copy") == 0) {
    ++static_cast<Launches*>(user)->copies;
  }
}

template <class Body>
int copies_in(const Body& body) {
  Launches launches;
  ok(tsr_trace_set(count_copies, &launches, nullptr, TSR_TRACE_LAUNCH));
  body();
  ok(tsr_trace_set(nullptr, nullptr, nullptr, 0));
  return launches.copies;
}

}  // namespace

// ---- regions ----

TEST(AMP_Autocast, casts_listed_operators_inside_a_region_only) {
  const Tensor a = matrix();
  EXPECT_EQ(dtype_of_product(a, a), TSR_FLOAT32);
  {
    const Region region;
    EXPECT_EQ(dtype_of_product(a, a), TSR_BFLOAT16);
    Tensor sum;
    ok(tsr_add(a, a, sum.slot()));
    EXPECT_EQ(dtype_of(sum), TSR_FLOAT32);
  }
  EXPECT_EQ(dtype_of_product(a, a), TSR_FLOAT32);
}

TEST(AMP_Autocast, takes_the_dtype_of_the_innermost_region) {
  const Tensor a = matrix();
  const Region outer(TSR_FLOAT16);
  EXPECT_EQ(dtype_of_product(a, a), TSR_FLOAT16);
  {
    const Region inner(TSR_BFLOAT16);
    EXPECT_EQ(dtype_of_product(a, a), TSR_BFLOAT16);
    {
      const Region off(TSR_BFLOAT16, 0);
      EXPECT_EQ(dtype_of_product(a, a), TSR_FLOAT32);
    }
    EXPECT_EQ(dtype_of_product(a, a), TSR_BFLOAT16);
  }
  EXPECT_EQ(dtype_of_product(a, a), TSR_FLOAT16);
}

TEST(AMP_Autocast, belongs_to_its_thread) {
  const Tensor a = matrix();
  const Region region;
  tsr_dtype elsewhere = 0;
  std::thread([&] {
    elsewhere = dtype_of_product(a, a);
    // A thread that ends with autocast on leaves nothing behind.
    tsr_autocast_state state = state_of();
    state.enabled = 1;
    ok(tsr_autocast_set(&state));
  }).join();
  EXPECT_EQ(elsewhere, TSR_FLOAT32);
  EXPECT_EQ(dtype_of_product(a, a), TSR_BFLOAT16);
}

TEST(AMP_Autocast, goes_with_the_saved_state_to_another_thread) {
  const Tensor a = matrix();
  tsr_ambient ambient = nullptr;
  {
    const Region region(TSR_FLOAT16);
    ok(tsr_ambient_save(&ambient));
  }
  tsr_dtype elsewhere = 0;
  std::thread([&] {
    ok(tsr_ambient_restore(ambient));
    elsewhere = dtype_of_product(a, a);
  }).join();
  EXPECT_EQ(elsewhere, TSR_FLOAT16);
  tsr_ambient_release(ambient);
}

TEST(AMP_Autocast, refuses_what_is_no_state) {
  tsr_autocast_state state = state_of();
  refused(tsr_autocast_end(&state), TSR_VALUE);
  state.dtype = TSR_FLOAT32;
  refused(tsr_autocast_set(&state), TSR_DTYPE);
  state = state_of();
  state.device_type = 3;
  refused(tsr_autocast_set(&state), TSR_DEVICE);
  state = state_of();
  state.enabled = 2;
  refused(tsr_autocast_begin(&state, &state), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(state_of().enabled, 0);
}

TEST(AMP_Autocast, begins_with_bfloat16_on_the_cpu_and_float16_on_cuda) {
  EXPECT_EQ(state_of(TSR_DEVICE_CPU).dtype, TSR_BFLOAT16);
  EXPECT_EQ(state_of(TSR_DEVICE_CUDA).dtype, TSR_FLOAT16);
  EXPECT_EQ(state_of().cache_enabled, 1);
}

// ---- the lists ----

TEST(AMP_Autocast, lifts_what_needs_the_range_of_float32) {
  const Tensor half(reals(TSR_FLOAT16, {2}, {11, 12}));  // exp(12) is beyond float16
  const Region region(TSR_FLOAT16);
  Tensor grown;
  ok(tsr_exp(half, grown.slot()));
  EXPECT_EQ(dtype_of(grown), TSR_FLOAT32);
  EXPECT_NEAR(item(grown, 1), std::exp(12.0), 1);
}

TEST(AMP_Autocast, promotes_lists_to_the_widest_dtype) {
  const Tensor half = matrix(TSR_BFLOAT16), full = matrix();
  const Region region;
  const tsr_tensor both[] = {half, full}, halves[] = {half, half};
  Tensor joined;
  ok(tsr_stack(both, 2, 0, joined.slot()));
  EXPECT_EQ(dtype_of(joined), TSR_FLOAT32);
  ok(tsr_stack(halves, 2, 0, joined.slot()));
  EXPECT_EQ(dtype_of(joined), TSR_BFLOAT16);
}

TEST(AMP_Autocast, refuses_binary_cross_entropy_and_names_the_safe_form) {
  const Tensor p(reals(TSR_FLOAT32, {2}, {0.5, 0.5})), t(reals(TSR_FLOAT32, {2}, {0, 1}));
  Tensor loss;
  ok(tsr_binary_cross_entropy(p, t, nullptr, "mean", -1, loss.slot()));
  const Region region;
  refused(tsr_binary_cross_entropy(p, t, nullptr, "mean", -1, loss.slot()), TSR_DTYPE);
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  ok(tsr_error_last(&view));
  EXPECT_NE(std::string(view.message).find("binary_cross_entropy_with_logits"), std::string::npos);
  EXPECT_EQ(static_cast<tsr_tensor>(loss), nullptr);
}

TEST(AMP_Autocast, leaves_float64_integers_in_place_and_out_forms_alone) {
  const Tensor doubles = matrix(TSR_FLOAT64), full = matrix(), other = matrix();
  const Tensor whole(ints(TSR_INT64, {2, 2}, {1, 2, 3, 4}));
  const Region region;
  EXPECT_EQ(dtype_of_product(doubles, doubles), TSR_FLOAT64);
  EXPECT_EQ(dtype_of_product(whole, whole), TSR_INT64);
  ok(tsr_matmul_out(full, full, other));
  EXPECT_EQ(literal_of(other).real, (std::vector<double>{7, 10, 15, 22}));
  ok(tsr_addmm_inplace(other, full, full, 1, 1));
  EXPECT_EQ(dtype_of(other), TSR_FLOAT32);
}

TEST(AMP_Autocast, reports_wrong_handles_as_without_it) {
  const Tensor a = matrix();
  Tensor out;
  const Region region;
  refused(tsr_matmul(a, nullptr, out.slot()), TSR_INVALID_ARGUMENT);
  refused(tsr_matmul(wrong_kind(), a, out.slot()), TSR_INVALID_ARGUMENT);
  refused(tsr_stack(nullptr, 2, 0, out.slot()), TSR_INVALID_ARGUMENT);
  refused(tsr_matmul(a, a, nullptr), TSR_INVALID_ARGUMENT);
}

// ---- gradients and the cache ----

TEST(AMP_Autocast, returns_gradients_in_the_dtype_of_the_parameter) {
  const Tensor weight = parameter(TSR_FLOAT32, {2, 2}, {1, 2, 3, 4});
  const Tensor input = matrix();
  Tensor product, total, grad;
  {
    const Region region;
    ok(tsr_matmul(input, weight, product.slot()));
    ok(tsr_sum(product, nullptr, -1, 0, -1, total.slot()));
    EXPECT_EQ(dtype_of(total), TSR_FLOAT32);
  }
  const tsr_tensor root = total;
  ok(tsr_backward(&root, 1, nullptr, 0, nullptr, 0, 0));
  ok(tsr_tensor_grad(weight, grad.slot()));
  EXPECT_EQ(dtype_of(grad), TSR_FLOAT32);
  EXPECT_EQ(literal_of(grad).real, (std::vector<double>{4, 4, 6, 6}));
}

TEST(AMP_Autocast, casts_a_parameter_once_in_a_region) {
  const Tensor weight = parameter(TSR_FLOAT32, {2, 2}, {1, 2, 3, 4});
  const Tensor input = matrix(TSR_BFLOAT16);
  const auto twice = [&] {
    dtype_of_product(input, weight);
    dtype_of_product(input, weight);
  };
  const Region outer;
  EXPECT_EQ(copies_in(twice), 1);
  EXPECT_EQ(copies_in(twice), 0);
  {
    const Region inner;
    EXPECT_EQ(copies_in(twice), 0);
  }
  EXPECT_EQ(copies_in(twice), 0) << "the end of an inner region keeps the casts";
  ok(tsr_autocast_clear_cache());
  EXPECT_EQ(copies_in(twice), 1);
  const Region without(TSR_BFLOAT16, 1, 0);
  EXPECT_EQ(copies_in(twice), 2);
}

TEST(AMP_Autocast, gives_the_gradients_of_all_uses_through_one_cast) {
  const Tensor weight = parameter(TSR_FLOAT32, {2, 2}, {1, 2, 3, 4});
  const Tensor input = matrix();
  const Region region;
  for (int i = 0; i < 2; ++i) {  // two backwards through the cast that is kept
    Tensor first, second, both, total;
    ok(tsr_matmul(input, weight, first.slot()));
    ok(tsr_matmul(input, weight, second.slot()));
    ok(tsr_add(first, second, both.slot()));
    ok(tsr_sum(both, nullptr, -1, 0, -1, total.slot()));
    const tsr_tensor root = total;
    ok(tsr_backward(&root, 1, nullptr, 0, nullptr, 0, 0));
  }
  Tensor grad;
  ok(tsr_tensor_grad(weight, grad.slot()));
  EXPECT_EQ(literal_of(grad).real, (std::vector<double>{16, 16, 24, 24}));
}

TEST(AMP_Autocast, casts_a_parameter_again_after_it_was_written) {
  const Tensor weight = parameter(TSR_FLOAT32, {1, 1}, {1});
  const Tensor one(reals(TSR_FLOAT32, {1, 1}, {1}));
  const Region region;
  Tensor product;
  ok(tsr_matmul(one, weight, product.slot()));
  EXPECT_EQ(values_of(product)[0], 1);
  int32_t before = 0, ignored = 0;
  ok(tsr_grad_mode_set(0, &before));
  ok(tsr_fill_inplace(weight, TSR_F64(3)));
  ok(tsr_grad_mode_set(before, &ignored));
  ok(tsr_matmul(one, weight, product.slot()));
  EXPECT_EQ(values_of(product)[0], 3);
  const Tensor other(reals(TSR_FLOAT32, {1, 1}, {5}));
  ok(tsr_tensor_set_data(weight, other));
  ok(tsr_matmul(one, weight, product.slot()));
  EXPECT_EQ(values_of(product)[0], 5);
}

TEST(AMP_Autocast, records_the_cast_of_a_parameter_that_was_first_used_without_recording) {
  const Tensor weight = parameter(TSR_FLOAT32, {1, 1}, {2});
  const Tensor one(reals(TSR_FLOAT32, {1, 1}, {1}));
  const Region region;
  int32_t before = 0, ignored = 0;
  ok(tsr_grad_mode_set(0, &before));
  dtype_of_product(one, weight);
  ok(tsr_grad_mode_set(before, &ignored));
  Tensor product, grad;
  ok(tsr_matmul(one, weight, product.slot()));
  const tsr_tensor root = product;
  ok(tsr_backward(&root, 1, nullptr, 0, nullptr, 0, 0));
  ok(tsr_tensor_grad(weight, grad.slot()));
  EXPECT_EQ(literal_of(grad).real, (std::vector<double>{1}));
}

TEST(AMP_Autocast, drops_its_casts_when_the_outermost_region_ends) {
  const int64_t before = live_tensors();
  {
    const Tensor weight = parameter(TSR_FLOAT32, {2, 2}, {1, 2, 3, 4});
    const Region region;
    dtype_of_product(weight, weight);
  }
  EXPECT_EQ(live_tensors(), before);
}

TEST(AMP_Autocast, does_not_reach_the_formulas_of_a_backward) {
  // E12: the gradients of a float32 product made outside are float32 although autocast is on.
  const Tensor weight = parameter(TSR_FLOAT32, {2, 2}, {1, 2, 3, 4});
  Tensor product, grad;
  ok(tsr_matmul(weight, weight, product.slot()));
  const Tensor third(reals(TSR_FLOAT32, {2, 2}, {1. / 3, 1. / 3, 1. / 3, 1. / 3}));
  const tsr_tensor root = product, seed = third;
  const Region region;
  ok(tsr_backward(&root, 1, &seed, 1, nullptr, 0, 0));
  ok(tsr_tensor_grad(weight, grad.slot()));
  EXPECT_NEAR(literal_of(grad).real[0], (3 + 4) / 3., 1e-6) << "bfloat16 has three digits";
}

// ---- scalers ----

namespace {

class Scaler {
 public:
  explicit Scaler(const std::function<void(tsr_grad_scaler_state&)>& change = {}) {
    tsr_grad_scaler_state state = {};
    state.struct_size = sizeof(state);
    ok(tsr_grad_scaler_defaults(&state));
    state.scale = 8;
    if (change) change(state);
    ok(tsr_grad_scaler_new(&state, &handle_));
    const Tensor loss(reals(TSR_FLOAT32, {}, {1}));
    Tensor scaled;
    ok(tsr_grad_scaler_scale(handle_, loss, scaled.slot()));
  }
  Scaler(const Scaler&) = delete;
  Scaler& operator=(const Scaler&) = delete;
  ~Scaler() { tsr_grad_scaler_release(handle_); }
  operator tsr_grad_scaler() const { return handle_; }
  [[nodiscard]] tsr_grad_scaler_state state() const {
    tsr_grad_scaler_state state = {};
    state.struct_size = sizeof(state);
    ok(tsr_grad_scaler_state_get(handle_, &state));
    return state;
  }
  [[nodiscard]] bool step(tsr_optimizer optimizer) const {
    int32_t stepped = -1;
    ok(tsr_grad_scaler_step(handle_, optimizer, &stepped));
    return stepped == 1;
  }
  void update() const { ok(tsr_grad_scaler_update(handle_, 0, 0)); }

 private:
  tsr_grad_scaler handle_ = nullptr;
};

Optimizer sgd(tsr_tensor param) {
  return Optimizer(options_of(TSR_OPTIMIZER_SGD, [](auto& o) { o.lr = 1; }), {param});
}

}  // namespace

TEST(AMP_GradScaler, divides_gradients_and_steps) {
  const Tensor w = parameter(TSR_FLOAT32, {2}, {1, 2});
  const Optimizer optimizer = sgd(w);
  const Scaler scaler;
  set_grad(w, reals(TSR_FLOAT32, {2}, {8, 16}));
  EXPECT_TRUE(scaler.step(optimizer));
  EXPECT_EQ(values_of(w), (std::vector<double>{0, 0}));
  scaler.update();
  EXPECT_EQ(scaler.state().growth_tracker, 1);
}

TEST(AMP_GradScaler, skips_a_step_and_shrinks_where_a_gradient_is_not_finite) {
  for (const double bad : {kInf, -kInf, kNan}) {
    for (const tsr_dtype dtype : {TSR_FLOAT32, TSR_BFLOAT16, TSR_FLOAT64}) {
      const Tensor w = parameter(dtype, {3}, {1, 2, 3});
      const Optimizer optimizer = sgd(w);
      const Scaler scaler;
      set_grad(w, reals(dtype, {3}, {8, bad, 8}));
      EXPECT_FALSE(scaler.step(optimizer));
      int32_t found = 0;
      ok(tsr_grad_scaler_found_inf(scaler, optimizer, &found));
      EXPECT_EQ(found, 1);
      EXPECT_EQ(values_of(w), (std::vector<double>{1, 2, 3}));
      scaler.update();
      EXPECT_EQ(scaler.state().scale, 4);
      EXPECT_EQ(scaler.state().growth_tracker, 0);
    }
  }
}

TEST(AMP_GradScaler, grows_after_the_interval) {
  const Tensor w = parameter(TSR_FLOAT32, {1}, {1});
  const Optimizer optimizer = sgd(w);
  const Scaler scaler([](auto& state) { state.growth_interval = 2; });
  for (const double expected : {8., 16., 16., 32.}) {
    set_grad(w, reals(TSR_FLOAT32, {1}, {0}));
    EXPECT_TRUE(scaler.step(optimizer));
    scaler.update();
    EXPECT_EQ(scaler.state().scale, expected);
  }
}

TEST(AMP_GradScaler, stays_a_finite_number_above_zero) {
  const Tensor w = parameter(TSR_FLOAT32, {1}, {1});
  const Optimizer optimizer = sgd(w);
  const Scaler high([](auto& state) {
    state.scale = 3e38;
    state.growth_interval = 1;
  });
  set_grad(w, reals(TSR_FLOAT32, {1}, {0}));
  EXPECT_TRUE(high.step(optimizer));
  high.update();
  EXPECT_EQ(high.state().scale, static_cast<double>(3e38F));
  const Scaler low([](auto& state) { state.scale = 1e-45; });
  set_grad(w, reals(TSR_FLOAT32, {1}, {kInf}));
  EXPECT_FALSE(low.step(optimizer));
  low.update();
  EXPECT_GT(low.state().scale, 0);
}

TEST(AMP_GradScaler, keeps_a_state_for_each_optimizer) {
  const Tensor a = parameter(TSR_FLOAT32, {1}, {1}), b = parameter(TSR_FLOAT32, {1}, {1});
  const Optimizer first = sgd(a), second = sgd(b);
  const Scaler scaler;
  set_grad(a, reals(TSR_FLOAT32, {1}, {8}));
  set_grad(b, reals(TSR_FLOAT32, {1}, {kInf}));
  ok(tsr_grad_scaler_unscale(scaler, first));
  EXPECT_TRUE(scaler.step(first));
  EXPECT_FALSE(scaler.step(second));
  EXPECT_EQ(item(a, 0), 0);
  EXPECT_EQ(item(b, 0), 1);
  scaler.update();
  EXPECT_EQ(scaler.state().scale, 4);
}

TEST(AMP_GradScaler, lets_gradients_be_clipped_between_unscale_and_step) {
  const Tensor w = parameter(TSR_FLOAT32, {2}, {1, 1});
  const Optimizer optimizer = sgd(w);
  const Scaler scaler;
  set_grad(w, reals(TSR_FLOAT32, {2}, {24, 32}));  // 3 and 4 after the division
  ok(tsr_grad_scaler_unscale(scaler, optimizer));
  Tensor norm;
  const tsr_tensor param = w;
  ok(tsr_clip_grad_norm(&param, 1, 1, 2, 0, norm.slot()));
  EXPECT_NEAR(item(norm, 0), 5, 1e-6);
  EXPECT_TRUE(scaler.step(optimizer));
  EXPECT_NEAR(item(w, 0), 1 - 0.6, 1e-5);
}

TEST(AMP_GradScaler, refuses_calls_out_of_order) {
  const Tensor w = parameter(TSR_FLOAT32, {1}, {1});
  const Optimizer optimizer = sgd(w);
  const Scaler scaler;
  int32_t stepped = 0;
  refused(tsr_grad_scaler_update(scaler, 0, 0), TSR_VALUE);
  refused(tsr_grad_scaler_step(scaler, optimizer, &stepped), TSR_VALUE);  // no gradients
  const Scaler fresh;
  set_grad(w, reals(TSR_FLOAT32, {1}, {8}));
  ok(tsr_grad_scaler_unscale(fresh, optimizer));
  refused(tsr_grad_scaler_unscale(fresh, optimizer), TSR_VALUE);
  EXPECT_TRUE(fresh.step(optimizer));
  refused(tsr_grad_scaler_step(fresh, optimizer, &stepped), TSR_VALUE);
  refused(tsr_grad_scaler_unscale(fresh, optimizer), TSR_VALUE);
  fresh.update();
  refused(tsr_grad_scaler_update(fresh, 0, 0), TSR_VALUE);
}

TEST(AMP_GradScaler, refuses_gradients_of_float16) {
  const Tensor w = parameter(TSR_FLOAT16, {1}, {1});
  const Optimizer optimizer = sgd(w);
  const Scaler scaler;
  set_grad(w, reals(TSR_FLOAT16, {1}, {8}));
  refused(tsr_grad_scaler_unscale(scaler, optimizer), TSR_VALUE);
}

TEST(AMP_GradScaler, changes_nothing_if_it_is_not_enabled) {
  const Tensor w = parameter(TSR_FLOAT32, {1}, {1});
  const Optimizer optimizer = sgd(w);
  const Scaler scaler([](auto& state) { state.enabled = 0; });
  const Tensor loss(reals(TSR_FLOAT32, {}, {3}));
  Tensor same_loss;
  ok(tsr_grad_scaler_scale(scaler, loss, same_loss.slot()));
  EXPECT_EQ(static_cast<tsr_tensor>(same_loss), static_cast<tsr_tensor>(loss));
  set_grad(w, reals(TSR_FLOAT32, {1}, {kInf}));
  EXPECT_TRUE(scaler.step(optimizer));
  EXPECT_EQ(item(w, 0), -kInf);
  scaler.update();
}

TEST(AMP_GradScaler, unscales_views_and_many_gradients_at_once) {
  const Tensor base(reals(TSR_FLOAT32, {2, 3}, {8, 16, 24, 32, 40, 48}));
  Tensor turned;
  ok(tsr_transpose(base, 0, 1, turned.slot()));
  const Tensor w = parameter(TSR_FLOAT32, {3, 2}, {0, 0, 0, 0, 0, 0});
  ok(tsr_tensor_set_grad(w, turned));
  const Optimizer optimizer = sgd(w);
  const Scaler scaler;
  ok(tsr_grad_scaler_unscale(scaler, optimizer));
  EXPECT_EQ(values_of(base), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(AMP_GradScaler, file_is_that_of_all_languages) {
  const std::string shared = tsr::testing::source_path("tests/conformance/grad_scaler.safetensors");
  const Scaler scaler;
  ok(tsr_grad_scaler_load(scaler, shared.c_str(), -1));
  const tsr_grad_scaler_state found = scaler.state();
  EXPECT_EQ(found.scale, 1024);
  EXPECT_EQ(found.growth_factor, 3);
  EXPECT_EQ(found.backoff_factor, 0.25);
  EXPECT_EQ(found.growth_interval, 7);
  EXPECT_EQ(found.growth_tracker, 5);
  const std::string path = testing::TempDir() + "tessera_scaler_capi";
  ok(tsr_grad_scaler_save(scaler, path.c_str(), -1));
  const auto bytes_of = [](const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(bytes_of(path), bytes_of(shared));
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

TEST(AMP_GradScaler, refuses_files_that_hold_no_numbers) {
  const std::string path = testing::TempDir() + "tessera_scaler_none";
  const Scaler scaler, off([](auto&state) { state.enabled = 0; });
  ok(tsr_grad_scaler_save(off, path.c_str(), -1));
  refused(tsr_grad_scaler_load(scaler, path.c_str(), -1), TSR_VALUE);
  EXPECT_EQ(scaler.state().scale, 8);
  ok(tsr_grad_scaler_load(off, path.c_str(), -1));
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

TEST(AMP_GradScaler, names_the_number_that_is_wrong) {
  const auto why = [](tsr_status status) {
    refused(status, TSR_VALUE);
    tsr_error_view view = {};
    view.struct_size = sizeof(view);
    ok(tsr_error_last(&view));
    return std::string(view.message, static_cast<size_t>(view.message_len));
  };
  const Scaler scaler;
  const auto set = [&](const auto& change) {
    tsr_grad_scaler_state state = scaler.state();
    change(state);
    return why(tsr_grad_scaler_state_set(scaler, &state));
  };
  const std::string to = "tsr_grad_scaler_state_set: state: expected ";
  EXPECT_EQ(set([](auto& state) { state.scale = 0; }),
            to + "a finite float32 above 0 as scale, got 0");
  EXPECT_EQ(set([](auto& state) { state.growth_factor = 1; }),
            to + "a number above 1 as growth_factor, got 1");
  EXPECT_EQ(set([](auto& state) { state.backoff_factor = 2; }),
            to + "a number above 0 and below 1 as backoff_factor, got 2");
  EXPECT_EQ(set([](auto& state) { state.growth_interval = 0; }),
            to + "a growth_interval of at least 1, got 0");
  EXPECT_EQ(set([](auto& state) { state.growth_tracker = -1; }),
            to + "a growth_tracker of at least 0, got -1");
  const Tensor loss(reals(TSR_FLOAT32, {}, {1}));
  Tensor scaled;
  ok(tsr_grad_scaler_scale(scaler, loss, scaled.slot()));
  EXPECT_EQ(why(tsr_grad_scaler_update(scaler, -1, 1)),
            "tsr_grad_scaler_update: new_scale: expected a finite float32 above 0, got -1");
}

TEST(AMP_GradScaler, refuses_files_with_numbers_that_no_int64_can_hold) {
  const std::string path = testing::TempDir() + "tessera_scaler_large";
  const Scaler scaler([](auto& state) { state.growth_interval = 1234567890123456789; });
  ok(tsr_grad_scaler_save(scaler, path.c_str(), -1));
  std::string bytes;
  {
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  const size_t at = bytes.find("1234567890123456789");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 19, "9999999999999999999");
  std::ofstream(path, std::ios::binary) << bytes;
  refused(tsr_grad_scaler_load(scaler, path.c_str(), -1), TSR_VALUE);
  tsr_error_view view = {};
  view.struct_size = sizeof(view);
  ok(tsr_error_last(&view));
  EXPECT_NE(std::string(view.message, static_cast<size_t>(view.message_len))
                .find("path: expected a whole number below 2^63 as 'growth_interval', got "
                      "9999999999999999999"),
            std::string::npos)
      << view.message;
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

}  // namespace test_amp
