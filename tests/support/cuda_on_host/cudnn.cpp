// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The stand-in for cuDNN. A descriptor is a set of attributes. Finalizing checks the same
// conditions as cuDNN. A descriptor that uses another one copies it, so that the other one may be
// destroyed.
//
// Some engines must not be chosen in some cases, and then give wrong results: the first is for
// tensor cores and rounds inputs wider than 16 bits, the second adds in no fixed order, the third
// uses Fourier transforms. Two engines are exact but need a workspace: one more than any device
// has, one that a device may not have. The last engine is only proposed as a fallback. No engine
// takes images and weight of different layouts, or padding that differs between the two sides.
#include "cudnn.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cudnn_convolve.h"

using namespace cudnn_on_host;

namespace {

constexpr int kRounding = 0;
constexpr int kUnordered = 1;
constexpr int kTransforming = 2;
constexpr int kBoundless = 3;
constexpr int kHungry = 4;
constexpr int kExact = 5;
constexpr int64_t kWorkspace = 2048;  // of all engines but two

int64_t workspace_of(int engine) {
  return engine == kBoundless ? int64_t{1} << 45
         : engine == kHungry  ? int64_t{1} << 29
                              : kWorkspace;
}

// The contents of a final descriptor.
struct Facts {
  Tensor tensor;
  Windows windows;
  Convolution convolution;
  int engine = -1;
  std::vector<int64_t> ids;
  std::vector<void*> pointers;
  void* workspace = nullptr;
};
struct Values {
  int64_t count = 0;
  std::vector<char> bytes;
};
struct Bag {
  explicit Bag(cudnnBackendDescriptorType_t its_type) : type(its_type) {}
  cudnnBackendDescriptorType_t type;
  bool final = false;
  std::map<int, Values> values;
  Facts facts;
};

size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_DATA_TYPE:
    case CUDNN_TYPE_CONVOLUTION_MODE:
    case CUDNN_TYPE_HEUR_MODE:
    case CUDNN_TYPE_NUMERICAL_NOTE:
    case CUDNN_TYPE_FLOAT:
      return 4;
    default:
      return 8;
  }
}

// The type of an attribute that may be set. hundred_of(descriptor) is name / 100 of its attributes.
cudnnBackendAttributeType_t type_of(int name) {
  switch (name) {
    case CUDNN_ATTR_CONVOLUTION_COMP_TYPE:
    case CUDNN_ATTR_TENSOR_DATA_TYPE:
      return CUDNN_TYPE_DATA_TYPE;
    case CUDNN_ATTR_CONVOLUTION_CONV_MODE:
      return CUDNN_TYPE_CONVOLUTION_MODE;
    case CUDNN_ATTR_ENGINEHEUR_MODE:
      return CUDNN_TYPE_HEUR_MODE;
    case CUDNN_ATTR_OPERATIONGRAPH_HANDLE:
    case CUDNN_ATTR_EXECUTION_PLAN_HANDLE:
      return CUDNN_TYPE_HANDLE;
    case CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION:
      return CUDNN_TYPE_CHAR;
    case CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS:
    case CUDNN_ATTR_VARIANT_PACK_WORKSPACE:
      return CUDNN_TYPE_VOID_PTR;
    case CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH:
    case CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG:
    case CUDNN_ATTR_OPERATIONGRAPH_OPS:
      return CUDNN_TYPE_BACKEND_DESCRIPTOR;
    default:
      return name / 100 == 7 ? CUDNN_TYPE_BACKEND_DESCRIPTOR : CUDNN_TYPE_INT64;
  }
}
bool is_factor(int name) {
  return name / 100 == 7 && (name - 700) % 6 < 2;
}
int hundred_of(cudnnBackendDescriptorType_t type) {
  switch (type) {
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      return 1;
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return 2;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return 4;
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return 8;
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return 9;
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return 10;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return 7;
    default:
      return -1;
  }
}

// ---- Reading attributes ----

