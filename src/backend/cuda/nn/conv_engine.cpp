// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nn/conv_engine.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/cuda/nn/conv_store.h"
#include "backend/cuda/nn/dnn.h"

namespace tsr::cuda {

using kernel::ConvPass;
using kernel::ConvPlan;
using kernel::Status;

namespace {

constexpr int64_t kInputId = 1;
constexpr int64_t kWeightId = 2;
constexpr int64_t kOutputId = 3;

// ---- Descriptions ----

cudnnDataType_t data_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return CUDNN_DATA_HALF;
    case DType::kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    case DType::kFloat32:
      return CUDNN_DATA_FLOAT;
    default:
      return CUDNN_DATA_DOUBLE;
  }
}

// The alignment that cuDNN may rely on, at most the size of its longest loads.
int64_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  return static_cast<int64_t>(std::min<uintptr_t>(address & -address, 16));
}

Descriptor describe(const Dnn& dnn, int64_t id, DType dtype, const ConvTensor& tensor, int dims,
                    const void* data) {
  Descriptor made(dnn, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const cudnnDataType_t type = data_type(dtype);
  made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment_of(data))
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims, tensor.wanted_sizes.data())
      .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, dims, tensor.wanted_strides.data());
  made.finalize();
  return made;
}

Descriptor describe_windows(const Dnn& dnn, const ConvShape& shape, cudnnDataType_t compute) {
  Descriptor made(dnn, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  const int n = shape.spatial;
  made.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, n)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, n, shape.padding.data())
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, n, shape.padding.data())
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, n, shape.stride.data())
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, n, shape.dilation.data());
  made.finalize();
  return made;
}

// The names of a pass's descriptor and its attributes.
struct PassNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t input, weight, output, windows, alpha, beta;
};
PassNames names_of(ConvPass pass) {
  switch (pass) {
    case ConvPass::kBackwardInput:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case ConvPass::kBackwardWeight:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
    default:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
  }
}

