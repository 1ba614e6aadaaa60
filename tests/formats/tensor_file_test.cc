#include "formats/tensor_file.h"

#include <doctest/doctest.h>

#include "base/file/file.h"
#include "formats/onnx/file/tensor_file.h"
#include "ir/text/text.h"
#include "support/files.h"
#include "tensorio/npy.h"

namespace nn::test::tensor_file_test {
namespace {

using std::string_literals::operator""s;

Type TypeOf(const char* text) {
  return *ParseType(text);
}

Tensor Read(const std::string& path, const char* type) {
  auto t = ReadTensorFile(path, TypeOf(type));
  REQUIRE_MESSAGE(t.has_value(), t.error().message());
  return *std::move(t);
}

std::string ErrorOf(const std::string& path, const char* type) {
  const auto t = ReadTensorFile(path, TypeOf(type));
  REQUIRE(!t.has_value());
  return t.error().message();
}

TEST_CASE("tensor files: .npy by its bytes, bits of other types by the wanted type") {
  const TempDir dir;
  const Tensor f = Tensor::Of<float>({2}, {1, 2});
  REQUIRE(WriteFile(dir / "x.dat", *NpyImage(f)).has_value());
  CHECK(Read(dir / "x.dat", "f32[2]").Identical(f));
  CHECK(Read(dir / "x.dat", "i64[7]").Identical(f));  // the file's own type and shape
  const Tensor bits = Tensor::Of<uint16_t>({1}, {0x3F80});
  REQUIRE(WriteFile(dir / "b.npy", *NpyImage(bits)).has_value());
  CHECK(Read(dir / "b.npy", "bf16[1]").GetDouble(0) == 1.0);
  CHECK(Read(dir / "b.npy", "bf16[1]").dtype() == DType::kBF16);
  CHECK(Read(dir / "b.npy", "u16[1]").dtype() == DType::kU16);
}

TEST_CASE("tensor files: bare bytes") {
  const TempDir dir;
  WriteText(dir / "x.bin", "\1\0\2\0"s);
  CHECK(Read(dir / "x.bin", "i16[2]").ToInts() == std::vector<int64_t>{1, 2});
  WriteText(dir / "x.raw", "\1\0\2\0"s);
  CHECK(Read(dir / "x.raw", "u8[2, 2]").ToInts() == std::vector<int64_t>{1, 0, 2, 0});
  CHECK(ErrorOf(dir / "x.bin", "i16[3]").find("take 6 bytes, but the data has 4") !=
        std::string::npos);
  CHECK(ErrorOf(dir / "x.bin", "i16[n]").find("known shape") != std::string::npos);
  CHECK(ErrorOf(dir / "x.bin", "str[1]").find("strings") != std::string::npos);
}

TEST_CASE("tensor files: TensorProto") {
  const TempDir dir;
  for (const Tensor& t :
       {Tensor::Of<float>({2, 1}, {1, -2}), Tensor::Ints({1, 2, 3}), Tensor({2}, {"a", ""}),
        Tensor::Scalar<double>(0.5), Tensor::Of<float>({1000}, std::vector<float>(1000, 0.5f))}) {
    const auto image = onnx::TensorProtoImage(t, "t");
    REQUIRE_MESSAGE(image.has_value(), image.error().message());
    REQUIRE(WriteFile(dir / "t.pb", *image).has_value());
    CHECK(Read(dir / "t.pb", "f32[*]").Identical(t));
  }
  // dims 2; data_type FLOAT; float_data packed
  WriteText(dir / "typed.pb", "\x08\x02\x10\x01\x22\x08\0\0\x80\x3F\0\0\0\xC0"s);
  CHECK(Read(dir / "typed.pb", "f32[2]").ToDoubles() == std::vector<double>{1, -2});
  // SequenceProto: name "s"; elem_type TENSOR; tensor_values {dims 1; data_type FLOAT; ...}
  WriteText(dir / "sequence.pb", "\x0A\x01s\x10\x01\x1A\x0A\x08\x01\x10\x01\x22\x04\0\0\x80\x3F"s);
  CHECK(ErrorOf(dir / "sequence.pb", "f32[1]").find("contains a sequence or an optional") !=
        std::string::npos);
  WriteText(dir / "bad.pb", "\x08\x02\x10\x01\x4A\x04zzzz"s);  // 2 elements, 4 bytes
  CHECK(ErrorOf(dir / "bad.pb", "f32[2]").find("take 8 bytes, but the data has 4") !=
        std::string::npos);
  WriteText(dir / "text.pb", "hello");
  CHECK(ErrorOf(dir / "text.pb", "f32[2]").find("text.pb") != std::string::npos);
  WriteText(dir / "empty.pb", "");
  CHECK(ErrorOf(dir / "empty.pb", "f32[2]").find("not a TensorProto") != std::string::npos);
  // External data outside the folder.
  WriteText(dir / "out.pb",
            "\x08\x01\x10\x01\x6A\x18\x0A\x08location\x12\x0C../../passwd\x70\x01"s);
  CHECK(ErrorOf(dir / "out.pb", "f32[1]").find("must not contain \"..\"") != std::string::npos);
}

TEST_CASE("tensor files: others are refused with their path") {
  const TempDir dir;
  CHECK(ErrorOf(dir / "none.npy", "f32[1]").find("none.npy: No such file") != std::string::npos);
  WriteText(dir / "x.txt", "1 2 3");
  CHECK(ErrorOf(dir / "x.txt", "f32[3]").find("not a tensor file") != std::string::npos);
  WriteText(dir / "x.npy", "1 2 3");
  CHECK(ErrorOf(dir / "x.npy", "f32[3]").find("not an .npy file") != std::string::npos);
}

}  // namespace
}  // namespace nn::test::tensor_file_test
