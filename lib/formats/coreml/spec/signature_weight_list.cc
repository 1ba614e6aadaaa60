#include "formats/coreml/spec/signature_weight_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace nn::coreml {
namespace {

using W = pb::WeightParams;

// Sizes are 64-bit numbers without a check for overflow, as in the vendor's checker.
class Collector {
 public:
  Collector(const pb::NeuralNetworkLayer& layer, const WeightSize& size)
      : layer_(layer), size_(size) {}

  std::vector<Weights> Run() {
    AddLayer(layer_);
    return std::move(list_);
  }

 private:
  Weights& Add(std::string_view field, const W& w, uint64_t elements, uint64_t channels = 1,
               WeightUse use = WeightUse::kRequired) {
    Weights& out = list_.emplace_back();
    out.layer = &layer_;
    out.field = field;
    out.params = &w;
    out.use = use;
    out.elements = elements;
    out.channels = channels;
    out.is_bias = field.ends_with("bias");
    const auto note = [&](int number, Storage storage) {
      const uint64_t size = size_(w, number);
      if (size == 0 || (use == WeightUse::kFloats && out.storage == Storage::kFloat)) return;
      out.storage = out.storage == Storage::kNone ? storage : Storage::kSeveral;
      out.values = size;
    };
    note(W::kFloatValueFieldNumber, Storage::kFloat);
    note(W::kFloat16ValueFieldNumber, Storage::kHalf);
    note(W::kRawValueFieldNumber, Storage::kQuantized);
    note(W::kInt8RawValueFieldNumber, Storage::kInt8);
    using Linear = pb::LinearQuantizationParams;
    const auto& linear = w.quantization().linearquantization();
    out.scales = size_(linear, Linear::kScaleFieldNumber);
    out.biases = size_(linear, Linear::kBiasFieldNumber);
    out.table_entries = size_(w.quantization().lookuptablequantization(),
                              pb::LookUpTableQuantizationParams::kFloatValueFieldNumber);
    return out;
  }

  void AddLayer(const pb::NeuralNetworkLayer& layer) {
    switch (layer.layer_case()) {
      case pb::NeuralNetworkLayer::kConvolution:
        return AddConvolution(layer);
      case pb::NeuralNetworkLayer::kConvolution3D:
        return AddConvolution3d(layer.convolution3d());
      case pb::NeuralNetworkLayer::kInnerProduct: {
        const auto& p = layer.innerproduct();
        return AddProduct(p, "innerProduct.weights", "innerProduct.bias", p.inputchannels(),
                          p.outputchannels());
      }
      case pb::NeuralNetworkLayer::kBatchedMatmul: {
        const auto& p = layer.batchedmatmul();
        if (layer.input_size() == 1)
          AddProduct(p, "batchedMatmul.weights", "batchedMatmul.bias",
                     p.weightmatrixfirstdimension(), p.weightmatrixseconddimension());
        return;
      }
      case pb::NeuralNetworkLayer::kEmbedding: {
        const auto& p = layer.embedding();
        return AddTable(p, "embedding.weights", "embedding.bias", p.inputdim(), p.outputchannels());
      }
      case pb::NeuralNetworkLayer::kEmbeddingND: {
        const auto& p = layer.embeddingnd();
        return AddTable(p, "embeddingND.weights", "embeddingND.bias", p.vocabsize(),
                        p.embeddingsize());
      }
      case pb::NeuralNetworkLayer::kBatchnorm:
        return AddBatchnorm(layer.batchnorm());
      case pb::NeuralNetworkLayer::kActivation:
        return AddActivation(layer.activation());
      case pb::NeuralNetworkLayer::kCustom:
        for (const W& w : layer.custom().weights())
          Add("custom.weights", w, 0, 1, WeightUse::kCustom);
        return;
      default:
        AddConstant(layer);
        AddRecurrent(layer);
    }
  }

  void AddConvolution(const pb::NeuralNetworkLayer& layer) {
    const auto& p = layer.convolution();
    if (layer.input_size() > 1) return;  // weights are the second input
    const uint64_t kh = p.kernelsize_size() > 0 ? p.kernelsize(0) : 3;
    const uint64_t kw = p.kernelsize_size() > 1 ? p.kernelsize(1) : 3;
    const uint64_t groups = std::max<uint64_t>(p.ngroups(), 1);
    const uint64_t out = p.outputchannels();
    const uint64_t rows = p.isdeconvolution() ? out / groups : out;
    Add("convolution.weights", p.weights(), rows * p.kernelchannels() * kh * kw, out);
    if (p.hasbias()) Add("convolution.bias", p.bias(), out);
  }

