// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "dist/data_parallel.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "data_parallel_support.h"
#include "ops/pointwise/ternary.h"
#include "optim/grad_scaler.h"

namespace tsr::dist::test::test_data_parallel {
namespace {

using nlohmann::json;

constexpr float kClose = 1e-6F;

void train(const GroupPtr& group, const Network& network, const DataParallelOptions& options,
           const optim::Options& rule, int64_t steps, bool set_to_none = true) {
  const ParallelPtr parallel = make_parallel(group, network.params, network.buffers, options);
  const OptimizerPtr optimizer = make_optimizer(rule, network.params);
  for (int64_t step = 0; step < steps; ++step) {
    optimizer->zero_grad(set_to_none);
    parallel->begin_forward();
    const Tensor output = network(share(batch(step), *group));
    parallel->end_forward({&output, 1});
    const Tensor loss = mean_of_squares(output);
    backward({&loss, 1});
    optimizer->step();
  }
}

TEST(DataParallel, D9_ten_steps_equal_those_of_one_process_with_the_whole_batch) {
  for (const optim::Options& rule : {sgd(), adam()}) {
    const auto alone = trained_alone(rule, 10);
    for (const int32_t size : {1, 2, 3, 4}) {
      on_ranks(size, [&](const GroupPtr& group) {
        const Network network(group->rank() * 100);  // rank 0 has the seed 0
        train(group, network, small_buckets(), rule, 10);
        EXPECT_LE(largest_difference(network.params, alone), kClose) << size << " ranks";
      });
    }
  }
}

TEST(DataParallel, gradients_may_be_memory_of_the_buckets) {
  const auto alone = trained_alone(sgd(), 10);
  for (const bool set_to_none : {true, false}) {
    on_ranks(2, [&](const GroupPtr& group) {
      const Network network(group->rank());
      DataParallelOptions options = small_buckets();
      options.bucket_bytes = options.first_bucket_bytes = 1 << 20;
      options.gradient_as_bucket_view = true;
      train(group, network, options, sgd(), 10, set_to_none);
      EXPECT_LE(largest_difference(network.params, alone), kClose);
      const StoragePtr bucket = grad_of(network.params[0]).storage();
      for (const Tensor& param : network.params) EXPECT_EQ(grad_of(param).storage(), bucket);
    });
  }
}

TEST(DataParallel, P18_buckets_are_reduced_while_the_backward_goes_on) {
  on_ranks(2, [](const GroupPtr& group) {
    const Network network;
    const ParallelPtr parallel =
        make_parallel(group, network.params, network.buffers, small_buckets());
    for (int64_t step = 0; step < 3; ++step) {
      parallel->begin_forward();
      const Tensor loss = mean_of_squares(network(share(batch(step), *group)));
      parallel->end_forward({&loss, 1});
      backward({&loss, 1});
      const json report = json::parse(parallel->report());
      EXPECT_EQ(report["rebuilt"], step > 0);
      EXPECT_GT(report["buckets"].size(), 2U);
      size_t first_launch = 0, last_ready = 0, ready = 0, finished = 0;
      for (size_t i = 0; i < report["events"].size(); ++i) {
        const json& event = report["events"][i];
        if (event["kind"] == "launched" && event["number"] == 0) first_launch = i;
        if (event["kind"] == "ready") last_ready = i, ++ready;
        if (event["kind"] == "finished") ++finished;
      }
      EXPECT_LT(first_launch, last_ready);
      EXPECT_EQ(ready, network.params.size());
      EXPECT_EQ(finished, report["buckets"].size());
    }
  });
}

TEST(DataParallel, another_thread_is_refused_while_one_is_inside) {
  OneThread object;
  const auto enter = [&object] { const OneThread::Entry entry(object, "a test"); };
  std::string message;
  {
    const OneThread::Entry outer(object, "a test");
    enter();  // the same thread once more
    std::jthread([&] {
      try {
        enter();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::kAutograd);
        message = error.message();
      }
    }).join();
  }
  EXPECT_EQ(message,
            "expected one thread at a time in a test, got a call while another thread is inside");
  std::jthread(enter).join();
}

// What the backwards of two threads give is a mixture or an error, but the object stays whole, also
// when its handle goes while one of them runs.
TEST(DataParallel, backwards_on_two_threads_leave_it_whole) {
  on_ranks(1, [](const GroupPtr& group) {
    const Network network;
    ParallelPtr parallel = make_parallel(group, network.params, network.buffers, small_buckets());
    const auto attempt = [](const auto& call) {
      try {
        call();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::kAutograd) << error.message();
      }
    };
    const auto step = [&](int64_t seed) {
      for (int64_t i = 0; i < 20; ++i) {
        const Tensor loss = mean_of_squares(network(batch(seed + i)));
        attempt([&] { backward({&loss, 1}); });
      }
    };
    attempt([&] { parallel->begin_forward(); });
    const std::jthread other(step, 100);
    for (int64_t i = 0; i < 10; ++i) {
      attempt([&] { parallel->begin_forward(); });
      step(i);
      attempt([&] { EXPECT_FALSE(parallel->report().empty()); });
    }
    parallel.reset();
  });
}

