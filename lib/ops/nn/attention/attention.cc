#include "ops/nn/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ir/text/number.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/families.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduce.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> AttentionAttrs::Fields() {
  static const AttrField fields[] = {Field<&AttentionAttrs::scale>("scale"),
                                     Field<&AttentionAttrs::softcap>("softcap"),
                                     Field<&AttentionAttrs::is_causal>("is_causal")};
  return fields;
}

// ---- The parts ----------------------------------------------------------------------------------

Result<Value*> AxisPositions(Graph& graph, const AddOperator& add, Value* value, int axis) {
  const auto number = [&](int64_t n) { return graph.AddConstant(Tensor::Of<int64_t>({}, {n})); };
  const Dim& size = value->type().dim(axis);
  Value* limit = nullptr;
  if (size.is_const()) {
    limit = number(size.value());
  } else {
    NN_ASSIGN(limit, add("shape_of", {value}, ShapeOfAttrs{axis, axis + 1}));
    NN_ASSIGN(limit, add("reshape", {limit}, ReshapeAttrs{{}, false}));
  }
  return add("range", {number(0), limit, number(1)}, {});
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Whether a row of a constant mask may exclude all keys. In a causal attention, query i has the
// keys 0 to i; a row that several queries share must have a key for the first of them.
bool MayMaskRows(const Tensor& mask, bool is_causal, int64_t keys) {
  const auto rank = static_cast<size_t>(mask.rank());
  const int64_t columns = rank == 0 ? 1 : mask.dims()[rank - 1];
  const int64_t rows = rank < 2 ? 1 : mask.dims()[rank - 2];
  if (columns == 0 || keys == 0) return true;
  const bool is_bool = mask.dtype() == DType::kBool;
  const auto is_open = [&](int64_t i) {
    return is_bool ? mask.GetInt(i) != 0 : mask.GetDouble(i) != -kInfinity;
  };
  for (int64_t first = 0; first < mask.elements(); first += columns) {
    const int64_t query = first / columns % rows;
    const int64_t most = is_causal ? std::min(columns, query + 1) : columns;
    bool any = false;
    for (int64_t i = 0; i < most && !any; ++i) any = is_open(first + i);
    if (!any) return true;
  }
  return false;
}

}  // namespace

Result<AttentionParts> AttentionParts::Add(Graph& graph, AddOperator add, const Operands& operands,
                                           const AttentionAttrs& attrs, DType softmax) {
  AttentionParts parts(graph, std::move(add));
  NN_RETURN_IF_ERROR(parts.Build(operands, attrs, softmax));
  return parts;
}

Result<Value*> AttentionParts::Number(double v) const {
  NN_ASSIGN(Tensor number, nn::Number(dtype_, v));
  return graph_->AddConstant(std::move(number));
}

// sqrt(scale), computed in float32 whatever the type of the operands is; null if it is 1.
Result<Value*> AttentionParts::Factor(Value* q, float scale) const {
  const Dim& size = q->type().dim(3);
  if (scale == 0 && size.is_const()) scale = 1.0f / std::sqrt(static_cast<float>(size.value()));
  if (scale == 1) return nullptr;
  if (scale != 0) return Number(static_cast<double>(std::sqrt(scale)));
  NN_ASSIGN(Value * v, add_("shape_of", {q}, ShapeOfAttrs{3, 4}));
  NN_ASSIGN(v, add_("cast", {v}, CastAttrs{.to = DType::kF32}));
  NN_ASSIGN(v, add_("sqrt", {v}, {}));
  NN_ASSIGN(v, add_("div", {graph_->AddConstant(Tensor::Scalar(1.0f)), v}, {}));
  NN_ASSIGN(v, add_("sqrt", {v}, {}));
  return dtype_ == DType::kF32 ? Result<Value*>(v) : add_("cast", {v}, CastAttrs{.to = dtype_});
}