  void AddConvolution3d(const pb::Convolution3DLayerParams& p) {
    const auto groups = static_cast<uint64_t>(std::max(p.ngroups(), 1));
    const auto in = static_cast<uint64_t>(p.inputchannels());
    const auto out = static_cast<uint64_t>(p.outputchannels());
    const uint64_t channels = p.isdeconvolution() ? out / groups * in : out * (in / groups);
    const uint64_t volume = static_cast<uint64_t>(p.kerneldepth()) *
                            static_cast<uint64_t>(p.kernelheight()) *
                            static_cast<uint64_t>(p.kernelwidth());
    Add("convolution3d.weights", p.weights(), channels * volume, out, WeightUse::kPlain);
    if (p.hasbias()) Add("convolution3d.bias", p.bias(), out, 1, WeightUse::kPlain);
  }

  template <typename Params>
  void AddProduct(const Params& p, std::string_view weights, std::string_view bias, uint64_t in,
                  uint64_t out) {
    Add(weights, p.weights(), in * out, out, WeightUse::kProduct).int8_dynamic =
        p.int8dynamicquantize();
    if (p.hasbias()) Add(bias, p.bias(), out, 1, WeightUse::kProduct);
  }

  template <typename Params>
  void AddTable(const Params& p, std::string_view weights, std::string_view bias, uint64_t in,
                uint64_t out) {
    Add(weights, p.weights(), in * out, out);
    if (p.hasbias()) Add(bias, p.bias(), out);
  }

  void AddBatchnorm(const pb::BatchnormLayerParams& p) {
    const auto use = p.computemeanvar() ? WeightUse::kUnused : WeightUse::kRequired;
    Add("batchnorm.gamma", p.gamma(), p.channels());
    Add("batchnorm.beta", p.beta(), p.channels());
    Add("batchnorm.mean", p.mean(), p.channels(), 1, use);
    Add("batchnorm.variance", p.variance(), p.channels(), 1, use);
  }

  void AddActivation(const pb::ActivationParams& p) {
    if (p.has_prelu()) Add("activation.PReLU.alpha", p.prelu().alpha(), 0, 1, WeightUse::kAlpha);
    if (!p.has_parametricsoftplus()) return;
    Add("activation.parametricSoftplus.alpha", p.parametricsoftplus().alpha(), 0, 1,
        WeightUse::kAlpha);
    Add("activation.parametricSoftplus.beta", p.parametricsoftplus().beta(), 0, 1,
        WeightUse::kAlpha);
  }

  // Values with a shape of one axis, or of three axes with one scale for each index of the first.
  template <typename Shape>
  void AddShaped(std::string_view field, const W& w, const Shape& shape) {
    uint64_t elements = 1;
    for (const auto size : shape) elements *= static_cast<uint64_t>(size);
    const bool scaled = shape.size() == 3 && shape.Get(0) > 1;
    Add(field, w, elements, scaled ? static_cast<uint64_t>(shape.Get(0)) : 1);
  }

  void AddConstant(const pb::NeuralNetworkLayer& layer) {
    if (layer.has_scale()) {
      const auto& p = layer.scale();
      AddShaped("scale.scale", p.scale(), p.shapescale());
      if (p.hasbias()) AddShaped("scale.bias", p.bias(), p.shapebias());
    } else if (layer.has_bias()) {
      AddShaped("bias.bias", layer.bias().bias(), layer.bias().shape());
    } else if (layer.has_loadconstant()) {
      AddShaped("loadConstant.data", layer.loadconstant().data(), layer.loadconstant().shape());
    } else if (layer.has_loadconstantnd()) {
      uint64_t elements = 1;
      for (const uint64_t size : layer.loadconstantnd().shape()) elements *= size;
      Add("loadConstantND.data", layer.loadconstantnd().data(), elements);
    } else if (layer.has_layernormalization()) {
      const auto& p = layer.layernormalization();
      uint64_t elements = 1;
      for (const int64_t size : p.normalizedshape()) elements *= static_cast<uint64_t>(size);
      Add("layerNormalization.gamma", p.gamma(), elements, 1, WeightUse::kFloats);
      Add("layerNormalization.beta", p.beta(), elements, 1, WeightUse::kFloats);
    }
  }

