#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "formats/tflite/family.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/generate.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/movement.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

Status ImportGather(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::GatherOptions>());
  return ctx.Emit("gather", ctx.inputs(), GatherAttrs{o->axis(), o->batch_dims()});
}

Status ImportGatherNd(ImportContext& ctx) {
  return ctx.Emit("gather_nd", ctx.inputs(), GatherNdAttrs{});
}

// Rows of a table. Those of integers are multiplied by the scale of the table or of each row, which
// is no hybrid kernel: there is no arithmetic on quantized inputs.
Status ImportEmbeddingLookup(ImportContext& ctx) {
  Value* const ids = ctx.input(0);
  Value* table = ctx.input(1);
  const auto quant = table->type().quant;
  if (ctx.output_type().dtype == DType::kF32 && quant != nullptr) {
    if (!quant->per_axis()) {
      NN_ASSIGN(Value* const rows, ctx.Add("gather", {table, ids}, GatherAttrs{}, quant));
      return ctx.Emit("dequantize", {rows}, DequantizeAttrs{});
    }
    NN_ASSIGN(table, ctx.Add("dequantize", {table}, DequantizeAttrs{}));
  }
  if (table->dtype() != ctx.output_type().dtype)
    return UnsupportedError("a {} table with {} output is unsupported (hybrid kernel)",
                            table->type().ToString(), DTypeName(ctx.output_type().dtype));
  return ctx.Emit("gather", {table, ids}, GatherAttrs{});
}

// Whether a constant holds no two equal rows.
bool HasDistinctRows(const Value* indices) {
  if (!indices->is_constant() || indices->type().rank() == 0) return false;
  const std::vector<int64_t> all = indices->constant().ToInts();
  const auto width = static_cast<size_t>(indices->constant().dims().back());
  std::set<std::vector<int64_t>> rows;
  for (size_t at = 0; at + width <= all.size() && width > 0; at += width) {
    const auto row = all.begin() + static_cast<std::ptrdiff_t>(at);
    if (!rows.emplace(row, row + static_cast<std::ptrdiff_t>(width)).second) return false;
  }
  return true;
}

// Updates to one element are summed, starting at zero.
Status ImportScatterNd(ImportContext& ctx) {
  Value* const indices = ctx.input(0);
  Value* const updates = ctx.input(1);
  Value* const shape = ctx.input(2);
  NN_ASSIGN(Tensor zero, ZeroElement(Type(updates->dtype(), {})));
  NN_ASSIGN(zero, zero.Reshaped({}));
  // The stored integers of quantized updates are summed, which is a sum of real numbers only where
  // indices differ.
  const auto quant = HasDistinctRows(indices) ? updates->type().quant : nullptr;
  NN_ASSIGN(Value* const zeros,
            ctx.Add("expand", {ctx.Constant(zero, quant), shape}, ExpandAttrs{}, quant));
  const bool sums = updates->dtype() != DType::kBool && quant == nullptr;
  const Reduction reduction = sums ? Reduction::kAdd : Reduction::kNone;
  return ctx.Emit("scatter_nd", {zeros, indices, updates}, ScatterNdAttrs{reduction});
}

Status ImportOneHot(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::OneHotOptions>());
  std::vector<Value*> values = {ctx.input(3), ctx.input(2)};
  for (Value*& v : values) {
    NN_ASSIGN(v, ctx.Add("reshape", {v}, ReshapeAttrs{{Dim(1)}, false}, v->type().quant));
  }
  NN_ASSIGN(Value* const pair, ctx.Add("concat", values, ConcatAttrs{0}, values[0]->type().quant));
  return ctx.Emit("one_hot", {ctx.input(0), ctx.input(1), pair}, OneHotAttrs{o->axis(), false});
}

// Positions are rows in the file and columns in the graph.
Status ImportWhere(ImportContext& ctx) {
  return ctx.Emit("transpose", {Apply("non_zero", {ctx.input(0)})}, TransposeAttrs{{1, 0}});
}