TEST(DataParallel, buckets_follow_the_order_of_gradients_after_the_first_step) {
  on_ranks(2, [](const GroupPtr& group) {
    // The first parameter is used last, so its gradient comes first.
    const std::vector<Tensor> params{parameter({8}, 1), parameter({8}, 2), parameter({8}, 3)};
    DataParallelOptions options;
    options.bucket_bytes = options.first_bucket_bytes = 1;
    const ParallelPtr parallel = make_parallel(group, params, {}, options);
    EXPECT_EQ(json::parse(parallel->report())["buckets"][0]["params"], json::array({2}));
    for (int step = 0; step < 2; ++step) {
      parallel->begin_forward();
      const Tensor first = ops::multiply(params[1], params[2]);
      const Tensor loss = ops::sum(ops::multiply(ops::tanh(first), params[0]));
      backward({&loss, 1});
    }
    EXPECT_EQ(json::parse(parallel->report())["buckets"][0]["params"], json::array({0}));
  });
}

TEST(DataParallel, buffers_are_those_of_rank_0_at_each_forward) {
  on_ranks(3, [](const GroupPtr& group) {
    const Network network(group->rank());
    const ParallelPtr parallel = make_parallel(group, network.params, network.buffers);
    std::vector<Tensor> seen;
    for (int64_t step = 0; step < 3; ++step) {
      parallel->begin_forward();
      for (const Tensor& buffer : network.buffers) seen.push_back(ops::clone(buffer));
      const Tensor loss = mean_of_squares(network(share(batch(step), *group), true));
      parallel->end_forward({&loss, 1});
      backward({&loss, 1});
    }
    std::vector<Tensor> mine;
    for (const Tensor& buffer : seen) mine.push_back(ops::clone(buffer));
    group->broadcast(seen, 0)->wait();
    EXPECT_EQ(largest_difference(mine, seen), 0);
    EXPECT_GT(largest_difference({&seen[0], 1}, {&seen[2], 1}), 0);
  });
}

TEST(DataParallel, P18_a_parameter_that_some_ranks_do_not_use_gets_the_average_of_all) {
  on_ranks(2, [](const GroupPtr& group) {
    const std::vector<Tensor> params{parameter({3}, 1), parameter({3}, 2), parameter({3}, 3)};
    DataParallelOptions options = small_buckets();
    options.find_unused = true;
    const ParallelPtr parallel = make_parallel(group, params, {}, options);
    for (int step = 0; step < 2; ++step) {
      for (const Tensor& param : params) set_grad(param, {});
      parallel->begin_forward();
      // Rank 1 uses the second parameter too; nobody uses the third.
      const Tensor& second = group->rank() == 1 ? params[1] : ops::detach(params[1]);
      const Tensor loss = ops::sum(ops::multiply(params[0], second));
      parallel->end_forward({&loss, 1});
      backward({&loss, 1});
      EXPECT_EQ(floats(grad_of(params[0])), floats(params[1]));
      EXPECT_EQ(floats(grad_of(params[1])), floats(ops::multiply(params[0], 0.5)));
      EXPECT_FALSE(grad_of(params[2]).defined());
    }
  });
}

