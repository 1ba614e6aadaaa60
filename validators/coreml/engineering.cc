// Rules about models that prepare features or select results.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text/text.h"
#include "validators/coreml/interface.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using T = pb::FeatureType;

// The first input, or output, of a model; nullptr if there is none.
const pb::FeatureType* FirstType(const Features& list) {
  return list.empty() ? nullptr : &list.Get(0).type();
}

void ChoicesMade(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const pb::Model& model = *m.model;
    const auto need = [&](bool kind, bool present, std::string_view what) {
      if (kind && !present) f.Add(At(m.path + "Type"), "the model has no {}", what);
    };
    need(model.has_imputer(),
         model.imputer().ImputedValue_case() != pb::Imputer::IMPUTEDVALUE_NOT_SET, "imputed value");
    need(model.has_onehotencoder(),
         model.onehotencoder().CategoryType_case() != pb::OneHotEncoder::CATEGORYTYPE_NOT_SET,
         "categories");
    need(model.has_dictvectorizer(),
         model.dictvectorizer().Map_case() != pb::DictVectorizer::MAP_NOT_SET, "map");
    need(model.has_categoricalmapping(),
         model.categoricalmapping().MappingType_case() !=
             pb::CategoricalMapping::MAPPINGTYPE_NOT_SET,
         "mapping");
  }
}

void NormsKnown(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (!pb::Normalizer::NormType_IsValid(m.model->normalizer().normtype()))
      f.Add(At(m.path + "normalizer.normType"), "normType has the unknown value {}",
            static_cast<int>(m.model->normalizer().normtype()));
}

// Model types whose output has the type and size of the input.
bool IsElementwise(const pb::Model& m) {
  return m.has_imputer() || m.has_scaler();
}

void TypesKept(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto* in = FirstType(m.description().input());
    const auto* out = FirstType(m.description().output());
    if (!IsElementwise(*m.model) || in == nullptr || out == nullptr) continue;
    const Location where = At(m.path + "description.output[0].type");
    const bool scaled = m.model->has_scaler() && in->has_int64type() && out->has_doubletype();
    if (in->Type_case() != out->Type_case() && !scaled) {
      f.Add(where, "the input has type {}, but the output has type {}", TypeName(in->Type_case()),
            TypeName(out->Type_case()));
    } else if (in->has_multiarraytype()) {
      const auto& a = in->multiarraytype();
      const auto& b = out->multiarraytype();
      if (a.shape_size() != 1 || b.shape_size() != 1 || a.shape(0) != b.shape(0))
        f.Add(where,
              "the input has {} axes and the output has {}; expected one axis of the same size",
              a.shape_size(), b.shape_size());
    }
  }
}

void ScalerSizes(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto* in = FirstType(m.description().input());
    if (!m.model->has_scaler() || in == nullptr) continue;
    const auto& array = in->multiarraytype();
    const int64_t size = array.shape_size() > 0 ? array.shape(0) : 1;
    const auto check = [&](int field, std::string_view name) {
      const auto have = static_cast<int64_t>(s.SizeOf(m.model->scaler(), field));
      if (have > 1 && (!in->has_multiarraytype() || have != size))
        f.Add(At(fmt::format("{}scaler.{}", m.path, name)), "{} has {} values for {}", name, have,
              in->has_multiarraytype() ? fmt::format("an input of {} elements", size)
                                       : "a scalar input");
    };
    check(pb::Scaler::kShiftValueFieldNumber, "shiftValue");
    check(pb::Scaler::kScaleValueFieldNumber, "scaleValue");
  }
}

// The input types that an imputed value fits, and the field for the replaced value.
struct ImputerRule {
  std::vector<T::TypeCase> types;
  pb::Imputer::ReplaceValueCase replaced;
};

