#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <map>

#include "formats/coreml/describe/program.h"
#include "formats/coreml/describe/summary.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/file/weights.h"
#include "formats/coreml/roles.h"

namespace nn::coreml {
namespace {

using google::protobuf::FieldDescriptor;

// Weights with per-channel scales are read as rows, one per channel.
Result<Tensor> ReadFlat(const Fields& weights) {
  const auto count = static_cast<int64_t>(WeightCount(weights));
  const auto scales =
      static_cast<int64_t>(weights.Sub("quantization").Sub("linearQuantization").Count("scale"));
  if (scales <= 1 || count % scales != 0) return ReadWeights(weights, {count});
  NN_ASSIGN(const Tensor rows, ReadWeights(weights, {scales, count / scales}));
  return rows.Reshaped({count});
}

Result<StoredQuantization> ReadQuantization(const Fields& weights) {
  const Fields quantization = weights.Sub("quantization");
  const Fields kind = quantization.Sub(quantization.OneOf("QuantizationType"));
  StoredQuantization out;
  if (quantization.OneOf("QuantizationType") == "lookupTableQuantization") {
    out.table = kind.Floats("floatValue");
    return out;
  }
  out.scales = kind.Floats("scale");
  out.biases = kind.Floats("bias");
  // Weights have no shape; scales are those of the rows.
  if (out.scales.size() > 1) out.axis = 0;
  return out;
}

DType DTypeOf(std::string_view mil_type) {
  constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"FLOAT16", DType::kF16},   {"FLOAT32", DType::kF32}, {"FLOAT64", DType::kF64},
      {"BFLOAT16", DType::kBF16}, {"INT8", DType::kI8},     {"INT16", DType::kI16},
      {"INT32", DType::kI32},     {"INT64", DType::kI64},   {"INT4", DType::kI4},
      {"UINT8", DType::kU8},      {"UINT16", DType::kU16},  {"UINT32", DType::kU32},
      {"UINT64", DType::kU64},    {"UINT4", DType::kU4},    {"UINT2", DType::kU2},
      {"BOOL", DType::kBool},
  };
  for (const auto& [name, dtype] : kTypes)
    if (name == mil_type) return dtype;
  return DType::kUnknown;
}

// Walks networks, programs and pipelines in the order of Summarizer, so that operators get the same
// indices. Weights of networks have no shape, only a count. Of programs, only weights in files are
// listed.
class TensorLister {
 public:
  explicit TensorLister(const Model& model) : model_(model), weights_(model.folder) {}

  std::vector<TensorEntry> Run() {
    AddModel(model_.root(), "");
    return std::move(out_);
  }

 private:
  void AddModel(const Fields& model, const std::string& scope) {
    const std::string_view kind = model.OneOf("Type");
    if (kind.starts_with("neuralNetwork"))
      AddNetwork(model.Sub(kind), scope);
    else if (kind == "mlProgram")
      AddProgram(static_cast<const mil::Program&>(model.Sub(kind).message()),
                 DefaultFunction(model.Sub("description")), scope);
    else if (kind == "pipeline")
      AddStages(model.Sub(kind), scope);
    else if (kind.starts_with("pipeline"))
      AddStages(model.Sub(kind).Sub("pipeline"), scope);
  }

  void AddStages(const Fields& pipeline, const std::string& scope) {
    const auto names = pipeline.Texts("names");
    const auto models = pipeline.List("models");
    for (size_t i = 0; i < models.size(); ++i) {
      ++operators_;
      AddModel(models[i], InnerScope(scope, StageName(names, i)));
    }
  }

  void AddProgram(const mil::Program& program, const std::string& main, const std::string& scope) {
    for (const auto& entry : program.functions()) {
      const std::string inner = entry.key() == main ? scope : InnerScope(scope, entry.key());
      for (const auto& s : entry.value().block_specializations())
        AddBlock(s.value(),
                 s.key() == entry.value().opset() ? inner : InnerScope(inner, "@" + s.key()));
    }
  }

  void AddBlock(const mil::Block& block, const std::string& scope) {
    for (const mil::Operation& op : block.operations()) {
      const size_t number = operators_++;
      for (const mil::NamedValue& a : op.attributes())
        AddValue(a.value(), op, a.key(), scope, number);
      for (const auto& input : op.inputs())
        for (const auto& binding : input.value().arguments())
          if (binding.has_value()) AddValue(binding.value(), op, input.key(), scope, number);
      for (int i = 0; i < op.blocks_size(); ++i)
        AddBlock(op.blocks(i), InnerScope(scope, fmt::format("{}.{}", NameOf(op), i)));
    }
  }

  void AddValue(const mil::Value& value, const mil::Operation& op, const std::string& key,
                const std::string& scope, size_t number) {
    if (!value.has_blobfilevalue()) return;
    const auto& reference = value.blobfilevalue();
    const auto [known, added] =
        blobs_.emplace(std::pair(reference.filename(), reference.offset()), out_.size());
    if (!added) {
      TensorEntry& shared = out_[known->second];
      if (shared.users.back() != number) shared.users.push_back(number);
      shared.is_attribute = false;
      return;
    }
    const auto& type = value.type().tensortype();
    TensorEntry e;
    e.name = op.type() == "const" ? NameOf(op) : NameOf(op) + "." + key;
    e.scope = scope;
    e.type = TypeName(type.datatype());
    for (const auto& d : type.dimensions())
      e.shape.push_back(d.has_constant() ? static_cast<int64_t>(d.constant().size()) : -1);
    e.external = true;
    e.location = fmt::format("{} at {}", reference.filename(), reference.offset());
    e.users = {number};
    e.is_attribute = op.type() != "const";
    const auto entry = weights_.Find(value);
    if (entry) e.bytes = entry->data.size();
    e.read = [entry, shape = e.shape]() -> Result<Tensor> {
      if (!entry) return tl::unexpected(entry.error());
      return Tensor::Make(DTypeOf(entry->type), shape, entry->data);
    };
    out_.push_back(std::move(e));
  }

  void AddNetwork(const Fields& network, const std::string& scope) {
    for (const Fields& layer : network.List("layers")) AddLayer(layer, scope);
  }

  void AddLayer(const Fields& layer, const std::string& scope) {
    const size_t number = operators_++;
    const std::string kind = KindOf(layer), name = layer.Text("name");
    if (const std::string_view field = layer.OneOf("layer"); !field.empty())
      AddParams(layer.Sub(field), name + ".", scope, number);
    const std::string inner = InnerScope(scope, name) + ".";
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
    if (!weights.Sub("quantization").OneOf("QuantizationType").empty())
      e.quantization = [weights] { return ReadQuantization(weights); };
    out_.push_back(std::move(e));
  }

  const Model& model_;
  ProgramWeights weights_;
  std::map<std::pair<std::string, uint64_t>, size_t> blobs_;  // places in out_
  size_t operators_ = 0;
  std::vector<TensorEntry> out_;
};

}  // namespace

Result<std::vector<TensorEntry>> CoremlDescriber::TensorsOf(const NativeModel& native) const {
  return TensorLister(ModelOf(native)).Run();
}

}  // namespace nn::coreml
