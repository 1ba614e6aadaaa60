// Rules of weights: present, of the size that the parameters give, and well quantised.
#include <algorithm>
#include <optional>

#include "base/checked_math.h"
#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using W = pb::WeightParams;

enum class Storage { kNone, kFloat, kHalf, kQuantised, kInt8, kSeveral };

// One weights field of a layer.
struct Weights {
  std::string_view field;
  const W* params;
  uint64_t elements;      // that it is to have; 0 if that does not follow from the parameters
  uint64_t channels = 1;  // scales of a linear quantisation: one, or so many
  bool required = true;
  bool int8 = false;     // int8DynamicQuantize
  bool product = false;  // of innerProduct or batchedMatmul
};

struct List {
  std::vector<Weights> all;

  void Add(std::string_view field, const W& w, std::initializer_list<uint64_t> sizes,
           uint64_t channels = 1, bool required = true, bool int8 = false) {
    uint64_t n = 1;
    for (const uint64_t size : sizes)
      if (__builtin_mul_overflow(n, size, &n)) n = 0;
    all.push_back({field, &w, n, channels, required, int8});
  }

  void MarkProduct() {
    for (Weights& w : all) w.product = true;
  }
};

void ConvolutionWeights(const pb::NeuralNetworkLayer& layer, List& list) {
  const auto& p = layer.convolution();
  if (layer.input_size() > 1) return;  // weights are the second input
  const uint64_t kh = p.kernelsize_size() == 2 ? p.kernelsize(0) : 3;
  const uint64_t kw = p.kernelsize_size() == 2 ? p.kernelsize(1) : 3;
  const uint64_t groups = std::max<uint64_t>(p.ngroups(), 1);
  const uint64_t out = p.outputchannels();
  const uint64_t rows = p.isdeconvolution() ? out / groups : out;
  list.Add("convolution.weights", p.weights(), {rows, p.kernelchannels(), kh, kw}, out);
  if (p.hasbias()) list.Add("convolution.bias", p.bias(), {out});
}

void Convolution3dWeights(const pb::NeuralNetworkLayer& layer, List& list) {
  const auto& p = layer.convolution3d();
  const auto positive = [](int32_t v) { return static_cast<uint64_t>(std::max(v, 0)); };
  const uint64_t groups = std::max<uint64_t>(positive(p.ngroups()), 1);
  list.Add("convolution3d.weights", p.weights(),
           {positive(p.outputchannels()), positive(p.inputchannels()) / groups,
            positive(p.kerneldepth()), positive(p.kernelheight()), positive(p.kernelwidth())},
           positive(p.outputchannels()));
  if (p.hasbias()) list.Add("convolution3d.bias", p.bias(), {positive(p.outputchannels())});
}

template <typename Params>
void TableWeights(const Params& p, std::string_view weights, std::string_view bias, uint64_t in,
                  uint64_t out, List& list, bool int8 = false) {
  list.Add(weights, p.weights(), {in, out}, out, true, int8);
  if (p.hasbias()) list.Add(bias, p.bias(), {out});
}

void BatchnormWeights(const pb::BatchnormLayerParams& p, List& list) {
  list.Add("batchnorm.gamma", p.gamma(), {p.channels()});
  list.Add("batchnorm.beta", p.beta(), {p.channels()});
  const bool computed = p.computemeanvar();
  list.Add("batchnorm.mean", p.mean(), {p.channels()}, 1, !computed);
  list.Add("batchnorm.variance", p.variance(), {p.channels()}, 1, !computed);
}

template <typename Shape>
uint64_t Product(const Shape& shape) {
  uint64_t n = 1;
  for (const auto d : shape)
    if (d <= 0 || __builtin_mul_overflow(n, static_cast<uint64_t>(d), &n)) return 0;
  return n;
}

void SimpleRecurrentWeights(const pb::SimpleRecurrentLayerParams& p, List& list) {
  const uint64_t in = p.inputvectorsize();
  const uint64_t out = p.outputvectorsize();
  list.Add("simpleRecurrent.weightMatrix", p.weightmatrix(), {out, in}, out);
  list.Add("simpleRecurrent.recursionMatrix", p.recursionmatrix(), {out, out}, out);
  if (p.hasbiasvector()) list.Add("simpleRecurrent.biasVector", p.biasvector(), {out});
}