Status ImportUnique(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::UniqueOptions>());
  Value* const x = ctx.input(0);
  UniqueAttrs a;
  a.sorted = false;
  a.index_type = o->idx_out_type() == fb::TensorType::INT64 ? DType::kI64 : DType::kI32;
  NN_ASSIGN(Node* const node, ctx.graph().Append("unique", {x}, a, 3));
  ctx.SetOutput(0, node->output(0));
  if (ctx.output_count() > 1) ctx.SetOutput(1, node->output(2));
  return {};
}

Status ImportReverseSequence(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ReverseSequenceOptions>());
  return ctx.Emit("reverse_sequence", ctx.inputs(),
                  ReverseSequenceAttrs{o->batch_dim(), o->seq_dim()});
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

// Indices must be i16, i32 or i64. Constant negative indices are normalized, because GATHER and
// GATHER_ND do not support them. Index i refers to an axis of size sizes[i % sizes.size()].
Result<TensorIndex> IndexTensor(ExportContext& ctx, const Value* indices,
                                std::span<const Dim> sizes) {
  if (!indices->is_constant()) return ctx.TensorOf(indices);
  const std::vector<int64_t> list = indices->constant().ToInts();
  if (std::all_of(list.begin(), list.end(), [](int64_t i) { return i >= 0; }))
    return ctx.TensorOf(indices);
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(indices->dtype(), indices->constant().dims()));
  for (size_t i = 0; i < list.size(); ++i) {
    const Dim* const size = sizes.empty() ? nullptr : &sizes[i % sizes.size()];
    if (list[i] < 0 && (size == nullptr || !size->is_const()))
      return UnsupportedError("a negative index needs an axis of known size");
    b.SetInt(static_cast<int64_t>(i), list[i] < 0 ? list[i] + size->value() : list[i]);
  }
  return ctx.AddConstant(b.Finish(), indices->name());
}

Status WriteGather(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<GatherAttrs>();
  const Type& x = node.input(0)->type();
  const int64_t axis = a.axis < 0 ? a.axis + x.rank() : a.axis;
  VersionTraits traits;
  traits.batch_dims = a.batch_dims != 0;
  NN_ASSIGN(const TensorIndex indices,
            IndexTensor(ctx, node.input(1), {&(*x.dims)[static_cast<size_t>(axis)], 1}));
  ctx.AddOperator(Op::GATHER, {ctx.ResultsOf(node), {ctx.TensorOf(node.input(0)), indices}},
                  fb::CreateGatherOptions(ctx.builder(), static_cast<int32_t>(axis),
                                          static_cast<int32_t>(a.batch_dims)),
                  traits);
  return {};
}

