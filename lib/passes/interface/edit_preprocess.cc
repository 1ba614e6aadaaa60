#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text/text.h"
#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/array/arrange/slice.h"
#include "ops/support/term_ops.h"
#include "passes/interface/edits.h"
#include "passes/interface/preprocessed.h"

namespace nn {
namespace {

// The axes of an input that takes pictures.
struct PictureAxes {
  Layout layout = Layout::kNcx;
  size_t channels = 0, height = 0;  // width is the axis after the height
};

std::optional<PictureAxes> PictureAxesOf(const Value& value, std::optional<Layout> layout) {
  const Type& type = value.type();
  if (!type.ranked() || type.rank() < 3 || type.rank() > 4) return std::nullopt;
  const auto rank = static_cast<size_t>(type.rank());
  const auto can_be = [&](size_t axis) {
    const Dim& d = (*type.dims)[axis];
    return d == 1 || d == 3;
  };
  if (!layout && rank == 4) layout = LayoutOf(value);
  if (!layout) {
    const bool leads = can_be(rank - 3), trails = can_be(rank - 1);
    if (leads == trails) return std::nullopt;
    layout = leads ? Layout::kNcx : Layout::kNxc;
  }
  return *layout == Layout::kNcx ? PictureAxes{*layout, rank - 3, rank - 2}
                                 : PictureAxes{*layout, rank - 1, rank - 3};
}

// Preprocessing of one input, with all choices made.
struct Plan {
  Preprocessing p;
  Type before;       // of the input
  Type after;        // that it gets
  bool raw = false;  // integers that are the pixels themselves
  std::optional<PictureAxes> axes;
  int64_t channels = 1;              // of the numbers, along axes
  std::vector<double> factor, term;  // of each channel: pixel * factor + term

