// Rules about weights: their presence, size and quantization.
#include <algorithm>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

Location Where(const Weights& w) {
  return coreml::Where(*w.at, w.name());
}

// Whether the field stores quantized values, raw or int8.
bool IsQuantized(const Weights& w) {
  return w.storage == Storage::kQuantized || w.storage == Storage::kInt8;
}

bool IsProduct(const Weights& w) {
  return w.use == WeightUse::kProduct;
}

// Whether the vendor's checker requires the field and checks its size.
bool IsRequired(const Weights& w) {
  return w.is_sized() && !IsProduct(w);
}

void OneForm(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights())
    if (w.storage == Storage::kSeveral)
      f.Add(Where(w), "{} has values in more than one field of {}", Title(*w.at), w.name());
}

void Present(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights())
    if (w.storage == Storage::kNone && (IsRequired(w) || w.use == WeightUse::kCustom))
      f.Add(Where(w), "{} has no {}", Title(*w.at), w.name());
}

// Reports the missing weights or biases of products.
void CheckProducts(const Subject& s, Findings& f, bool biases) {
  for (const Weights& w : s.weights())
    if (IsProduct(w) && w.storage == Storage::kNone && w.is_bias == biases)
      f.Add(Where(w), "{} has no {}", Title(*w.at), w.name());
}

void ProductsHaveWeights(const Subject& s, Findings& f) {
  CheckProducts(s, f, false);
}

void ProductsHaveBiases(const Subject& s, Findings& f) {
  CheckProducts(s, f, true);
}

// The bytes of `elements` numbers of `bits` bits; wraps around.
uint64_t PackedBytes(uint64_t elements, uint64_t bits) {
  return (elements * bits + 7) / 8;
}

void SizesFit(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights()) {
    if (!w.is_sized()) continue;
    const auto fail = [&](std::string_view unit, uint64_t need, std::string_view more = "") {
      f.Add(Where(w), "{} has {} {} in {}; expected {}{}", Title(*w.at), w.values, unit, w.name(),
            need, more);
    };
    if (w.storage == Storage::kFloat && w.values != w.elements) fail("values", w.elements);
    if (w.storage == Storage::kHalf && w.values / 2 != w.elements) fail("bytes", w.elements * 2);
    if (w.storage != Storage::kQuantized || !w.params->has_quantization()) continue;
    const uint64_t need = PackedBytes(w.elements, w.params->quantization().numberofbits());
    if (w.values < need) fail("bytes", need, " or more");
  }
}

void BytesWhole(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights()) {
    if (w.storage == Storage::kHalf && w.values % 2 != 0)
      f.Add(Where(w), "{} has {} bytes of float16 values in {}; expected an even number",
            Title(*w.at), w.values, w.name());
    if (w.storage == Storage::kInt8 && IsProduct(w) && w.values != w.elements)
      f.Add(Where(w), "{} has {} bytes in {}; expected {}", Title(*w.at), w.values, w.name(),
            w.elements);
  }
}

// What is wrong with the quantization; "" if nothing is.
std::string FaultOf(const pb::QuantizationParams& q, uint64_t channels) {
  if (q.numberofbits() < 1 || q.numberofbits() > 8)
    return fmt::format("has {} bits; expected 1 to 8", q.numberofbits());
  if (q.has_linearquantization()) {
    const int scales = q.linearquantization().scale_size();
    const int biases = q.linearquantization().bias_size();
    if ((scales != 1 && static_cast<uint64_t>(scales) != channels) ||
        (biases != 0 && biases != scales))
      return fmt::format("has {} scales and {} biases for {} channels", scales, biases, channels);
  } else if (q.has_lookuptablequantization()) {
    const int entries = q.lookuptablequantization().floatvalue_size();
    if (entries != 1 << q.numberofbits())
      return fmt::format("has a lookup table of {} entries; expected {}", entries,
                         1 << q.numberofbits());
  } else {
    return "has neither linear nor lookup table quantization";
  }
  return "";
}

