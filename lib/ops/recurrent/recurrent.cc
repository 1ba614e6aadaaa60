#include "ops/recurrent/recurrent.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "base/arith.h"
#include "base/checked_math.h"
#include "base/text/text.h"
#include "ir/tensor_bounds.h"
#include "numeric/functions-inl.h"
#include "numeric/scalar.h"
#include "ops/families.h"
#include "ops/quant/quantized.h"
#include "ops/recurrent/function_f64.h"
#include "ops/recurrent/gates.h"
#include "ops/recurrent/lstm_quant.h"
#include "ops/recurrent/operand_shape.h"
#include "ops/support/domain.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {
namespace {

template <class T>
std::vector<AttrField> CommonFields() {
  return {Field<&RecurrentAttrs::direction, T>("direction"),
          Field<&RecurrentAttrs::batch_first, T>("batch_first"),
          Field<&RecurrentAttrs::activations, T>("activations"),
          Field<&RecurrentAttrs::alpha, T>("alpha"),
          Field<&RecurrentAttrs::beta, T>("beta"),
          Field<&RecurrentAttrs::clip, T>("clip")};
}

}  // namespace

std::span<const AttrField> RecurrentAttrs::Fields() {
  static const std::vector<AttrField> fields = CommonFields<RecurrentAttrs>();
  return fields;
}
std::span<const AttrField> GruAttrs::Fields() {
  static const std::vector<AttrField> fields = [] {
    auto f = CommonFields<GruAttrs>();
    f.push_back(Field<&GruAttrs::linear_before_reset>("linear_before_reset"));
    return f;
  }();
  return fields;
}
std::span<const AttrField> LstmAttrs::Fields() {
  static const std::vector<AttrField> fields = [] {
    auto f = CommonFields<LstmAttrs>();
    f.push_back(Field<&LstmAttrs::input_forget>("input_forget"));
    f.push_back(Field<&LstmAttrs::cell_clip>("cell_clip"));
    return f;
  }();
  return fields;
}

float RecurrentFunction::operator()(float x) const {
  using M = ScalarMachine;
  x = scalar::ClipFn<M>::Run(x, {-clip_, clip_});
  switch (activation_) {
    case RecurrentActivation::kAffine:
      return Fma(params_[0], x, params_[1]);
    case RecurrentActivation::kElu:
      return scalar::EluFn<M>::Run(x, params_);
    case RecurrentActivation::kHardSigmoid:
      return scalar::HardSigmoidFn<M>::Run(x, params_);
    case RecurrentActivation::kLeakyRelu:
      return scalar::LeakyReluFn<M>::Run(x, params_);
    case RecurrentActivation::kRelu:
      return scalar::ReluFn<M>::Run(x, params_);
    case RecurrentActivation::kScaledTanh:
      return params_[0] * scalar::TanhFn<M>::Run(params_[1] * x, params_);
    case RecurrentActivation::kSigmoid:
      return scalar::SigmoidFn<M>::Run(x, params_);
    case RecurrentActivation::kSoftplus:
      return scalar::SoftplusFn<M>::Run(x, params_);
    case RecurrentActivation::kSoftsign:
      return scalar::SoftsignFn<M>::Run(x, params_);
    case RecurrentActivation::kTanh:
      return scalar::TanhFn<M>::Run(x, params_);
    case RecurrentActivation::kThresholdedRelu:
      break;
  }
  return scalar::ThresholdedReluFn<M>::Run(x, params_);
}

namespace {

using enum RecurrentInputs::Index;

// The differences between the three operators.
struct Kind {
  int64_t gates;
  std::span<const RecurrentActivation> functions;  // the defaults
};

constexpr RecurrentActivation kFunctions[] = {
    RecurrentActivation::kSigmoid, RecurrentActivation::kTanh, RecurrentActivation::kTanh};
constexpr Kind kRnn = {1, std::span(kFunctions).subspan(1, 1)};
constexpr Kind kGru = {3, std::span(kFunctions).first(2)};
constexpr Kind kLstm = {4, kFunctions};

const Kind& KindOf(const Node& node) {
  return LstmAttrsOf(node) != nullptr ? kLstm : GruAttrsOf(node) != nullptr ? kGru : kRnn;
}

}  // namespace

