#include "formats/tflite/import/complex.h"

#include <vector>

#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/shape.h"
#include "ops/math/bit_cast.h"

namespace nn::tflite {

namespace {

// Longer chains of operators between a spectrum and its parts are not followed.
constexpr size_t kMaxMoves = 16;

std::vector<int64_t> Front(std::vector<int64_t> axes, const Value& v) {
  for (int64_t& axis : axes)
    if (axis < 0) axis += v.type().rank();
  return axes;
}

// Whether the operator moves whole complex numbers, as MoveParts() can move their parts.
bool MovesNumbers(const Node& node) {
  if (!node.output()->type().ranked() || !node.input(0)->type().ranked()) return false;
  const bool has_operand = node.inputs().size() > 1 && node.input(1) != nullptr;
  return node.Is("reshape") ||
         (!has_operand && (node.Is("squeeze") || node.Is("expand_dims") || node.Is("transpose")));
}

// What the operator does, with the parts of its operand.
Result<Value*> MoveParts(ImportContext& ctx, const Node& node, Value* parts) {
  if (node.Is("squeeze"))
    return ctx.Add("squeeze", {parts},
                   AxesAttrs{Front(node.attrs<AxesAttrs>().axes, *node.input(0))});
  if (node.Is("expand_dims"))
    return ctx.Add("expand_dims", {parts},
                   AxesAttrs{Front(node.attrs<AxesAttrs>().axes, *node.output())});
  if (node.Is("transpose")) {
    TransposeAttrs a = node.attrs<TransposeAttrs>();
    a.perm.push_back(node.input(0)->type().rank());
    return ctx.Add("transpose", {parts}, a);
  }
  ReshapeAttrs a = node.attrs<ReshapeAttrs>();
  if (node.inputs().size() < 2 || node.input(1) == nullptr) {
    a.dims.emplace_back(2);
    return ctx.Add("reshape", {parts}, a);
  }
  Value* const shape = node.input(1);
  Value* const two = ctx.Constant(shape->dtype() == DType::kI64 ? Tensor::Of<int64_t>({1}, {2})
                                                                : Tensor::Of<int32_t>({1}, {2}));
  NN_ASSIGN(Value* const whole, ctx.Add("concat", {shape, two}, ConcatAttrs{0}));
  a.dims.clear();
  return ctx.Add("reshape", {parts, whole}, a);
}

}  // namespace

Result<Value*> PartsOf(ImportContext& ctx, Value* x) {
  if (!IsComplex(x->dtype()))
    return ModelError("the operand is {}; must be c64 or c128", x->type().ToString());
  // Not those of other bit_casts: 4 bytes of an integer are not a part.
  const DType real = x->dtype() == DType::kC64 ? DType::kF32 : DType::kF64;
  std::vector<const Node*> moves;
  const Node* def = x->def();
  while (def != nullptr && moves.size() < kMaxMoves && MovesNumbers(*def)) {
    moves.push_back(def);
    def = def->input(0)->def();
  }
  if (def == nullptr || !def->Is("bit_cast") || def->input(0)->dtype() != real)
    return ctx.Add("bit_cast", {x}, BitCastAttrs{real});
  Value* parts = def->input(0);
  for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
    NN_ASSIGN(parts, MoveParts(ctx, **move, parts));
  }
  return parts;
}

Result<Value*> PartOf(ImportContext& ctx, Value* parts, int64_t part) {
  return ctx.Add("gather", {parts, ctx.Constant(Tensor::Scalar(part))}, GatherAttrs{-1});
}

Result<Value*> ComplexProduct(ImportContext& ctx, Value* a, Value* b) {
  NN_ASSIGN(Value* const a_parts, PartsOf(ctx, a));
  NN_ASSIGN(Value* const b_parts, PartsOf(ctx, b));
  // a_i b_j
  const auto product = [&](int64_t i, int64_t j) -> Result<Value*> {
    NN_ASSIGN(Value* const x, PartOf(ctx, a_parts, i));
    NN_ASSIGN(Value* const y, PartOf(ctx, b_parts, j));
    return ctx.Add("mul", {x, y});
  };
  NN_ASSIGN(Value* const reals, product(0, 0));
  NN_ASSIGN(Value* const imaginaries, product(1, 1));
  NN_ASSIGN(Value* const first, product(0, 1));
  NN_ASSIGN(Value* const second, product(1, 0));
  NN_ASSIGN(Value * re, ctx.Add("sub", {reals, imaginaries}));
  NN_ASSIGN(Value * im, ctx.Add("add", {first, second}));
  NN_ASSIGN(re, ctx.Add("expand_dims", {re}, AxesAttrs{{-1}}));
  NN_ASSIGN(im, ctx.Add("expand_dims", {im}, AxesAttrs{{-1}}));
  NN_ASSIGN(Value* const parts, ctx.Add("concat", {re, im}, ConcatAttrs{-1}));
  return ctx.Add("bit_cast", {parts}, BitCastAttrs{a->dtype()});
}

}  // namespace nn::tflite
