// Operators of StableHLO that move or compare elements, and its general product. TensorFlow Lite
// has no kernels for them: they are what the specification of StableHLO says.
#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "formats/tflite/family.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

using HloList = std::vector<int64_t>;

// Limit of TensorFlow Lite: positions of STABLEHLO_IOTA.
constexpr int64_t kMaxIota = int64_t{1} << 22;

template <typename T>
Result<const T*> HloOptions(const ImportContext& ctx) {
  if (const T* options = ctx.op().builtin_options_2_as<T>()) return options;
  return ModelError("the options are missing or of a different kind");
}

// The declared shape of the output.
Result<Dims> HloOutputDims(const ImportContext& ctx) {
  if (ctx.output_count() != 1)
    return ModelError("there are {} outputs; expected 1", ctx.output_count());
  const Type& type = ctx.output_type();
  if (!type.const_dims())
    return UnsupportedError("an output of type {} is unsupported: its size must be known",
                            type.ToString());
  return *type.dims;
}

Status ImportHloReshape(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(Dims dims, HloOutputDims(ctx));
  return ctx.Emit("reshape", {x}, ReshapeAttrs{std::move(dims)});
}

Status ImportHloTranspose(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, HloOptions<fb::StablehloTransposeOptions>(ctx));
  Value* const x = ctx.input(0);
  return ctx.Emit("transpose", {x}, TransposeAttrs{ListOf<int64_t>(o->permutation())});
}

Status ImportHloConcatenate(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, HloOptions<fb::StablehloConcatenateOptions>(ctx));
  return ctx.Emit("concat", ctx.inputs(), ConcatAttrs{o->dimension()});
}

// Axis i of x is axis broadcast_dimensions[i] of the result.
Status ImportHloBroadcast(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, HloOptions<fb::StablehloBroadcastInDimOptions>(ctx));
  Value* x = ctx.input(0);
  NN_ASSIGN(Dims dims, HloOutputDims(ctx));
  const HloList axes = ListOf<int64_t>(o->broadcast_dimensions());
  const auto rank = static_cast<int64_t>(dims.size());
  if (static_cast<int>(axes.size()) != x->type().rank() ||
      std::ranges::any_of(axes, [rank](int64_t a) { return a < 0 || a >= rank; }))
    return ModelError("broadcast_dimensions do not fit {}", x->type().ToString());
  HloList order(axes.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::sort(order, {}, [&axes](int64_t i) { return axes[static_cast<size_t>(i)]; });
  const auto quant = x->type().quant;
  if (!std::ranges::is_sorted(axes)) {
    NN_ASSIGN(x, ctx.Add("transpose", {x}, TransposeAttrs{order}, quant));
  }
  Dims aligned(dims.size(), Dim(1));
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto from = static_cast<size_t>(order[i]);
    aligned[static_cast<size_t>(axes[from])] = x->type().dim(static_cast<int>(i));
  }
  NN_ASSIGN(x, ctx.Add("reshape", {x}, ReshapeAttrs{std::move(aligned)}, quant));
  return ctx.Emit("expand", {x}, ExpandAttrs{std::move(dims)});
}

Status ImportHloSlice(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, HloOptions<fb::StablehloSliceOptions>(ctx));
  Value* const x = ctx.input(0);
  SliceAttrs a;
  a.starts = ListOf<int64_t>(o->start_indices());
  a.ends = ListOf<int64_t>(o->limit_indices());
  a.steps = ListOf<int64_t>(o->strides());
  const auto rank = static_cast<size_t>(x->type().rank());
  if (a.starts.size() != rank || a.ends.size() != rank || a.steps.size() != rank ||
      std::ranges::any_of(a.starts, [](int64_t v) { return v < 0; }) ||
      std::ranges::any_of(a.ends, [](int64_t v) { return v < 0; }) ||
      std::ranges::any_of(a.steps, [](int64_t v) { return v < 1; }))
    return ModelError("the bounds do not fit {}", x->type().ToString());
  for (size_t i = 0; i < rank; ++i) a.axes.push_back(static_cast<int64_t>(i));
  return ctx.Emit("slice", {x}, std::move(a));
}

