// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/linalg/cublas_lt.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace tsr::cuda {

using kernel::Status;

namespace {

// ---- Descriptors ----

// Destroys the descriptor at the end.
template <class T, cublasStatus_t (*kDestroy)(T)>
class Owned {
 public:
  Owned() = default;
  ~Owned() {
    if (value != nullptr) static_cast<void>(kDestroy(value));
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  T value = nullptr;
};

// A product as cuBLASLt sees it. The first failure stays in `status`.
class Description {
 public:
  explicit Description(const LtProduct& product) {
    const BlasType type = blas_type(product.dtype, product.precision);
    const cudaDataType_t scale = product.dtype == DType::kFloat64 ? CUDA_R_64F : CUDA_R_32F;
    keep(cublasLtMatmulDescCreate(&operation_.value, type.compute, scale));
    set(CUBLASLT_MATMUL_DESC_TRANSA, product.op_a);
    set(CUBLASLT_MATMUL_DESC_TRANSB, product.op_b);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE,
        product.epilogue == Epilogue::kBias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_BGRADB);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, product.bias);
    const bool plain_a = product.op_a == CUBLAS_OP_N;
    const bool plain_b = product.op_b == CUBLAS_OP_N;
    make(a_, type.data, plain_a ? product.m : product.k, plain_a ? product.k : product.m,
         product.lda);
    make(b_, type.data, plain_b ? product.k : product.n, plain_b ? product.n : product.k,
         product.ldb);
    make(d_, type.data, product.m, product.n, product.ldd);
  }

  [[nodiscard]] cublasStatus_t status() const { return status_; }
  [[nodiscard]] cublasLtMatmulDesc_t operation() const { return operation_.value; }
  [[nodiscard]] cublasLtMatrixLayout_t a() const { return a_.value; }
  [[nodiscard]] cublasLtMatrixLayout_t b() const { return b_.value; }
  [[nodiscard]] cublasLtMatrixLayout_t d() const { return d_.value; }

 private:
  using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;

  void keep(cublasStatus_t status) {
    if (status_ == CUBLAS_STATUS_SUCCESS) status_ = status;
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t name, const T& value) {
    if (status_ == CUBLAS_STATUS_SUCCESS)
      status_ = cublasLtMatmulDescSetAttribute(operation_.value, name, &value, sizeof value);
  }
  void make(Layout& layout, cudaDataType_t type, int64_t rows, int64_t columns, int64_t leading) {
    if (status_ == CUBLAS_STATUS_SUCCESS)
      status_ = cublasLtMatrixLayoutCreate(&layout.value, type, static_cast<uint64_t>(rows),
                                           static_cast<uint64_t>(columns), leading);
  }

  Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> operation_;
  Layout a_, b_, d_;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

// ---- The choice of an algorithm ----

// What the algorithm may rely on; more than this helps no kernel.
uint32_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  return static_cast<uint32_t>(std::min<uintptr_t>(address & -address, 256));
}

// All values on which the choice depends.
using Key = std::array<int64_t, 16>;
Key key_of(kernel::Place place, const LtProduct& p) {
  return {place.device,
          static_cast<int64_t>(p.dtype),
          static_cast<int64_t>(p.precision),
          static_cast<int64_t>(p.epilogue),
          p.op_a,
          p.op_b,
          p.m,
          p.n,
          p.k,
          p.lda,
          p.ldb,
          p.ldd,
          alignment_of(p.a),
          alignment_of(p.b),
          alignment_of(p.d),
          alignment_of(p.bias)};
}

using Choice = std::optional<cublasLtMatmulAlgo_t>;  // empty: there is none

class Choices {
 public:
  bool find(const Key& key, Choice& choice) {
    const std::lock_guard lock(mutex_);
    const auto found = map_.find(key);
    if (found != map_.end()) choice = found->second;
    return found != map_.end();
  }
  void keep(const Key& key, const Choice& choice) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      // Bounds the memory when shapes keep changing.
      if (map_.size() >= kCapacity) map_.clear();
      map_.insert_or_assign(key, choice);
    } catch (...) {  // no memory: the next product chooses again
    }
  }

 private:
  static constexpr size_t kCapacity = 4096;
  std::mutex mutex_;
  std::map<Key, Choice> map_;
};
Choices& choices() {
  static auto& one = *new Choices;  // never destroyed: threads may still multiply at the end
  return one;
}