void QuantizationValid(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights()) {
    if (w.storage != Storage::kQuantized || !w.is_sized()) continue;
    if (w.params->has_quantization()) {
      if (const auto fault = FaultOf(w.params->quantization(), w.channels); !fault.empty())
        f.Add(Where(w), "{} of {} {}", w.name(), Title(*w.at), fault);
    } else if (!IsProduct(w)) {
      f.Add(Where(w), "{} of {} has raw values but no quantization", w.name(), Title(*w.at));
    }
  }
}

// Quantization of fields that the vendor's checker ignores.
void OtherQuantizationValid(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights()) {
    if (!IsQuantized(w) || w.int8_dynamic) continue;
    const bool is_checked = w.storage == Storage::kQuantized && w.is_sized();
    if (!w.params->has_quantization()) {
      if (IsProduct(w) || !w.is_sized())
        f.Add(Where(w), "{} of {} has raw values but no quantization", w.name(), Title(*w.at));
    } else if (!is_checked && !w.at->layer->has_custom()) {
      if (const auto fault = FaultOf(w.params->quantization(), w.channels); !fault.empty())
        f.Add(Where(w), "{} of {} {}", w.name(), Title(*w.at), fault);
    }
  }
}

void Int8Dynamic(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights()) {
    if (!w.int8_dynamic) continue;
    const auto& q = w.params->quantization();
    if (w.storage != Storage::kInt8 || q.numberofbits() != 8 || !q.has_linearquantization() ||
        q.linearquantization().scale_size() != 1 || q.linearquantization().bias_size() != 0)
      f.Add(Where(w),
            "{} sets int8DynamicQuantize, but its {} are not int8 with one scale and no bias",
            Title(*w.at), w.name());
  }
}

void Int8Products(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_batchedmatmul() && at.layer->input_size() > 1 &&
        at.layer->batchedmatmul().int8dynamicquantize())
      f.Add(coreml::Where(at, "batchedMatmul.int8DynamicQuantize"),
            "{} sets int8DynamicQuantize but takes its weights as an input", Title(at));
}

void CheckInt8(const Subject& s, Findings& f, bool products) {
  for (const Weights& w : s.weights())
    if (w.storage == Storage::kInt8 && !w.int8_dynamic && IsProduct(w) == products && w.is_sized())
      f.Add(Where(w), "{} has int8RawValue in {} without int8DynamicQuantize", Title(*w.at),
            w.name());
}

void NotInt8(const Subject& s, Findings& f) {
  CheckInt8(s, f, false);
}

void ProductsNotInt8(const Subject& s, Findings& f) {
  CheckInt8(s, f, true);
}

// Layers whose weights can have several precisions for the vendor's checker: bidirectional ones,
// and simple recurrent ones with a quantized matrix.
bool MayMix(const pb::NeuralNetworkLayer& layer, bool has_quantized) {
  return layer.has_bidirectionallstm() || (layer.has_simplerecurrent() && has_quantized);
}

// The unquantized weights of a layer are all float32 or all float16.
void CheckPrecision(const Subject& s, Findings& f, bool lenient) {
  const auto& all = s.weights();
  for (size_t i = 0; i < all.size();) {
    const LayerAt& at = *all[i].at;
    bool full = false;
    bool half = false;
    bool quantized = false;
    for (; i < all.size() && all[i].at == &at; ++i) {
      full = full || all[i].storage == Storage::kFloat;
      half = half || all[i].storage == Storage::kHalf;
      quantized = quantized ||
                  (all[i].storage == Storage::kQuantized && !all[i].field.ends_with("biasVector"));
    }
    if (full && half && !at.layer->has_custom() && !at.layer->has_activation() &&
        !at.layer->has_layernormalization() && MayMix(*at.layer, quantized) == lenient)
      f.Add(coreml::Where(at), "{} has both float32 and float16 weights", Title(at));
  }
}

void SamePrecision(const Subject& s, Findings& f) {
  CheckPrecision(s, f, false);
}