const RecurrentAttrs& RecurrentAttrsOf(const Node& node) {
  if (const auto* lstm = LstmAttrsOf(node)) return *lstm;
  if (const auto* gru = GruAttrsOf(node)) return *gru;
  return node.attrs<RecurrentAttrs>();
}

Result<std::vector<RecurrentFunction>> RecurrentFunctionsOf(const Node& node, int64_t direction) {
  const RecurrentAttrs& attrs = RecurrentAttrsOf(node);
  const auto defaults = KindOf(node).functions;
  std::vector<RecurrentFunction> out;
  const size_t n = attrs.activations.size();
  if (n == 0 && attrs.alpha.empty() && attrs.beta.empty()) {
    for (const RecurrentActivation a : defaults) out.emplace_back(a, 0.0f, 0.0f, attrs.clip);
    return out;
  }
  const size_t wanted = defaults.size() * static_cast<size_t>(attrs.directions());
  if (n != wanted || attrs.alpha.size() != n || attrs.beta.size() != n)
    return ModelError("{} activations, {} alphas and {} betas; must have {} of each", n,
                      attrs.alpha.size(), attrs.beta.size(), wanted);
  for (size_t i = 0; i < defaults.size(); ++i) {
    const size_t at = static_cast<size_t>(direction) * defaults.size() + i;
    const auto a = ParseEnum<RecurrentActivation>(attrs.activations[at]);
    if (!a) return ModelError("unknown activation {}", Quote(attrs.activations[at]));
    out.emplace_back(*a, attrs.alpha[at], attrs.beta[at], attrs.clip);
  }
  return out;
}

namespace {

// The largest magnitude of an activation function's result; nullopt if there is none.
std::optional<double> BoundOf(const RecurrentFunction& f) {
  switch (f.activation()) {
    case RecurrentActivation::kHardSigmoid:
    case RecurrentActivation::kSigmoid:
    case RecurrentActivation::kSoftsign:
    case RecurrentActivation::kTanh:
      return 1;
    case RecurrentActivation::kScaledTanh:
      return std::fabs(f.params()[0]);
    default:
      return std::nullopt;
  }
}

bool IsGate(const RecurrentFunction& f) {
  return f.activation() == RecurrentActivation::kSigmoid ||
         f.activation() == RecurrentActivation::kHardSigmoid;
}

// The largest magnitude in an initial state; nullopt if it is not known.
std::optional<double> LargestState(const Value* state) {
  if (state == nullptr) return 0;
  if (!state->is_constant()) return std::nullopt;
  const Tensor& t = state->constant();
  if (t.elements() == 0) return 0;
  const auto bounds = BoundsOf(t);
  if (!bounds || !std::isfinite(bounds->min) || !std::isfinite(bounds->max)) return std::nullopt;
  return Magnitude(*bounds).max;
}

}  // namespace

std::optional<RecurrentFunction> CellFunctionOf(const Node& node, int64_t direction) {
  const auto functions = RecurrentFunctionsOf(node, direction);
  if (!functions) return std::nullopt;
  if (functions->size() == 1) return functions->front();
  if (functions->front().activation() != RecurrentActivation::kSigmoid ||
      !((*functions)[1] == functions->back()))
    return std::nullopt;
  return functions->back();
}

bool HasZeroRecurrentBias(const Node& node) {
  const Value* const bias = node.inputs().size() > kBias ? node.input(kBias) : nullptr;
  if (bias == nullptr) return true;
  if (!bias->is_constant()) return false;
  const Tensor& t = bias->constant();
  const int64_t half = t.dims()[1] / 2;
  for (int64_t i = 0; i < t.elements(); ++i)
    if (i / half % 2 == 1 && t.GetDouble(i) != 0) return false;
  return true;
}

bool CellClipMatters(const Node& node) {
  const auto& a = node.attrs<LstmAttrs>();
  if (!std::isfinite(a.cell_clip)) return false;
  const Dim steps = node.input(kX)->type().dim(a.batch_first ? 1 : 0);
  const auto largest = LargestState(node.input(kInitialC));
  if (!steps.is_const() || !largest) return true;
  for (int64_t d = 0; d < a.directions(); ++d) {
    const auto functions = RecurrentFunctionsOf(node, d);
    if (!functions || !IsGate((*functions)[0])) return true;
    const auto bound = BoundOf((*functions)[1]);
    // Each step adds at most the bound; the margin covers rounding.
    if (!bound) return true;
    if ((*largest + *bound * static_cast<double>(steps.value())) * 1.001 > a.cell_clip) return true;
  }
  return false;
}

