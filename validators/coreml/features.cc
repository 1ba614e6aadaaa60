// Rules about feature types.
#include <algorithm>
#include <limits>

#include "base/text/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using ArrayType = pb::ArrayFeatureType;
using Image = pb::ImageFeatureType;

constexpr int kVersionWithFlexibleShapes = 3;
constexpr int kVersionWithDefaultValues = 5;
constexpr int kVersionWithHalf = 7;
constexpr int kVersionWithStates = 9;
constexpr int kVersionWithInt8 = 10;

enum class Role { kInput, kOutput, kState };

template <typename Description, typename Visit>
void EachIn(const Description& d, const std::string& path, const Visit& visit) {
  const auto each = [&](const Features& list, std::string_view field, Role role) {
    for (int i = 0; i < list.size(); ++i)
      visit(list.Get(i), fmt::format("{}.{}[{}]", path, field, i), role);
  };
  each(d.input(), "input", Role::kInput);
  each(d.output(), "output", Role::kOutput);
  each(d.state(), "state", Role::kState);
}

// Calls visit(feature, path, role, version).
template <typename Visit>
void EachFeature(const RuleContext& s, const Visit& visit) {
  for (const ModelAt& m : s.models()) {
    const auto with = [&](const pb::FeatureDescription& feature, const std::string& path,
                          Role role) { visit(feature, path, role, m.version()); };
    EachIn(m.description(), m.path + "description", with);
    for (int i = 0; i < m.description().functions_size(); ++i)
      EachIn(m.description().functions(i), fmt::format("{}description.functions[{}]", m.path, i),
             with);
  }
}

// Calls visit(feature, array, path, role, version) for each array, including those of states.
template <typename Visit>
void EachArray(const RuleContext& s, const Visit& visit) {
  EachFeature(s, [&](const pb::FeatureDescription& feature, const std::string& path, Role role,
                     int version) {
    const auto& type = feature.type();
    if (type.has_multiarraytype()) visit(feature, type.multiarraytype(), path, role, version);
    if (type.has_statetype()) visit(feature, type.statetype().arraytype(), path, role, version);
  });
}

template <typename Visit>
void EachImage(const RuleContext& s, const Visit& visit) {
  EachFeature(
      s, [&](const pb::FeatureDescription& feature, const std::string& path, Role, int version) {
        if (feature.type().has_imagetype())
          visit(feature, feature.type().imagetype(), path, version);
      });
}

void Named(const RuleContext& s, Findings& f) {
  EachFeature(s, [&](const auto& feature, const std::string& path, Role, int) {
    if (feature.name().empty()) f.Add(At(path + ".name"), "the feature has no name");
  });
}

void Typed(const RuleContext& s, Findings& f) {
  EachFeature(s, [&](const auto& feature, const std::string& path, Role, int) {
    if (feature.type().Type_case() == pb::FeatureType::TYPE_NOT_SET)
      f.Add(At(path + ".type"), "{} has no type", Quote(feature.name()));
  });
}

void StatesApart(const RuleContext& s, Findings& f) {
  EachFeature(s, [&](const auto& feature, const std::string& path, Role role, int) {
    const bool state = feature.type().has_statetype();
    if (state ? role == Role::kOutput : role == Role::kState)
      f.Add(At(path), "{} is {} but is listed among the {}", Quote(feature.name()),
            state ? "a state" : "not a state", state ? "outputs" : "states");
  });
}

void StatesPlain(const RuleContext& s, Findings& f) {
  EachFeature(s, [&](const auto& feature, const std::string& path, Role, int version) {
    if (!feature.type().has_statetype()) return;
    if (version < kVersionWithStates)
      f.Add(At(path + ".type"), "states require specification version {}; the model has version {}",
            kVersionWithStates, version);
    if (feature.type().isoptional())
      f.Add(At(path + ".type"), "state {} is optional", Quote(feature.name()));
  });
}

