// Parts of the programs that no model of one format alone can bring out.
#include <doctest/doctest.h>

#include "apps/common/table.h"
#include "apps/nnconvert/options.h"
#include "apps/nnconvert/report.h"
#include "apps/nnconvert/staging.h"
#include "apps/nnconvert/support.h"
#include "apps/program.h"
#include "base/file.h"
#include "passes/interface_axes.h"
#include "support/files.h"
#include "support/run_graph.h"

namespace nn::test {
namespace {

using app::Align;
using app::ConvertOptions;
using app::StagedModel;
using app::Table;
using app::Verification;

TEST_CASE("tables: columns are aligned by characters, empty ones left out") {
  Table t({{"name"}, {"empty"}, {"count", Align::kRight}, {""}});
  t.Add({"a", "", "1", "x"});
  t.Add({"n\xC3\xA9\xC3\xA9n", "", "1000", ""});
  CHECK(t.Text(1) ==
        " name  count\n"
        " a         1  x\n"
        " n\xC3\xA9\xC3\xA9n   1000\n");
  CHECK(Table({{"a"}, {"b"}}).Text() == "a  b\n");
}

// y = x * factor over f32[4] or another type.
Graph Scale(const std::string& factor, const std::string& type = "f32[4]") {
  return Parse("graph { in %x: " + type + "  const %k: " + type + " = splat(" + factor +
               ")  %y = mul(%x, %k)  out \"y\" = %y }");
}

Verification Verify(const Graph& a, const Graph& b, const ConvertOptions& options = {}) {
  auto v = app::VerifyConversion(
      a.Clone(), [&] { return Result<Graph>(b.Clone()); }, IdentityInterface(a), options);
  REQUIRE_MESSAGE(v.has_value(), v.error().message());
  return *std::move(v);
}

TEST_CASE("verification: the largest drift of all runs decides") {
  const Verification same = Verify(Scale("2"), Scale("2"));
  CHECK(same.passed);
  CHECK(same.seeds == std::vector<uint64_t>{0, 1, 2});
  REQUIRE(same.outputs.size() == 1);
  CHECK(same.outputs[0].worst.identical);
  CHECK(same.outputs[0].where == "bit-identical");

  const Verification off = Verify(Scale("2"), Scale("2.5"));
  CHECK(!off.passed);
  CHECK(off.outputs[0].relative == doctest::Approx(0.25));
  CHECK(off.outputs[0].worst.outside > 0);
  ConvertOptions wide;
  wide.rtol = 0.26;
  CHECK(Verify(Scale("2"), Scale("2.5"), wide).passed);

  // A drift in one run is not forgotten in the next.
  ConvertOptions many;
  many.verify_runs = 20;
  double largest = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ConvertOptions one;
    one.seed = seed;
    one.verify_runs = 1;
    largest =
        std::max(largest, Verify(Scale("2"), Scale("2.5"), one).outputs[0].worst.max_absolute);
  }
  CHECK(Verify(Scale("2"), Scale("2.5"), many).outputs[0].worst.max_absolute == largest);
}

TEST_CASE("verification: outputs of another shape, interface of another size") {
  const Graph longer = Parse(
      "graph { in %x: f32[4]  %y = reshape(%x) {dims = [2, 2]}  "
      "out \"y\" = %y }");
  const Verification v =
      Verify(Parse("graph { in %x: f32[4]  %y = relu(%x)  out \"y\" = %y }"), longer);
  CHECK(!v.passed);
  CHECK(v.outputs[0].worst.mismatch == "f32[2, 2], expected f32[4]");
  const Graph two = Parse(TwoOutputsModel());
  const auto wrong = app::VerifyConversion(Scale("2"), [&] { return Result<Graph>(two.Clone()); },
                                           IdentityInterface(two), {});
  REQUIRE(!wrong.has_value());
  CHECK(wrong.error().message() ==
        "the model has 1 inputs and 1 outputs, but the written model has 2 inputs and 2 outputs");
}

TEST_CASE("verification: interfaces of other number types are compared by value") {
  const auto identity = [](const std::string& type) {
    return Parse("graph { in %x: " + type + "  %y = reshape(%x) {dims = [4]}  out \"y\" = %y }");
  };
  const Verification v = Verify(identity("i64[4]"), identity("i32[4]"));
  CHECK(v.passed);
  CHECK(v.outputs[0].type == "i64 -> i32");
  CHECK(Verify(identity("i32[4]"), identity("f32[4]")).passed);
}

TEST_CASE("verification: quantized outputs may be one step apart, others not") {
  const auto shifted = [](const std::string& type, int by) {
    return Parse(fmt::format("graph {{ in %x: f32[2]  const %y: {} = [10, {}]  out \"y\" = %y }}",
                             type, 20 + by));
  };
  const std::string quantized = "u8[2]{scale=0.5, zp=3}";
  CHECK(Verify(shifted(quantized, 0), shifted(quantized, 1)).passed);
  CHECK(!Verify(shifted(quantized, 0), shifted(quantized, 2)).passed);
  CHECK(!Verify(shifted("u8[2]", 0), shifted("u8[2]", 1)).passed);
}

TEST_CASE("conversion report: a refuted conversion says that nothing was written") {
  app::ConvertReport report;
  report.input = "a";
  report.input_format = report.output_format = "ONNX";
  report.output = "b";
  report.verification = Verify(Scale("2"), Scale("2.5"));
  const std::string text = app::ConvertText(report);
  CHECK(Contains(text, "refuted by 3 runs"));
  CHECK(Contains(text, "no file was written\n"));
  const Json json = app::ConvertJson(report);
  CHECK(json["written"] == false);
  CHECK(json["verification"]["passed"] == false);
  CHECK(json["verification"]["outputs"][0]["agrees"] == false);
}

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
  // Nor is anything replaced by a file whose name the model did not choose; it takes another name.
  image.side_files[0].keep_existing = false;
  WriteText(dir / "data/w.bin", "other");
  REQUIRE(app::FindTakenName(image, dir / "m.onnx").value() != nullptr);
  CHECK(write(image).error().code() == ErrorCode::kUsage);
  CHECK(ReadText(dir / "data/w.bin") == "other");
  CHECK(ReadText(dir / "m.onnx") == "before");
  image.side_files[0].name = app::FreeName(image, "data/w.bin");
  CHECK(app::FindTakenName(image, dir / "m.onnx").value() == nullptr);
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
    // Files that the model does not have any more are gone when it is written again.
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

TEST_CASE("support: SUPPORT.md is what the tables say") {
  const std::string text = app::SupportMarkdown();
  CHECK(text.find("| conv | convolution over 1 to 3 spatial axes") != std::string::npos);
  for (const Format& f : Formats()) {
    CHECK(text.find("### " + std::string(f.label) + " operators") != std::string::npos);
    const auto operators = f.operators();
    CHECK(std::any_of(operators.begin(), operators.end(),
                      [](const OperatorSupport& op) { return op.imported; }));
  }
  CHECK_MESSAGE(ReadText(std::string(NN_SOURCE_DIR) + "/SUPPORT.md") == text,
                "run scripts/update-support");
}

}  // namespace
}  // namespace nn::test
