#include <algorithm>

#include "formats/tflite/export/rewrites.h"
#include "formats/tflite/family.h"
#include "ops/array/arrange/pad.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// The file stores a pair of pads per axis; the graph has all begins, then all ends.
Status EmitPad(ImportContext& ctx, PadMode mode, Value* value) {
  Value* const x = ctx.input(0);
  PadAttrs a;
  a.mode = mode;
  if (const auto pairs = ctx.KnownInts(1, "the pads")) {
    for (size_t i = 0; i < pairs->size(); i += 2) a.pads.push_back((*pairs)[i]);
    for (size_t i = 1; i < pairs->size(); i += 2) a.pads.push_back((*pairs)[i]);
    std::vector<Value*> inputs = {x};
    if (value != nullptr) inputs.push_back(value);
    return ctx.Emit("pad", std::move(inputs), std::move(a));
  }
  return ctx.Emit("pad", {x, value, Reshape(Transpose(ctx.input(1), {1, 0}), {Dim(-1)})}, a);
}

Status ImportPad(ImportContext& ctx) {
  return EmitPad(ctx, PadMode::kConstant, nullptr);
}

Status ImportPadV2(ImportContext& ctx) {
  return EmitPad(ctx, PadMode::kConstant, ctx.input(2));
}

Status ImportMirrorPad(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::MirrorPadOptions>());
  return EmitPad(ctx,
                 o->mode() == fb::MirrorPadMode::REFLECT ? PadMode::kReflect : PadMode::kSymmetric,
                 nullptr);
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

// The pads of each axis, [rank, 2].
Result<TensorIndex> PairsOf(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  if (const Value* const pads = node.input(2); pads != nullptr) {
    const int64_t rank = node.input(0)->type().rank();
    const auto add = [&](Dims dims) {
      return ctx.AddTensor(Type(pads->dtype(), std::move(dims)), pads->name());
    };
    const TensorIndex lists = add({Dim(2), Dim(rank)}), pairs = add({Dim(rank), Dim(2)});
    NN_ASSIGN(const TensorIndex shape, ctx.AddInts({2, rank}, "shape"));
    NN_ASSIGN(const TensorIndex perm, ctx.AddInts({1, 0}, "perm"));
    ctx.AddOperator(Op::RESHAPE, {{lists}, {ctx.TensorOf(pads), shape}},
                    fb::CreateReshapeOptions(ctx.builder()));
    ctx.AddOperator(Op::TRANSPOSE, {{pairs}, {lists, perm}},
                    fb::CreateTransposeOptions(ctx.builder()));
    return pairs;
  }
  const size_t rank = a.pads.size() / 2;
  std::vector<int32_t> pairs;
  for (size_t i = 0; i < rank; ++i)
    for (const size_t k : {i, rank + i}) pairs.push_back(static_cast<int32_t>(a.pads[k]));
  return ctx.AddConstant(Tensor::Of({static_cast<int64_t>(rank), 2}, pairs), "paddings");
}

Status WritePad(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  NN_ASSIGN(const TensorIndex pads, PairsOf(ctx, node));
  std::vector<TensorIndex> inputs = {ctx.TensorOf(node.input(0)), pads};
  // MIRROR_PAD rejects an empty axis even if it is not padded.
  const auto dims = node.output()->type().const_dims();
  const bool empty = dims && std::find(dims->begin(), dims->end(), 0) != dims->end();
  if (a.mode != PadMode::kConstant && !empty) {
    ctx.AddOperator(Op::MIRROR_PAD, {ctx.ResultsOf(node), inputs},
                    fb::CreateMirrorPadOptions(ctx.builder(), a.mode == PadMode::kReflect
                                                                  ? fb::MirrorPadMode::REFLECT
                                                                  : fb::MirrorPadMode::SYMMETRIC));
  } else if (node.input(1) != nullptr) {
    inputs.push_back(ctx.TensorOf(node.input(1)));
    ctx.AddOperator(Op::PADV2, {ctx.ResultsOf(node), inputs},
                    fb::CreatePadV2Options(ctx.builder()));
  } else {
    ctx.AddOperator(Op::PAD, {ctx.ResultsOf(node), inputs}, fb::CreatePadOptions(ctx.builder()));
  }
  return {};
}

std::optional<std::string> WhyNotPad(const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  if (node.input(3) != nullptr) return "the pads of some axes must be constant";
  if (node.input(2) != nullptr && a.mode != PadMode::kConstant)
    return fmt::format("pads of mode {} must be constant", EnumName(a.mode));
  if (a.mode == PadMode::kEdge || a.mode == PadMode::kWrap)
    return fmt::format("TensorFlow Lite has no padding mode {}", EnumName(a.mode));
  if (std::any_of(a.pads.begin(), a.pads.end(), [](int64_t p) { return p < 0; }))
    return "negative pads are unsupported";
  if (node.input(0)->dtype() == DType::kString) return "strings cannot be padded";
  if (a.mode == PadMode::kConstant) return std::nullopt;
  const Dims& dims = *node.input(0)->type().dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t most = std::max(a.pads[i], a.pads[dims.size() + i]);
    const int64_t edge = a.mode == PadMode::kReflect ? 1 : 0;
    if (most > 0 && (!dims[i].is_const() || most > dims[i].value() - edge))
      return "MIRROR_PAD needs axes of known size and cannot pad by more than the axis";
  }
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kPadImports[] = {
    {.op = Op::PAD, .import = ImportPad, .inputs = "aa"},
    {.op = Op::PADV2, .import = ImportPadV2, .inputs = "aa"},
    {.op = Op::MIRROR_PAD, .import = ImportMirrorPad, .inputs = "aa"},
};

constexpr ExportRow kPadExports[] = {
    {.op = "pad", .write = WritePad, .why_not = WhyNotPad, .any_type = true},
};

}  // namespace

Family PadFamily() {
  return {.imports = kPadImports, .exports = kPadExports};
}

}  // namespace nn::tflite
