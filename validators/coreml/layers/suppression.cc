// Rules about non-maximum suppression models.
#include <algorithm>

#include "base/text/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using Suppression = pb::NonMaximumSuppression;
using ArrayType = pb::ArrayFeatureType;

constexpr int kVersionWithFloats = 5;

template <typename Visit>
void EachSuppression(const RuleContext& s, const Visit& visit) {
  for (const ModelAt& m : s.models())
    if (m.model->has_nonmaximumsuppression()) visit(m, m.model->nonmaximumsuppression());
}

// The last feature of that name; nullptr if there is none.
const pb::FeatureType* Find(const Features& list, const std::string& name) {
  for (int i = list.size() - 1; i >= 0; --i)
    if (list.Get(i).name() == name) return &list.Get(i).type();
  return nullptr;
}

void FeaturesNamed(const RuleContext& s, Findings& f) {
  EachSuppression(s, [&](const ModelAt& m, const Suppression& p) {
    const auto check = [&](const Features& list, std::initializer_list<const std::string*> names,
                           std::string_view field) {
      for (int i = 0; i < list.size(); ++i)
        if (std::none_of(names.begin(), names.end(),
                         [&](const auto* name) { return *name == list.Get(i).name(); }))
          f.Add(At(fmt::format("{}description.{}[{}]", m.path, field, i)),
                "nonMaximumSuppression does not use {}", Quote(list.Get(i).name()));
    };
    check(m.description().input(),
          {&p.confidenceinputfeaturename(), &p.coordinatesinputfeaturename(),
           &p.iouthresholdinputfeaturename(), &p.confidencethresholdinputfeaturename()},
          "input");
    check(m.description().output(),
          {&p.confidenceoutputfeaturename(), &p.coordinatesoutputfeaturename()}, "output");
  });
}

void FeaturesTyped(const RuleContext& s, Findings& f) {
  EachSuppression(s, [&](const ModelAt& m, const Suppression& p) {
    const auto check = [&](const Features& list, const std::string& name, bool array,
                           std::string_view field) {
      const auto* type = Find(list, name);
      const Location where = At(fmt::format("{}nonMaximumSuppression.{}", m.path, field));
      if (type == nullptr) {
        if (array) f.Add(where, "the model has no feature {}", Quote(name));
      } else if (array ? !type->has_multiarraytype() : !type->has_doubletype()) {
        f.Add(where, "{} is not {}", Quote(name), array ? "an array" : "a Double");
      }
    };
    const auto& in = m.description().input();
    const auto& out = m.description().output();
    check(in, p.confidenceinputfeaturename(), true, "confidenceInputFeatureName");
    check(in, p.coordinatesinputfeaturename(), true, "coordinatesInputFeatureName");
    check(in, p.iouthresholdinputfeaturename(), false, "iouThresholdInputFeatureName");
    check(in, p.confidencethresholdinputfeaturename(), false,
          "confidenceThresholdInputFeatureName");
    check(out, p.confidenceoutputfeaturename(), true, "confidenceOutputFeatureName");
    check(out, p.coordinatesoutputfeaturename(), true, "coordinatesOutputFeatureName");
  });
}

void Thresholds(const RuleContext& s, Findings& f) {
  EachSuppression(s, [&](const ModelAt& m, const Suppression& p) {
    if (!(p.iouthreshold() >= 0 && p.iouthreshold() <= 1))
      f.Add(At(m.path + "nonMaximumSuppression.iouThreshold"),
            "iouThreshold is {}; expected 0 to 1", p.iouthreshold());
    if (!(p.confidencethreshold() >= 0))
      f.Add(At(m.path + "nonMaximumSuppression.confidenceThreshold"),
            "confidenceThreshold is {}; expected 0 or more", p.confidencethreshold());
  });
}

// The four arrays of a model that has all of them.
struct Arrays {
  const ArrayType* confidence_in;
  const ArrayType* coordinates_in;
  const ArrayType* confidence_out;
  const ArrayType* coordinates_out;
};

std::optional<Arrays> ArraysOf(const ModelAt& m, const Suppression& p) {
  const auto* a = Find(m.description().input(), p.confidenceinputfeaturename());
  const auto* b = Find(m.description().input(), p.coordinatesinputfeaturename());
  const auto* c = Find(m.description().output(), p.confidenceoutputfeaturename());
  const auto* d = Find(m.description().output(), p.coordinatesoutputfeaturename());
  if (a == nullptr || b == nullptr || c == nullptr || d == nullptr) return std::nullopt;
  return Arrays{&a->multiarraytype(), &b->multiarraytype(), &c->multiarraytype(),
                &d->multiarraytype()};
}

void ArraysOfOneType(const RuleContext& s, Findings& f) {
  EachSuppression(s, [&](const ModelAt& m, const Suppression& p) {
    const auto arrays = ArraysOf(m, p);
    if (!arrays) return;
    const auto type = arrays->confidence_in->datatype();
    const bool same = arrays->coordinates_in->datatype() == type &&
                      arrays->confidence_out->datatype() == type &&
                      arrays->coordinates_out->datatype() == type;
    const bool known = type == ArrayType::DOUBLE ||
                       (type == ArrayType::FLOAT32 && m.version() >= kVersionWithFloats);
    if (!same || !known)
      f.Add(At(m.path + "description"),
            "the confidence and coordinates arrays are not all DOUBLE{}",
            m.version() >= kVersionWithFloats ? " or all FLOAT32" : "");
  });
}

