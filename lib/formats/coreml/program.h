// ML Programs: what is common to the readers of their messages.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coreml_mil.pb.h"
#include "formats/coreml/blob_storage.h"
#include "formats/coreml/native.h"

namespace nn::coreml {

namespace mil = pb::mil;

// The programs of a model: its own, or those of the models in a pipeline, in order.
std::vector<const mil::Program*> Programs(const Model& model);

// The first file that a program of the model keeps weights in; "" if there is none.
std::string WeightFileOf(const Model& model);

// Calls visit for every value that lies in a file, with the operation that has it (nullptr where a
// function, block or program has it).
using BlobVisitor = std::function<void(const mil::Value& value, const mil::Operation* operation)>;
void EachBlobValue(const mil::Program& program, const BlobVisitor& visit);

// The value in an attribute; nullptr if there is none of the name.
template <typename Owner>
const mil::Value* FindAttribute(const Owner& owner, std::string_view name) {
  for (const mil::NamedValue& a : owner.attributes())
    if (a.key() == name) return &a.value();
  return nullptr;
}

// The attribute "name"; else that of the first output.
std::string NameOf(const mil::Operation& operation);

// "FLOAT16"; "" for a number that has no name.
std::string_view TypeName(mil::DataType type);
// Bits of an element; 0 for strings and what is unknown.
int BitsOf(mil::DataType type);
// Elements of a tensor type; nullopt where sizes are unknown, or too many to count.
std::optional<uint64_t> ElementsOf(const mil::TensorType& type);

// Opens the files that programs keep their weights in, each once.
class ProgramWeights {
 public:
  // Outlives this.
  explicit ProgramWeights(const ModelFolder& folder) : folder_(folder) {}

  // The entry that a value in a file refers to.
  Result<BlobEntry> Find(const mil::Value& value);
  // Those that could be opened, by the names that the programs use.
  const std::map<std::string, Result<BlobStorage>>& files() const { return files_; }

 private:
  const Result<BlobStorage>& Open(const std::string& name);

  const ModelFolder& folder_;
  std::map<std::string, Result<BlobStorage>> files_;
};

// Puts the files below `directory` that the model's programs name into its folder. Files that are
// not there, names that leave the directory, and names beyond the first thousand are passed over.
// kLimit beyond max-file-bytes.
Status ReadWeightFiles(const std::filesystem::path& directory, const ReadLimits& limits,
                       Model& model);

}  // namespace nn::coreml
