// Rules of models that prepare features, and of those that pick results.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "validators/coreml/interface.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using T = pb::FeatureType;

// The first input, or output, of a model; nullptr if there is none.
const pb::FeatureType* FirstType(const Features& list) {
  return list.empty() ? nullptr : &list.Get(0).type();
}

void ChoicesMade(const Subject& s, Findings& f) {
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

void NormsKnown(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models())
    if (!pb::Normalizer::NormType_IsValid(m.model->normalizer().normtype()))
      f.Add(At(m.path + "normalizer.normType"), "there is no norm {}",
            static_cast<int>(m.model->normalizer().normtype()));
}

// Kinds whose output is of the type and size of their input.
bool IsElementwise(const pb::Model& m) {
  return m.has_imputer() || m.has_scaler();
}

void TypesKept(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto* in = FirstType(m.description().input());
    const auto* out = FirstType(m.description().output());
    if (!IsElementwise(*m.model) || in == nullptr || out == nullptr) continue;
    const Location where = At(m.path + "description.output[0].type");
    const bool scaled = m.model->has_scaler() && in->has_int64type() && out->has_doubletype();
    if (in->Type_case() != out->Type_case() && !scaled) {
      f.Add(where, "{} becomes {}", TypeName(in->Type_case()), TypeName(out->Type_case()));
    } else if (in->has_multiarraytype()) {
      const auto& a = in->multiarraytype();
      const auto& b = out->multiarraytype();
      if (a.shape_size() != 1 || b.shape_size() != 1 || a.shape(0) != b.shape(0))
        f.Add(where, "arrays of rank {} and {} are not of one axis and size", a.shape_size(),
              b.shape_size());
    }
  }
}

void ScalerSizes(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto* in = FirstType(m.description().input());
    if (!m.model->has_scaler() || in == nullptr) continue;
    const auto& array = in->multiarraytype();
    const int64_t size = array.shape_size() > 0 ? array.shape(0) : 1;
    const auto check = [&](int field, std::string_view name) {
      const auto have = static_cast<int64_t>(s.SizeOf(m.model->scaler(), field));
      if (have > 1 && (!in->has_multiarraytype() || have != size))
        f.Add(At(fmt::format("{}scaler.{}", m.path, name)), "there are {} values for {}", have,
              in->has_multiarraytype() ? std::to_string(size) + " elements" : "a number");
    };
    check(pb::Scaler::kShiftValueFieldNumber, "shiftValue");
    check(pb::Scaler::kScaleValueFieldNumber, "scaleValue");
  }
}

// Types that an imputed value goes with, and the value that is replaced.
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

void ImputedValues(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto* in = FirstType(m.description().input());
    if (!m.model->has_imputer() || in == nullptr) continue;
    const auto& p = m.model->imputer();
    if (p.ImputedValue_case() == pb::Imputer::IMPUTEDVALUE_NOT_SET) continue;
    const ImputerRule rule = RuleOf(p);
    const Location where = At(m.path + "imputer");
    if (std::find(rule.types.begin(), rule.types.end(), in->Type_case()) == rule.types.end())
      f.Add(where, "the imputed value does not go with an input of type {}",
            TypeName(in->Type_case()));
    if (p.ReplaceValue_case() != pb::Imputer::REPLACEVALUE_NOT_SET &&
        p.ReplaceValue_case() != rule.replaced)
      f.Add(where, "the replaced value is of another type than the imputed one");
    const int64_t size = in->multiarraytype().shape_size() > 0 ? in->multiarraytype().shape(0) : 0;
    const auto doubles = static_cast<int64_t>(
        s.SizeOf(p.imputeddoublearray(), pb::DoubleVector::kVectorFieldNumber));
    if ((p.has_imputeddoublearray() && doubles != size) ||
        (p.has_imputedint64array() && p.imputedint64array().vector_size() != size))
      f.Add(where, "the imputed array is not of the input's size, {}", size);
  }
}

void ColumnsSized(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto& list = m.model->featurevectorizer().inputlist();
    for (int i = 0; i < list.size(); ++i)
      if (list.Get(i).inputdimensions() == 0)
        f.Add(At(fmt::format("{}featureVectorizer.inputList[{}]", m.path, i)),
              "column {} has no dimensions", Quote(list.Get(i).inputcolumn()));
  }
}

void ColumnsExist(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto& list = m.model->featurevectorizer().inputlist();
    for (int i = 0; i < list.size(); ++i) {
      const auto& inputs = m.description().input();
      if (std::none_of(inputs.begin(), inputs.end(), [&](const auto& input) {
            return input.name() == list.Get(i).inputcolumn();
          }))
        f.Add(At(fmt::format("{}featureVectorizer.inputList[{}]", m.path, i)),
              "there is no input {}", Quote(list.Get(i).inputcolumn()));
    }
  }
}

void ExtractedNumber(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto* out = FirstType(m.description().output());
    if (!m.model->has_arrayfeatureextractor() || out == nullptr) continue;
    const int indices = m.model->arrayfeatureextractor().extractindex_size();
    if (out->has_doubletype() && indices != 1)
      f.Add(At(m.path + "arrayFeatureExtractor.extractIndex"), "{} elements become a Double",
            indices);
  }
}