ImputerRule RuleOf(const pb::Imputer& p) {
  switch (p.ImputedValue_case()) {
    case pb::Imputer::kImputedDoubleValue:
      return {{T::kDoubleType, T::kMultiArrayType}, pb::Imputer::kReplaceDoubleValue};
    case pb::Imputer::kImputedInt64Value:
      return {{T::kInt64Type}, pb::Imputer::kReplaceInt64Value};
    case pb::Imputer::kImputedStringValue:
      return {{T::kStringType}, pb::Imputer::kReplaceStringValue};
    case pb::Imputer::kImputedDoubleArray:
      return {{T::kMultiArrayType}, pb::Imputer::kReplaceDoubleValue};
    case pb::Imputer::kImputedInt64Array:
      return {{T::kMultiArrayType}, pb::Imputer::kReplaceInt64Value};
    default:
      return {{T::kDictionaryType}, pb::Imputer::REPLACEVALUE_NOT_SET};
  }
}

void ImputedValues(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto* in = FirstType(m.description().input());
    if (!m.model->has_imputer() || in == nullptr) continue;
    const auto& p = m.model->imputer();
    if (p.ImputedValue_case() == pb::Imputer::IMPUTEDVALUE_NOT_SET) continue;
    const ImputerRule rule = RuleOf(p);
    const Location where = At(m.path + "imputer");
    if (std::find(rule.types.begin(), rule.types.end(), in->Type_case()) == rule.types.end())
      f.Add(where, "the imputed value does not match an input of type {}",
            TypeName(in->Type_case()));
    if (p.ReplaceValue_case() != pb::Imputer::REPLACEVALUE_NOT_SET &&
        p.ReplaceValue_case() != rule.replaced)
      f.Add(where, "the replaced value has a different type than the imputed value");
    const int64_t size = in->multiarraytype().shape_size() > 0 ? in->multiarraytype().shape(0) : 0;
    const auto doubles = static_cast<int64_t>(
        s.SizeOf(p.imputeddoublearray(), pb::DoubleVector::kVectorFieldNumber));
    if ((p.has_imputeddoublearray() && doubles != size) ||
        (p.has_imputedint64array() && p.imputedint64array().vector_size() != size))
      f.Add(where, "the imputed array does not have the size of the input, {}", size);
  }
}

void ColumnsSized(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto& list = m.model->featurevectorizer().inputlist();
    for (int i = 0; i < list.size(); ++i)
      if (list.Get(i).inputdimensions() == 0)
        f.Add(At(fmt::format("{}featureVectorizer.inputList[{}]", m.path, i)),
              "column {} has no inputDimensions", Quote(list.Get(i).inputcolumn()));
  }
}

void ColumnsExist(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto& list = m.model->featurevectorizer().inputlist();
    for (int i = 0; i < list.size(); ++i) {
      const auto& inputs = m.description().input();
      if (std::none_of(inputs.begin(), inputs.end(), [&](const auto& input) {
            return input.name() == list.Get(i).inputcolumn();
          }))
        f.Add(At(fmt::format("{}featureVectorizer.inputList[{}]", m.path, i)),
              "the model has no input {}", Quote(list.Get(i).inputcolumn()));
    }
  }
}

void ExtractedNumber(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto* out = FirstType(m.description().output());
    if (!m.model->has_arrayfeatureextractor() || out == nullptr) continue;
    const int indices = m.model->arrayfeatureextractor().extractindex_size();
    if (out->has_doubletype() && indices != 1)
      f.Add(At(m.path + "arrayFeatureExtractor.extractIndex"),
            "{} elements are extracted into an output of type Double; expected 1", indices);
  }
}

void ExtractedInRange(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto* in = FirstType(m.description().input());
    if (!m.model->has_arrayfeatureextractor() || in == nullptr ||
        in->multiarraytype().shape_size() != 1)
      continue;
    for (const uint64_t index : m.model->arrayfeatureextractor().extractindex())
      if (index >= static_cast<uint64_t>(in->multiarraytype().shape(0)))
        f.Add(At(m.path + "arrayFeatureExtractor.extractIndex"),
              "element {} is out of range for an input of {} elements", index,
              in->multiarraytype().shape(0));
  }
}

