// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Programs over C: training steps that are replayed, several dynamic sizes, changed parameters.
#include <string>
#include <thread>
#include <vector>

#include "capi/program_support.h"

namespace test_program_training {

using namespace tsr::test;

namespace {

// A layer with a parameter, its optimizer, and a step that trains it.
class Training {
 public:
  Training() : weight_(reals(TSR_FLOAT32, {4}, {0.1, 0.2, 0.3, 0.4})) {
    ok(tsr_tensor_set_requires_grad(weight_, 1));
    tsr_optimizer_options options = {};
    options.struct_size = sizeof options;
    ok(tsr_optimizer_defaults(TSR_OPTIMIZER_ADAM, &options));
    options.lr = 0.1;
    const tsr_tensor params[1] = {weight_};
    ok(tsr_optimizer_new(&options, params, 1, &optimizer_));
  }
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  ~Training() { tsr_optimizer_release(optimizer_); }

  void step(tsr_tensor x, tsr_tensor* loss) const {
    Tensor product, error, square, kept, total;
    ok(tsr_optimizer_zero_grad(optimizer_, 1));
    ok(tsr_multiply(x, weight_, product.slot()));
    ok(tsr_dropout(product, 0.25, 1, nullptr, kept.slot()));
    ok(tsr_subtract_scalar(kept, TSR_F64(3), error.slot()));
    ok(tsr_multiply(error, error, square.slot()));
    ok(tsr_sum(square, nullptr, -1, 0, -1, total.slot()));
    const tsr_tensor root = total;
    ok(tsr_backward(&root, 1, nullptr, 0, nullptr, 0, 0));
    ok(tsr_optimizer_step(optimizer_));
    ok(tsr_detach(total, loss));
  }
  [[nodiscard]] tsr_tensor weight() const { return weight_; }