TEST(DataParallel, without_find_unused_a_missing_gradient_is_an_error_that_names_it) {
  const auto errors = errors_of(2, [](const GroupPtr& group) {
    const std::vector<Tensor> params{parameter({3}, 1), parameter({3}, 2)};
    const ParallelPtr parallel = make_parallel(group, params);
    parallel->begin_forward();
    const Tensor loss = ops::sum(params[1]);
    backward({&loss, 1});
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Code::kAutograd);
    EXPECT_NE(error->message().find("no gradient for parameters 0"), std::string::npos);
  }
}

TEST(DataParallel, P18_gradients_of_several_backwards_are_reduced_once) {
  const auto alone = trained_alone(sgd(), 5);
  on_ranks(2, [&](const GroupPtr& group) {
    const Network network(group->rank());
    const ParallelPtr parallel =
        make_parallel(group, network.params, network.buffers, small_buckets());
    const OptimizerPtr optimizer = make_optimizer(sgd(), network.params);
    for (int64_t step = 0; step < 5; ++step) {
      optimizer->zero_grad(true);
      const Tensor mine = share(batch(step), *group);
      const bool before = parallel->set_sync(false);
      EXPECT_TRUE(before);
      for (int64_t part = 0; part < 3; ++part) {
        if (part == 2) parallel->set_sync(true);
        parallel->begin_forward();
        const Tensor output = network(ops::slice(mine, 0, 2 * part, 2 * part + 2, 1));
        parallel->end_forward({&output, 1});
        const Tensor loss = ops::divide(mean_of_squares(output), 3);
        backward({&loss, 1});
      }
      optimizer->step();
    }
    EXPECT_LE(largest_difference(network.params, alone), kClose);
  });
}

TEST(DataParallel, P18_a_forward_without_gradients_leaves_the_next_backward_as_it_is) {
  for (const bool unused : {false, true}) {
    on_ranks(2, [unused](const GroupPtr& group) {
      const Network network;
      DataParallelOptions options = small_buckets();
      options.find_unused = unused;
      const ParallelPtr parallel = make_parallel(group, network.params, network.buffers, options);
      parallel->begin_forward();
      const Tensor output = network(share(batch(0), *group));
      parallel->end_forward({&output, 1});
      {
        const NoGrad no_grad;
        parallel->begin_forward();
        const Tensor target = network(share(batch(1), *group));
        parallel->end_forward({&target, 1});
      }
      const Tensor loss = mean_of_squares(output);
      backward({&loss, 1});
      const Tensor mine = grad_of(network.params[0]), sum = ops::clone(mine);
      group->all_reduce(sum, ReduceOp::kSum)->wait();
      EXPECT_EQ(floats(sum), floats(ops::multiply(mine, 2.0)));
    });
  }
}

// Two factors, of which a rank may use one only.
Tensor product_of(const Tensor& a, const Tensor& b, bool both) {
  const Tensor first = ops::sum(ops::multiply(a, 2.0));
  return both ? ops::add(first, ops::sum(ops::multiply(b, 3.0))) : first;
}