// [B, Hq, L, E] -> [B, Hkv, groups, L, E] of a query; [B, Hkv, S, E] -> [B, Hkv, 1, S, E] of keys
// and values.
Result<Value*> AttentionParts::Grouped(Value* v, bool is_query) const {
  if (groups_ == 1) return v;
  if (!is_query) return add_("expand_dims", {v}, AxesAttrs{{2}});
  const Type& type = v->type();
  return add_("reshape", {v},
              ReshapeAttrs{{type.dim(0), Dim(type.dim(1).value() / groups_), Dim(groups_),
                            type.dim(2), type.dim(3)},
                           false});
}

Result<Value*> AttentionParts::GroupedMask(Value* mask) const {
  const int rank = mask->type().rank();
  if (groups_ == 1 || rank < 3) return mask;
  const int64_t heads = shape_[1].value();
  if (mask->type().dim(rank - 3) == 1) return add_("expand_dims", {mask}, AxesAttrs{{rank - 3}});
  if (!mask->type().dim(rank - 3).is_const()) {
    NN_ASSIGN(mask, add_("expand", {mask}, ExpandAttrs{{Dim(heads), Dim(1), Dim(1)}}));
  }
  Dims dims = *mask->type().dims;
  dims[static_cast<size_t>(rank - 3)] = Dim(heads / groups_);
  dims.insert(dims.end() - 2, Dim(groups_));
  return add_("reshape", {mask}, ReshapeAttrs{std::move(dims), false});
}

// The bias, and the rows that it masks.
Status AttentionParts::AddBias(const Operands& operands, const AttentionAttrs& attrs) {
  Value* mask = operands.mask;
  Value* causal = nullptr;
  if (attrs.is_causal) {
    NN_ASSIGN(Value * query, AxisPositions(*graph_, add_, operands.q, 2));
    NN_ASSIGN(Value* const key, AxisPositions(*graph_, add_, operands.k, 2));
    NN_ASSIGN(query, add_("expand_dims", {query}, AxesAttrs{{1}}));
    NN_ASSIGN(causal, add_("less_equal", {key, query}, {}));
  }
  if (mask == nullptr && causal == nullptr) return {};
  bool may_mask = false;
  if (mask != nullptr) {
    const Dim& keys = shape_[3];
    may_mask = !mask->is_constant() ||
               MayMaskRows(mask->constant(), attrs.is_causal, keys.is_const() ? keys.value() : 1);
    NN_ASSIGN(mask, GroupedMask(mask));
  }
  Value* open = causal;  // where the bias is 0
  if (mask != nullptr && mask->dtype() == DType::kBool) {
    open = mask;
    if (causal != nullptr) {
      NN_ASSIGN(open, add_("and", {mask, causal}, {}));
    }
    mask = nullptr;
  }
  bias_ = mask;
  if (open != nullptr) {
    NN_ASSIGN(Value* const zero, Number(0));
    NN_ASSIGN(Value* const masked, Number(-kInfinity));
    NN_ASSIGN(bias_, add_("select", {open, zero, masked}, {}));
    if (mask != nullptr) {
      NN_ASSIGN(bias_, add_("add", {mask, bias_}, {}));
    }
  }
  if (!may_mask) return {};
  if (bias_->type().rank() == 0) {
    all_masked_ = bias_;
  } else {
    NN_ASSIGN(all_masked_,
              add_("reduce_max", {bias_}, ReduceAttrs{{bias_->type().rank() - 1}, true}));
  }
  NN_ASSIGN(Value* const masked, Number(-kInfinity));
  NN_ASSIGN(all_masked_, add_("equal", {all_masked_, masked}, {}));
  return {};
}

Result<Value*> AttentionParts::ZeroWhereMasked(Value* v) const {
  if (all_masked_ == nullptr) return v;
  NN_ASSIGN(Value* const zero, Number(0));
  return add_("select", {all_masked_, zero, v}, {});
}

