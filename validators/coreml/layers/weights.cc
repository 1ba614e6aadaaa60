// Rules about weights: their presence, size and quantization.
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

constexpr std::string_view kWeightsClause = "NeuralNetwork.proto, WeightParams";

constexpr Rule kWeightRules[] = {
    {.info = {.id = "COREML-WEIGHT-001",
              .statement = "A weight field stores its values in only one of floatValue, "
                           "float16Value, rawValue and int8RawValue.",
              .clause = kWeightsClause,
              .vendor = true,
              .hint = "Keep the field that holds the values, and clear the others."},
     .check = Holds<Label::kWeightsInOneForm>},
    {.info =
         {.id = "COREML-WEIGHT-010",
          .statement = "Layers other than innerProduct, batchedMatmul and activation have all "
                       "weights that their parameters require.",
          .clause = kWeightsClause,
          .vendor = true,
          .hint =
              "Add the missing weights, or clear the field that requires them, such as hasBias."},
     .check = Holds<Label::kWeightsPresent>},
    {.info =
         {.id = "COREML-WEIGHT-002",
          .statement = "The number of stored weight values is the number that the parameters of "
                       "the layer require.",
          .clause = kWeightsClause,
          .vendor = true,
          .hint =
              "Correct the channel counts and sizes of the layer, or store the missing values."},
     .check = Holds<Label::kWeightCountsFit>},
    {.info = {.id = "COREML-WEIGHT-011",
              .statement =
                  "The float16Value of a weight field has two bytes for each value, and the "
                  "int8RawValue of innerProduct and batchedMatmul has one byte for each weight.",
              .clause = kWeightsClause,
              .hint = "Store the weights again; the data is truncated or padded."},
     .check = Holds<Label::kWeightBytesWhole>},
    {.info = {.id = "COREML-WEIGHT-003",
              .statement = "Quantized weights have QuantizationParams with 1 to 8 bits and either "
                           "a lookup table of 2^numberOfBits entries or one scale in total or for "
                           "each output channel, with as many biases as scales or none.",
              .clause = "NeuralNetwork.proto, QuantizationParams",
              .vendor = true,
              .hint = "Set numberOfBits, and either 2^numberOfBits table entries or one scale for "
                      "the tensor or for each output channel."},
     .check = Holds<Label::kQuantizationValid>},
    {.info = {.id = "COREML-WEIGHT-012",
              .statement = "Raw weight values of innerProduct, batchedMatmul, activation and "
                           "custom layers have QuantizationParams, which for activations have 1 to "
                           "8 bits and matching scales or a matching lookup table.",
              .clause = "NeuralNetwork.proto, QuantizationParams",
              .hint = "Set the quantization of the weights, with scales or a lookup table, or "
                      "store them as floatValue."},
     .check = Holds<Label::kOtherQuantizationValid>},
    {.info = {.id = "COREML-WEIGHT-004",
              .statement =
                  "The weights of an innerProduct or batchedMatmul layer with int8DynamicQuantize "
                  "are in int8RawValue, with 8 bits, one scale and no quantization bias.",
              .clause = "NeuralNetwork.proto, InnerProductLayerParams",
              .vendor = true,
              .hint = "Store the weights in int8RawValue with linear quantization of 8 bits and "
                      "one scale, or clear int8DynamicQuantize."},
     .check = Holds<Label::kInt8Dynamic>},
    {.info = {.id = "COREML-WEIGHT-013",
              .statement =
                  "A batchedMatmul layer with two inputs does not set int8DynamicQuantize.",
              .clause = "NeuralNetwork.proto, BatchedMatMulLayerParams",
              .vendor = true,
              .hint = "Clear int8DynamicQuantize, or store the weight matrix in the layer."},
     .check = Holds<Label::kInt8Products>},
    {.info =
         {.id = "COREML-WEIGHT-014",
          .statement =
              "Only innerProduct and batchedMatmul layers store required weights in int8RawValue.",
          .clause = kWeightsClause,
          .vendor = true,
          .hint = "Store the weights in rawValue with 8-bit quantization, or as floats."},
     .check = Holds<Label::kWeightsNotInt8>},
    {.info = {.id = "COREML-WEIGHT-005",
              .statement = "An innerProduct or batchedMatmul layer uses int8RawValue only for its "
                           "weights and only with int8DynamicQuantize.",
              .clause = kWeightsClause,
              .hint = "Set int8DynamicQuantize for int8 weights, and store a bias as floatValue."},
     .check = Holds<Label::kProductWeightsNotInt8>},
    {.info = {.id = "COREML-WEIGHT-006",
              .statement =
                  "The unquantized weights of a layer are all floatValue or all float16Value.",
              .clause = kWeightsClause,
              .vendor = true,
              .hint = "Convert all weights of the layer to float32 or all to float16."},
     .check = Holds<Label::kSamePrecision>},
    {.info = {.id = "COREML-WEIGHT-015",
              .statement = "The unquantized weights of a biDirectionalLSTM layer, and those of a "
                           "simpleRecurrent layer that also has quantized weights, are all "
                           "floatValue or all float16Value.",
              .clause = kWeightsClause,
              .hint = "Convert all unquantized weights of the layer to float32 or all to float16."},
     .check = Holds<Label::kSamePrecisionElsewhere>},
    {.info = {.id = "COREML-WEIGHT-007",
              .statement = "The gamma of layerNormalization and the weights and bias of "
                           "convolution3d are not quantized.",
              .clause = "NeuralNetwork.proto, LayerNormalizationLayerParams",
              .vendor = true,
              .hint = "Dequantize the values and store them as floatValue."},
     .check = Holds<Label::kWeightsNotQuantized>},
    {.info = {.id = "COREML-WEIGHT-016",
              .statement = "The gamma and beta of layerNormalization are stored as floatValue.",
              .clause = "NeuralNetwork.proto, LayerNormalizationLayerParams",
              .vendor = true,
              .hint = "Convert the values to float32 and store them in floatValue."},
     .check = Holds<Label::kNormalizationInFloats>},
    {.info =
         {.id = "COREML-WEIGHT-017",
          .statement =
              "The alpha and beta of a parametricSoftplus activation are stored in the same form.",
          .clause = "NeuralNetwork.proto, ActivationParametricSoftplus",
          .vendor = true,
          .hint = "Store alpha and beta both as float32, both as float16 or both quantized."},
     .check = Holds<Label::kSoftplusInOneForm>},
    {.info = {.id = "COREML-WEIGHT-008",
              .statement =
                  "An innerProduct layer, and a batchedMatmul layer with one input, has weights.",
              .clause = "NeuralNetwork.proto, InnerProductLayerParams",
              .hint = "Add the weight matrix to the layer."},
     .check = Holds<Label::kProductsHaveWeights>},
    {.info = {.id = "COREML-WEIGHT-009",
              .severity = Severity::kWarning,
              .statement = "An innerProduct layer, or a batchedMatmul layer with one input, that "
                           "sets hasBias has a bias.",
              .clause = "NeuralNetwork.proto, InnerProductLayerParams.hasBias",
              .hint = "Clear hasBias, or add the bias."},
     .check = Holds<Label::kProductsHaveBiases>},
};

}  // namespace

std::span<const Rule> WeightRules() {
  return kWeightRules;
}

}  // namespace nn::coreml
