// ML Programs: functions shared by the readers of their messages.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coreml_mil.pb.h"
#include "formats/coreml/file/blob_storage.h"
#include "formats/coreml/file/native.h"

namespace nn::coreml {

namespace mil = pb::mil;

// The programs of a model: its own, or those of the models in a pipeline, in order.
std::vector<const mil::Program*> Programs(const Model& model);

// The name of the function that runs by default. `description`: of the model.
std::string DefaultFunction(const Fields& description);
// What the description of the model says about it; nullopt if nothing, as for a program with one
// function.
std::optional<Fields> DefaultFunctionIn(const Fields& description);
// The names of the functions that a description states; none for a program with one.
std::vector<std::string> FunctionsOf(const Fields& description);

// The first weight file of a program in the model; "" if there is none.
std::string WeightFileOf(const Model& model);

// Calls visit for every value stored in a file, with its operation (nullptr if it belongs to a
// function, block or program).
using BlobVisitor = std::function<void(const mil::Value& value, const mil::Operation* operation)>;
void EachBlobValue(const mil::Program& program, const BlobVisitor& visit);

// The value of an attribute; nullptr if absent.
template <typename Owner>
const mil::Value* FindAttribute(const Owner& owner, std::string_view name) {
  for (const mil::NamedValue& a : owner.attributes())
    if (a.key() == name) return &a.value();
  return nullptr;
}

// The attribute "name"; else that of the first output.
std::string NameOf(const mil::Operation& operation);

// "FLOAT16"; "" if unnamed.
std::string_view TypeName(mil::DataType type);
// Bits per element; 0 for strings and unknown types.
int BitsOf(mil::DataType type);
// Elements of a tensor type; nullopt if sizes are unknown or the product overflows.
std::optional<uint64_t> ElementsOf(const mil::TensorType& type);

// Opens the weight files of programs, each once.
class ProgramWeights {
 public:
  // Must outlive this object.
  explicit ProgramWeights(const ModelFolder& folder) : folder_(folder) {}

  // The entry that a value in a file refers to.
  Result<BlobEntry> Find(const mil::Value& value);
  // The opened files, by their names in the programs.
  const std::map<std::string, Result<BlobStorage>>& files() const { return files_; }

 private:
  const Result<BlobStorage>& Open(const std::string& name);

  const ModelFolder& folder_;
  std::map<std::string, Result<BlobStorage>> files_;
};

// Reads the files below `directory` that the model's programs name. Ignores missing files and names
// outside the directory. kLimit beyond max-file-bytes.
Status ReadWeightFiles(const std::filesystem::path& directory, const ReadLimits& limits,
                       Model& model);

}  // namespace nn::coreml