void GruWeights(const pb::GRULayerParams& p, List& list) {
  const uint64_t in = p.inputvectorsize();
  const uint64_t out = p.outputvectorsize();
  list.Add("gru.updateGateWeightMatrix", p.updategateweightmatrix(), {out, in}, out);
  list.Add("gru.resetGateWeightMatrix", p.resetgateweightmatrix(), {out, in}, out);
  list.Add("gru.outputGateWeightMatrix", p.outputgateweightmatrix(), {out, in}, out);
  list.Add("gru.updateGateRecursionMatrix", p.updategaterecursionmatrix(), {out, out}, out);
  list.Add("gru.resetGateRecursionMatrix", p.resetgaterecursionmatrix(), {out, out}, out);
  list.Add("gru.outputGateRecursionMatrix", p.outputgaterecursionmatrix(), {out, out}, out);
  if (!p.hasbiasvectors()) return;
  list.Add("gru.updateGateBiasVector", p.updategatebiasvector(), {out});
  list.Add("gru.resetGateBiasVector", p.resetgatebiasvector(), {out});
  list.Add("gru.outputGateBiasVector", p.outputgatebiasvector(), {out});
}

void LstmWeights(const pb::LSTMWeightParams& w, const pb::LSTMParams& p, uint64_t in, uint64_t out,
                 List& list) {
  for (const auto* m : {&w.inputgateweightmatrix(), &w.forgetgateweightmatrix(),
                        &w.blockinputweightmatrix(), &w.outputgateweightmatrix()})
    list.Add("weightParams weight matrix", *m, {out, in}, out);
  for (const auto* m : {&w.inputgaterecursionmatrix(), &w.forgetgaterecursionmatrix(),
                        &w.blockinputrecursionmatrix(), &w.outputgaterecursionmatrix()})
    list.Add("weightParams recursion matrix", *m, {out, out}, out);
  if (p.hasbiasvectors())
    for (const auto* m : {&w.inputgatebiasvector(), &w.forgetgatebiasvector(),
                          &w.blockinputbiasvector(), &w.outputgatebiasvector()})
      list.Add("weightParams bias vector", *m, {out});
  if (p.haspeepholevectors())
    for (const auto* m : {&w.inputgatepeepholevector(), &w.forgetgatepeepholevector(),
                          &w.outputgatepeepholevector()})
      list.Add("weightParams peephole vector", *m, {out});
}

void RecurrentWeights(const pb::NeuralNetworkLayer& layer, List& list) {
  if (layer.has_simplerecurrent()) SimpleRecurrentWeights(layer.simplerecurrent(), list);
  if (layer.has_gru()) GruWeights(layer.gru(), list);
  if (layer.has_unidirectionallstm()) {
    const auto& p = layer.unidirectionallstm();
    LstmWeights(p.weightparams(), p.params(), p.inputvectorsize(), p.outputvectorsize(), list);
  }
  if (layer.has_bidirectionallstm()) {
    const auto& p = layer.bidirectionallstm();
    for (const auto& w : p.weightparams())
      LstmWeights(w, p.params(), p.inputvectorsize(), p.outputvectorsize(), list);
  }
}

void ConstantWeights(const pb::NeuralNetworkLayer& layer, List& list) {
  if (layer.has_scale()) {
    const auto& p = layer.scale();
    list.Add("scale.scale", p.scale(), {Product(p.shapescale())});
    if (p.hasbias()) list.Add("scale.bias", p.bias(), {Product(p.shapebias())});
  } else if (layer.has_bias()) {
    list.Add("bias.bias", layer.bias().bias(), {Product(layer.bias().shape())});
  } else if (layer.has_loadconstant()) {
    list.Add("loadConstant.data", layer.loadconstant().data(),
             {Product(layer.loadconstant().shape())});
  } else if (layer.has_loadconstantnd()) {
    list.Add("loadConstantND.data", layer.loadconstantnd().data(),
             {Product(layer.loadconstantnd().shape())});
  } else if (layer.has_layernormalization()) {
    const uint64_t n = Product(layer.layernormalization().normalizedshape());
    list.Add("layerNormalization.gamma", layer.layernormalization().gamma(), {n});
    list.Add("layerNormalization.beta", layer.layernormalization().beta(), {n});
  }
}

