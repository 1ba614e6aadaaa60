// Files that tests make for themselves.
#pragma once

#include <string>
#include <string_view>

#include "formats/format.h"

namespace nn::test {

// A folder that is removed, with all that is in it, at the end of the test.
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

// Whole files, as they are. A failed REQUIRE if there is none.
std::string ReadText(const std::string& path);
void WriteText(const std::string& path, std::string_view text);
bool Exists(const std::string& path);
// The names in a folder, sorted, one a line.
std::string Listing(const std::string& directory);

// The model in a file; a failed REQUIRE if it cannot be read.
ReadModel ReadOrFail(const std::string& path);

// Writes the graph (text form) as a model of the format that the path's extension tells.
void WriteModel(const std::string& path, std::string_view graph, const ExportOptions& options = {});

// Replaces every occurrence of `from` in a file by `to`, which is as long.
void Patch(const std::string& path, std::string_view from, std::string_view to);

}  // namespace nn::test
