#include "formats/onnx/export/quant/linear_quant.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/checked_math.h"
#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/block_weights.h"
#include "ops/quant/quantized.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::onnx {
namespace {

// Evaluates operators on constants, as far as the results are small.
class Folder {
 public:
  explicit Folder(ImportContext& ctx) : ctx_(ctx) {}

  // Null if the value is not constant.
  Result<Value*> Fold(Value* v, int depth = 0) {
    constexpr int kMaxDepth = 16;
    constexpr size_t kMaxNodes = 64;
    if (v->is_constant()) return v;
    const Node* node = v->def();
    if (node == nullptr || node->op().eval == nullptr || node->op().is_opaque ||
        depth == kMaxDepth || ++nodes_ > kMaxNodes)
      return nullptr;
    std::vector<const Tensor*> inputs;
    for (Value* in : node->inputs()) {
      if (in == nullptr) {
        inputs.push_back(nullptr);
        continue;
      }
      NN_ASSIGN(Value* const folded, Fold(in, depth + 1));
      if (folded == nullptr) return nullptr;
      inputs.push_back(&folded->constant());
    }
    EvalBudget budget;
    budget.bytes = budget.work = uint64_t{1} << 24;
    auto results = EvalNode(*node, inputs, &budget);
    if (!results) return nullptr;
    return ctx_.Constant(std::move((*results)[static_cast<size_t>(v->def_index())]));
  }

