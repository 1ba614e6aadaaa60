#include <algorithm>

#include "formats/onnx/export.h"
#include "ops/shape.h"
#include "ops/shape_of.h"
#include "ops/tile.h"

namespace nn::onnx {
namespace {

Status WriteTranspose(ExportContext& ctx, const Node& node) {
  SetInts(ctx.AddNode(node, "Transpose"), "perm", node.attrs<TransposeAttrs>().perm);
  return {};
}

// ---- Reshape ------------------------------------------------------------------------------------

// A constant target shape: numbers, a 0 where a dimension is the input's own, one -1.
std::optional<std::vector<int64_t>> TargetShape(const Node& node) {
  const Dims& in = *node.input(0)->type().dims;
  const Dims& out = *node.output()->type().dims;
  std::vector<int64_t> shape;
  bool rest = false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].is_const()) {
      if (out[i].value() == 0 && !(i < in.size() && in[i] == 0)) return std::nullopt;
      shape.push_back(out[i].value());
    } else if (i < in.size() && in[i] == out[i]) {
      shape.push_back(0);
    } else if (!rest) {
      rest = true;
      shape.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  return shape;
}

// Whether an entry 0 of the shape must mean a dimension without elements, not one that is copied.
bool NeedsAllowZero(const Node& node) {
  if (node.input(1) != nullptr) return !node.attrs<ReshapeAttrs>().zero_copies;
  return node.input(0)->type().ranked() && node.output()->type().const_dims() && !TargetShape(node);
}

Status WriteReshape(ExportContext& ctx, const Node& node) {
  std::string shape;
  if (node.input(1) != nullptr) {
    shape = ctx.NameAs(node.input(1), DType::kI64);
  } else if (const auto target = TargetShape(node)) {
    shape = ctx.AddTensor(Tensor::Ints(*target), "shape");
  } else {
    NN_ASSIGN(shape, ctx.AddDims(*node.output()->type().dims, "shape"));
  }
  pb::NodeProto* out =
      ctx.AddNode(node, "Reshape", {ctx.NameOf(node.input(0)), shape}, {ctx.NameOf(node.output())});
  if (NeedsAllowZero(node)) SetInt(out, "allowzero", 1);
  return {};
}

std::optional<std::string> WhyNotReshape(const Node& node) {
  if (node.input(1) != nullptr) return std::nullopt;
  if (!node.input(0)->type().ranked() || !node.output()->type().ranked())
    return "its shape is not known";
  return std::nullopt;
}

int64_t ReshapeOpset(const Node& node) {
  return NeedsAllowZero(node) ? 14 : 5;
}

// ---- Squeeze, Unsqueeze -------------------------------------------------------------------------

// They take their axes as an attribute before operator set 13.
template <bool squeeze>
Status WriteAxes(ExportContext& ctx, const Node& node) {
  std::vector<int64_t> axes = node.attrs<AxesAttrs>().axes;
  const std::string_view op = squeeze ? "Squeeze" : "Unsqueeze";
  if (node.input(1) != nullptr) {
    ctx.AddNode(node, op, {ctx.NameOf(node.input(0)), ctx.NameAs(node.input(1), DType::kI64)},
                {ctx.NameOf(node.output())});
    return {};
  }
  // Negative axes came with operator set 11.
  const int rank = (squeeze ? node.input(0) : node.output())->type().rank();
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  if (ctx.opset() < 13) {
    pb::NodeProto* out = ctx.AddNode(node, op);
    if (!axes.empty() || !squeeze) SetInts(out, "axes", axes);
    return {};
  }
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0))};
  if (!axes.empty() || !squeeze) inputs.push_back(ctx.AddTensor(Tensor::Ints(axes), "axes"));
  ctx.AddNode(node, op, std::move(inputs), {ctx.NameOf(node.output())});
  return {};
}

std::optional<std::string> WhyNotAxes(const Node& node) {
  if (!node.input(0)->type().ranked() || !node.output()->type().ranked())
    return node.input(1) == nullptr ? std::optional<std::string>("its rank is not known")
                                    : std::nullopt;
  return std::nullopt;
}

