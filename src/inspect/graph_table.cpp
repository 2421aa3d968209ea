// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/graph_table.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "autograd/accumulate_grad.h"
#include "autograd/tensor_grad.h"
#include "autograd/tensor_record.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/utf8.h"

namespace tsr::inspect {
namespace {

// The sizes of an input, as far as the node knows them: from what made it, or from what is saved,
// which a backward may free at any time. Empty: unknown, or a number.
Dims input_sizes(const Node& node, size_t input) {
  if (input >= node.next_edges().size()) return {};
  const Edge& edge = node.next_edge(input);
  if (edge.node) return edge.node->outputs()[edge.output].sizes;
  if (!node.has_saved()) return {};
  const std::lock_guard guard(node.lock());
  for (const SavedTensor& each : node.saved_list()) {
    const SavedTensor::Origin saved = each.origin();
    if (saved.kind == SavedTensor::Kind::kInput && saved.index == input) return saved.sizes;
  }
  return {};
}

// The size of an axis that counts from the end; 1 where it is unknown.
int64_t from_end(const Dims& sizes, size_t place) {
  return place <= sizes.size() ? sizes[sizes.size() - place] : 1;
}

int64_t weights_of(const Node& node, size_t first, size_t last) {
  int64_t count = 0;
  for (size_t i = first; i <= last; ++i) {
    const Dims sizes = input_sizes(node, i);
    if (!sizes.empty()) count += numel_of(sizes);
  }
  return count;
}

int64_t of_convolution(const Node& node, const Dims& walked) {
  const Dims weight = input_sizes(node, 1);
  if (weight.empty() || weight[0] == 0) return 0;
  return numel_of(walked) * (numel_of(weight) / weight[0]);
}

const char kBackward[] = "Backward";

std::string operator_name(const Node& node) {
  std::string name = node.name();
  const size_t tail = sizeof kBackward - 1;
  if (name.ends_with(kBackward) && name.size() > tail) name.resize(name.size() - tail);
  return name;
}

std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t place = text.size(); place > 3;) {
    place -= 3;
    text.insert(place, 1, ',');
  }
  return text;
}

std::string megabytes(int64_t nbytes) {
  return rounded(static_cast<double>(nbytes) / 1e6, 2) + " MB";
}

using Row = std::array<std::string, 5>;

void write_row(std::string& text, const Row& row, const std::array<size_t, 5>& widths) {
  std::string line;
  for (size_t c = 0; c < row.size(); ++c) {
    const std::string gap(widths[c] - count_characters(row[c]), ' ');
    if (c > 0) line += "  ";
    line += c < 3 ? row[c] + gap : gap + row[c];
  }
  line.resize(line.find_last_not_of(' ') + 1);
  append_text(text, line + "\n");
}

class Table {
 public:
  explicit Table(const GraphNames& names) {
    for (size_t i = 0; i < names.tensors.size(); ++i) {
      const Tensor& tensor = names.tensors[i];
      if (!names_.emplace(tensor.impl(), &names.names[i]).second) continue;
      parameters_ += tensor.numel();
      parameter_bytes_ += tensor.nbytes();
      if (requires_grad(tensor)) trainable_ += tensor.numel();
      kept_.insert(tensor.storage().get());
    }
  }

  void add(const Node& node) {
    Row row{"", operator_name(node), "-", "-", "-"};
    describe_output(node, row);
    describe_parameters(node, row);
    if (const int64_t count = multiply_adds_of(node); count > 0) {
      row[4] = grouped(count);
      multiply_adds_ += count;
    }
    rows_.push_back(std::move(row));
    add_saved(node);
  }

  [[nodiscard]] std::string text() const {
    std::array<size_t, 5> widths{};
    for (const Row& row : rows_) {
      for (size_t c = 0; c < row.size(); ++c)
        widths[c] = std::max(widths[c], count_characters(row[c]));
    }
    std::string out;
    for (const Row& row : rows_) write_row(out, row, widths);
    append_text(out, concat("Parameters: ", grouped(parameters_), " (", grouped(trainable_),
                            " trainable), ", megabytes(parameter_bytes_), "\n"));
    append_text(out, concat("Multiply-adds: ", grouped(multiply_adds_), "\n"));
    append_text(out, concat("Outputs of the operators: ", megabytes(output_bytes_), "\n"));
    append_text(out, concat("Saved for the backward: ", megabytes(saved_bytes_), "\n"));
    return out;
  }

 private:
  void describe_output(const Node& node, Row& row) {
    std::string shapes;
    for (const OutputMeta& meta : node.outputs()) {
      if (!meta.exists) continue;
      append_text(shapes, concat(shapes.empty() ? "" : ", ", meta.sizes));
      output_bytes_ += numel_of(meta.sizes) * itemsize(meta.dtype);
    }
    if (!shapes.empty()) row[2] = shapes;
  }