// Whether cuBLASLt says for good that there is no algorithm; other failures may pass.
bool is_refused(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE;
}

// As for all products, sums that are split among blocks stay in the type of the computation, and
// their parts are added in a fixed order. No algorithm is no failure.
cublasStatus_t choose(cublasLtHandle_t handle, const LtProduct& product,
                      const Description& described, uint64_t workspace, Choice& choice) {
  choice = {};
  Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> wish;
  cublasStatus_t status = cublasLtMatmulPreferenceCreate(&wish.value);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t name, const auto& value) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = cublasLtMatmulPreferenceSetAttribute(wish.value, name, &value, sizeof value);
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(product.a));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(product.b));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(product.d));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(product.d));
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  status =
      cublasLtMatmulAlgoGetHeuristic(handle, described.operation(), described.a(), described.b(),
                                     described.d(), described.d(), wish.value, 1, &found, &count);
  if (is_refused(status)) return CUBLAS_STATUS_SUCCESS;
  if (status == CUBLAS_STATUS_SUCCESS && count > 0 && found.state == CUBLAS_STATUS_SUCCESS)
    choice = found.algo;
  return status;
}

}  // namespace

BlasType blas_type(DType dtype, kernel::Precision precision) noexcept {
  const cublasComputeType_t single =
      precision == kernel::Precision::kHighest ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32;
  switch (dtype) {
    case DType::kFloat16:
      return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case DType::kBFloat16:
      return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case DType::kFloat32:
      return {CUDA_R_32F, single};
    case DType::kFloat64:
      return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case DType::kComplex64:
      return {CUDA_C_32F, single};
    default:
      return {CUDA_C_64F, CUBLAS_COMPUTE_64F};
  }
}

Status multiply(kernel::Place place, const LtProduct& product, bool& offered) noexcept {
  const DeviceGuard guard(place.device);
  TSR_CUDA_TRY(guard.error());
  const Key key = key_of(place, product);
  Choice choice;
  const bool is_known = choices().find(key, choice);
  offered = !is_known || choice.has_value();
  if (!offered) return kernel::kOk;
  const BlasHandle handle(place);
  if (handle.status() != CUBLAS_STATUS_SUCCESS) return blas_failure(handle.status());
  // A handle of cuBLAS is one of cuBLASLt, too.
  const auto light = reinterpret_cast<cublasLtHandle_t>(handle.get());
  const Description described(product);
  if (described.status() != CUBLAS_STATUS_SUCCESS) return blas_failure(described.status());
  if (!is_known) {
    const cublasStatus_t chosen =
        choose(light, product, described, handle.workspace_bytes(), choice);
    if (chosen != CUBLAS_STATUS_SUCCESS) return blas_failure(chosen);
  }
  const double wide[2] = {1, 0};
  const float narrow[2] = {1, 0};
  const bool is_wide = product.dtype == DType::kFloat64;
  const auto factor = [&](int i) {
    return is_wide ? static_cast<const void*>(wide + i) : static_cast<const void*>(narrow + i);
  };
  cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;
  if (choice.has_value()) {
    status = cublasLtMatmul(light, described.operation(), factor(0), product.a, described.a(),
                            product.b, described.b(), factor(1), product.d, described.d(),
                            product.d, described.d(), &*choice, handle.workspace(),
                            handle.workspace_bytes(), static_cast<cudaStream_t>(place.stream));
  }
  // An algorithm that the heuristics propose may still refuse to run.
  if (is_refused(status)) choice = {};
  offered = choice.has_value();
  if (!is_known || !offered) choices().keep(key, choice);
  if (!offered) return kernel::kOk;
  return status == CUBLAS_STATUS_SUCCESS ? queued(place) : blas_failure(status);
}

}  // namespace tsr::cuda