  double At(const std::vector<double>& numbers, double other, size_t c) const {
    return numbers.empty() ? other : numbers[numbers.size() == 1 ? 0 : c];
  }
  double Number(double pixel, size_t c) const {
    const double scale = p.scale.value_or(p.bytes ? 1.0 / 255 : 1);
    return (pixel * scale - At(p.mean, 0, c)) / At(p.std, 1, c) + At(p.bias, 0, c);
  }
  ResizeAttrs Resize() const {
    const size_t h = axes->height;
    ResizeAttrs a;
    a.layout = axes->layout;
    a.mode = p.mode;
    a.sizes = {(*before.dims)[h], (*before.dims)[h + 1]};
    if (p.mode == ResizeMode::kNearest) {
      a.coordinates = Coordinates::kTfHalfPixelForNn;
      a.rounding = NearestRounding::kFloor;
    } else if (p.size->first > a.sizes[0].value() || p.size->second > a.sizes[1].value()) {
      a.antialias = true;
      a.exclude_outside = true;
    }
    return a;
  }
  bool rounds() const { return p.size && p.bytes && p.mode != ResizeMode::kNearest; }
};

Status CheckNumbers(const Plan& plan, const std::string& name) {
  const Preprocessing& p = plan.p;
  for (const auto& [key, numbers] :
       {std::pair("mean", &p.mean), std::pair("std", &p.std), std::pair("bias", &p.bias)}) {
    if (numbers->size() <= 1) continue;
    if (!plan.axes)
      return UsageError(
          "--preprocess {}: {} has a number for each channel, but it is not clear which axis of {} "
          "has the channels; state nchw or nhwc",
          name, key, plan.before.ToString());
    if (static_cast<int64_t>(numbers->size()) != plan.channels)
      return UsageError("--preprocess {}: {} has {} numbers for {} channels", name, key,
                        numbers->size(), plan.channels);
  }
  if (std::ranges::find(p.std, 0.0) != p.std.end())
    return UsageError("--preprocess {}: std is 0", name);
  return {};
}

Result<Plan> PlanOf(const Port& port, const Preprocessing& p) {
  Plan plan;
  plan.p = p;
  plan.before = port.value->type();
  const Type& type = plan.before;
  if (!IsFloat(type.dtype) && !IsInteger(type.dtype))
    return UsageError("--preprocess {}: the input is {}, not numbers", port.name, type.ToString());
  if (type.quantized() && type.quant->per_axis())
    return UsageError("--preprocess {}: the input is {}, with several scales", port.name,
                      type.ToString());
  plan.axes = PictureAxesOf(*port.value, p.layout);
  if (plan.axes && (*type.dims)[plan.axes->channels].is_const())
    plan.channels = (*type.dims)[plan.axes->channels].value();
  NN_RETURN_IF_ERROR(CheckNumbers(plan, port.name));
  if (p.reverse_colors && (!plan.axes || plan.channels != 3))
    return UsageError("--preprocess {}: bgr needs an axis of 3 channels; the input is {}",
                      port.name, type.ToString());
  plan.raw = p.bytes && IsInteger(type.dtype) && !p.has_numbers();
  plan.after = type;
  if (p.bytes)
    plan.after = Type(DType::kU8, *type.dims);
  else if (type.quantized() && (p.has_numbers() || p.size))
    plan.after = Type(DType::kF32, *type.dims);
  const bool is_byte = type.dtype == DType::kI8 || type.dtype == DType::kU8;
  if (plan.raw && type.quantized() && is_byte && p.size) {
    // The pixels as real numbers, which are resized.
    plan.raw = false;
    plan.p.scale = type.quant->scale();
    plan.p.mean = {
        static_cast<double>(type.quant->zero_point() + (type.dtype == DType::kI8 ? 128 : 0)) *
        type.quant->scale()};
  }
  if (plan.raw && type.quantized() && is_byte) {
    const int64_t zero = type.quant->zero_point() + (type.dtype == DType::kI8 ? 128 : 0);
    plan.after.quant = Quant::PerTensor(type.quant->scale(), zero);
  } else if (plan.raw && type.quantized()) {
    return UsageError("--preprocess {}: {} holds no pixels; state scale, mean or std", port.name,
                      type.ToString());
  }
  if (p.size) {
    const auto is_fixed = [&](size_t axis) { return (*type.dims)[axis].is_const(); };
    if (!plan.axes || type.rank() != 4 || !is_fixed(plan.axes->height) ||
        !is_fixed(plan.axes->height + 1))
      return UsageError(
          "--preprocess {}: resize needs 4 axes with a fixed height and width, and a clear layout "
          "(state nchw or nhwc); the input is {}",
          port.name, type.ToString());
    Dims dims = *type.dims;
    dims[plan.axes->height] = Dim(p.size->first);
    dims[plan.axes->height + 1] = Dim(p.size->second);
    plan.after = plan.after.WithDims(std::move(dims));
  }
  for (int64_t c = 0; c < plan.channels; ++c) {
    const auto i = static_cast<size_t>(c);
    const double zero = plan.Number(0, i);
    plan.factor.push_back(plan.Number(1, i) - zero);
    plan.term.push_back(zero);
  }
  return plan;
}

// Appends nodes at the start of a graph.
class Prologue final : public NodeInserter {
 public:
  Prologue(Graph& graph, Node* before) : graph_(graph), before_(before) {}

 private:
  Graph& graph_of_terms() override { return graph_; }
  Result<Node*> InsertNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                           size_t results) override {
    return graph_.Append(op, std::move(inputs), std::move(attrs), results, before_);
  }

