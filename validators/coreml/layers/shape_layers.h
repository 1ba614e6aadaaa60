// How the layers of specification versions 1 to 3 constrain the sizes of their blobs.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "coreml_model.pb.h"
#include "validators/coreml/layers/ranges.h"

namespace nn::coreml {

enum Axis : size_t { kSequence, kBatch, kChannel, kHeight, kWidth };

struct BlobShape {
  std::string_view name;
  std::array<SizeSpan, 5> axes;
};

struct LayerBlobs {
  std::vector<BlobShape*> inputs;
  std::vector<BlobShape*> outputs;
};

// Narrows the sizes of the blobs and returns a contradiction, or "". A layer with too few blobs or
// parameters adds no constraints.
std::string ShapeLayer(const pb::NeuralNetworkLayer& layer, const LayerBlobs& blobs);

// Likewise for the constraints of the description of the model on an input or output.
std::string ConstrainInput(const pb::FeatureType& type, BlobShape& blob);
std::string ConstrainOutput(const pb::FeatureType& type, BlobShape& blob);

}  // namespace nn::coreml
