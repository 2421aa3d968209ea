// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "autograd/anomaly.h"

#include <algorithm>
#include <utility>

#include "autograd/grad_mode.h"
#include "autograd/gradient_ops.h"
#include "autograd/metadata.h"
#include "base/error.h"
#include "base/host_stack.h"
#include "tensor/promotion.h"

namespace tsr {
namespace {

struct ThreadState {
  AnomalyMode mode;
  Node* running = nullptr;  // the innermost node that runs in a watched backward
  bool noting = false;      // no node is noted now, for example because the host is being asked
};
constinit thread_local ThreadState t_state;

// Sets a variable of this thread for a scope.
template <class T>
class Setting {
 public:
  Setting(T& place, T value) noexcept : place_(place), before_(std::exchange(place, value)) {}
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() { place_ = before_; }

 private:
  T& place_;
  T before_;
};

std::string text_of(const Node& node, std::string_view key) {
  const auto found = find_metadata(node, key);
  return found.has_value() ? found->text : std::string();
}

// Where the forward of `node` was called, and the same for the node whose backward did that.
std::string origin_of(const Node& node) {
  const std::string stack = text_of(node, kStackKey);
  std::string text = concat(kOriginMark, node.name(), " ");
  if (!stack.empty()) {
    append_text(text, concat("was called here:\n", with_source_lines(stack)));
  } else if (find_metadata(node, kStackKey).has_value()) {
    append_text(text, "was recorded in anomaly mode, but its host gave no call stack.");
  } else {
    append_text(text,
                "was not recorded in anomaly mode; switch the mode on during the forward to see "
                "where it was called.");
  }
  append_text(text, text_of(node, kParentKey));
  return text;
}

bool may_have_nan(const Tensor& tensor) {
  return tensor.defined() && is_differentiable(tensor.dtype()) && tensor.numel() > 0;
}

// Nothing of the check is recorded.
bool has_nan(const Tensor& tensor) {
  const NoGrad guard;
  return may_have_nan(tensor) && gradient_ops().has_nan(tensor);
}

void check_results(const Node& node, std::span<const Tensor> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    TSR_CHECK(!has_nan(results[i]), Code::kAutograd, nullptr, "Function '", node.name(),
              "' returned nan values in its ", i, "th output, got none in its gradients",
              origin_of(node));
  }
}

[[noreturn]] void rethrow_with_origin(const Error& error, const Node& node) {
  if (error.message().find(kOriginMark) != std::string::npos) throw;  // of a nested backward
  Error fuller(error.code(), error.arg(), concat(error.message(), origin_of(node)), error.file(),
               error.line());
  fuller.set_native_code(error.native_code());
  fuller.set_payload(error.payload());
  throw fuller;
}

}  // namespace

AnomalyMode anomaly_mode() noexcept {
  return t_state.mode;
}

void set_anomaly_mode(AnomalyMode mode) noexcept {
  t_state.mode = mode;
  watch_new_nodes(mode.on);
}

void note_origin(Node& node) noexcept {
  if (t_state.noting) return;
  const Setting<bool> noting(t_state.noting, true);
  try {
    MetadataValue stack;
    try {
      stack.text = host_stack();
    } catch (const Error& error) {
      stack.text = concat("(the host failed to give its call stack: ", error.message(), ")");
    }
    set_metadata(node, kStackKey, std::move(stack));
    if (t_state.running == nullptr) return;
    MetadataValue parent;
    parent.text = origin_of(*t_state.running);
    set_metadata(node, kParentKey, std::move(parent));
  } catch (...) {  // no memory: the node stays without
  }
}

NoOrigins::NoOrigins() noexcept : before_(std::exchange(t_state.noting, true)) {}
NoOrigins::~NoOrigins() {
  t_state.noting = before_;
}

void apply_watched(Node& node, Backward& ctx) {
  const Setting<Node*> running(t_state.running, &node);
  const std::span<const Tensor> grads = ctx.grads();
  const bool check = t_state.mode.check_nan && std::none_of(grads.begin(), grads.end(), has_nan);
  try {
    node.apply(ctx);
  } catch (const Error& error) {
    rethrow_with_origin(error, node);
  }
  if (check) check_results(node, ctx.results());
}

}  // namespace tsr