  Graph& graph_;
  Node* before_;
};

// Numbers for each channel, or one for all.
Term ChannelNumbers(const std::vector<double>& numbers, const Plan& plan) {
  const bool same = std::ranges::all_of(numbers, [&](double v) { return v == numbers[0]; });
  std::vector<int64_t> dims;
  std::vector<float> values(numbers.begin(), numbers.end());
  if (same) {
    values.resize(1);
  } else {
    dims.assign(static_cast<size_t>(plan.before.rank()), 1);
    dims[plan.axes->channels] = plan.channels;
  }
  return Tensor::Of<float>(std::move(dims), values);
}

bool AreAll(const std::vector<double>& numbers, double v) {
  return std::ranges::all_of(numbers, [&](double n) { return n == v; });
}

// The value in a quantized type.
Result<Value*> AppendQuantize(Graph& graph, Value* x, Node* before, const Type& to) {
  const OpDef& op = *Ops().Find("quantize");
  Node* const node = graph.AddNode(op, {x}, Attrs(op.attrs), 1, before);
  if (x->type().quantized()) node->set_arithmetic(Arithmetic::kTflite);
  Type type;
  type.dtype = to.dtype;
  type.quant = to.quant;
  node->output()->set_type(std::move(type));
  NN_ASSIGN(const Node* const done, graph.InferAdded(node));
  return done->output();
}

// The weights of a resized axis: row i holds those of output element i. Zeros do not change a sum.
Tensor AxisMatrix(const ResizeAxis& axis, int64_t input, bool transposed) {
  const int64_t output = axis.size();
  std::vector<int64_t> dims = {output, input};
  if (transposed) std::swap(dims[0], dims[1]);
  std::vector<float> weights(static_cast<size_t>(output * input));
  for (int64_t i = 0; i < output; ++i)
    for (int64_t t = 0; t < axis.taps; ++t) {
      const auto tap = static_cast<size_t>(i * axis.taps + t);
      const int64_t at = transposed ? axis.index[tap] * output + i : i * input + axis.index[tap];
      weights[static_cast<size_t>(at)] += axis.weight[tap];
    }
  return Tensor::Of<float>(std::move(dims), weights);
}

// Resizes by products, or by selecting the nearest elements: with the sums of the resize operator
// in every format. The formats' own operators differ in the last bits of positions and weights,
// which rounding to whole numbers makes visible, and few have antialiasing.
Result<Term> Resized(Term x, const Plan& plan) {
  const ResizeAttrs attrs = plan.Resize();
  const std::vector<int64_t> from = {plan.p.size->first, plan.p.size->second};
  const std::vector<int64_t> to = {attrs.sizes[0].value(), attrs.sizes[1].value()};
  NN_ASSIGN(const std::vector<ResizeAxis> axes,
            ResizeAxes(attrs, Arithmetic::kDefault, {{}, to, {}}, from, to));
  if (attrs.mode == ResizeMode::kNearest) {
    for (size_t k = 0; k < 2; ++k) {
      if (axes[k].IsIdentity(from[k])) continue;
      const std::vector<int32_t> index(axes[k].index.begin(), axes[k].index.end());
      x = Gather(x, Tensor::Of<int32_t>({axes[k].size()}, index),
                 static_cast<int64_t>(plan.axes->height + k));
    }
    return x;
  }
  const bool moves = attrs.layout == Layout::kNxc;
  if (moves) x = Transpose(x, {0, 3, 1, 2});
  if (!axes[1].IsIdentity(from[1])) x = Matmul(x, AxisMatrix(axes[1], from[1], true));
  if (!axes[0].IsIdentity(from[0])) x = Matmul(AxisMatrix(axes[0], from[0], false), x);
  return moves ? Transpose(x, {0, 2, 3, 1}) : x;
}

// What the input's users get.
Result<Value*> AddNodes(Graph& graph, Value* input, Node* before, const Plan& plan) {
  Prologue prologue(graph, before);
  const Preprocessing& p = plan.p;
  Term x = input;
  DType dtype = input->dtype();
  const auto cast = [&](DType to) {
    if (dtype != to) x = Cast(x, to);
    dtype = to;
  };
  const bool computes = p.has_numbers() || (p.bytes && !plan.raw);
  if (computes || p.size) cast(DType::kF32);
  if (p.size) {
    NN_ASSIGN(x, Resized(x, plan));
  }
  if (plan.rounds()) x = Apply("round", {x});
  if (p.reverse_colors)
    x = Apply("reverse", {x}, ReverseAttrs{{static_cast<int64_t>(plan.axes->channels)}});
  const Type& type = plan.before;
  if (!plan.raw && computes && !AreAll(plan.factor, 1)) x = x * ChannelNumbers(plan.factor, plan);
  if (!plan.raw && computes && !AreAll(plan.term, 0)) x = x + ChannelNumbers(plan.term, plan);
  if (type.quantized()) {
    NN_ASSIGN(Value* const v, prologue.Build(x));
    const bool changes = plan.raw ? type.dtype == DType::kI8 : !plan.after.quantized();
    return changes ? AppendQuantize(graph, v, before, type) : v;
  }
  if (plan.raw && type.dtype == DType::kI8) {
    cast(DType::kF32);
    x = x + -128;
  } else if (!plan.raw && IsInteger(type.dtype) && dtype == DType::kF32) {
    x = Apply("round", {x});
  }
  cast(type.dtype);
  return prologue.Build(x);
}

// The pixels after the resize, as float32.
Result<Tensor> ResizedPixels(const Plan& plan, const Tensor& pixels) {
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(DType::kF32, pixels.dims()));
  for (int64_t i = 0; i < b.elements(); ++i) b.SetDouble(i, pixels.GetDouble(i));
  Tensor x = b.Finish();
  if (!plan.p.size) return x;
  Graph graph;
  Value* const in = graph.AddInput("x", Type(DType::kF32, ToDims(x.dims())));
  NN_ASSIGN(const Node* const resize, graph.Append("resize", {in}, plan.Resize()));
  NN_ASSIGN(const std::vector<Tensor> out, EvalNode(*resize, {&x}));
  return out[0];
}