void SamePrecisionElsewhere(const Subject& s, Findings& f) {
  CheckPrecision(s, f, true);
}

void NotQuantized(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights()) {
    const bool quantized = w.storage == Storage::kQuantized && w.params->has_quantization();
    if ((w.use == WeightUse::kPlain && quantized) ||
        (w.field == "layerNormalization.gamma" && w.params->has_quantization()))
      f.Add(Where(w), "{} has a quantized {}", Title(*w.at), w.name());
  }
}

void FullPrecision(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights())
    if (w.use == WeightUse::kFloats && w.storage != Storage::kFloat &&
        w.storage != Storage::kNone && w.storage != Storage::kSeveral)
      f.Add(Where(w), "{} has a {} that is not stored as floatValue", Title(*w.at), w.name());
}

void SameForms(const Subject& s, Findings& f) {
  const auto& all = s.weights();
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    if (!all[i].field.ends_with("parametricSoftplus.alpha")) continue;
    const auto form = [](const Weights& w) {
      return IsQuantized(w) && !w.params->has_quantization() ? Storage::kNone : w.storage;
    };
    if (form(all[i]) != form(all[i + 1]))
      f.Add(Where(all[i]), "{} stores alpha and beta in different forms", Title(*all[i].at));
  }
}

constexpr std::string_view kWeightsClause = "NeuralNetwork.proto, WeightParams";