 private:
  ImportContext& ctx_;
  size_t nodes_ = 0;
};

bool IsOneNumber(const Type& type) {
  return type.ranked() && std::ranges::all_of(*type.dims, [](const Dim& d) { return d == 1; });
}

// Whether scales and zero points may have one shape; one number may be written in any.
bool AreAlike(const Type& scale, const Type& zero) {
  if (!scale.ranked() || !zero.ranked() || (IsOneNumber(scale) && IsOneNumber(zero))) return true;
  return scale.rank() == zero.rank() &&
         std::ranges::equal(*scale.dims, *zero.dims, [](const Dim& a, const Dim& b) {
           return !a.is_const() || !b.is_const() || a == b;
         });
}

// Whether the mapping can be part of a type.
bool FitsType(const LinearQuant& q) {
  return q.is_constant() && q.block == 0 &&
         (q.scale->type().rank() <= 1 || q.scale->constant().elements() == 1);
}

// The axis that scales in a vector belong to.
Result<int> AxisOf(const LinearQuant& q, const Type& type, const ImportContext& ctx) {
  if (!type.ranked())
    return UnsupportedError("{} per axis needs an input of known rank", ctx.node().op_type());
  const int64_t axis = q.axis < 0 ? q.axis + type.rank() : q.axis;
  if (axis < 0 || axis >= type.rank())
    return ModelError("{} scales do not match axis {} of {}", q.scale->type().ToString(), q.axis,
                      type.ToString());
  return static_cast<int>(axis);
}

Result<std::shared_ptr<const Quant>> QuantOf(const LinearQuant& q, const Type& type,
                                             const ImportContext& ctx) {
  auto quant = std::make_shared<Quant>();
  for (const double v : q.scale->constant().ToDoubles())
    quant->scales.push_back(static_cast<float>(v));
  if (q.zero != nullptr && IsInteger(q.zero->dtype())) {
    quant->zero_points = q.zero->constant().ToInts();
    if (!HasZeroPoints(*quant)) quant->zero_points.clear();
  } else if (q.zero != nullptr) {
    for (const double v : q.zero->constant().ToDoubles())
      if (v != 0) return ModelError("the zero point of a float8 type must be 0, not {}", v);
  }
  if (quant->scales.size() != 1) {
    NN_ASSIGN(quant->axis, AxisOf(q, type, ctx));
    const Dim& size = type.dim(quant->axis);
    if (size.is_const() && size.value() != static_cast<int64_t>(quant->scales.size()))
      return ModelError("{} scales do not match axis {} of {}", quant->scales.size(), quant->axis,
                        type.ToString());
  }
  return quant;
}

// Each block's number for each of its elements.
Result<Value*> Repeated(ImportContext& ctx, Value* v, const LinearQuant& q, const Type& type) {
  NN_ASSIGN(const int axis, AxisOf(q, type, ctx));
  const Dim& size = type.dim(axis);
  const Dim& blocks = v->type().dim(axis);
  if (!size.is_const() || !blocks.is_const())
    return UnsupportedError("{} with blocks needs an axis of constant size", ctx.node().op_type());
  const int64_t n = size.value();
  const int64_t needed = n / q.block + (n % q.block != 0 ? 1 : 0);
  if (blocks.value() != needed)
    return ModelError("{} elements in blocks of {} have {} scales, not {}", n, q.block, needed,
                      blocks.value());
  for (int k = 0; k < type.rank(); ++k) {
    const Dim &own = v->type().dim(k), &whole = type.dim(k);
    if (k != axis && own.is_const() && whole.is_const() && own != whole)
      return ModelError("the scales or zero points {} of blocks along axis {} do not match {}",
                        v->type().ToString(), axis, type.ToString());
  }
  std::vector<int64_t> indices(static_cast<size_t>(n));
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int64_t>(i) / q.block;
  return ctx.Add("gather", {v, ctx.Constant(Tensor::Ints(indices))}, GatherAttrs{axis, 0});
}

// The dequantized constant, if blocks of it have constant scales; nullopt if it is better computed
// by operators, which also report what does not match.
std::optional<BlockWeights> ConstantBlocks(const Value* x, const LinearQuant& q, DType to) {
  const bool is_known_type = to == DType::kF32 || to == DType::kF16 || to == DType::kBF16;
  if (q.block <= 0 || !x->is_constant() || !q.is_constant() || !is_known_type ||
      !x->type().ranked() || q.scale->type().rank() != x->type().rank() ||
      (q.zero != nullptr &&
       (!IsInteger(q.zero->dtype()) || q.zero->constant().dims() != q.scale->constant().dims())))
    return std::nullopt;
  const int64_t axis = q.axis < 0 ? q.axis + x->type().rank() : q.axis;
  BlockMapping mapping;
  for (int k = 0; k < x->type().rank(); ++k) {
    const int64_t size = x->constant().dim(k), scales = q.scale->constant().dim(k);
    const int64_t block = k == axis ? q.block : 1;
    if (block < 1 || CeilDiv(size, block) != scales) return std::nullopt;
    mapping.block.push_back(block);
  }
  for (const double v : q.scale->constant().ToDoubles())
    mapping.scales.push_back(static_cast<float>(v));
  mapping.zeros = q.zero == nullptr ? std::vector<int64_t>{0} : q.zero->constant().ToInts();
  auto weights = WeightsOf(x->constant(), std::move(mapping));
  if (!weights) return std::nullopt;
  weights->type = to;
  weights->source = BlockSource::kTensor;
  weights->block = q.block;
  return weights;
}

}  // namespace

Result<Value*> Folded(ImportContext& ctx, Value* v) {
  NN_ASSIGN(Value* const folded, Folder(ctx).Fold(v));
  return folded == nullptr ? v : folded;
}

Result<LinearQuant> ReadLinearQuant(ImportContext& ctx, size_t scale, size_t zero) {
  LinearQuant q;
  if (ctx.input(scale) == nullptr) return ModelError("the scale is missing");
  NN_ASSIGN(q.scale, Folded(ctx, ctx.input(scale)));
  if (ctx.input(zero) != nullptr) {
    NN_ASSIGN(q.zero, Folded(ctx, ctx.input(zero)));
  }
  if (!IsFloat(q.scale->dtype()) && q.scale->dtype() != DType::kUnknown)
    return ModelError("the scale is {}", q.scale->type().ToString());
  if (!q.scale->type().ranked())
    return UnsupportedError("{} needs a scale of known rank", ctx.node().op_type());
  if (q.zero != nullptr && !AreAlike(q.scale->type(), q.zero->type()))
    return ModelError("the scale is {}, but the zero point {}; they must have one shape",
                      q.scale->type().ToString(), q.zero->type().ToString());
  if (q.scale->is_constant() && q.scale->constant().elements() == 0)
    return ModelError("there are no scales");
  return q;
}

