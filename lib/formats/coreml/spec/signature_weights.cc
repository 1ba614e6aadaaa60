// Rules about weights: their presence, size and quantization.
#include <algorithm>

#include "base/text/text.h"
#include "formats/coreml/spec/signature_constraints.h"

namespace nn::coreml {
namespace {

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

void WeightsInOneForm(const LayerView& at, Misfits& f) {
  for (const Weights& w : at.weights)
    if (w.storage == Storage::kSeveral)
      f.Add(w.name(), "{} has values in more than one field of {}", Title(at), w.name());
}

void WeightsPresent(const LayerView& at, Misfits& f) {
  for (const Weights& w : at.weights)
    if (w.storage == Storage::kNone && (IsRequired(w) || w.use == WeightUse::kCustom))
      f.Add(w.name(), "{} has no {}", Title(at), w.name());
}

// Reports the missing weights or biases of products.
void CheckProducts(const LayerView& at, Misfits& f, bool biases) {
  for (const Weights& w : at.weights)
    if (IsProduct(w) && w.storage == Storage::kNone && w.is_bias == biases)
      f.Add(w.name(), "{} has no {}", Title(at), w.name());
}

void ProductsHaveWeights(const LayerView& at, Misfits& f) {
  CheckProducts(at, f, false);
}

void ProductsHaveBiases(const LayerView& at, Misfits& f) {
  CheckProducts(at, f, true);
}

// The bytes of `elements` numbers of `bits` bits; wraps around.
uint64_t PackedBytes(uint64_t elements, uint64_t bits) {
  return (elements * bits + 7) / 8;
}

void WeightCountsFit(const LayerView& at, Misfits& f) {
  for (const Weights& w : at.weights) {
    if (!w.is_sized()) continue;
    const auto fail = [&](std::string_view unit, uint64_t need, std::string_view more = "") {
      f.Add(w.name(), "{} has {} {} in {}; expected {}{}", Title(at), w.values, unit, w.name(),
            need, more);
    };
    if (w.storage == Storage::kFloat && w.values != w.elements) fail("values", w.elements);
    if (w.storage == Storage::kHalf && w.values / 2 != w.elements) fail("bytes", w.elements * 2);
    if (w.storage != Storage::kQuantized || !w.params->has_quantization()) continue;
    const uint64_t need = PackedBytes(w.elements, w.params->quantization().numberofbits());
    if (w.values < need) fail("bytes", need, " or more");
  }
}

void WeightBytesWhole(const LayerView& at, Misfits& f) {
  for (const Weights& w : at.weights) {
    if (w.storage == Storage::kHalf && w.values % 2 != 0)
      f.Add(w.name(), "{} has {} bytes of float16 values in {}; expected an even number", Title(at),
            w.values, w.name());
    if (w.storage == Storage::kInt8 && IsProduct(w) && w.values != w.elements)
      f.Add(w.name(), "{} has {} bytes in {}; expected {}", Title(at), w.values, w.name(),
            w.elements);
  }
}

// What is wrong with the quantization; "" if nothing is.
std::string FaultOf(const Weights& w) {
  const pb::QuantizationParams& q = w.params->quantization();
  if (q.numberofbits() < 1 || q.numberofbits() > 8)
    return fmt::format("has {} bits; expected 1 to 8", q.numberofbits());
  if (q.has_linearquantization()) {
    if ((w.scales != 1 && w.scales != w.channels) || (w.biases != 0 && w.biases != w.scales))
      return fmt::format("has {} scales and {} biases for {} channels", w.scales, w.biases,
                         w.channels);
  } else if (q.has_lookuptablequantization()) {
    const uint64_t entries = uint64_t{1} << q.numberofbits();
    if (w.table_entries != entries)
      return fmt::format("has a lookup table of {} entries; expected {}", w.table_entries, entries);
  } else {
    return "has neither linear nor lookup table quantization";
  }
  return "";
}

void QuantizationValid(const LayerView& at, Misfits& f) {
  for (const Weights& w : at.weights) {
    if (w.storage != Storage::kQuantized || !w.is_sized()) continue;
    if (w.params->has_quantization()) {
      if (const auto fault = FaultOf(w); !fault.empty())
        f.Add(w.name(), "{} of {} {}", w.name(), Title(at), fault);
    } else if (!IsProduct(w)) {
      f.Add(w.name(), "{} of {} has raw values but no quantization", w.name(), Title(at));
    }
  }
}

// Quantization of fields that the vendor's checker ignores.
void OtherQuantizationValid(const LayerView& at, Misfits& f) {
  for (const Weights& w : at.weights) {
    if (!IsQuantized(w) || w.int8_dynamic) continue;
    const bool is_checked = w.storage == Storage::kQuantized && w.is_sized();
    if (!w.params->has_quantization()) {
      if (IsProduct(w) || !w.is_sized())
        f.Add(w.name(), "{} of {} has raw values but no quantization", w.name(), Title(at));
    } else if (!is_checked && !at.layer->has_custom()) {
      if (const auto fault = FaultOf(w); !fault.empty())
        f.Add(w.name(), "{} of {} {}", w.name(), Title(at), fault);
    }
  }
}

void Int8Dynamic(const LayerView& at, Misfits& f) {
  for (const Weights& w : at.weights) {
    if (!w.int8_dynamic) continue;
    const auto& q = w.params->quantization();
    if (w.storage != Storage::kInt8 || q.numberofbits() != 8 || !q.has_linearquantization() ||
        w.scales != 1 || w.biases != 0)
      f.Add(w.name(),
            "{} sets int8DynamicQuantize, but its {} are not int8 with one scale and no bias",
            Title(at), w.name());
  }
}

void Int8Products(const LayerView& at, Misfits& f) {
  if (at.layer->has_batchedmatmul() && at.layer->input_size() > 1 &&
      at.layer->batchedmatmul().int8dynamicquantize())
    f.Add("batchedMatmul.int8DynamicQuantize",
          "{} sets int8DynamicQuantize but takes its weights as an input", Title(at));
}

void CheckInt8(const LayerView& at, Misfits& f, bool products) {
  for (const Weights& w : at.weights)
    if (w.storage == Storage::kInt8 && !w.int8_dynamic && IsProduct(w) == products && w.is_sized())
      f.Add(w.name(), "{} has int8RawValue in {} without int8DynamicQuantize", Title(at), w.name());
}

void WeightsNotInt8(const LayerView& at, Misfits& f) {
  CheckInt8(at, f, false);
}

void ProductWeightsNotInt8(const LayerView& at, Misfits& f) {
  CheckInt8(at, f, true);
}

// Layers whose weights can have several precisions for the vendor's checker: bidirectional ones,
// and simple recurrent ones with a quantized matrix.
bool MayMix(const pb::NeuralNetworkLayer& layer, bool has_quantized) {
  return layer.has_bidirectionallstm() || (layer.has_simplerecurrent() && has_quantized);
}

// The unquantized weights of a layer are all float32 or all float16.
void CheckPrecision(const LayerView& at, Misfits& f, bool lenient) {
  bool full = false;
  bool half = false;
  bool quantized = false;
  for (const Weights& w : at.weights) {
    full = full || w.storage == Storage::kFloat;
    half = half || w.storage == Storage::kHalf;
    quantized = quantized || (w.storage == Storage::kQuantized && !w.field.ends_with("biasVector"));
  }
  if (full && half && !at.layer->has_custom() && !at.layer->has_activation() &&
      !at.layer->has_layernormalization() && MayMix(*at.layer, quantized) == lenient)
    f.Add("", "{} has both float32 and float16 weights", Title(at));
}

void SamePrecision(const LayerView& at, Misfits& f) {
  CheckPrecision(at, f, false);
}

void SamePrecisionElsewhere(const LayerView& at, Misfits& f) {
  CheckPrecision(at, f, true);
}

void WeightsNotQuantized(const LayerView& at, Misfits& f) {
  for (const Weights& w : at.weights) {
    const bool quantized = w.storage == Storage::kQuantized && w.params->has_quantization();
    if ((w.use == WeightUse::kPlain && quantized) ||
        (w.field == "layerNormalization.gamma" && w.params->has_quantization()))
      f.Add(w.name(), "{} has a quantized {}", Title(at), w.name());
  }
}

void NormalizationInFloats(const LayerView& at, Misfits& f) {
  for (const Weights& w : at.weights)
    if (w.use == WeightUse::kFloats && w.storage != Storage::kFloat &&
        w.storage != Storage::kNone && w.storage != Storage::kSeveral)
      f.Add(w.name(), "{} has a {} that is not stored as floatValue", Title(at), w.name());
}

void SoftplusInOneForm(const LayerView& at, Misfits& f) {
  const std::vector<Weights>& all = at.weights;
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    if (!all[i].field.ends_with("parametricSoftplus.alpha")) continue;
    const auto form = [](const Weights& w) {
      return IsQuantized(w) && !w.params->has_quantization() ? Storage::kNone : w.storage;
    };
    if (form(all[i]) != form(all[i + 1]))
      f.Add(all[i].name(), "{} stores alpha and beta in different forms", Title(at));
  }
}

constexpr Constraint kWeightConstraints[] = {
    {Label::kWeightsInOneForm, WeightsInOneForm},
    {Label::kWeightsPresent, WeightsPresent},
    {Label::kWeightCountsFit, WeightCountsFit},
    {Label::kWeightBytesWhole, WeightBytesWhole},
    {Label::kQuantizationValid, QuantizationValid},
    {Label::kOtherQuantizationValid, OtherQuantizationValid},
    {Label::kInt8Dynamic, Int8Dynamic},
    {Label::kInt8Products, Int8Products},
    {Label::kWeightsNotInt8, WeightsNotInt8},
    {Label::kProductWeightsNotInt8, ProductWeightsNotInt8},
    {Label::kSamePrecision, SamePrecision},
    {Label::kSamePrecisionElsewhere, SamePrecisionElsewhere},
    {Label::kWeightsNotQuantized, WeightsNotQuantized},
    {Label::kNormalizationInFloats, NormalizationInFloats},
    {Label::kSoftplusInOneForm, SoftplusInOneForm},
    {Label::kProductsHaveWeights, ProductsHaveWeights},
    {Label::kProductsHaveBiases, ProductsHaveBiases},
};

}  // namespace

std::span<const Constraint> WeightConstraints() {
  return kWeightConstraints;
}

}  // namespace nn::coreml
