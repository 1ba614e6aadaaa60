#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include "formats/coreml/native.h"
#include "formats/coreml/weights.h"

namespace nn::coreml {
namespace {

using google::protobuf::FieldDescriptor;

// Quantised with a scale for each channel, weights are read as rows, one a channel.
Result<Tensor> ReadFlat(const Fields& weights) {
  const auto count = static_cast<int64_t>(WeightCount(weights));
  const auto scales =
      static_cast<int64_t>(weights.Sub("quantization").Sub("linearQuantization").Count("scale"));
  if (scales <= 1 || count % scales != 0) return ReadWeights(weights, {count});
  NN_ASSIGN(const Tensor rows, ReadWeights(weights, {scales, count / scales}));
  return rows.Reshaped({count});
}

// Goes through the networks as Summarizer does, so that layers get the same numbers. Weights have
// no shape of their own: it is their number.
class TensorLister {
 public:
  std::vector<TensorEntry> Run(const Model& model) {
    if (model.has_network()) AddNetwork(model.network(), "");
    return std::move(out_);
  }

 private:
  void AddNetwork(const Fields& network, const std::string& scope) {
    for (const Fields& layer : network.List("layers")) AddLayer(layer, scope);
  }

  void AddLayer(const Fields& layer, const std::string& scope) {
    const size_t number = operators_++;
    const std::string kind = KindOf(layer), name = layer.Text("name");
    if (const std::string_view field = layer.OneOf("layer"); !field.empty())
      AddParams(layer.Sub(field), name + ".", scope, number);
    const std::string inner = (scope.empty() ? "" : scope + "/") + name + ".";
    if (kind == "branch")
      for (const char* part : {"ifBranch", "elseBranch"})
        AddNetwork(layer.Sub("branch").Sub(part), inner + part);
    if (kind == "loop")
      for (const char* part : {"conditionNetwork", "bodyNetwork"})
        AddNetwork(layer.Sub("loop").Sub(part), inner + part);
  }

  void AddParams(const Fields& params, const std::string& prefix, const std::string& scope,
                 size_t number) {
    const Message& m = params.message();
    std::vector<const FieldDescriptor*> fields;
    m.GetReflection()->ListFields(m, &fields);
    for (const FieldDescriptor* f : fields) {
      if (f->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      const std::string& type = f->message_type()->name();
      if (type == "NeuralNetwork") continue;
      std::vector<Fields> parts;
      if (f->is_repeated())
        parts = params.List(f->name());
      else
        parts.push_back(params.Sub(f->name()));
      for (size_t i = 0; i < parts.size(); ++i) {
        const std::string name =
            prefix + (f->is_repeated() ? fmt::format("{}[{}]", f->name(), i) : f->name());
        if (type == "WeightParams")
          AddWeights(parts[i], name, scope, number);
        else
          AddParams(parts[i], name + ".", scope, number);
      }
    }
  }

  void AddWeights(const Fields& weights, const std::string& name, const std::string& scope,
                  size_t number) {
    TensorEntry e;
    e.name = name;
    e.scope = scope;
    e.type = WeightForm(weights);
    e.shape = {static_cast<int64_t>(WeightCount(weights))};
    e.bytes = WeightBytes(weights);
    e.users = {number};
    e.is_attribute = true;
    e.read = [weights] { return ReadFlat(weights); };
    out_.push_back(std::move(e));
  }

  size_t operators_ = 0;
  std::vector<TensorEntry> out_;
};

}  // namespace

Result<std::vector<TensorEntry>> Tensors(const NativeModel& native) {
  return TensorLister().Run(static_cast<const Model&>(native));
}

}  // namespace nn::coreml