void ShapesPresent(const RuleContext& s, Findings& f) {
  EachArray(s, [&](const auto& feature, const ArrayType& a, const std::string& path, Role role,
                   int version) {
    const bool is_state = feature.type().has_statetype();
    const bool flexible = !is_state && version >= kVersionWithFlexibleShapes &&
                          a.ShapeFlexibility_case() != ArrayType::SHAPEFLEXIBILITY_NOT_SET;
    if ((role == Role::kInput || is_state) && a.shape().empty() && !flexible)
      f.Add(At(path + ".type"), "array {} has no shape", Quote(feature.name()));
  });
}

void ShapesNatural(const RuleContext& s, Findings& f) {
  EachArray(s, [&](const auto& feature, const ArrayType& a, const std::string& path, Role, int) {
    for (int i = 0; i < a.shape_size(); ++i)
      if (a.shape(i) < 0)
        f.Add(At(fmt::format("{}.type.multiArrayType.shape[{}]", path, i)),
              "size {} of {} is {}; expected 0 or more", i, Quote(feature.name()), a.shape(i));
  });
}

void DataTypes(const RuleContext& s, Findings& f) {
  EachArray(s, [&](const auto& feature, const ArrayType& a, const std::string& path, Role,
                   int version) {
    const int type = a.datatype();
    const bool state = feature.type().has_statetype();
    int since = 0;
    if (type == ArrayType::FLOAT16) since = state ? 0 : kVersionWithHalf;
    if (type == ArrayType::INT8) since = state ? 0 : kVersionWithInt8;
    const bool known = type == ArrayType::FLOAT16 || type == ArrayType::INT8 ||
                       (!state && (type == ArrayType::FLOAT32 || type == ArrayType::DOUBLE ||
                                   type == ArrayType::INT32));
    if (!known)
      f.Add(At(path + ".type"), "array {} has the unsupported dataType {}", Quote(feature.name()),
            type);
    else if (version < since)
      f.Add(At(path + ".type"), "array {} has dataType {}, which requires specification version {}",
            Quote(feature.name()), ArrayType::ArrayDataType_Name(a.datatype()), since);
  });
}

void DefaultValues(const RuleContext& s, Findings& f) {
  EachArray(s, [&](const auto& feature, const ArrayType& a, const std::string& path, Role, int) {
    const auto value = a.defaultOptionalValue_case();
    if (value == ArrayType::DEFAULTOPTIONALVALUE_NOT_SET) return;
    const int type = a.datatype();
    bool fits = false;
    if (value == ArrayType::kDoubleDefaultValue) fits = type == ArrayType::DOUBLE;
    if (value == ArrayType::kFloatDefaultValue)
      fits = type == ArrayType::FLOAT32 || type == ArrayType::FLOAT16;
    if (value == ArrayType::kIntDefaultValue)
      fits =
          type == ArrayType::INT32 ||
          (type == ArrayType::INT8 && a.intdefaultvalue() >= std::numeric_limits<int8_t>::min() &&
           a.intdefaultvalue() <= std::numeric_limits<int8_t>::max());
    if (!fits)
      f.Add(At(path + ".type"), "the default value of {} does not match its dataType",
            Quote(feature.name()));
    if (feature.type().has_statetype())
      f.Add(At(path + ".type"), "state {} has a default value", Quote(feature.name()));
  });
}

bool MayHaveDefaults(const pb::Model& m) {
  return IsNetwork(m) || m.has_serializedmodel() || m.has_mlprogram();
}

void DefaultsAllowed(const RuleContext& s, Findings& f) {
  for (const ModelAt& m : s.models())
    for (int i = 0; i < m.description().input_size(); ++i) {
      const auto& type = m.description().input(i).type();
      if (!type.isoptional() || type.multiarraytype().defaultOptionalValue_case() ==
                                    ArrayType::DEFAULTOPTIONALVALUE_NOT_SET)
        continue;
      const Location where = At(fmt::format("{}description.input[{}].type", m.path, i));
      if (!MayHaveDefaults(*m.model))
        f.Add(where, "the input has a default value, which this type of model does not support");
      else if (m.version() < kVersionWithDefaultValues)
        f.Add(where, "default values require specification version {}; the model has version {}",
              kVersionWithDefaultValues, m.version());
    }
}

