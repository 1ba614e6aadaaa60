// Operators that scatter single elements: STABLEHLO_SCATTER, and max unpooling, which is a custom
// operator.
#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "formats/tflite/family.h"
#include "formats/tflite/file/tensor.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

Result<std::vector<int64_t>> ScatterDims(const Value* v, std::string_view name) {
  const auto dims = v->type().const_dims();
  if (!dims) return UnsupportedError("the shape of {} must be constant", name);
  return *dims;
}

bool Contains(const std::vector<int64_t>& list, int64_t v) {
  return std::ranges::find(list, v) != list.end();
}

// How an update is combined with the existing element.
Result<Reduction> ReductionOf(const ImportContext& ctx, int64_t subgraph) {
  const fb::SubGraph* const sub = tflite::At(ctx.model().root->subgraphs(), subgraph);
  if (sub == nullptr) return ModelError("subgraph {} does not exist", subgraph);
  if (SizeOf(sub->operators()) == 0) return Reduction::kNone;
  const fb::OperatorCode* const code = tflite::At(ctx.model().root->operator_codes(),
                                                  tflite::At(sub->operators(), 0)->opcode_index());
  if (code != nullptr && SizeOf(sub->operators()) == 1) switch (OperatorOf(*code)) {
      case fb::BuiltinOperator::STABLEHLO_ADD:
        return Reduction::kAdd;
      case fb::BuiltinOperator::STABLEHLO_MULTIPLY:
        return Reduction::kMul;
      case fb::BuiltinOperator::STABLEHLO_MAXIMUM:
        return Reduction::kMax;
      case fb::BuiltinOperator::STABLEHLO_MINIMUM:
        return Reduction::kMin;
      default:
        break;
    }
  return UnsupportedError(
      "an update other than none, STABLEHLO_ADD, STABLEHLO_MULTIPLY, STABLEHLO_MAXIMUM and "
      "STABLEHLO_MINIMUM is unsupported");
}

// Limit of TensorFlow Lite: updates along an axis of STABLEHLO_SCATTER, and batches of
// MaxUnpooling2D. A constant has their positions.
constexpr int64_t kMaxPositions = int64_t{1} << 22;

// The flat index of the element for each update; updates that are out of range, which have no
// effect, get the index after the last element.
class ElementIndices {
 public:
  ElementIndices(ImportContext& ctx, const fb::StablehloScatterOptions& o,
                 std::vector<int64_t> operand, std::vector<int64_t> updates)
      : ctx_(ctx),
        window_(ListOf<int64_t>(o.update_window_dims())),
        inserted_(ListOf<int64_t>(o.inserted_window_dims())),
        scattered_(ListOf<int64_t>(o.scatter_dims_to_operand_dims())),
        vector_dim_(o.index_vector_dim()),
        operand_(std::move(operand)),
        updates_(std::move(updates)) {}

  Result<Term> Run(Value* indices, int64_t elements) {
    NN_RETURN_IF_ERROR(Check(indices));
    const std::vector<int64_t> strides = Strides(operand_);
    Value* flat = ctx_.Constant(Tensor::Scalar<int64_t>(0));
    Value* inside = ctx_.Constant(Tensor::Scalar(true));
    for (size_t d = 0; d < operand_.size(); ++d) {
      const Term at = Coordinate(indices, static_cast<int64_t>(d));
      const Term reaches = And(inside, Apply("greater_equal", {at, 0}));
      NN_ASSIGN(inside, ctx_.Build(And(reaches, Less(at, operand_[d]))));
      NN_ASSIGN(flat, ctx_.Build(flat + at * strides[d]));
    }
    return Apply("expand", {Select(inside, flat, elements)}, ExpandAttrs{ToDims(updates_)});
  }

