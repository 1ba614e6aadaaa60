#include "formats/tflite/import/complex.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/array/shape.h"
#include "ops/math/bit_cast.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

namespace {

// Longer chains of operators between a spectrum and its parts are not followed.
constexpr size_t kMaxMoves = 16;

std::vector<int64_t> Front(std::vector<int64_t> axes, const Value& v) {
  for (int64_t& axis : axes)
    if (axis < 0) axis += v.type().rank();
  return axes;
}

bool HasOperand(const Node& node) {
  return node.inputs().size() > 1 && node.input(1) != nullptr;
}

Term SqueezeParts(const Node& node, Term parts) {
  return Squeeze(std::move(parts), Front(node.attrs<AxesAttrs>().axes, *node.input(0)));
}

Term ExpandParts(const Node& node, Term parts) {
  return ExpandDims(std::move(parts), Front(node.attrs<AxesAttrs>().axes, *node.output()));
}

Term TransposeParts(const Node& node, Term parts) {
  std::vector<int64_t> perm = node.attrs<TransposeAttrs>().perm;
  perm.push_back(node.input(0)->type().rank());
  return Transpose(std::move(parts), std::move(perm));
}

Term ReshapeParts(const Node& node, Term parts) {
  ReshapeAttrs a = node.attrs<ReshapeAttrs>();
  if (!HasOperand(node)) {
    a.dims.emplace_back(2);
    return Apply("reshape", {std::move(parts)}, a);
  }
  Value* const shape = node.input(1);
  const Term two =
      shape->dtype() == DType::kI64 ? Tensor::Of<int64_t>({1}, {2}) : Tensor::Of<int32_t>({1}, {2});
  a.dims.clear();
  return Apply("reshape", {std::move(parts), Concat({shape, two}, 0)}, a);
}

// An operator that moves whole complex numbers, and what it does with their parts.
struct Move {
  std::string_view op;
  Term (*of_parts)(const Node& node, Term parts);
  bool takes_operand = false;
};
constexpr Move kMoves[] = {
    {.op = "squeeze", .of_parts = SqueezeParts},
    {.op = "expand_dims", .of_parts = ExpandParts},
    {.op = "transpose", .of_parts = TransposeParts},
    {.op = "reshape", .of_parts = ReshapeParts, .takes_operand = true},
};

// Null if it does not move numbers.
const Move* MoveOf(const Node& node) {
  if (!node.output()->type().ranked() || !node.input(0)->type().ranked()) return nullptr;
  const auto* const move = std::ranges::find(kMoves, node.op_name(), &Move::op);
  if (move == std::end(kMoves) || (HasOperand(node) && !move->takes_operand)) return nullptr;
  return move;
}

}  // namespace

Result<Value*> PartsOf(ImportContext& ctx, Value* x) {
  if (!IsComplex(x->dtype()))
    return ModelError("the operand is {}; must be c64 or c128", x->type().ToString());
  // Not those of other bit_casts: 4 bytes of an integer are not a part.
  const DType real = x->dtype() == DType::kC64 ? DType::kF32 : DType::kF64;
  std::vector<const Node*> moves;
  const Node* def = x->def();
  while (def != nullptr && moves.size() < kMaxMoves && MoveOf(*def) != nullptr) {
    moves.push_back(def);
    def = def->input(0)->def();
  }
  if (def == nullptr || !def->Is<BitCastAttrs>() || def->input(0)->dtype() != real)
    return ctx.Add("bit_cast", {x}, BitCastAttrs{real});
  Term parts = def->input(0);
  for (auto move = moves.rbegin(); move != moves.rend(); ++move)
    parts = MoveOf(**move)->of_parts(**move, std::move(parts));
  return ctx.Build(parts);
}

Term PartOf(Term parts, int64_t part) {
  return Gather(std::move(parts), Tensor::Scalar(part), -1);
}

Result<Term> ComplexProduct(ImportContext& ctx, Value* a, Value* b) {
  NN_ASSIGN(Value* const a_parts, PartsOf(ctx, a));
  NN_ASSIGN(Value* const b_parts, PartsOf(ctx, b));
  // a_i b_j
  const auto product = [&](int64_t i, int64_t j) {
    return PartOf(a_parts, i) * PartOf(b_parts, j);
  };
  const Term re = product(0, 0) - product(1, 1), im = product(0, 1) + product(1, 0);
  return Apply("bit_cast", {Concat({ExpandDims(re, {-1}), ExpandDims(im, {-1})}, -1)},
               BitCastAttrs{a->dtype()});
}

}  // namespace nn::tflite
