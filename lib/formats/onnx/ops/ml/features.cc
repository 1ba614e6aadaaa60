// The operators of ai.onnx.ml that prepare features.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text/text.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/ml.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"

namespace nn::onnx {
namespace {

// kModel unless a list has one entry, or as many as there are columns.
Status CheckColumns(std::string_view name, size_t entries, const Value* x) {
  if (entries == 1 || !x->type().ranked()) return {};
  if (x->type().rank() == 0) return ModelError("{} has {} entries for a scalar", name, entries);
  const Dim& columns = x->type().dims->back();
  if (!columns.is_const() || columns.value() == static_cast<int64_t>(entries)) return {};
  return ModelError("{} has {} entries; expected 1 or {}", name, entries, columns.value());
}

Status ImportArrayFeatureExtractor(ImportContext& ctx) {
  NN_ASSIGN(Value * x, ctx.Required(0));
  NN_ASSIGN(Value * indexes, ctx.Required(1));
  if (!x->type().ranked()) return UnsupportedError("the rank of input 0 is not known");
  if (x->type().rank() == 1) {
    NN_ASSIGN(x, ctx.Add("expand_dims", {x}, AxesAttrs{{0}}));
  }
  NN_ASSIGN(indexes, ctx.Add("reshape", {indexes}, ReshapeAttrs{Dims{-1}}));
  return ctx.Emit("gather", {x, indexes}, GatherAttrs{.axis = -1});
}

Status ImportBinarizer(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const DType dtype = x->dtype();
  const float threshold = ctx.Float("threshold", 0);
  Value* above = nullptr;
  if (IsFloat(dtype)) {
    NN_ASSIGN(Value* const limit, ctx.Number(dtype, static_cast<double>(threshold)));
    NN_ASSIGN(above, ctx.Add("greater", {x, limit}));
  } else if (IsInteger(dtype)) {
    // Integers above the threshold are at least this number, if it is an integer of the type.
    const double least = std::floor(static_cast<double>(threshold)) + 1;
    const bool none =
        !(least <= static_cast<double>(MaxInteger(dtype)) && least < 0x1p63);  // also for NaN
    const bool all = least <= static_cast<double>(MinInteger(dtype));
    const int64_t limit = none  ? MaxInteger(dtype)
                          : all ? MinInteger(dtype)
                                : static_cast<int64_t>(least);
    NN_ASSIGN(Tensor number, IntegerTensor(dtype, {}, std::vector<int64_t>{limit}));
    NN_ASSIGN(above,
              ctx.Add(none ? "greater" : "greater_equal", {x, ctx.Constant(std::move(number))}));
  } else {
    return UnsupportedError("Binarizer of {}", x->type().ToString());
  }
  return ctx.Emit("cast", {above}, CastAttrs{.to = dtype});
}

Status ImportImputer(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const DType dtype = x->dtype();
  const bool reals = IsFloat(dtype);
  if (!reals && !IsInteger(dtype)) return UnsupportedError("Imputer of {}", x->type().ToString());
  const std::string_view name = reals ? "imputed_value_floats" : "imputed_value_int64s";
  const std::vector<float> floats = reals ? ctx.Floats(name) : std::vector<float>();
  const std::vector<int64_t> ints = reals ? std::vector<int64_t>() : ctx.Ints(name);
  const size_t entries = floats.size() + ints.size();
  if (entries == 0) return ModelError("attribute {} is missing", name);
  NN_RETURN_IF_ERROR(CheckColumns(name, entries, x));
  std::vector<int64_t> dims;
  if (entries > 1) dims.push_back(static_cast<int64_t>(entries));
  Value *values = nullptr, *replaced = nullptr;
  if (reals) {
    values = RealConstant(ctx, dtype, dims, floats);
    const float old = ctx.Float("replaced_value_float", 0);
    if (std::isnan(old)) {
      NN_ASSIGN(replaced, ctx.Add("is_nan", {x}));
    } else {
      NN_ASSIGN(Value* const number, ctx.Number(dtype, static_cast<double>(old)));
      NN_ASSIGN(replaced, ctx.Add("equal", {x, number}));
    }
  } else {
    NN_ASSIGN(Tensor tensor, IntegerTensor(dtype, dims, ints));
    values = ctx.Constant(std::move(tensor));
    const int64_t old = ctx.Int("replaced_value_int64", 0);
    NN_ASSIGN(Tensor number, IntegerTensor(dtype, {}, std::vector<int64_t>{old}));
    NN_ASSIGN(replaced, ctx.Add("equal", {x, ctx.Constant(std::move(number))}));
  }
  return ctx.Emit("select", {replaced, values, x});
}

Status ImportScaler(ImportContext& ctx) {
  NN_ASSIGN(Value * x, ctx.Required(0));
  if (!IsFloat(x->dtype())) {
    NN_ASSIGN(x, Converted(ctx, x, DType::kF32));
  }
  const std::vector<float> offset = ctx.Floats("offset"), scale = ctx.Floats("scale");
  if (!offset.empty() && !scale.empty() && offset.size() != scale.size())
    return ModelError("offset has {} entries, but scale has {}", offset.size(), scale.size());
  const auto apply = [&](std::string_view op, std::string_view name,
                         const std::vector<float>& list) -> Status {
    if (list.empty()) return {};
    NN_RETURN_IF_ERROR(CheckColumns(name, list.size(), x));
    std::vector<int64_t> dims;
    if (list.size() > 1) dims.push_back(static_cast<int64_t>(list.size()));
    NN_ASSIGN(x, ctx.Add(op, {x, RealConstant(ctx, x->dtype(), dims, list)}));
    return {};
  };
  NN_RETURN_IF_ERROR(apply("sub", "offset", offset));
  NN_RETURN_IF_ERROR(apply("mul", "scale", scale));
  NN_ASSIGN(x, Converted(ctx, x, DType::kF32));
  ctx.SetOutput(0, x);
  return {};
}

// The largest, the sum, or the square root of the sum of squares, of absolute values.
Status ImportNormalizer(ImportContext& ctx) {
  NN_ASSIGN(Value * x, ctx.Required(0));
  if (!x->type().ranked()) return UnsupportedError("the rank of input 0 is not known");
  if (x->type().rank() < 1 || x->type().rank() > 2)
    return ModelError("input 0 is {}; expected one or two dimensions", x->type().ToString());
  if (!IsFloat(x->dtype())) {
    NN_ASSIGN(x, Converted(ctx, x, DType::kF32));
  }
  const std::string norm = ctx.String("norm", "MAX");
  const ReduceAttrs row = {.axes = {x->type().rank() - 1}};
  Value* divisor = nullptr;
  if (norm == "MAX") {
    NN_ASSIGN(Value* const sizes, ctx.Add("abs", {x}));
    NN_ASSIGN(divisor, ctx.Add("reduce_max", {sizes}, row));
  } else if (norm == "L1" || norm == "L2") {
    NN_ASSIGN(divisor, ctx.Add(norm == "L1" ? "reduce_l1" : "reduce_l2", {x}, row));
  } else {
    return ModelError("norm is {}, which is unknown", Quote(norm));
  }
  NN_ASSIGN(Value* const least, ctx.Number(x->dtype(), 1e-30));
  NN_ASSIGN(divisor, ctx.Add("maximum", {divisor, least}));
  NN_ASSIGN(x, ctx.Add("div", {x, divisor}));
  NN_ASSIGN(x, Converted(ctx, x, DType::kF32));
  ctx.SetOutput(0, x);
  return {};
}

// The first `columns` columns, with zeros where there are fewer.
Result<Value*> WithColumns(ImportContext& ctx, Value* rows, int64_t columns) {
  const Dim& had = rows->type().dims->back();
  if (had == Dim(columns)) return rows;
  if (columns < 0) return ModelError("inputdimensions has the entry {}", columns);
  if (!had.is_const() || had.value() < columns) {
    const int64_t added = had.is_const() ? columns - had.value() : columns;
    NN_ASSIGN(rows, ctx.Add("pad", {rows}, PadAttrs{.pads = {0, 0, 0, added}}));
  }
  if (had.is_const() && had.value() < columns) return rows;
  return ctx.Add("slice", {rows}, SliceAttrs{{1}, {0}, {columns}, {}});
}

Status ImportFeatureVectorizer(ImportContext& ctx) {
  const std::vector<int64_t> columns = ctx.Ints("inputdimensions");
  if (!columns.empty() && columns.size() != ctx.input_count())
    return ModelError("inputdimensions has {} entries for {} inputs", columns.size(),
                      ctx.input_count());
  std::vector<Value*> parts;
  for (size_t i = 0; i < ctx.input_count(); ++i) {
    NN_ASSIGN(Value * rows, RowsOf(ctx, i));
    if (!columns.empty()) {
      NN_ASSIGN(rows, WithColumns(ctx, rows, columns[i]));
    }
    NN_ASSIGN(rows, Converted(ctx, rows, DType::kF32));
    parts.push_back(rows);
  }
  if (parts.size() == 1) {
    ctx.SetOutput(0, parts[0]);
    return {};
  }
  return ctx.Emit("concat", std::move(parts), ConcatAttrs{.axis = 1});
}

// `zeros` decides whether an unknown category is an error in ONNX; here its row always consists of
// zeros.
Status ImportOneHotEncoder(ImportContext& ctx) {
  NN_ASSIGN(Value * x, ctx.Required(0));
  if (ctx.HasAttr("cats_strings")) return UnsupportedError("cats_strings");
  std::vector<int64_t> categories = ctx.Ints("cats_int64s");
  if (categories.empty()) return ModelError("attribute cats_int64s is missing");
  Value* const table = ctx.Constant(Tensor::Ints(categories));
  std::ranges::sort(categories);
  if (const auto twice = std::ranges::adjacent_find(categories); twice != categories.end())
    return ModelError("cats_int64s has {} twice", *twice);
  if (!x->type().ranked()) return UnsupportedError("the rank of input 0 is not known");
  NN_ASSIGN(x, Converted(ctx, x, DType::kI64));
  NN_ASSIGN(x, ctx.Add("expand_dims", {x}, AxesAttrs{{x->type().rank()}}));
  NN_ASSIGN(x, ctx.Add("equal", {x, table}));
  return ctx.Emit("cast", {x}, CastAttrs{.to = DType::kF32});
}

constexpr ImportRow kFeatureImports[] = {
    {.op = "ArrayFeatureExtractor", .import = ImportArrayFeatureExtractor, .domain = kMlDomain},
    {.op = "Binarizer", .import = ImportBinarizer, .domain = kMlDomain},
    {.op = "Imputer", .import = ImportImputer, .domain = kMlDomain},
    {.op = "Scaler", .import = ImportScaler, .domain = kMlDomain},
    {.op = "Normalizer", .import = ImportNormalizer, .domain = kMlDomain},
    {.op = "FeatureVectorizer", .import = ImportFeatureVectorizer, .domain = kMlDomain},
    {.op = "OneHotEncoder", .import = ImportOneHotEncoder, .domain = kMlDomain}};

}  // namespace

Family MlFeaturesFamily() {
  return {.imports = kFeatureImports};
}

}  // namespace nn::onnx
