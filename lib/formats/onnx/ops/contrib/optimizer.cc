// Adagrad, Adam and Momentum of ai.onnx.preview.training: elementwise operators for each tensor, on
// its type.
#include "formats/onnx/family.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::onnx {
namespace {

// The operands of one tensor, and arithmetic on its type.
class TensorUpdate {
 public:
  TensorUpdate(ImportContext& ctx, DType dtype) : ctx_(ctx), dtype_(dtype) {}

  bool is_double() const { return dtype_ == DType::kF64; }
  Result<Value*> Add(Value* a, Value* b) const { return ctx_.Add("add", {a, b}); }
  Result<Value*> Sub(Value* a, Value* b) const { return ctx_.Add("sub", {a, b}); }
  Result<Value*> Mul(Value* a, Value* b) const { return ctx_.Add("mul", {a, b}); }
  Result<Value*> Div(Value* a, Value* b) const { return ctx_.Add("div", {a, b}); }
  Result<Value*> Sqrt(Value* a) const { return ctx_.Add("sqrt", {a}); }
  Result<Value*> Pow(Value* a, Value* b) const { return ctx_.Add("pow", {a, b}); }
  Result<Value*> Number(double v) const { return ctx_.Number(dtype_, v); }
  Result<Value*> Scaled(Value* a, double factor) const {
    NN_ASSIGN(Value* const number, Number(factor));
    return Mul(a, number);
  }
  Result<Value*> Plus(Value* a, double term) const {
    NN_ASSIGN(Value* const number, Number(term));
    return Add(a, number);
  }
  // 1 - v, on the type.
  Result<Value*> Rest(Value* v) const {
    NN_ASSIGN(Value* const one, Number(1));
    return Sub(one, v);
  }
  Result<Value*> As(Value* v) const {
    if (v->dtype() == dtype_) return v;
    return ctx_.Add("cast", {v}, CastAttrs{.to = dtype_});
  }
  // `yes` after the first step, `no` in it.
  Result<Value*> AfterFirst(Value* step, Value* yes, Value* no) const {
    NN_ASSIGN(Value* const zero, ctx_.Number(step->dtype(), 0));
    NN_ASSIGN(Value* const later, ctx_.Add("greater", {step, zero}));
    return ctx_.Add("select", {later, yes, no});
  }
  // The gradient with the derivative of norm / 2 * x^2.
  Result<Value*> Regularized(Value* x, Value* gradient, float norm) const {
    NN_ASSIGN(Value* const decay, Scaled(x, static_cast<double>(norm)));
    return Add(decay, gradient);
  }
  // a * factor + b * (1 - factor), on the type.
  Result<Value*> Average(Value* a, Value* b, float factor) const {
    const double kept = static_cast<double>(factor);
    NN_ASSIGN(a, Scaled(a, kept));
    NN_ASSIGN(b, Scaled(b, is_double() ? 1 - kept : static_cast<double>(1.0f - factor)));
    return Add(a, b);
  }