Result<bool> DropWideCellClip(Graph&, Node& node) {
  constexpr double kMinSteps = 10000;
  LstmAttrs a = node.attrs<LstmAttrs>();
  for (int64_t d = 0; d < a.directions(); ++d) {
    const auto functions = RecurrentFunctionsOf(node, d);
    if (!functions || !IsGate((*functions)[0])) return false;
    const auto bound = BoundOf((*functions)[1]);
    if (!bound || *bound * kMinSteps > a.cell_clip) return false;
  }
  if (!std::isfinite(a.cell_clip)) return false;
  a.cell_clip = std::numeric_limits<float>::infinity();
  node.set_attrs(std::move(a));
  return true;
}

Status RequireOperandShape(const InferContext& ctx, size_t input, std::string_view name,
                           const Dims& want) {
  if (!ctx.has(input) || !ctx.in(input).ranked()) return {};
  const Dims& dims = *ctx.in(input).dims;
  bool fits = dims.size() == want.size();
  for (size_t i = 0; fits && i < want.size(); ++i)
    fits = !dims[i].is_const() || !want[i].is_const() || dims[i] == want[i];
  if (!fits)
    return ModelError("{} is {}; must have shape {}", name, ctx.in(input).ToString(),
                      ToString(want));
  return {};
}

namespace {

// ---- Inference ----------------------------------------------------------------------------------

// Whether it is an lstm with TensorFlow Lite's integer arithmetic; SameDType rejects the others.
bool IsQuantized(const InferContext& ctx) {
  return LstmAttrsOf(ctx.node()) != nullptr && ctx.has(kX) && ctx.in(kX).quantized();
}

Status InferRecurrent(InferContext& ctx) {
  const Kind& kind = KindOf(ctx.node());
  const RecurrentAttrs& a = RecurrentAttrsOf(ctx.node());
  for (int64_t d = 0; d < a.directions(); ++d) {
    NN_RETURN_IF_ERROR(RecurrentFunctionsOf(ctx.node(), d));
  }
  if (!(a.clip >= 0)) return ModelError("clip is {}; must not be negative", a.clip);
  if (&kind == &kLstm && !(ctx.attrs<LstmAttrs>().cell_clip >= 0))
    return ModelError("cell_clip is {}; must not be negative", ctx.attrs<LstmAttrs>().cell_clip);
  NN_RETURN_IF_ERROR(RequireRank(ctx, kX, 3, 3));
  NN_RETURN_IF_ERROR(RequireRank(ctx, kR, 3, 3));
  const bool quantized = IsQuantized(ctx);
  if (quantized) {
    NN_RETURN_IF_ERROR(CheckQuantizedLstm(ctx));
  } else {
    NN_RETURN_IF_ERROR(SameDType(ctx, {kX, kW, kR, kBias, kInitialH, kInitialC, kPeepholes}));
  }
  if (ctx.has(kLengths) && ctx.in(kLengths).dtype != DType::kI32 &&
      ctx.in(kLengths).dtype != DType::kUnknown)
    return ModelError("lengths is {}; must be i32", ctx.in(kLengths).ToString());
  const Type& x = ctx.in(kX);
  const Dim directions(a.directions());
  const Dim steps = x.dim(a.batch_first ? 1 : 0);
  const Dim batch = x.dim(a.batch_first ? 0 : 1);
  const Dim units = ctx.in(kR).dim(2);
  const Dim rows = Dim(kind.gates) * units;
  const Dims state =
      a.batch_first ? Dims{batch, directions, units} : Dims{directions, batch, units};
  NN_RETURN_IF_ERROR(RequireOperandShape(ctx, kW, "w", {directions, rows, x.dim(2)}));
  NN_RETURN_IF_ERROR(RequireOperandShape(ctx, kR, "r", {directions, rows, units}));
  NN_RETURN_IF_ERROR(RequireOperandShape(ctx, kBias, "bias", {directions, Dim(2) * rows}));
  NN_RETURN_IF_ERROR(RequireOperandShape(ctx, kLengths, "lengths", {batch}));
  NN_RETURN_IF_ERROR(RequireOperandShape(ctx, kInitialH, "initial_h", state));
  NN_RETURN_IF_ERROR(RequireOperandShape(ctx, kInitialC, "initial_c", state));
  NN_RETURN_IF_ERROR(
      RequireOperandShape(ctx, kPeepholes, "peepholes", {directions, Dim(3) * units}));
  ctx.set_out(0, Type(x.dtype, a.batch_first ? Dims{batch, steps, directions, units}
                                             : Dims{steps, directions, batch, units}));
  for (size_t i = 1; i < ctx.output_count(); ++i)
    ctx.set_out(i, Type(quantized && i == 2 ? DType::kI16 : x.dtype, state));
  return {};
}

std::optional<int64_t> MultiplyAdds(const Node& node) {
  const auto x = node.input(kX)->type().const_dims();
  const auto w = node.input(kW)->type().const_dims();
  const auto r = node.input(kR)->type().const_dims();
  if (!x || !w || !r) return std::nullopt;
  const auto one = CheckedElements(std::vector<int64_t>{(*w)[0], (*w)[1], (*w)[2] + (*r)[2]});
  return one ? CheckedElements(std::vector<int64_t>{(*x)[0], (*x)[1], *one}) : std::nullopt;
}

// ---- Evaluation ---------------------------------------------------------------------------------

// One direction of one sequence: its states and the step.
template <typename T>
class Cell {
 public:
  struct Operands {
    const T* w;
    const T* r;
    const T* bias;       // null: 0
    const T* peepholes;  // null: none
  };

