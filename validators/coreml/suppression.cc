// Rules of non-maximum suppression models.
#include <algorithm>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using Suppression = pb::NonMaximumSuppression;
using Array = pb::ArrayFeatureType;

constexpr int kVersionWithFloats = 5;

template <typename Visit>
void EachSuppression(const Subject& s, const Visit& visit) {
  for (const ModelAt& m : s.models())
    if (m.model->has_nonmaximumsuppression()) visit(m, m.model->nonmaximumsuppression());
}

// The last feature of that name; nullptr if there is none.
const pb::FeatureType* Find(const Features& list, const std::string& name) {
  for (int i = list.size() - 1; i >= 0; --i)
    if (list.Get(i).name() == name) return &list.Get(i).type();
  return nullptr;
}

void FeaturesNamed(const Subject& s, Findings& f) {
  EachSuppression(s, [&](const ModelAt& m, const Suppression& p) {
    const auto check = [&](const Features& list, std::initializer_list<const std::string*> names,
                           std::string_view field) {
      for (int i = 0; i < list.size(); ++i)
        if (std::none_of(names.begin(), names.end(),
                         [&](const auto* name) { return *name == list.Get(i).name(); }))
          f.Add(At(fmt::format("{}description.{}[{}]", m.path, field, i)), "{} is not used",
                Quote(list.Get(i).name()));
    };
    check(m.description().input(),
          {&p.confidenceinputfeaturename(), &p.coordinatesinputfeaturename(),
           &p.iouthresholdinputfeaturename(), &p.confidencethresholdinputfeaturename()},
          "input");
    check(m.description().output(),
          {&p.confidenceoutputfeaturename(), &p.coordinatesoutputfeaturename()}, "output");
  });
}

void FeaturesTyped(const Subject& s, Findings& f) {
  EachSuppression(s, [&](const ModelAt& m, const Suppression& p) {
    const auto check = [&](const Features& list, const std::string& name, bool array,
                           std::string_view field) {
      const auto* type = Find(list, name);
      const Location where = At(fmt::format("{}nonMaximumSuppression.{}", m.path, field));
      if (type == nullptr) {
        if (array) f.Add(where, "there is no feature {}", Quote(name));
      } else if (array ? !type->has_multiarraytype() : !type->has_doubletype()) {
        f.Add(where, "{} is no {}", Quote(name), array ? "array" : "Double");
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

void Thresholds(const Subject& s, Findings& f) {
  EachSuppression(s, [&](const ModelAt& m, const Suppression& p) {
    if (!(p.iouthreshold() >= 0 && p.iouthreshold() <= 1))
      f.Add(At(m.path + "nonMaximumSuppression.iouThreshold"), "the threshold is {}",
            p.iouthreshold());
    if (!(p.confidencethreshold() >= 0))
      f.Add(At(m.path + "nonMaximumSuppression.confidenceThreshold"), "the threshold is {}",
            p.confidencethreshold());
  });
}

// The arrays of a model that has all four.
struct Arrays {
  const Array* confidence_in;
  const Array* coordinates_in;
  const Array* confidence_out;
  const Array* coordinates_out;
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

void ArraysOfOneType(const Subject& s, Findings& f) {
  EachSuppression(s, [&](const ModelAt& m, const Suppression& p) {
    const auto arrays = ArraysOf(m, p);
    if (!arrays) return;
    const auto type = arrays->confidence_in->datatype();
    const bool same = arrays->coordinates_in->datatype() == type &&
                      arrays->confidence_out->datatype() == type &&
                      arrays->coordinates_out->datatype() == type;
    const bool known =
        type == Array::DOUBLE || (type == Array::FLOAT32 && m.version() >= kVersionWithFloats);
    if (!same || !known)
      f.Add(At(m.path + "description"), "confidence and coordinates are not all of DOUBLE{}",
            m.version() >= kVersionWithFloats ? ", nor all of FLOAT32" : "");
  });
}

int FlexibleRank(const Array& a) {
  if (a.has_shaperange()) return a.shaperange().sizeranges_size();
  const auto& shapes = a.enumeratedshapes().shapes();
  return shapes.empty() ? 0 : shapes.Get(0).shape_size();
}

int LabelCount(const Suppression& p) {
  return std::max(p.stringclasslabels().vector_size(), p.int64classlabels().vector_size());
}

bool MayBe(const pb::SizeRange& range, int size) {
  return static_cast<uint64_t>(size) >= range.lowerbound() &&
         (range.upperbound() < 0 || size <= range.upperbound());
}

// What is wrong with the shapes of the outputs; "" if nothing is.
std::string ShapeFault(const Array& confidence, const Array& coordinates, int labels) {
  const int fixed = confidence.shape_size();
  const int flexible = FlexibleRank(confidence);
  if (fixed == 0 && flexible == 0) return "";
  if (fixed == 2 && flexible == 0) {
    if (coordinates.shape().empty() || coordinates.shape(0) != confidence.shape(0))
      return "confidence and coordinates differ in their number of boxes";
    if (labels > 0 && confidence.shape(1) != labels)
      return fmt::format("confidence has {} classes, there are {} labels", confidence.shape(1),
                         labels);
    return "";
  }
  if (fixed != 0 || flexible != 2) return "confidence has a shape that is not of rank 2";
  if (!confidence.has_shaperange() || !coordinates.has_shaperange())
    return "flexible shapes of confidence and coordinates are not both ranges";
  if (labels > 0 && !MayBe(confidence.shaperange().sizeranges(1), labels))
    return fmt::format("confidence may not have {} classes, for which there are labels", labels);
  return "";
}

void OutputShapes(const Subject& s, Findings& f) {
  EachSuppression(s, [&](const ModelAt& m, const Suppression& p) {
    const auto arrays = ArraysOf(m, p);
    if (!arrays) return;
    if (const auto fault =
            ShapeFault(*arrays->confidence_out, *arrays->coordinates_out, LabelCount(p));
        !fault.empty())
      f.Add(At(m.path + "description.output"), "{}", fault);
  });
}

constexpr std::string_view kClause = "NonMaximumSuppression.proto, NonMaximumSuppression";

constexpr Rule kRules[] = {
    {{"COREML-NMS-001", Severity::kError, "Each input and output has a part in the suppression.",
      kClause, true, ""},
     FeaturesNamed},
    {{"COREML-NMS-002", Severity::kError,
      "Confidence and coordinates are arrays, thresholds that are inputs are Doubles.", kClause,
      true, ""},
     FeaturesTyped},
    {{"COREML-NMS-003", Severity::kError,
      "The IoU threshold is between 0 and 1, that of confidence not negative.", kClause, true, ""},
     Thresholds},
    {{"COREML-NMS-004", Severity::kError,
      "Confidence and coordinates are all DOUBLE, or from version 5 on all FLOAT32.", kClause, true,
      ""},
     ArraysOfOneType},
    {{"COREML-NMS-005", Severity::kError,
      "Output shapes, where given, are of rank 2 and go with each other and with the labels.",
      kClause, true, ""},
     OutputShapes},
};

}  // namespace

std::span<const Rule> SuppressionRules() {
  return kRules;
}

}  // namespace nn::coreml