// Starts that leave no room for the slice are clamped.
Status ImportHloDynamicSlice(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, HloOptions<fb::StablehloDynamicSliceOptions>(ctx));
  Value* const x = ctx.input(0);
  const HloList sizes = ListOf<int64_t>(o->slice_sizes());
  const auto dims = x->type().const_dims();
  if (!dims) return UnsupportedError("x is {}; its size must be known", x->type().ToString());
  if (sizes.size() != dims->size() || ctx.input_count() != 1 + dims->size())
    return ModelError("slice_sizes or starts do not fit {}", x->type().ToString());
  if (sizes.empty()) return ctx.EmitTerm(x);
  HloList last;
  for (size_t i = 0; i < sizes.size(); ++i) {
    last.push_back((*dims)[i] - sizes[i]);
    if (sizes[i] < 0 || last[i] < 0)
      return ModelError("slice_sizes do not fit {}", x->type().ToString());
  }
  std::vector<Term> starts;
  for (size_t i = 0; i < sizes.size(); ++i) {
    NN_ASSIGN(Value* const start, ctx.Required(1 + i));
    starts.push_back(Reshape(Cast(start, DType::kI64), {Dim(1)}));
  }
  const HloList zeros(sizes.size(), 0);
  const Term start = Minimum(Maximum(Concat(std::move(starts), 0), Vector(zeros)), Vector(last));
  NN_ASSIGN(Value* const part,
            ctx.Add("slice", {x, start, start + Vector(sizes)}, SliceAttrs{}, x->type().quant));
  return ctx.Emit("reshape", {part}, ReshapeAttrs{ToDims(sizes)});
}

// The sign of x and the third root of its magnitude.
Status ImportHloCbrt(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (x->dtype() != DType::kF32)
    return UnsupportedError("an operand of type {} is unsupported", x->type().ToString());
  const Term root = Apply("pow", {Apply("abs", {x}), 1.0f / 3.0f});
  return ctx.Emit("mul", {root, Apply("sign", {x})});
}

Status ImportHloClamp(ImportContext& ctx) {
  if (ctx.output_type().quantized()) return UnsupportedError("quantized operands are unsupported");
  return ctx.Emit("minimum", {Maximum(ctx.input(1), ctx.input(0)), ctx.input(2)});
}

Status ImportHloCompare(ImportContext& ctx) {
  constexpr std::array<std::string_view, 6> kOps = {"equal",   "not_equal",  "greater_equal",
                                                    "greater", "less_equal", "less"};
  NN_ASSIGN(const auto* const o, HloOptions<fb::StablehloCompareOptions>(ctx));
  const auto direction = static_cast<size_t>(o->comparison_direction());
  if (direction >= kOps.size()) return ModelError("the direction {} does not exist", direction);
  if (o->compare_type() == fb::StablehloComparisonType::STABLEHLO_COMPARISON_TYPE_FLOAT_TOTAL_ORDER)
    return UnsupportedError("a comparison by total order is unsupported");
  return ctx.Emit(kOps[direction], ctx.inputs());
}

Status ImportHloConvert(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (ctx.output_count() != 1 || x->type().quantized() || ctx.output_type().quantized())
    return UnsupportedError("quantized operands are unsupported");
  return ctx.Emit("cast", {x}, CastAttrs{ctx.output_type().dtype});
}

// The positions along an axis.
Status ImportHloIota(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, HloOptions<fb::StablehloIotaOptions>(ctx));
  NN_ASSIGN(Dims dims, HloOutputDims(ctx));
  const int64_t axis = o->iota_dimension();
  if (axis < 0 || axis >= static_cast<int64_t>(dims.size()))
    return ModelError("axis {} does not exist", axis);
  const int64_t count = dims[static_cast<size_t>(axis)].value();
  if (count > kMaxIota) return UnsupportedError("more than {} positions are unsupported", kMaxIota);
  HloList one(dims.size(), 1);
  one[static_cast<size_t>(axis)] = count;
  NN_ASSIGN(TensorBuilder positions, TensorBuilder::Create(ctx.output_type().dtype, one));
  for (int64_t i = 0; i < count; ++i)
    IsFloat(positions.dtype()) ? positions.SetDouble(i, static_cast<double>(i))
                               : positions.SetInt(i, i);
  return ctx.Emit("expand", {ctx.Constant(positions.Finish())}, ExpandAttrs{std::move(dims)});
}

// x as [batch, free, contracted] or, if `last_free`, [batch, contracted, free], each one axis.
struct DotOperand {
  Value* x = nullptr;
  HloList batch, free;  // sizes
};