TEST(DataParallel, P18_an_earlier_gradient_counts_also_where_the_last_backward_does_not_reach_it) {
  for (const bool views : {false, true}) {
    on_ranks(2, [views](const GroupPtr& group) {
      const std::vector<Tensor> params{parameter({3}, 1), parameter({2}, 2)};
      DataParallelOptions options;
      options.find_unused = true;
      options.gradient_as_bucket_view = views;
      const ParallelPtr parallel = make_parallel(group, params, {}, options);
      const auto run = [&](bool sync, bool both) {
        parallel->set_sync(sync);
        parallel->begin_forward();
        const Tensor loss = product_of(params[0], params[1], both);
        parallel->end_forward({&loss, 1});
        backward({&loss, 1});
      };
      // Only rank 0 uses the second parameter, in a backward that does not synchronize.
      run(false, group->rank() == 0);
      run(true, false);
      EXPECT_EQ(floats(grad_of(params[0])), std::vector<float>(3, 4.0F));
      ASSERT_TRUE(grad_of(params[1]).defined());
      EXPECT_EQ(floats(grad_of(params[1])), std::vector<float>(2, 1.5F));
      // Gradients add up: 1.5 on both ranks, and 3 on rank 1 only.
      run(true, group->rank() == 1);
      EXPECT_EQ(floats(grad_of(params[1])), std::vector<float>(2, 3.0F));
      // Nobody reaches it: it stays.
      run(true, false);
      EXPECT_EQ(floats(grad_of(params[1])), std::vector<float>(2, 3.0F));
    });
  }
}

TEST(DataParallel, a_gradient_that_nobody_reaches_keeps_each_bit_in_the_memory_of_its_bucket) {
  on_ranks(3, [](const GroupPtr& group) {
    const std::vector<Tensor> params{parameter({3}, 1), parameter({50}, 2)};
    DataParallelOptions options;
    options.find_unused = true;
    options.gradient_as_bucket_view = true;
    const ParallelPtr parallel = make_parallel(group, params, {}, options);
    std::vector<float> before;
    for (int64_t step = 0; step < 4; ++step) {
      parallel->begin_forward();
      const Tensor loss = step == 0
                              ? ops::sum(ops::multiply(params[1], numbers({50}, group->rank())))
                              : ops::sum(params[0]);
      parallel->end_forward({&loss, 1});
      backward({&loss, 1});
      if (step == 0) before = floats(grad_of(params[1]));
      EXPECT_EQ(floats(grad_of(params[1])), before);
    }
  });
}

TEST(DataParallel, P18_ranks_with_fewer_samples_join_the_others) {
  on_ranks(3, [](const GroupPtr& group) {
    const Network network(group->rank());
    const ParallelPtr parallel =
        make_parallel(group, network.params, network.buffers, small_buckets());
    const OptimizerPtr optimizer = make_optimizer(sgd(0.1, 0), network.params);
    parallel->begin_join({false, false});
    for (int64_t step = 0; step < 2 + 2 * group->rank(); ++step) {
      optimizer->zero_grad(true);
      parallel->begin_forward();
      const Tensor loss = mean_of_squares(network(batch(step), true));
      parallel->end_forward({&loss, 1});
      backward({&loss, 1});
      optimizer->step();
    }
    parallel->end_join();
    // Ranks with the same samples: averages over those that are left are what one computes.
    const Network alone;
    const OptimizerPtr rule = make_optimizer(sgd(0.1, 0), alone.params);
    for (int64_t step = 0; step < 6; ++step) {
      rule->zero_grad(true);
      const Tensor loss = mean_of_squares(alone(batch(step), true));
      backward({&loss, 1});
      rule->step();
    }
    EXPECT_LE(largest_difference(network.params, alone.params), kClose);
    EXPECT_LE(largest_difference(network.buffers, alone.buffers), kClose);
  });
}

TEST(DataParallel, uneven_inputs_may_be_refused_on_all_ranks) {
  const auto errors = errors_of(2, [](const GroupPtr& group) {
    const Network network;
    const ParallelPtr parallel = make_parallel(group, network.params);
    parallel->begin_join({true, true});
    for (int64_t step = 0; step < 2 + group->rank(); ++step) {
      parallel->begin_forward();
      const Tensor loss = mean_of_squares(network(batch(step)));
      backward({&loss, 1});
    }
    parallel->end_join();
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Code::kValue) << error->message();
  }
}

// One step of ordinary training.
void step_of(const ParallelPtr& parallel, const Network& network, int64_t step) {
  parallel->begin_forward();
  const Tensor loss = mean_of_squares(network(batch(step), true));
  parallel->end_forward({&loss, 1});
  backward({&loss, 1});
}

