#include "ops/math/matmul.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx/export/bias.h"
#include "formats/onnx/export/quant/block_form.h"
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/export/unit_axis.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/activation.h"
#include "ops/array/shape.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

Status ImportMatMul(ImportContext& ctx) {
  Value* const a = ctx.input(0);
  Value* const b = ctx.input(1);
  return ctx.Emit("matmul", {a, b}, MatmulAttrs{});
}

// The value multiplied by a scalar of its type.
Result<Value*> Scaled(ImportContext& ctx, Value* v, float factor, std::string_view name) {
  if (factor == 1.0f) return v;
  if (!IsFloat(v->dtype()))
    return UnsupportedError("{} of {} operands with {} = {}", ctx.node().op_type(),
                            DTypeName(v->dtype()), name, factor);
  return ctx.Build(v * Term(factor));
}

// Attribute `broadcast` of versions 1 and 6 follows from the shapes.
Result<Value*> AddGemm(ImportContext& ctx) {
  Value* const a = ctx.input(0);
  Value* const b = ctx.input(1);
  for (const Value* v : {a, b})
    if (v->type().ranked() && v->type().rank() != 2)
      return ModelError("Gemm needs matrices; an operand is {}", v->type().ToString());
  const float alpha = ctx.Float("alpha", 1.0f);
  const float beta = ctx.Float("beta", 1.0f);
  const MatmulAttrs attrs{ctx.Int("transA", 0) != 0, ctx.Int("transB", 0) != 0};
  Value* c = ctx.input(2);
  if (c != nullptr && beta == 0.0f) c = nullptr;
  if (c != nullptr) {
    NN_ASSIGN(c, Scaled(ctx, c, beta, "beta"));
  }
  if (c != nullptr && alpha == 1.0f && b->type().ranked()) {
    NN_ASSIGN(Value* const bias, AsBias(ctx, c, b->type().dim(attrs.transpose_b ? 0 : 1)));
    if (bias != nullptr) return ctx.Add("matmul", {a, b, bias}, attrs);
  }
  NN_ASSIGN(Value * y, ctx.Add("matmul", {a, b}, attrs));
  NN_ASSIGN(y, Scaled(ctx, y, alpha, "alpha"));
  if (c != nullptr) {
    // C cannot extend the product.
    const Type product = y->type();
    NN_ASSIGN(y, ctx.Add("add", {y, c}));
    if (!y->type().ranked()) y->set_type(product);
  }
  return y;
}

Status ImportGemm(ImportContext& ctx) {
  NN_ASSIGN(Value* const y, AddGemm(ctx));
  ctx.SetOutput(0, y);
  return {};
}

// ---- com.microsoft