Descriptor describe_operation(const Dnn& dnn, const ConvPlan& plan, const ConvShape& shape,
                              const ConvPointers& data) {
  const int dims = shape.dims();
  const Descriptor input = describe(dnn, kInputId, plan.dtype, shape.input, dims, data.of[0]);
  const Descriptor weight = describe(dnn, kWeightId, plan.dtype, shape.weight, dims, data.of[1]);
  const Descriptor output = describe(dnn, kOutputId, plan.dtype, shape.output, dims, data.of[2]);
  const bool wide = plan.dtype == DType::kFloat64;
  const Descriptor windows =
      describe_windows(dnn, shape, wide ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
  const PassNames names = names_of(plan.pass);
  const float numbers[2] = {1, 0};
  const double wide_numbers[2] = {1, 0};
  const auto type = wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
  const auto number = [&](int i) -> const void* {
    return wide ? static_cast<const void*>(wide_numbers + i) : numbers + i;
  };
  Descriptor made(dnn, names.type);
  made.set(names.input, input)
      .set(names.weight, weight)
      .set(names.output, output)
      .set(names.windows, windows)
      .set(names.alpha, type, 1, number(0))
      .set(names.beta, type, 1, number(1));
  made.finalize();
  return made;
}

// ---- Choosing an engine ----

// Results must be the same in every run, and float32 must be exact unless the plan allows less. So
// this refuses engines that add in the order in which threads finish, that round their inputs, or
// whose transforms lose digits.
bool keeps_rules(const Dnn& dnn, const ConvPlan& plan, Descriptor& config) {
  Descriptor engine(dnn, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t place = engine.value();
  config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &place);
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  const int64_t given = engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                   CUDNN_NUMERICAL_NOTE_TYPE_COUNT, notes);
  if (!config.ok() || !engine.ok()) return false;
  // A library newer than the headers may have more notes than fit.
  const int64_t count = std::min<int64_t>(given, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  const DType dtype = plan.dtype;
  const bool exact = plan.precision == kernel::Precision::kHighest;
  const bool short_type = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  for (int64_t i = 0; i < count; ++i) {
    switch (notes[i]) {
      case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
        return false;
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
        if (dtype == DType::kFloat32 && exact) return false;
        break;
      case CUDNN_NUMERICAL_NOTE_FFT:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
        if (!short_type) return false;
        break;
      default:
        break;
    }
  }
  return true;
}

// A convolution that is ready to run. One call at a time: cuDNN does not promise thread safety.
struct Prepared {
  Descriptor plan;
  int64_t workspace;
  std::mutex mutex;
  // The next choice, whose workspace is smaller, once there was no memory for this one's.
  std::shared_ptr<Prepared> smaller;

  Prepared(Descriptor made, int64_t nbytes) : plan(std::move(made)), workspace(nbytes) {}
};

std::vector<Descriptor> proposals(const Dnn& dnn, const Descriptor& graph,
                                  cudnnBackendHeurMode_t mode) {
  Descriptor heuristics(dnn, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  heuristics.finalize();
  const int64_t count =
      heuristics.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
  std::vector<Descriptor> configs;
  std::vector<cudnnBackendDescriptor_t> places;
  for (int64_t i = 0; i < count; ++i) {
    configs.emplace_back(dnn, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    places.push_back(configs.back().value());
  }
  const int64_t given = heuristics.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                       count, places.data());
  configs.erase(configs.begin() + (heuristics.ok() ? std::min(given, count) : 0), configs.end());
  return configs;
}

// The workspace that a plan needs.
int64_t workspace_of(Descriptor& plan) {
  int64_t nbytes = 0;
  plan.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &nbytes);
  return nbytes;
}

// The first plan that keeps our rules and needs at most `most` bytes of workspace. If there is
// none: kOk and no plan.
Status prepare(const Dnn& dnn, cudnnHandle_t handle, const ConvPlan& plan, const ConvShape& shape,
               const ConvPointers& data, int64_t most, std::shared_ptr<Prepared>& prepared) {
  prepared.reset();
  const Descriptor operation = describe_operation(dnn, plan, shape, data);
  Descriptor graph(dnn, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle)
      .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  graph.finalize();
  if (!graph.ok()) return dnn_failure(graph.status());
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    for (Descriptor& config : proposals(dnn, graph, mode)) {
      if (!keeps_rules(dnn, plan, config)) continue;
      Descriptor made(dnn, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      made.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle)
          .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
      made.finalize();
      const int64_t nbytes = workspace_of(made);
      if (!made.ok() || nbytes > most) continue;
      prepared = std::make_shared<Prepared>(std::move(made), nbytes);
      return kernel::kOk;
    }
  }
  return kernel::kOk;
}

// ---- The cache ----

// All values on which the choice of an engine depends.
using Key = std::array<int64_t, 5 + 3 * kernel::kMaxSpatial + 3 * (2 * kMaxDims + 1)>;

Key key_of(const ConvPlan& plan, const ConvShape& shape, const ConvPointers& data) {
  Key key{};
  auto* next = key.data();
  *next++ = plan.place.device;  // first: see StoredPlan
  *next++ = static_cast<int64_t>(plan.dtype);
  *next++ = static_cast<int64_t>(plan.precision);
  *next++ = static_cast<int64_t>(plan.pass);
  *next++ = shape.spatial;
  const auto add = [&](const auto& list) { next = std::copy(list.begin(), list.end(), next); };
  add(shape.stride);
  add(shape.padding);
  add(shape.dilation);
  int which = 0;
  for (const ConvTensor* tensor : {&shape.input, &shape.weight, &shape.output}) {
    add(tensor->wanted_sizes);
    add(tensor->wanted_strides);
    *next++ = alignment_of(data.of[which++]);
  }
  return key;
}

