// lookup(x, keys, values, fallback): for each element of x, the element of `values` at the position
// of the equal element of `keys`, or `fallback` if there is none (LabelEncoder and CategoryMapper
// of ONNX). `keys` and `values` are vectors of the same length, `fallback` is a scalar. x and
// `keys` have one element type; `values`, `fallback` and the result have another. Of equal keys the
// last counts. NaN equals NaN, and -0 equals +0.
#include <bit>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {
namespace {

enum LookupInput : size_t { kLookupX, kLookupKeys, kLookupValues, kLookupFallback };

Status InferLookup(InferContext& ctx) {
  NN_ASSIGN(const DType from, SameDType(ctx, {kLookupX, kLookupKeys}));
  NN_ASSIGN(const DType to, SameDType(ctx, {kLookupValues, kLookupFallback}));
  if (IsComplex(from)) return UnsupportedError("{} is not supported", DTypeName(from));
  for (size_t i = 0; i < ctx.input_count(); ++i)
    if (ctx.in(i).quantized()) return UnsupportedError("{} is not supported", ctx.in(i).ToString());
  for (const size_t i : {kLookupKeys, kLookupValues}) NN_RETURN_IF_ERROR(RequireRank(ctx, i, 1, 1));
  NN_RETURN_IF_ERROR(RequireRank(ctx, kLookupFallback, 0, 0));
  const Dim& keys = ctx.in(kLookupKeys).dim(0);
  const Dim& values = ctx.in(kLookupValues).dim(0);
  if (keys.is_const() && values.is_const() && keys != values)
    return ModelError("there are {} keys but {} values", keys.ToString(), values.ToString());
  Type y;
  y.dtype = to;
  y.dims = ctx.in(kLookupX).dims;
  ctx.set_out(0, std::move(y));
  return {};
}

// Numbers as words that are equal if the numbers are.
uint64_t KeyAt(const Tensor& t, int64_t i) {
  if (!IsFloat(t.dtype())) return static_cast<uint64_t>(t.GetInt(i));
  const double v = t.GetDouble(i);
  if (v != v) return std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());
  return std::bit_cast<uint64_t>(v + 0.0);  // -0 + 0 is +0
}

template <typename Key, typename KeyOf>
Result<Tensor> LookUp(EvalContext& ctx, KeyOf key_of) {
  const Tensor& x = ctx.in(kLookupX);
  const Tensor& keys = ctx.in(kLookupKeys);
  const Tensor& values = ctx.in(kLookupValues);
  if (keys.elements() != values.elements())
    return ModelError("there are {} keys but {} values", keys.elements(), values.elements());
  std::unordered_map<Key, int64_t> positions;
  for (int64_t i = 0; i < keys.elements(); ++i) positions[key_of(keys, i)] = i;
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  for (int64_t i = 0; i < y.elements(); ++i) {
    const auto found = positions.find(key_of(x, i));
    if (found == positions.end())
      y.Copy(i, ctx.in(kLookupFallback), 0);
    else
      y.Copy(i, values, found->second);
  }
  return y.Finish();
}

Status EvalLookup(EvalContext& ctx) {
  Tensor y;
  if (ctx.in(kLookupX).dtype() == DType::kString) {
    NN_ASSIGN(y, (LookUp<std::string_view>(ctx, [](const Tensor& t, int64_t i) {
                return std::string_view(t.strings()[static_cast<size_t>(i)]);
              })));
  } else {
    NN_ASSIGN(y, LookUp<uint64_t>(ctx, KeyAt));
  }
  ctx.set_out(0, std::move(y));
  return {};
}

std::optional<AxesChange> ChangeLookupAxes(const Node& node, Operand changed, const AxisMap& map) {
  if (changed != Operand{true, 0} && changed != Operand{false, kLookupX}) return std::nullopt;
  return SameAxesChange(node, changed, map, node.attrs());
}

}  // namespace

void RegisterLookupOps(OpRegistry& ops) {
  OpDef op;
  op.name = "lookup";
  op.summary = "the values of keys in a table";
  op.category = Category::kOther;
  op.inputs = {{"x", Arity::kRequired, Elements::kAny},
               {"keys", Arity::kRequired, Elements::kAny},
               {"values", Arity::kRequired, Elements::kAny},
               {"fallback", Arity::kRequired, Elements::kAny}};
  op.infer = InferLookup;
  op.eval = EvalLookup;
  op.change_axes = ChangeLookupAxes;
  ops.Add(std::move(op));
}

}  // namespace nn
