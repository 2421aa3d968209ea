// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/graph_view.h"

#include <unordered_map>

#include "autograd/accumulate_grad.h"
#include "autograd/tensor_grad.h"
#include "autograd/tensor_record.h"
#include "base/error.h"
#include "inspect/saved_names.h"

namespace tsr::inspect {
namespace {

std::string shape_text(DimsView sizes, DType dtype) {
  std::string text = sizes.empty() ? std::string("scalar") : concat(sizes);
  return dtype == DType::kFloat32 ? text : concat(text, " ", dtype);
}

std::string output_text(const Node& node, uint32_t output) {
  if (output >= node.outputs().size()) return "";
  const OutputMeta& meta = node.outputs()[output];
  return meta.exists ? shape_text(meta.sizes, meta.dtype) : std::string();
}

class Walk {
 public:
  Walk(const GraphNames& names, bool show_saved) : show_saved_(show_saved) {
    for (size_t i = 0; i < names.tensors.size(); ++i) {
      names_.emplace(names.tensors[i].impl(), &names.names[i]);
    }
  }

  void add_root(const Tensor& root, size_t number, size_t count) {
    const Edge edge = requires_grad(root) ? gradient_edge(root) : Edge{};
    TSR_CHECK(edge.node, Code::kAutograd, "roots",
              "expected tensors that require grad, got one at ", number, " that does not");
    const std::string* name = name_of(root);
    const uint32_t output = add({VertexKind::kOutput,
                                 name != nullptr ? *name
                                 : count == 1    ? std::string("output")
                                                 : concat("output ", number),
                                 {shape_text(root.sizes(), root.dtype())},
                                 ""});
    connect(edge, output);
    finish();
  }

  GraphView take() { return std::move(view_); }

 private:
  struct Frame {
    const Node* node;
    uint32_t vertex;
    size_t next;
  };

  const std::string* name_of(const Tensor& tensor) const {
    const auto found = names_.find(tensor.impl());
    return found != names_.end() ? found->second : nullptr;
  }

  uint32_t add(Vertex vertex) {
    view_.vertices.push_back(std::move(vertex));
    return static_cast<uint32_t>(view_.vertices.size() - 1);
  }

  Vertex leaf_vertex(const AccumulateGrad& node) const {
    const Tensor& leaf = node.leaf();
    const std::string* name = name_of(leaf);
    return {VertexKind::kLeaf,
            name != nullptr ? *name : std::string("leaf"),
            {shape_text(leaf.sizes(), leaf.dtype())},
            concat("leaf, ", leaf.dtype(), " on ", leaf.device())};
  }

  Vertex operation_vertex(const Node& node) const {
    Vertex vertex{VertexKind::kOperation, node.name(), {}, concat("node ", node.sequence())};
    if (show_saved_) add_saved(node, vertex.lines);
    return vertex;
  }

  static void add_saved(const Node& node, std::vector<std::string>& lines) {
    if (!node.has_saved()) return;
    try {
      for (size_t i = 0; i < node.saved_count(); ++i) {
        const SavedTensor::Origin saved = node.saved_origin(i);
        if (saved.kind == SavedTensor::Kind::kNone) continue;
        const bool known = saved.kind != SavedTensor::Kind::kOverwritten;
        lines.push_back(concat("saves ", saved_name(node, i), " ",
                               known ? shape_text(saved.sizes, saved.dtype) : "(overwritten)"));
      }
    } catch (const Error& error) {
      if (error.code() != Code::kAutograd) throw;
      lines.emplace_back("saved tensors are freed");
    }
  }

  void connect(const Edge& edge, uint32_t to) {
    const auto [place, fresh] = vertices_.try_emplace(edge.node.get(), 0U);
    const auto* leaf = dynamic_cast<const AccumulateGrad*>(edge.node.get());
    if (fresh) {
      place->second = add(leaf != nullptr ? leaf_vertex(*leaf) : operation_vertex(*edge.node));
      if (leaf == nullptr) path_.push_back({edge.node.get(), place->second, 0});
    }
    const bool shown = leaf != nullptr || view_.vertices[to].kind == VertexKind::kOutput;
    view_.links.push_back({place->second, to, edge.output,
                           shown ? std::string() : output_text(*edge.node, edge.output)});
  }

  // Depth first, without recursion: graphs may be millions of nodes deep.
  void finish() {
    while (!path_.empty()) {
      Frame& frame = path_.back();
      if (frame.next == frame.node->next_edges().size()) {
        path_.pop_back();
        continue;
      }
      const uint32_t to = frame.vertex;
      const Edge& edge = frame.node->next_edge(frame.next++);
      if (edge.node) connect(edge, to);  // may move the frame
    }
  }

  bool show_saved_;
  std::unordered_map<const TensorImpl*, const std::string*> names_;
  std::unordered_map<const Node*, uint32_t> vertices_;
  std::vector<Frame> path_;
  GraphView view_;
};

}  // namespace

GraphView view_of(std::span<const Tensor> roots, const GraphNames& names, bool show_saved) {
  Walk walk(names, show_saved);
  for (size_t i = 0; i < roots.size(); ++i) walk.add_root(roots[i], i, roots.size());
  return walk.take();
}

}  // namespace tsr::inspect
