// Preparation of operators that reduce along axes, and of operators that create tensors.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/tflite/constraints/operation.h"

namespace nn::tflite::constraints {
namespace {

using Op = fb::BuiltinOperator;

void Reduce(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  const auto axes = o.Ints(1);
  if (!axes || !x.dims) return;
  std::vector<bool> reduced(x.dims->size());
  if (!x.dims->empty())
    for (const int64_t axis : *axes) {
      const int64_t at = AxisOf(axis, x.rank());
      if (at < 0)
        return o.Fail(Check::kAxes, "axis {} is out of range for x of rank {}", axis, x.rank());
      reduced[static_cast<size_t>(at)] = true;
    }
  const auto* options = o.at().op->builtin_options_as_ReducerOptions();
  const bool keep = options != nullptr && options->keep_dims();
  Dims dims;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) dims.push_back((*x.dims)[i]);
    if (reduced[i] && keep) dims.push_back(1);
  }
  o.Give(0, dims);
}

// Gives an output the integer type that an option names.
void GiveIndexType(Operation& o, int output, fb::TensorType type) {
  if (type != fb::TensorType::INT32 && type != fb::TensorType::INT64)
    return o.Fail(Check::kOptionValues, "the output type is {}; expected INT32 or INT64",
                  fb::EnumNameTensorType(type));
  Value* y = o.out(output);
  if (y == nullptr) return;
  if (y->type != type)
    o.Note(Check::kDeclaredTypes, "{} is declared as {}; the operator produces {}", y->Text(),
           fb::EnumNameTensorType(y->type), fb::EnumNameTensorType(type));
  y->type = type;
}

void ArgMinMax(Operation& o) {
  if (!o.AllPresent(2)) return;
  if (const auto* options = o.at().op->builtin_options_as_ArgMaxOptions())
    GiveIndexType(o, 0, options->output_type());
  if (const auto* options = o.at().op->builtin_options_as_ArgMinOptions())
    GiveIndexType(o, 0, options->output_type());
  const Value& x = *o.in(0);
  const auto axis = o.Ints(1);
  if (!axis || axis->empty() || !x.dims) return;
  const int64_t at = AxisOf((*axis)[0], x.rank());
  if (at < 0)
    return o.Fail(Check::kAxes, "axis {} is out of range for x of rank {}", (*axis)[0], x.rank());
  if (x.dim(at) == 0) return o.Fail(Check::kAxes, "axis {} of x has no elements", at);
  Dims dims = *x.dims;
  dims.erase(dims.begin() + at);
  o.Give(0, dims);
}

void Cumsum(Operation& o) {
  if (!o.AllPresent(2)) return;
  const auto axis = o.Ints(1);
  const Value& x = *o.in(0);
  if (axis && !axis->empty() && x.dims && AxisOf((*axis)[0], x.rank()) < 0)
    o.Note(Check::kAtRun, "axis {} is out of range for x of rank {}", (*axis)[0], x.rank());
  KeepShape(o);
}

void Shape(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_ShapeOptions();
  if (options != nullptr) GiveIndexType(o, 0, options->out_type());
  if (const Value* x = o.in(0); x != nullptr && x->dims) o.Give(0, Dims{x->rank()});
}

void Unique(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_UniqueOptions();
  const Value* indices = o.out(1);
  const fb::TensorType type = options != nullptr && options->idx_out_type() == fb::TensorType::INT64
                                  ? fb::TensorType::INT64
                                  : fb::TensorType::INT32;
  if (indices != nullptr && indices->type != type)
    return o.Fail(Check::kOutputTypes, "the indices are {}; idx_out_type is {}",
                  fb::EnumNameTensorType(indices->type), fb::EnumNameTensorType(type));
  if (const Value* x = o.in(0)) o.Give(1, x->dims);
}

void Rank(Operation& o) {
  o.Give(0, Dims{});
}

void Where(Operation& o) {
  if (const Value* condition = o.in(0); condition != nullptr && condition->dims)
    o.Give(0, Dims{-1, condition->rank()});
}

// The value of a constant scalar of float or integer type.
std::optional<double> NumberOf(const Operation& o, int input) {
  if (const auto ints = o.Ints(input))
    return ints->size() == 1 ? std::optional(static_cast<double>((*ints)[0])) : std::nullopt;
  const Value* v = o.in(input);
  if (v == nullptr || !v->constant || v->type != fb::TensorType::FLOAT32) return std::nullopt;
  const auto bytes = o.model().contents(*v->tensor);
  float value = 0;
  if (!bytes || bytes->size() != sizeof(value)) return std::nullopt;
  std::memcpy(&value, bytes->data(), sizeof(value));
  return value;
}

void Range(Operation& o) {
  const auto start = NumberOf(o, 0);
  const auto limit = NumberOf(o, 1);
  const auto delta = NumberOf(o, 2);
  o.Give(0, Dims{-1});
  if (!start || !limit || !delta) return;
  const bool fits = (*start >= *limit && *delta < 0) || (*start <= *limit && *delta > 0);
  if (!fits)
    return o.Fail(Check::kRange, "delta {} does not lead from start {} to limit {}", *delta, *start,
                  *limit);
  const double count = std::ceil(std::abs((*limit - *start) / *delta));
  if (count <= static_cast<double>(kMaxSize)) o.Give(0, Dims{static_cast<int64_t>(count)});
}

void Random(Operation& o) {
  if (auto shape = o.Ints(0)) o.Give(0, std::move(*shape));
}

void Multinomial(Operation& o) {
  if (!o.AllPresent(2)) return;
  const auto samples = o.Ints(1);
  if (o.in(0)->rank() == 2)
    o.Give(0, Dims{o.in(0)->dim(0), samples && !samples->empty() ? (*samples)[0] : -1});
}

void BroadcastArgs(Operation& o) {
  if (!o.AllPresent(2)) return;
  const int64_t a = o.in(0)->dim(0);
  const int64_t b = o.in(1)->dim(0);
  o.Give(0, Dims{a < 0 || b < 0 ? -1 : std::max(a, b)});
}

constexpr Preparation kReductionPreparations[] = {
    {Op::MEAN, Reduce},
    {Op::SUM, Reduce},
    {Op::REDUCE_PROD, Reduce},
    {Op::REDUCE_MAX, Reduce},
    {Op::REDUCE_MIN, Reduce},
    {Op::REDUCE_ANY, Reduce},
    {Op::REDUCE_ALL, Reduce},
    {Op::ARG_MAX, ArgMinMax},
    {Op::ARG_MIN, ArgMinMax},
    {Op::CUMSUM, Cumsum},
    {Op::SHAPE, Shape},
    {Op::RANK, Rank},
    {Op::UNIQUE, Unique},
    {Op::WHERE, Where},
    {Op::RANGE, Range},
    {Op::RANDOM_STANDARD_NORMAL, Random},
    {Op::RANDOM_UNIFORM, Random},
    {Op::MULTINOMIAL, Multinomial},
    {Op::BROADCAST_ARGS, BroadcastArgs},
};

}  // namespace

std::span<const Preparation> ReductionPreparations() {
  return kReductionPreparations;
}

}  // namespace nn::tflite::constraints