TEST(DataParallel, P18_a_rank_without_samples_plans_the_buckets_with_the_others) {
  for (const int32_t without : {0, 1}) {
    for (const int64_t steps : {1, 2}) {
      on_ranks(2, [&](const GroupPtr& group) {
        const Network network;
        const ParallelPtr parallel =
            make_parallel(group, network.params, network.buffers, small_buckets());
        parallel->begin_join({});
        for (int64_t step = 0; step < steps && group->rank() != without; ++step) {
          step_of(parallel, network, step);
        }
        parallel->end_join();
        step_of(parallel, network, steps);
        const json report = json::parse(parallel->report());
        EXPECT_EQ(report["rebuilt"], true);
        // In the order of the gradients, which the rank without samples has not seen.
        EXPECT_EQ(report["buckets"][0]["params"][0].get<size_t>() / 2, 2U);
        EXPECT_EQ(report["buckets"].back()["params"].back().get<size_t>() / 2, 0U);
      });
    }
  }
}

TEST(DataParallel, P18_ranks_go_on_alike_after_a_join_that_ended_between_two_synchronizations) {
  on_ranks(2, [](const GroupPtr& group) {
    const Network network;
    const ParallelPtr parallel =
        make_parallel(group, network.params, network.buffers, small_buckets());
    parallel->begin_join({});
    for (int64_t step = 0; step < 4 - group->rank(); ++step) {
      parallel->set_sync(step % 2 == 1);
      step_of(parallel, network, step);
    }
    parallel->set_sync(true);
    parallel->end_join();
    for (const Tensor& param : network.params) set_grad(param, {});
    step_of(parallel, network, 4);
    const Tensor mine = grad_of(network.params[0]), sum = ops::clone(mine);
    group->all_reduce(sum, ReduceOp::kSum)->wait();
    EXPECT_EQ(floats(sum), floats(ops::multiply(mine, 2.0)));
  });
}

TEST(DataParallel, ranks_go_on_alike_after_uneven_inputs_were_refused) {
  on_ranks(2, [](const GroupPtr& group) {
    const Network network;
    const ParallelPtr parallel =
        make_parallel(group, network.params, network.buffers, small_buckets());
    bool refused = false;
    try {
      parallel->begin_join({true, true});
      for (int64_t step = 0; step < 1 + group->rank(); ++step) step_of(parallel, network, step);
      parallel->end_join();
    } catch (const Error& error) {
      refused = error.code() == Code::kValue;
    }
    EXPECT_TRUE(refused);
    step_of(parallel, network, 2);
    parallel->begin_join({});
    parallel->end_join();
  });
}

TEST(DataParallel, a_forward_follows_a_backward_that_threw) {
  on_ranks(2, [](const GroupPtr& group) {
    const Network network;
    const ParallelPtr parallel =
        make_parallel(group, network.params, network.buffers, small_buckets());
    parallel->begin_forward();
    const Tensor first = network.params[0];
    // Of the last gradients, so that others are on their way.
    const HookHandle hook = add_tensor_hook(first, [](const Tensor&) -> Tensor {
      throw Error(Code::kCallback, nullptr, "stop", __FILE__, __LINE__);
    });
    const Tensor failing = mean_of_squares(network(batch(0)));
    EXPECT_THROW(backward({&failing, 1}), Error);
    hook.remove();
    for (const Tensor& param : network.params) set_grad(param, {});
    step_of(parallel, network, 1);
    const Tensor mine = grad_of(network.params[0]), sum = ops::clone(mine);
    group->all_reduce(sum, ReduceOp::kSum)->wait();
    EXPECT_EQ(floats(sum), floats(ops::multiply(mine, 2.0)));
  });
}

