// Type inference of ai.onnx.ml.
#include <algorithm>

#include "base/text/text.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/import/ml.h"
#include "formats/onnx/infer/infer.h"

namespace nn::onnx {
namespace {

// f32 in the shape of the input.
Status InferFloats(TypeContext& ctx) {
  ctx.Set(0, DType::kF32, ctx.in(0).tensor.dims);
  return {};
}

Status InferSomeFloats(TypeContext& ctx) {
  ctx.Set(0, DType::kF32);
  return {};
}

Status InferArrayFeatureExtractor(TypeContext& ctx) {
  ctx.Set(0, ctx.dtype(0));
  const Dims* x = ctx.dims(0);
  if (x == nullptr || x->size() < 2) return {};
  Dims dims = *x;
  dims.back() =
      ctx.dims(1) != nullptr && !ctx.dims(1)->empty() ? Product(*ctx.dims(1)) : ctx.Unknown();
  ctx.Set(0, ctx.dtype(0), std::move(dims));
  return {};
}

Status InferCastMap(TypeContext& ctx) {
  const std::string to = ctx.node().String("cast_to", "TO_FLOAT");
  ctx.Set(0, to == "TO_FLOAT"    ? DType::kF32
             : to == "TO_INT64"  ? DType::kI64
             : to == "TO_STRING" ? DType::kString
                                 : DType::kUnknown);
  return {};
}

size_t LengthOf(const pb::AttributeProto& a) {
  return static_cast<size_t>(std::max({a.ints_size(), a.strings_size(), a.floats_size()}));
}

Status InferDictVectorizer(TypeContext& ctx) {
  if (ctx.in(0).kind == ValueType::Kind::kMap) ctx.Set(0, ctx.in(0).inner().tensor.dtype);
  return {};
}

// ---- Classifiers --------------------------------------------------------------------------------

bool HasStrings(const TypeContext& ctx, std::string_view name) {
  const auto* a = ctx.node().FindAttr(name);
  return a != nullptr && a->strings_size() > 0;
}

Status InferClassifier(TypeContext& ctx) {
  ctx.Set(0, HasStrings(ctx, "classlabels_strings") ? DType::kString : DType::kI64);
  ctx.Set(1, DType::kF32);
  return {};
}

Status InferLinearClassifier(TypeContext& ctx) {
  const bool strings = HasStrings(ctx, "classlabels_strings");
  const auto* labels = ctx.node().FindAttr(strings ? "classlabels_strings" : "classlabels_ints");
  size_t classes = ctx.node().Floats("intercepts").size();
  if (classes == 1 && labels != nullptr && LengthOf(*labels) == 2) classes = 2;
  NN_RETURN_IF_ERROR(ctx.CheckRank(0, 1, 2));
  const Dims* x = ctx.dims(0);
  const Dim batch = x == nullptr ? ctx.Unknown() : x->size() == 1 ? Dim(1) : (*x)[0];
  ctx.Set(0, strings ? DType::kString : DType::kI64, Dims{batch});
  ctx.Set(1, DType::kF32,
          Dims{batch, classes == 0 ? ctx.Unknown() : Dim(static_cast<int64_t>(classes))});
  return {};
}

Status InferOneHotEncoder(TypeContext& ctx) {
  const auto* ints = ctx.node().FindAttr("cats_int64s");
  const auto* strings = ctx.node().FindAttr("cats_strings");
  if ((ints == nullptr) == (strings == nullptr))
    return ModelError("exactly one of cats_int64s and cats_strings is required");
  std::optional<Dims> dims = ctx.in(0).tensor.dims;
  if (dims) dims->emplace_back(static_cast<int64_t>(LengthOf(ints != nullptr ? *ints : *strings)));
  ctx.Set(0, DType::kF32, std::move(dims));
  return {};
}

Status InferZipMap(TypeContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.CheckRank(0, 1, 2));
  ValueType map;
  map.kind = ValueType::Kind::kMap;
  if (HasStrings(ctx, "classlabels_strings")) map.tensor.dtype = DType::kString;
  if (!ctx.node().Ints("classlabels_int64s").empty()) map.tensor.dtype = DType::kI64;
  map.element = std::make_shared<const ValueType>(ValueType::Tensor(DType::kF32, Dims{}));
  ctx.Set(0, ValueType::Sequence(std::move(map)));
  return {};
}

// ---- TreeEnsemble -------------------------------------------------------------------------------

struct Lengths {
  std::string_view name;
  bool required;
};
constexpr Lengths kOfNodes[] = {
    {"nodes_featureids", true},   {"nodes_hitrates", false},
    {"nodes_modes", true},        {"nodes_truenodeids", true},
    {"nodes_falsenodeids", true}, {"nodes_trueleafs", true},
    {"nodes_falseleafs", true},   {"nodes_missing_value_tracks_true", false}};

Status CheckLengths(const TypeContext& ctx, std::span<const Lengths> lists, int64_t wanted) {
  for (const Lengths& list : lists) {
    const auto* a = ctx.node().FindAttr(list.name);
    if (a == nullptr) {
      if (list.required) return ModelError("attribute {} is missing", list.name);
      continue;
    }
    if (a->has_t() && a->t().dims_size() != 1)
      return ModelError("{} has {} dimensions; expected 1", list.name, a->t().dims_size());
    const int64_t length = a->has_t() ? a->t().dims(0) : static_cast<int64_t>(LengthOf(*a));
    if (length != wanted)
      return ModelError("{} has {} entries; expected {}", list.name, length, wanted);
  }
  return {};
}

Status InferTreeEnsemble(TypeContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.CheckRank(0, 2));
  const auto* splits = ctx.node().FindAttr("nodes_splits");
  const auto* weights = ctx.node().FindAttr("leaf_weights");
  for (const auto* a : {splits, weights}) {
    if (a == nullptr || !a->has_t()) return {};
    if (a->t().dims_size() != 1)
      return ModelError("{} has {} dimensions; expected 1", a->name(), a->t().dims_size());
    const DType dtype = DTypeOf(a->t().data_type());
    if (ctx.dtype(0) != DType::kUnknown && dtype != ctx.dtype(0))
      return ModelError("{} is {}, but the input is {}", a->name(), DTypeName(dtype),
                        DTypeName(ctx.dtype(0)));
  }
  NN_RETURN_IF_ERROR(CheckLengths(ctx, kOfNodes, splits->t().dims(0)));
  constexpr Lengths kOfLeaves[] = {{"leaf_targetids", true}};
  NN_RETURN_IF_ERROR(CheckLengths(ctx, kOfLeaves, weights->t().dims(0)));
  const Dims* x = ctx.dims(0);
  ctx.Set(
      0, ctx.dtype(0),
      Dims{x == nullptr ? ctx.Unknown() : (*x)[0],
           ctx.node().HasAttr("n_targets") ? Dim(ctx.node().Int("n_targets", 0)) : ctx.Unknown()});
  return {};
}

}  // namespace