class Cache {
 public:
  std::shared_ptr<Prepared> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = map_.find(key);
    return found == map_.end() ? nullptr : found->second;
  }
  void keep(const Key& key, const std::shared_ptr<Prepared>& made) {
    const std::lock_guard lock(mutex_);
    // Bounds the memory when shapes keep changing; shapes in use are prepared again.
    if (map_.size() >= kCapacity) map_.clear();
    map_[key] = made;
  }

 private:
  static constexpr size_t kCapacity = 1024;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Prepared>> map_;
};
Cache& cache() {
  static auto& one = *new Cache;  // never destroyed: threads may still convolve at the end
  return one;
}

// ---- Running ----

Status execute(const Dnn& dnn, cudnnHandle_t handle, Prepared& prepared, void* scratch,
               const ConvPointers& data) {
  const int64_t ids[3] = {kInputId, kWeightId, kOutputId};
  Descriptor pack(dnn, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids)
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, data.of)
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &scratch);
  pack.finalize();
  if (!pack.ok()) return dnn_failure(pack.status());
  const std::lock_guard lock(prepared.mutex);
  const cudnnStatus_t status = dnn.execute(handle, prepared.plan.value(), pack.value());
  return status == CUDNN_STATUS_SUCCESS ? kernel::kOk : dnn_failure(status);
}

// Engines that need more workspace than this are tried last.
constexpr int64_t kLargestWorkspace = int64_t{1} << 30;

// The plan that an earlier process has chosen; null if there is none.
std::shared_ptr<Prepared> read_plan(const StoredPlan& stored, cudnnHandle_t handle) {
  Descriptor plan = stored.read(handle);
  if (!plan.ok()) return nullptr;
  const int64_t nbytes = workspace_of(plan);
  return plan.ok() ? std::make_shared<Prepared>(std::move(plan), nbytes) : nullptr;
}

}  // namespace

Status run_engine(const ConvPlan& plan, const ConvShape& shape, const ConvPointers& data) {
  const Dnn* const dnn = load_dnn();
  if (dnn == nullptr) return missing_dnn();
  const DeviceGuard guard(plan.place.device);
  TSR_CUDA_TRY(guard.error());
  const DnnHandle handle(*dnn, plan.place);
  if (handle.status() != CUDNN_STATUS_SUCCESS) return dnn_failure(handle.status());
  const auto prepare_within = [&](int64_t most, std::shared_ptr<Prepared>& to) {
    return prepare(*dnn, handle.get(), plan, shape, data, most, to);
  };
  const Key key = key_of(plan, shape, data);
  std::shared_ptr<Prepared> prepared = cache().find(key);
  if (prepared == nullptr) {
    const StoredPlan stored{*dnn, plan.place.device, std::span(key).subspan(1)};
    prepared = read_plan(stored, handle.get());
    const bool is_stored = prepared != nullptr;
    for (const int64_t most : {kLargestWorkspace, INT64_MAX}) {
      if (prepared != nullptr) break;
      const Status status = prepare_within(most, prepared);
      if (status != kernel::kOk) return status;
    }
    if (prepared == nullptr) {
      return failure(Code::kNotImplemented,
                     "expected a convolution with an exact engine in cuDNN, got one without");
    }
    cache().keep(key, prepared);
    if (!is_stored) stored.write(prepared->plan);
  }
  // If there is no memory for the workspace of an engine, this call takes the next one with a
  // smaller workspace; a later call begins with the first choice again.
  while (prepared != nullptr) {
    const Workspace space(plan.place, prepared->workspace);
    if (!space.missing()) {
      const Status status = execute(*dnn, handle.get(), *prepared, space.data<void>(), data);
      return status == kernel::kOk ? queued(plan.place) : status;
    }
    const std::shared_ptr<Prepared> larger = std::move(prepared);
    const std::lock_guard lock(larger->mutex);
    if (larger->smaller == nullptr) {
      const Status status = prepare_within(larger->workspace - 1, larger->smaller);
      if (status != kernel::kOk) return status;
    }
    prepared = larger->smaller;
  }
  return no_workspace();
}

}  // namespace tsr::cuda
