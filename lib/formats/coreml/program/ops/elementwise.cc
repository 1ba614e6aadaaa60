// Operations on elements: those of modules elementwise_unary and elementwise_binary that are no
// one-to-one operations.
#include "ops/math/elementwise/elementwise.h"
#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/operands.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

// An operation on x and epsilon, which is computed in float32.
template <Term (*compute)(Term)>
Status ImportWithEpsilon(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(const float epsilon, ctx.Float("epsilon"));
  const Term wide = Wide(x);
  return ctx.EmitCast(compute(epsilon == 0 ? wide : wide + Term(Tensor::Scalar(epsilon))));
}

Term Inverse(Term x) {
  return Apply("reciprocal", {std::move(x)});
}
Term Log(Term x) {
  return Apply("log", {std::move(x)});
}
Term InverseRoot(Term x) {
  return Apply("rsqrt", {std::move(x)});
}

Status ImportSquare(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  return ctx.EmitTerm(Term(x) * x);
}

Status ImportThreshold(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(Value* const alpha, ctx.In("alpha"));
  return ctx.EmitTerm(Maximum(x, alpha));
}

Status ImportCast(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(const DType to, ctx.NamedType("dtype"));
  return ctx.EmitTerm(Cast(x, to));
}

// Of integers, the quotient of real numbers, truncated.
Status ImportRealDiv(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.In("x"));
  NN_ASSIGN(Value* const y, ctx.In("y"));
  return ctx.EmitTerm(Term(x) / y);
}

// ---- Export -------------------------------------------------------------------------------------

constexpr char kLogOperation[] = "log", kInverseOperation[] = "inverse",
               kRsqrtOperation[] = "rsqrt";

template <const char* kOperation>
Status WriteWithEpsilon(ExportContext& ctx, const Node& node) {
  return ctx.Add(kOperation).In("x", node.input(0)).Number("epsilon", 0).To(node);
}

Status WriteCast(ExportContext& ctx, const Node& node) {
  const DType to = node.output()->dtype();
  if (DataTypeOf(to) == DataTypeOf(node.input(0)->dtype())) return ctx.Alias(node, node.input(0));
  return ctx.Add("cast").In("x", node.input(0)).Text("dtype", NameInPrograms(to)).To(node);
}

Status WriteDivision(ExportContext& ctx, const Node& node) {
  return ctx.AddFor("real_div", node).To(node);
}

Status WriteNegation(ExportContext& ctx, const Node& node) {
  return ctx.Add("mul").In("x", node.input(0)).Number("y", -1).To(node);
}

}  // namespace

Family ElementwiseFamily() {
  static constexpr ImportRow kImports[] = {
      {"cast", ImportCast},
      {"inverse", ImportWithEpsilon<Inverse>},
      {"log", ImportWithEpsilon<Log>},
      {"real_div", ImportRealDiv},
      {"rsqrt", ImportWithEpsilon<InverseRoot>},
      {"square", ImportSquare},
      {"threshold", ImportThreshold},
  };
  static constexpr ExportRow kExports[] = {
      {"cast", WriteCast},
      {"div", WriteDivision},
      {"log", WriteWithEpsilon<kLogOperation>},
      {"neg", WriteNegation},
      {"reciprocal", WriteWithEpsilon<kInverseOperation>},
      {"rsqrt", WriteWithEpsilon<kRsqrtOperation>},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program
