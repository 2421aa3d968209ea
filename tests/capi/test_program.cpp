// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Programs over C: recording, runs by calls and by a plan, files, refusals.
#include <string>
#include <string_view>

#include "capi/program_support.h"

namespace test_program {

using namespace tsr::test;

namespace {

// A few small operators, a view, a number.
void small_function(tsr_tensor x, tsr_tensor* y) {
  Tensor doubled, shifted, flat;
  const int64_t shape[1] = {4};
  ok(tsr_add(x, x, doubled.slot()));
  ok(tsr_reshape(doubled, shape, 1, -1, flat.slot()));
  ok(tsr_add_scalar(flat, TSR_F64(1.5), shifted.slot()));
  ok(tsr_multiply(shifted, flat, y));
}
Literal small_result(const std::vector<double>& x) {
  std::vector<double> y;
  for (const double each : x) y.push_back((2 * each + 1.5) * 2 * each);
  return reals(TSR_FLOAT32, {4}, y);
}

}  // namespace

TEST(Program, P17_runs_again_with_other_inputs) {
  const Tensor x = vector({1, 2, 3, 4});
  const Program program = recorded(x, small_function);
  for (int round = 0; round < 5; ++round) {
    const double r = round;
    const Tensor given = vector({r, r + 1, r - 2, 0.5});
    same(run(program, given), small_result({r, r + 1, r - 2, 0.5}));
  }
  EXPECT_EQ(described(program)["plan"]["kept_calls"], 3);
}

TEST(Program, P17_of_a_file_computes_the_same) {
  const Tensor x = vector({1, 2, 3, 4});
  const Program program = reloaded(recorded(x, small_function));
  for (int round = 0; round < 3; ++round) same(run(program, x), small_result({1, 2, 3, 4}));
}

TEST(Program, P17_keeps_outputs_that_the_caller_holds) {
  const Tensor x = vector({1, 2, 3, 4});
  const Tensor other = vector({0, 0, 1, 1});
  const Program program = recorded(x, small_function);
  run(program, x);
  const Tensor first = run(program, x);
  const Tensor second = run(program, other);
  const Tensor third = run(program, x);
  same(first, small_result({1, 2, 3, 4}));
  same(second, small_result({0, 0, 1, 1}));
  same(third, small_result({1, 2, 3, 4}));
}

TEST(Program, P17_allocates_nothing_in_later_runs) {
  const Tensor x = vector({1, 2, 3, 4});
  const Program program = recorded(x, small_function);
  for (int round = 0; round < 3; ++round) run(program, x);
  const int64_t before = allocations();
  for (int round = 0; round < 100; ++round) run(program, x);
  EXPECT_EQ(allocations(), before);
}

TEST(Program, P17_reads_inputs_of_another_layout) {
  const Tensor x(reals(TSR_FLOAT32, {2, 2}, {1, 2, 3, 4}));
  const Program program = recorded(x, [](tsr_tensor in, tsr_tensor* y) {
    Tensor turned;
    ok(tsr_matrix_transpose(in, turned.slot()));
    ok(tsr_add(turned, in, y));
  });
  Tensor turned;
  ok(tsr_matrix_transpose(x, turned.slot()));
  for (int round = 0; round < 3; ++round) {
    same(run(program, x), reals(TSR_FLOAT32, {2, 2}, {2, 5, 5, 8}));
    same(run(program, turned), reals(TSR_FLOAT32, {2, 2}, {2, 5, 5, 8}));
  }
}

TEST(Program, P17_gives_an_input_or_a_view_of_it) {
  const Tensor x(reals(TSR_FLOAT32, {2, 2}, {1, 2, 3, 4}));
  const Program program =
      recorded(x, [](tsr_tensor in, tsr_tensor* y) { ok(tsr_matrix_transpose(in, y)); });
  for (int round = 0; round < 3; ++round) {
    const Tensor given(reals(TSR_FLOAT32, {2, 2}, {1.0 + round, 2, 3, 4}));
    const Tensor y = run(program, given);
    same(y, reals(TSR_FLOAT32, {2, 2}, {1.0 + round, 3, 2, 4}));
    ok(tsr_fill_inplace(given, TSR_F64(7)));
    same(y, reals(TSR_FLOAT32, {2, 2}, {7, 7, 7, 7}));
  }
}

TEST(Program, P17_gives_a_view_of_a_parameter_anew_in_every_run) {
  const Tensor x = vector({1});
  const Tensor w(reals(TSR_FLOAT32, {2, 2}, {1, 2, 3, 4}));
  const Program program =
      recorded(x, [&](tsr_tensor, tsr_tensor* y) { ok(tsr_matrix_transpose(w, y)); }, {w});
  for (int round = 0; round < 4; ++round) {
    const Tensor y = run(program, x);
    int32_t requires_grad = -1;
    ok(tsr_tensor_requires_grad(y, &requires_grad));
    EXPECT_EQ(requires_grad, 0) << round;
    same(y, reals(TSR_FLOAT32, {2, 2}, {1.0 + round, 3, 2, 4}));
    ok(tsr_fill_inplace(w, TSR_F64(7)));
    same(y, reals(TSR_FLOAT32, {2, 2}, {7, 7, 7, 7}));
    // What the caller makes of the tensor is its own affair.
    ok(tsr_tensor_set_requires_grad(y, 1));
    const Tensor other = vector({1, 2, 3});
    ok(tsr_tensor_set_data(y, other));
    const Tensor next(reals(TSR_FLOAT32, {2, 2}, {2.0 + round, 2, 3, 4}));
    ok(tsr_copy_inplace(w, next, 0));
  }
}

TEST(Program, P17_keeps_writes_in_their_order) {
  const Tensor x = vector({1, 2, 3, 4});
  const Tensor total = vector({0, 0, 0, 0});
  const Program program = recorded(x,
                                   [&](tsr_tensor in, tsr_tensor* y) {
                                     Tensor before, half;
                                     ok(tsr_multiply_scalar(total, TSR_F64(1), before.slot()));
                                     ok(tsr_add_inplace(total, in));
                                     ok(tsr_slice(total, 0, 0, 2, 1, half.slot()));
                                     ok(tsr_multiply_scalar_inplace(half, TSR_F64(2)));
                                     ok(tsr_subtract(total, before, y));
                                   },
                                   {total});
  same(total, reals(TSR_FLOAT32, {4}, {2, 4, 3, 4}));
  const Program loaded = reloaded(program);
  double a = 2, c = 3;
  for (int round = 0; round < 4; ++round) {
    same(run(program, x),
         reals(TSR_FLOAT32, {4}, {2 * (a + 1) - a, 2 * (2 * a + 2) - 2 * a, 3, 4}));
    a = 2 * (a + 1);
    c += 3;
  }
  static_cast<void>(c);
  same(run(loaded, x), reals(TSR_FLOAT32, {4}, {4, 8, 3, 4}));
  Tensor own;
  ok(tsr_program_tensor(loaded, "parameter0", -1, own.slot()));
  same(own, reals(TSR_FLOAT32, {4}, {6, 12, 6, 8}));
}

TEST(Program, P17_writes_an_input_in_place) {
  const Tensor x = vector({1, 2, 3, 4});
  const Program program = recorded(x, [](tsr_tensor in, tsr_tensor* y) {
    ok(tsr_add_scalar_inplace(in, TSR_F64(1)));
    ok(tsr_multiply(in, in, y));
  });
  for (int round = 0; round < 4; ++round) {
    const Tensor given = vector({0, 1, 2, 3});
    int64_t before = 0, after = 0;
    ok(tsr_tensor_version(given, &before));
    same(run(program, given), reals(TSR_FLOAT32, {4}, {1, 4, 9, 16}));
    same(given, reals(TSR_FLOAT32, {4}, {1, 2, 3, 4}));
    ok(tsr_tensor_version(given, &after));
    EXPECT_GT(after, before);
  }
}

TEST(Program, P17_of_empty_tensors_runs_again) {
  const Tensor x(reals(TSR_FLOAT32, {0}, {}));
  const Program program = recorded(x, [](tsr_tensor in, tsr_tensor* y) {
    Tensor copy;
    ok(tsr_clone(in, copy.slot()));
    ok(tsr_add_scalar_inplace(copy, TSR_F64(1)));
    ok(tsr_multiply(copy, copy, y));
  });
  for (int round = 0; round < 4; ++round) same(run(program, x), reals(TSR_FLOAT32, {0}, {}));
}

TEST(Program, P17_makes_a_constant_of_data_of_the_host) {
  const Tensor x = vector({1, 2, 3, 4});
  const Program program = recorded(x, [](tsr_tensor in, tsr_tensor* y) {
    const Tensor weights = vector({1, 10, 100, 1000});  // tsr_empty, filled by the host
    Tensor sums = vector({0, 0, 0, 0});
    ok(tsr_add_inplace(sums, in));  // a constant that is written begins anew in every run
    ok(tsr_multiply(sums, weights, y));
  });
  for (int round = 0; round < 3; ++round)
    same(run(program, x), reals(TSR_FLOAT32, {4}, {1, 20, 300, 4000}));
  same(run(reloaded(program), x), reals(TSR_FLOAT32, {4}, {1, 20, 300, 4000}));
}

TEST(Program, P17_keeps_integers_that_only_uint64_can_hold) {
  const int64_t shape[1] = {2};
  Tensor x;
  ok(tsr_full(shape, 1, TSR_I64(2), TSR_UINT64, -1, -1, x.slot()));
  const Program program = reloaded(recorded(x, [](tsr_tensor given, tsr_tensor* y) {
    ok(tsr_add_scalar(given, TSR_U64(uint64_t{1} << 63), y));
  }));
  for (int round = 0; round < 2; ++round) {
    uint64_t sums[2] = {};
    ok(tsr_tensor_read(run(program, x), sums, sizeof sums));
    EXPECT_EQ(sums[1], (uint64_t{1} << 63) + 2);
  }
}

TEST(Program, P17_draws_anew_in_every_run) {
  const Tensor x = vector({1, 2, 3, 4});
  const Program program = recorded(x, [](tsr_tensor in, tsr_tensor* y) {
    Tensor noise;
    ok(tsr_rand_like(in, -1, -1, -1, nullptr, noise.slot()));
    ok(tsr_add(in, noise, y));
  });
  tsr_generator generator = nullptr;
  ok(tsr_generator_default(&generator));
  std::vector<Literal> drawn[2];
  for (auto& list : drawn) {
    ok(tsr_generator_seed(generator, 5));
    for (int round = 0; round < 4; ++round) list.push_back(literal_of(run(program, x)));
  }
  ok(tsr_generator_seed(generator, 5));
  for (int round = 0; round < 4; ++round) {
    Tensor noise, expected;
    ok(tsr_rand_like(x, -1, -1, -1, nullptr, noise.slot()));
    ok(tsr_add(x, noise, expected.slot()));
    EXPECT_EQ(drawn[0][static_cast<size_t>(round)].real, literal_of(expected).real);
    EXPECT_EQ(drawn[1][static_cast<size_t>(round)].real, literal_of(expected).real);
  }
  tsr_generator_release(generator);
}

TEST(Program, P17_trains_as_the_calls_do) {
  const auto step = [](tsr_tensor w, tsr_optimizer optimizer, tsr_tensor in, tsr_tensor* loss) {
    Tensor product, error, square;
    ok(tsr_optimizer_zero_grad(optimizer, 1));
    ok(tsr_multiply(in, w, product.slot()));
    ok(tsr_subtract_scalar(product, TSR_F64(3), error.slot()));
    ok(tsr_multiply(error, error, square.slot()));
    ok(tsr_sum(square, nullptr, -1, 0, -1, loss));
    const tsr_tensor root = *loss;
    ok(tsr_backward(&root, 1, nullptr, 0, nullptr, 0, 0));
    ok(tsr_optimizer_step(optimizer));
  };
  const auto optimizer_of = [](tsr_tensor w) {
    tsr_optimizer_options options = {};
    options.struct_size = sizeof options;
    ok(tsr_optimizer_defaults(TSR_OPTIMIZER_ADAM, &options));
    options.lr = 0.1;
    tsr_optimizer made = nullptr;
    ok(tsr_optimizer_new(&options, &w, 1, &made));
    return made;
  };
  const auto weights = [] {
    Tensor w = vector({0.1, 0.2, 0.3, 0.4});
    ok(tsr_tensor_set_requires_grad(w, 1));
    return w;
  };
  const Tensor x = vector({1, 2, 3, 4});
  const Tensor eager = weights(), w = weights();
  tsr_optimizer eager_optimizer = optimizer_of(eager), optimizer = optimizer_of(w);
  const Program program =
      recorded(x, [&](tsr_tensor in, tsr_tensor* loss) { step(w, optimizer, in, loss); }, {w});
  const Program loaded = reloaded(program);
  Tensor loss;
  step(eager, eager_optimizer, x, loss.slot());
  for (int round = 0; round < 20; ++round) {
    step(eager, eager_optimizer, x, loss.slot());
    const Literal expected = literal_of(loss);
    same(run(program, x), expected, 0, 0);
    same(run(loaded, x), expected, 0, 0);
  }
  same(w, literal_of(eager), 0, 0);
  tsr_optimizer own = nullptr;
  ok(tsr_program_optimizer(loaded, 0, &own));
  tsr_optimizer_release(own);
  tsr_optimizer_release(optimizer);
  tsr_optimizer_release(eager_optimizer);
}

TEST(Program, P17_of_two_sizes_takes_every_size) {
  const auto record_at = [](int64_t n) {
    Tensor x(reals(TSR_FLOAT32, {n, 2}, std::vector<double>(static_cast<size_t>(2 * n), 1)));
    return recorded(x, [n](tsr_tensor in, tsr_tensor* y) {
      Tensor flat;
      const int64_t shape[1] = {2 * n};
      ok(tsr_reshape(in, shape, 1, -1, flat.slot()));
      ok(tsr_sum(flat, nullptr, -1, 0, -1, y));
    });
  };
  const Program two = record_at(2), three = record_at(3), five = record_at(5);
  const tsr_program all[3] = {two, three, five};
  Program program;
  ok(tsr_program_unify(all, 3, program.slot()));
  const Program loaded = reloaded(program);
  for (const int64_t n : {7, 1, 4, 7}) {
    const Tensor x(reals(TSR_FLOAT32, {n, 2}, std::vector<double>(static_cast<size_t>(2 * n), 1)));
    same(run(program, x), reals(TSR_FLOAT32, {}, {2.0 * static_cast<double>(n)}));
    same(run(loaded, x), reals(TSR_FLOAT32, {}, {2.0 * static_cast<double>(n)}));
  }
  const Tensor wrong(reals(TSR_FLOAT32, {2, 3}, {1, 1, 1, 1, 1, 1}));
  const tsr_tensor given = wrong;
  Places places;
  refused(tsr_program_run(program, &given, 1, places.slots(), 1, places.count()), TSR_SHAPE);
  EXPECT_NE(last_error().find("(n, 2)"), std::string::npos) << last_error();
}

TEST(Program, P17_refuses_to_follow_a_number_that_follows_no_rule) {
  const auto record_at = [](int64_t n, double by) {
    Tensor x(reals(TSR_FLOAT32, {n}, std::vector<double>(static_cast<size_t>(n), 1)));
    return recorded(x,
                    [by](tsr_tensor in, tsr_tensor* y) { ok(tsr_add_scalar(in, TSR_F64(by), y)); });
  };
  const Program two = record_at(2, 0.5), three = record_at(3, 1.0 / 3);
  const tsr_program both[2] = {two, three};
  Program program;
  refused(tsr_program_unify(both, 2, program.slot()), TSR_VALUE);
  EXPECT_NE(last_error().find("tsr_add_scalar"), std::string::npos) << last_error();
}

TEST(Program, P17_refuses_flags_that_follow_a_size) {
  const auto record_at = [](int64_t n) {
    Tensor x(reals(TSR_FLOAT32, {n}, std::vector<double>(static_cast<size_t>(n), 1)));
    return recorded(x, [n](tsr_tensor in, tsr_tensor* y) {
      ok(tsr_sort(in, 0, n == 3 ? 1 : 0, 0, y));  // would be n - 2
    });
  };
  const Program two = record_at(2), three = record_at(3);
  const tsr_program both[2] = {two, three};
  Program program;
  refused(tsr_program_unify(both, 2, program.slot()), TSR_VALUE);
  EXPECT_NE(last_error().find("`descending` of call 0, tsr_sort, differs"), std::string::npos)
      << last_error();
}

TEST(Program, P17_of_two_sizes_may_have_a_nan) {
  const auto record_at = [](int64_t n, double number) {
    Tensor x(reals(TSR_FLOAT32, {n}, std::vector<double>(static_cast<size_t>(n), 1)));
    return recorded(
        x, [number](tsr_tensor in, tsr_tensor* y) { ok(tsr_add_scalar(in, TSR_F64(number), y)); });
  };
  const Program two = record_at(2, kNan), three = record_at(3, kNan);
  const tsr_program both[2] = {two, three};
  Program program;
  ok(tsr_program_unify(both, 2, program.slot()));
  const Tensor x = vector({1, 2, 3, 4});
  same(run(reloaded(program), x), reals(TSR_FLOAT32, {4}, {kNan, kNan, kNan, kNan}));
  // Zeros of different signs are no such argument.
  const Program plus = record_at(2, 0.0), minus = record_at(3, -0.0);
  const tsr_program zeros[2] = {plus, minus};
  Program none;
  refused(tsr_program_unify(zeros, 2, none.slot()), TSR_VALUE);
}

TEST(Program, P17_a_recording_ends_with_the_error_that_it_met) {
  const Tensor x = vector({1});
  const tsr_tensor given = x;
  constexpr int64_t kCount = 1 << 24;
  std::vector<float> host(kCount, 1);
  int64_t limit = 0;
  ok(tsr_memory_limit(TSR_DEVICE_CPU, 0, &limit));
  ok(tsr_program_record_begin(&given, 1, nullptr, 0, nullptr, 0, nullptr, 0));
  ok(tsr_memory_set_limit(TSR_DEVICE_CPU, 0, 1));
  Tensor y;
  const tsr_status made =
      tsr_tensor_from_data(host.data(), TSR_FLOAT32, TSR_DEVICE_CPU, 0, &kCount, 1, nullptr, -1, 0,
                           nullptr, nullptr, y.slot());  // the recording has no memory for a copy
  ok(tsr_memory_set_limit(TSR_DEVICE_CPU, 0, limit));
  ok(made);
  // What the recording refuses from now on may be for want of what it lost.
  Tensor z;
  ok(tsr_abs(x, z.slot()));
  tsr_number number;
  refused(tsr_tensor_item(z, &number), TSR_OUT_OF_MEMORY);
  Program program;
  const tsr_tensor output = y;
  refused(tsr_program_record_end(&output, 1, nullptr, 0, program.slot()), TSR_OUT_OF_MEMORY);
  EXPECT_NE(last_error().find("asked for"), std::string::npos) << last_error();
}

TEST(Program, P17_errors_name_the_argument_with_the_names) {
  const Tensor x = vector({1}), w = vector({2});
  const tsr_tensor two[2] = {x, w};
  const auto error_of = [](tsr_status status) {
    refused(status, TSR_VALUE);
    return last_error();
  };
  const auto begin = [&](const char* inputs, const char* parameters) {
    return tsr_program_record_begin(two, 1, inputs, -1, two + 1, 1, parameters, -1);
  };
  EXPECT_EQ(error_of(begin("[\"a\", \"b\"]", "[\"w\"]")),
            "tsr_program_record_begin: input_names: expected a JSON array of 1 texts, one for each "
            "tensor, got 2");
  EXPECT_EQ(error_of(begin("[\"a\"]", "7")),
            "tsr_program_record_begin: parameter_names: expected a JSON array of texts, got 7");
  EXPECT_EQ(error_of(begin("[\"a\"]", "[\"a\"]")),
            "tsr_program_record_begin: parameter_names: expected names that differ, got 'a' twice");
  ok(begin("[\"a\"]", "[\"w\"]"));
  Program program;
  const tsr_tensor outputs[2] = {x, x};
  EXPECT_EQ(error_of(tsr_program_record_end(outputs, 2, "[\"y\", \"y\"]", -1, program.slot())),
            "tsr_program_record_end: output_names: expected names that differ, got 'y' twice");
  refused(tsr_program_from_bytes("none", 4, program.slot()), TSR_IO);
  EXPECT_EQ(last_error(), "tsr_program_from_bytes: bytes: not a safetensors file: it has 4 bytes");
}

TEST(Program, P17_refuses_reads_of_the_host) {
  const Tensor x = vector({1});
  const tsr_tensor given = x;
  Tensor y;
  tsr_number number;
  float value = 0;
  const void* data = nullptr;
  ok(tsr_program_record_begin(&given, 1, nullptr, 0, nullptr, 0, nullptr, 0));
  ok(tsr_exp(x, y.slot()));
  refused(tsr_tensor_item(y, &number), TSR_NOT_IMPLEMENTED);
  EXPECT_NE(last_error().find("tsr_tensor_item"), std::string::npos) << last_error();
  refused(tsr_tensor_read(y, &value, 4), TSR_NOT_IMPLEMENTED);
  refused(tsr_tensor_data(x, &data), TSR_NOT_IMPLEMENTED);
  refused(tsr_tensor_write(y, &value, 4), TSR_NOT_IMPLEMENTED);
  struct DLManagedTensor* managed = nullptr;
  refused(tsr_to_dlpack(y, 0, &managed), TSR_NOT_IMPLEMENTED);
  ok(tsr_program_record_cancel());
  ok(tsr_tensor_item(y, &number));
}

TEST(Program, P17_refuses_files_that_are_none) {
  const Tensor x = vector({1, 2, 3, 4});
  const std::string bytes = text_of(tsr_program_to_bytes, recorded(x, small_function));
  const auto load = [](const std::string& file) {
    Program program;
    return tsr_program_from_bytes(file.data(), static_cast<int64_t>(file.size()), program.slot());
  };
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string file = bytes;
    const size_t at = file.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return file.replace(at, from.size(), to);
  };
  ok(load(bytes));
  // A number of the same length keeps the file's offsets.
  refused(load(changed("\\\"format\\\":1", "\\\"format\\\":9")), TSR_ABI);
  refused(load(changed("tsr_multiply\\\"", "tsr_multiplx\\\"")), TSR_ABI);
  EXPECT_NE(last_error().find("tsr_multiplx"), std::string::npos) << last_error();
  for (size_t length = 0; length < bytes.size(); length += 7)
    refused(load(bytes.substr(0, length)));
  // One changed byte: an error or a program, which runs or fails.
  uint64_t state = 1;
  for (int round = 0; round < 3000; ++round) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    std::string file = bytes;
    file[(state >> 33) % file.size()] = static_cast<char>(state >> 24);
    Program program;
    if (tsr_program_from_bytes(file.data(), static_cast<int64_t>(file.size()), program.slot()) != 0)
      continue;
    Places places;
    const tsr_tensor given = x;
    survives(
        tsr_program_run(program, &given, 1, places.slots(), places.capacity(), places.count()));
  }
}

}  // namespace test_program