 private:
  Tensor weight_;
  tsr_optimizer optimizer_ = nullptr;
};

Program recorded_step(const Training& training, tsr_tensor x) {
  return recorded(x, [&](tsr_tensor in, tsr_tensor* loss) { training.step(in, loss); },
                  {training.weight()});
}

void seed(int64_t value) {
  tsr_generator generator = nullptr;
  ok(tsr_generator_default(&generator));
  ok(tsr_generator_seed(generator, static_cast<uint64_t>(value)));
  tsr_generator_release(generator);
}

bool is_replayed(tsr_program program) {
  return described(program)["replay"]["kept"].get<bool>();
}

}  // namespace

TEST(ProgramTraining, P17_a_replayed_step_is_the_step_bit_for_bit) {
  const Tensor x = vector({1, 2, 3, 4});
  const Training eager, training;
  std::vector<std::vector<double>> losses;
  seed(3);
  Tensor loss;
  for (int round = 0; round < 21; ++round) {
    eager.step(x, loss.slot());
    losses.push_back(literal_of(loss).real);
  }
  seed(3);
  const Program program = recorded_step(training, x);
  for (size_t round = 1; round < losses.size(); ++round)
    EXPECT_EQ(literal_of(run(program, x)).real, losses[round]) << round;
  EXPECT_TRUE(is_replayed(program)) << described(program)["replay"];
  EXPECT_EQ(literal_of(training.weight()).real, literal_of(eager.weight()).real);
}

TEST(ProgramTraining, P17_a_replayed_step_allocates_nothing) {
  const Tensor x = vector({1, 2, 3, 4});
  const Training training;
  const Program program = recorded_step(training, x);
  for (int round = 0; round < 4; ++round) run(program, x);
  const int64_t before = allocations();
  for (int round = 0; round < 100; ++round) run(program, x);
  EXPECT_EQ(allocations(), before);
}

TEST(ProgramTraining, P17_the_program_may_go_before_its_gradients) {
  const Tensor x = vector({1, 2, 3, 4});
  const Training training;
  Tensor grad;
  std::vector<double> seen;
  {
    const Program program = recorded_step(training, x);
    for (int round = 0; round < 5; ++round) run(program, x);
    ok(tsr_tensor_grad(training.weight(), grad.slot()));
    seen = literal_of(grad).real;
  }
  EXPECT_EQ(literal_of(grad).real, seen);
  Tensor loss;
  training.step(x, loss.slot());
  EXPECT_EQ(literal_of(grad).real, seen);
}

TEST(ProgramTraining, P17_a_run_sees_a_parameter_of_another_shape) {
  const Tensor x = vector({1, 2, 3, 4});
  const Tensor weight = vector({1, 1, 1, 1});
  const Program program =
      recorded(x, [&](tsr_tensor in, tsr_tensor* y) { ok(tsr_multiply(in, weight, y)); }, {weight});
  for (int round = 0; round < 3; ++round)
    same(run(program, x), reals(TSR_FLOAT32, {4}, {1, 2, 3, 4}));
  const Tensor one(reals(TSR_FLOAT32, {1}, {5}));
  ok(tsr_tensor_set_data(weight, one));
  for (int round = 0; round < 3; ++round)
    same(run(program, x), reals(TSR_FLOAT32, {4}, {5, 10, 15, 20}));
  const Tensor three = vector({1, 2, 3});
  ok(tsr_tensor_set_data(weight, three));
  const tsr_tensor given = x;
  Places places;
  refused(tsr_program_run(program, &given, 1, places.slots(), 1, places.count()), TSR_SHAPE);
  EXPECT_NE(last_error().find("tsr_multiply"), std::string::npos) << last_error();
}

TEST(ProgramTraining, P17_a_planned_run_raises_the_version_of_what_it_writes) {
  const Tensor x = vector({1, 2, 3, 4});
  const Tensor total = vector({0, 0, 0, 0});
  const Program program = recorded(x,
                                   [&](tsr_tensor in, tsr_tensor* y) {
                                     ok(tsr_add_inplace(total, in));
                                     ok(tsr_add_scalar(total, TSR_F64(1), y));
                                   },
                                   {total});
  for (int round = 0; round < 5; ++round) {
    int64_t before = 0, after = 0;
    ok(tsr_tensor_version(total, &before));
    run(program, x);
    ok(tsr_tensor_version(total, &after));
    EXPECT_GT(after, before) << round;
  }
}

TEST(ProgramTraining, P17_an_output_that_the_caller_reshaped_is_not_used_again) {
  const Tensor x = vector({1, 2, 3, 4});
  const Program program = recorded(x, [](tsr_tensor in, tsr_tensor* y) { ok(tsr_add(in, in, y)); });
  for (int round = 0; round < 5; ++round) {
    const Tensor y = run(program, x);
    same(y, reals(TSR_FLOAT32, {4}, {2, 4, 6, 8}));
    const Tensor other = vector({1, 2});
    ok(tsr_tensor_set_data(y, other));
  }
}

TEST(ProgramTraining, P17_threads_take_turns) {
  const Tensor x = vector({1, 2, 3, 4});
  const Training training;
  const Program program = recorded_step(training, x);
  const auto work = [&] {
    for (int round = 0; round < 200; ++round)
      EXPECT_EQ(literal_of(run(program, x)).real.size(), 1U);
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
}

namespace {

// Sums over the length, and a list of all numbers of the batch.
Program recorded_at(int64_t batch, int64_t length) {
  const auto count = static_cast<size_t>(batch * length);
  const Tensor x(reals(TSR_FLOAT32, {batch, length}, std::vector<double>(count, 1)));
  return recorded(x, [&](tsr_tensor in, tsr_tensor* y) {
    Tensor flat, both, pairs;
    const int64_t all[1] = {batch * length};
    ok(tsr_reshape(in, all, 1, -1, flat.slot()));
    const int64_t shape[2] = {batch, length};
    ok(tsr_reshape(flat, shape, 2, -1, both.slot()));
    const int64_t one[3] = {batch, 1, length}, squares[3] = {batch, length, length};
    ok(tsr_reshape(both, one, 3, -1, pairs.slot()));
    ok(tsr_broadcast_to(pairs, squares, 3, y));
  });
}

Program unified(const std::vector<std::pair<int64_t, int64_t>>& sizes, const char* names) {
  std::vector<Program> programs;
  std::vector<tsr_program> handles;
  for (const auto& [batch, length] : sizes) programs.push_back(recorded_at(batch, length));
  for (const Program& program : programs) handles.push_back(program);
  Program program;
  ok(tsr_program_unify_named(handles.data(), static_cast<int32_t>(handles.size()), names, -1,
                             program.slot()));
  return program;
}

}  // namespace

TEST(ProgramTraining, P17_several_sizes_change_independently) {
  const Program program =
      unified({{2, 5}, {3, 5}, {2, 6}, {3, 6}, {4, 9}}, "[\"batch\", \"length\"]");
  const Program loaded = reloaded(program);
  for (const auto& [batch, length] :
       std::vector<std::pair<int64_t, int64_t>>{{2, 5}, {7, 1}, {1, 8}, {4, 4}, {7, 1}, {5, 2}}) {
    const auto count = static_cast<size_t>(batch * length);
    const Tensor x(reals(TSR_FLOAT32, {batch, length}, std::vector<double>(count, 2)));
    for (const Program* each : {&program, &loaded}) {
      same(run(*each, x),
           reals(TSR_FLOAT32, {batch, length, length},
                 std::vector<double>(static_cast<size_t>(batch * length * length), 2)));
    }
  }
  EXPECT_NE(text_of(tsr_program_text, program).find("batch*length"), std::string::npos)
      << text_of(tsr_program_text, program);
  EXPECT_EQ(described(program)["sizes"][1]["name"], "length");
}

TEST(ProgramTraining, P17_a_size_that_does_not_fit_names_argument_axis_and_both_values) {
  const auto record_at = [](int64_t batch, int64_t length) {
    const auto count = static_cast<size_t>(batch * length);
    const Tensor a(reals(TSR_FLOAT32, {batch, length}, std::vector<double>(count, 1)));
    const Tensor b(
        reals(TSR_FLOAT32, {length}, std::vector<double>(static_cast<size_t>(length), 1)));
    const tsr_tensor inputs[2] = {a, b};
    Program program;
    ok(tsr_program_record_begin(inputs, 2, "[\"a\", \"b\"]", -1, nullptr, 0, nullptr, 0));
    Tensor y;
    ok(tsr_multiply(a, b, y.slot()));
    const tsr_tensor given = y;
    ok(tsr_program_record_end(&given, 1, nullptr, 0, program.slot()));
    return program;
  };
  const Program list[5] = {record_at(2, 5), record_at(3, 5), record_at(2, 6), record_at(3, 6),
                           record_at(4, 9)};
  const tsr_program handles[5] = {list[0], list[1], list[2], list[3], list[4]};
  Program program;
  ok(tsr_program_unify_named(handles, 5, "[\"batch\", \"length\"]", -1, program.slot()));
  const Tensor a(reals(TSR_FLOAT32, {2, 3}, {1, 1, 1, 1, 1, 1}));
  const Tensor b = vector({1, 1, 1, 1});
  const tsr_tensor given[2] = {a, b};
  Places places;
  refused(tsr_program_run(program, given, 2, places.slots(), 1, places.count()), TSR_SHAPE);
  const std::string error = last_error();
  for (const char* part : {"input 'b'", "axis 0", "length = 3", "got 4", "axis 1 of 'a'"})
    EXPECT_NE(error.find(part), std::string::npos) << part << " in: " << error;
  // Sizes that never change apart from each other are no two sizes.
  const tsr_program lockstep[3] = {list[0], list[3], list[4]};
  Program none;
  refused(tsr_program_unify_named(lockstep, 3, "[\"batch\", \"length\"]", -1, none.slot()),
          TSR_VALUE);
  refused(tsr_program_unify_named(handles, 5, "[\"batch\"]", -1, none.slot()), TSR_VALUE);
  refused(tsr_program_unify_named(handles, 5, "[\"n\", \"n\"]", -1, none.slot()), TSR_VALUE);
}

TEST(ProgramTraining, P17_constants_that_depend_on_a_size_are_refused) {
  const auto record_at = [](int64_t n) {
    const Tensor x(reals(TSR_FLOAT32, {n}, std::vector<double>(static_cast<size_t>(n), 1)));
    return recorded(x, [n](tsr_tensor in, tsr_tensor* y) {
      const Tensor share(reals(TSR_FLOAT32, {}, {1.0 / static_cast<double>(n)}));
      ok(tsr_multiply(in, share, y));
    });
  };
  const Program two = record_at(2), four = record_at(4);
  const tsr_program both[2] = {two, four};
  Program program;
  refused(tsr_program_unify(both, 2, program.slot()), TSR_VALUE);
  EXPECT_NE(last_error().find("constant"), std::string::npos) << last_error();
}

TEST(ProgramTraining, P17_a_file_with_impossible_sizes_is_refused) {
  const Program program =
      unified({{2, 5}, {3, 5}, {2, 6}, {3, 6}, {4, 9}}, "[\"batch\", \"length\"]");
  const std::string bytes = text_of(tsr_program_to_bytes, program);
  uint64_t state = 7;
  const Tensor x(reals(TSR_FLOAT32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  for (int round = 0; round < 2000; ++round) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    std::string file = bytes;
    file[(state >> 33) % file.size()] = static_cast<char>(state >> 24);
    Program other;
    if (tsr_program_from_bytes(file.data(), static_cast<int64_t>(file.size()), other.slot()) != 0)
      continue;
    Places places;
    const tsr_tensor given = x;
    survives(tsr_program_run(other, &given, 1, places.slots(), places.capacity(), places.count()));
  }
}

}  // namespace test_program_training
