// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/graph_dot.h"

#include "base/text.h"

namespace tsr::inspect {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out + '"';
}

const char* style_of(VertexKind kind) {
  switch (kind) {
    case VertexKind::kLeaf:
      return "fillcolor=\"#dbe9fb\"";
    case VertexKind::kOutput:
      return "fillcolor=\"#dcf2d5\"";
    case VertexKind::kOperation:
    case VertexKind::kReference:
      return "fillcolor=\"#f4f4f4\", style=\"rounded,filled\"";
  }
  return "";
}

}  // namespace

std::string dot_of(const GraphView& view) {
  std::string out =
      "digraph graph_of_gradients {\n"
      "  node [shape=box, style=filled, fontname=monospace, fontsize=11];\n"
      "  edge [fontname=monospace, fontsize=9];\n";
  for (size_t i = 0; i < view.vertices.size(); ++i) {
    const Vertex& vertex = view.vertices[i];
    std::string text = vertex.title;
    for (const std::string& line : vertex.lines) append_text(text, concat("\n", line));
    append_text(out, concat("  n", i, " [label=", quoted(text), ", ", style_of(vertex.kind)));
    if (!vertex.hint.empty()) append_text(out, concat(", tooltip=", quoted(vertex.hint)));
    append_text(out, "];\n");
  }
  for (const Link& link : view.links) {
    append_text(out, concat("  n", link.from, " -> n", link.to));
    if (!link.label.empty()) append_text(out, concat(" [label=", quoted(link.label), "]"));
    append_text(out, ";\n");
  }
  return out + "}\n";
}

}  // namespace tsr::inspect