 private:
  Status Check(const Value* indices) {
    const auto rank = static_cast<int64_t>(operand_.size());
    const auto update_rank = static_cast<int64_t>(updates_.size());
    NN_ASSIGN(const auto dims, ScatterDims(indices, "the indices"));
    const auto index_rank = static_cast<int64_t>(dims.size());
    bool fits = vector_dim_ >= 0 && vector_dim_ <= index_rank;
    for (const int64_t d : window_) fits &= d >= 0 && d < update_rank;
    for (const int64_t n : updates_)
      if (n > kMaxPositions)
        return UnsupportedError("updates of more than {} along an axis are unsupported",
                                kMaxPositions);
    for (const auto& list : {inserted_, scattered_})
      for (const int64_t d : list) fits &= d >= 0 && d < rank;
    fits &= static_cast<int64_t>(window_.size() + inserted_.size()) == rank;
    const int64_t components =
        vector_dim_ == index_rank || !fits ? 1 : dims[static_cast<size_t>(vector_dim_)];
    fits &= components == static_cast<int64_t>(scattered_.size());
    // The other axes of the indices are those of the updates outside of the windows.
    std::vector<int64_t> outer, of_updates;
    for (int64_t d = 0; d < index_rank; ++d)
      if (d != vector_dim_) outer.push_back(dims[static_cast<size_t>(d)]);
    for (int64_t d = 0; d < update_rank; ++d)
      if (!Contains(window_, d)) of_updates.push_back(updates_[static_cast<size_t>(d)]);
    if (!fits || outer != of_updates)
      return ModelError("the axes of the options do not fit the operands");
    return {};
  }

  // The index of each update in axis d of the operand, as far as it is broadcast to the updates.
  Term Coordinate(Value* indices, int64_t d) const {
    Term at = Tensor::Scalar<int64_t>(0);
    if (!Contains(inserted_, d)) {
      int64_t nth = 0;  // of the axes with windows
      for (int64_t k = 0; k < d; ++k) nth += Contains(inserted_, k) ? 0 : 1;
      const auto axis = static_cast<size_t>(window_[static_cast<size_t>(nth)]);
      std::vector<int64_t> dims(updates_.size(), 1);
      dims[axis] = updates_[axis];
      std::vector<int64_t> positions(static_cast<size_t>(updates_[axis]));
      for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
      at = Tensor::Of<int64_t>(std::move(dims), positions);
    }
    const auto component = std::ranges::find(scattered_, d);
    if (component == scattered_.end()) return at;
    const int64_t c = component - scattered_.begin();
    const Term start =
        vector_dim_ < indices->type().rank() ? Slice(indices, vector_dim_, c, c + 1) : indices;
    Dims dims;
    for (size_t i = 0; i < updates_.size(); ++i)
      dims.emplace_back(Contains(window_, static_cast<int64_t>(i)) ? 1 : updates_[i]);
    return at + Reshape(start, std::move(dims));
  }

  ImportContext& ctx_;
  std::vector<int64_t> window_, inserted_, scattered_;
  int64_t vector_dim_;
  std::vector<int64_t> operand_, updates_;
};

// `values` at flat `indices` of `into`, a vector.
Term ScatterFlat(const Term& into, const Term& indices, const Term& values, int64_t count,
                 Reduction reduction) {
  return Apply("scatter_nd",
               {into, Reshape(indices, {Dim(count), Dim(1)}), Reshape(values, {Dim(count)})},
               ScatterNdAttrs{reduction});
}

Result<Value*> ScatterIndices(ImportContext& ctx, Value* v) {
  if (v->dtype() == DType::kI64) return v;
  return ctx.Build(Cast(v, DType::kI64));
}

Status ImportStablehloScatter(ImportContext& ctx) {
  const auto* const o = ctx.op().builtin_options_2_as_StablehloScatterOptions();
  if (o == nullptr) return ModelError("the options are missing or of a different kind");
  Value* const x = ctx.input(0);
  Value* const updates = ctx.input(2);
  if (x->type().quantized()) return UnsupportedError("quantized elements are unsupported");
  NN_ASSIGN(const Reduction reduction, ReductionOf(ctx, o->update_computation_subgraph_index()));
  NN_ASSIGN(const auto dims, ScatterDims(x, "the input"));
  NN_ASSIGN(const auto update_dims, ScatterDims(updates, "the updates"));
  const auto elements = CheckedElements(dims);
  const auto count = CheckedElements(update_dims);
  if (!elements || !count) return LimitError("there are too many elements");
  NN_ASSIGN(Value* const indices, ScatterIndices(ctx, ctx.input(1)));
  NN_ASSIGN(const Term at, ElementIndices(ctx, *o, dims, update_dims).Run(indices, *elements));
  NN_ASSIGN(TensorBuilder zero, TensorBuilder::Create(x->dtype(), {1}));
  zero.SetInt(0, 0);
  const Term flat = Concat({Reshape(x, {Dim(*elements)}), zero.Finish()}, 0);
  const Term y = ScatterFlat(flat, at, updates, *count, reduction);
  return ctx.Emit("reshape", {Slice(y, 0, 0, *elements)}, ReshapeAttrs{*x->type().dims});
}

