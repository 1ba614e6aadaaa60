// Elementwise functions of one operand.
#include <algorithm>
#include <cmath>
#include <map>

#include "numeric/functions-inl.h"
#include "numeric/functions.h"
#include "numeric/scalar.h"
#include "ops/families.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/elementwise/impl.h"
#include "ops/math/elementwise/unary_rows.h"

namespace nn {
namespace {

using UnaryFloat = float (*)(float, const FunctionParams&);

const std::map<std::string_view, UnaryFloat>& UnaryFloats() {
  static const std::map<std::string_view, UnaryFloat> table = {
#define NN_ROW(name, fn) {name, &scalar::fn<ScalarMachine>::Run},
      NN_UNARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
  };
  return table;
}

Elements TypesOf(const UnaryRow& row) {
  Elements types = {DType::kF16, DType::kBF16, DType::kF32};
  if (row.f64 != nullptr) types = types | Elements::kReals;
  return row.integer.s != nullptr ? types | Elements::kIntegers : types;
}

Status InferUnary(InferContext& ctx) {
  NN_RETURN_IF_ERROR(InferSameType(ctx));
  const auto dim = UnaryRowOf(ctx.node()).facts.dim;
  const auto elements = ctx.elements(0);
  if (dim == nullptr || !elements || !IsInteger(ctx.in(0).dtype)) return {};
  Dims out;
  for (const Dim& d : *elements) {
    const auto y = dim(d);
    if (!y || !y->is_valid()) return {};
    out.push_back(*y);
  }
  ctx.set_out_elements(0, std::move(out));
  return {};
}

Status EvalUnary(EvalContext& ctx) {
  const UnaryRow& row = UnaryRowOf(ctx.node());
  if (IsQuantized(ctx)) return EvalQuantizedUnary(ctx);
  const FunctionParams params = ParamsOf(ctx.node());
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const int64_t n = out.elements();
  const int bits = DTypeBits(x.dtype());
  if (x.dtype() == DType::kF32) {
    const UnaryFloat fn = UnaryFloats().at(row.name);
    const auto in = x.As<float>();
    const auto y = out.As<float>();
    for (size_t i = 0; i < y.size(); ++i) y[i] = fn(in[i], params);
  } else if (x.dtype() == DType::kF16 || x.dtype() == DType::kBF16) {
    const UnaryFloat fn = UnaryFloats().at(row.name);
    for (int64_t i = 0; i < n; ++i)
      out.SetDouble(i, fn(static_cast<float>(x.GetDouble(i)), params));
  } else if (x.dtype() == DType::kF64 && row.f64 != nullptr) {
    for (int64_t i = 0; i < n; ++i) out.SetDouble(i, row.f64(x.GetDouble(i), params));
  } else if (IsSigned(x.dtype()) && row.integer.s != nullptr) {
    for (int64_t i = 0; i < n; ++i) out.SetInt(i, row.integer.s(x.GetInt(i), params, bits));
  } else if (IsInteger(x.dtype()) && row.integer.u != nullptr) {
    for (int64_t i = 0; i < n; ++i)
      out.SetInt(
          i, static_cast<int64_t>(row.integer.u(static_cast<uint64_t>(x.GetInt(i)), params, bits)));
  } else {
    return UnsupportedTypes(ctx);
  }
  ctx.set_out(0, out.Finish());
  return {};
}

}  // namespace

void RegisterUnaryOps(OpRegistry& ops) {
  for (const UnaryRow& row : UnaryRows()) {
    OpDef op;
    op.name = row.name;
    op.summary = row.summary;
    op.category = row.category;
    op.quant_rule = QuantRule::kElementwise;
    op.attrs = row.attrs;
    op.inputs = {{"x", Arity::kRequired, TypesOf(row)}};
    op.infer = InferUnary;
    op.eval = EvalUnary;
    op.change_axes = ChangeUnaryAxes;
    op.clamp = row.clamp;
    // Attributes are converted to the type.
    op.wraps_integers = row.integer.s != nullptr && row.attrs == AttrsInfoOf<NoAttrs>();
    op.exact_integers = op.wraps_integers;
    op.range = row.facts.range;
    op.real_domain = row.facts.domain;
    op.fixed_quants = row.facts.fixed_quants;
    op.formats = row.formats;
    ops.Add(std::move(op));
  }
}

}  // namespace nn
