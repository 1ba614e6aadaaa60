#include "ops/support/movement.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "ops/support/types.h"
#include "ops/support/window.h"

namespace nn {

AxisTable WholeAxis(int64_t size, int64_t step) {
  AxisTable table(static_cast<size_t>(size));
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<int64_t>(i) * step;
  return table;
}

std::vector<AxisTable> WholeAxes(const std::vector<int64_t>& dims) {
  const auto strides = Strides(dims);
  std::vector<AxisTable> tables;
  for (size_t d = 0; d < dims.size(); ++d) tables.push_back(WholeAxis(dims[d], strides[d]));
  return tables;
}

namespace internal {

std::vector<Run> RunsOf(const AxisTable& table) {
  std::vector<Run> runs;
  for (size_t i = 0; i < table.size(); ++i) {
    const int64_t from = table[i];
    if (!runs.empty()) {
      Run& last = runs.back();
      const bool joins = from == kFillEntry
                             ? last.from == kFillEntry
                             : last.from != kFillEntry && last.from + last.count == from;
      if (joins) {
        ++last.count;
        continue;
      }
    }
    runs.push_back({static_cast<int64_t>(i), from, 1});
  }
  return runs;
}

}  // namespace internal

Result<Tensor> MoveElements(const Tensor& source, std::span<const AxisTable> tables,
                            const Tensor* fill) {
  std::vector<int64_t> dims;
  for (const AxisTable& t : tables) dims.push_back(static_cast<int64_t>(t.size()));
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(source.dtype(), dims));
  ForEachRun(tables, [&](int64_t to, int64_t from, int64_t count) {
    if (from == kFillEntry)
      out.Fill(to, count, *fill);
    else
      out.Copy(to, source, from, count);
  });
  return out.Finish();
}

Dims MoveElements(const Dims& source, std::span<const AxisTable> tables, const Dim& fill) {
  Dims out;
  ForEachRun(tables, [&](int64_t, int64_t from, int64_t count) {
    for (int64_t k = 0; k < count; ++k)
      out.push_back(from == kFillEntry ? fill : source[static_cast<size_t>(from + k)]);
  });
  return out;
}

Status MoveInput(EvalContext& ctx, const TablesFn& tables, const Tensor* fill) {
  const auto dims = ctx.out_type().const_dims();
  if (!dims) return UnsupportedError("the output shape is not known");
  if (CheckedElements(*dims) == 0) {
    NN_ASSIGN(TensorBuilder empty, ctx.NewOutput());
    ctx.set_out(0, empty.Finish());
    return {};
  }
  NN_ASSIGN(Tensor moved, MoveElements(ctx.in(0), tables(), fill));
  NN_ASSIGN(Tensor shaped, moved.Reshaped(*dims));
  ctx.set_out(0, std::move(shaped));
  return {};
}

void MoveKnownElements(InferContext& ctx, const TablesFn& tables, const Dim& fill) {
  const auto elements = ctx.elements(0);
  const auto source = ctx.in(0).const_dims();
  const auto dims = ctx.node().output()->type().const_dims();
  if (!elements || !source || !dims) return;
  const auto n = CheckedElements(*dims);
  if (!n || *n > InferContext::kMaxElements) return;
  if (CheckedElements(*source) != static_cast<int64_t>(elements->size())) return;
  ctx.set_out_elements(0, *n == 0 ? Dims() : MoveElements(*elements, tables(), fill));
}

Result<Tensor> ZeroElement(const Type& type) {
  NN_ASSIGN(TensorBuilder zero, TensorBuilder::Create(type.dtype, {}));
  std::memset(zero.data(), 0, ByteSize(type.dtype, 1));
  if (type.quant != nullptr && !type.quant->per_axis()) zero.SetInt(0, type.quant->zero_point());
  return zero.Finish();
}

