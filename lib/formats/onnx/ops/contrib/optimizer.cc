// Adagrad, Adam and Momentum of ai.onnx.preview.training: elementwise operators for each tensor, on
// its type.
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "formats/onnx/family.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

// `yes` after the first step, `no` in it.
Term AfterFirst(Value* step, Term yes, Term no) {
  return Select(Greater(step, 0), std::move(yes), std::move(no));
}

// The gradient with the derivative of norm / 2 * x^2.
Term Regularized(const Term& x, const Term& gradient, float norm) {
  return x * norm + gradient;
}

Result<float> RequiredFloat(const ImportContext& ctx, std::string_view name) {
  if (!ctx.HasAttr(name)) return ModelError("attribute {} is missing", name);
  return ctx.Float(name, 0);
}

// kModel unless both shapes can be equal.
Status RequireSameShape(const Value* x, const Value* v) {
  if (v->dtype() != x->dtype() && v->dtype() != DType::kUnknown && x->dtype() != DType::kUnknown)
    return ModelError("a tensor is {}, but its gradient or state {}", x->type().ToString(),
                      v->type().ToString());
  if (!x->type().ranked() || !v->type().ranked()) return {};
  const Dims &a = *x->type().dims, &b = *v->type().dims;
  bool same = a.size() == b.size();
  for (size_t i = 0; same && i < a.size(); ++i)
    same = !a[i].is_const() || !b[i].is_const() || a[i] == b[i];
  if (same) return {};
  return ModelError("a tensor is {}, but its gradient or state {}", x->type().ToString(),
                    v->type().ToString());
}

// After the learning rate and the step come kLists lists of equal length: the tensors, their
// gradients and their states. fn(dtype, rate, step, operands) replaces the operands by the new
// tensor and, from index 2 on, the new states; the results are the lists of these.
template <size_t kLists, typename Fn>
Status ImportOptimizer(ImportContext& ctx, Fn fn) {
  Value* const rate = ctx.input(0);
  Value* const step = ctx.input(1);
  const size_t operands = ctx.input_count() - 2;
  if (operands == 0 || operands % kLists != 0)
    return ModelError("there are {} inputs after the first two, not a multiple of {}", operands,
                      kLists);
  const size_t count = operands / kLists;
  for (size_t i = 0; i < count; ++i) {
    NN_ASSIGN(const Value* const first, ctx.Required(2 + i));
    std::vector<Term> values;
    for (size_t list = 0; list < kLists; ++list) {
      NN_ASSIGN(Value* const v, ctx.Required(2 + list * count + i));
      NN_RETURN_IF_ERROR(RequireSameShape(first, v));
      values.push_back(v);
    }
    NN_RETURN_IF_ERROR(fn(first->dtype(), As(rate, first->dtype()), step, values));
    NN_RETURN_IF_ERROR(ctx.EmitTerm(values[0], i));
    for (size_t list = 2; list < kLists; ++list)
      NN_RETURN_IF_ERROR(ctx.EmitTerm(values[list], (list - 1) * count + i));
  }
  return {};
}

Status ImportMomentum(ImportContext& ctx) {
  NN_ASSIGN(const float alpha, RequiredFloat(ctx, "alpha"));
  NN_ASSIGN(const float beta, RequiredFloat(ctx, "beta"));
  NN_ASSIGN(const float norm, RequiredFloat(ctx, "norm_coefficient"));
  const std::string mode = ctx.String("mode", "");
  const bool nesterov = mode == "nesterov";
  if (!nesterov && mode != "standard") return ModelError("unknown mode {}", Quote(mode));
  return ImportOptimizer<3>(
      ctx, [&](DType dtype, const Term& rate, Value* step, std::vector<Term>& v) -> Status {
        const Term gradient = Regularized(v[0], v[1], norm);
        NN_ASSIGN(Value* const later, ctx.Number(dtype, static_cast<double>(beta)));
        v[2] = v[2] * alpha + AfterFirst(step, later, 1) * gradient;
        v[0] = v[0] - rate * (nesterov ? gradient + v[2] * alpha : v[2]);
        return {};
      });
}

Status ImportAdagrad(ImportContext& ctx) {
  const float decay = ctx.Float("decay_factor", 0);
  const float epsilon = ctx.Float("epsilon", 1e-6f);
  const float norm = ctx.Float("norm_coefficient", 0);
  return ImportOptimizer<3>(
      ctx, [&](DType dtype, const Term& rate, Value* step, std::vector<Term>& v) -> Status {
        const Term gradient = Regularized(v[0], v[1], norm);
        v[2] = v[2] + gradient * gradient;
        const Term root = Apply("sqrt", {v[2]}) + epsilon;
        v[0] = v[0] - rate / (As(step, dtype) * decay + 1) * gradient / root;
        return {};
      });
}

// 1 - base^step.
Term RestOfPower(float base, const Term& steps) {
  return 1 - Apply("pow", {base, steps});
}

Status ImportAdam(ImportContext& ctx) {
  const float alpha = ctx.Float("alpha", 0.9f), beta = ctx.Float("beta", 0.999f);
  const float epsilon = ctx.Float("epsilon", 1e-6f);
  const float norm = ctx.Float("norm_coefficient", 0);
  const float norm_post = ctx.Float("norm_coefficient_post", 0);
  return ImportOptimizer<4>(
      ctx, [&](DType dtype, const Term& rate, Value* step, std::vector<Term>& v) -> Status {
        if (dtype == DType::kF64)
          return UnsupportedError("Adam of f64: its powers are supported for f32 only");
        const Term gradient = Regularized(v[0], v[1], norm);
        v[2] = v[2] * alpha + gradient * (1.0f - alpha);
        v[3] = v[3] * beta + gradient * gradient * (1.0f - beta);
        const Term steps = As(step, dtype);
        const Term scale =
            rate * Apply("sqrt", {RestOfPower(beta, steps)}) / RestOfPower(alpha, steps);
        const Term root = Apply("sqrt", {v[3]}) + epsilon;
        v[0] = v[0] - AfterFirst(step, scale, rate) * v[2] / root;
        if (norm_post != 0) v[0] = v[0] * (1.0f - norm_post);
        return {};
      });
}

constexpr char kTrainingDomain[] = "ai.onnx.preview.training";

constexpr ImportRow kOptimizerImports[] = {
    {.op = "Adagrad", .import = ImportAdagrad, .inputs = 2, .domain = kTrainingDomain},
    {.op = "Adam", .import = ImportAdam, .inputs = 2, .domain = kTrainingDomain},
    {.op = "Momentum", .import = ImportMomentum, .inputs = 2, .domain = kTrainingDomain},
};

}  // namespace

Family OptimizerFamily() {
  return {.imports = kOptimizerImports};
}

}  // namespace nn::onnx
