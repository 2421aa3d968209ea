// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/graph_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/text.h"
#include "base/utf8.h"
#include "inspect/graph_places.h"

namespace tsr::inspect {
namespace {

// Fonts of one width, so that the size of a text is known without asking for it: the widest such
// fonts need 0.61 of the height for a character.
constexpr double kTitleSize = 12;
constexpr double kLineSize = 10;
constexpr double kLabelSize = 9;
constexpr double kLineHeight = 14;
constexpr double kInside = 9;  // between a text and the edge of its box
constexpr double kBetweenRows = 42;
constexpr double kMargin = 16;
constexpr double kBendWidth = 6;

constexpr std::string_view kHead =
    "<style>text{font-family:'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace;"
    "fill:#1d2733}.t{font-size:12px;font-weight:bold}.l{font-size:10px}"
    ".s{font-size:9px;fill:#4a5663;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    "rect{stroke-width:1.2}.leaf{fill:#dbe9fb;stroke:#4a78b5}.op{fill:#f4f4f4;stroke:#76808a}"
    ".out{fill:#dcf2d5;stroke:#4d8f3a}.ref{fill:#fff;stroke:#4a78b5;stroke-dasharray:4 3}"
    "path{fill:none;stroke:#76808a;stroke-width:1.2}</style>\n"
    "<defs><marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"7\" "
    "markerHeight=\"7\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" style=\"fill:#76808a;"
    "stroke:none\"/></marker></defs>\n";

double width_of(std::string_view text, double size) {
  return static_cast<double>(count_characters(text)) * size * 0.61;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out;
}

// A coordinate with one digit after the point.
std::string at(double value) {
  const auto tenths = static_cast<int64_t>(std::llround(value * 10));
  const int64_t whole = tenths / 10;
  const int64_t rest = std::abs(tenths % 10);
  const std::string sign = tenths < 0 && whole == 0 ? "-" : "";
  return rest == 0 ? concat(sign, whole) : concat(sign, whole, ".", rest);
}

const char* class_of(VertexKind kind) {
  switch (kind) {
    case VertexKind::kOperation:
      return "op";
    case VertexKind::kLeaf:
      return "leaf";
    case VertexKind::kOutput:
      return "out";
    case VertexKind::kReference:
      return "ref";
  }
  return "op";
}

struct Sample {
  VertexKind kind;
  std::string_view text;
};
constexpr std::array kLegend = {
    Sample{VertexKind::kLeaf, "leaf: gets a gradient"},
    Sample{VertexKind::kOperation, "node: runs in the backward"},
    Sample{VertexKind::kOutput, "output: the backward begins here"},
    Sample{VertexKind::kReference, "copy: the original is further up"},
};
constexpr double kLegendRow = 20;

class Picture {
 public:
  explicit Picture(GraphView view) : graph_(layer(std::move(view))), boxes_(graph_.items.size()) {
    find_outputs();
    measure();
    place(graph_, boxes_);
    stack_rows();
  }

  std::string draw() {
    double width = kMargin * 2 + 32 + width_of("output: the backward begins here", kLineSize);
    for (const Box& box : boxes_) width = std::max(width, 2 * kMargin + box.x + box.width / 2);
    const std::string size = concat(at(width), "\" height=\"", at(bottom_ + kMargin));
    append_text(out_, concat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", size,
                             "\" viewBox=\"0 0 ", at(width), " ", at(bottom_ + kMargin), "\">\n"));
    append_text(out_, kHead);
    out_ += "<rect width=\"100%\" height=\"100%\" style=\"fill:#fff;stroke:none\"/>\n";
    draw_legend();
    for (uint32_t i = 0; i < graph_.view.links.size(); ++i) draw_link(i);
    for (uint32_t i = 0; i < graph_.items.size(); ++i) {
      if (graph_.items[i].vertex != Item::kBend) draw_vertex(i);
    }
    draw_labels();
    return std::move(out_) + "</svg>\n";
  }

 private:
  // Labels of the outputs that leave each vertex, by number: one for all links of an output. And
  // which links repeat an earlier one, as those of x * x.
  void find_outputs() {
    outputs_.resize(graph_.view.vertices.size());
    for (const Link& link : graph_.view.links) {
      outputs_[link.from].emplace(link.output, link.label);
    }
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> seen;
    for (const Link& link : graph_.view.links) again_.push_back(seen[{link.from, link.to}]++);
  }

  void measure() {
    for (size_t i = 0; i < boxes_.size(); ++i) {
      const uint32_t vertex = graph_.items[i].vertex;
      if (vertex == Item::kBend) {
        boxes_[i].width = kBendWidth;
        continue;
      }
      const Vertex& of = graph_.view.vertices[vertex];
      double width = width_of(of.title, kTitleSize);
      for (const std::string& line : of.lines) width = std::max(width, width_of(line, kLineSize));
      width = std::max(width + 2 * kInside, 56.0);
      // A label stands below the box, on either side of its link.
      double labels = 0;
      for (const auto& [output, label] : outputs_[vertex]) {
        labels = std::max(labels, width_of(label, kLabelSize) + 8);
      }
      boxes_[i].width = std::max(width, 2 * labels * static_cast<double>(outputs_[vertex].size()));
      boxes_[i].height = 22 + kLineHeight * static_cast<double>(of.lines.size());
    }
  }

  void stack_rows() {
    const size_t n = graph_.rows.size();
    top_.resize(n);
    height_.resize(n);
    double y = kMargin + 14;
    for (const Sample& sample : kLegend) y += has(sample.kind) ? kLegendRow : 0;
    for (size_t r = n; r-- > 0;) {
      for (const uint32_t item : graph_.rows[r]) {
        height_[r] = std::max(height_[r], boxes_[item].height);
      }
      top_[r] = y;
      bottom_ = y + height_[r];
      y = bottom_ + kBetweenRows;
    }
  }

  [[nodiscard]] double box_top(uint32_t item) const {
    const uint32_t row = graph_.items[item].row;
    return top_[row] + (height_[row] - boxes_[item].height) / 2;
  }

  // Where output number `output` of a vertex leaves it.
  [[nodiscard]] double exit_of(uint32_t item, uint32_t output) const {
    const auto& outputs = outputs_[item];
    const auto number = static_cast<double>(std::distance(outputs.begin(), outputs.find(output)));
    const double part = boxes_[item].width / static_cast<double>(outputs.size());
    return kMargin + boxes_[item].x - boxes_[item].width / 2 + part * (number + 0.5);
  }

  // Where a link enters a vertex: as straight below its origin as the other links allow.
  // `again` counts the earlier links of the same two items.
  [[nodiscard]] double entry_of(uint32_t item, uint32_t from, uint32_t again) const {
    const Item& to = graph_.items[item];
    std::vector<uint32_t> sources(to.above.begin(), to.above.end());
    std::stable_sort(sources.begin(), sources.end(), [&](uint32_t a, uint32_t b) {
      return graph_.items[a].place < graph_.items[b].place;
    });
    const double half = boxes_[item].width / 2;
    const double gap =
        std::min(14.0, (boxes_[item].width - 10) / static_cast<double>(sources.size()));
    const double room = half - 5 - gap * static_cast<double>(sources.size() - 1) / 2;
    std::vector<double> wished;
    for (size_t k = 0; k < sources.size(); ++k) {
      const double x = boxes_[sources[k]].x - boxes_[item].x;
      const double middle =
          gap * (static_cast<double>(k) - static_cast<double>(sources.size() - 1) / 2);
      wished.push_back(std::clamp(x, middle - room, middle + room));
    }
    const std::vector<double> found =
        spread(wished, weights_of(sources), std::vector<double>(sources.size() - 1, gap));
    const auto number = std::find(sources.begin(), sources.end(), from) - sources.begin();
    return kMargin + boxes_[item].x + found[static_cast<size_t>(number) + again];
  }

  // A chain enters straight; leaves make room.
  [[nodiscard]] std::vector<double> weights_of(const std::vector<uint32_t>& sources) const {
    std::vector<double> weights;
    for (const uint32_t source : sources) {
      const uint32_t vertex = graph_.items[source].vertex;
      const bool leaf =
          vertex != Item::kBend && graph_.view.vertices[vertex].kind != VertexKind::kOperation;
      weights.push_back(leaf ? 1 : 100);
    }
    return weights;
  }

  [[nodiscard]] bool has(VertexKind kind) const {
    return std::any_of(graph_.view.vertices.begin(), graph_.view.vertices.end(),
                       [kind](const Vertex& vertex) { return vertex.kind == kind; });
  }

  void draw_legend() {
    double y = kMargin;
    for (const Sample& sample : kLegend) {
      if (!has(sample.kind)) continue;
      append_text(
          out_,
          concat("<rect class=\"", class_of(sample.kind), "\" x=\"", at(kMargin), "\" y=\"", at(y),
                 "\" width=\"24\" height=\"14\" rx=\"3\"/>"
                 "<text class=\"l\" x=\"",
                 at(kMargin + 32), "\" y=\"", at(y + 11), "\">", sample.text, "</text>\n"));
      y += kLegendRow;
    }
  }

  void draw_vertex(uint32_t item) {
    const Vertex& vertex = graph_.view.vertices[graph_.items[item].vertex];
    const Box& box = boxes_[item];
    const double top = box_top(item);
    const double x = kMargin + box.x;
    append_text(out_, "<g>");
    if (!vertex.hint.empty())
      append_text(out_, concat("<title>", escaped(vertex.hint), "</title>"));
    append_text(out_, concat("<rect class=\"", class_of(vertex.kind), "\" x=\"",
                             at(x - box.width / 2), "\" y=\"", at(top), "\" width=\"",
                             at(box.width), "\" height=\"", at(box.height), "\" rx=\"",
                             vertex.kind == VertexKind::kOperation ? 7 : 2, "\"/>"));
    draw_text("t", x, top + 15, vertex.title);
    double y = top + 15;
    for (const std::string& line : vertex.lines) draw_text("l", x, y += kLineHeight, line);
    append_text(out_, "</g>\n");
  }

  void draw_text(const char* kind, double x, double y, std::string_view text) {
    append_text(out_, concat("<text class=\"", kind, "\" text-anchor=\"middle\" x=\"", at(x),
                             "\" y=\"", at(y), "\">", escaped(text), "</text>"));
  }

  // Straight down through a row, a curve between rows.
  void draw_link(uint32_t index) {
    const Link& link = graph_.view.links[index];
    const auto& way = graph_.way[index];
    if (way.empty()) return;
    double x = exit_of(way[0], link.output);
    std::string path = concat("M", at(x), ",", at(box_top(way[0]) + boxes_[way[0]].height));
    for (size_t i = 0; i + 1 < way.size(); ++i) {
      const uint32_t lower = way[i + 1];
      const uint32_t row = graph_.items[way[i]].row;
      const uint32_t next = graph_.items[lower].row;
      const bool last = i + 2 == way.size();
      const double from = top_[row] + height_[row];
      const double to = top_[next];
      const double end = last ? entry_of(lower, way[i], way.size() == 2 ? again_[index] : 0)
                              : kMargin + boxes_[lower].x;
      const double middle = (from + to) / 2;
      append_text(path, concat("V", at(from)));
      if (std::abs(end - x) < 0.5) {
        append_text(path, concat("V", at(to)));
      } else {
        append_text(path, concat("C", at(x), ",", at(middle), " ", at(end), ",", at(middle), " ",
                                 at(end), ",", at(to)));
        x = end;
      }
      append_text(path, concat("V", at(last ? box_top(lower) : to + height_[next])));
    }
    append_text(out_, concat("<path marker-end=\"url(#end)\" d=\"", path, "\"/>\n"));
  }

  // Last, so that no line crosses a label; on the side to which no link of the output turns.
  void draw_labels() {
    struct Turns {
      bool left = false;
      bool right = false;
      const std::string* label = nullptr;
    };
    std::vector<std::map<uint32_t, Turns>> turns(outputs_.size());
    for (uint32_t i = 0; i < graph_.view.links.size(); ++i) {
      const Link& link = graph_.view.links[i];
      if (link.label.empty() || graph_.way[i].empty()) continue;
      const auto& way = graph_.way[i];
      const double end =
          way.size() == 2 ? entry_of(way[1], way[0], again_[i]) : kMargin + boxes_[way[1]].x;
      const double turn = end - exit_of(link.from, link.output);
      Turns& seen = turns[link.from][link.output];
      seen.left |= turn < -12;
      seen.right |= turn > 12;
      seen.label = &link.label;
    }
    for (uint32_t v = 0; v < turns.size(); ++v) {
      for (const auto& [output, seen] : turns[v]) {
        const bool to_left = seen.right && !seen.left;
        const uint32_t row = graph_.items[v].row;
        append_text(out_, concat("<text class=\"s\" text-anchor=\"", to_left ? "end" : "start",
                                 "\" x=\"", at(exit_of(v, output) + (to_left ? -5 : 5)), "\" y=\"",
                                 at(top_[row] + height_[row] + 12), "\">", escaped(*seen.label),
                                 "</text>\n"));
      }
    }
  }

  LayeredGraph graph_;
  std::vector<Box> boxes_;
  std::vector<std::map<uint32_t, std::string>> outputs_;
  std::vector<uint32_t> again_;
  std::vector<double> top_;
  std::vector<double> height_;
  double bottom_ = 0;
  std::string out_;
};

}  // namespace

std::string svg_of(GraphView view) {
  return Picture(std::move(view)).draw();
}

}  // namespace tsr::inspect