// Gemm and an activation, whose parameters are attributes.
Status ImportFusedGemm(ImportContext& ctx) {
  NN_ASSIGN(Value* const product, AddGemm(ctx));
  std::vector<float> params;
  for (const std::string_view name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (ctx.HasAttr(name)) params.push_back(ctx.Float(name, 0));
  NN_ASSIGN(const Term y, Activated(ctx, product, ctx.String("activation", ""), params));
  return ctx.EmitTerm(y);
}

// With `batch`, axis 0 of the operand follows the other leading axes. A vector is not transposed.
Result<Value*> BatchLast(ImportContext& ctx, Value* v, bool batch) {
  if (!batch) return v;
  if (!v->type().ranked())
    return UnsupportedError("{} needs operands of known rank", ctx.node().op_type());
  const int rank = v->type().rank();
  if (rank < 3)
    return ModelError("an operand is {}; a transposed batch needs 3 axes", v->type().ToString());
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  return ctx.Build(Transpose(v, std::move(perm)));
}

Status ImportInverse(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.Emit("inverse", {x});
}

// FusedMatMul, and TransposeMatMul, which has no transposed batches.
Status ImportFusedMatMul(ImportContext& ctx) {
  Value* a = ctx.input(0);
  Value* b = ctx.input(1);
  NN_ASSIGN(a, BatchLast(ctx, a, ctx.Int("transBatchA", 0) != 0));
  NN_ASSIGN(b, BatchLast(ctx, b, ctx.Int("transBatchB", 0) != 0));
  MatmulAttrs attrs{ctx.Int("transA", 0) != 0, ctx.Int("transB", 0) != 0};
  for (const auto& [v, transpose] :
       {std::pair(a, &attrs.transpose_a), std::pair(b, &attrs.transpose_b)}) {
    if (!*transpose) continue;
    if (!v->type().ranked())
      return UnsupportedError("{} needs operands of known rank", ctx.node().op_type());
    if (v->type().rank() == 1) *transpose = false;
  }
  NN_ASSIGN(Value * y, ctx.Add("matmul", {a, b}, attrs));
  NN_ASSIGN(y, Scaled(ctx, y, ctx.Float("alpha", 1.0f), "alpha"));
  ctx.SetOutput(0, y);
  return {};
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

bool IsPlain(const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  return !a.transpose_a && !a.transpose_b && node.input(2) == nullptr;
}

// Whether the value is a transpose that moves the first axis before the last one or after it.
// ONNX Runtime makes one operator of that and a product, whose kernel crashes for float16.
bool HasFirstAxisBehind(const Value* v) {
  if (v->dtype() != DType::kF16 || v->def() == nullptr || !v->def()->Is<TransposeAttrs>())
    return false;
  std::vector<int64_t> perm = v->def()->attrs<TransposeAttrs>().perm;
  const auto first = std::ranges::find(perm, 0);
  if (perm.size() < 3 || perm.end() - first > 2) return false;
  perm.erase(first);
  return std::ranges::is_sorted(perm);
}

// A product with one more axis, so that the transpose is no part of it.
void WriteWithMoreAxes(ExportContext& ctx, const Node& node) {
  const std::string wide = ctx.NewName(node.input(0)->name());
  AddUnitAxis(ctx, "Unsqueeze", wide, ctx.NameOf(node.input(0)), 0);
  const std::string product = ctx.NewName(node.output()->name());
  ctx.AddNode(node, "MatMul", {{product}, {wide, ctx.NameOf(node.input(1))}});
  AddUnitAxis(ctx, "Squeeze", ctx.NameOf(node.output()), product, 0);
}

Status WriteMatmul(ExportContext& ctx, const Node& node) {
  if (PrefersPackedForm(node, ctx.opset())) return WritePackedProduct(ctx, node);
  if (IsPlain(node)) {
    const Type& b = node.input(1)->type();
    if (HasFirstAxisBehind(node.input(0)) && b.ranked() &&
        b.rank() <= node.input(0)->type().rank()) {
      WriteWithMoreAxes(ctx, node);
      return {};
    }
    ctx.AddNode(node, "MatMul");
    return {};
  }
  const auto& a = node.attrs<MatmulAttrs>();
  std::vector<std::string> inputs;
  for (const Value* v : node.inputs()) inputs.push_back(ctx.NameOf(v));
  if (inputs.size() < 3) inputs.emplace_back();
  if (inputs[2].empty() && ctx.opset() < 11) {  // C is not optional yet
    NN_ASSIGN(TensorBuilder zero, TensorBuilder::Create(node.output()->dtype(), {1}));
    zero.SetInt(0, 0);
    inputs[2] = ctx.AddTensor(zero.Finish(), "zero");
  }
  pb::NodeProto* out = ctx.AddNode(node, "Gemm", {{ctx.NameOf(node.output())}, std::move(inputs)});
  if (a.transpose_a) SetInt(out, "transA", 1);
  if (a.transpose_b) SetInt(out, "transB", 1);
  return {};
}

std::optional<std::string> WhyNotMatmul(const Node& node) {
  if (HasPackedForm(node)) return std::nullopt;
  const Type& a = node.input(0)->type();
  const Type& b = node.input(1)->type();
  if (a.quantized()) return "its operands are quantized; MatMul needs real ones";
  switch (a.dtype) {
    case DType::kI8:
    case DType::kU8:
    case DType::kI16:
    case DType::kU16:
      return fmt::format("ONNX has no MatMul for {} operands", DTypeName(a.dtype));
    default:
      break;
  }
  if (!IsPlain(node) && !(a.ranked() && b.ranked() && a.rank() == 2 && b.rank() == 2))
    return "MatMul has no bias and no transposed operands; Gemm needs matrices";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kMatmulImports[] = {
    {.op = "MatMul", .since = 1, .import = ImportMatMul, .inputs = 2},
    {.op = "Gemm", .since = 1, .import = ImportGemm, .inputs = 2},
    {.op = "FusedGemm", .import = ImportFusedGemm, .inputs = 2, .domain = kMicrosoft},
    {.op = "FusedMatMul", .import = ImportFusedMatMul, .inputs = 2, .domain = kMicrosoft},
    {.op = "Inverse", .import = ImportInverse, .inputs = 1, .domain = kMicrosoft},
    {.op = "TransposeMatMul", .import = ImportFusedMatMul, .inputs = 2, .domain = kMicrosoft},
};

constexpr ExportRow kMatmulExports[] = {
    {.op = "matmul", .write = WriteMatmul, .why_not = WhyNotMatmul},
};

}  // namespace

Family MatmulFamily() {
  return {.imports = kMatmulImports, .exports = kMatmulExports};
}

}  // namespace nn::onnx
