// Computes dimension expressions by operators; symbols come from the shapes of values.
#include <algorithm>
#include <iterator>

#include "base/text/text.h"
#include "formats/tflite/export/export.h"

namespace nn::tflite {

using Op = fb::BuiltinOperator;

void ExportContext::Define(const Value* value) {
  if (!value->type().ranked()) return;
  for (int axis = 0; axis < value->type().rank(); ++axis)
    if (const auto symbol = value->type().dim(axis).symbol())
      part_.symbols.emplace(*symbol, std::pair(value, axis));
}

TensorIndex ExportContext::AddScalarI32(std::string_view hint) {
  return AddTensor(Type(DType::kI32, {}), std::string(hint));
}

Result<TensorIndex> ExportContext::AddDims(const Dims& dims, std::string_view hint) {
  if (const auto numbers = ConstDims(dims)) return AddInts(*numbers, hint);
  std::vector<TensorIndex> parts;
  for (const Dim& d : dims) {
    NN_ASSIGN(const TensorIndex part, AddDim(d));
    parts.push_back(part);
  }
  const auto count = static_cast<int32_t>(parts.size());
  const TensorIndex y = AddTensor(Type(DType::kI32, {Dim(count)}), std::string(hint));
  AddOperator(Op::PACK, {{y}, parts}, fb::CreatePackOptions(builder_, count, 0));
  return y;
}

// A scalar.
Result<TensorIndex> ExportContext::AddDim(const Dim& dim) {
  if (!dim.is_valid()) return ModelError("a dimension overflows");
  const std::string text = dim.ToString();
  if (const auto it = part_.dims.find(text); it != part_.dims.end()) return it->second;
  NN_ASSIGN(const TensorIndex y, AddDimTree(dim.ToTree()));
  part_.dims[text] = y;
  return y;
}

Result<TensorIndex> ExportContext::AddDimTree(const Dim::Tree& tree) {
  using Kind = Dim::Tree::Kind;
  if (tree.kind == Kind::kConstant) return AddInt(tree.value, "size");
  if (tree.kind == Kind::kSymbol) {
    if (trial()) return AddScalarI32(tree.symbol);
    const auto it = part_.symbols.find(tree.symbol);
    if (it == part_.symbols.end())
      return UnsupportedError("dimension {} is not the size of any value", Quote(tree.symbol));
    const auto [value, axis] = it->second;
    const TensorIndex shape = AddTensor(Type(DType::kI32, {Dim(value->type().rank())}), "shape");
    AddOperator(Op::SHAPE, {{shape}, {TensorOf(value)}},
                fb::CreateShapeOptions(builder_, fb::TensorType::INT32));
    const TensorIndex y = AddScalarI32(tree.symbol);
    NN_ASSIGN(const TensorIndex at, AddInt(axis, "axis"));
    AddOperator(Op::GATHER, {{y}, {shape, at}}, fb::CreateGatherOptions(builder_, 0, 0));
    return y;
  }
  NN_ASSIGN(TensorIndex result, AddDimTree(tree.operands[0]));
  for (size_t i = 1; i < tree.operands.size(); ++i) {
    NN_ASSIGN(const TensorIndex operand, AddDimTree(tree.operands[i]));
    const TensorIndex y = AddScalarI32("size");
    switch (tree.kind) {
      case Kind::kSum:
        AddOperator(Op::ADD, {{y}, {result, operand}}, fb::CreateAddOptions(builder_));
        break;
      case Kind::kProduct:
        AddOperator(Op::MUL, {{y}, {result, operand}}, fb::CreateMulOptions(builder_));
        break;
      case Kind::kFloorDiv:
        AddOperator(Op::FLOOR_DIV, {{y}, {result, operand}}, fb::CreateFloorDivOptions(builder_));
        break;
      case Kind::kMod:
        AddOperator(Op::FLOOR_MOD, {{y}, {result, operand}}, fb::CreateFloorModOptions(builder_));
        break;
      case Kind::kMin:
        AddOperator(Op::MINIMUM, {{y}, {result, operand}},
                    fb::CreateMaximumMinimumOptions(builder_));
        break;
      default:
        AddOperator(Op::MAXIMUM, {{y}, {result, operand}},
                    fb::CreateMaximumMinimumOptions(builder_));
        break;
    }
    result = y;
  }
  return result;
}

}  // namespace nn::tflite