void AddMlInferences(InferTable& t) {
  t.Add(kMlDomain, "ArrayFeatureExtractor", 1, InferArrayFeatureExtractor);
  t.Add(kMlDomain, "Binarizer", 1, InferLikeFirst);
  t.Add(kMlDomain, "Imputer", 1, InferLikeFirst);
  t.Add(kMlDomain, "Normalizer", 1, InferFloats);
  t.Add(kMlDomain, "Scaler", 1, InferFloats);
  for (const char* op :
       {"FeatureVectorizer", "LinearRegressor", "SVMRegressor", "TreeEnsembleRegressor"})
    t.Add(kMlDomain, op, 1, InferSomeFloats);
  for (const char* op : {"SVMClassifier", "TreeEnsembleClassifier"})
    t.Add(kMlDomain, op, 1, InferClassifier);
  t.Add(kMlDomain, "LinearClassifier", 1, InferLinearClassifier);
  t.Add(kMlDomain, "CastMap", 1, InferCastMap);
  t.Add(kMlDomain, "DictVectorizer", 1, InferDictVectorizer);
  t.Add(kMlDomain, "OneHotEncoder", 1, InferOneHotEncoder);
  t.Add(kMlDomain, "ZipMap", 1, InferZipMap);
  t.Add(kMlDomain, "TreeEnsemble", 5, InferTreeEnsemble);
}

}  // namespace nn::onnx