TEST(DataParallel, parameters_of_several_dtypes_are_reduced_in_buckets_of_their_own) {
  on_ranks(2, [](const GroupPtr& group) {
    const std::vector<Tensor> params{parameter({4}, 1, DType::kFloat64), parameter({4}, 2),
                                     parameter({4}, 3, DType::kBFloat16),
                                     parameter({4}, 4, DType::kComplex64)};
    const ParallelPtr parallel = make_parallel(group, params);
    parallel->begin_forward();
    const double factor = group->rank() == 0 ? 1 : 3;
    Tensor loss = ops::zeros(Dims{}, DType::kFloat64);
    for (const Tensor& param : params) {
      const Tensor real = is_complex(param.dtype()) ? ops::abs(param) : param;
      loss = ops::add(loss, ops::astype(ops::sum(ops::multiply(real, factor)), DType::kFloat64));
    }
    backward({&loss, 1});
    EXPECT_EQ(json::parse(parallel->report())["buckets"].size(), 4U);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(grad_of(params[i]).dtype(), params[i].dtype());
      EXPECT_EQ(floats(grad_of(params[i])), (std::vector<float>{2, 2, 2, 2}));
    }
    for (const float size : floats(ops::abs(grad_of(params[3])))) EXPECT_NEAR(size, 2, 1e-6);
  });
}

TEST(DataParallel, gradients_may_travel_in_bfloat16) {
  on_ranks(2, [](const GroupPtr& group) {
    const Tensor param = parameter({1000}, 1);
    DataParallelOptions options;
    options.reduce_dtype = DType::kBFloat16;
    const ParallelPtr parallel = make_parallel(group, {&param, 1}, {}, options);
    EXPECT_EQ(json::parse(parallel->report())["buckets"][0]["bytes"], 2000);
    parallel->begin_forward();
    const Tensor loss = ops::sum(ops::multiply(param, numbers({1000}, 7)));
    backward({&loss, 1});
    const Tensor grad = grad_of(param), exact = numbers({1000}, 7);
    EXPECT_EQ(grad.dtype(), DType::kFloat32);
    EXPECT_LT(largest_difference({&grad, 1}, {&exact, 1}), 4e-3);
    EXPECT_GT(largest_difference({&grad, 1}, {&exact, 1}), 0);
  });
}

TEST(DataParallel, a_parameter_that_is_used_twice_is_reduced_once) {
  on_ranks(2, [](const GroupPtr& group) {
    const Tensor param = parameter({3}, 1);
    const ParallelPtr parallel = make_parallel(group, {&param, 1});
    parallel->begin_forward();
    const Tensor loss = ops::sum(ops::multiply(ops::multiply(param, param), group->rank() + 1.0));
    backward({&loss, 1});
    const Tensor grad = grad_of(param), exact = ops::multiply(param, 3);
    EXPECT_LE(largest_difference({&grad, 1}, {&exact, 1}), kClose);
  });
}

TEST(DataParallel, other_parameters_on_another_rank_are_an_error_on_all_ranks) {
  const auto errors = errors_of(3, [](const GroupPtr& group) {
    const std::vector<Tensor> params{parameter({3}, 1), parameter({group->rank() == 2 ? 4 : 3}, 2)};
    make_parallel(group, params);
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Code::kShape);
    EXPECT_NE(error->message().find("parameter 1 of shape [4]"), std::string::npos);
  }
  const auto counts = errors_of(2, [](const GroupPtr& group) {
    std::vector<Tensor> params{parameter({3}, 1)};
    if (group->rank() == 1) params.push_back(parameter({3}, 2));
    make_parallel(group, params);
  });
  for (const auto& error : counts) EXPECT_EQ(error->code(), Code::kShape);
}

TEST(DataParallel, a_rank_that_is_gone_ends_the_backward_of_the_others_with_an_error) {
  const auto errors = errors_of(
      2,
      [](const GroupPtr& group) {
        const Network network;
        const ParallelPtr parallel = make_parallel(group, network.params);
        for (int64_t step = 0; step < 3; ++step) {
          if (group->rank() == 1 && step == 1) return;
          parallel->begin_forward();
          const Tensor loss = mean_of_squares(network(batch(step)));
          backward({&loss, 1});
        }
      },
      0.5);
  ASSERT_TRUE(errors[0]);
  EXPECT_TRUE(errors[0]->code() == Code::kCancelled || errors[0]->code() == Code::kBackend);
  EXPECT_FALSE(errors[1]);
}