  void AddRecurrent(const pb::NeuralNetworkLayer& layer) {
    if (layer.has_simplerecurrent()) {
      const auto& p = layer.simplerecurrent();
      const uint64_t out = p.outputvectorsize();
      Add("simpleRecurrent.weightMatrix", p.weightmatrix(), out * p.inputvectorsize(), out);
      Add("simpleRecurrent.recursionMatrix", p.recursionmatrix(), out * out, out);
      if (p.hasbiasvector()) Add("simpleRecurrent.biasVector", p.biasvector(), out);
    } else if (layer.has_gru()) {
      AddGru(layer.gru());
    } else if (layer.has_unidirectionallstm()) {
      const auto& p = layer.unidirectionallstm();
      AddLstm(p.weightparams(), p.params(), p.inputvectorsize(), p.outputvectorsize(), -1);
    } else if (layer.has_bidirectionallstm()) {
      const auto& p = layer.bidirectionallstm();
      for (int i = 0; i < std::min(p.weightparams_size(), 2); ++i)
        AddLstm(p.weightparams(i), p.params(), p.inputvectorsize(), p.outputvectorsize(), i);
    }
  }

  void AddGru(const pb::GRULayerParams& p) {
    const uint64_t out = p.outputvectorsize();
    const uint64_t in = out * p.inputvectorsize();
    Add("gru.updateGateWeightMatrix", p.updategateweightmatrix(), in, out);
    Add("gru.resetGateWeightMatrix", p.resetgateweightmatrix(), in, out);
    Add("gru.outputGateWeightMatrix", p.outputgateweightmatrix(), in, out);
    Add("gru.updateGateRecursionMatrix", p.updategaterecursionmatrix(), out * out, out);
    Add("gru.resetGateRecursionMatrix", p.resetgaterecursionmatrix(), out * out, out);
    Add("gru.outputGateRecursionMatrix", p.outputgaterecursionmatrix(), out * out, out);
    if (!p.hasbiasvectors()) return;
    Add("gru.updateGateBiasVector", p.updategatebiasvector(), out);
    Add("gru.resetGateBiasVector", p.resetgatebiasvector(), out);
    Add("gru.outputGateBiasVector", p.outputgatebiasvector(), out);
  }

  void AddLstm(const pb::LSTMWeightParams& w, const pb::LSTMParams& p, uint64_t in, uint64_t out,
               int part) {
    const size_t first = list_.size();
    Add("inputGateWeightMatrix", w.inputgateweightmatrix(), out * in, out);
    Add("forgetGateWeightMatrix", w.forgetgateweightmatrix(), out * in, out);
    Add("blockInputWeightMatrix", w.blockinputweightmatrix(), out * in, out);
    Add("outputGateWeightMatrix", w.outputgateweightmatrix(), out * in, out);
    Add("inputGateRecursionMatrix", w.inputgaterecursionmatrix(), out * out, out);
    Add("forgetGateRecursionMatrix", w.forgetgaterecursionmatrix(), out * out, out);
    Add("blockInputRecursionMatrix", w.blockinputrecursionmatrix(), out * out, out);
    Add("outputGateRecursionMatrix", w.outputgaterecursionmatrix(), out * out, out);
    if (p.hasbiasvectors()) {
      Add("inputGateBiasVector", w.inputgatebiasvector(), out);
      Add("forgetGateBiasVector", w.forgetgatebiasvector(), out);
      Add("blockInputBiasVector", w.blockinputbiasvector(), out);
      Add("outputGateBiasVector", w.outputgatebiasvector(), out);
    }
    if (p.haspeepholevectors()) {
      Add("inputGatePeepholeVector", w.inputgatepeepholevector(), out);
      Add("forgetGatePeepholeVector", w.forgetgatepeepholevector(), out);
      Add("outputGatePeepholeVector", w.outputgatepeepholevector(), out);
    }
    for (size_t i = first; i < list_.size(); ++i) list_[i].part = part;
  }

  const pb::NeuralNetworkLayer& layer_;
  const WeightSize& size_;
  std::vector<Weights> list_;
};

}  // namespace

std::string Weights::name() const {
  if (layer->has_unidirectionallstm())
    return fmt::format("uniDirectionalLSTM.weightParams.{}", field);
  if (layer->has_bidirectionallstm())
    return fmt::format("biDirectionalLSTM.weightParams[{}].{}", part, field);
  return std::string(field);
}

uint64_t ElementsOf(const PayloadTable& payloads, const google::protobuf::Message& message,
                    int field) {
  const auto* descriptor = message.GetDescriptor()->FindFieldByNumber(field);
  const auto* reflection = message.GetReflection();
  if (const auto blob = payloads.Find(message, field))
    return blob->size() / static_cast<uint64_t>(PayloadElementSize(*descriptor));
  if (descriptor->is_repeated())
    return static_cast<uint64_t>(reflection->FieldSize(message, descriptor));
  std::string scratch;
  return reflection->GetStringReference(message, descriptor, &scratch).size();
}

std::vector<Weights> WeightsOf(const pb::NeuralNetworkLayer& layer, const WeightSize& size) {
  return Collector(layer, size).Run();
}

}  // namespace nn::coreml
