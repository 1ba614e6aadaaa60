// Computes dimension expressions by operations; symbols come from the shapes of values.
#include "base/text/text.h"
#include "formats/coreml/program/export/export.h"
#include "ops/support/types.h"

namespace nn::coreml::program {
namespace {

const Type kScalar(DType::kI32, Dims{});

std::string_view OperationOf(Dim::Tree::Kind kind) {
  using Kind = Dim::Tree::Kind;
  switch (kind) {
    case Kind::kSum:
      return "add";
    case Kind::kProduct:
      return "mul";
    case Kind::kFloorDiv:
      return "floor_div";
    case Kind::kMod:
      return "mod";
    case Kind::kMin:
      return "minimum";
    default:
      return "maximum";
  }
}

}  // namespace

void ExportContext::Define(const Value* value) {
  if (!value->type().ranked() || block_ != function_) return;
  for (int axis = 0; axis < value->type().rank(); ++axis)
    if (const auto symbol = value->type().dim(axis).symbol())
      sources_.emplace(*symbol, std::pair(value, axis));
}

Result<std::string> ExportContext::AddSizes(const Dims& dims) {
  if (const auto numbers = ConstDims(dims)) return AddConstant(Tensor::Ints(*numbers), "shape");
  OperationWriter stack = Add("stack");
  for (const Dim& d : dims) {
    NN_ASSIGN(const std::string size, AddSize(d));
    stack.In("values", size);
  }
  return stack.Int("axis", 0).Helper(Type(DType::kI32, {Dim(std::ssize(dims))}), Node());
}

Result<std::string> ExportContext::AddSize(const Dim& dim) {
  if (!dim.is_valid()) return ModelError("a dimension overflows");
  const std::string text = dim.ToString();
  if (const auto it = sizes_.find(text); it != sizes_.end()) return it->second;
  NN_ASSIGN(std::string size, AddSizeTree(dim.ToTree()));
  if (block_ == function_) sizes_[text] = size;
  return size;
}

Result<std::string> ExportContext::AddSizeTree(const Dim::Tree& tree) {
  using Kind = Dim::Tree::Kind;
  if (tree.kind == Kind::kConstant)
    return AddConstant(Tensor::Scalar(static_cast<int32_t>(tree.value)), "size");
  if (tree.kind == Kind::kSymbol) {
    if (trial()) return AddConstant(Tensor::Scalar(int32_t{1}), "size");
    const auto it = sources_.find(tree.symbol);
    if (it == sources_.end())
      return UnsupportedError("dimension {} is not the size of any value", Quote(tree.symbol));
    const auto [value, axis] = it->second;
    NN_ASSIGN(
        const std::string shape,
        Add("shape").In("x", value).Helper(Type(DType::kI32, {Dim(value->type().rank())}), Node()));
    return Add("slice_by_index")
        .In("x", shape)
        .Ints("begin", {axis})
        .Ints("end", {axis + 1})
        .Bools("squeeze_mask", {true})
        .Helper(kScalar, Node());
  }
  NN_ASSIGN(std::string result, AddSizeTree(tree.operands[0]));
  for (size_t i = 1; i < tree.operands.size(); ++i) {
    NN_ASSIGN(const std::string operand, AddSizeTree(tree.operands[i]));
    NN_ASSIGN(result,
              Add(OperationOf(tree.kind)).In("x", result).In("y", operand).Helper(kScalar, Node()));
  }
  return result;
}

}  // namespace nn::coreml::program