bool Valid(const pb::SizeRange& r) {
  return r.upperbound() <= 0 || r.lowerbound() <= static_cast<uint64_t>(r.upperbound());
}

bool Contains(const pb::SizeRange& r, int64_t size) {
  return size >= 0 && static_cast<uint64_t>(size) >= r.lowerbound() &&
         (r.upperbound() < 0 || size <= r.upperbound());
}

void RangesValid(const RuleContext& s, Findings& f) {
  EachFeature(
      s, [&](const pb::FeatureDescription& feature, const std::string& path, Role, int version) {
        if (version < kVersionWithFlexibleShapes) return;
        const auto check = [&](const pb::SizeRange& r, std::string_view what) {
          if (!Valid(r))
            f.Add(At(path + ".type"), "{} of {} has lowerBound {} and upperBound {}", what,
                  Quote(feature.name()), r.lowerbound(), r.upperbound());
        };
        const auto& type = feature.type();
        for (const auto& r : type.multiarraytype().shaperange().sizeranges()) check(r, "a size");
        if (type.imagetype().has_imagesizerange()) {
          check(type.imagetype().imagesizerange().widthrange(), "the width");
          check(type.imagetype().imagesizerange().heightrange(), "the height");
        }
        if (type.has_sequencetype()) check(type.sequencetype().sizerange(), "the length");
      });
}

// Whether the default shape of an array is one of its flexible shapes.
bool DefaultAllowed(const ArrayType& a) {
  const auto same = [&](const ArrayType::Shape& shape) {
    return std::equal(shape.shape().begin(), shape.shape().end(), a.shape().begin(),
                      a.shape().end());
  };
  if (a.has_enumeratedshapes()) {
    const auto& list = a.enumeratedshapes().shapes();
    return std::any_of(list.begin(), list.end(), same);
  }
  const auto& ranges = a.shaperange().sizeranges();
  if (ranges.size() != a.shape_size()) return false;
  for (int i = 0; i < ranges.size(); ++i)
    if (!Contains(ranges.Get(i), a.shape(i))) return false;
  return true;
}

void FlexibleShapes(const RuleContext& s, Findings& f) {
  EachArray(
      s, [&](const auto& feature, const ArrayType& a, const std::string& path, Role, int version) {
        if (a.ShapeFlexibility_case() == ArrayType::SHAPEFLEXIBILITY_NOT_SET) return;
        if (feature.type().has_statetype()) {
          f.Add(At(path + ".type"), "state {} has a flexible shape", Quote(feature.name()));
          return;
        }
        if (version < kVersionWithFlexibleShapes) return;
        if (a.has_enumeratedshapes()) {
          bool empty = a.enumeratedshapes().shapes().empty();
          for (const auto& shape : a.enumeratedshapes().shapes())
            empty = empty || shape.shape().empty();
          if (empty)
            f.Add(At(path + ".type"), "array {} has no enumerated shapes, or an empty one",
                  Quote(feature.name()));
        }
        if (!a.shape().empty() && !DefaultAllowed(a))
          f.Add(At(path + ".type"), "the default shape of {} is not one of its flexible shapes",
                Quote(feature.name()));
      });
}