 private:
  ImportContext& ctx_;
  DType dtype_;
};

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
// gradients and their states. fn(tensor, rate, step, operands) replaces the operands by the new
// tensor and, from index 2 on, the new states; the results are the lists of these.
template <size_t kLists, typename Fn>
Status ImportOptimizer(ImportContext& ctx, Fn fn) {
  NN_ASSIGN(Value* const rate, ctx.Required(0));
  NN_ASSIGN(Value* const step, ctx.Required(1));
  const size_t operands = ctx.input_count() - 2;
  if (operands == 0 || operands % kLists != 0)
    return ModelError("there are {} inputs after the first two, not a multiple of {}", operands,
                      kLists);
  const size_t count = operands / kLists;
  for (size_t i = 0; i < count; ++i) {
    std::vector<Value*> values;
    for (size_t list = 0; list < kLists; ++list) {
      NN_ASSIGN(Value* const v, ctx.Required(2 + list * count + i));
      if (list > 0) NN_RETURN_IF_ERROR(RequireSameShape(values[0], v));
      values.push_back(v);
    }
    const TensorUpdate update(ctx, values[0]->dtype());
    NN_ASSIGN(Value* const own_rate, update.As(rate));
    NN_RETURN_IF_ERROR(fn(update, own_rate, step, values));
    ctx.SetOutput(i, values[0]);
    for (size_t list = 2; list < kLists; ++list)
      ctx.SetOutput((list - 1) * count + i, values[list]);
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
      ctx, [=](const TensorUpdate& t, Value* rate, Value* step, std::vector<Value*>& v) -> Status {
        NN_ASSIGN(Value* const gradient, t.Regularized(v[0], v[1], norm));
        NN_ASSIGN(Value* const one, t.Number(1));
        NN_ASSIGN(Value * weight, t.Number(static_cast<double>(beta)));
        NN_ASSIGN(weight, t.AfterFirst(step, weight, one));
        NN_ASSIGN(Value * direction, t.Mul(weight, gradient));
        NN_ASSIGN(v[2], t.Scaled(v[2], static_cast<double>(alpha)));
        NN_ASSIGN(v[2], t.Add(v[2], direction));
        direction = v[2];
        if (nesterov) {
          NN_ASSIGN(direction, t.Scaled(direction, static_cast<double>(alpha)));
          NN_ASSIGN(direction, t.Add(gradient, direction));
        }
        NN_ASSIGN(direction, t.Mul(rate, direction));
        NN_ASSIGN(v[0], t.Sub(v[0], direction));
        return {};
      });
}

Status ImportAdagrad(ImportContext& ctx) {
  const float decay = ctx.Float("decay_factor", 0);
  const float epsilon = ctx.Float("epsilon", 1e-6f);
  const float norm = ctx.Float("norm_coefficient", 0);
  return ImportOptimizer<3>(
      ctx, [=](const TensorUpdate& t, Value* rate, Value* step, std::vector<Value*>& v) -> Status {
        NN_ASSIGN(Value * steps, t.As(step));
        NN_ASSIGN(steps, t.Scaled(steps, static_cast<double>(decay)));
        NN_ASSIGN(steps, t.Plus(steps, 1));
        NN_ASSIGN(rate, t.Div(rate, steps));
        NN_ASSIGN(Value* const gradient, t.Regularized(v[0], v[1], norm));
        NN_ASSIGN(Value* const square, t.Mul(gradient, gradient));
        NN_ASSIGN(v[2], t.Add(v[2], square));
        NN_ASSIGN(Value * root, t.Sqrt(v[2]));
        NN_ASSIGN(root, t.Plus(root, static_cast<double>(epsilon)));
        NN_ASSIGN(Value * change, t.Mul(rate, gradient));
        NN_ASSIGN(change, t.Div(change, root));
        NN_ASSIGN(v[0], t.Sub(v[0], change));
        return {};
      });
}

// 1 - base^step.
Result<Value*> RestOfPower(const TensorUpdate& t, float base, Value* steps) {
  NN_ASSIGN(Value * power, t.Number(static_cast<double>(base)));
  NN_ASSIGN(power, t.Pow(power, steps));
  return t.Rest(power);
}

Status ImportAdam(ImportContext& ctx) {
  const float alpha = ctx.Float("alpha", 0.9f), beta = ctx.Float("beta", 0.999f);
  const float epsilon = ctx.Float("epsilon", 1e-6f);
  const float norm = ctx.Float("norm_coefficient", 0);
  const float norm_post = ctx.Float("norm_coefficient_post", 0);
  return ImportOptimizer<4>(
      ctx, [=](const TensorUpdate& t, Value* rate, Value* step, std::vector<Value*>& v) -> Status {
        if (t.is_double())
          return UnsupportedError("Adam of f64: its powers are supported for f32 only");
        NN_ASSIGN(Value* const gradient, t.Regularized(v[0], v[1], norm));
        NN_ASSIGN(Value* const square, t.Mul(gradient, gradient));
        NN_ASSIGN(v[2], t.Average(v[2], gradient, alpha));
        NN_ASSIGN(v[3], t.Average(v[3], square, beta));
        NN_ASSIGN(Value* const steps, t.As(step));
        NN_ASSIGN(Value * scale, RestOfPower(t, beta, steps));
        NN_ASSIGN(scale, t.Sqrt(scale));
        NN_ASSIGN(scale, t.Mul(rate, scale));
        NN_ASSIGN(Value* const first, RestOfPower(t, alpha, steps));
        NN_ASSIGN(scale, t.Div(scale, first));
        NN_ASSIGN(scale, t.AfterFirst(step, scale, rate));
        NN_ASSIGN(Value * root, t.Sqrt(v[3]));
        NN_ASSIGN(root, t.Plus(root, static_cast<double>(epsilon)));
        NN_ASSIGN(Value * change, t.Mul(scale, v[2]));
        NN_ASSIGN(change, t.Div(change, root));
        NN_ASSIGN(v[0], t.Sub(v[0], change));
        if (norm_post != 0) {
          NN_ASSIGN(v[0], t.Scaled(v[0], static_cast<double>(1.0f - norm_post)));
        }
        return {};
      });
}

constexpr char kTrainingDomain[] = "ai.onnx.preview.training";

constexpr ImportRow kOptimizerImports[] = {
    {.op = "Adagrad", .import = ImportAdagrad, .domain = kTrainingDomain},
    {.op = "Adam", .import = ImportAdam, .domain = kTrainingDomain},
    {.op = "Momentum", .import = ImportMomentum, .domain = kTrainingDomain},
};

}  // namespace

Family OptimizerFamily() {
  return {.imports = kOptimizerImports};
}

}  // namespace nn::onnx