// ---- Custom operators

// The options of the kernel as it stores them: numbers of 32 bits.
struct UnpoolOptions {
  enum Padding : int32_t { kUnknown, kSame, kValid };
  int32_t padding = kUnknown;
  int32_t stride_width = 0, stride_height = 0, filter_width = 0, filter_height = 0;
};

// Source: tflite/kernels/perception/max_unpooling_2d.cc. Indices count the elements of an image.
Status ImportMaxUnpooling(ImportContext& ctx) {
  NN_ASSIGN(const Blob bytes, CustomOptions(ctx.model(), ctx.op()));
  UnpoolOptions o;
  if (bytes.size() < sizeof(o)) return ModelError("the options have {} bytes", bytes.size());
  std::memcpy(&o, bytes.data(), sizeof(o));
  Value* const x = ctx.input(0);
  Value* indices = ctx.input(1);
  NN_ASSIGN(const auto dims, ScatterDims(x, "the input"));
  if (!dims.empty() && dims[0] > kMaxPositions)
    return UnsupportedError("batches of more than {} are unsupported", kMaxPositions);
  if (dims.size() != 4 || indices->type().dims != x->type().dims)
    return ModelError("the input is {} and the indices are {}; expected the same shape of rank 4",
                      x->type().ToString(), indices->type().ToString());
  const bool same = o.padding == UnpoolOptions::kSame;
  if (!same && o.padding != UnpoolOptions::kValid)
    return ModelError("unknown padding {}", o.padding);
  const auto size = [&](int64_t n, int64_t stride, int64_t filter) {
    return same ? n * stride : (n - 1) * stride + filter;
  };
  const std::vector<int64_t> out = {dims[0], size(dims[1], o.stride_height, o.filter_height),
                                    size(dims[2], o.stride_width, o.filter_width), dims[3]};
  const auto elements = CheckedElements(out);
  const auto count = CheckedElements(dims);
  if (!count || !elements || *elements < 0 || out[1] < 0 || out[2] < 0)
    return ModelError("the result would be [{}, {}, {}, {}]", out[0], out[1], out[2], out[3]);
  NN_ASSIGN(indices, ScatterIndices(ctx, indices));
  std::vector<int64_t> starts(static_cast<size_t>(dims[0]));
  for (size_t i = 0; i < starts.size(); ++i)
    starts[i] = static_cast<int64_t>(i) * (*elements / std::max<int64_t>(dims[0], 1));
  const Term at = Term(indices) + Tensor::Of<int64_t>({dims[0], 1, 1, 1}, starts);
  const Term zeros = Apply("expand", {0}, ExpandAttrs{{Dim(*elements)}});
  const Term flat = ScatterFlat(zeros, at, x, *count, Reduction::kNone);
  return ctx.Emit("reshape", {flat}, ReshapeAttrs{ToDims(out)});
}

constexpr ImportRow kElementScatterImports[] = {
    {.op = Op::STABLEHLO_SCATTER, .import = ImportStablehloScatter, .inputs = "rrr"},
    {.op = Op::CUSTOM, .import = ImportMaxUnpooling, .inputs = "rr", .custom = "MaxUnpooling2D"},
    {.op = Op::CUSTOM,
     .import = ImportMaxUnpooling,
     .inputs = "rr",
     .custom = "LiteRtMaxUnpooling2D"},
};

}  // namespace

Family ElementScatterFamily() {
  return {.imports = kElementScatterImports};
}

}  // namespace nn::tflite