Status WriteGatherNd(ExportContext& ctx, const Node& node) {
  const Value* const indices = node.input(1);
  std::span<const Dim> sizes;
  if (const auto& x = node.input(0)->type().dims; x && indices->is_constant())
    sizes = std::span(*x).first(static_cast<size_t>(indices->constant().dims().back()));
  NN_ASSIGN(const TensorIndex index, IndexTensor(ctx, indices, sizes));
  ctx.AddOperator(Op::GATHER_ND, {ctx.ResultsOf(node), {ctx.TensorOf(node.input(0)), index}},
                  fb::CreateGatherNdOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotGatherNd(const Node& node) {
  if (node.attrs<GatherNdAttrs>().batch_dims != 0) return "batch_dims of GATHER_ND must be 0";
  return std::nullopt;
}

// SCATTER_ND adds to zeros.
Status WriteScatterNd(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const TensorIndex shape, ctx.AddInts(node.input(0)->constant().dims(), "shape"));
  ctx.AddOperator(Op::SCATTER_ND,
                  {ctx.ResultsOf(node),
                   {ctx.TensorAs(node.input(1), DType::kI32), ctx.TensorOf(node.input(2)), shape}},
                  fb::CreateScatterNdOptions(ctx.builder()));
  return {};
}

Reduction ReductionOf(const Node& node) {
  return node.attrs().Is<ScatterNdAttrs>() ? node.attrs<ScatterNdAttrs>().reduction
                                           : node.attrs<ScatterElementsAttrs>().reduction;
}

// What remains of a scatter that is neither SCATTER_ND nor expressed by other operators.
std::optional<std::string> WhyNotScatter(const Node& node) {
  if (auto reason = WhyNotScatterTypes(node)) return reason;
  const auto shape = [&](size_t i) { return node.input(i)->type().const_dims(); };
  const auto indices = shape(1);
  if (!indices || !shape(0)) return "x and the indices must have constant shapes";
  if (node.attrs().Is<ScatterNdAttrs>() && !indices->empty() && indices->back() == 0)
    return "the index vectors have no entries";
  for (size_t i = 0; i < 2; ++i)
    if (Product(*node.input(i)->type().dims) == 0) return "x and the indices must not be empty";
  if (node.input(1)->is_constant() && ReductionOf(node) == Reduction::kNone)
    return "an index is out of range";
  return "x or the updates have too many elements";
}

std::optional<std::string> WhyNotScatterNd(const Node& node) {
  const DType dtype = node.input(0)->dtype();
  const bool adds = ReductionOf(node) == Reduction::kAdd || dtype == DType::kBool;
  const bool has_kernel = dtype == DType::kF32 || dtype == DType::kI32 || dtype == DType::kI64 ||
                          dtype == DType::kI8 || dtype == DType::kU8 || dtype == DType::kBool;
  // SCATTER_ND updates zeros.
  if (adds && has_kernel && node.input(2)->type().rank() != 0 && IsZeros(*node.input(0)))
    return std::nullopt;
  return WhyNotScatter(node);
}

Status WriteOneHot(ExportContext& ctx, const Node& node) {
  const Value* values = node.input(2);
  NN_ASSIGN(const Tensor both, values->constant().Reshaped({2}));
  std::vector<TensorIndex> inputs = {ctx.TensorOf(node.input(0)), kNoTensor};
  NN_ASSIGN(inputs[1], ctx.AddInt(node.input(1)->constant().GetInt(0), "depth"));
  for (const int64_t i : {1, 0}) {
    NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(both.dtype(), {}));
    b.Copy(0, both, i);
    inputs.push_back(ctx.AddConstant(b.Finish(), i == 1 ? "on" : "off"));
  }
  // ONE_HOT counts from the end for -1 only.
  const int64_t given = node.attrs<OneHotAttrs>().axis;
  const int64_t axis = given < -1 ? given + node.output()->type().rank() : given;
  ctx.AddOperator(Op::ONE_HOT, {ctx.ResultsOf(node), inputs},
                  fb::CreateOneHotOptions(ctx.builder(), static_cast<int32_t>(axis)));
  return {};
}

std::optional<std::string> WhyNotOneHot(const Node& node) {
  if (!node.input(1)->is_constant() || !node.input(2)->is_constant())
    return "the depth and the values must be constant";
  if (node.attrs<OneHotAttrs>().wrap) return "negative indices of ONE_HOT are unsupported";
  return std::nullopt;
}

// WHERE returns positions as rows.
Status WriteNonZero(ExportContext& ctx, const Node& node) {
  const Type& y = node.output()->type();
  const TensorIndex positions =
      ctx.AddTensor(y.WithDims({y.dim(1), y.dim(0)}), node.output()->name());
  ctx.AddOperator(Op::WHERE, {{positions}, {ctx.TensorOf(node.input(0))}},
                  fb::CreateWhereOptions(ctx.builder()));
  NN_ASSIGN(const TensorIndex perm, ctx.AddInts({1, 0}, "perm"));
  ctx.AddOperator(Op::TRANSPOSE, {ctx.ResultsOf(node), {positions, perm}},
                  fb::CreateTransposeOptions(ctx.builder()));
  return {};
}

Status WriteUnique(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<UniqueAttrs>();
  TensorIndex inverse = kNoTensor;
  if (node.outputs().size() > 2)
    inverse = ctx.TensorOf(node.output(2));
  else
    inverse = ctx.AddTensor(Type(a.index_type, *node.input(0)->type().dims), "inverse");
  ctx.AddOperator(
      Op::UNIQUE, {{ctx.TensorOf(node.output()), inverse}, {ctx.TensorOf(node.input(0))}},
      fb::CreateUniqueOptions(ctx.builder(), a.index_type == DType::kI64 ? fb::TensorType::INT64
                                                                         : fb::TensorType::INT32));
  return {};
}

