#include "ops/nn/detect/non_max_suppression.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/common/padded_list.h"
#include "formats/common/suppression.h"
#include "formats/tflite/export/rewrites.h"
#include "formats/tflite/family.h"
#include "ops/array/shape_of.h"
#include "ops/math/bit_cast.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"

// NON_MAX_SUPPRESSION_V4 selects from one list of boxes and scores. It returns a list of
// max_output_size indices, filled up with zeros, and the number of selected ones. A box is dropped
// if its intersection over union is the threshold or greater; the graph's operator drops it if it
// is greater, so the thresholds are neighbors in float32. Boxes are in descending order of their
// scores; runtimes may have boxes of equal scores in another order than the graph's. V5 has a
// second output, the scores of the selected boxes, and a sigma; above 0 it lowers the scores of
// boxes that overlap, which is another operator of the graph.
namespace nn::tflite {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

enum NmsInput : size_t { kBoxes, kScores, kMaxBoxes, kIouThreshold, kScoreThreshold, kSigma };

// ==== From TensorFlow Lite =======================================================================

// The greatest number below a threshold; -1 for 0 and less, as no intersection is negative.
Term Below(const Term& threshold) {
  const Term bits = Apply("bit_cast", {threshold}, BitCastAttrs{.to = DType::kI32});
  const Term below = Apply("bit_cast", {bits - 1}, BitCastAttrs{.to = DType::kF32});
  return Select(Greater(threshold, 0), below, -1);
}

// Whether the scores of overlapping boxes are lowered, as far as known.
bool IsSoft(const ImportContext& ctx) {
  const Value* const sigma = ctx.input(kSigma);
  return sigma != nullptr && !(sigma->is_constant() && sigma->constant().elements() == 1 &&
                               !(sigma->constant().GetDouble(0) > 0));
}

// The outputs from the list of selected boxes (i32), and their scores if the operator has them.
Status SetSelection(ImportContext& ctx, const Term& list, const Term& scores, const Term& count) {
  NN_ASSIGN(const Term filled, PaddedList(ctx, list, Tensor::Scalar(int32_t{0}), count));
  std::vector<Term> results = {filled};
  if (!scores.is_absent() && ctx.output_count() > 1) {
    NN_ASSIGN(results.emplace_back(), PaddedList(ctx, scores, Tensor::Scalar(0.0f), count));
  }
  results.push_back(Apply("size_of", {list}, SizeOfAttrs{.dtype = DType::kI32}));
  return ctx.EmitTerms(results);
}

Status ImportSoft(ImportContext& ctx, const Term& count) {
  const auto selected =
      ApplyAll("soft_non_max_suppression",
               {ctx.input(kBoxes), ctx.input(kScores), count, ctx.input(kIouThreshold),
                ctx.input(kScoreThreshold), ctx.input(kSigma)},
               {}, 2);
  return SetSelection(ctx, Cast(selected[0], DType::kI32), selected[1], count);
}

Status ImportNonMaxSuppression(ImportContext& ctx) {
  Value *const boxes = ctx.input(kBoxes), *const scores = ctx.input(kScores);
  if (boxes->type().rank() != 2 || scores->type().rank() != 1)
    return ModelError("the boxes are {} and the scores {}; expected ranks 2 and 1",
                      boxes->type().ToString(), scores->type().ToString());
  const Term count = Reshape(Cast(ctx.input(kMaxBoxes), DType::kI64), {1});
  if (IsSoft(ctx)) return ImportSoft(ctx, count);
  const Term selected = Apply("non_max_suppression",
                              {ExpandDims(boxes, {0}), ExpandDims(scores, {0, 1}), count,
                               Below(ctx.input(kIouThreshold)), ctx.input(kScoreThreshold)},
                              NonMaxSuppressionAttrs{});
  const Term list = Cast(Squeeze(Slice(selected, 1, 2, 3), {1}), DType::kI32);
  const Term best = ctx.input_count() > kSigma ? Gather(scores, list, 0) : Term();
  return SetSelection(ctx, list, best, count);
}

// ==== To TensorFlow Lite =========================================================================

// A scalar, or the element of a list.
TensorIndex ScalarOf(ExportContext& ctx, const Value* v) {
  if (v->type().rank() == 0) return ctx.TensorOf(v);
  const TensorIndex to = ctx.AddTensor(Type(v->dtype(), Dims{}), v->name());
  const std::vector<int32_t> axes = {0};
  ctx.AddOperator(fb::BuiltinOperator::SQUEEZE, {{to}, {ctx.TensorOf(v)}},
                  fb::CreateSqueezeOptions(ctx.builder(), ctx.builder().CreateVector(axes)));
  return to;
}

// The number of boxes to select in 32 bits: not negative, and not more than there are.
Result<TensorIndex> WriteLimit(ExportContext& ctx, const Value* limit, int64_t boxes) {
  constexpr std::string_view kName = "max_output_size";
  if (limit == nullptr) return ctx.AddInt(0, kName);
  if (limit->is_constant())
    return ctx.AddInt(std::clamp<int64_t>(limit->constant().GetInt(0), 0, boxes), kName);
  const auto number = [&](int64_t v) { return ctx.AddConstant(Tensor::Scalar(v), kName); };
  const TensorIndex low = ctx.AddTensor(Type(DType::kI64, Dims{}), std::string(kName));
  ctx.AddOperator(fb::BuiltinOperator::MINIMUM, {{low}, {ScalarOf(ctx, limit), number(boxes)}},
                  fb::CreateMaximumMinimumOptions(ctx.builder()));
  const TensorIndex wide = ctx.AddTensor(Type(DType::kI64, Dims{}), std::string(kName));
  ctx.AddOperator(fb::BuiltinOperator::MAXIMUM, {{wide}, {low, number(0)}},
                  fb::CreateMaximumMinimumOptions(ctx.builder()));
  const TensorIndex size = ctx.AddTensor(Type(DType::kI32, Dims{}), std::string(kName));
  ctx.AddCast(wide, size);
  return size;
}

// The least number above a threshold, by its bits; 0 for negative ones, which every intersection
// exceeds.
TensorIndex Above(ExportContext& ctx, const Value* threshold) {
  constexpr std::string_view kName = "iou_threshold";
  if (threshold == nullptr || threshold->is_constant()) {
    const float t =
        threshold == nullptr ? 0 : static_cast<float>(threshold->constant().GetDouble(0));
    return ctx.AddConstant(Tensor::Scalar(std::nextafter(t, kInfinity)), kName);
  }
  auto& builder = ctx.builder();
  const auto temporary = [&](DType dtype) {
    return ctx.AddTensor(Type(dtype, Dims{}), std::string(kName));
  };
  const auto number = [&](auto v) { return ctx.AddConstant(Tensor::Scalar(v), kName); };
  const TensorIndex unsigned_zero = temporary(DType::kF32);  // -0 as +0
  ctx.AddOperator(fb::BuiltinOperator::ADD,
                  {{unsigned_zero}, {ScalarOf(ctx, threshold), number(0.0f)}},
                  fb::CreateAddOptions(builder));
  const TensorIndex bits = temporary(DType::kI32), next = temporary(DType::kI32),
                    positive = temporary(DType::kI32), above = temporary(DType::kF32);
  ctx.AddOperator(fb::BuiltinOperator::BITCAST, {{bits}, {unsigned_zero}},
                  fb::CreateBitcastOptions(builder));
  ctx.AddOperator(fb::BuiltinOperator::ADD, {{next}, {bits, number(int32_t{1})}},
                  fb::CreateAddOptions(builder));
  ctx.AddOperator(fb::BuiltinOperator::MAXIMUM, {{positive}, {next, number(int32_t{0})}},
                  fb::CreateMaximumMinimumOptions(builder));
  ctx.AddOperator(fb::BuiltinOperator::BITCAST, {{above}, {positive}},
                  fb::CreateBitcastOptions(builder));
  return above;
}

// The first `count` elements of a list.
class ListStart {
 public:
  static Result<ListStart> Create(ExportContext& ctx, TensorIndex count) {
    ListStart out(ctx);
    NN_ASSIGN(const TensorIndex axis, ctx.AddInt(0, "axis"));
    out.end_ = ctx.AddTensor(Type(DType::kI32, {Dim(1)}), "end");
    ctx.AddOperator(fb::BuiltinOperator::EXPAND_DIMS, {{out.end_}, {count, axis}},
                    fb::CreateExpandDimsOptions(ctx.builder()));
    NN_ASSIGN(out.begin_, ctx.AddInts({0}, "begin"));
    NN_ASSIGN(out.strides_, ctx.AddInts({1}, "strides"));
    return out;
  }