int64_t AxesOpset(const Node& node) {
  return node.input(1) != nullptr ? 13 : 1;
}

// ---- Shape, Size --------------------------------------------------------------------------------

// Writes a node whose result is i64 through `write`, and a Cast after it where ours is i32.
template <typename Fn>
void WriteInt64(ExportContext& ctx, const Node& node, Fn write) {
  const Value* y = node.output();
  if (y->dtype() == DType::kI64) {
    write(ctx.NameOf(y));
    return;
  }
  const std::string wide = ctx.NewName(y->name());
  write(wide);
  ctx.AddCast(wide, ctx.NameOf(y), y->dtype());
}

// Before operator set 15 a part of the shape takes a Slice.
Status WriteShapeOf(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ShapeOfAttrs>();
  const bool part = a.start != 0 || a.end != ShapeOfAttrs().end;
  const std::string x = ctx.NameOf(node.input(0));
  WriteInt64(ctx, node, [&](const std::string& y) {
    if (!part || ctx.opset() >= 15) {
      pb::NodeProto* out = ctx.AddNode(node, "Shape", {x}, {y});
      if (a.start != 0) SetInt(out, "start", a.start);
      if (a.end != ShapeOfAttrs().end) SetInt(out, "end", a.end);
      return;
    }
    const std::string whole = ctx.AddValue("Shape", {x}, "shape");
    if (ctx.opset() < 10) {
      pb::NodeProto* slice = ctx.AddNode(node, "Slice", {whole}, {y});
      SetInts(slice, "axes", {0});
      SetInts(slice, "starts", {a.start});
      SetInts(slice, "ends", {a.end});
      return;
    }
    ctx.AddNode(
        node, "Slice",
        {whole, ctx.AddTensor(Tensor::Ints({a.start}), "starts"),
         ctx.AddTensor(Tensor::Ints({a.end}), "ends"), ctx.AddTensor(Tensor::Ints({0}), "axes")},
        {y});
  });
  return {};
}

Status WriteSizeOf(ExportContext& ctx, const Node& node) {
  const std::string x = ctx.NameOf(node.input(0));
  WriteInt64(ctx, node, [&](const std::string& y) { ctx.AddNode(node, "Size", {x}, {y}); });
  return {};
}

// ---- Tile, Expand -------------------------------------------------------------------------------

// The second operand: the input, or the attribute as a tensor.
Result<std::string> Numbers(ExportContext& ctx, const Node& node, const Dims& attr,
                            std::string_view hint) {
  if (node.input(1) == nullptr) return ctx.AddDims(attr, hint);
  return ctx.NameAs(node.input(1), DType::kI64);
}

Status WriteTile(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const std::string repeats,
            Numbers(ctx, node, node.attrs<TileAttrs>().repeats, "repeats"));
  ctx.AddNode(node, "Tile", {ctx.NameOf(node.input(0)), repeats}, {ctx.NameOf(node.output())});
  return {};
}

Status WriteExpand(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const std::string shape, Numbers(ctx, node, node.attrs<ExpandAttrs>().dims, "shape"));
  ctx.AddNode(node, "Expand", {ctx.NameOf(node.input(0)), shape}, {ctx.NameOf(node.output())});
  return {};
}

}  // namespace

void AddShapeExports(std::vector<ExportRow>& rows) {
  rows.push_back({"transpose", WriteTranspose});
  rows.push_back({"reshape", WriteReshape, WhyNotReshape, ReshapeOpset});
  rows.push_back({"expand_dims", WriteAxes<false>, WhyNotAxes, AxesOpset});
  rows.push_back({"squeeze", WriteAxes<true>, WhyNotAxes, AxesOpset});
  rows.push_back({"shape_of", WriteShapeOf});
  rows.push_back({"size_of", WriteSizeOf});
  rows.push_back({"tile", WriteTile});
  rows.push_back({"expand", WriteExpand, nullptr, Since<8>});
}

}  // namespace nn::onnx