TEST(DataParallel, an_infinite_gradient_on_one_rank_skips_the_step_of_all) {
  on_ranks(2, [](const GroupPtr& group) {
    const Tensor param = parameter({3}, 1);
    const auto before = floats(param);
    const ParallelPtr parallel = make_parallel(group, {&param, 1});
    const OptimizerPtr optimizer = make_optimizer(sgd(), {&param, 1});
    const auto scaler = IntrusivePtr<optim::GradScaler>::adopt(new optim::GradScaler({}));
    parallel->begin_forward();
    const Tensor loss =
        scaler->scale(ops::sum(ops::multiply(param, group->rank() == 1 ? INFINITY : 1.0)));
    backward({&loss, 1});
    EXPECT_FALSE(scaler->step(*optimizer));
    scaler->update({});
    EXPECT_EQ(scaler->state().scale, 32768);
    EXPECT_EQ(floats(param), before);
  });
}

TEST(DataParallel, a_backward_inside_the_backward_is_part_of_it) {
  on_ranks(2, [](const GroupPtr& group) {
    const Tensor first = parameter({3}, 1), second = parameter({3}, 2);
    const std::vector<Tensor> params{first, second};
    const ParallelPtr parallel = make_parallel(group, params, {}, small_buckets());
    parallel->begin_forward();
    const Tensor product = ops::multiply(first, group->rank() + 1.0);
    // As a checkpoint that differentiates inside: the second gradient comes from there.
    add_tensor_hook(product, [&](const Tensor& grad) {
      const GradModeScope recording({true, false});
      const Tensor inner = ops::sum(ops::multiply(second, group->rank() + 1.0));
      backward({&inner, 1});
      return grad;
    });
    const Tensor loss = ops::sum(product);
    parallel->end_forward({&loss, 1});
    backward({&loss, 1});
    for (const Tensor& param : params) {
      EXPECT_EQ(floats(grad_of(param)), (std::vector<float>{1.5, 1.5, 1.5}));
    }
  });
}

TEST(DataParallel, wrong_arguments_are_refused) {
  on_ranks(1, [](const GroupPtr& group) {
    const auto code_of = [&](std::span<const Tensor> params, DataParallelOptions options = {}) {
      try {
        make_parallel(group, params, {}, options);
      } catch (const Error& error) {
        return error.code();
      }
      return Code::kOk;
    };
    const Tensor param = parameter({3}, 1), plain = numbers({3}, 1);
    const std::vector<Tensor> twice{param, param};
    EXPECT_EQ(code_of(twice), Code::kValue);
    EXPECT_EQ(code_of({&plain, 1}), Code::kValue);
    EXPECT_EQ(code_of({}), Code::kValue);
    const Tensor computed = ops::multiply(param, 2);
    EXPECT_EQ(code_of({&computed, 1}), Code::kAutograd);
    DataParallelOptions options;
    options.bucket_bytes = 0;
    EXPECT_EQ(code_of({&param, 1}, options), Code::kValue);
    options = {};
    options.reduce_dtype = DType::kBFloat16;
    options.gradient_as_bucket_view = true;
    EXPECT_EQ(code_of({&param, 1}, options), Code::kValue);
  });
}

TEST(DataParallel, gradients_stay_local_when_the_handle_is_gone) {
  on_ranks(2, [](const GroupPtr& group) {
    const Tensor param = parameter({3}, 1);
    make_parallel(group, {&param, 1}).reset();
    const Tensor loss = ops::sum(ops::multiply(param, group->rank() + 1.0));
    backward({&loss, 1});
    EXPECT_EQ(floats(grad_of(param))[0], static_cast<float>(group->rank() + 1));
  });
}

}  // namespace
}  // namespace tsr::dist::test::test_data_parallel