  Cell(const Kind& kind, const Node& node, std::vector<RecurrentFunction> functions, Operands in,
       int64_t inputs, int64_t units)
      : kind_(kind),
        node_(node),
        functions_(std::move(functions)),
        in_(in),
        inputs_(inputs),
        units_(units),
        wx_(static_cast<size_t>(kind.gates * units)),
        rh_(wx_.size()) {}

  // Starts from states; null: 0.
  void Start(const T* h, const T* c) {
    h_.assign(static_cast<size_t>(units_), T{0});
    c_ = h_;
    if (h != nullptr) std::copy_n(h, units_, h_.data());
    if (c != nullptr) std::copy_n(c, units_, c_.data());
  }

  void Step(const T* x) {
    Products(in_.w, x, inputs_, in_.bias, 0, kind_.gates, wx_);
    const T* r_bias = in_.bias == nullptr ? nullptr : in_.bias + kind_.gates * units_;
    if (&kind_ == &kLstm) {
      Products(in_.r, h_.data(), units_, r_bias, 0, kind_.gates, rh_);
      StepLstm();
    } else if (&kind_ == &kGru) {
      StepGru(r_bias);
    } else {
      Products(in_.r, h_.data(), units_, r_bias, 0, kind_.gates, rh_);
      for (int64_t u = 0; u < units_; ++u) At(h_, u) = Apply(0, Sum(0, u));
    }
  }

  const std::vector<T>& h() const { return h_; }
  const std::vector<T>& c() const { return c_; }

 private:
  T Apply(size_t function, T x) const {
    if constexpr (std::is_same_v<T, float>)
      return functions_[function](x);
    else
      return ApplyInDouble(functions_[function], RecurrentAttrsOf(node_).clip, x);
  }

  static T& At(std::vector<T>& v, int64_t i) { return v[static_cast<size_t>(i)]; }

  // out[row] = weights[row] . v + bias[row], for the rows of some gates.
  void Products(const T* weights, const T* v, int64_t n, const T* bias, int64_t first_gate,
                int64_t end_gate, std::vector<T>& out) const {
    for (int64_t row = first_gate * units_; row < end_gate * units_; ++row) {
      const T* w = weights + row * n;
      T sum = 0;
      for (int64_t k = 0; k < n; ++k) sum = Fma(v[k], w[k], sum);
      At(out, row) = sum + (bias == nullptr ? T{0} : bias[row]);
    }
  }

  // wx + rh for a gate.
  T Sum(int64_t gate, int64_t unit) {
    return At(wx_, gate * units_ + unit) + At(rh_, gate * units_ + unit);
  }

