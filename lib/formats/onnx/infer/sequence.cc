// Type inference of sequences and optionals.
#include <algorithm>
#include <numeric>

#include "formats/onnx/infer/infer.h"
#include "ops/support/types.h"

namespace nn::onnx {
namespace {

Status InferSequenceEmpty(TypeContext& ctx) {
  ctx.Set(0, ValueType::Sequence(ValueType::Tensor(ctx.TypeAttr("dtype", DType::kF32))));
  return {};
}

Status InferSequenceConstruct(TypeContext& ctx) {
  if (ctx.input_count() == 0) return {};
  ValueType element = ctx.in(0);
  for (size_t i = 1; i < ctx.input_count(); ++i) {
    NN_ASSIGN(element, Union(element, ctx.in(i), [&] { return ctx.Unknown(); }));
  }
  ctx.Set(0, ValueType::Sequence(std::move(element)));
  return {};
}

Status InferSequenceInsert(TypeContext& ctx) {
  const ValueType& sequence = ctx.in(0);
  if (sequence.kind != ValueType::Kind::kSequence) return {};
  if (!sequence.inner().is_known() || !ctx.in(1).is_known()) {
    ctx.Set(0, ValueType::Sequence(ValueType()));
    return {};
  }
  NN_ASSIGN(ValueType element, Union(sequence.inner(), ctx.in(1), [&] { return ctx.Unknown(); }));
  ctx.Set(0, ValueType::Sequence(std::move(element)));
  return {};
}

Status InferSequenceAt(TypeContext& ctx) {
  if (ctx.in(0).kind == ValueType::Kind::kSequence) ctx.Set(0, ctx.in(0).inner());
  return {};
}

Status InferSequenceLength(TypeContext& ctx) {
  ctx.Set(0, DType::kI64, Dims{});
  return {};
}

// The common size of the parts along the axis; nullopt if they differ or are unknown.
Result<std::optional<int64_t>> PartSize(TypeContext& ctx, const Dim& size) {
  if (!ctx.has(1)) return std::optional<int64_t>(1);
  const auto parts = ctx.Ints(1);
  const Dims* shape = ctx.dims(1);
  if (!parts || shape == nullptr || !size.is_const()) return std::optional<int64_t>();
  if (shape->empty()) {
    if (parts->front() <= 0)
      return ModelError("the size of the parts must be positive, not {}", parts->front());
    const bool even = size.value() % parts->front() == 0;
    return even ? std::optional(parts->front()) : std::nullopt;
  }
  if (parts->empty()) return ModelError("split is empty");
  Dim sum = 0;
  for (const int64_t part : *parts) sum = sum + Dim(part);
  if (sum != size)
    return ModelError("the entries of split add up to {}, but the axis has size {}", sum.ToString(),
                      size.ToString());
  const bool even = std::ranges::all_of(*parts, [&](int64_t p) { return p == parts->front(); });
  return even ? std::optional(parts->front()) : std::nullopt;
}

Status InferSplitToSequence(TypeContext& ctx) {
  const Dims* x = ctx.dims(0);
  if (x == nullptr) {
    ctx.Set(0, ValueType::Sequence(ValueType::Tensor(ctx.dtype(0))));
    return {};
  }
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.node().Int("axis", 0), static_cast<int>(x->size())));
  Dims dims = *x;
  NN_ASSIGN(const auto part, PartSize(ctx, dims[static_cast<size_t>(axis)]));
  if (!ctx.has(1) && ctx.node().Int("keepdims", 1) == 0)
    dims.erase(dims.begin() + axis);
  else
    dims[static_cast<size_t>(axis)] = part ? Dim(*part) : ctx.Unknown();
  ctx.Set(0, ValueType::Sequence(ValueType::Tensor(ctx.dtype(0), std::move(dims))));
  return {};
}

Status InferConcatFromSequence(TypeContext& ctx) {
  if (ctx.in(0).kind != ValueType::Kind::kSequence) return {};
  const Type& element = ctx.in(0).inner().tensor;
  const int64_t new_axis = ctx.node().Int("new_axis", 0);
  if (new_axis != 0 && new_axis != 1)
    return ModelError("new_axis is {}; expected 0 or 1", new_axis);
  if (!element.dims) {
    ctx.Set(0, element.dtype);
    return {};
  }
  Dims dims = *element.dims;
  const int rank = static_cast<int>(dims.size() + static_cast<size_t>(new_axis));
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.node().Int("axis", 0), rank));
  if (new_axis == 1)
    dims.insert(dims.begin() + axis, ctx.Unknown());
  else
    dims[static_cast<size_t>(axis)] = ctx.Unknown();
  ctx.Set(0, element.dtype, std::move(dims));
  return {};
}

// ---- Optionals ----------------------------------------------------------------------------------

Status InferOptional(TypeContext& ctx) {
  if (ctx.input_count() == 1) {
    ctx.Set(0, ValueType::Optional(ctx.in(0)));
    return {};
  }
  const pb::AttributeProto* type = ctx.node().FindAttr("type");
  if (ctx.input_count() != 0 || type == nullptr || !type->has_tp())
    return ModelError("an input or the attribute type is required");
  ctx.Set(0, ValueType::Optional(ctx.Read(type->tp())));
  return {};
}

Status InferOptionalHasElement(TypeContext& ctx) {
  ctx.Set(0, DType::kBool, Dims{});
  return {};
}

Status InferOptionalGetElement(TypeContext& ctx) {
  const ValueType& type = ctx.in(0);
  ctx.Set(0, type.kind == ValueType::Kind::kOptional ? type.inner() : type);
  return {};
}

}  // namespace

void AddSequenceInferences(InferTable& t) {
  t.Add("", "SequenceEmpty", 11, InferSequenceEmpty);
  t.Add("", "SequenceConstruct", 11, InferSequenceConstruct);
  t.Add("", "SequenceInsert", 11, InferSequenceInsert);
  t.Add("", "SequenceAt", 11, InferSequenceAt);
  t.Add("", "SequenceErase", 11, InferLikeFirst);
  t.Add("", "SequenceLength", 11, InferSequenceLength);
  t.Add("", "SplitToSequence", 11, InferSplitToSequence);
  t.Add("", "ConcatFromSequence", 11, InferConcatFromSequence);
  t.Add("", "Identity", 1, InferLikeFirst);
  t.Add("", "Optional", 15, InferOptional);
  t.Add("", "OptionalHasElement", 15, InferOptionalHasElement);
  t.Add("", "OptionalGetElement", 15, InferOptionalGetElement);
}

}  // namespace nn::onnx
