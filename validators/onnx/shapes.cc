// Types and shapes along the graph, as inference finds them (Format::check_types).
#include <unordered_set>

#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

// "graph.node[3]" of the path of anything in it.
std::string NodePath(const std::string& element) {
  const size_t node = element.rfind(".node[");
  return node == std::string::npos ? element : element.substr(0, element.find(']', node) + 1);
}

// What other rules find fault with: what inference makes of it is no finding of its own.
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
  // A result that is not what is declared leaves the rest of its node to be looked at.
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
void Report(const Subject& s, Findings& f) {
  const Reported reported(f.earlier());
  for (const TypeDefect& defect : s.type_defects())
    if (defect.kind == kKind && !reported.Covers(defect.element))
      f.Add(At(defect.element, defect.index), "{}", defect.message);
}

constexpr Rule kRules[] = {
    {{"ONNX-SHAPE-001", Severity::kError,
      "The types, shapes, contents and attributes that an operator is given fit together.",
      "Operators.md, of each operator; ShapeInference.md", false,
      "Correct what is named, or the shapes that lead to it."},
     Report<TypeDefect::Kind::kInference>},
    {{"ONNX-SHAPE-002", Severity::kError, "Declared shapes are those that the operators make.",
      "ShapeInference.md", false, "Correct value_info, or the type of the graph's output."},
     Report<TypeDefect::Kind::kShape>},
    {{"ONNX-SHAPE-003", Severity::kError,
      "Declared kinds and element types are those that the operators, sub-graphs and functions "
      "make.",
      "ShapeInference.md", false, "Correct value_info, or the type of the graph's output."},
     Report<TypeDefect::Kind::kElementType>},
};

}  // namespace

std::span<const Rule> ShapeRules() {
  return kRules;
}

}  // namespace nn::onnx
