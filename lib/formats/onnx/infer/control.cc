// Type inference of If, Loop, Scan and SequenceMap through their subgraphs.
#include <algorithm>

#include "formats/onnx/infer/infer.h"

namespace nn::onnx {
namespace {

Status CheckCount(std::string_view what, size_t made, size_t wanted) {
  if (made == wanted) return {};
  return ModelError("{} has {} outputs; the operator needs {}", what, made, wanted);
}

Status InferIf(TypeContext& ctx) {
  const auto then_types = ctx.InferSubGraph("then_branch", {});
  const auto else_types = ctx.InferSubGraph("else_branch", {});
  if (!then_types || !else_types) return {};
  NN_RETURN_IF_ERROR(CheckCount("then_branch", then_types->size(), ctx.output_count()));
  NN_RETURN_IF_ERROR(CheckCount("else_branch", else_types->size(), ctx.output_count()));
  for (size_t i = 0; i < ctx.output_count(); ++i) {
    auto both = Union((*then_types)[i], (*else_types)[i], [&] { return ctx.Unknown(); });
    if (!both) return tl::unexpected(both.error().In(fmt::format("output {} of the branches", i)));
    ctx.Set(i, *std::move(both));
  }
  return {};
}

// Loop-carried values may change their shape, but not their kind or element type.
Status CheckCarried(const ValueType& given, const ValueType& made, size_t i) {
  if (Compare(WithoutShape(given), WithoutShape(made)) == Agreement::kAgree) return {};
  // An optional may be unwrapped.
  if (given.kind == ValueType::Kind::kOptional && made.kind == given.inner().kind) return {};
  return ModelError("carried value {} is {}, but the body returns {}", i, given.ToString(),
                    made.ToString());
}

bool HasShape(const ValueType& type, const ValueType& other) {
  return type.is_tensor() && other.is_tensor() && type.tensor.dims && other.tensor.dims &&
         *type.tensor.dims == *other.tensor.dims;
}

// The inputs of a loop's body: the number of the iteration, the condition, which is true in the
// body, and the carried values, whose shapes are known if no iteration changes them.
std::vector<KnownFacts> BodyInputs(const TypeContext& ctx, size_t carried) {
  constexpr int kMaxTrials = 3;
  std::vector<KnownFacts> given = {{ValueType::Tensor(DType::kI64)}, {ctx.in(1)}};
  given[1].constant = Shared<Tensor>(Tensor::Scalar(true));
  size_t shapes = 0;
  for (size_t i = 0; i < carried; ++i) {
    given.push_back({ctx.in(i + 2)});
    shapes += ctx.dims(i + 2) != nullptr ? 1 : 0;
  }
  for (int trial = 0; shapes > 0; ++trial) {
    const auto made = trial == kMaxTrials
                          ? std::nullopt
                          : ctx.InferFacts("body", given, TypeContext::Pass::kTrial);
    size_t kept = 0;
    for (size_t i = 2; i < given.size(); ++i) {
      const bool keeps = made && i <= made->size() && HasShape(given[i].type, (*made)[i - 1].type);
      if (!keeps) given[i].type = WithoutShape(given[i].type);
      kept += keeps ? 1 : 0;
    }
    if (kept == shapes) break;
    shapes = kept;
  }
  for (size_t i = 2; i < given.size(); ++i)
    if (shapes == 0) given[i].type = WithoutShape(given[i].type);
  return given;
}

// The number of iterations, if the trip count and the conditions are known.
std::optional<int64_t> Iterations(const TypeContext& ctx, const KnownFacts& next) {
  const auto flag = [](const Tensor* t) {
    return t != nullptr && t->elements() == 1 ? std::optional(t->GetInt(0) != 0) : std::nullopt;
  };
  const auto trips = ctx.has(0) ? ctx.Int(0) : std::nullopt;
  if (ctx.has(1)) {
    const auto first = flag(ctx.node().Constant(1));
    if (!first) return std::nullopt;
    if (!*first) return 0;
    const auto again = next.constant ? flag(&*next.constant) : std::nullopt;
    if (!again) return std::nullopt;
    if (!*again)
      return ctx.has(0) && !trips ? std::nullopt
                                  : std::optional(std::min<int64_t>(trips.value_or(1), 1));
  }
  return trips ? std::optional(std::max<int64_t>(*trips, 0)) : std::nullopt;
}

Status InferLoop(TypeContext& ctx) {
  const size_t carried = ctx.input_count() < 2 ? 0 : ctx.input_count() - 2;
  const std::vector<KnownFacts> given = BodyInputs(ctx, carried);
  for (size_t i = 0; i < carried; ++i) ctx.Set(i, given[i + 2].type);
  const auto made = ctx.InferFacts("body", given);
  if (!made) return {};
  NN_RETURN_IF_ERROR(CheckCount("the body", made->size(), ctx.output_count() + 1));
  const auto length = Iterations(ctx, made->front());
  for (size_t i = 0; i < ctx.output_count(); ++i) {
    const ValueType& type = (*made)[i + 1].type;
    if (i < carried) {
      const ValueType& before = given[i + 2].type;
      NN_RETURN_IF_ERROR(CheckCarried(before, type, i));
      const bool unwrapped = type.is_known() && type.kind != before.kind;
      ctx.Set(i, unwrapped ? WithoutShape(type) : Refine(before, WithoutShape(type)));
      continue;
    }
    if (!type.is_known()) continue;
    if (!type.is_tensor())
      return ModelError("output {} of the body is {}; scan outputs must be tensors", i + 1,
                        type.ToString());
    std::optional<Dims> dims = type.tensor.dims;
    if (dims) dims->insert(dims->begin(), length ? Dim(*length) : ctx.Unknown());
    ctx.Set(i, type.tensor.dtype, std::move(dims));
  }
  return {};
}

Result<size_t> Axis(int64_t axis, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  if (axis < -r || axis >= r) return ModelError("axis {} is out of range for rank {}", axis, rank);
  return static_cast<size_t>(axis < 0 ? axis + r : axis);
}

// The axes of an attribute for `count` values; all 0 if it is absent.
Result<std::vector<int64_t>> ScanAxes(TypeContext& ctx, std::string_view name, size_t count) {
  if (!ctx.node().HasAttr(name)) return std::vector<int64_t>(count, 0);
  auto axes = ctx.node().Ints(name);
  if (axes.size() != count)
    return ModelError("{} has {} entries; expected {}", name, axes.size(), count);
  return axes;
}

Status InferScan(TypeContext& ctx) {
  const int64_t scanned = ctx.node().Int("num_scan_inputs", 0);
  if (scanned < 0 || static_cast<size_t>(scanned) > ctx.input_count())
    return ModelError("num_scan_inputs is {}, but there are {} inputs", scanned, ctx.input_count());
  const size_t carried = ctx.input_count() - static_cast<size_t>(scanned);
  if (carried > ctx.output_count())
    return ModelError("there are {} carried values but {} outputs", carried, ctx.output_count());
  NN_ASSIGN(const auto in_axes, ScanAxes(ctx, "scan_input_axes", static_cast<size_t>(scanned)));
  NN_ASSIGN(const auto out_axes, ScanAxes(ctx, "scan_output_axes", ctx.output_count() - carried));
  std::vector<ValueType> given;
  Dim length = ctx.Unknown();
  for (size_t i = 0; i < ctx.input_count(); ++i) {
    given.push_back(ctx.in(i));
    if (given[i].is_known() && !given[i].is_tensor())
      return ModelError("input {} is {}, not a tensor", i, given[i].ToString());
    if (i < carried || !given[i].tensor.dims) continue;
    Dims dims = *given[i].tensor.dims;
    NN_ASSIGN(const size_t axis, Axis(in_axes[i - carried], dims.size()));
    NN_ASSIGN(length, ctx.Same(length, dims[axis], "lengths of the scan inputs"));
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    given[i].tensor.dims = std::move(dims);
  }
  const auto made = ctx.InferSubGraph("body", given);
  if (!made) return {};
  NN_RETURN_IF_ERROR(CheckCount("the body", made->size(), ctx.output_count()));
  for (size_t i = 0; i < ctx.output_count(); ++i) {
    ValueType type = (*made)[i];
    if (type.is_known() && !type.is_tensor())
      return ModelError("output {} of the body is {}, not a tensor", i, type.ToString());
    if (i < carried) {
      if (Compare(given[i], type) != Agreement::kAgree)
        return ModelError("carried value {} is {}, but the body returns {}", i, given[i].ToString(),
                          type.ToString());
      type = Refine(given[i], type);
    } else if (type.tensor.dims) {
      Dims dims = *type.tensor.dims;
      NN_ASSIGN(const size_t axis, Axis(out_axes[i - carried], dims.size() + 1));
      dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), length);
      type.tensor.dims = std::move(dims);
    }
    ctx.Set(i, std::move(type));
  }
  return {};
}