bool IsZeros(const Value& v) {
  if (!v.is_constant() || v.dtype() == DType::kString) return false;
  double zero = 0;
  if (const auto& quant = v.type().quant; quant != nullptr && !quant->zero_points.empty()) {
    const auto& points = quant->zero_points;
    if (std::ranges::any_of(points, [&](int64_t z) { return z != points[0]; })) return false;
    zero = static_cast<double>(points[0]);
  }
  const Tensor& t = v.constant();
  for (int64_t i = 0; i < t.elements(); ++i)
    if (t.GetDouble(i) != zero) return false;
  return true;
}

std::optional<Dims> Contents(const InferContext& ctx, size_t input) {
  return ctx.elements(input);
}

std::optional<Dims> Contents(const EvalContext& ctx, size_t input) {
  return ToDims(ctx.in(input).ToInts());
}

Result<std::optional<Dims>> SizesOf(const InferContext& ctx, const Dims& attr, size_t input) {
  std::optional<Dims> numbers = attr;
  if (ctx.has(input)) {
    if (!attr.empty())
      return ModelError("the numbers are given both as an attribute and as an input");
    numbers = Contents(ctx, input);
  }
  if (!numbers) return std::nullopt;
  if (numbers->size() > static_cast<size_t>(kMaxRank))
    return LimitError("the result has rank {}, which exceeds the limit", numbers->size());
  for (const Dim& n : *numbers)
    if (n.is_const() && n.value() < 0)
      return ModelError("{} has a negative entry", ToString(*numbers));
  return numbers;
}

Status RequirePerTensor(const InferContext& ctx, size_t input) {
  const Type& type = ctx.in(input);
  if (type.quant != nullptr && type.quant->per_axis())
    return UnsupportedError("per-channel quantization of input {} along axis {} is not supported",
                            input, type.quant->axis);
  return {};
}

Type Unranked(const Type& like) {
  Type out;
  out.dtype = like.dtype;
  out.quant = like.quant;
  return out;
}

Result<std::vector<int64_t>> KnownDims(const InferContext& ctx, size_t input) {
  auto dims = ctx.in(input).const_dims();
  if (!dims) return UnsupportedError("the shape of input {} is not known", input);
  return *std::move(dims);
}

std::optional<std::vector<int64_t>> MapAxes(std::span<const int64_t> axes, const AxisMap& map) {
  std::vector<int64_t> out;
  for (const int64_t axis : axes) {
    const auto normal = NormalizeAxis(axis, map.source_rank());
    if (!normal) return std::nullopt;
    const auto result = map.ResultAxis(*normal);
    if (!result) return std::nullopt;
    out.push_back(*result);
  }
  return out;
}

std::optional<int64_t> MapAxis(int64_t axis, const AxisMap& map) {
  const auto axes = MapAxes(std::span(&axis, 1), map);
  return axes ? std::optional((*axes)[0]) : std::nullopt;
}

AxesChange SameAxesChange(const Node& node, Operand changed, const AxisMap& map, Attrs attrs,
                          size_t tensors) {
  AxesChange change{std::move(attrs), {}};
  for (size_t i = 0; i < tensors; ++i)
    if (node.input(i) != nullptr && !(changed == Operand{false, i}))
      change.others.push_back({Operand{false, i}, map});
  for (size_t i = 0; i < node.outputs().size(); ++i)
    if (!(changed == Operand{true, i})) change.others.push_back({Operand{true, i}, map});
  return change;
}

std::optional<AxesChange> LayoutChange(const Node& node, Operand changed, const AxisMap& map) {
  if (!changed.is_output && changed.index != 0) return std::nullopt;
  const auto attr = node.attrs().Get("layout");
  const auto layout = attr ? ParseEnum<Layout>(std::get<EnumValue>(*attr).name) : std::nullopt;
  const auto flipped = layout ? FlipLayout(*layout, map.source_rank(), map) : std::nullopt;
  if (!flipped) return std::nullopt;
  auto attrs = node.attrs().With("layout", EnumValue{EnumName(*flipped)});
  if (!attrs) return std::nullopt;
  return SameAxesChange(node, changed, map, *std::move(attrs));
}

}  // namespace nn
