// Files that tests create.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "formats/format.h"

namespace nn::test {

// A folder that is removed, with its contents, at the end of the test.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

// The contents of a file. A failed REQUIRE if it does not exist.
std::string ReadText(const std::string& path);
void WriteText(const std::string& path, std::string_view text);
// Files with these names below a folder; a name that ends in "/" is an empty folder.
void WriteFolder(const std::string& path, const std::map<std::string, std::string>& files);
bool Exists(const std::string& path);
// The names in a folder, sorted, one per line.
std::string Listing(const std::string& directory);

// The model in a file; a failed REQUIRE if it cannot be read.
ReadModel ReadOrFail(const std::string& path);

// The graph of an ONNX model in text form, or the reason why it is refused.
Result<Graph> ImportText(const std::string& textproto);

// Writes the graph (text form) as a model of the format given by the path's extension.
void WriteModel(const std::string& path, std::string_view graph, const ExportOptions& options = {});

// Replaces every occurrence of `from` in a file by `to`, which has the same length.
void Patch(const std::string& path, std::string_view from, std::string_view to);

}  // namespace nn::test