  void describe_parameters(const Node& node, Row& row) {
    int64_t count = 0;
    bool fresh = false;
    for (const Edge& edge : node.next_edges()) {
      const auto* leaf = dynamic_cast<const AccumulateGrad*>(edge.node.get());
      const auto found = leaf == nullptr ? names_.end() : names_.find(leaf->leaf().impl());
      if (found == names_.end()) continue;
      const std::string& name = *found->second;
      const size_t point = name.rfind('.');
      if (row[0].empty() && point != std::string::npos) row[0] = name.substr(0, point);
      if (row[0].empty()) row[0] = name;
      count += leaf->leaf().numel();
      fresh = counted_.insert(found->first).second || fresh;
    }
    if (count > 0) row[3] = fresh ? grouped(count) : std::string("(again)");
  }

  // Memory that is no parameter's, each once.
  void add_saved(const Node& node) {
    if (!node.has_saved()) return;
    const std::lock_guard guard(node.lock());
    for (const SavedTensor& saved : node.saved_list()) {
      const Storage* memory = saved.memory();
      if (memory != nullptr && kept_.insert(memory).second) {
        saved_bytes_ += static_cast<int64_t>(memory->nbytes);
      }
    }
  }

  std::unordered_map<const TensorImpl*, const std::string*> names_;
  std::unordered_set<const TensorImpl*> counted_;
  std::unordered_set<const Storage*> kept_;
  std::vector<Row> rows_{{"Layer", "Operator", "Output", "Parameters", "Multiply-adds"}};
  int64_t parameters_ = 0;
  int64_t trainable_ = 0;
  int64_t parameter_bytes_ = 0;
  int64_t multiply_adds_ = 0;
  int64_t output_bytes_ = 0;
  int64_t saved_bytes_ = 0;
};

}  // namespace

int64_t multiply_adds_of(const Node& node) {
  const std::string_view name = node.name();
  if (node.outputs().empty() || !node.outputs()[0].exists) return 0;
  const Dims& output = node.outputs()[0].sizes;
  const int64_t made = numel_of(output);
  if (name == "LinearBackward") {
    const Dims weight = input_sizes(node, 1);
    return made * from_end(weight.empty() ? input_sizes(node, 0) : weight, 1);
  }
  if (name == "MatmulBackward") {
    const Dims left = input_sizes(node, 0);
    return made * (left.empty() ? from_end(input_sizes(node, 1), 2) : from_end(left, 1));
  }
  if (name == "AddmmBackward" || name == "BaddbmmBackward") {
    const Dims left = input_sizes(node, 1);
    return made * (left.empty() ? from_end(input_sizes(node, 2), 2) : from_end(left, 1));
  }
  if (name == "AddbmmBackward") {
    const Dims left = input_sizes(node, 1);
    return made * from_end(left, 1) * from_end(left, 3);
  }
  if (name == "ConvBackward") return of_convolution(node, output);
  if (name == "ConvInputBackward") return of_convolution(node, input_sizes(node, 0));
  if (name == "AttentionBackward") {
    const int64_t rows = from_end(output, 1) == 0 ? 0 : made / from_end(output, 1);
    return rows * from_end(input_sizes(node, 1), 2) *
           (from_end(input_sizes(node, 0), 1) + from_end(output, 1));
  }
  if (name == "RecurrenceBackward") {
    return from_end(output, 2) * (weights_of(node, 3, 4) + weights_of(node, 7, 7));
  }
  return 0;
}

std::string table_of(std::span<const Tensor> roots, const GraphNames& names) {
  std::vector<NodePtr> waiting;
  for (size_t i = 0; i < roots.size(); ++i) {
    const Edge edge = requires_grad(roots[i]) ? gradient_edge(roots[i]) : Edge{};
    TSR_CHECK(edge.node, Code::kAutograd, "roots",
              "expected tensors that require grad, got one at ", i, " that does not");
    waiting.push_back(edge.node);
  }
  std::vector<const Node*> nodes;
  std::unordered_set<const Node*> seen;
  std::vector<NodePtr> kept;  // a view may make its node anew at any time
  while (!waiting.empty()) {
    NodePtr node = std::move(waiting.back());
    waiting.pop_back();
    if (node->is_accumulator() || !seen.insert(node.get()).second) continue;
    nodes.push_back(node.get());
    for (const Edge& edge : node->next_edges()) {
      if (edge.node) waiting.push_back(edge.node);
    }
    kept.push_back(std::move(node));
  }
  // The order of the forward.
  std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) {
    return a->sequence() != b->sequence() ? a->sequence() < b->sequence()
                                          : a->topological() < b->topological();
  });
  Table table(names);
  for (const Node* node : nodes) table.add(*node);
  return table.text();
}

}  // namespace tsr::inspect