Result<DotOperand> DotOperandOf(ImportContext& ctx, size_t i, const HloList& batch,
                                const HloList& contracted, bool last_free) {
  NN_ASSIGN(Value* const x, ctx.Ranked(i));
  const auto dims = x->type().const_dims();
  if (!dims || x->type().quantized())
    return UnsupportedError("operand {} is {}; expected a known size, without quantization", i,
                            x->type().ToString());
  DotOperand out;
  std::vector<bool> used(dims->size(), false);
  const auto sizes = [&](const HloList& axes) -> Result<HloList> {
    HloList list;
    for (const int64_t a : axes) {
      if (a < 0 || a >= static_cast<int64_t>(used.size()) || used[static_cast<size_t>(a)])
        return ModelError("the axes of operand {} do not fit {}", i, x->type().ToString());
      used[static_cast<size_t>(a)] = true;
      list.push_back((*dims)[static_cast<size_t>(a)]);
    }
    return list;
  };
  NN_ASSIGN(out.batch, sizes(batch));
  NN_ASSIGN(const HloList inner, sizes(contracted));
  HloList free;
  for (size_t a = 0; a < used.size(); ++a)
    if (!used[a]) {
      free.push_back(static_cast<int64_t>(a));
      out.free.push_back((*dims)[a]);
    }
  HloList perm = batch;
  for (const HloList* part : last_free ? std::array{&contracted, &std::as_const(free)}
                                       : std::array{&std::as_const(free), &contracted})
    perm.insert(perm.end(), part->begin(), part->end());
  const auto b = CheckedElements(out.batch), f = CheckedElements(out.free),
             k = CheckedElements(inner);
  if (!b || !f || !k) return ModelError("operand {} is too large", i);
  const Dim rows(last_free ? *k : *f), columns(last_free ? *f : *k);
  NN_ASSIGN(out.x, ctx.Build(Reshape(Transpose(x, perm), {Dim(*b), rows, columns})));
  return out;
}

Status ImportHloDotGeneral(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, HloOptions<fb::StablehloDotGeneralOptions>(ctx));
  NN_ASSIGN(const DotOperand a,
            DotOperandOf(ctx, 0, ListOf<int64_t>(o->lhs_batching_dimensions()),
                         ListOf<int64_t>(o->lhs_contracting_dimensions()), false));
  NN_ASSIGN(const DotOperand b,
            DotOperandOf(ctx, 1, ListOf<int64_t>(o->rhs_batching_dimensions()),
                         ListOf<int64_t>(o->rhs_contracting_dimensions()), true));
  if (a.batch != b.batch || a.x->type().dim(2) != b.x->type().dim(1))
    return ModelError("the operands do not fit: {} and {}", ctx.input(0)->type().ToString(),
                      ctx.input(1)->type().ToString());
  HloList dims = a.batch;
  dims.insert(dims.end(), a.free.begin(), a.free.end());
  dims.insert(dims.end(), b.free.begin(), b.free.end());
  return ctx.Emit("reshape", {Matmul(a.x, b.x)}, ReshapeAttrs{ToDims(dims)});
}

constexpr ImportRow kStablehloImports[] = {
    {.op = Op::STABLEHLO_RESHAPE, .import = ImportHloReshape, .inputs = "a"},
    {.op = Op::STABLEHLO_TRANSPOSE, .import = ImportHloTranspose, .inputs = "a"},
    {.op = Op::STABLEHLO_CONCATENATE, .import = ImportHloConcatenate, .inputs = "a"},
    {.op = Op::STABLEHLO_BROADCAST_IN_DIM, .import = ImportHloBroadcast, .inputs = "r"},
    {.op = Op::STABLEHLO_SLICE, .import = ImportHloSlice, .inputs = "r"},
    {.op = Op::STABLEHLO_DYNAMIC_SLICE, .import = ImportHloDynamicSlice, .inputs = "r"},
    {.op = Op::STABLEHLO_CBRT, .import = ImportHloCbrt, .inputs = "a"},
    {.op = Op::STABLEHLO_CLAMP, .import = ImportHloClamp, .inputs = "aaa"},
    {.op = Op::STABLEHLO_COMPARE, .import = ImportHloCompare, .inputs = "a"},
    {.op = Op::STABLEHLO_CONVERT, .import = ImportHloConvert, .inputs = "a"},
    {.op = Op::STABLEHLO_IOTA, .import = ImportHloIota},
    {.op = Op::STABLEHLO_DOT_GENERAL, .import = ImportHloDotGeneral},
};

}  // namespace

Family StablehloFamily() {
  return {.imports = kStablehloImports};
}

}  // namespace nn::tflite