std::optional<std::string> WhyNotUnique(const Node& node) {
  const auto& a = node.attrs<UniqueAttrs>();
  if (a.sorted) return "sorted must be 0; UNIQUE keeps the order of the input";
  if (!node.input(0)->type().ranked() || node.input(0)->type().rank() != 1)
    return "UNIQUE needs an input of rank 1";
  for (const size_t i : {size_t{1}, size_t{3}})
    if (i < node.outputs().size() &&
        (!node.output(i)->uses().empty() || node.output(i)->is_output()))
      return "UNIQUE has no outputs for first positions and counts";
  return std::nullopt;
}

Status WriteReverseSequence(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ReverseSequenceAttrs>();
  ctx.AddOperator(Op::REVERSE_SEQUENCE, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateReverseSequenceOptions(ctx.builder(), static_cast<int32_t>(a.time_axis),
                                                   static_cast<int32_t>(a.batch_axis)));
  return {};
}

}  // namespace

std::optional<std::string> WhyNotScatterTypes(const Node& node) {
  const Type& x = node.input(0)->type();
  const DType index = node.input(1)->dtype();
  const Reduction reduction = ReductionOf(node);
  const auto any = [](DType t, std::initializer_list<DType> of) {
    return std::find(of.begin(), of.end(), t) != of.end();
  };
  if (!any(index, {DType::kI8, DType::kI16, DType::kI32, DType::kI64, DType::kU8}))
    return fmt::format("TensorFlow Lite does not compute with {} indices", DTypeName(index));
  if (reduction == Reduction::kNone
          ? any(x.dtype, {DType::kF32, DType::kI32, DType::kI64, DType::kI16, DType::kI8,
                          DType::kU8, DType::kI4, DType::kBool})
          : !x.quantized() && any(x.dtype, {DType::kF32, DType::kI32, DType::kI64}))
    return std::nullopt;
  return fmt::format("TensorFlow Lite has no scatter of {} with reduction {}", x.ToString(),
                     EnumName(reduction));
}

namespace {

constexpr ImportRow kGatherImports[] = {
    {.op = Op::GATHER, .import = ImportGather},
    {.op = Op::GATHER_ND, .import = ImportGatherNd},
    {.op = Op::EMBEDDING_LOOKUP, .import = ImportEmbeddingLookup, .inputs = "aa"},
    {.op = Op::SCATTER_ND, .import = ImportScatterNd, .inputs = "aaa"},
    {.op = Op::ONE_HOT, .import = ImportOneHot, .inputs = "aaaa"},
    {.op = Op::WHERE, .import = ImportWhere, .inputs = "a"},
    {.op = Op::UNIQUE, .import = ImportUnique, .inputs = "a"},
    {.op = Op::REVERSE_SEQUENCE, .import = ImportReverseSequence},
};

constexpr ExportRow kGatherExports[] = {
    {.op = "gather", .write = WriteGather, .why_not = WhyNotUnranked, .any_type = true},
    {.op = "gather_nd", .write = WriteGatherNd, .why_not = WhyNotGatherNd, .any_type = true},
    {.op = "scatter_nd", .write = WriteScatterNd, .why_not = WhyNotScatterNd},
    {.op = "scatter_elements", .why_not = WhyNotScatter},
    {.op = "one_hot", .write = WriteOneHot, .why_not = WhyNotOneHot},
    {.op = "non_zero", .write = WriteNonZero},
    {.op = "unique", .write = WriteUnique, .why_not = WhyNotUnique},
    {.op = "reverse_sequence", .write = WriteReverseSequence, .any_type = true},
};

}  // namespace

Family GatherFamily() {
  return {.imports = kGatherImports, .exports = kGatherExports};
}

}  // namespace nn::tflite
