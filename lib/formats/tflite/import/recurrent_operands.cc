#include "formats/tflite/import/recurrent_operands.h"

#include <cstring>

#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {
namespace {

using Type = nn::Type;

// Constants of one element type and shape, one after the other.
Tensor Joined(std::span<Value* const> parts, std::vector<int64_t> dims) {
  size_t bytes = 0;
  for (const Value* v : parts) bytes += v->constant().byte_size();
  Buffer all(bytes);
  std::byte* to = all.as<std::byte>().data();
  for (const Value* v : parts) {
    const Blob& from = v->constant().blob();
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
    to += from.size();
  }
  return {parts[0]->dtype(), std::move(dims), Blob(std::move(all))};
}

// A scale for each of the `rows` rows of each part, or one for all.
Result<std::shared_ptr<const Quant>> JoinedQuant(const std::vector<Value*>& parts, int64_t rows,
                                                 std::string_view name) {
  auto quant = std::make_shared<Quant>();
  quant->axis = 1;
  bool same = true;
  for (const Value* v : parts) {
    const Quant& q = *v->type().quant;
    if (q.per_axis())
      return UnsupportedError("{}: weights with several scales are unsupported", name);
    same &= q.SameMapping(*parts[0]->type().quant);
    for (int64_t i = 0; i < rows; ++i) {
      quant->scales.push_back(q.scale());
      quant->zero_points.push_back(q.zero_point());
    }
  }
  if (!same) return quant;
  const Quant& first = *parts[0]->type().quant;
  return Quant::PerTensor(first.scale(), first.zero_point());
}

}  // namespace

Status RequireMatrix(const Value* v, std::string_view name) {
  const auto dims = v->type().const_dims();
  if (v->type().rank() != 2 || !dims)
    return UnsupportedError("{} is {}; expected a matrix of constant size", name,
                            v->type().ToString());
  if ((*dims)[0] > kMaxUnits || (*dims)[1] > kMaxUnits)
    return UnsupportedError("{} is {}; sizes above {} are unsupported", name, v->type().ToString(),
                            kMaxUnits);
  return {};
}

Result<Value*> Stacked(ImportContext& ctx, const std::vector<Value*>& parts,
                       std::string_view name) {
  const Type& first = parts[0]->type();
  bool constant = true;
  for (const Value* v : parts) {
    if (!v->type().const_dims() || v->type().dims != first.dims || v->dtype() != first.dtype ||
        v->type().quantized() != first.quantized())
      return UnsupportedError("{}: operands of different types, {} and {}, are unsupported", name,
                              first.ToString(), v->type().ToString());
    constant &= v->is_constant();
  }
  auto dims = *first.const_dims();
  const int64_t rows = dims.empty() ? 1 : dims[0];
  if (!dims.empty()) dims[0] *= static_cast<int64_t>(parts.size());
  std::vector<int64_t> with_direction = dims;
  with_direction.insert(with_direction.begin(), 1);
  if (!constant) {
    if (first.quantized())
      return UnsupportedError("{}: quantized operands that are not constant are unsupported", name);
    return ctx.Build(ExpandDims(Apply("concat", parts, ConcatAttrs{0}), {0}));
  }
  std::shared_ptr<const Quant> scales;
  if (first.quantized()) {
    NN_ASSIGN(scales, JoinedQuant(parts, rows, name));
  }
  return ctx.graph().AddConstant(Joined(parts, std::move(with_direction)), std::string(name),
                                 std::move(scales));
}

void AddActivation(RecurrentAttrs& a, RecurrentActivation function, float alpha) {
  a.activations.emplace_back(EnumName(function));
  a.alpha.push_back(alpha);
  a.beta.push_back(0);
}

Status AddActivation(RecurrentAttrs& a, fb::ActivationFunctionType type) {
  using A = fb::ActivationFunctionType;
  switch (type) {
    case A::NONE:
      AddActivation(a, RecurrentActivation::kAffine, 1);
      return {};
    case A::RELU:
      AddActivation(a, RecurrentActivation::kRelu);
      return {};
    case A::TANH:
      AddActivation(a, RecurrentActivation::kTanh);
      return {};
    default:
      return UnsupportedError("activation {} of a recurrent layer is unsupported",
                              fb::EnumNameActivationFunctionType(type));
  }
}

Result<Value*> InitialState(ImportContext& ctx, size_t input, const Dims& dims, size_t batch_axis) {
  if (Value* const v = ctx.input(input)) {
    NN_RETURN_IF_ERROR(ctx.Ranked(input));
    return ctx.Add("reshape", {v}, ReshapeAttrs{dims}, v->type().quant);
  }
  NN_ASSIGN(const Type type, ctx.DeclaredInput(input));
  if (!type.quantized()) return nullptr;
  if (type.quant->per_axis())
    return UnsupportedError("state {} is {}; several scales are unsupported", input,
                            type.ToString());
  std::vector<int64_t> of_one;
  for (size_t i = 0; i < dims.size(); ++i) of_one.push_back(i == batch_axis ? 1 : dims[i].value());
  NN_ASSIGN(TensorBuilder zeros, TensorBuilder::Create(type.dtype, std::move(of_one)));
  for (int64_t i = 0; i < zeros.elements(); ++i) zeros.SetInt(i, type.quant->zero_point());
  Value* const one = ctx.graph().AddConstant(zeros.Finish(), {}, type.quant);
  if (dims[batch_axis] == 1) return one;
  return ctx.Add("expand", {one}, ExpandAttrs{dims}, type.quant);
}

Result<Sequence> SequenceOf(ImportContext& ctx, Value* x, bool time_major) {
  if (x->type().rank() == 2) {
    NN_ASSIGN(x, ctx.Add("expand_dims", {x}, AxesAttrs{{0}}, x->type().quant));
    time_major = true;
  }
  if (x->type().rank() != 3)
    return ModelError("the input is {}; expected rank 3", x->type().ToString());
  return Sequence{x, !time_major, x->type().dim(time_major ? 1 : 0)};
}

Dims StateDims(const Sequence& s, int64_t units) {
  return s.batch_first ? Dims{s.batch, Dim(1), Dim(units)} : Dims{Dim(1), s.batch, Dim(units)};
}

size_t StateBatch(const Sequence& s) {
  return s.batch_first ? 0 : 1;
}

Result<Value*> WithoutDirection(ImportContext& ctx, Value* y, bool batch_first) {
  return ctx.Add("squeeze", {y}, AxesAttrs{{batch_first ? 2 : 1}}, y->type().quant);
}

Status SetDirections(ImportContext& ctx, Value* forward, Value* backward, bool merged) {
  if (merged) return ctx.Emit("concat", {forward, backward}, ConcatAttrs{2});
  if (ctx.output_count() != 2)
    return ModelError("there are {} outputs; expected 2", ctx.output_count());
  ctx.SetOutput(0, forward);
  ctx.SetOutput(1, backward);
  return {};
}

}  // namespace nn::tflite