List WeightsOf(const pb::NeuralNetworkLayer& layer) {
  List list;
  if (layer.has_convolution()) ConvolutionWeights(layer, list);
  if (layer.has_convolution3d()) Convolution3dWeights(layer, list);
  if (layer.has_innerproduct()) {
    const auto& p = layer.innerproduct();
    TableWeights(p, "innerProduct.weights", "innerProduct.bias", p.inputchannels(),
                 p.outputchannels(), list, p.int8dynamicquantize());
    list.MarkProduct();
  }
  if (layer.has_batchedmatmul() && layer.input_size() == 1) {
    const auto& p = layer.batchedmatmul();
    TableWeights(p, "batchedMatmul.weights", "batchedMatmul.bias", p.weightmatrixfirstdimension(),
                 p.weightmatrixseconddimension(), list, p.int8dynamicquantize());
    list.MarkProduct();
  }
  if (layer.has_embedding())
    TableWeights(layer.embedding(), "embedding.weights", "embedding.bias",
                 layer.embedding().inputdim(), layer.embedding().outputchannels(), list);
  if (layer.has_embeddingnd())
    TableWeights(layer.embeddingnd(), "embeddingND.weights", "embeddingND.bias",
                 layer.embeddingnd().vocabsize(), layer.embeddingnd().embeddingsize(), list);
  if (layer.has_batchnorm()) BatchnormWeights(layer.batchnorm(), list);
  ConstantWeights(layer, list);
  RecurrentWeights(layer, list);
  return list;
}

Storage StorageOf(const Subject& s, const W& w) {
  Storage found = Storage::kNone;
  const auto note = [&](int field, Storage kind) {
    if (s.SizeOf(w, field) > 0) found = found == Storage::kNone ? kind : Storage::kSeveral;
  };
  note(W::kFloatValueFieldNumber, Storage::kFloat);
  note(W::kFloat16ValueFieldNumber, Storage::kHalf);
  note(W::kRawValueFieldNumber, Storage::kQuantised);
  note(W::kInt8RawValueFieldNumber, Storage::kInt8);
  return found;
}

template <typename Visit>
void EachWeights(const Subject& s, const Visit& visit) {
  for (const LayerAt& at : s.layers())
    for (const Weights& w : WeightsOf(*at.layer).all) visit(at, w, StorageOf(s, *w.params));
}

void Present(const Subject& s, Findings& f) {
  EachWeights(s, [&](const LayerAt& at, const Weights& w, Storage storage) {
    if (storage == Storage::kSeveral)
      f.Add(Where(at, w.field), "{} has {} in several forms", Title(at), w.field);
    else if (storage == Storage::kNone && w.required && !w.product)
      f.Add(Where(at, w.field), "{} has no {}", Title(at), w.field);
  });
}

// The weights, or else the biases, that products lack.
void CheckProducts(const Subject& s, Findings& f, bool biases) {
  EachWeights(s, [&](const LayerAt& at, const Weights& w, Storage storage) {
    if (w.product && storage == Storage::kNone && w.field.ends_with(".bias") == biases)
      f.Add(Where(at, w.field), "{} has no {}", Title(at), w.field);
  });
}

void ProductsHaveWeights(const Subject& s, Findings& f) {
  CheckProducts(s, f, false);
}

void ProductsHaveBiases(const Subject& s, Findings& f) {
  CheckProducts(s, f, true);
}

void SizesFit(const Subject& s, Findings& f) {
  EachWeights(s, [&](const LayerAt& at, const Weights& w, Storage storage) {
    const W& p = *w.params;
    uint64_t have = 0;
    uint64_t need = w.elements;
    if (storage == Storage::kFloat) {
      have = s.SizeOf(p, W::kFloatValueFieldNumber);
    } else if (storage == Storage::kHalf) {
      have = s.SizeOf(p, W::kFloat16ValueFieldNumber);
      need = CheckedMul<uint64_t>(need, 2).value_or(UINT64_MAX);
    } else if (storage == Storage::kInt8) {
      have = s.SizeOf(p, W::kInt8RawValueFieldNumber);
    } else if (storage == Storage::kQuantised) {
      const uint64_t bits = p.quantization().numberofbits();
      if (bits < 1 || bits > 8 || need > UINT64_MAX / 16) return;
      have = s.SizeOf(p, W::kRawValueFieldNumber);
      need = (need * bits + 7) / 8;
    } else {
      return;
    }
    const bool packed = storage == Storage::kInt8 || storage == Storage::kQuantised;
    if (packed ? have < need : have != need)
      f.Add(Where(at, w.field), "{} has {} {} in {}; its parameters need {}", Title(at), have,
            storage == Storage::kFloat ? "values" : "bytes", w.field, need);
  });
}

