// Staging the files of a model and moving them into place.
#include "convert/place/staged_model.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "support/files.h"

namespace nn::test::staged_model_test {
namespace {

FileImage TwoFiles() {
  const auto blob = [](std::string_view s) { return Blob::Copy(std::as_bytes(std::span(s))); };
  FileImage image;
  image.parts = {blob("mo"), blob("del")};
  image.side_files = {{"weights.bin", {blob("w1"), blob("w2")}}};
  return image;
}

TEST_CASE("staging: all files can be read before any is in its place") {
  const TempDir dir;
  {
    auto staged = StagedModel::Write(TwoFiles(), dir / "m.onnx");
    REQUIRE_MESSAGE(staged.has_value(), staged.error().message());
    CHECK(!Exists(dir / "m.onnx"));
    CHECK(!Exists(dir / "weights.bin"));
    CHECK(ReadText(staged->path()) == "model");
    CHECK(staged->path().ends_with("/m.onnx"));
    CHECK(ReadText(staged->path().substr(0, staged->path().rfind('/')) + "/weights.bin") == "w1w2");
  }
  CHECK(Listing(dir.path()).empty());
  {
    auto staged = StagedModel::Write(TwoFiles(), dir / "m.onnx");
    REQUIRE(staged.has_value());
    REQUIRE(staged->Commit().has_value());
  }
  CHECK(Listing(dir.path()) == "m.onnx\nweights.bin\n");
  CHECK(ReadText(dir / "m.onnx") == "model");
  CHECK(ReadText(dir / "weights.bin") == "w1w2");
}

TEST_CASE("staging: side files need a place beneath the model's folder") {
  const TempDir dir;
  CHECK(StagedModel::Write(TwoFiles(), "-").error().code() == ErrorCode::kUsage);
  for (const char* name : {"../x", "a/../../x", "/x", "a/", "", ".", "..", "m.onnx"}) {
    FileImage image = TwoFiles();
    image.side_files[0].name = name;
    CHECK(!StagedModel::Write(image, dir / "m.onnx").has_value());
  }
  CHECK(Listing(dir.path()).empty());
}

TEST_CASE("staging: side files in folders; those of others are not replaced") {
  const TempDir dir;
  const auto write = [&](const FileImage& image) -> Status {
    auto staged = StagedModel::Write(image, dir / "m.onnx");
    if (!staged) return tl::unexpected(staged.error());
    return staged->Commit();
  };
  FileImage image = TwoFiles();
  image.side_files[0].name = "data/w.bin";
  image.side_files[0].keep_existing = true;
  REQUIRE(write(image).has_value());
  CHECK(ReadText(dir / "data/w.bin") == "w1w2");
  CHECK(write(image).has_value());  // the same bytes
  for (const char* other : {"w1w", "w1w2w", "x1w2", ""}) {
    WriteText(dir / "data/w.bin", other);
    WriteText(dir / "m.onnx", "before");
    CHECK(write(image).error().code() == ErrorCode::kUsage);
    CHECK(ReadText(dir / "data/w.bin") == other);
    CHECK(ReadText(dir / "m.onnx") == "before");
  }
  // A file whose name the model did not choose replaces nothing either; it gets another name.
  image.side_files[0].keep_existing = false;
  WriteText(dir / "data/w.bin", "other");
  REQUIRE(FindTakenName(image, dir / "m.onnx").value() != nullptr);
  CHECK(write(image).error().code() == ErrorCode::kUsage);
  CHECK(ReadText(dir / "data/w.bin") == "other");
  CHECK(ReadText(dir / "m.onnx") == "before");
  image.side_files[0].name = FreeName(image, "data/w.bin");
  CHECK(FindTakenName(image, dir / "m.onnx").value() == nullptr);
  REQUIRE(write(image).has_value());
  CHECK(ReadText(dir / image.side_files[0].name) == "w1w2");
  CHECK(Listing(dir.path()) == "data\nm.onnx\n");
}

TEST_CASE("staging: a model that is a folder") {
  const TempDir dir;
  FileImage image;
  image.is_folder = true;
  const auto file = [](const char* name, std::string_view text) {
    return SideFile{name, {Blob::Copy(std::as_bytes(std::span(text)))}};
  };
  image.side_files = {file("list", "1"), file("data/a", "22"), file("data/deep/b", "333")};
  CHECK(image.size() == 6);
  const auto write = [&](const std::string& target) -> Status {
    auto staged = StagedModel::Write(image, target);
    if (!staged) return tl::unexpected(staged.error());
    CHECK(ReadText(staged->path() + "/data/deep/b") == "333");
    return staged->Commit();
  };
  for (const char* target : {"m.pack", "m.pack/"}) {
    REQUIRE(write(dir / target).has_value());
    CHECK(Listing(dir.path()) == "m.pack\n");
    CHECK(ReadText(dir / "m.pack/data/a") == "22");
    // Files that are no longer part of the model are removed when it is written again.
    WriteText(dir / "m.pack/data/old", "x");
  }
  WriteText(dir / "m.pack/mine", "x");
  CHECK(write(dir / "m.pack").error().code() == ErrorCode::kUsage);
  CHECK(ReadText(dir / "m.pack/mine") == "x");
  WriteText(dir / "file", "x");
  CHECK(write(dir / "file").error().code() == ErrorCode::kUsage);
  CHECK(StagedModel::Write(image, "-").error().code() == ErrorCode::kUsage);
  CHECK(Listing(dir.path()) == "file\nm.pack\n");
}

}  // namespace
}  // namespace nn::test::staged_model_test