void ImageSizes(const RuleContext& s, Findings& f) {
  EachImage(s, [&](const auto& feature, const Image& image, const std::string& path, int version) {
    int64_t width = image.width();
    int64_t height = image.height();
    const bool stated = width > 0 && height > 0;
    if (version >= kVersionWithFlexibleShapes && image.has_enumeratedsizes()) {
      const auto& sizes = image.enumeratedsizes().sizes();
      const bool found = std::any_of(sizes.begin(), sizes.end(), [&](const auto& size) {
        return static_cast<int64_t>(size.width()) == width &&
               static_cast<int64_t>(size.height()) == height;
      });
      if (sizes.empty() || (stated && !found))
        f.Add(At(path + ".type"), "the size of image {} is not one of its enumerated sizes",
              Quote(feature.name()));
      if (!stated && !sizes.empty()) {
        width = static_cast<int64_t>(sizes.Get(0).width());
        height = static_cast<int64_t>(sizes.Get(0).height());
      }
    } else if (version >= kVersionWithFlexibleShapes && image.has_imagesizerange()) {
      const auto& range = image.imagesizerange();
      if (stated &&
          (!Contains(range.widthrange(), width) || !Contains(range.heightrange(), height)))
        f.Add(At(path + ".type"), "the size of image {}, {} x {}, is outside its size range",
              Quote(feature.name()), width, height);
      if (!stated) {
        width = static_cast<int64_t>(range.widthrange().lowerbound());
        height = static_cast<int64_t>(range.heightrange().lowerbound());
      }
    }
    if (width <= 0 || height <= 0)
      f.Add(At(path + ".type"), "image {} has the size {} x {}; expected positive sizes",
            Quote(feature.name()), width, height);
  });
}

void ColorSpaces(const RuleContext& s, Findings& f) {
  EachImage(s, [&](const auto& feature, const Image& image, const std::string& path, int version) {
    if (image.colorspace() == Image::INVALID_COLOR_SPACE ||
        !Image::ColorSpace_IsValid(image.colorspace()))
      f.Add(At(path + ".type"), "image {} has the unsupported colorSpace {}", Quote(feature.name()),
            static_cast<int>(image.colorspace()));
    else if (image.colorspace() == Image::GRAYSCALE_FLOAT16 && version < kVersionWithHalf)
      f.Add(At(path + ".type"),
            "image {} has colorSpace GRAYSCALE_FLOAT16, which requires specification version {}; "
            "the model has version {}",
            Quote(feature.name()), kVersionWithHalf, version);
  });
}

void KeysTyped(const RuleContext& s, Findings& f) {
  EachFeature(
      s, [&](const pb::FeatureDescription& feature, const std::string& path, Role, int version) {
        const auto& type = feature.type();
        if (type.has_dictionarytype() &&
            type.dictionarytype().KeyType_case() == pb::DictionaryFeatureType::KEYTYPE_NOT_SET)
          f.Add(At(path + ".type"), "dictionary {} has no key type", Quote(feature.name()));
        if (!type.has_sequencetype()) return;
        if (type.sequencetype().Type_case() == pb::SequenceFeatureType::TYPE_NOT_SET)
          f.Add(At(path + ".type"), "sequence {} has no element type", Quote(feature.name()));
        if (version < kVersionWithFlexibleShapes)
          f.Add(At(path + ".type"),
                "sequences require specification version {}; the model has version {}",
                kVersionWithFlexibleShapes, version);
      });
}

constexpr std::string_view kFeaturesClause = "FeatureTypes.proto";

