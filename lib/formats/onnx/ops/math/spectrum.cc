// DFT, STFT and MelWeightMatrix, and Rfft and Irfft of com.microsoft.
#include <algorithm>
#include <initializer_list>
#include <string>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "ops/math/dft.h"
#include "ops/math/mel.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

// ==== From ONNX ==================================================================================

// The axis is an attribute before version 20, then an input.
Status ImportDft(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  DftAttrs a;
  a.inverse = ctx.Int("inverse", 0) != 0;
  a.onesided = ctx.Int("onesided", 0) != 0;
  std::vector<Value*> inputs = {x, ctx.input(1)};
  if (ctx.opset() < 20) {
    a.axis = ctx.Int("axis", 1);
  } else if (const Tensor* axis = ctx.Constant(2); axis != nullptr && axis->elements() == 1) {
    a.axis = axis->GetInt(0);
  } else if (ctx.input(2) != nullptr) {
    inputs.push_back(ctx.input(2));
  }
  return ctx.Emit("dft", std::move(inputs), a);
}

// A real signal may lack the last axis.
Status ImportStft(ImportContext& ctx) {
  Value* const signal = ctx.input(0);
  Value* const step = ctx.input(1);
  const bool lacks_axis = signal->type().ranked() && signal->type().rank() == 2;
  return ctx.Emit("stft",
                  {lacks_axis ? ExpandDims(signal, {2}) : signal, step, ctx.input(2), ctx.input(3)},
                  StftAttrs{ctx.Int("onesided", 1) != 0});
}

// The number of axes of a signal, the last ones of Rfft and Irfft.
Result<int64_t> SignalAxes(const ImportContext& ctx) {
  const std::string& op = ctx.node().op_type();
  if (ctx.Int("normalized", 0) != 0) return UnsupportedError("{} with normalized = 1", op);
  if (ctx.Int("onesided", 1) != 1) return UnsupportedError("{} with onesided = 0", op);
  const int64_t axes = ctx.Int("signal_ndim", 1);
  if (axes < 1 || axes > 3) return ModelError("signal_ndim is {}; must be 1 to 3", axes);
  return axes;
}

// The half of the last axis is computed first, and the other axes of the signal from it.
Status ImportRfft(ImportContext& ctx) {
  NN_ASSIGN(const int64_t axes, SignalAxes(ctx));
  Value* const x = ctx.input(0);
  Term y = ExpandDims(x, {-1});
  for (int64_t k = 0; k < axes; ++k)
    y = Apply("dft", {y}, DftAttrs{.axis = -2 - k, .onesided = k == 0});
  return ctx.EmitTerm(y);
}

// The inverse, whose last axis has 2 (size - 1) elements. Each axis divides by its size.
Status ImportIrfft(ImportContext& ctx) {
  NN_ASSIGN(const int64_t axes, SignalAxes(ctx));
  Value* const x = ctx.input(0);
  Term y = x;
  for (int64_t k = axes; k-- > 0;)
    y = Apply("dft", {y}, DftAttrs{.axis = -2 - k, .inverse = true, .onesided = k == 0});
  return ctx.EmitTerm(Squeeze(y, {-1}));
}

Status ImportMelWeightMatrix(ImportContext& ctx) {
  return ctx.Emit("mel_weight_matrix", ctx.Inputs(5),
                  MelWeightMatrixAttrs{DTypeOf(static_cast<int>(ctx.Int("output_datatype", 1)))});
}

// ==== To ONNX ====================================================================================

// The names of the integers among the inputs, which must be of one type, i32 or i64.
std::vector<std::string> NamesOfSizes(ExportContext& ctx, const Node& node,
                                      std::initializer_list<size_t> inputs) {
  const bool narrow = std::ranges::all_of(inputs, [&](size_t i) {
    return node.input(i) == nullptr || node.input(i)->dtype() == DType::kI32;
  });
  std::vector<std::string> names;
  for (const size_t i : inputs) {
    const Value* v = node.input(i);
    names.push_back(v == nullptr || narrow ? ctx.NameOf(v) : ctx.NameAs(v, DType::kI64));
  }
  return names;
}

Status WriteDft(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<DftAttrs>();
  const Value* x = node.input(0);
  std::vector<std::string> inputs = {ctx.NameOf(x), NamesOfSizes(ctx, node, {1})[0]};
  if (node.input(2) != nullptr)
    inputs.push_back(ctx.NameAs(node.input(2), DType::kI64));
  else if (ctx.opset() >= 20 && a.axis != DftAttrs().axis)
    inputs.push_back(ctx.AddTensor(Tensor::Scalar(a.axis), "axis"));
  pb::NodeProto* out = ctx.AddNode(node, "DFT", {{ctx.NameOf(node.output())}, std::move(inputs)});
  if (ctx.opset() < 20) SetInt(out, "axis", FrontAxis(a.axis, x));
  SetInt(out, "inverse", a.inverse ? 1 : 0);
  SetInt(out, "onesided", a.onesided ? 1 : 0);
  return {};
}

int64_t DftOpset(const Node& node) {
  return node.input(2) == nullptr ? 17 : 20;
}

Status WriteStft(ExportContext& ctx, const Node& node) {
  const auto sizes = NamesOfSizes(ctx, node, {1, 3});
  pb::NodeProto* out =
      ctx.AddNode(node, "STFT",
                  {{ctx.NameOf(node.output())},
                   {ctx.NameOf(node.input(0)), sizes[0], ctx.NameOf(node.input(2)), sizes[1]}});
  SetInt(out, "onesided", node.attrs<StftAttrs>().onesided ? 1 : 0);
  return {};
}

Status WriteMelWeightMatrix(ExportContext& ctx, const Node& node) {
  std::vector<std::string> inputs = NamesOfSizes(ctx, node, {0, 1, 2});
  for (const size_t i : {3, 4}) inputs.push_back(ctx.NameOf(node.input(i)));
  pb::NodeProto* out =
      ctx.AddNode(node, "MelWeightMatrix", {{ctx.NameOf(node.output())}, std::move(inputs)});
  SetInt(out, "output_datatype", DataTypeOf(node.attrs<MelWeightMatrixAttrs>().dtype));
  return {};
}

constexpr ImportRow kSpectrumImports[] = {
    {.op = "DFT", .since = 17, .import = ImportDft, .inputs = 1},
    {.op = "STFT", .since = 17, .import = ImportStft, .inputs = 2},
    {.op = "MelWeightMatrix", .since = 17, .import = ImportMelWeightMatrix, .inputs = 5},
    {.op = "Rfft", .import = ImportRfft, .inputs = 1, .domain = kMicrosoft},
    {.op = "Irfft", .import = ImportIrfft, .inputs = 1, .domain = kMicrosoft},
};

constexpr ExportRow kSpectrumExports[] = {
    {.op = "dft", .write = WriteDft, .min_opset = DftOpset},
    {.op = "stft", .write = WriteStft, .min_opset = Since<17>},
    {.op = "mel_weight_matrix", .write = WriteMelWeightMatrix, .min_opset = Since<17>},
};

}  // namespace

Family SpectrumFamily() {
  return {.imports = kSpectrumImports, .exports = kSpectrumExports};
}

}  // namespace nn::onnx