constexpr Rule kWeightRules[] = {
    {.info = {.id = "COREML-WEIGHT-001",
              .statement = "A weight field stores its values in only one of floatValue, "
                           "float16Value, rawValue and int8RawValue.",
              .clause = kWeightsClause,
              .vendor = true,
              .hint = "Keep the field that holds the values, and clear the others."},
     .check = OneForm},
    {.info =
         {.id = "COREML-WEIGHT-010",
          .statement = "Layers other than innerProduct, batchedMatmul and activation have all "
                       "weights that their parameters require.",
          .clause = kWeightsClause,
          .vendor = true,
          .hint =
              "Add the missing weights, or clear the field that requires them, such as hasBias."},
     .check = Present},
    {.info =
         {.id = "COREML-WEIGHT-002",
          .statement = "The number of stored weight values is the number that the parameters of "
                       "the layer require.",
          .clause = kWeightsClause,
          .vendor = true,
          .hint =
              "Correct the channel counts and sizes of the layer, or store the missing values."},
     .check = SizesFit},
    {.info = {.id = "COREML-WEIGHT-011",
              .statement =
                  "The float16Value of a weight field has two bytes for each value, and the "
                  "int8RawValue of innerProduct and batchedMatmul has one byte for each weight.",
              .clause = kWeightsClause,
              .hint = "Store the weights again; the data is truncated or padded."},
     .check = BytesWhole},
    {.info = {.id = "COREML-WEIGHT-003",
              .statement = "Quantized weights have QuantizationParams with 1 to 8 bits and either "
                           "a lookup table of 2^numberOfBits entries or one scale in total or for "
                           "each output channel, with as many biases as scales or none.",
              .clause = "NeuralNetwork.proto, QuantizationParams",
              .vendor = true,
              .hint = "Set numberOfBits, and either 2^numberOfBits table entries or one scale for "
                      "the tensor or for each output channel."},
     .check = QuantizationValid},
    {.info = {.id = "COREML-WEIGHT-012",
              .statement = "Raw weight values of innerProduct, batchedMatmul, activation and "
                           "custom layers have QuantizationParams, which for activations have 1 to "
                           "8 bits and matching scales or a matching lookup table.",
              .clause = "NeuralNetwork.proto, QuantizationParams",
              .hint = "Set the quantization of the weights, with scales or a lookup table, or "
                      "store them as floatValue."},
     .check = OtherQuantizationValid},
    {.info = {.id = "COREML-WEIGHT-004",
              .statement =
                  "The weights of an innerProduct or batchedMatmul layer with int8DynamicQuantize "
                  "are in int8RawValue, with 8 bits, one scale and no quantization bias.",
              .clause = "NeuralNetwork.proto, InnerProductLayerParams",
              .vendor = true,
              .hint = "Store the weights in int8RawValue with linear quantization of 8 bits and "
                      "one scale, or clear int8DynamicQuantize."},
     .check = Int8Dynamic},
    {.info = {.id = "COREML-WEIGHT-013",
              .statement =
                  "A batchedMatmul layer with two inputs does not set int8DynamicQuantize.",
              .clause = "NeuralNetwork.proto, BatchedMatMulLayerParams",
              .vendor = true,
              .hint = "Clear int8DynamicQuantize, or store the weight matrix in the layer."},
     .check = Int8Products},
    {.info =
         {.id = "COREML-WEIGHT-014",
          .statement =
              "Only innerProduct and batchedMatmul layers store required weights in int8RawValue.",
          .clause = kWeightsClause,
          .vendor = true,
          .hint = "Store the weights in rawValue with 8-bit quantization, or as floats."},
     .check = NotInt8},
    {.info = {.id = "COREML-WEIGHT-005",
              .statement = "An innerProduct or batchedMatmul layer uses int8RawValue only for its "
                           "weights and only with int8DynamicQuantize.",
              .clause = kWeightsClause,
              .hint = "Set int8DynamicQuantize for int8 weights, and store a bias as floatValue."},
     .check = ProductsNotInt8},
    {.info = {.id = "COREML-WEIGHT-006",
              .statement =
                  "The unquantized weights of a layer are all floatValue or all float16Value.",
              .clause = kWeightsClause,
              .vendor = true,
              .hint = "Convert all weights of the layer to float32 or all to float16."},
     .check = SamePrecision},
    {.info = {.id = "COREML-WEIGHT-015",
              .statement = "The unquantized weights of a biDirectionalLSTM layer, and those of a "
                           "simpleRecurrent layer that also has quantized weights, are all "
                           "floatValue or all float16Value.",
              .clause = kWeightsClause,
              .hint = "Convert all unquantized weights of the layer to float32 or all to float16."},
     .check = SamePrecisionElsewhere},
    {.info = {.id = "COREML-WEIGHT-007",
              .statement = "The gamma of layerNormalization and the weights and bias of "
                           "convolution3d are not quantized.",
              .clause = "NeuralNetwork.proto, LayerNormalizationLayerParams",
              .vendor = true,
              .hint = "Dequantize the values and store them as floatValue."},
     .check = NotQuantized},
    {.info = {.id = "COREML-WEIGHT-016",
              .statement = "The gamma and beta of layerNormalization are stored as floatValue.",
              .clause = "NeuralNetwork.proto, LayerNormalizationLayerParams",
              .vendor = true,
              .hint = "Convert the values to float32 and store them in floatValue."},
     .check = FullPrecision},
    {.info =
         {.id = "COREML-WEIGHT-017",
          .statement =
              "The alpha and beta of a parametricSoftplus activation are stored in the same form.",
          .clause = "NeuralNetwork.proto, ActivationParametricSoftplus",
          .vendor = true,
          .hint = "Store alpha and beta both as float32, both as float16 or both quantized."},
     .check = SameForms},
    {.info = {.id = "COREML-WEIGHT-008",
              .statement =
                  "An innerProduct layer, and a batchedMatmul layer with one input, has weights.",
              .clause = "NeuralNetwork.proto, InnerProductLayerParams",
              .hint = "Add the weight matrix to the layer."},
     .check = ProductsHaveWeights},
    {.info = {.id = "COREML-WEIGHT-009",
              .severity = Severity::kWarning,
              .statement = "An innerProduct layer, or a batchedMatmul layer with one input, that "
                           "sets hasBias has a bias.",
              .clause = "NeuralNetwork.proto, InnerProductLayerParams.hasBias",
              .hint = "Clear hasBias, or add the bias."},
     .check = ProductsHaveBiases},
};

}  // namespace

std::span<const Rule> WeightRules() {
  return kWeightRules;
}

}  // namespace nn::coreml