Result<Value*> AlongAxis(ImportContext& ctx, const Term& numbers, const LinearQuant& q,
                         const Type& type) {
  NN_ASSIGN(Value* const v, ctx.Build(numbers));
  const Type& own = v->type();
  if (!own.ranked() || !type.ranked())
    return UnsupportedError("{} needs operands of known rank", ctx.node().op_type());
  const auto reshaped = [&](const Dims& dims) -> Result<Value*> {
    if (const auto known = ConstDims(dims); known && v->is_constant()) {
      NN_ASSIGN(Tensor t, v->constant().Reshaped(*known));
      return ctx.Constant(std::move(t));
    }
    return ctx.Build(Reshape(v, dims));
  };
  if (IsOneNumber(own)) return own.rank() == 0 ? v : reshaped({});
  if (own.rank() == 1 && q.block == 0) {
    NN_ASSIGN(const int axis, AxisOf(q, type, ctx));
    if (const Dim& size = type.dim(axis);
        size.is_const() && own.dim(0).is_const() && own.dim(0) != size)
      return ModelError("{} scales do not match axis {} of {}", own.dim(0).ToString(), axis,
                        type.ToString());
    Dims dims(static_cast<size_t>(type.rank() - axis), Dim(1));
    dims[0] = own.dim(0);
    return reshaped(dims);
  }
  if (own.rank() != type.rank())
    return ModelError("the scales or zero points {} do not match {}", own.ToString(),
                      type.ToString());
  return q.block == 0 ? v : Repeated(ctx, v, q, type);
}

Result<Value*> AddQuantize(ImportContext& ctx, Value* x, const LinearQuant& q, DType to,
                           bool saturate) {
  if (x->dtype() == DType::kI32 && !x->type().quantized()) {
    NN_ASSIGN(x, ctx.Build(Cast(x, DType::kF32)));
  }
  if (FitsType(q)) {
    NN_ASSIGN(auto quant, QuantOf(q, x->type(), ctx));
    NN_ASSIGN(Node* const node,
              ctx.AddNode("quantize", {x}, QuantizeAttrs{Rounding::kHalfEven, saturate}));
    Type type = node->output()->type();
    type.dtype = to;
    type.quant = std::move(quant);
    node->output()->set_type(std::move(type));
    return node->output();
  }
  NN_ASSIGN(Value* const scale, AlongAxis(ctx, As(q.scale, DType::kF32), q, x->type()));
  Term y = As(x, DType::kF32) / scale;
  if (!IsInteger(to)) return ctx.Add("cast", {y}, CastAttrs{.to = to, .saturate = saturate});
  if (DTypeBits(to) > 16)
    return UnsupportedError("{} to {} is unsupported", ctx.node().op_type(), DTypeName(to));
  y = Apply("round", {y});
  if (q.zero != nullptr) {
    NN_ASSIGN(Value* const zero, AlongAxis(ctx, As(q.zero, DType::kF32), q, x->type()));
    y = y + zero;
  }
  y = Clip(y, static_cast<float>(MinInteger(to)), static_cast<float>(MaxInteger(to)));
  return ctx.Build(Cast(y, to));
}

namespace {

// An input of integers and what moves its elements to `x`, the last value first; empty if there is
// no such input. Operators that use one of the values already do so as integers.
std::vector<Value*> MovedFromInput(Value* x) {
  std::vector<Value*> path;
  for (size_t uses = 0; x->uses().size() == uses && !x->type().quantized(); uses = 1) {
    path.push_back(x);
    if (x->is_input()) return path;
    if (x->def() == nullptr || x->def()->op().movement == Movement::kNone) return {};
    x = x->def()->input(0);
  }
  return {};
}

}  // namespace

