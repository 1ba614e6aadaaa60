// Rules of weights: present, of the size that the parameters give, and well quantised.
#include <algorithm>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

Location Where(const Weights& w) {
  return coreml::Where(*w.at, w.name());
}

// Numbers that quantised storage of the field has, whatever its kind.
bool IsQuantised(const Weights& w) {
  return w.storage == Storage::kQuantised || w.storage == Storage::kInt8;
}

bool IsProduct(const Weights& w) {
  return w.use == WeightUse::kProduct;
}

// The owner's checker requires the field, and looks at its size.
bool IsRequired(const Weights& w) {
  return w.is_sized() && !IsProduct(w);
}

void OneForm(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights())
    if (w.storage == Storage::kSeveral)
      f.Add(Where(w), "{} has {} in several forms", Title(*w.at), w.name());
}

void Present(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights())
    if (w.storage == Storage::kNone && (IsRequired(w) || w.use == WeightUse::kCustom))
      f.Add(Where(w), "{} has no {}", Title(*w.at), w.name());
}

// The weights, or else the biases, that products lack.
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

// Bytes of `elements` numbers of so many bits; wraps around.
uint64_t PackedBytes(uint64_t elements, uint64_t bits) {
  return (elements * bits + 7) / 8;
}

void SizesFit(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights()) {
    if (!w.is_sized()) continue;
    const auto fail = [&](std::string_view unit, uint64_t need) {
      f.Add(Where(w), "{} has {} {} in {}; its parameters need {}", Title(*w.at), w.values, unit,
            w.name(), need);
    };
    if (w.storage == Storage::kFloat && w.values != w.elements) fail("values", w.elements);
    if (w.storage == Storage::kHalf && w.values / 2 != w.elements) fail("bytes", w.elements * 2);
    if (w.storage != Storage::kQuantised || !w.params->has_quantization()) continue;
    const uint64_t need = PackedBytes(w.elements, w.params->quantization().numberofbits());
    if (w.values < need) fail("bytes", need);
  }
}

void BytesWhole(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights()) {
    if (w.storage == Storage::kHalf && w.values % 2 != 0)
      f.Add(Where(w), "{} has {} bytes of float16 in {}", Title(*w.at), w.values, w.name());
    if (w.storage == Storage::kInt8 && IsProduct(w) && w.values != w.elements)
      f.Add(Where(w), "{} has {} bytes in {}; its parameters need {}", Title(*w.at), w.values,
            w.name(), w.elements);
  }
}

// What is wrong with the quantisation; "" if nothing is.
std::string FaultOf(const pb::QuantizationParams& q, uint64_t channels) {
  if (q.numberofbits() < 1 || q.numberofbits() > 8)
    return fmt::format("has {} bits", q.numberofbits());
  if (q.has_linearquantization()) {
    const int scales = q.linearquantization().scale_size();
    const int biases = q.linearquantization().bias_size();
    if ((scales != 1 && static_cast<uint64_t>(scales) != channels) ||
        (biases != 0 && biases != scales))
      return fmt::format("has {} scales and {} biases for {} channels", scales, biases, channels);
  } else if (q.has_lookuptablequantization()) {
    const int entries = q.lookuptablequantization().floatvalue_size();
    if (entries != 1 << q.numberofbits())
      return fmt::format("has a table of {} entries for {} bits", entries, q.numberofbits());
  } else {
    return "has neither linear nor table quantisation";
  }
  return "";
}

void QuantisationValid(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights()) {
    if (w.storage != Storage::kQuantised || !w.is_sized()) continue;
    if (w.params->has_quantization()) {
      if (const auto fault = FaultOf(w.params->quantization(), w.channels); !fault.empty())
        f.Add(Where(w), "{} of {} {}", w.name(), Title(*w.at), fault);
    } else if (!IsProduct(w)) {
      f.Add(Where(w), "{} of {} has raw values but no quantisation", w.name(), Title(*w.at));
    }
  }
}

// What the owner's checker lets pass: fields that it does not look into.
void OtherQuantisationValid(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights()) {
    if (!IsQuantised(w) || w.int8_dynamic) continue;
    const bool is_checked = w.storage == Storage::kQuantised && w.is_sized();
    if (!w.params->has_quantization()) {
      if (IsProduct(w) || !w.is_sized())
        f.Add(Where(w), "{} of {} has raw values but no quantisation", w.name(), Title(*w.at));
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
      f.Add(Where(w), "{} quantises dynamically, its {} are not int8 with one scale", Title(*w.at),
            w.name());
  }
}

void Int8Products(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_batchedmatmul() && at.layer->input_size() > 1 &&
        at.layer->batchedmatmul().int8dynamicquantize())
      f.Add(coreml::Where(at, "batchedMatmul.int8DynamicQuantize"),
            "{} quantises weights dynamically but takes them as an input", Title(at));
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

// Layers whose weights the owner's checker lets be of several precisions: those of both directions,
// and recurrent ones of which a matrix is quantised.
bool MayMix(const pb::NeuralNetworkLayer& layer, bool has_quantised) {
  return layer.has_bidirectionallstm() || (layer.has_simplerecurrent() && has_quantised);
}