  void StepGru(const T* r_bias) {
    enum Gate : int64_t { kZ, kReset, kNew };
    const bool linear = node_.attrs<GruAttrs>().linear_before_reset;
    Products(in_.r, h_.data(), units_, r_bias, kZ, linear ? kind_.gates : kNew, rh_);
    std::vector<T> reset(h_.size());
    for (int64_t u = 0; u < units_; ++u) At(reset, u) = Apply(0, Sum(kReset, u));
    if (!linear) {
      std::vector<T> kept(h_.size());
      for (size_t u = 0; u < kept.size(); ++u) kept[u] = reset[u] * h_[u];
      Products(in_.r, kept.data(), units_, r_bias, kNew, kind_.gates, rh_);
    }
    for (int64_t u = 0; u < units_; ++u) {
      const T z = Apply(0, Sum(kZ, u));
      const T sum = linear
                        ? Fma(At(reset, u), At(rh_, kNew * units_ + u), At(wx_, kNew * units_ + u))
                        : Sum(kNew, u);
      At(h_, u) = Fma(z, At(h_, u), (T{1} - z) * Apply(1, sum));
    }
  }

  void StepLstm() {
    enum Gate : int64_t { kI, kO, kF, kN };
    const bool coupled = node_.attrs<LstmAttrs>().input_forget;
    const T limit = node_.attrs<LstmAttrs>().cell_clip;
    // Peepholes are in the order of the gates.
    const auto with_peephole = [&](Gate gate, int64_t u, T c) {
      const T sum = Sum(gate, u);
      return in_.peepholes == nullptr ? sum : Fma(in_.peepholes[gate * units_ + u], c, sum);
    };
    for (int64_t u = 0; u < units_; ++u) {
      const T i = Apply(0, with_peephole(kI, u, At(c_, u)));
      const T f = coupled ? T{1} - i : Apply(0, with_peephole(kF, u, At(c_, u)));
      const T next = Fma(f, At(c_, u), i * Apply(1, Sum(kN, u)));
      const T raised = -limit > next ? -limit : next;
      At(c_, u) = limit < raised ? limit : raised;
      const T o = Apply(0, with_peephole(kO, u, At(c_, u)));
      At(h_, u) = o * Apply(2, At(c_, u));
    }
  }