void QuantisationValid(const Subject& s, Findings& f) {
  EachWeights(s, [&](const LayerAt& at, const Weights& w, Storage storage) {
    if (storage != Storage::kQuantised && storage != Storage::kInt8) return;
    const auto& q = w.params->quantization();
    const auto fail = [&](const std::string& what) {
      f.Add(Where(at, w.field), "{} of {} {}", w.field, Title(at), what);
    };
    if (!w.params->has_quantization()) return fail("has raw values but no quantisation");
    if (q.numberofbits() < 1 || q.numberofbits() > 8)
      return fail(fmt::format("has {} bits", q.numberofbits()));
    const auto fits = [&](int n) { return n == 1 || static_cast<uint64_t>(n) == w.channels; };
    if (q.has_linearquantization()) {
      const int scales = q.linearquantization().scale_size();
      const int biases = q.linearquantization().bias_size();
      if (!fits(scales) || (biases != 0 && !fits(biases)))
        fail(
            fmt::format("has {} scales and {} biases for {} channels", scales, biases, w.channels));
    } else if (q.has_lookuptablequantization()) {
      const int entries = q.lookuptablequantization().floatvalue_size();
      if (entries != 1 << q.numberofbits())
        fail(fmt::format("has a table of {} entries for {} bits", entries, q.numberofbits()));
    } else {
      fail("has neither linear nor table quantisation");
    }
  });
}

void Int8Dynamic(const Subject& s, Findings& f) {
  EachWeights(s, [&](const LayerAt& at, const Weights& w, Storage storage) {
    if (!w.int8) return;
    const auto& q = w.params->quantization();
    if (storage != Storage::kInt8 || q.numberofbits() != 8 || !q.has_linearquantization() ||
        q.linearquantization().scale_size() != 1 || q.linearquantization().bias_size() != 0)
      f.Add(Where(at, w.field), "{} quantises dynamically, its {} are not int8 with one scale",
            Title(at), w.field);
  });
}

void NotInt8(const Subject& s, Findings& f) {
  EachWeights(s, [&](const LayerAt& at, const Weights& w, Storage storage) {
    if (storage == Storage::kInt8 && !w.int8)
      f.Add(Where(at, w.field), "{} has int8RawValue in {} without int8DynamicQuantize", Title(at),
            w.field);
  });
}

// A layer's weights are all of full or all of half precision, quantised ones apart.
void SamePrecision(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    bool full = false;
    bool half = false;
    for (const Weights& w : WeightsOf(*at.layer).all) {
      const Storage storage = StorageOf(s, *w.params);
      full = full || storage == Storage::kFloat;
      half = half || storage == Storage::kHalf;
    }
    if (full && half) f.Add(Where(at), "{} has weights of full and of half precision", Title(at));
  }
}

void NotQuantised(const Subject& s, Findings& f) {
  EachWeights(s, [&](const LayerAt& at, const Weights& w, Storage storage) {
    if ((at.layer->has_layernormalization() || at.layer->has_convolution3d()) &&
        (storage == Storage::kQuantised || storage == Storage::kInt8 ||
         (at.layer->has_layernormalization() && w.params->has_quantization())))
      f.Add(Where(at, w.field), "{} has a quantised {}", Title(at), w.field);
  });
}

constexpr std::string_view kClause = "NeuralNetwork.proto, WeightParams";

constexpr Rule kRules[] = {
    {{"COREML-WEIGHT-001", Severity::kError, "Weights are there, in one form.", kClause, true, ""},
     Present},
    {{"COREML-WEIGHT-002", Severity::kError, "Weights have the size that the parameters give.",
      kClause, true, ""},
     SizesFit},
    {{"COREML-WEIGHT-003", Severity::kError,
      "Quantised weights have 1 to 8 bits and scales, or a table, that fit.",
      "NeuralNetwork.proto, QuantizationParams", true, ""},
     QuantisationValid},
    {{"COREML-WEIGHT-004", Severity::kError,
      "Under int8DynamicQuantize weights are int8 of 8 bits with one scale and no bias.",
      "NeuralNetwork.proto, InnerProductLayerParams", true, ""},
     Int8Dynamic},
    {{"COREML-WEIGHT-005", Severity::kError,
      "int8RawValue belongs to layers with int8DynamicQuantize.", kClause, false, ""},
     NotInt8},
    {{"COREML-WEIGHT-006", Severity::kError,
      "Weights of a layer are all of full or all of half precision.", kClause, true, ""},
     SamePrecision},
    {{"COREML-WEIGHT-007", Severity::kError,
      "Weights of layer normalisations and 3-D convolutions are not quantised.",
      "NeuralNetwork.proto, LayerNormalizationLayerParams", true, ""},
     NotQuantised},
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