// A layer's weights are all of full or all of half precision, quantised ones apart.
void CheckPrecision(const Subject& s, Findings& f, bool lenient) {
  const auto& all = s.weights();
  for (size_t i = 0; i < all.size();) {
    const LayerAt& at = *all[i].at;
    bool full = false;
    bool half = false;
    bool quantised = false;
    for (; i < all.size() && all[i].at == &at; ++i) {
      full = full || all[i].storage == Storage::kFloat;
      half = half || all[i].storage == Storage::kHalf;
      quantised = quantised ||
                  (all[i].storage == Storage::kQuantised && !all[i].field.ends_with("biasVector"));
    }
    if (full && half && !at.layer->has_custom() && !at.layer->has_activation() &&
        !at.layer->has_layernormalization() && MayMix(*at.layer, quantised) == lenient)
      f.Add(coreml::Where(at), "{} has weights of full and of half precision", Title(at));
  }
}

void SamePrecision(const Subject& s, Findings& f) {
  CheckPrecision(s, f, false);
}

void SamePrecisionElsewhere(const Subject& s, Findings& f) {
  CheckPrecision(s, f, true);
}

void NotQuantised(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights()) {
    const bool quantised = w.storage == Storage::kQuantised && w.params->has_quantization();
    if ((w.use == WeightUse::kPlain && quantised) ||
        (w.field == "layerNormalization.gamma" && w.params->has_quantization()))
      f.Add(Where(w), "{} has a quantised {}", Title(*w.at), w.name());
  }
}

void FullPrecision(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights())
    if (w.use == WeightUse::kFloats && w.storage != Storage::kFloat &&
        w.storage != Storage::kNone && w.storage != Storage::kSeveral)
      f.Add(Where(w), "{} has a {} that is no float", Title(*w.at), w.name());
}

void SameForms(const Subject& s, Findings& f) {
  const auto& all = s.weights();
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    if (!all[i].field.ends_with("parametricSoftplus.alpha")) continue;
    const auto form = [](const Weights& w) {
      return IsQuantised(w) && !w.params->has_quantization() ? Storage::kNone : w.storage;
    };
    if (form(all[i]) != form(all[i + 1]))
      f.Add(Where(all[i]), "{} has alpha and beta in different forms", Title(*all[i].at));
  }
}

constexpr std::string_view kClause = "NeuralNetwork.proto, WeightParams";

constexpr Rule kRules[] = {
    {{"COREML-WEIGHT-001", Severity::kError, "Weights are given in one form.", kClause, true, ""},
     OneForm},
    {{"COREML-WEIGHT-010", Severity::kError, "Weights are there.", kClause, true, ""}, Present},
    {{"COREML-WEIGHT-002", Severity::kError, "Weights have the size that the parameters give.",
      kClause, true, ""},
     SizesFit},
    {{"COREML-WEIGHT-011", Severity::kError,
      "float16 values have two bytes each, int8 weights one for each element.", kClause, false, ""},
     BytesWhole},
    {{"COREML-WEIGHT-003", Severity::kError,
      "Quantised weights have 1 to 8 bits and scales, or a table, that fit.",
      "NeuralNetwork.proto, QuantizationParams", true, ""},
     QuantisationValid},
    {{"COREML-WEIGHT-012", Severity::kError,
      "Raw values of products and activations have a quantisation, with scales or a table.",
      "NeuralNetwork.proto, QuantizationParams", false, ""},
     OtherQuantisationValid},
    {{"COREML-WEIGHT-004", Severity::kError,
      "Under int8DynamicQuantize weights are int8 of 8 bits with one scale and no bias.",
      "NeuralNetwork.proto, InnerProductLayerParams", true, ""},
     Int8Dynamic},
    {{"COREML-WEIGHT-013", Severity::kError,
      "batchedMatmul quantises dynamically only weights of its own.",
      "NeuralNetwork.proto, BatchedMatMulLayerParams", true, ""},
     Int8Products},
    {{"COREML-WEIGHT-014", Severity::kError,
      "int8RawValue belongs to innerProduct and batchedMatmul.", kClause, true, ""},
     NotInt8},
    {{"COREML-WEIGHT-005", Severity::kError,
      "int8RawValue of products belongs to int8DynamicQuantize.", kClause, false, ""},
     ProductsNotInt8},
    {{"COREML-WEIGHT-006", Severity::kError,
      "Weights of a layer are all of full or all of half precision.", kClause, true, ""},
     SamePrecision},
    {{"COREML-WEIGHT-015", Severity::kError,
      "So are those of biDirectionalLSTM, and of simpleRecurrent beside quantised ones.", kClause,
      false, ""},
     SamePrecisionElsewhere},
    {{"COREML-WEIGHT-007", Severity::kError,
      "gamma of layer normalisations and weights of 3-D convolutions are not quantised.",
      "NeuralNetwork.proto, LayerNormalizationLayerParams", true, ""},
     NotQuantised},
    {{"COREML-WEIGHT-016", Severity::kError,
      "gamma and beta of layer normalisations are of full precision.",
      "NeuralNetwork.proto, LayerNormalizationLayerParams", true, ""},
     FullPrecision},
    {{"COREML-WEIGHT-017", Severity::kError,
      "alpha and beta of parametricSoftplus are given in one form.",
      "NeuralNetwork.proto, ActivationParametricSoftplus", true, ""},
     SameForms},
    {{"COREML-WEIGHT-008", Severity::kError,
      "Inner products and batched matrix products have their weights.",
      "NeuralNetwork.proto, InnerProductLayerParams", false, ""},
     ProductsHaveWeights},
    {{"COREML-WEIGHT-009", Severity::kWarning,
      "Inner products and batched matrix products with hasBias have a bias.",
      "NeuralNetwork.proto, InnerProductLayerParams.hasBias", false, "Clear hasBias."},
     ProductsHaveBiases},
};

}  // namespace

std::span<const Rule> WeightRules() {
  return kRules;
}

}  // namespace nn::coreml