// Drops the first `count` dimensions of a tensor and compares them with those dropped from others.
Status DropFront(TypeContext& ctx, ValueType& type, size_t count, Dims& dropped) {
  if (!type.tensor.dims) return {};
  const Dims& dims = *type.tensor.dims;
  if (dims.size() < count)
    return ModelError("{} needs {} dimensions for batch and sequence", type.ToString(), count);
  for (size_t i = 0; i < count; ++i) {
    NN_ASSIGN(dropped[i], ctx.Same(dropped[i], dims[i], "batch and sequence sizes of the inputs"));
  }
  type.tensor.dims = Dims(dims.begin() + static_cast<std::ptrdiff_t>(count), dims.end());
  return {};
}

// Scan-8 has batches; its first input is the sequence lengths.
Status InferScan8(TypeContext& ctx) {
  const int64_t scanned = ctx.node().Int("num_scan_inputs", 0);
  if (scanned < 0 || static_cast<size_t>(scanned) + 1 > ctx.input_count())
    return ModelError("num_scan_inputs is {}, but there are {} inputs", scanned, ctx.input_count());
  const size_t carried = ctx.input_count() - 1 - static_cast<size_t>(scanned);
  std::vector<ValueType> given;
  Dims front = ctx.Unknown(2);
  for (size_t i = 1; i < ctx.input_count(); ++i) {
    given.push_back(ctx.in(i));
    NN_RETURN_IF_ERROR(DropFront(ctx, given.back(), i <= carried ? 1 : 2, front));
  }
  const auto made = ctx.InferSubGraph("body", given);
  if (!made) return {};
  NN_RETURN_IF_ERROR(CheckCount("the body", made->size(), ctx.output_count()));
  for (size_t i = 0; i < ctx.output_count(); ++i) {
    ValueType type = (*made)[i];
    if (i < carried) {
      if (Compare(given[i], type) != Agreement::kAgree)
        return ModelError("carried value {} is {}, but the body returns {}", i, given[i].ToString(),
                          type.ToString());
      type = Refine(given[i], type);
    }
    if (type.tensor.dims) {
      Dims dims(front.begin(), front.begin() + (i < carried ? 1 : 2));
      dims.insert(dims.end(), type.tensor.dims->begin(), type.tensor.dims->end());
      type.tensor.dims = std::move(dims);
    }
    ctx.Set(i, std::move(type));
  }
  return {};
}

Status InferSequenceMap(TypeContext& ctx) {
  std::vector<ValueType> given;
  for (size_t i = 0; i < ctx.input_count(); ++i) {
    const ValueType& type = ctx.in(i);
    const bool sequence = type.kind == ValueType::Kind::kSequence;
    if (i == 0 && type.is_known() && !sequence)
      return ModelError("input 0 is {}, not a sequence", type.ToString());
    given.push_back(sequence ? type.inner() : type);
  }
  const auto made = ctx.InferSubGraph("body", given);
  if (!made) return {};
  NN_RETURN_IF_ERROR(CheckCount("the body", made->size(), ctx.output_count()));
  for (size_t i = 0; i < ctx.output_count(); ++i) ctx.Set(i, ValueType::Sequence((*made)[i]));
  return {};
}

}  // namespace

void AddControlInferences(InferTable& t) {
  t.Add("", "If", 1, InferIf);
  t.Add("", "Loop", 1, InferLoop);
  t.Add("", "Scan", 8, InferScan8);
  t.Add("", "Scan", 9, InferScan);
  t.Add("", "SequenceMap", 17, InferSequenceMap);
}

}  // namespace nn::onnx
