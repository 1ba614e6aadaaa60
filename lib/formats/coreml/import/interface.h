// Inputs and outputs of a Core ML model: features, their types, and what happens to an image before
// the first layer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/coreml/file/fields.h"
#include "formats/format.h"
#include "ir/graph.h"

namespace nn::coreml {

// Keys of Graph::metadata for facts of a Core ML model that graphs cannot express. For an input or
// output, its name follows the key.
inline constexpr std::string_view kImageKey = "coreml.image.";              // color space
inline constexpr std::string_view kDescriptionKey = "coreml.description.";  // shortDescription
inline constexpr std::string_view kLabelsKey = "coreml.class_labels";       // JSON list
inline constexpr std::string_view kScoresKey = "coreml.class_scores";  // output with the scores
inline constexpr std::string_view kLabelKey = "coreml.class_label";    // output with the label
// Key of a model's own metadata (userDefined) for the dimensions of an input, with their symbols.
inline constexpr std::string_view kDimsKey = "nn.dims.";

// The text that a graph's metadata has under a key; "" if absent.
std::string Metadata(const Graph& graph, std::string_view key, std::string_view suffix = {});

// The model's own metadata, in that of the graph.
void ReadModelMetadata(Graph& graph, const Fields& metadata);
// Facts about a feature that its value does not have.
void ReadFeatureMetadata(Graph& graph, const Fields& feature);
// The labels of a classifier: strings or integers.
void SetClassLabels(Graph& graph, const Tensor& labels);

// An input feature as a value of the graph: f32 for images ([1, C, H, W], pixels from 0 to 255 in
// the order of the color space) and for arrays of doubles, since networks compute in float32; for
// other arrays their element type. Dynamic sizes become symbols. kUnsupported for other features.
Result<nn::Type> FeatureType(const Fields& feature, const Fields& user_defined);
DType ArrayDType(std::string_view name);
// The shapes that an array or image, as `kind` says, enumerates; those of images are height and
// width.
std::vector<std::vector<int64_t>> EnumeratedShapes(const Fields& type, std::string_view kind);
// The shapes that an input enumerates, as its value of `type` has them.
std::vector<std::vector<int64_t>> FeatureShapes(const Fields& feature, const nn::Type& type);

// Why the scores of a classifier are not one for each label; "" if they are, if the graph is no
// classifier, or if their number is unknown.
std::string ScoresFault(const Graph& graph);
// Why their number depends on the shapes of the inputs, as that of a batch; "" if it does not.
std::string BatchOfScores(const Graph& graph);

// The blob with the feature's name, as read by the layers.
Result<Value*> FeatureBlob(Graph& graph, Value* input, const Fields& feature,
                           const Fields& network);

// The value of an output feature from the blob of that name.
Result<Value*> OutputOf(Graph& graph, Value* blob, const Fields& feature, bool rank5);

}  // namespace nn::coreml