template <class T>
std::vector<T> list(const Bag& bag, int name) {
  const auto found = bag.values.find(name);
  if (found == bag.values.end()) return {};
  std::vector<T> result(static_cast<size_t>(found->second.count));
  std::memcpy(result.data(), found->second.bytes.data(), result.size() * sizeof(T));
  return result;
}
// The final descriptor in an attribute, or null.
const Bag* part(const Bag& bag, int name, cudnnBackendDescriptorType_t type) {
  const auto found = list<const Bag*>(bag, name);
  if (found.size() != 1 || found[0] == nullptr) return nullptr;
  return found[0]->final && found[0]->type == type ? found[0] : nullptr;
}
bool all_at_least(const std::vector<int64_t>& values, size_t count, int64_t low) {
  return values.size() == count &&
         std::all_of(values.begin(), values.end(), [&](int64_t v) { return v >= low; });
}

// ---- Finalizing ----

cudnnStatus_t finalize_tensor(Bag& bag) {
  Tensor& t = bag.facts.tensor;
  const auto type = list<cudnnDataType_t>(bag, CUDNN_ATTR_TENSOR_DATA_TYPE);
  const auto id = list<int64_t>(bag, CUDNN_ATTR_TENSOR_UNIQUE_ID);
  const auto alignment = list<int64_t>(bag, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  t.sizes = list<int64_t>(bag, CUDNN_ATTR_TENSOR_DIMENSIONS);
  t.strides = list<int64_t>(bag, CUDNN_ATTR_TENSOR_STRIDES);
  if (type.size() != 1 || id.size() != 1 || !all_at_least(alignment, 1, 1))
    return CUDNN_STATUS_BAD_PARAM;
  if (t.sizes.empty() || !all_at_least(t.sizes, t.sizes.size(), 1) ||
      !all_at_least(t.strides, t.sizes.size(), 1))
    return CUDNN_STATUS_BAD_PARAM;
  t.type = type[0];
  t.id = id[0];
  t.alignment = alignment[0];
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_windows(Bag& bag) {
  Windows& w = bag.facts.windows;
  const auto axes = list<int64_t>(bag, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
  const auto type = list<cudnnDataType_t>(bag, CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  const auto mode = list<cudnnConvolutionMode_t>(bag, CUDNN_ATTR_CONVOLUTION_CONV_MODE);
  w.before = list<int64_t>(bag, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  w.after = list<int64_t>(bag, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  w.stride = list<int64_t>(bag, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  w.dilation = list<int64_t>(bag, CUDNN_ATTR_CONVOLUTION_DILATIONS);
  if (axes.size() != 1 || type.size() != 1 || mode.size() != 1 ||
      mode[0] != CUDNN_CROSS_CORRELATION)
    return CUDNN_STATUS_BAD_PARAM;
  const auto count = static_cast<size_t>(axes[0]);
  const bool right = count >= 1 && all_at_least(w.before, count, 0) &&
                     all_at_least(w.after, count, 0) && all_at_least(w.stride, count, 1) &&
                     all_at_least(w.dilation, count, 1);
  return right ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

// The number of outputs along axis d.
int64_t outputs(const Convolution& f, size_t d) {
  const Windows& w = f.windows;
  const int64_t reach = (f.w.sizes[d + 2] - 1) * w.dilation[d] + 1;
  const int64_t room = f.x.sizes[d + 2] + w.before[d] + w.after[d] - reach;
  return room < 0 ? -1 : room / w.stride[d] + 1;
}

// Attribute names of a pass are numbered from its alpha; these are the offsets of x, w and y.
struct Places {
  int alpha, x, w, y;
};
Places places_of(cudnnBackendDescriptorType_t type) {
  if (type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) return {700, 704, 703, 705};
  if (type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR)
    return {706, 710, 709, 711};
  return {712, 716, 715, 717};
}

cudnnStatus_t finalize_operation(Bag& bag) {
  const Places at = places_of(bag.type);
  const Bag* const x = part(bag, at.x, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const Bag* const w = part(bag, at.w, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const Bag* const y = part(bag, at.y, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const Bag* const windows = part(bag, at.alpha + 2, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  if (x == nullptr || w == nullptr || y == nullptr || windows == nullptr ||
      bag.values.count(at.alpha) == 0 || bag.values.count(at.alpha + 1) == 0)
    return CUDNN_STATUS_BAD_PARAM;
  Convolution& f = bag.facts.convolution;
  f = {bag.type, windows->facts.windows, x->facts.tensor, w->facts.tensor, y->facts.tensor};
  const size_t axes = f.windows.stride.size();
  if (f.x.sizes.size() != axes + 2 || f.w.sizes.size() != axes + 2 || f.y.sizes.size() != axes + 2)
    return CUDNN_STATUS_BAD_PARAM;
  const bool types = f.x.type == f.w.type && f.x.type == f.y.type;
  const bool channels = f.x.sizes[0] == f.y.sizes[0] && f.w.sizes[0] == f.y.sizes[1] &&
                        f.x.sizes[1] % f.w.sizes[1] == 0 &&
                        f.y.sizes[1] % (f.x.sizes[1] / f.w.sizes[1]) == 0;
  if (!types || !channels) return CUDNN_STATUS_BAD_PARAM;
  for (size_t d = 0; d < axes; ++d) {
    if (f.y.sizes[d + 2] != outputs(f, d)) return CUDNN_STATUS_BAD_PARAM;
  }
  return CUDNN_STATUS_SUCCESS;
}

// Copies the contents of the descriptor in an attribute, which may have any of these types.
cudnnStatus_t inherit(Bag& bag, int name, int handle,
                      std::initializer_list<cudnnBackendDescriptorType_t> types) {
  if (handle != 0 && list<cudnnHandle_t>(bag, handle).size() != 1) return CUDNN_STATUS_BAD_PARAM;
  for (const auto type : types) {
    if (const Bag* const found = part(bag, name, type)) {
      bag.facts = found->facts;
      return CUDNN_STATUS_SUCCESS;
    }
  }
  return CUDNN_STATUS_BAD_PARAM;
}

// Dense, and either row-major or with the channels last.
bool has_layout(const Tensor& t, bool last) {
  int64_t stride = 1;
  const auto fits = [&](size_t d) {
    const bool right = t.strides[d] == stride;
    stride *= t.sizes[d];
    return right;
  };
  bool right = !last || fits(1);
  for (size_t d = t.sizes.size() - 1; d > 1; --d) right = fits(d) && right;
  if (!last) right = fits(1) && right;
  return fits(0) && right;
}

// ---- A plan as text ----

// Visits all numbers of a plan, lists with their length first.
template <class Visit>
void visit_numbers(Facts& facts, const Visit& visit) {
  Convolution& f = facts.convolution;
  const auto visit_list = [&](std::vector<int64_t>& list) {
    auto size = static_cast<int64_t>(list.size());
    visit(size);
    list.resize(static_cast<size_t>(std::clamp<int64_t>(size, 0, 8)));
    for (int64_t& number : list) visit(number);
  };
  const auto visit_as_number = [&]<class T>(T& value) {
    auto number = static_cast<int64_t>(value);
    visit(number);
    value = static_cast<T>(number);
  };
  visit_as_number(facts.engine);
  visit_as_number(f.pass);
  for (auto* list : {&f.windows.before, &f.windows.after, &f.windows.stride, &f.windows.dilation})
    visit_list(*list);
  for (Tensor* tensor : {&f.x, &f.w, &f.y}) {
    visit_as_number(tensor->type);
    visit(tensor->id);
    visit(tensor->alignment);
    visit_list(tensor->sizes);
    visit_list(tensor->strides);
  }
}
std::string text_of(Facts facts) {
  std::ostringstream text;
  visit_numbers(facts, [&](int64_t& number) { text << number << ' '; });
  return text.str();
}
cudnnStatus_t read_plan(Bag& bag) {
  const auto given = list<char>(bag, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
  std::istringstream text(std::string(given.begin(), given.end()));
  visit_numbers(bag.facts, [&](int64_t& number) { text >> number; });
  return text ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t give_text(const Bag& bag, int64_t room, int64_t* count, void* values) {
  const std::string text = text_of(bag.facts);
  *count = static_cast<int64_t>(text.size());
  if (values != nullptr)
    std::memcpy(values, text.data(), static_cast<size_t>(std::min(room, *count)));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_plan(Bag& bag) {
  if (bag.values.count(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION) != 0) return read_plan(bag);
  const auto status =
      inherit(bag, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
              {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR});
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const Convolution& f = bag.facts.convolution;
  const auto all = [&](bool last) {
    return has_layout(f.x, last) && has_layout(f.w, last) && has_layout(f.y, last);
  };
  const bool even = f.windows.before == f.windows.after;
  return even && (all(false) || all(true)) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t finalize_pack(Bag& bag) {
  Facts& f = bag.facts;
  f.ids = list<int64_t>(bag, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  f.pointers = list<void*>(bag, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  const auto workspace = list<void*>(bag, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  if (f.ids.empty() || f.ids.size() != f.pointers.size() || workspace.size() != 1)
    return CUDNN_STATUS_BAD_PARAM;
  f.workspace = workspace[0];
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize(Bag& bag) {
  switch (bag.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return finalize_tensor(bag);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      return finalize_windows(bag);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return inherit(bag, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
                     {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                      CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                      CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR});
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      if (list<cudnnBackendHeurMode_t>(bag, CUDNN_ATTR_ENGINEHEUR_MODE).size() != 1)
        return CUDNN_STATUS_BAD_PARAM;
      return inherit(bag, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, 0,
                     {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR});
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return finalize_plan(bag);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return finalize_pack(bag);
    default:
      return finalize_operation(bag);
  }
}

// ---- Queries ----

bool may_be_taken(const Facts& facts) {
  const cudnnDataType_t type = facts.convolution.x.type;
  const bool short_type = type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
  return facts.engine >= kBoundless || (facts.engine != kUnordered && short_type);
}

// Writes the engines that a heuristic proposes into descriptors that the caller has made.
cudnnStatus_t propose(const Bag& bag, int64_t room, int64_t* count, void* values) {
  static_cast<void>(tsr::cuda::on_host::failure("cudnnHeuristics"));  // counts
  const bool fallback =
      list<cudnnBackendHeurMode_t>(bag, CUDNN_ATTR_ENGINEHEUR_MODE)[0] == CUDNN_HEUR_MODE_FALLBACK;
  const std::vector<int> engines =
      fallback ? std::vector<int>{kExact}
               : std::vector<int>{kRounding, kUnordered, kTransforming, kBoundless, kHungry};
  *count = static_cast<int64_t>(engines.size());
  for (size_t i = 0; i < engines.size() && static_cast<int64_t>(i) < room; ++i) {
    Bag* const target = static_cast<Bag**>(values)[i];
    if (target == nullptr || target->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
      return CUDNN_STATUS_BAD_PARAM;
    target->facts = bag.facts;
    target->facts.engine = engines[i];
    target->final = true;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t give_engine(const Bag& bag, int64_t room, int64_t* count, void* values) {
  Bag* const target = room == 1 ? *static_cast<Bag**>(values) : nullptr;
  if (target == nullptr || target->type != CUDNN_BACKEND_ENGINE_DESCRIPTOR)
    return CUDNN_STATUS_BAD_PARAM;
  target->facts = bag.facts;
  target->final = true;
  *count = 1;
  return CUDNN_STATUS_SUCCESS;
}

// An engine of a later version may have more notes than the headers define.
cudnnStatus_t give_notes(const Bag& bag, int64_t room, int64_t* count, void* values) {
  const bool wide = bag.facts.convolution.x.type == CUDNN_DATA_DOUBLE;
  std::vector<cudnnBackendNumericalNote_t> notes;
  switch (bag.facts.engine) {
    case kRounding:
      notes = {wide ? CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION
                    : CUDNN_NUMERICAL_NOTE_TENSOR_CORE};
      break;
    case kUnordered:
      notes = {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC};
      break;
    case kTransforming:
      notes = {CUDNN_NUMERICAL_NOTE_FFT};
      break;
    case kHungry:
      notes.assign(CUDNN_NUMERICAL_NOTE_TYPE_COUNT + 7, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4);
      break;
    default:
      break;
  }
  *count = static_cast<int64_t>(notes.size());
  std::copy_n(notes.begin(), std::min(room, *count),
              static_cast<cudnnBackendNumericalNote_t*>(values));
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

// ---- The functions ----

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

size_t cudnnGetVersion() {
  const int asked = tsr::cuda::on_host::failure("cudnnGetVersion");
  return asked == 0 ? CUDNN_VERSION : static_cast<size_t>(asked);
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  const auto status = static_cast<cudnnStatus_t>(tsr::cuda::on_host::failure("cudnnCreate"));
  if (status == CUDNN_STATUS_SUCCESS) *handle = new cudnnContext;
  return status;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUDNN_STATUS_BAD_PARAM;
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
const char* cudnnGetErrorString(cudnnStatus_t) {
  return "an error of the host's stand-in for cuDNN";
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  *descriptor = new Bag(type);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<Bag*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void* values) {
  Bag& bag = *static_cast<Bag*>(descriptor);
  if (bag.final || name / 100 != hundred_of(bag.type) || count < 1 || values == nullptr)
    return CUDNN_STATUS_BAD_PARAM;
  const bool factor = is_factor(name);
  const bool number = type == CUDNN_TYPE_FLOAT || type == CUDNN_TYPE_DOUBLE;
  if (factor ? !number : type != type_of(name)) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  const auto* bytes = static_cast<const char*>(values);
  bag.values[name] = {count, {bytes, bytes + static_cast<size_t>(count) * size_of(type)}};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, int64_t room, int64_t* count,
                                       void* values) {
  const Bag& bag = *static_cast<const Bag*>(descriptor);
  if (!bag.final) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
      return propose(bag, room, count, values);
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      return give_engine(bag, room, count, values);
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      return give_notes(bag, room, count, values);
    case CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION:
      return give_text(bag, room, count, values);
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      *count = 1;
      *static_cast<int64_t*>(values) = workspace_of(bag.facts.engine);
      return CUDNN_STATUS_SUCCESS;
    default:
      return CUDNN_STATUS_BAD_PARAM;
  }
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  Bag& bag = *static_cast<Bag*>(descriptor);
  const cudnnStatus_t status = finalize(bag);
  bag.final = status == CUDNN_STATUS_SUCCESS;
  return status;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  const Bag& what = *static_cast<const Bag*>(plan);
  const Bag& with = *static_cast<const Bag*>(pack);
  if (handle == nullptr || !what.final || !with.final || with.facts.workspace == nullptr)
    return CUDNN_STATUS_BAD_PARAM;
  void* found[3] = {};
  const Convolution& f = what.facts.convolution;
  const Tensor* const tensors[3] = {&f.x, &f.w, &f.y};
  for (int k = 0; k < 3; ++k) {
    for (size_t i = 0; i < with.facts.ids.size(); ++i) {
      if (with.facts.ids[i] == tensors[k]->id) found[k] = with.facts.pointers[i];
    }
    const auto address = reinterpret_cast<uintptr_t>(found[k]);
    if (found[k] == nullptr || address % static_cast<uintptr_t>(tensors[k]->alignment) != 0)
      return CUDNN_STATUS_EXECUTION_FAILED;
  }
  const double factor = may_be_taken(what.facts) ? 1 : 1.5;
  const cudaError_t error = tsr::cuda::on_host::enqueue(
      "launch", handle->stream,
      [f, factor, workspace = with.facts.workspace, x = found[0], w = found[1], y = found[2]] {
        std::memset(workspace, 0xab, kWorkspace);
        convolve(f, factor, x, w, y);
      });
  return error == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}
