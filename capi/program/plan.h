// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Plan: a program whose memory is placed once, for inputs of one layout.
//
// Note [Planned runs]
// The first run with inputs of a layout makes the calls as they were recorded and keeps what came
// out: layouts, and which results share memory. From that the plan follows.
// - Results are put into one arena, at offsets that values with other lifetimes share. A later run
//   calls the out= form of each operator on tensors that exist already.
// - Inputs are stand-ins: tensors whose storage points at the memory of the caller's tensor during
//   a run. Views of inputs, of stored tensors and of the arena are made once, and their calls are
//   left out.
// - An output has memory of its own. It is used again when nobody holds the tensor that the last
//   run gave, and it is as it was given; else it is replaced.
//   A view of an input or of a stored tensor is a new tensor on that memory in each run.
// - An operator without an out= form is called as recorded, and its results are new in every run.
// On the CPU the second run keeps the launches of a call, if they and nothing else are what the
// call does: made again on overwritten memory they must give the same bytes. Later runs make these
// launches without the op (Note [Kept launches] in kernel/kept_launch.h). On a device that keeps
// graphs the second run captures all calls as one graph; then a run copies the inputs in, queues
// the graph and copies the outputs out.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "capi/program/prepared.h"
#include "capi/program/program.h"
#include "kernel/device_graph.h"
#include "kernel/kept_launch.h"

namespace tsr::capi::program {

// What a tensor is and where it lies, to see whether that has changed.
struct Layout {
  DType dtype;
  Dims sizes, strides;
  int64_t offset;
  [[nodiscard]] static Layout of(const Tensor& tensor);
  [[nodiscard]] bool fits(const Tensor& tensor) const noexcept;
};
struct StoredAt {
  explicit StoredAt(const Tensor& stored);
  [[nodiscard]] bool fits() const noexcept;
  Tensor tensor;
  StoragePtr storage;
  const void* data;  // moves when the storage is shared with other processes
  Layout layout;
};

class Plan {
 public:
  // Makes the first run. Null if the program cannot be planned; the outputs are then valid all the
  // same.
  static std::unique_ptr<Plan> make(Program& program, std::span<const Tensor> given,
                                    const Sizes& sizes, std::vector<Tensor>& outputs);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan();

  [[nodiscard]] bool fits(std::span<const Tensor> given, const Sizes& sizes) const noexcept;
  std::vector<Tensor> run(std::span<const Tensor> given);

  [[nodiscard]] uint64_t arena_bytes() const noexcept { return arena_bytes_; }
  [[nodiscard]] size_t kept_calls() const noexcept;
  [[nodiscard]] size_t call_count() const noexcept { return calls_.size(); }
  // On a device: whether it keeps the calls as a graph, and if not, why.
  [[nodiscard]] bool has_graph() const noexcept { return device_run_ != nullptr; }
  [[nodiscard]] const std::string& graph_reason() const noexcept { return graph_reason_; }

 private:
  friend class Planner;
  enum class Memory : uint8_t { kStored, kInput, kArena, kOutput, kFresh };
  // Values on one storage.
  struct Group {
    Memory memory = Memory::kFresh;
    std::vector<int32_t> values;
    Device device;
    uint64_t nbytes = 0;
    int32_t first = 0, last = 0;  // calls
    uint64_t offset = 0;          // in the arena
    int32_t input = -1;
    bool written = false;
  };
  // An address of a kept launch that moves with an input or an output.
  struct Moving {
    kernel::KeptLaunch* launch;
    int32_t at;
    ptrdiff_t offset;
  };
  struct Call {
    int32_t number;  // of the step
    std::unique_ptr<Prepared> prepared;
    bool gives = false;  // results are new in every run
    bool tried = false;
    std::vector<std::unique_ptr<kernel::KeptLaunch>> launches;
  };

  using Versions = std::vector<std::pair<const Storage*, uint32_t>>;

  // The calls as a graph of the device, with memory that never moves.
  struct DeviceRun {
    std::vector<Tensor> inputs, outputs;  // undefined: not the graph's
    std::unique_ptr<kernel::DeviceGraph> graph;
  };

  explicit Plan(Program& program);
  void place_inputs(std::span<const Tensor> given);
  void renew_outputs();
  void renew(size_t group);
  void move(size_t group);
  void set_slot(int32_t value, const Tensor& tensor);
  [[nodiscard]] bool may_keep(const Call& call) const;
  [[nodiscard]] std::vector<Tensor> targets_of(const Step& step) const;
  [[nodiscard]] std::optional<Versions> versions_of_inputs(const Step& step,
                                                           std::span<const Tensor> targets) const;
  bool take_launches(Call& call, const Versions& versions);
  void try_keeping(Call& call);
  [[nodiscard]] bool find_moving(Call& call, std::vector<std::pair<size_t, Moving>>& moving);
  void make_call(Call& call);
  void drop_given() noexcept;
  std::vector<Tensor> run_calls(std::span<const Tensor> given, bool is_watched);
  void wait_for_last_run();
  void mark_run();
  void record_stream_of_run(StreamHandle stream);
  [[nodiscard]] std::string refuse_graph() const;
  void try_graph();
  std::vector<Tensor> run_graph(std::span<const Tensor> given);
  [[nodiscard]] Tensor output(const Named& named, std::span<const Tensor> given) const;

  Program& program_;
  Sizes sizes_;
  std::vector<Dims> input_strides_;
  std::vector<StoredAt> stored_;  // as at planning
  std::vector<Tensor> tensors_;   // of static values
  Slots slots_;
  std::vector<int32_t> group_of_;  // of a value; -1: none
  std::vector<Group> groups_;
  std::vector<size_t> output_groups_;
  std::vector<std::pair<int32_t, Layout>> output_layouts_;  // of the values of these groups
  std::vector<int32_t> written_inputs_;
  std::vector<int32_t> written_stored_;      // a value on each storage
  std::vector<std::vector<Moving>> moving_;  // by group
  std::vector<const void*> output_data_;     // by group: the memory of an output
  std::vector<const void*> moved_to_;        // by group: where its kept launches point
  std::vector<Call> calls_;
  std::vector<std::pair<int32_t, int32_t>> given_;  // calls and the values that die after them
  std::vector<bool> is_given_;                      // values whose handle a run owns
  std::vector<StoragePtr> arenas_;
  uint64_t arena_bytes_ = 0;
  bool on_cpu_ = true;
  Device device_;  // if not: that of the first tensor elsewhere
  std::unique_ptr<DeviceRun> device_run_;
  bool graph_tried_ = false;
  std::string graph_reason_;
  IntrusivePtr<Event> done_;  // of the last run, which was on this stream
  StreamHandle ran_on_ = nullptr;
  uint32_t runs_ = 0;
};

}  // namespace tsr::capi::program