// The contents of the input before the edit, computed without the graph.
Result<Tensor> Preprocessed(const Plan& plan, const Tensor& pixels) {
  NN_ASSIGN(const Tensor x, ResizedPixels(plan, pixels));
  const Type& type = plan.before;
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(type.dtype, x.dims()));
  const int64_t inner =
      plan.axes ? Strides(x.dims())[plan.axes->channels] : std::max<int64_t>(x.elements(), 1);
  for (int64_t i = 0; i < out.elements(); ++i) {
    const int64_t c = plan.axes ? i / inner % plan.channels : 0;
    const int64_t from = plan.p.reverse_colors ? i + (plan.channels - 1 - 2 * c) * inner : i;
    double v = x.GetDouble(from);
    if (plan.rounds()) v = std::nearbyint(v);
    if (plan.raw) {
      v = type.dtype == DType::kI8 ? v - 128 : v;
    } else if (plan.p.has_numbers() || plan.p.bytes) {
      v = plan.Number(v, plan.channels == 1 ? 0 : static_cast<size_t>(c));
    }
    if (!plan.raw && type.quantized() && !plan.after.quantized())
      v = std::nearbyint(v / type.quant->scale()) + static_cast<double>(type.quant->zero_point());
    if (IsInteger(type.dtype))
      v = std::clamp(std::nearbyint(v), static_cast<double>(MinInteger(type.dtype)),
                     static_cast<double>(MaxInteger(type.dtype)));
    out.SetDouble(i, v);
  }
  return out.Finish();
}

// Of the graph's metadata.
std::string NormalizedKey(const std::string& input) {
  return "normalized.input." + input;
}

}  // namespace

bool IsNormalized(const Graph& graph, const std::string& input) {
  return graph.metadata.contains(NormalizedKey(input));
}

Result<GraphEdit> PreprocessInput(Graph& graph, size_t input, const Preprocessing& p) {
  NN_ASSIGN(const Plan plan, PlanOf(graph.inputs()[input], p));
  Value* const x = graph.inputs()[input].value;
  // Users get a stand-in until the nodes exist, which use the input itself.
  const std::vector<Use> uses(x->uses().begin(), x->uses().end());
  Node* const first = graph.nodes().empty() ? nullptr : &graph.nodes().front();
  x->set_type(plan.after);
  NN_ASSIGN(Value* const result, AddNodes(graph, x, first, plan));
  if (result == x && plan.after.ToString() == plan.before.ToString())
    return UsageError("--preprocess {} has no effect: the input is like this already",
                      Quote(graph.inputs()[input].name));
  GraphEdit edit;
  if (result != x) {
    for (const Use& use : uses) graph.SetInput(use.node, static_cast<size_t>(use.index), result);
    for (size_t k = 0; k < graph.outputs().size(); ++k)
      if (graph.outputs()[k].value == x) graph.set_output(k, result);
  }
  edit.notes.push_back(fmt::format("input {} is preprocessed: {} -> {}",
                                   Quote(graph.inputs()[input].name), plan.before.ToString(),
                                   plan.after.ToString()));
  if (p.has_numbers() || (p.bytes && !plan.raw))
    graph.metadata[NormalizedKey(graph.inputs()[input].name)] = "true";
  edit.is_exact = false;
  edit.wrap = [input, plan](ModelFunction run) -> ModelFunction {
    return [=](std::vector<Tensor> inputs) -> Result<std::vector<Tensor>> {
      NN_ASSIGN(inputs[input], Preprocessed(plan, inputs[input]));
      return run(std::move(inputs));
    };
  };
  return edit;
}

}  // namespace nn
