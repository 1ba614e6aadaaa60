#pragma once

#include <doctest/doctest.h>
#include <nnsuite/error.h>
#include <nnsuite/model.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "support/paths.h"

namespace nnsuite::test {

using nn::test::BinDir;
using nn::test::LibraryFile;
using nn::test::SourcePath;

inline std::string Golden(const std::string& name) {
  return SourcePath("golden/") + name;
}

// An empty folder, removed at the end.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// The value of a Result; the test case ends if there is none.
template <typename T>
T Take(Result<T> result) {
  REQUIRE_MESSAGE(result.has_value(), (result ? std::string() : result.error().message()));
  return *std::move(result);
}

// The ONNX model of a text in the form of protobuf.
inline Model ModelOf(std::string_view text) {
  return Take(Model::FromBytes(std::as_bytes(std::span(text)), "m.textproto"));
}

}  // namespace nnsuite::test
