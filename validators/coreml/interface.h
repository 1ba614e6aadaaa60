// Types of features, as several kinds of model look at them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "validators/coreml/rules.h"

namespace nn::coreml {

// Whether a feature of one type can be handed on as one of the other: flexible arrays agree in
// their rank, fixed ones in their sizes, images in size and colour. isOptional does not count.
bool SameType(const pb::FeatureType& a, const pb::FeatureType& b);

// Number of axes: of a flexible shape if there is one, else of the shape.
int RankOf(const pb::ArrayFeatureType& array);

// "Double", "MultiArray", ...
std::string_view TypeName(pb::FeatureType::TypeCase type);

// What a kind of model says of a list of features.
struct FeatureRule {
  int most = 0;  // 0: any number
  std::vector<pb::FeatureType::TypeCase> types;
};

// Findings for each feature of `list` that does not fit. `field` is "input" or "output".
void CheckFeatures(Findings& f, const ModelAt& m, const Features& list, std::string_view field,
                   const FeatureRule& rule);

// What is wrong with the default of a parameter and the values that it may have; "" if nothing is.
std::string FaultOf(const pb::Int64Parameter& parameter, bool positive);

}  // namespace nn::coreml
