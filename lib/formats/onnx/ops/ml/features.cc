// The operators of ai.onnx.ml that prepare features.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text/text.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/ml.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"

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
  Value* const x = ctx.input(0);
  Value* const indexes = ctx.input(1);
  if (!x->type().ranked()) return UnsupportedError("the rank of input 0 is not known");
  const Term rows = x->type().rank() == 1 ? ExpandDims(x, {0}) : x;
  return ctx.EmitTerm(Gather(rows, Reshape(indexes, Dims{-1}), -1));
}

Status ImportBinarizer(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const DType dtype = x->dtype();
  const float threshold = ctx.Float("threshold", 0);
  Term above;
  if (IsFloat(dtype)) {
    above = Greater(x, threshold);
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
    above = Apply(none ? "greater" : "greater_equal", {x, std::move(number)});
  } else {
    return UnsupportedError("Binarizer of {}", x->type().ToString());
  }
  return ctx.EmitTerm(Cast(above, dtype));
}

Status ImportImputer(ImportContext& ctx) {
  Value* const x = ctx.input(0);
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
  Term values, replaced;
  if (reals) {
    values = RealTensor(dtype, dims, floats);
    const float old = ctx.Float("replaced_value_float", 0);
    replaced = std::isnan(old) ? Apply("is_nan", {x}) : Equal(x, old);
  } else {
    NN_ASSIGN(values, IntegerTensor(dtype, dims, ints));
    const int64_t old = ctx.Int("replaced_value_int64", 0);
    NN_ASSIGN(Tensor number, IntegerTensor(dtype, {}, std::vector<int64_t>{old}));
    replaced = Equal(x, std::move(number));
  }
  return ctx.EmitTerm(Select(replaced, values, x));
}

Status ImportScaler(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const DType dtype = IsFloat(x->dtype()) ? x->dtype() : DType::kF32;
  const std::vector<float> offset = ctx.Floats("offset"), scale = ctx.Floats("scale");
  if (!offset.empty() && !scale.empty() && offset.size() != scale.size())
    return ModelError("offset has {} entries, but scale has {}", offset.size(), scale.size());
  const auto row = [&](std::string_view name, const std::vector<float>& list) -> Result<Term> {
    NN_RETURN_IF_ERROR(CheckColumns(name, list.size(), x));
    std::vector<int64_t> dims;
    if (list.size() > 1) dims.push_back(static_cast<int64_t>(list.size()));
    return RealTensor(dtype, dims, list);
  };
  Term y = As(x, dtype);
  if (!offset.empty()) {
    NN_ASSIGN(const Term offsets, row("offset", offset));
    y = y - offsets;
  }
  if (!scale.empty()) {
    NN_ASSIGN(const Term scales, row("scale", scale));
    y = y * scales;
  }
  return ctx.EmitTerm(As(y, dtype, DType::kF32));
}

// The largest, the sum, or the square root of the sum of squares, of absolute values.
Status ImportNormalizer(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (!x->type().ranked()) return UnsupportedError("the rank of input 0 is not known");
  if (x->type().rank() < 1 || x->type().rank() > 2)
    return ModelError("input 0 is {}; expected one or two dimensions", x->type().ToString());
  const DType dtype = IsFloat(x->dtype()) ? x->dtype() : DType::kF32;
  const Term reals = As(x, dtype);
  const std::string norm = ctx.String("norm", "MAX");
  const ReduceAttrs row = {.axes = {x->type().rank() - 1}};
  Term divisor;
  if (norm == "MAX")
    divisor = Apply("reduce_max", {Apply("abs", {reals})}, row);
  else if (norm == "L1" || norm == "L2")
    divisor = Apply(norm == "L1" ? "reduce_l1" : "reduce_l2", {reals}, row);
  else
    return ModelError("norm is {}, which is unknown", Quote(norm));
  return ctx.EmitTerm(As(reals / Maximum(divisor, 1e-30), dtype, DType::kF32));
}

// The first `columns` columns, with zeros where there are fewer.
Result<Term> WithColumns(Value* rows, int64_t columns) {
  const Dim& had = rows->type().dims->back();
  if (had == Dim(columns)) return rows;
  if (columns < 0) return ModelError("inputdimensions has the entry {}", columns);
  Term y = rows;
  if (!had.is_const() || had.value() < columns) {
    const int64_t added = had.is_const() ? columns - had.value() : columns;
    y = Apply("pad", {y}, PadAttrs{.pads = {0, 0, 0, added}});
  }
  if (had.is_const() && had.value() < columns) return y;
  return Apply("slice", {y}, SliceAttrs{{1}, {0}, {columns}, {}});
}

Status ImportFeatureVectorizer(ImportContext& ctx) {
  const std::vector<int64_t> columns = ctx.Ints("inputdimensions");
  if (!columns.empty() && columns.size() != ctx.input_count())
    return ModelError("inputdimensions has {} entries for {} inputs", columns.size(),
                      ctx.input_count());
  std::vector<Term> parts;
  for (size_t i = 0; i < ctx.input_count(); ++i) {
    NN_ASSIGN(Value* const rows, RowsOf(ctx, i));
    Term part = rows;
    if (!columns.empty()) {
      NN_ASSIGN(part, WithColumns(rows, columns[i]));
    }
    parts.push_back(As(part, rows->dtype(), DType::kF32));
  }
  return ctx.EmitTerm(Concat(std::move(parts), 1));
}

// `zeros` decides whether an unknown category is an error in ONNX; here its row always consists of
// zeros.
Status ImportOneHotEncoder(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (ctx.HasAttr("cats_strings")) return UnsupportedError("cats_strings");
  std::vector<int64_t> categories = ctx.Ints("cats_int64s");
  if (categories.empty()) return ModelError("attribute cats_int64s is missing");
  const Term table = Tensor::Ints(categories);
  std::ranges::sort(categories);
  if (const auto twice = std::ranges::adjacent_find(categories); twice != categories.end())
    return ModelError("cats_int64s has {} twice", *twice);
  if (!x->type().ranked()) return UnsupportedError("the rank of input 0 is not known");
  const Term is_category = Equal(ExpandDims(As(x, DType::kI64), {x->type().rank()}), table);
  return ctx.EmitTerm(Cast(is_category, DType::kF32));
}

constexpr ImportRow kFeatureImports[] = {
    {.op = "ArrayFeatureExtractor",
     .import = ImportArrayFeatureExtractor,
     .inputs = 2,
     .domain = kMlDomain},
    {.op = "Binarizer", .import = ImportBinarizer, .inputs = 1, .domain = kMlDomain},
    {.op = "Imputer", .import = ImportImputer, .inputs = 1, .domain = kMlDomain},
    {.op = "Scaler", .import = ImportScaler, .inputs = 1, .domain = kMlDomain},
    {.op = "Normalizer", .import = ImportNormalizer, .inputs = 1, .domain = kMlDomain},
    {.op = "FeatureVectorizer", .import = ImportFeatureVectorizer, .domain = kMlDomain},
    {.op = "OneHotEncoder", .import = ImportOneHotEncoder, .inputs = 1, .domain = kMlDomain}};

}  // namespace

Family MlFeaturesFamily() {
  return {.imports = kFeatureImports};
}

}  // namespace nn::onnx
