#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "passes/facts/input_domains.h"
#include "support/run_graph.h"

namespace nn::test::image_test {
namespace {

// 2 x 1 pixels.
constexpr std::string_view kPpm = "P6 2 1 255\n\x01\x02\x03\xc8\x64\x32";

Tensor FileTensor(std::string_view bytes) {
  auto b = TensorBuilder::Create(DType::kU8, {static_cast<int64_t>(bytes.size())});
  REQUIRE(b.has_value());
  for (size_t i = 0; i < bytes.size(); ++i) b->As<uint8_t>()[i] = static_cast<uint8_t>(bytes[i]);
  return b->Finish();
}

Tensor DecodeWith(std::string_view format) {
  const std::string call = fmt::format("image_decode(%x) {{pixel_format = {}}}", format);
  return RunEverywhere(Parse(OneOp(fmt::format("u8[{}]", kPpm.size()), call)),
                       {FileTensor(kPpm)})[0];
}

Error RunError(std::string_view file, uint64_t max_memory = 0, std::string_view attrs = "") {
  ProgramOptions options;
  options.limits.max_memory = max_memory;
  auto program = Program::Compile(Parse(OneOp(fmt::format("u8[{}]", file.size()),
                                              fmt::format("image_decode(%x) {}", Braced(attrs)))),
                                  options);
  REQUIRE_MESSAGE(program.has_value(), program.error().message());
  const auto y = program->Run(std::vector<Tensor>{FileTensor(file)});
  REQUIRE(!y.has_value());
  return y.error();
}

TEST_CASE("image_decode: pixel formats") {
  const Tensor rgb = DecodeWith("rgb");
  CHECK(rgb.dims() == std::vector<int64_t>{1, 2, 3});
  CHECK(rgb.ToInts() == std::vector<int64_t>{1, 2, 3, 200, 100, 50});
  CHECK(DecodeWith("bgr").ToInts() == std::vector<int64_t>{3, 2, 1, 50, 100, 200});
  const Tensor gray = DecodeWith("grayscale");
  CHECK(gray.dims() == std::vector<int64_t>{1, 2, 1});
  CHECK(gray.ToInts() == std::vector<int64_t>{2, 124});  // 1.815; 124.2
}

TEST_CASE("image_decode: the size of a constant image is inferred") {
  std::string bytes;
  for (const char c : kPpm)
    bytes +=
        fmt::format("{}{}", bytes.empty() ? "" : ", ", static_cast<int>(static_cast<uint8_t>(c)));
  const Graph g = Parse(
      fmt::format("graph {{\n const %x: u8[{}] = [{}]\n %y = image_decode(%x)\n out \"y\" = %y\n}}",
                  kPpm.size(), bytes));
  CHECK(g.outputs()[0].value->type().ToString() == "u8[1, 2, 3]");
}

TEST_CASE("image_decode: types") {
  CHECK(Fails(OneOp("f32[9]", "image_decode(%x)"), "the image is f32[9]; must be u8"));
  CHECK(Fails(OneOp("u8[9]{scale=0.5}", "image_decode(%x)"), "must be u8"));
  CHECK(Fails(OneOp("u8[3, 3]", "image_decode(%x)"), "must be a vector"));
}

TEST_CASE("image_decode: errors of runs") {
  CHECK(RunError("no image").message().find("the 8 bytes are not an image") != std::string::npos);
  CHECK(RunError(kPpm.substr(0, 15)).message().find("PNM image: the file is truncated") !=
        std::string::npos);
  // An image that would take 48 MiB, in a file of 62 bytes.
  std::string bmp = "BM";
  bmp.resize(62);
  bmp[10] = 58;
  bmp[14] = 40;
  bmp[19] = 16;  // 4096 columns
  bmp[23] = 16;  // 4096 rows
  bmp[28] = 8;
  bmp[30] = 1;  // run lengths
  bmp[46] = 1;  // color
  CHECK(RunError(bmp, uint64_t{1} << 20).code() == ErrorCode::kLimit);
  // Gray is computed from colors.
  CHECK(RunError(bmp, uint64_t{20} << 20, "pixel_format = grayscale").code() == ErrorCode::kLimit);
}

TEST_CASE("image_decode: generated inputs are images") {
  for (const int n : {34, 35, 100, 5000}) {
    CAPTURE(n);
    const Graph g = Parse(OneOp(fmt::format("u8[{}]", n), "image_decode(%x)"));
    const std::vector<Domain> domains = InputDomains(g);
    REQUIRE(domains[0].contents.has_value());
    const auto x = SeededInput("x", g.inputs()[0].value->type(), 0, 1, domains[0]);
    REQUIRE(x.has_value());
    CHECK(RunEverywhere(g, {*x})[0].dims()[1] == std::min((n - 24) / 3, 1024));
  }
  CHECK_FALSE(InputDomains(Parse(OneOp("u8[9]", "image_decode(%x)")))[0].restricted());
}

}  // namespace
}  // namespace nn::test::image_test