  void Write(TensorIndex from, TensorIndex to) const {
    ctx_->AddOperator(fb::BuiltinOperator::STRIDED_SLICE, {{to}, {from, begin_, end_, strides_}},
                      fb::CreateStridedSliceOptions(ctx_->builder()));
  }

 private:
  explicit ListStart(ExportContext& ctx) : ctx_(&ctx) {}

  ExportContext* ctx_;
  TensorIndex begin_ = kNoTensor, end_ = kNoTensor, strides_ = kNoTensor;
};

// One list of boxes and scores as the graph's result: [n, 3] with zeros as batch and row.
Status WriteNonMaxSuppression(ExportContext& ctx, const Node& node) {
  auto& builder = ctx.builder();
  const int64_t boxes = node.input(kBoxes)->type().dim(1).value();
  const auto squeezed = [&](size_t input, Dims dims, const std::vector<int32_t>& axes) {
    const Value* v = node.input(input);
    const TensorIndex to = ctx.AddTensor(Type(DType::kF32, std::move(dims)), v->name());
    ctx.AddOperator(fb::BuiltinOperator::SQUEEZE, {{to}, {ctx.TensorOf(v)}},
                    fb::CreateSqueezeOptions(builder, builder.CreateVector(axes)));
    return to;
  };
  const TensorIndex list = squeezed(kBoxes, {Dim(boxes), Dim(4)}, {0});
  const TensorIndex scores = squeezed(kScores, {Dim(boxes)}, {0, 1});
  NN_ASSIGN(const TensorIndex size, WriteLimit(ctx, node.input(kMaxBoxes), boxes));
  const Dim& n = node.output()->type().dim(0);
  const TensorIndex indices = ctx.AddTensor(Type(DType::kI32, {n}), "indices");
  const TensorIndex count = ctx.AddTensor(Type(DType::kI32, Dims{}), "count");
  const Value* least = node.input(kScoreThreshold);
  ctx.AddOperator(
      fb::BuiltinOperator::NON_MAX_SUPPRESSION_V4,
      {{indices, count},
       {list, scores, size, Above(ctx, node.input(kIouThreshold)),
        least == nullptr ? ctx.AddConstant(Tensor::Scalar(-kInfinity), "score_threshold")
                         : ScalarOf(ctx, least)}},
      fb::CreateNonMaxSuppressionV4Options(builder));
  // The first `count` of them, in the last column.
  NN_ASSIGN(const ListStart start, ListStart::Create(ctx, count));
  const TensorIndex selected = ctx.AddTensor(Type(DType::kI32, {n}), "selected");
  start.Write(indices, selected);
  NN_ASSIGN(const TensorIndex last, ctx.AddInt(1, "axis"));
  const TensorIndex column = ctx.AddTensor(Type(DType::kI32, {n, Dim(1)}), "column");
  ctx.AddOperator(fb::BuiltinOperator::EXPAND_DIMS, {{column}, {selected, last}},
                  fb::CreateExpandDimsOptions(builder));
  const TensorIndex pads =
      ctx.AddConstant(Tensor::Of<int32_t>({2, 2}, std::vector<int32_t>{0, 0, 2, 0}), "paddings");
  const TensorIndex rows = ctx.AddTensor(Type(DType::kI32, {n, Dim(3)}), "rows");
  ctx.AddOperator(fb::BuiltinOperator::PAD, {{rows}, {column, pads}},
                  fb::CreatePadOptions(builder));
  ctx.AddCast(rows, ctx.ResultOf(node));
  return {};
}

std::optional<std::string> WhyNotNonMaxSuppression(const Node& node) {
  if (auto reason = WhyNotOneList(node)) return reason;
  if (node.input(kBoxes)->type().dim(1).value() == 0)
    return "NON_MAX_SUPPRESSION_V4 needs at least one box";
  for (const size_t i : {size_t{kMaxBoxes}, size_t{kIouThreshold}, size_t{kScoreThreshold}})
    if (node.input(i) != nullptr && !node.input(i)->type().ranked())
      return "the ranks of its limits must be known";
  if (node.attrs<NonMaxSuppressionAttrs>().center_point_box)
    return "NON_MAX_SUPPRESSION_V4 needs the corners of boxes";
  return std::nullopt;
}

Status WriteSoft(ExportContext& ctx, const Node& node) {
  const int64_t boxes = node.input(kBoxes)->type().dim(0).value();
  NN_ASSIGN(const TensorIndex size, WriteLimit(ctx, node.input(kMaxBoxes), boxes));
  const Dim& n = node.output()->type().dim(0);
  const TensorIndex indices = ctx.AddTensor(Type(DType::kI32, {n}), "indices"),
                    scores = ctx.AddTensor(Type(DType::kF32, {n}), "scores"),
                    count = ctx.AddTensor(Type(DType::kI32, Dims{}), "count"),
                    selected = ctx.AddTensor(Type(DType::kI32, {n}), "selected");
  ctx.AddOperator(fb::BuiltinOperator::NON_MAX_SUPPRESSION_V5,
                  {{indices, scores, count},
                   {ctx.TensorOf(node.input(kBoxes)), ctx.TensorOf(node.input(kScores)), size,
                    ScalarOf(ctx, node.input(kIouThreshold)),
                    ScalarOf(ctx, node.input(kScoreThreshold)), ScalarOf(ctx, node.input(kSigma))}},
                  fb::CreateNonMaxSuppressionV5Options(ctx.builder()));
  NN_ASSIGN(const ListStart start, ListStart::Create(ctx, count));
  start.Write(indices, selected);
  ctx.AddCast(selected, ctx.ResultOf(node));
  start.Write(scores, ctx.ResultOf(node, 1));
  return {};
}

std::optional<std::string> WhyNotSoft(const Node& node) {
  const Dim& boxes = node.input(kBoxes)->type().dim(0);
  if (!boxes.is_const()) return "the number of boxes must be constant";
  if (boxes == 0) return "NON_MAX_SUPPRESSION_V5 needs at least one box";
  for (const size_t i :
       {size_t{kMaxBoxes}, size_t{kIouThreshold}, size_t{kScoreThreshold}, size_t{kSigma}})
    if (!node.input(i)->type().ranked()) return "the ranks of its limits must be known";
  return std::nullopt;
}

constexpr ImportRow kNonMaxSuppressionImports[] = {
    {.op = fb::BuiltinOperator::NON_MAX_SUPPRESSION_V4,
     .import = ImportNonMaxSuppression,
     .inputs = "rraaa"},
    {.op = fb::BuiltinOperator::NON_MAX_SUPPRESSION_V5,
     .import = ImportNonMaxSuppression,
     .inputs = "rraaa"},
};

constexpr ExportRow kNonMaxSuppressionExports[] = {
    {.op = "non_max_suppression",
     .write = WriteNonMaxSuppression,
     .why_not = WhyNotNonMaxSuppression},
    {.op = "soft_non_max_suppression", .write = WriteSoft, .why_not = WhyNotSoft},
};

}  // namespace

Result<bool> CornersOfOneList(Graph& graph, Node& node) {
  return OneListEach(graph, node, false);
}

Family NonMaxSuppressionFamily() {
  return {.imports = kNonMaxSuppressionImports, .exports = kNonMaxSuppressionExports};
}

}  // namespace nn::tflite
