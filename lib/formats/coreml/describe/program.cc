#include "formats/coreml/describe/program.h"

#include <charconv>
#include <set>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "coreml_model.pb.h"
#include "formats/common/edit/side_files.h"
#include "formats/recognize.h"

namespace nn::coreml {
namespace {

void AddPrograms(const pb::Model& model, std::vector<const mil::Program*>& out) {
  const auto inner = [&](const pb::Pipeline& pipeline) {
    for (const pb::Model& m : pipeline.models()) AddPrograms(m, out);
  };
  switch (model.Type_case()) {
    case pb::Model::kMlProgram:
      out.push_back(&model.mlprogram());
      break;
    case pb::Model::kPipeline:
      inner(model.pipeline());
      break;
    case pb::Model::kPipelineClassifier:
      inner(model.pipelineclassifier().pipeline());
      break;
    case pb::Model::kPipelineRegressor:
      inner(model.pipelineregressor().pipeline());
      break;
    default:
      break;
  }
}

class BlobWalk {
 public:
  explicit BlobWalk(const BlobVisitor& visit) : visit_(visit) {}

  template <typename Owner>
  void Attributes(const Owner& owner, const mil::Operation* operation) {
    for (const mil::NamedValue& a : owner.attributes()) Value(a.value(), operation);
  }

  void Block(const mil::Block& block) {
    Attributes(block, nullptr);
    for (const mil::Operation& operation : block.operations()) {
      Attributes(operation, &operation);
      for (const auto& input : operation.inputs())
        for (const auto& binding : input.value().arguments())
          if (binding.has_value()) Value(binding.value(), &operation);
      for (const mil::Block& inner : operation.blocks()) Block(inner);
    }
  }

 private:
  void Value(const mil::Value& value, const mil::Operation* operation) {
    if (value.has_blobfilevalue()) return visit_(value, operation);
    const auto& immediate = value.immediatevalue();
    for (const mil::Value& v : immediate.tuple().values()) Value(v, operation);
    for (const mil::Value& v : immediate.list().values()) Value(v, operation);
    for (const auto& pair : immediate.dictionary().values()) {
      Value(pair.key(), operation);
      Value(pair.value(), operation);
    }
  }

  const BlobVisitor& visit_;
};

}  // namespace

std::vector<const mil::Program*> Programs(const Model& model) {
  std::vector<const mil::Program*> out;
  AddPrograms(*model.proto, out);
  return out;
}

void EachBlobValue(const mil::Program& program, const BlobVisitor& visit) {
  BlobWalk walk(visit);
  walk.Attributes(program, nullptr);
  for (const auto& function : program.functions()) {
    walk.Attributes(function.value(), nullptr);
    for (const auto& s : function.value().block_specializations()) walk.Block(s.value());
  }
}

std::string DefaultFunction(const Fields& description) {
  return description.Has("functions") ? description.Text("defaultFunctionName") : "main";
}

std::optional<Fields> DefaultFunctionIn(const Fields& description) {
  const std::string name = DefaultFunction(description);
  for (const Fields& function : description.List("functions"))
    if (function.Text("name") == name) return function;
  return std::nullopt;
}

std::vector<std::string> FunctionsOf(const Fields& description) {
  std::vector<std::string> names;
  for (const Fields& function : description.List("functions"))
    names.push_back(function.Text("name"));
  return names;
}

std::string WeightFileOf(const Model& model) {
  std::string out;
  for (const mil::Program* program : Programs(model))
    EachBlobValue(*program, [&](const mil::Value& value, const mil::Operation*) {
      if (out.empty()) out = value.blobfilevalue().filename();
    });
  return out;
}

std::string NameOf(const mil::Operation& operation) {
  if (const mil::Value* name = FindAttribute(operation, "name"))
    if (const auto& strings = name->immediatevalue().tensor().strings(); strings.values_size() > 0)
      return strings.values(0);
  return operation.outputs_size() > 0 ? operation.outputs(0).name() : std::string();
}

std::string_view TypeName(mil::DataType type) {
  const auto* value = mil::DataType_descriptor()->FindValueByNumber(type);
  return value == nullptr ? std::string_view() : std::string_view(value->name());
}

int BitsOf(mil::DataType type) {
  if (type == mil::BOOL) return 8;
  const std::string_view name = TypeName(type);
  const size_t digit = name.find_first_of("0123456789");
  int bits = 0;
  if (digit != std::string_view::npos)
    std::from_chars(name.data() + digit, name.data() + name.size(), bits);
  return bits;
}

std::optional<uint64_t> ElementsOf(const mil::TensorType& type) {
  if (type.rank() < 0) return std::nullopt;
  uint64_t elements = 1;
  for (const mil::Dimension& d : type.dimensions()) {
    const auto product = CheckedMul(elements, d.constant().size());
    if (!d.has_constant() || !product) return std::nullopt;
    elements = *product;
  }
  return elements;
}

Result<BlobEntry> ProgramWeights::Find(const mil::Value& value) {
  const auto& reference = value.blobfilevalue();
  const auto& storage = Open(reference.filename());
  if (!storage) return tl::unexpected(storage.error());
  auto entry = storage->At(reference.offset());
  if (!entry) return tl::unexpected(entry.error().In(Quote(reference.filename())));
  return entry;
}

const Result<BlobStorage>& ProgramWeights::Open(const std::string& name) {
  if (const auto it = files_.find(name); it != files_.end()) return it->second;
  const auto open = [&]() -> Result<BlobStorage> {
    if (!folder_.Resolve(name))
      return ModelError("{} is not a path below the model's folder (@model_path/...)", Quote(name));
    const Blob* file = folder_.Find(name);
    if (file == nullptr) return ModelError("{} does not exist", Quote(name));
    if (const auto what = KnownNonModel(file->bytes()); !what.empty())
      return ModelError("{} is {}", Quote(name), what);
    auto storage = BlobStorage::Open(*file);
    if (!storage) return tl::unexpected(storage.error().In(Quote(name)));
    return storage;
  };
  return files_.emplace(name, open()).first->second;
}

Status ReadWeightFiles(const std::filesystem::path& directory, const ReadLimits& limits,
                       Model& model) {
  model.files = SideFiles(directory, limits.max_file_bytes, model.file.size());
  std::set<std::string> tried;
  Status status;
  for (const mil::Program* program : Programs(model))
    EachBlobValue(*program, [&](const mil::Value& value, const mil::Operation*) {
      const auto path = model.folder.Resolve(value.blobfilevalue().filename());
      if (!path || !tried.insert(*path).second) return;
      auto file = model.files.Read(*path);
      if (file)
        model.folder.files.emplace(*path, *std::move(file));
      else if (file.error().code() == ErrorCode::kLimit)
        status = tl::unexpected(file.error());
    });
  return status;
}

}  // namespace nn::coreml