Status AttentionParts::Build(Operands operands, const AttentionAttrs& attrs, DType softmax) {
  const Type &q = operands.q->type(), &k = operands.k->type();
  dtype_ = q.dtype;
  shape_ = {q.dim(0), q.dim(1), q.dim(2), k.dim(2)};
  // Matrices of one head are broadcast.
  if (q.dim(1).is_const() && k.dim(1).is_const() && q.dim(1) != k.dim(1) && !(k.dim(1) == 1))
    groups_ = q.dim(1).value() / k.dim(1).value();
  const Dims result = {q.dim(0), q.dim(1), q.dim(2), operands.v->type().dim(3)};
  NN_RETURN_IF_ERROR(AddBias(operands, attrs));
  NN_ASSIGN(Value* const factor, Factor(operands.q, attrs.scale));
  if (factor != nullptr) {
    NN_ASSIGN(operands.q, add_("mul", {operands.q, factor}, {}));
    NN_ASSIGN(operands.k, add_("mul", {operands.k, factor}, {}));
  }
  NN_ASSIGN(operands.q, Grouped(operands.q, true));
  NN_ASSIGN(operands.k, Grouped(operands.k, false));
  NN_ASSIGN(operands.v, Grouped(operands.v, false));
  NN_ASSIGN(products_, add_("matmul", {operands.q, operands.k}, MatmulAttrs{false, true}));
  capped_ = products_;
  if (attrs.softcap != 0) {
    NN_ASSIGN(Value* const cap, Number(static_cast<double>(attrs.softcap)));
    NN_ASSIGN(capped_, add_("div", {capped_, cap}, {}));
    NN_ASSIGN(capped_, add_("tanh", {capped_}, {}));
    NN_ASSIGN(capped_, add_("mul", {capped_, cap}, {}));
  }
  scores_ = capped_;
  if (bias_ != nullptr) {
    NN_ASSIGN(scores_, add_("add", {scores_, bias_}, {}));
  }
  const bool casts = softmax != DType::kUnknown && softmax != dtype_;
  weights_ = scores_;
  if (casts) {
    NN_ASSIGN(weights_, add_("cast", {weights_}, CastAttrs{.to = softmax}));
  }
  NN_ASSIGN(weights_, add_("softmax", {weights_}, SoftmaxAttrs{}));
  if (casts) {
    NN_ASSIGN(weights_, add_("cast", {weights_}, CastAttrs{.to = dtype_}));
  }
  NN_ASSIGN(y_, add_("matmul", {weights_, operands.v}, MatmulAttrs{}));
  NN_ASSIGN(y_, ZeroWhereMasked(y_));
  if (groups_ != 1) {
    NN_ASSIGN(y_, add_("reshape", {y_}, ReshapeAttrs{result, false}));
  }
  return {};
}

Result<Value*> AttentionParts::At(Stage stage) const {
  Value* v = stage == Stage::kProducts ? products_
             : stage == Stage::kCapped ? capped_
             : stage == Stage::kScores ? scores_
                                       : weights_;
  if (stage == Stage::kWeights) {
    NN_ASSIGN(v, ZeroWhereMasked(v));
  }
  if (groups_ == 1) return v;
  return add_("reshape", {v}, ReshapeAttrs{shape_, false});
}

// ---- The operator -------------------------------------------------------------------------------

namespace {

Status RequireSame(const InferContext& ctx, std::string_view what, size_t a, size_t b, int axis) {
  const Dim &x = ctx.in(a).dim(axis), &y = ctx.in(b).dim(axis);
  if (!x.is_const() || !y.is_const() || x == y) return {};
  return ModelError("inputs {} and {} are {} and {}: {} {} and {}", a, b, ctx.in(a).ToString(),
                    ctx.in(b).ToString(), what, x.ToString(), y.ToString());
}

Status CheckHeads(const Dim& q, const Dim& kv) {
  if (q == kv || kv == 1) return {};
  if (!q.is_const() || !kv.is_const())
    return UnsupportedError("attention of {} query heads and {} key heads: they must be known",
                            q.ToString(), kv.ToString());
  if (q == 0 || kv == 0 || q.value() % kv.value() != 0)
    return ModelError("the number of query heads {} is not a multiple of {}", q.ToString(),
                      kv.ToString());
  return {};
}

Status CheckMask(const InferContext& ctx) {
  if (!ctx.has(3)) return {};
  NN_RETURN_IF_ERROR(RequireRank(ctx, 3, 0, 4));
  const Type& mask = ctx.in(3);
  const DType dtype = ctx.in(0).dtype;
  if (mask.quantized() || (mask.dtype != DType::kBool && mask.dtype != dtype))
    return UnsupportedError("a mask of {} in an attention of {}; must be of bool or {}",
                            mask.ToString(), DTypeName(dtype), DTypeName(dtype));
  const Dims scores = {ctx.in(0).dim(0), ctx.in(0).dim(1), ctx.in(0).dim(2), ctx.in(1).dim(2)};
  NN_ASSIGN(const Dims joint, BroadcastDims(scores, *mask.dims));
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i] == 1 && joint[i].is_const() && !(joint[i] == 1))
      return ModelError("mask {} does not broadcast to {}", mask.ToString(), ToString(scores));
  return {};
}