Result<Value*> WithMapping(ImportContext& ctx, Value* x, const LinearQuant& q) {
  if (!FitsType(q)) return x;
  NN_ASSIGN(auto quant, QuantOf(q, x->type(), ctx));
  if (x->is_constant()) return ctx.graph().AddConstant(x->constant(), x->name(), std::move(quant));
  if (quant->per_axis() && !x->is_input()) return x;
  for (Value* const v : MovedFromInput(x)) {
    Type type = v->type();
    type.quant = quant;
    v->set_type(std::move(type));
  }
  return x;
}

Result<Value*> AddDequantize(ImportContext& ctx, Value* x, const LinearQuant& q, DType to) {
  NN_ASSIGN(Value* const integers, WithMapping(ctx, x, q));
  if (FitsType(q) && integers->type().quantized()) {
    NN_ASSIGN(const auto quant, QuantOf(q, x->type(), ctx));
    if (integers->type().quant->SameMapping(*quant))
      return ctx.Add("dequantize", {integers}, DequantizeAttrs{to});
  }
  if (auto weights = ConstantBlocks(x, q, to)) {
    NN_ASSIGN(Tensor reals, TensorOf(*std::move(weights), x->constant().dims()));
    return ctx.Constant(std::move(reals));
  }
  // In 32 bits, the difference is exact.
  const bool wide = x->dtype() == DType::kI32 && q.zero != nullptr;
  const DType dtype = wide ? DType::kI32 : DType::kF32;
  Term y = As(x, dtype);
  if (q.zero != nullptr) {
    NN_ASSIGN(Value* const zero, AlongAxis(ctx, As(q.zero, dtype), q, x->type()));
    y = As(y - zero, dtype, DType::kF32);
  }
  NN_ASSIGN(Value* const scale, AlongAxis(ctx, As(q.scale, DType::kF32), q, x->type()));
  return ctx.Build(As(y * scale, DType::kF32, to));
}

namespace {

// The smaller or larger ones of integers and a number.
Result<Tensor> FoldedExtreme(std::string_view op, const Tensor& x, const Tensor* bound) {
  if (bound == nullptr) return x;
  Graph scratch;
  NN_ASSIGN(Node* const node,
            scratch.Append(op, {scratch.AddConstant(x), scratch.AddConstant(*bound)}));
  NN_ASSIGN(std::vector<Tensor> y, EvalNode(*node, {&x, bound}));
  return std::move(y[0]);
}

}  // namespace

Result<Value*> ClipIntegers(ImportContext& ctx, Value* x, const Tensor* low, const Tensor* high) {
  if (!IsInteger(x->dtype()) || DTypeBits(x->dtype()) > 16) return nullptr;
  if (x->is_constant()) {
    NN_ASSIGN(Tensor y, FoldedExtreme("maximum", x->constant(), low));
    NN_ASSIGN(y, FoldedExtreme("minimum", y, high));
    return ctx.graph().AddConstant(std::move(y), x->name());
  }
  if (!x->type().quantized() || x->type().quant->per_axis()) return nullptr;
  const auto quant = x->type().quant;
  ClipAttrs a;
  const auto number = [&](const Tensor& bound) {
    return static_cast<float>(bound.GetInt(0) - quant->zero_point()) * quant->scale();
  };
  if (low != nullptr) a.min = number(*low);
  if (high != nullptr) a.max = number(*high);
  const Term reals = Apply("dequantize", {x}, DequantizeAttrs{DType::kF32});
  NN_ASSIGN(Value* const clipped, ctx.Add("clip", {reals}, a));
  NN_ASSIGN(Node* const node,
            ctx.AddNode("quantize", {clipped}, QuantizeAttrs{Rounding::kHalfEven, true}));
  Type type = node->output()->type();
  type.dtype = x->dtype();
  type.quant = quant;
  node->output()->set_type(std::move(type));
  return node->output();
}

}  // namespace nn::onnx