int FlexibleRank(const ArrayType& a) {
  if (a.has_shaperange()) return a.shaperange().sizeranges_size();
  const auto& shapes = a.enumeratedshapes().shapes();
  return shapes.empty() ? 0 : shapes.Get(0).shape_size();
}

int SuppressionLabelCount(const Suppression& p) {
  return std::max(p.stringclasslabels().vector_size(), p.int64classlabels().vector_size());
}

bool MayBe(const pb::SizeRange& range, int size) {
  return static_cast<uint64_t>(size) >= range.lowerbound() &&
         (range.upperbound() < 0 || size <= range.upperbound());
}

// What is wrong with the shapes of the outputs; "" if nothing is.
std::string ShapeFault(const ArrayType& confidence, const ArrayType& coordinates, int labels) {
  const int fixed = confidence.shape_size();
  const int flexible = FlexibleRank(confidence);
  if (fixed == 0 && flexible == 0) return "";
  if (fixed == 2 && flexible == 0) {
    if (coordinates.shape().empty() || coordinates.shape(0) != confidence.shape(0))
      return "the confidence and coordinates outputs have different numbers of boxes";
    if (labels > 0 && confidence.shape(1) != labels)
      return fmt::format("the confidence output has {} classes for {} labels", confidence.shape(1),
                         labels);
    return "";
  }
  if (fixed != 0 || flexible != 2)
    return "the confidence output has no fixed or flexible shape of rank 2, or has both";
  if (!confidence.has_shaperange() || !coordinates.has_shaperange())
    return "the flexible shapes of the confidence and coordinates outputs are not both ranges";
  if (labels > 0 && !MayBe(confidence.shaperange().sizeranges(1), labels))
    return fmt::format(
        "the shapeRange of the confidence output excludes {} classes, the number of labels",
        labels);
  return "";
}

void SuppressionShapes(const RuleContext& s, Findings& f) {
  EachSuppression(s, [&](const ModelAt& m, const Suppression& p) {
    const auto arrays = ArraysOf(m, p);
    if (!arrays) return;
    if (const auto fault =
            ShapeFault(*arrays->confidence_out, *arrays->coordinates_out, SuppressionLabelCount(p));
        !fault.empty())
      f.Add(At(m.path + "description.output"), "{}", fault);
  });
}

constexpr std::string_view kSuppressionClause =
    "NonMaximumSuppression.proto, NonMaximumSuppression";

constexpr Rule kSuppressionRules[] = {
    {.info = {.id = "COREML-NMS-001",
              .statement = "Each input and output of a non-maximum suppression model is named by "
                           "one of the feature names of nonMaximumSuppression.",
              .clause = kSuppressionClause,
              .vendor = true,
              .hint =
                  "Set the feature name in nonMaximumSuppression, or remove the unused feature."},
     .check = FeaturesNamed},
    {.info = {.id = "COREML-NMS-002",
              .statement = "The confidence and coordinates features of a non-maximum suppression "
                           "model exist and are arrays, and threshold inputs, if any, are Doubles.",
              .clause = kSuppressionClause,
              .vendor = true,
              .hint = "Correct the feature name, or change the type of the feature to "
                      "multiArrayType, or doubleType for a threshold."},
     .check = FeaturesTyped},
    {.info = {.id = "COREML-NMS-003",
              .statement = "The iouThreshold of a non-maximum suppression model is between 0 and "
                           "1, and its confidenceThreshold is not negative.",
              .clause = kSuppressionClause,
              .vendor = true,
              .hint =
                  "Set iouThreshold to a value from 0 to 1 and confidenceThreshold to 0 or more."},
     .check = Thresholds},
    {.info = {.id = "COREML-NMS-004",
              .statement = "The confidence and coordinates arrays of a non-maximum suppression "
                           "model are all DOUBLE or, from specification version 5 on, all FLOAT32.",
              .clause = kSuppressionClause,
              .vendor = true,
              .hint = "Set the dataType of the four arrays to DOUBLE, or to FLOAT32 from "
                      "specification version 5 on."},
     .check = ArraysOfOneType},
    {.info = {.id = "COREML-NMS-005",
              .statement =
                  "The confidence output of a non-maximum suppression model, if it has a shape, "
                  "has either a fixed or a flexible shape of rank 2, with as many boxes as the "
                  "coordinates output and as many classes as there are labels.",
              .clause = kSuppressionClause,
              .vendor = true,
              .hint = "Set the shape of the confidence output to boxes by classes and that of the "
                      "coordinates output to boxes by 4, both fixed or both as ranges."},
     .check = SuppressionShapes},
};

}  // namespace

std::span<const Rule> SuppressionRules() {
  return kSuppressionRules;
}

}  // namespace nn::coreml
