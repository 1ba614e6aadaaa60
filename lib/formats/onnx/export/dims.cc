// Computes dimension expressions by ONNX nodes; symbols come from the shapes of values.
#include <algorithm>
#include <iterator>

#include "base/text/text.h"
#include "formats/onnx/export/export.h"

namespace nn::onnx {

void ExportContext::Define(const Value* value) {
  if (!value->type().ranked()) return;
  for (int axis = 0; axis < value->type().rank(); ++axis)
    if (const auto symbol = value->type().dim(axis).symbol())
      symbols_.emplace(*symbol, std::pair(value, axis));
}

Result<std::string> ExportContext::AddDims(const Dims& dims, std::string_view hint) {
  if (const auto numbers = ConstDims(dims)) return AddInts(*numbers, hint);
  if (trial()) return AddInts({}, hint);
  std::vector<std::string> parts;
  for (const Dim& d : dims) {
    NN_ASSIGN(std::string part, AddDim(d));
    parts.push_back(std::move(part));
  }
  if (parts.size() == 1) return std::move(parts[0]);
  std::string name = NewName(hint);
  SetInt(AddHelper("Concat", {{name}, std::move(parts)}), "axis", 0);
  return name;
}

// A vector of one element.
Result<std::string> ExportContext::AddDim(const Dim& dim) {
  if (!dim.is_valid()) return ModelError("a dimension overflows");
  const std::string text = dim.ToString();
  if (const auto it = dims_.find(text); it != dims_.end()) return it->second;
  NN_ASSIGN(const std::string name, AddDimTree(dim.ToTree()));
  dims_[text] = name;
  return name;
}

Result<std::string> ExportContext::AddDimTree(const Dim::Tree& tree) {
  using Kind = Dim::Tree::Kind;
  if (tree.kind == Kind::kConstant) return AddInts({tree.value}, "size");
  if (tree.kind == Kind::kSymbol) {
    const auto it = symbols_.find(tree.symbol);
    if (it == symbols_.end())
      return UnsupportedError("dimension {} is not the size of any value", Quote(tree.symbol));
    const auto [value, axis] = it->second;
    const std::string shape = AddValue("Shape", {NameOf(value)}, "shape");
    return AddValue("Gather", {shape, AddInts({axis}, "axis")}, tree.symbol);
  }
  struct Row {
    Kind kind;
    std::string_view op;
    int64_t since;  // for integers
  };
  // Div rounds toward zero, which is down for sizes.
  constexpr Row kRows[] = {{Kind::kSum, "Add", 7},      {Kind::kProduct, "Mul", 7},
                           {Kind::kFloorDiv, "Div", 7}, {Kind::kMod, "Mod", 10},
                           {Kind::kMin, "Min", 12},     {Kind::kMax, "Max", 12}};
  const Row& row = *std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& r) { return r.kind == tree.kind; });
  if (opset_ < row.since)
    return UnsupportedError("{} of dimensions needs operator set {}", row.op, row.since);
  NN_ASSIGN(std::string result, AddDimTree(tree.operands[0]));
  for (size_t i = 1; i < tree.operands.size(); ++i) {
    NN_ASSIGN(std::string operand, AddDimTree(tree.operands[i]));
    result = AddValue(row.op, {std::move(result), std::move(operand)}, "size");
  }
  return result;
}

}  // namespace nn::onnx