void UnknownMapped(const RuleContext& s, Findings& f) {
  using C = pb::CategoricalMapping;
  for (const ModelAt& m : s.models()) {
    const C& p = m.model->categoricalmapping();
    if ((p.has_stringtoint64map() && p.ValueOnUnknown_case() == C::kStrValue) ||
        (p.has_int64tostringmap() && p.ValueOnUnknown_case() == C::kInt64Value))
      f.Add(At(m.path + "categoricalMapping"),
            "the value for unknown inputs does not have the output type of the map");
  }
}

void SequencesMapped(const RuleContext& s, Findings& f) {
  using Q = pb::SequenceFeatureType;
  for (const ModelAt& m : s.models()) {
    const auto* in = FirstType(m.description().input());
    const auto* out = FirstType(m.description().output());
    if (!m.model->has_categoricalmapping() || in == nullptr || out == nullptr ||
        !in->has_sequencetype())
      continue;
    const bool strings = m.model->categoricalmapping().has_stringtoint64map();
    if (in->sequencetype().Type_case() != (strings ? Q::kStringType : Q::kInt64Type) ||
        !out->has_sequencetype() ||
        out->sequencetype().Type_case() != (strings ? Q::kInt64Type : Q::kStringType))
      f.Add(At(m.path + "categoricalMapping"),
            "the input and output sequences do not have the element types of the map");
  }
}

// ---- Confidence thresholds

// Calls visit(value) for each number of a vector, wherever it is stored.
template <typename Visit>
void EachFloat(const RuleContext& s, const pb::FloatVector& v, const Visit& visit) {
  if (const auto blob = s.native().payloads.Find(v, pb::FloatVector::kVectorFieldNumber)) {
    for (size_t i = 0; i + sizeof(float) <= blob->size(); i += sizeof(float)) {
      float value = 0;
      std::memcpy(&value, blob->data() + i, sizeof(float));
      visit(value);
    }
    return;
  }
  for (const float value : v.vector()) visit(value);
}

void Curves(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_classconfidencethresholding()) continue;
    const auto& curves = m.model->classconfidencethresholding().precisionrecallcurves();
    const std::string path = m.path + "classConfidenceThresholding.precisionRecallCurves";
    if (curves.empty()) f.Add(At(path), "the model has no precision-recall curves");
    for (int i = 0; i < curves.size(); ++i) {
      const auto& c = curves.Get(i);
      const auto size = [&](const pb::FloatVector& v) {
        return s.SizeOf(v, pb::FloatVector::kVectorFieldNumber);
      };
      const Location where = At(fmt::format("{}[{}]", path, i));
      if (size(c.precisionvalues()) == 0 || size(c.recallvalues()) == 0 ||
          size(c.precisionvalues()) != size(c.precisionconfidencethresholds()) ||
          size(c.recallvalues()) != size(c.recallconfidencethresholds()))
        f.Add(where, "curve {} has {} precision and {} recall values with {} and {} thresholds", i,
              size(c.precisionvalues()), size(c.recallvalues()),
              size(c.precisionconfidencethresholds()), size(c.recallconfidencethresholds()));
      bool good = true;
      for (const auto* v : {&c.precisionvalues(), &c.precisionconfidencethresholds(),
                            &c.recallvalues(), &c.recallconfidencethresholds()})
        EachFloat(s, *v, [&](float x) { good = good && std::isfinite(x) && x >= 0; });
      if (!good) f.Add(where, "curve {} has a value that is negative or not finite", i);
    }
  }
}