  const Kind& kind_;
  const Node& node_;
  std::vector<RecurrentFunction> functions_;
  Operands in_;
  int64_t inputs_, units_;
  std::vector<T> wx_, rh_;  // of all gates
  std::vector<T> h_, c_;
};

// An input; null if it is absent.
template <typename T>
std::optional<Reals<T>> Optional(const EvalContext& ctx, size_t i) {
  return ctx.has(i) ? std::optional<Reals<T>>(std::in_place, ctx.in(i)) : std::nullopt;
}
template <typename T>
const T* DataOf(const std::optional<Reals<T>>& reals) {
  return reals ? reals->data() : nullptr;
}
template <typename T>
const T* Part(const T* data, int64_t offset) {
  return data == nullptr ? nullptr : data + offset;
}

Status EvalRecurrent(EvalContext& ctx) {
  if (LstmAttrsOf(ctx.node()) != nullptr && ctx.in_type(kX).quantized()) {
    NN_RETURN_IF_ERROR(RequireTflite(ctx));
    return EvalQuantizedLstm(ctx);
  }
  const Kind& kind = KindOf(ctx.node());
  const RecurrentAttrs& a = RecurrentAttrsOf(ctx.node());
  return WithReals(ctx.in(kX).dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto& dims = ctx.in(kX).dims();
    const int64_t steps = dims[a.batch_first ? 1 : 0];
    const int64_t batch = dims[a.batch_first ? 0 : 1];
    const int64_t inputs = dims[2];
    const int64_t directions = a.directions();
    const int64_t units = ctx.in(kR).dims()[2];
    const Reals<T> x(ctx.in(kX)), w(ctx.in(kW)), r(ctx.in(kR));
    const auto bias = Optional<T>(ctx, kBias), initial_h = Optional<T>(ctx, kInitialH),
               initial_c = Optional<T>(ctx, kInitialC), peepholes = Optional<T>(ctx, kPeepholes);
    std::vector<RealOutput<T>> outputs;
    for (size_t i = 0; i < ctx.output_count(); ++i) {
      NN_ASSIGN(auto output, RealOutput<T>::Create(ctx, i));
      std::fill_n(output.data(), output.size(), T{0});
      outputs.push_back(std::move(output));
    }
    const auto state_at = [&](int64_t d, int64_t b) {
      return (a.batch_first ? b * directions + d : d * batch + b) * units;
    };
    for (int64_t d = 0; d < directions; ++d) {
      NN_ASSIGN(auto functions, RecurrentFunctionsOf(ctx.node(), d));
      const int64_t rows = kind.gates * units;
      Cell<T> cell(kind, ctx.node(), std::move(functions),
                   {w.data() + d * rows * inputs, r.data() + d * rows * units,
                    Part(DataOf(bias), d * 2 * rows), Part(DataOf(peepholes), d * 3 * units)},
                   inputs, units);
      const bool reverse = a.direction == RecurrentDirection::kReverse || d == 1;
      for (int64_t b = 0; b < batch; ++b) {
        const int64_t length = ctx.has(kLengths) ? ctx.in(kLengths).GetInt(b) : steps;
        if (length < 0 || length > steps)
          return ModelError("sequence {} has length {}; must be in [0, {}]", b, length, steps);
        cell.Start(Part(DataOf(initial_h), state_at(d, b)),
                   Part(DataOf(initial_c), state_at(d, b)));
        for (int64_t i = 0; i < length; ++i) {
          const int64_t t = reverse ? length - 1 - i : i;
          cell.Step(x.data() + (a.batch_first ? b * steps + t : t * batch + b) * inputs);
          const int64_t y_at =
              a.batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b;
          std::copy_n(cell.h().data(), units, outputs[0].data() + y_at * units);
        }
        if (outputs.size() > 1)
          std::copy_n(cell.h().data(), units, outputs[1].data() + state_at(d, b));
        if (outputs.size() > 2)
          std::copy_n(cell.c().data(), units, outputs[2].data() + state_at(d, b));
      }
    }
    for (RealOutput<T>& output : outputs) output.Finish();
    return {};
  });
}

OpDef MakeOp(std::string_view name, std::string_view summary, const AttrsInfo* attrs, bool cell) {
  OpDef op;
  op.name = name;
  op.summary = summary;
  op.category = Category::kRecurrent;
  op.attrs = attrs;
  op.inputs = {{"x"},
               {"w"},
               {"r"},
               {"bias", Arity::kOptional},
               {"lengths", Arity::kOptional},
               {"initial_h", Arity::kOptional}};
  op.outputs = {{"y"}, {"y_h", Arity::kOptional}};
  if (cell) {
    op.inputs.push_back({"initial_c", Arity::kOptional});
    op.inputs.push_back({"peepholes", Arity::kOptional});
    op.outputs.push_back({"y_c", Arity::kOptional});
    op.quant_rule = QuantRule::kFree;
  }
  op.infer = InferRecurrent;
  op.eval = EvalRecurrent;
  op.multiply_adds = MultiplyAdds;
  return op;
}

// Lengths of the sequences in a batch.
Domain RecurrentDomain(const Node& node, size_t input, std::span<const Domain>) {
  const auto dims = DimsOf(node.input(0));
  if (input != 4 || !dims || dims->size() != 3) return {};
  const bool batch_first = RecurrentAttrsOf(node).batch_first;
  return Between(1, static_cast<double>((*dims)[batch_first ? 1 : 0]));
}

}  // namespace

void RegisterRecurrentOps(OpRegistry& ops) {
  ops.Add(MakeOp("rnn", "simple recurrent layer", AttrsInfoOf<RecurrentAttrs>(), false));
  ops.Add(MakeOp("gru", "gated recurrent unit", AttrsInfoOf<GruAttrs>(), false));
  ops.Add(MakeOp("lstm", "long short-term memory", AttrsInfoOf<LstmAttrs>(), true));
}

void AddRecurrentDomains(DomainTable& domains) {
  domains["rnn"] = RecurrentDomain;
  domains["gru"] = RecurrentDomain;
  domains["lstm"] = RecurrentDomain;
}

}  // namespace nn
