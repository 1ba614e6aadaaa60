// Rules for types and shapes along the graph, as inference finds them (Format::check_types).
#include <unordered_set>

#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

// The path of the node, "graph.node[3]", that an element belongs to.
std::string NodePath(const std::string& element) {
  const size_t node = element.rfind(".node[");
  return node == std::string::npos ? element : element.substr(0, element.find(']', node) + 1);
}

// The nodes and outputs that other rules have reported; inference does not report them again.
class Reported {
 public:
  explicit Reported(std::span<const Finding> findings) {
    for (const Finding& f : findings)
      if (f.severity == Severity::kError) Add(f.location.element);
  }

  bool Covers(const std::string& element) const {
    return outputs_.contains(element) || nodes_.contains(NodePath(element));
  }

 private:
  // If only the declared type of an output is wrong, the rest of the node is still checked.
  void Add(const std::string& element) {
    const std::string node = NodePath(element);
    if (element.starts_with(node + ".output["))
      outputs_.insert(element);
    else
      nodes_.insert(node);
  }

  std::unordered_set<std::string> nodes_;
  std::unordered_set<std::string> outputs_;
};

template <TypeDefect::Kind kKind>
void Report(const RuleContext& s, Findings& f) {
  const Reported reported(f.earlier());
  for (const TypeDefect& defect : s.type_defects())
    if (defect.kind == kKind && !reported.Covers(defect.element))
      f.Add(At(defect.element, defect.index), "{}", defect.message);
}

constexpr Rule kShapeRules[] = {
    {.info = {.id = "ONNX-SHAPE-001",
              .statement = "The types, shapes and constant values of a node's inputs, and its "
                           "attributes, are valid for its operator.",
              .clause = "Operators.md, of each operator; ShapeInference.md",
              .hint = "Correct the named value or attribute, or the shapes that lead to it."},
     .check = Report<TypeDefect::Kind::kInference>},
    {.info = {.id = "ONNX-SHAPE-002",
              .statement =
                  "The declared shape of a value matches the shape that its operator produces.",
              .clause = "ShapeInference.md",
              .hint = "Correct the value_info entry, or the type of the graph output."},
     .check = Report<TypeDefect::Kind::kShape>},
    {.info = {.id = "ONNX-SHAPE-003",
              .statement = "The declared kind and element type of a value match what its operator, "
                           "subgraph or function produces.",
              .clause = "ShapeInference.md",
              .hint = "Correct the value_info entry, or the type of the graph output."},
     .check = Report<TypeDefect::Kind::kElementType>},
};

}  // namespace

std::span<const Rule> ShapeRules() {
  return kShapeRules;
}

}  // namespace nn::onnx