constexpr Rule kEngineeringRules[] = {
    {.info = {.id = "COREML-KIND-007",
              .statement =
                  "An imputer has an imputed value, a one-hot encoder has categories, a dictionary "
                  "vectorizer has a map, and a categorical mapping has a mapping.",
              .clause = "Model.proto, Model.Type",
              .vendor = true,
              .hint = "Set the missing oneof: ImputedValue, CategoryType, Map or MappingType."},
     .check = ChoicesMade},
    {.info = {.id = "COREML-KIND-008",
              .statement = "The normType of a normalizer is LMax, L1 or L2.",
              .clause = "Normalizer.proto, Normalizer.normType",
              .vendor = true,
              .hint = "Set normType to LMax, L1 or L2."},
     .check = NormsKnown},
    {.info = {.id = "COREML-KIND-009",
              .statement =
                  "The output of an imputer or scaler has the type of its input, except that a "
                  "scaler can turn Int64 into Double, and arrays have one axis and the same size.",
              .clause = "Imputer.proto; Scaler.proto",
              .vendor = true,
              .hint = "Give the output the type and size of the input."},
     .check = TypesKept},
    {.info = {.id = "COREML-KIND-010",
              .statement = "The shiftValue and scaleValue of a scaler have at most one value, or "
                           "one for each element of an array input.",
              .clause = "Scaler.proto, Scaler",
              .vendor = true,
              .hint = "Give each list no value, one value, or one for each element of the input."},
     .check = ScalerSizes},
    {.info = {.id = "COREML-KIND-011",
              .statement = "The imputed value of an imputer has the type and size of the input, "
                           "and the replaced value has the type of the imputed value.",
              .clause = "Imputer.proto, Imputer",
              .vendor = true,
              .hint = "Use the imputed and replaced value fields that match the type of the input, "
                      "and give an imputed array the size of the input."},
     .check = ImputedValues},
    {.info = {.id = "COREML-KIND-012",
              .statement = "Each column of a feature vectorizer has positive inputDimensions.",
              .clause = "FeatureVectorizer.proto, FeatureVectorizer.InputColumn",
              .vendor = true,
              .hint = "Set inputDimensions to the number of values of the column."},
     .check = ColumnsSized},
    {.info =
         {.id = "COREML-KIND-013",
          .statement =
              "The inputColumn of each column of a feature vectorizer names an input of the model.",
          .clause = "FeatureVectorizer.proto, FeatureVectorizer.InputColumn",
          .hint = "Set inputColumn to the name of an input."},
     .check = ColumnsExist},
    {.info = {.id = "COREML-KIND-014",
              .statement = "An array feature extractor with an output of type Double extracts "
                           "exactly one element.",
              .clause = "ArrayFeatureExtractor.proto, ArrayFeatureExtractor.extractIndex",
              .vendor = true,
              .hint = "List one value in extractIndex, or change the output to multiArrayType."},
     .check = ExtractedNumber},
    {.info = {.id = "COREML-KIND-015",
              .statement = "Each extractIndex of an array feature extractor is less than the size "
                           "of an input with one axis.",
              .clause = "ArrayFeatureExtractor.proto, ArrayFeatureExtractor.extractIndex",
              .hint = "Set extractIndex to values from 0 to one less than the size of the input."},
     .check = ExtractedInRange},
    {.info = {.id = "COREML-KIND-016",
              .statement = "The value that a categorical mapping gives to unknown inputs has the "
                           "output type of the map.",
              .clause = "CategoricalMapping.proto, CategoricalMapping.ValueOnUnknown",
              .vendor = true,
              .hint = "Set int64Value for a map from strings to integers, or strValue for a map "
                      "from integers to strings."},
     .check = UnknownMapped},
    {.info =
         {.id = "COREML-KIND-017",
          .statement = "A categorical mapping with a sequence as input has a sequence as output, "
                       "and both have the element types of the map.",
          .clause = "CategoricalMapping.proto, CategoricalMapping.MappingType",
          .vendor = true,
          .hint =
              "Change the input and the output to sequences of the types that the map converts."},
     .check = SequencesMapped},
    {.info = {.id = "COREML-KIND-018",
              .statement =
                  "A class confidence thresholding model has precision-recall curves, each of "
                  "which has as many thresholds as values, all finite and not negative.",
              .clause = "ClassConfidenceThresholding.proto",
              .vendor = true,
              .hint = "Give each curve as many thresholds as values, and replace negative, "
                      "infinite and NaN values."},
     .check = Curves},
};

}  // namespace

std::span<const Rule> EngineeringRules() {
  return kEngineeringRules;
}

}  // namespace nn::coreml
