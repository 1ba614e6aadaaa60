#include <fmt/core.h>

#include "inspect/picture/picture.h"

namespace nn::inspect {
namespace {

// A quoted DOT string; in labels, "\n" ends a line.
std::string Quoted(const std::vector<std::string>& lines) {
  std::string out = "\"";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += "\\n";
    for (const char c : lines[i]) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

std::string BoxText(const Box& box, const std::string& id) {
  std::vector<std::string> lines = {box.title};
  lines.insert(lines.end(), box.rows.begin(), box.rows.end());
  const BoxColors& c = ColorsOf(box.kind);
  const bool port = box.kind == BoxKind::kInput || box.kind == BoxKind::kOutput;
  return fmt::format("{} [label={}, tooltip={}, fillcolor=\"{}\", color=\"{}\"{}];\n", id,
                     Quoted(lines), Quoted({box.hint}), c.fill, c.border,
                     port ? ", fontcolor=\"#ffffff\"" : "");
}

void WritePanel(const Panel& panel, size_t number, std::string& out) {
  const auto id = [&](size_t box) { return fmt::format("p{}_{}", number, box); };
  const bool framed = !panel.title.empty();
  if (framed)
    out += fmt::format("subgraph cluster_{} {{\nlabel={};\n", number, Quoted({panel.title}));
  size_t box = 0;
  for (const Repetition& r : panel.repetitions) {
    for (; box < r.first; ++box) out += BoxText(panel.boxes[box], id(box));
    out += fmt::format("subgraph cluster_{}_{} {{\nlabel=\"× {}\"; style=\"rounded,dashed\";\n",
                       number, r.first, r.times);
    for (; box <= r.last; ++box) out += BoxText(panel.boxes[box], id(box));
    out += "}\n";
  }
  for (; box < panel.boxes.size(); ++box) out += BoxText(panel.boxes[box], id(box));
  for (const Line& l : panel.lines)
    out += fmt::format("{} -> {} [label={}, tooltip={}];\n", id(l.from), id(l.to),
                       Quoted({l.label}), Quoted({l.name}));
  if (framed) out += "}\n";
}

}  // namespace

std::string PictureDot(const Picture& picture) {
  std::string out = fmt::format(
      "digraph model {{\nlabel={}; labelloc=t; fontname=\"Helvetica\";\n"
      "node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11];\n"
      "edge [fontname=\"Helvetica\", fontsize=9, color=\"#77818e\"];\n",
      Quoted({picture.title, picture.subtitle}));
  for (size_t i = 0; i < picture.panels.size(); ++i) WritePanel(picture.panels[i], i, out);
  return out + "}\n";
}

}  // namespace nn::inspect
