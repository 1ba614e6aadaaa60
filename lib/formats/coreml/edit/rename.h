// Other names for features, blobs and values.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/status.h"
#include "formats/coreml/file/native.h"

namespace nn::coreml {

using FeatureNames = std::map<std::string, std::string, std::less<>>;  // new names by present ones

// Changes all occurrences of the names. kUsage for a new name that something else has, kUnsupported
// for kinds of models that determine their names themselves.
Status RenameFeatures(Model& model, FeatureNames names);

}  // namespace nn::coreml