Status InferAttention(InferContext& ctx) {
  const auto& a = ctx.attrs<AttentionAttrs>();
  for (const auto& [name, value] : {std::pair("scale", a.scale), std::pair("softcap", a.softcap)})
    if (!(value >= 0) || !std::isfinite(value))
      return UnsupportedError("{} is {}; must be a positive number, or 0", name, value);
  for (const size_t i : {0, 1, 2}) {
    NN_RETURN_IF_ERROR(RequireRank(ctx, i, 4, 4));
    NN_RETURN_IF_ERROR(RequireReal(ctx, i));
  }
  NN_RETURN_IF_ERROR(SameDType(ctx, {0, 1, 2}));
  NN_RETURN_IF_ERROR(RequireSame(ctx, "batches of", 0, 1, 0));
  NN_RETURN_IF_ERROR(RequireSame(ctx, "batches of", 0, 2, 0));
  NN_RETURN_IF_ERROR(RequireSame(ctx, "head sizes of", 0, 1, 3));
  NN_RETURN_IF_ERROR(RequireSame(ctx, "sequences of", 1, 2, 2));
  NN_RETURN_IF_ERROR(RequireSame(ctx, "heads of", 1, 2, 1));
  NN_RETURN_IF_ERROR(CheckHeads(ctx.in(0).dim(1), ctx.in(1).dim(1)));
  NN_RETURN_IF_ERROR(CheckMask(ctx));
  const Type& q = ctx.in(0);
  ctx.set_out(0, Type(q.dtype, {q.dim(0), q.dim(1), q.dim(2), ctx.in(2).dim(3)}));
  return {};
}

Result<bool> DecomposeAttention(Graph& graph, Node& node) {
  const Composition c(graph, node);
  std::vector<Value*> inputs;
  for (size_t i = 0; i < 4; ++i) {
    NN_ASSIGN(Value* const v, c.Operand(i));
    inputs.push_back(v);
  }
  NN_ASSIGN(const AttentionParts parts,
            AttentionParts::Add(graph, c.adder(), {inputs[0], inputs[1], inputs[2], inputs[3]},
                                node.attrs<AttentionAttrs>()));
  NN_RETURN_IF_ERROR(c.Replace(parts.y()));
  return true;
}

std::optional<int64_t> AttentionMultiplyAdds(const Node& node) {
  const auto q = node.input(0)->type().const_dims();
  const auto v = node.input(2)->type().const_dims();
  if (!q || !v) return std::nullopt;
  const auto scores = CheckedElements(std::vector{(*q)[0], (*q)[1], (*q)[2], (*v)[2]});
  const auto depth = CheckedAdd((*q)[3], (*v)[3]);
  return scores && depth ? CheckedMul(*scores, *depth) : std::nullopt;
}

}  // namespace

void RegisterAttentionOps(OpRegistry& ops) {
  OpDef op;
  op.name = "attention";
  op.summary = "scaled dot-product attention of several heads";
  op.category = Category::kMatmul;
  op.attrs = AttrsInfoOf<AttentionAttrs>();
  op.inputs = {{"q"}, {"k"}, {"v"}, {"mask", Arity::kOptional}};
  op.infer = InferAttention;
  op.multiply_adds = AttentionMultiplyAdds;
  op.decompose = DecomposeAttention;
  ops.Add(std::move(op));
}

}  // namespace nn