constexpr Rule kFeatureRules[] = {
    {.info = {.id = "COREML-FEATURE-001",
              .statement = "Each input, output and state of a model has a name.",
              .clause = kFeaturesClause,
              .vendor = true,
              .hint = "Set the name of the feature."},
     .check = Named},
    {.info = {.id = "COREML-FEATURE-002",
              .statement = "Each input, output and state of a model has a type.",
              .clause = kFeaturesClause,
              .vendor = true,
              .hint = "Set one of the types of FeatureType, such as multiArrayType or imageType."},
     .check = Typed},
    {.info = {.id = "COREML-FEATURE-003",
              .statement = "A feature of type State is listed among the states or inputs of a "
                           "model, and the list of states has no features of other types.",
              .clause = kFeaturesClause,
              .vendor = true,
              .hint = "List states in description.state, and all other features in "
                      "description.input or description.output."},
     .check = StatesApart},
    {.info = {.id = "COREML-FEATURE-004",
              .statement = "An array input has a shape or, from specification version 3 on, a "
                           "flexible shape, and a state has a shape.",
              .clause = kFeaturesClause,
              .vendor = true,
              .hint = "Set the shape of the array."},
     .check = ShapesPresent},
    {.info = {.id = "COREML-FEATURE-005",
              .statement = "No size in the shape of an array is negative.",
              .clause = kFeaturesClause,
              .vendor = true,
              .hint = "Set the size to 0 or more, and describe a variable size with shapeRange or "
                      "enumeratedShapes."},
     .check = ShapesNatural},
    {.info =
         {.id = "COREML-FEATURE-006",
          .statement =
              "The dataType of an array is FLOAT32, DOUBLE, INT32, FLOAT16 (from specification "
              "version 7 on) or INT8 (from version 10 on), and that of a state is FLOAT16 or INT8.",
          .clause = kFeaturesClause,
          .vendor = true,
          .hint = "Set dataType to one of these types, or raise specificationVersion to the "
                  "version that introduced the type."},
     .check = DataTypes},
    {.info = {.id = "COREML-FEATURE-007",
              .statement = "The default value of an array matches its dataType, and a state has no "
                           "default value.",
              .clause = kFeaturesClause,
              .vendor = true,
              .hint = "Set the default value with the field for the dataType (doubleDefaultValue, "
                      "floatDefaultValue or intDefaultValue), and remove it from a state."},
     .check = DefaultValues},
    {.info =
         {.id = "COREML-FEATURE-008",
          .statement = "In a size range with a positive upperBound, lowerBound is not greater than "
                       "upperBound.",
          .clause = kFeaturesClause,
          .vendor = true,
          .hint =
              "Correct lowerBound or upperBound; a negative upperBound leaves the size unbounded."},
     .check = RangesValid},
    {.info = {.id = "COREML-FEATURE-009",
              .statement =
                  "The default shape of an array is one of its flexible shapes, enumeratedShapes "
                  "has at least one shape and no empty ones, and a state has no flexible shape.",
              .clause = kFeaturesClause,
              .vendor = true,
              .hint = "Add the default shape to the flexible shapes, or change the default shape; "
                      "give a state a fixed shape."},
     .check = FlexibleShapes},
    {.info = {.id = "COREML-FEATURE-010",
              .statement = "An image has a positive size, and one that its enumerated sizes or its "
                           "size range, if any, include.",
              .clause = kFeaturesClause,
              .vendor = true,
              .hint = "Set width and height to positive values that the flexible sizes include."},
     .check = ImageSizes},
    {.info = {.id = "COREML-FEATURE-011",
              .statement = "An image has a known colorSpace, which is GRAYSCALE_FLOAT16 only from "
                           "specification version 7 on.",
              .clause = kFeaturesClause,
              .vendor = true,
              .hint = "Set colorSpace to RGB, BGR or GRAYSCALE, or raise specificationVersion to 7 "
                      "for GRAYSCALE_FLOAT16."},
     .check = ColorSpaces},
    {.info =
         {.id = "COREML-FEATURE-013",
          .statement = "States are not optional and are used only from specification version 9 on.",
          .clause = "FeatureTypes.proto, StateFeatureType",
          .vendor = true,
          .hint =
              "Clear isOptional of the state, and raise specificationVersion to 9 if it is lower."},
     .check = StatesPlain},
    {.info = {.id = "COREML-FEATURE-014",
              .statement = "An optional input has a default value only in neural networks, ML "
                           "programs and serialized models of specification version 5 or later.",
              .clause = "FeatureTypes.proto, ArrayFeatureType.defaultOptionalValue",
              .vendor = true,
              .hint = "Remove the default value, or raise specificationVersion to 5 if the model "
                      "is of one of these types."},
     .check = DefaultsAllowed},
    {.info = {.id = "COREML-FEATURE-012",
              .statement = "A dictionary has a key type, a sequence has an element type, and "
                           "sequences are used only from specification version 3 on.",
              .clause = kFeaturesClause,
              .vendor = true,
              .hint = "Set the key or element type to string or int64, or raise "
                      "specificationVersion to 3 for a sequence."},
     .check = KeysTyped},
};

}  // namespace

std::span<const Rule> FeatureRules() {
  return kFeatureRules;
}

}  // namespace nn::coreml
