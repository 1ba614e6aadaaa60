#include "support/files.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/file/file.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test {

namespace fs = std::filesystem;

TempDir::TempDir() {
  path_ = (fs::temp_directory_path() / "nntest.XXXXXX").string();
  REQUIRE(mkdtemp(path_.data()) != nullptr);
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

ReadModel ReadOrFail(const std::string& path) {
  auto read = ReadModelFile(path);
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  return *std::move(read);
}

void WriteText(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  REQUIRE_MESSAGE(out.good(), path);
}

void WriteFolder(const std::string& path, const std::map<std::string, std::string>& files) {
  for (const auto& [name, bytes] : files) {
    const fs::path target = fs::path(path) / name;
    fs::create_directories(target.parent_path());
    if (!name.ends_with('/')) WriteText(target.string(), bytes);
  }
}

bool Exists(const std::string& path) {
  return fs::exists(path);
}

std::string Listing(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  std::string out;
  for (const std::string& name : names) out += name + "\n";
  return out;
}

Result<Graph> ImportText(const std::string& textproto) {
  const TempDir dir;
  WriteText(dir / "m.textproto", textproto);
  NN_ASSIGN(const ReadModel read, ReadModelFile(dir / "m.textproto"));
  NN_ASSIGN(auto imported, read.format->importer.Import(*read.model));
  if (!imported.unsupported.empty())
    return UnsupportedError("{}", imported.unsupported.front().reason);
  return std::move(imported.graph);
}

void WriteModel(const std::string& path, std::string_view text, const ExportOptions& options) {
  Graph graph = Parse(text);
  const Format* format = FormatOfPath(path);
  REQUIRE(format != nullptr);
  InterfaceAxes axes;
  const auto unsupported = Legalize(graph, *format->target, &axes);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  REQUIRE(unsupported->empty());
  ExportOptions with_path = options;
  with_path.path = path;
  const auto image = format->writer.Write(graph, with_path);
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  REQUIRE(image->side_files.empty());
  REQUIRE(WriteFile(path, image->parts).has_value());
}

void Patch(const std::string& path, std::string_view from, std::string_view to) {
  REQUIRE(from.size() == to.size());
  std::string text = ReadText(path);
  size_t count = 0;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
    text.replace(at, from.size(), to);
    ++count;
  }
  REQUIRE(count > 0);
  WriteText(path, text);
}

}  // namespace nn::test
