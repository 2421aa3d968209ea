// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Looking into the graph: what nodes know, walks, drawings, and anomaly mode.
#pragma once

#include <unordered_set>

#include "tessera/cpp/autograd.hpp"
#include "tessera/cpp/buffer.hpp"
#include "tessera/cpp/json_text.hpp"

namespace tessera {

// ---- Nodes ----

// What the gradient of an output of a node looks like.
struct Node::Output {
  bool exists = false;  // false if the caller skipped this output
  bool differentiable = false;
  std::vector<int64_t> sizes;
  DType dtype = kFloat32;
  Device device;
};

namespace detail {

inline void drop_any(void* value) {
  delete static_cast<std::any*>(value);
}

}  // namespace detail

inline std::vector<Node::Output> Node::outputs() const {
  int64_t count = 0;
  check(tsr_node_output_count(handle_, &count));
  std::vector<Output> outputs(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    tsr_node_output info{};
    info.struct_size = sizeof(info);
    check(tsr_node_output_info(handle_, i, &info));
    Output& output = outputs[static_cast<size_t>(i)];
    output.exists = (info.flags & TSR_NODE_OUTPUT_EXISTS) != 0;
    if (!output.exists) continue;
    output.differentiable = (info.flags & TSR_NODE_OUTPUT_DIFFERENTIABLE) != 0;
    output.sizes.assign(info.sizes, info.sizes + info.ndim);
    output.dtype = static_cast<DType>(info.dtype);
    output.device = {info.device_type, info.device_index};
  }
  return outputs;
}

inline std::vector<Tensor> Node::saved() const {
  int64_t count = 0;
  check(tsr_node_saved_count(handle_, &count));
  std::vector<Tensor> found;
  for (int64_t i = 0; i < count; ++i) {
    tsr_tensor tensor = nullptr;
    check(tsr_node_saved(handle_, i, &tensor));
    found.push_back(Tensor::take(tensor));
  }
  return found;
}

inline std::vector<std::string> Node::saved_names() const {
  int64_t count = 0;
  check(tsr_node_saved_count(handle_, &count));
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) {
    const char* text = nullptr;
    int64_t size = 0;
    check(tsr_node_saved_name(handle_, i, &text, &size));
    names.push_back({text, static_cast<size_t>(size)});
  }
  return names;
}

// The first of this name; undefined if the node did not need it. InvalidValueError if it saves no
// such tensor.
inline Tensor Node::saved(std::string_view name) const {
  const std::vector<std::string> names = saved_names();
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] != name) continue;
    tsr_tensor tensor = nullptr;
    check(tsr_node_saved(handle_, static_cast<int64_t>(i), &tensor));
    return Tensor::take(tensor);
  }
  throw InvalidValueError("saved: " + this->name() + " saves no tensor named " + std::string(name));
}

inline std::optional<std::string> Node::metadata(std::string_view key) const {
  tsr_buffer text = nullptr;
  check(tsr_node_metadata_text(handle_, key.data(), detail::length(key), &text));
  if (text == nullptr) return std::nullopt;
  return detail::take_text(text);
}

inline void Node::set_metadata(std::string_view key, std::string_view text) const {
  check(tsr_node_metadata_set(handle_, key.data(), detail::length(key), text.data(),
                              detail::length(text)));
}

inline std::any* Node::metadata_value(std::string_view key) const {
  void* object = nullptr;
  tsr_drop_fn drop = nullptr;
  check(tsr_node_metadata_object(handle_, key.data(), detail::length(key), &object, &drop));
  return drop == &detail::drop_any ? static_cast<std::any*>(object) : nullptr;
}

inline void Node::set_metadata_value(std::string_view key, std::any value) const {
  // A failure drops the value too.
  check(tsr_node_metadata_set_object(handle_, key.data(), detail::length(key),
                                     new std::any(std::move(value)), &detail::drop_any));
}

inline void Node::remove_metadata(std::string_view key) const {
  check(tsr_node_metadata_remove(handle_, key.data(), detail::length(key)));
}

inline std::vector<std::string> Node::metadata_keys() const {
  tsr_buffer json = nullptr;
  check(tsr_node_metadata_keys(handle_, &json));
  return detail::parse_list(detail::take_text(json));
}

// ---- Walks and drawings ----

// The nodes behind a tensor, each once: depth first, along next() in order.
inline std::vector<Node> graph_nodes(const Tensor& root) {
  std::vector<Node> found;
  std::vector<Node> waiting;
  std::unordered_set<const void*> seen;
  const Node start = root.grad_fn();
  if (start.defined()) waiting.push_back(start);
  while (!waiting.empty()) {
    const Node node = waiting.back();
    waiting.pop_back();
    if (!seen.insert(node.handle()).second) continue;
    found.push_back(node);
    const std::vector<Node::Edge> edges = node.next();
    for (size_t i = edges.size(); i-- > 0;) {
      if (edges[i].node.defined()) waiting.push_back(edges[i].node);
    }
  }
  return found;
}

enum class GraphFormat : int32_t {
  kDot = TSR_GRAPH_DOT,      // text in the language of Graphviz
  kSvg = TSR_GRAPH_SVG,      // a complete picture
  kTable = TSR_GRAPH_TABLE,  // operators with shapes, parameters, multiply-adds; totals and memory
};

struct GraphOptions {
  GraphFormat format = GraphFormat::kSvg;
  bool show_saved = false;  // list the tensors that each node saved
};

// Draws the graph behind some tensors, in the direction of the forward. `named` gives leaves and
// roots their names, for example from Module::named_parameters.
inline std::string draw_graph(const TensorList& roots,
                              const std::vector<std::pair<std::string, Tensor>>& named = {},
                              const GraphOptions& options = {}) {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : named) {
    names.push_back(name);
    tensors.push_back(tensor);
  }
  const std::string listed = detail::write_texts(names);
  const TensorList list(tensors);
  tsr_buffer picture = nullptr;
  check(tsr_graph_draw(roots.data(), roots.size(), list.data(), list.size(), listed.data(),
                       detail::length(listed), static_cast<tsr_graph_format>(options.format),
                       options.show_saved ? TSR_GRAPH_SHOW_SAVED : 0, &picture));
  return detail::take_text(picture);
}

// ---- Anomaly mode ----

inline bool is_anomaly_enabled() noexcept {
  return (tsr_anomaly_mode() & TSR_ANOMALY_ENABLED) != 0;
}

// Until it is destroyed, nodes that this thread makes keep the call stack that set_host_stack
// gives, and a backward that fails says where the forward of the failing node was called; without a
// stack the error only names the node. With `check_nan` a backward fails when a node returns nan
// though the gradients that it got have none. Guards must be destroyed in reverse order.
class AnomalyGuard {
 public:
  [[nodiscard]] explicit AnomalyGuard(bool check_nan = true) {
    check(tsr_anomaly_mode_set(TSR_ANOMALY_ENABLED | (check_nan ? TSR_ANOMALY_CHECK_NAN : 0),
                               &previous_));
  }
  AnomalyGuard(const AnomalyGuard&) = delete;
  AnomalyGuard& operator=(const AnomalyGuard&) = delete;
  ~AnomalyGuard() {
    int32_t ignored = 0;
    detail::ignore(tsr_anomaly_mode_set(previous_, &ignored));
  }

 private:
  int32_t previous_ = 0;
};

}  // namespace tessera
