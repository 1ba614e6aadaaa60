// The results of earlier conversions of a folder: the file .nnconvert.json in the output folder
// (schemas/nnconvert-state.schema.json).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/model_files.h"
#include "base/json/json.h"
#include "base/status.h"

namespace nn {

// A model that was converted or copied.
struct ConvertedModel {
  std::string format;  // label of the source's
  std::vector<FileDigest> source;
  std::vector<FileDigest> written;
};

class FolderState {
 public:
  static constexpr std::string_view kName = ".nnconvert.json";

  // The state in the folder `output`, if it is of this version of the program and of equal
  // `options`; else an empty one, as for an empty path. `warn` is told of a file that is not a
  // state.
  static FolderState Read(const std::string& output, Json options,
                          const std::function<void(const std::string&)>& warn);

  // By name in the folder of the models; nullptr if there is none.
  const ConvertedModel* Find(const std::string& name) const;
  void Set(const std::string& name, ConvertedModel model) { models_[name] = std::move(model); }
  void Erase(const std::string& name) { models_.erase(name); }
  // Keeps the models with these names.
  void Keep(const std::function<bool(const std::string& name)>& is_kept);

  Status Write() const;

 private:
  std::string path_;
  Json options_;
  std::map<std::string, ConvertedModel> models_;
};

}  // namespace nn
