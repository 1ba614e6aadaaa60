// Operators on sequences and optionals, which the import resolves (ops/array/sequence.h).
#include "ops/array/sequence.h"

#include <algorithm>

#include "formats/common/control_flow.h"
#include "formats/onnx/family.h"
#include "ops/array/arrange/concat.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::onnx {
namespace {

using Elements = std::span<Value* const>;

// The elements of input i.
Result<Elements> ElementsOf(const ImportContext& ctx, size_t i) {
  NN_ASSIGN(Value* const v, ctx.Required(i));
  if (IsSequence(v)) return Elements(v->def()->inputs());
  return UnsupportedError("input {} is no sequence of known length", i);
}

Status EmitSequence(ImportContext& ctx, Terms elements) {
  return ctx.Emit("sequence", std::move(elements), SequenceAttrs{});
}

std::optional<int64_t> KnownNumber(const ImportContext& ctx, size_t i) {
  const auto elements = ctx.Elements(i);
  if (!elements || elements->size() != 1 || !elements->front().is_const()) return std::nullopt;
  return elements->front().value();
}

// Input i as an index of `count` places; negative ones count from the end.
Result<size_t> PositionOf(const ImportContext& ctx, size_t i, size_t count) {
  const auto given = KnownNumber(ctx, i);
  if (!given) return UnsupportedError("the position {}", WhyUnknown(ctx.input(i)));
  const auto size = static_cast<int64_t>(count);
  if (*given < -size || *given >= size)
    return ModelError("position {} is outside a sequence of length {}", *given, size);
  return static_cast<size_t>(*given < 0 ? *given + size : *given);
}

Status ImportSequenceConstruct(ImportContext& ctx) {
  return EmitSequence(ctx, ctx.inputs());
}

Status ImportSequenceEmpty(ImportContext& ctx) {
  return EmitSequence(ctx, {});
}

Status ImportSequenceInsert(ImportContext& ctx) {
  NN_ASSIGN(const Elements old, ElementsOf(ctx, 0));
  Value* const x = ctx.input(1);
  size_t at = old.size();
  if (ctx.input(2) != nullptr) {
    const auto given = KnownNumber(ctx, 2);
    // The place after the last element is its length.
    if (!given || *given != static_cast<int64_t>(at)) {
      NN_ASSIGN(at, PositionOf(ctx, 2, old.size()));
    }
  }
  std::vector<Value*> elements(old.begin(), old.end());
  elements.insert(elements.begin() + static_cast<ptrdiff_t>(at), x);
  return EmitSequence(ctx, std::move(elements));
}

Status ImportSequenceErase(ImportContext& ctx) {
  NN_ASSIGN(const Elements old, ElementsOf(ctx, 0));
  if (old.empty()) return ModelError("an empty sequence has no element to erase");
  size_t at = old.size() - 1;
  if (ctx.input(1) != nullptr) {
    NN_ASSIGN(at, PositionOf(ctx, 1, old.size()));
  }
  std::vector<Value*> elements(old.begin(), old.end());
  elements.erase(elements.begin() + static_cast<ptrdiff_t>(at));
  return EmitSequence(ctx, std::move(elements));
}

// A run may decide between elements of the same type.
Status ImportSequenceAt(ImportContext& ctx) {
  NN_ASSIGN(const Elements elements, ElementsOf(ctx, 0));
  Value* const position = ctx.input(1);
  if (KnownNumber(ctx, 1) || elements.empty()) {
    NN_ASSIGN(const size_t at, PositionOf(ctx, 1, elements.size()));
    ctx.SetOutput(0, elements[at]);
    return {};
  }
  for (Value* v : elements)
    if (auto alike = CheckAlike(elements[0]->type(), v->type()); !alike)
      return UnsupportedError("the position {}, and the elements have different types",
                              WhyUnknown(position));
  NN_ASSIGN(Value* const stack, Stack(ctx, elements, 0));
  const bool is_scalar = !position->type().ranked() || position->type().rank() == 0;
  return ctx.EmitTerm(Gather(stack, is_scalar ? position : Reshape(position, {}), 0));
}

Status ImportSequenceLength(ImportContext& ctx) {
  NN_ASSIGN(const Elements elements, ElementsOf(ctx, 0));
  ctx.SetOutput(0, ctx.Constant(Tensor::Of<int64_t>({}, {static_cast<int64_t>(elements.size())})));
  return {};
}

Status ImportConcatFromSequence(ImportContext& ctx) {
  NN_ASSIGN(const Elements elements, ElementsOf(ctx, 0));
  NN_ASSIGN(const int64_t axis, ctx.RequiredInt("axis"));
  if (elements.empty()) return ModelError("an empty sequence cannot be concatenated");
  if (ctx.Int("new_axis", 0) == 0) return ctx.Emit("concat", elements, ConcatAttrs{axis});
  NN_ASSIGN(Value* const y, Stack(ctx, elements, axis));
  ctx.SetOutput(0, y);
  return {};
}

// The sizes of the parts on the axis.
Result<std::vector<int64_t>> PartSizesOf(const ImportContext& ctx, const Dim& size) {
  const Value* const split = ctx.input(1);
  if (split != nullptr && (!split->type().ranked() || split->type().rank() != 0)) {
    const auto elements = ctx.Elements(1);
    std::vector<int64_t> sizes;
    for (const Dim& d : elements.value_or(Dims()))
      if (d.is_const()) sizes.push_back(d.value());
    if (!elements || sizes.size() != elements->size())
      return UnsupportedError("one of the sizes of the parts {}", WhyUnknown(split));
    return sizes;
  }
  if (!size.is_const()) return UnsupportedError("the length of the axis {}", WhyUnknown(size));
  const auto part = split == nullptr ? std::optional<int64_t>(1) : KnownNumber(ctx, 1);
  if (!part) return UnsupportedError("the size of the parts {}", WhyUnknown(split));
  if (*part < 1) return ModelError("parts of size {} are impossible", *part);
  if (size.value() / *part > kMaxUnrolled)
    return UnsupportedError("sequences of more than {} elements are unsupported", kMaxUnrolled);
  std::vector<int64_t> sizes;
  for (int64_t left = size.value(); left > 0; left -= *part) sizes.push_back(std::min(*part, left));
  return sizes;
}

Status ImportSplitToSequence(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (!x->type().ranked()) return UnsupportedError("the rank of the input is unknown");
  NN_ASSIGN(const int axis, NormalizeAxis(ctx.Int("axis", 0), x->type().rank()));
  NN_ASSIGN(const std::vector<int64_t> sizes, PartSizesOf(ctx, x->type().dim(axis)));
  if (sizes.empty()) return EmitSequence(ctx, {});
  const bool squeezed = ctx.input(1) == nullptr && ctx.Int("keepdims", 1) == 0;
  std::vector<Term> parts = ApplyAll("split", {x}, SplitAttrs{axis, sizes}, sizes.size());
  if (squeezed)
    for (Term& part : parts) part = Squeeze(part, {axis});
  return EmitSequence(ctx, std::move(parts));
}

// An optional with an element is the element.
Status ImportOptional(ImportContext& ctx) {
  if (ctx.input(0) == nullptr)
    return ctx.Emit("sequence", {}, SequenceAttrs{.is_empty_optional = true});
  return ctx.EmitTerm(ctx.input(0));
}

bool IsAbsent(const Value* v) {
  return v == nullptr || IsEmptyOptional(v);
}

Status ImportOptionalHasElement(ImportContext& ctx) {
  NN_ASSIGN(Value* const y, ctx.Number(DType::kBool, IsAbsent(ctx.input(0)) ? 0 : 1));
  ctx.SetOutput(0, y);
  return {};
}

Status ImportOptionalGetElement(ImportContext& ctx) {
  if (IsAbsent(ctx.input(0))) return ModelError("the optional has no element");
  ctx.SetOutput(0, ctx.input(0));
  return {};
}

constexpr ImportRow kSequenceImports[] = {
    {.op = "SequenceConstruct", .since = 11, .import = ImportSequenceConstruct},
    {.op = "SequenceEmpty", .since = 11, .import = ImportSequenceEmpty},
    {.op = "SequenceInsert", .since = 11, .import = ImportSequenceInsert, .inputs = 2},
    {.op = "SequenceErase", .since = 11, .import = ImportSequenceErase},
    {.op = "SequenceAt", .since = 11, .import = ImportSequenceAt, .inputs = 2},
    {.op = "SequenceLength", .since = 11, .import = ImportSequenceLength},
    {.op = "ConcatFromSequence", .since = 11, .import = ImportConcatFromSequence},
    {.op = "SplitToSequence", .since = 11, .import = ImportSplitToSequence, .inputs = 1},
    {.op = "Optional", .since = 15, .import = ImportOptional},
    {.op = "OptionalHasElement", .since = 15, .import = ImportOptionalHasElement},
    {.op = "OptionalGetElement", .since = 15, .import = ImportOptionalGetElement},
};

}  // namespace

Family SequenceFamily() {
  return {.imports = kSequenceImports, .exports = {}};
}

}  // namespace nn::onnx
