// Helpers for the types of features, shared by the rules of several model types.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "validators/coreml/rules.h"

namespace nn::coreml {

// Whether a feature of one type can be passed on as one of the other: flexible arrays must agree
// in rank, fixed arrays in sizes, images in size and color space. isOptional is ignored.
bool SameType(const pb::FeatureType& a, const pb::FeatureType& b);

// The number of axes of the flexible shape if there is one, else of the shape.
int RankOf(const pb::ArrayFeatureType& array);

// "Double", "MultiArray", ...; "unset" if the feature has no type.
std::string_view TypeName(pb::FeatureType::TypeCase type);

// What a model type requires of a list of features.
struct FeatureRule {
  int most = 0;  // 0: any number
  std::vector<pb::FeatureType::TypeCase> types;
};

// Adds a finding for each feature of `list` that does not fit. `field` is "input" or "output".
void CheckFeatures(Findings& f, const ModelAt& m, const Features& list, std::string_view field,
                   const FeatureRule& rule);

// What is wrong with the default or the allowed values of a parameter; "" if nothing is.
std::string FaultOf(const pb::Int64Parameter& parameter, bool positive);

}  // namespace nn::coreml