void ExtractedInRange(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto* in = FirstType(m.description().input());
    if (!m.model->has_arrayfeatureextractor() || in == nullptr ||
        in->multiarraytype().shape_size() != 1)
      continue;
    for (const uint64_t index : m.model->arrayfeatureextractor().extractindex())
      if (index >= static_cast<uint64_t>(in->multiarraytype().shape(0)))
        f.Add(At(m.path + "arrayFeatureExtractor.extractIndex"), "there is no element {} of {}",
              index, in->multiarraytype().shape(0));
  }
}

void UnknownMapped(const Subject& s, Findings& f) {
  using C = pb::CategoricalMapping;
  for (const ModelAt& m : s.models()) {
    const C& p = m.model->categoricalmapping();
    if ((p.has_stringtoint64map() && p.ValueOnUnknown_case() == C::kStrValue) ||
        (p.has_int64tostringmap() && p.ValueOnUnknown_case() == C::kInt64Value))
      f.Add(At(m.path + "categoricalMapping"), "the value of the unknown is of another type");
  }
}

void SequencesMapped(const Subject& s, Findings& f) {
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
      f.Add(At(m.path + "categoricalMapping"), "sequences do not go with the mapping");
  }
}

// ---- Confidence thresholds

// Calls visit(value) for the numbers of a vector, wherever they are.
template <typename Visit>
void EachFloat(const Subject& s, const pb::FloatVector& v, const Visit& visit) {
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

void Curves(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    if (!m.model->has_classconfidencethresholding()) continue;
    const auto& curves = m.model->classconfidencethresholding().precisionrecallcurves();
    const std::string path = m.path + "classConfidenceThresholding.precisionRecallCurves";
    if (curves.empty()) f.Add(At(path), "there are no curves");
    for (int i = 0; i < curves.size(); ++i) {
      const auto& c = curves.Get(i);
      const auto size = [&](const pb::FloatVector& v) {
        return s.SizeOf(v, pb::FloatVector::kVectorFieldNumber);
      };
      const Location where = At(fmt::format("{}[{}]", path, i));
      if (size(c.precisionvalues()) == 0 || size(c.recallvalues()) == 0 ||
          size(c.precisionvalues()) != size(c.precisionconfidencethresholds()) ||
          size(c.recallvalues()) != size(c.recallconfidencethresholds()))
        f.Add(where, "curve {} has {} and {} values with {} and {} thresholds", i,
              size(c.precisionvalues()), size(c.recallvalues()),
              size(c.precisionconfidencethresholds()), size(c.recallconfidencethresholds()));
      bool good = true;
      for (const auto* v : {&c.precisionvalues(), &c.precisionconfidencethresholds(),
                            &c.recallvalues(), &c.recallconfidencethresholds()})
        EachFloat(s, *v, [&](float x) { good = good && std::isfinite(x) && x >= 0; });
      if (!good) f.Add(where, "curve {} has a value that is negative or no number", i);
    }
  }
}

constexpr Rule kRules[] = {
    {{"COREML-KIND-007", Severity::kError,
      "Imputers, encoders, vectorizers and mappings say what they work with.",
      "Model.proto, Model.Type", true, ""},
     ChoicesMade},
    {{"COREML-KIND-008", Severity::kError, "The norm of a normalizer is a known one.",
      "Normalizer.proto, Normalizer.normType", true, ""},
     NormsKnown},
    {{"COREML-KIND-009", Severity::kError,
      "Imputers and scalers give what they take, arrays of one axis; scalers make numbers Doubles.",
      "Imputer.proto; Scaler.proto", true, ""},
     TypesKept},
    {{"COREML-KIND-010", Severity::kError,
      "A scaler has no shift or scale, one, or one an element.", "Scaler.proto, Scaler", true, ""},
     ScalerSizes},
    {{"COREML-KIND-011", Severity::kError,
      "Imputed and replaced values are of the type and size of the input.",
      "Imputer.proto, Imputer", true, ""},
     ImputedValues},
    {{"COREML-KIND-012", Severity::kError, "Columns of a feature vectorizer have dimensions.",
      "FeatureVectorizer.proto, FeatureVectorizer.InputColumn", true, ""},
     ColumnsSized},
    {{"COREML-KIND-013", Severity::kError, "Columns of a feature vectorizer are inputs.",
      "FeatureVectorizer.proto, FeatureVectorizer.InputColumn", false, ""},
     ColumnsExist},
    {{"COREML-KIND-014", Severity::kError, "An extractor that gives a Double extracts one element.",
      "ArrayFeatureExtractor.proto, ArrayFeatureExtractor.extractIndex", true, ""},
     ExtractedNumber},
    {{"COREML-KIND-015", Severity::kError, "Extracted elements are ones that the input has.",
      "ArrayFeatureExtractor.proto, ArrayFeatureExtractor.extractIndex", false, ""},
     ExtractedInRange},
    {{"COREML-KIND-016", Severity::kError,
      "The value that a categorical mapping gives to the unknown is of its output's type.",
      "CategoricalMapping.proto, CategoricalMapping.ValueOnUnknown", true, ""},
     UnknownMapped},
    {{"COREML-KIND-017", Severity::kError,
      "A categorical mapping makes sequences of sequences, of the types that it maps.",
      "CategoricalMapping.proto, CategoricalMapping.MappingType", true, ""},
     SequencesMapped},
    {{"COREML-KIND-018", Severity::kError,
      "Confidence thresholding has curves of values and as many thresholds, finite and not "
      "negative.",
      "ClassConfidenceThresholding.proto", true, ""},
     Curves},
};

}  // namespace

std::span<const Rule> EngineeringRules() {
  return kRules;
}

}  // namespace nn::coreml
