#include "validators/coreml/interface.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/text.h"

namespace nn::coreml {
namespace {

using ArrayType = pb::ArrayFeatureType;

bool SameShape(const ArrayType& a, const ArrayType& b) {
  return std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end());
}

bool IsFlexible(const ArrayType& a) {
  return a.ShapeFlexibility_case() != ArrayType::SHAPEFLEXIBILITY_NOT_SET;
}

bool SameArray(const ArrayType& a, const ArrayType& b) {
  if (a.datatype() != b.datatype() || RankOf(a) != RankOf(b)) return false;
  return IsFlexible(a) || IsFlexible(b) || SameShape(a, b);
}

}  // namespace

int RankOf(const ArrayType& array) {
  if (array.has_shaperange()) return array.shaperange().sizeranges_size();
  if (!array.has_enumeratedshapes()) return array.shape_size();
  const auto& shapes = array.enumeratedshapes().shapes();
  return shapes.empty() ? 0 : shapes.Get(0).shape_size();
}

bool SameType(const pb::FeatureType& a, const pb::FeatureType& b) {
  if (a.Type_case() != b.Type_case()) return false;
  switch (a.Type_case()) {
    case pb::FeatureType::kMultiArrayType:
      return SameArray(a.multiarraytype(), b.multiarraytype());
    case pb::FeatureType::kDictionaryType:
      return a.dictionarytype().KeyType_case() == b.dictionarytype().KeyType_case();
    case pb::FeatureType::kImageType:
      return a.imagetype().width() == b.imagetype().width() &&
             a.imagetype().height() == b.imagetype().height() &&
             a.imagetype().colorspace() == b.imagetype().colorspace();
    case pb::FeatureType::kSequenceType:
      return a.sequencetype().Type_case() == b.sequencetype().Type_case();
    case pb::FeatureType::kStateType: {
      const ArrayType& x = a.statetype().arraytype();
      const ArrayType& y = b.statetype().arraytype();
      return x.datatype() == y.datatype() && RankOf(x) == RankOf(y) && SameShape(x, y);
    }
    default:
      return true;
  }
}

std::string_view TypeName(pb::FeatureType::TypeCase type) {
  switch (type) {
    case pb::FeatureType::kInt64Type:
      return "Int64";
    case pb::FeatureType::kDoubleType:
      return "Double";
    case pb::FeatureType::kStringType:
      return "String";
    case pb::FeatureType::kImageType:
      return "Image";
    case pb::FeatureType::kMultiArrayType:
      return "MultiArray";
    case pb::FeatureType::kDictionaryType:
      return "Dictionary";
    case pb::FeatureType::kSequenceType:
      return "Sequence";
    case pb::FeatureType::kStateType:
      return "State";
    default:
      return "unset";
  }
}

void CheckFeatures(Findings& f, const ModelAt& m, const Features& list, std::string_view field,
                   const FeatureRule& rule) {
  if (rule.most != 0 && list.size() > rule.most)
    f.Add(At(fmt::format("{}description.{}", m.path, field)),
          "the model has {} {}s; its type allows {}", list.size(), field, rule.most);
  for (int i = 0; i < list.size(); ++i) {
    const auto type = list.Get(i).type().Type_case();
    if (std::find(rule.types.begin(), rule.types.end(), type) != rule.types.end()) continue;
    std::vector<std::string_view> names;
    for (const auto t : rule.types) names.push_back(TypeName(t));
    f.Add(At(fmt::format("{}description.{}[{}]", m.path, field, i)),
          "{} {} has type {}; expected {}", field, Quote(list.Get(i).name()), TypeName(type),
          fmt::join(names, " or "));
  }
}

std::string FaultOf(const pb::Int64Parameter& p, bool positive) {
  const int64_t value = p.defaultvalue();
  if (positive && value <= 0)
    return fmt::format("has the default {}, which is not positive", value);
  if (p.has_set()) {
    for (const int64_t allowed : p.set().values()) {
      if (allowed == value) return "";
      if (positive && allowed <= 0) return fmt::format("allows {}, which is not positive", allowed);
    }
    return fmt::format("has the default {}, which is not in its set of values", value);
  }
  if (!p.has_range()) return "";
  const auto& range = p.range();
  if (positive && range.minvalue() <= 0)
    return fmt::format("allows {}, which is not positive", range.minvalue());
  if (value < range.minvalue() || value > range.maxvalue())
    return fmt::format("has the default {}, which is outside its range of {} to {}", value,
                       range.minvalue(), range.maxvalue());
  return "";
}

}  // namespace nn::coreml
