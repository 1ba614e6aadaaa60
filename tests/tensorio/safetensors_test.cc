#include "tensorio/safetensors.h"

#include <doctest/doctest.h>

#include "base/file/file.h"
#include "support/files.h"
#include "support/hang.h"
#include "tensorio/tensor_archive.h"

namespace nn::test::safetensors_test {
namespace {

using std::string_literals::operator""s;

Blob BlobOf(std::string_view text) {
  return Blob::Copy(std::as_bytes(std::span(text)));
}

std::string FileOf(const std::string& header, const std::string& data) {
  const uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + header + data;
}

constexpr const char* kHeader =
    R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I8","shape":[2],"data_offsets":[8,10]},)"
    R"("a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
    R"("none":{"dtype":"I64","shape":[0,3],"data_offsets":[8,8]},)"
    R"("yes":{"dtype":"BOOL","shape":[],"data_offsets":[10,11]}})";
const std::string kData = "\0\0\x80\x3F\0\0\0\xC0\x05\xFF\x02"s;  // 1, -2; 5, -1; true

TEST_CASE("safetensors: tensors are read by their offsets, metadata is ignored") {
  const auto tensors = ReadSafetensors(BlobOf(FileOf(kHeader, kData)));
  REQUIRE_MESSAGE(tensors.has_value(), tensors.error().message());
  REQUIRE(tensors->size() == 4);
  CHECK((*tensors)[0].name == "a");
  CHECK((*tensors)[0].tensor.Identical(Tensor::Of<float>({1, 2}, {1, -2})));
  CHECK((*tensors)[1].name == "none");
  CHECK((*tensors)[1].tensor.Identical(Tensor::Of<int64_t>({0, 3}, {})));
  CHECK((*tensors)[2].tensor.Identical(Tensor::Of<int8_t>({2}, {5, -1})));
  CHECK((*tensors)[3].tensor.dtype() == DType::kBool);
  CHECK((*tensors)[3].tensor.GetInt(0) == 1);
  CHECK((*tensors)[3].tensor.blob().bytes()[0] == std::byte{1});
}

TEST_CASE("safetensors: files that are refused") {
  const auto entry = [](const std::string& fields) { return R"({"a":{)" + fields + "}}"; };
  const std::string offsets = R"(,"data_offsets":[0,4])", shape = R"(,"shape":[1])";
  struct Row {
    std::string file;
    ErrorCode code;
    const char* message;
  };
  const Row rows[] = {
      {"abc", ErrorCode::kParse, "3 bytes"},
      {FileOf("{}", "").replace(0, 8, std::string(8, '\xFF')), ErrorCode::kLimit, "limit"},
      {FileOf("{}", "").replace(0, 1, "\x09"), ErrorCode::kParse, "truncated header"},
      {FileOf("{", ""), ErrorCode::kParse, "not JSON"},
      {FileOf("[]", ""), ErrorCode::kParse, "no"},
      {FileOf(R"({"a":1})", ""), ErrorCode::kParse, "not a JSON object"},
      {FileOf(R"({"a":{"b":{"c":{}}}})", ""), ErrorCode::kParse, "nested too deeply"},
      {FileOf(R"({"a":{},"a":{}})", ""), ErrorCode::kParse, "duplicate member"},
      {FileOf(entry(R"("shape":[1])" + offsets), "1234"), ErrorCode::kParse,
       "\"dtype\" is missing"},
      {FileOf(entry(R"("dtype":"F4")" + shape + offsets), "1234"), ErrorCode::kUnsupported,
       "\"F4\""},
      {FileOf(entry(R"("dtype":"F32")" + offsets), "1234"), ErrorCode::kParse, "\"shape\""},
      {FileOf(entry(R"("dtype":"F32","shape":[-1])" + offsets), "1234"), ErrorCode::kParse,
       "\"shape\""},
      {FileOf(entry(R"("dtype":"F32","shape":[2])" + offsets), "1234"), ErrorCode::kParse, "8"},
      {FileOf(entry(R"("dtype":"F32","shape":[4611686018427387905,4])" + offsets), "1234"),
       ErrorCode::kParse, "tensor \"a\""},
      {FileOf(entry(R"("dtype":"F32")" + shape), "1234"), ErrorCode::kParse, "data_offsets"},
      {FileOf(entry(R"("dtype":"F32")" + shape + R"(,"data_offsets":[4,0])"), "1234"),
       ErrorCode::kParse, "[4, 0]"},
      {FileOf(entry(R"("dtype":"F32")" + shape + offsets), "123"), ErrorCode::kParse, "[0, 4]"},
      {FileOf(entry(R"("dtype":"F32")" + shape + offsets), "12345"), ErrorCode::kParse,
       "1 bytes at the end"},
      {FileOf(entry(R"("dtype":"F32")" + shape + R"(,"data_offsets":[1,5])"), "12345"),
       ErrorCode::kParse, "begins at byte 1"},
  };
  for (const Row& r : rows) {
    CAPTURE(r.file);
    const auto tensors = ReadSafetensors(BlobOf(r.file));
    REQUIRE_FALSE(tensors.has_value());
    CHECK(tensors.error().code() == r.code);
    CHECK_MESSAGE(tensors.error().message().find(r.message) != std::string::npos,
                  tensors.error().message());
  }
  const std::string file = FileOf(kHeader, kData);
  for (size_t n = 0; n < file.size(); ++n)
    CHECK_FALSE(ReadSafetensors(BlobOf(file.substr(0, n))).has_value());
}

TEST_CASE("safetensors: written files are read back, aligned, and are deterministic") {
  const TempDir dir;
  const std::vector<NamedTensor> tensors = {
      {"bytes", Tensor::Of<uint8_t>({3}, {1, 2, 3})},
      {"doubles", Tensor::Of<double>({1, 1}, {-0.0})},
      {"half/\xC3\xA9", Tensor(DType::kBF16, {2}, Blob::CopyOf(std::vector<uint16_t>{1, 2}))},
      {"floats", Tensor::Of<float>({2}, {1, 2})},
      {"small", Tensor(DType::kF8E5M2FNUZ, {1}, Blob::CopyOf(std::vector<uint8_t>{9}))},
  };
  REQUIRE(WriteTensorArchive(dir / "a.safetensors", tensors).has_value());
  REQUIRE(WriteSafetensors(dir / "b.safetensors", tensors).has_value());
  const std::string text = ReadText(dir / "a.safetensors");
  CHECK(text == ReadText(dir / "b.safetensors"));
  CHECK(static_cast<uint8_t>(text[0]) % 8 == 0);
  const auto again = ReadTensorArchive(*ReadFile(dir / "a.safetensors"));
  REQUIRE_MESSAGE(again.has_value(), again.error().message());
  REQUIRE(again->size() == tensors.size());
  const size_t order[] = {1, 3, 2, 0, 4};
  for (size_t i = 0; i < tensors.size(); ++i) {
    CHECK((*again)[i].name == tensors[order[i]].name);
    CHECK((*again)[i].tensor.Identical(tensors[order[i]].tensor));
  }
  REQUIRE(WriteSafetensors(dir / "none.safetensors", {}).has_value());
  CHECK(ReadSafetensors(*ReadFile(dir / "none.safetensors"))->empty());
}

TEST_CASE("safetensors: names and types that files cannot have") {
  const TempDir dir;
  const Tensor t = Tensor::Scalar(1.0f);
  const auto code = [&](const std::vector<NamedTensor>& tensors) {
    return WriteSafetensors(dir / "x.safetensors", tensors).error().code();
  };
  CHECK(code({{"", t}}) == ErrorCode::kUsage);
  CHECK(code({{"__metadata__", t}}) == ErrorCode::kUsage);
  CHECK(code({{"bad\xFF", t}}) == ErrorCode::kUsage);
  CHECK(code({{"a", t}, {"a", t}}) == ErrorCode::kUsage);
  CHECK(code({{"a", Tensor({1}, {"text"})}}) == ErrorCode::kUnsupported);
  CHECK(Listing(dir.path()).empty());
}

TEST_CASE("safetensors: many tensors are written and read in linear time") {
  CheckEnds([] {
    const TempDir dir;
    std::vector<NamedTensor> tensors;
    for (int i = 0; i < 50'000; ++i)
      tensors.push_back({"t" + std::to_string(i), Tensor::Of<int32_t>({1}, {i})});
    REQUIRE(WriteSafetensors(dir / "a.safetensors", tensors).has_value());
    const auto again = ReadSafetensors(*ReadFile(dir / "a.safetensors"));
    REQUIRE_MESSAGE(again.has_value(), again.error().message());
    CHECK(again->size() == tensors.size());
    CHECK(again->back().name == tensors.back().name);
  });
}

TEST_CASE("safetensors: a header of many levels is refused") {
  const std::string deep = R"({"a":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  const auto tensors = ReadSafetensors(BlobOf(FileOf(deep, "")));
  REQUIRE(!tensors.has_value());
  CHECK(tensors.error().message().find("nested too deeply") != std::string::npos);
}

}  // namespace
}  // namespace nn::test::safetensors_test
