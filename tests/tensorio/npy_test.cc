#include "tensorio/npy.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

namespace nn::test::npy_test {
namespace {

using std::string_literals::operator""s;

Blob BlobOf(std::string_view text) {
  return Blob::Copy(std::as_bytes(std::span(text)));
}

std::string TextOf(const std::vector<Blob>& parts) {
  std::string out;
  for (const Blob& b : parts) out.append(reinterpret_cast<const char*>(b.data()), b.size());
  return out;
}

// A file with the given dictionary, unpadded.
std::string Npy(const std::string& dict, std::string_view data, int major = 1) {
  std::string out = "\x93NUMPY"s;
  out += static_cast<char>(major);
  out += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    out += static_cast<char>(dict.size() >> (8 * i) & 0xFF);
  return out + dict + std::string(data);
}

std::string Dict(std::string_view descr, std::string_view shape, bool fortran = false) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr,
                     fortran ? "True" : "False", shape);
}

Tensor Read(std::string_view file) {
  auto t = ReadNpy(BlobOf(file));
  REQUIRE_MESSAGE(t.has_value(), t.error().message());
  return *std::move(t);
}

TEST_CASE("npy: every element type is read, in both byte orders") {
  struct Row {
    const char* descr;
    std::string data;
    DType dtype;
    double value;
  };
  for (const Row& r : {
           Row{"|b1", "\x01"s, DType::kBool, 1},
           Row{"|b1", "\x07"s, DType::kBool, 1},
           Row{"|i1", "\xFE"s, DType::kI8, -2},
           Row{"<i2", "\xFE\xFF"s, DType::kI16, -2},
           Row{">i2", "\xFF\xFE"s, DType::kI16, -2},
           Row{"<i4", "\x01\x02\x00\x00"s, DType::kI32, 513},
           Row{">i4", "\x00\x00\x02\x01"s, DType::kI32, 513},
           Row{"=i4", "\x01\x02\x00\x00"s, DType::kI32, 513},
           Row{"<i8", "\x01\x00\x00\x00\x01\x00\x00\x00"s, DType::kI64, 4294967297.0},
           Row{">i8", "\x00\x00\x00\x01\x00\x00\x00\x01"s, DType::kI64, 4294967297.0},
           Row{"|u1", "\xFE"s, DType::kU8, 254},
           Row{"<u2", "\xFE\xFF"s, DType::kU16, 65534},
           Row{">u4", "\xFF\xFF\xFF\xFE"s, DType::kU32, 4294967294.0},
           Row{"<u8", "\x00\x00\x00\x00\x00\x00\x00\x80"s, DType::kU64, 9223372036854775808.0},
           Row{"<f2", "\x00\x3E"s, DType::kF16, 1.5},
           Row{">f2", "\x3E\x00"s, DType::kF16, 1.5},
           Row{"<f4", "\x00\x00\xC0\x3F"s, DType::kF32, 1.5},
           Row{">f4", "\x3F\xC0\x00\x00"s, DType::kF32, 1.5},
           Row{"<f8", "\x00\x00\x00\x00\x00\x00\xF8\x3F"s, DType::kF64, 1.5},
           Row{">f8", "\x3F\xF8\x00\x00\x00\x00\x00\x00"s, DType::kF64, 1.5},
           Row{"|V1", "\x38"s, DType::kU8, 56},
           Row{"|V2", "\x80\x3F"s, DType::kU16, 0x3F80},
       }) {
    CAPTURE(r.descr);
    const Tensor t = Read(Npy(Dict(r.descr, "()"), r.data));
    CHECK(t.dtype() == r.dtype);
    CHECK(t.dims().empty());
    CHECK(t.GetDouble(0) == r.value);
  }
}

TEST_CASE("npy: complex numbers swap their parts' bytes, not the parts") {
  const std::string little = "\x00\x00\xC0\x3F\x00\x00\x00\xC0"s;  // 1.5 - 2i
  const std::string big = "\x3F\xC0\x00\x00\xC0\x00\x00\x00"s;
  for (const auto& [descr, data] : {std::pair("<c8", little), std::pair(">c8", big)}) {
    const Tensor t = Read(Npy(Dict(descr, "(1,)"), data));
    CHECK(t.dtype() == DType::kC64);
    CHECK(std::memcmp(t.blob().data(), little.data(), 8) == 0);
  }
  CHECK(Read(Npy(Dict("<c16", "(2,)"), std::string(32, '\0'))).dtype() == DType::kC128);
}

TEST_CASE("npy: strings") {
  const Tensor bytes = Read(Npy(Dict("|S3", "(3,)"), "ab\0\0\0\0xyz"s));
  CHECK(bytes.strings() == std::vector<std::string>{"ab", "", "xyz"});
  // "aé", U+1F600
  const std::string little = "a\0\0\0\xE9\0\0\0"s + "\x00\xF6\x01\x00\0\0\0\0"s;
  const std::string big = "\0\0\0a\0\0\0\xE9"s + "\x00\x01\xF6\x00\0\0\0\0"s;
  const std::vector<std::string> want = {"a\xC3\xA9", "\xF0\x9F\x98\x80"};
  CHECK(Read(Npy(Dict("<U2", "(2,)"), little)).strings() == want);
  CHECK(Read(Npy(Dict(">U2", "(2,)"), big)).strings() == want);
  CHECK(Read(Npy(Dict("<U0", "(3,)"), "")).strings() == std::vector<std::string>(3));
}

TEST_CASE("npy: Fortran order becomes row-major") {
  // [[1, 2, 3], [4, 5, 6]]
  const Tensor m = Read(Npy(Dict("|i1", "(2, 3)", true), "\1\4\2\5\3\6"));
  CHECK(m.dims() == std::vector<int64_t>{2, 3});
  CHECK(m.ToInts() == std::vector<int64_t>{1, 2, 3, 4, 5, 6});
  // x[i][j][k] = 100 i + 10 j + k, in big-endian order
  std::string data;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) data += {0, static_cast<char>(100 * i + 10 * j + k)};
  const Tensor t = Read(Npy(Dict(">i2", "(2, 3, 2)", true), data));
  CHECK(t.ToInts() == std::vector<int64_t>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121});
  CHECK(Read(Npy(Dict("|i1", "(3,)", true), "\1\2\3")).ToInts() == std::vector<int64_t>{1, 2, 3});
  CHECK(Read(Npy(Dict("<f4", "(3, 0, 2)", true), "")).elements() == 0);
}

TEST_CASE("npy: header spellings and versions") {
  const char* dicts[] = {
      "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n",
      "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}",
      "{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"|u1\"}      \n",
      "{'shape': ( 2 , ), 'fortran_order' : False, 'descr': '|u1',}",
  };
  for (const char* dict : dicts)
    for (const int version : {1, 2, 3}) {
      CAPTURE(dict);
      CHECK(Read(Npy(dict, "\7\x08", version)).ToInts() == std::vector<int64_t>{7, 8});
    }
}

TEST_CASE("npy: damaged and foreign files are refused by name") {
  const auto dict = [](std::string_view rest) { return "{'descr': '<f4', " + std::string(rest); };
  struct Row {
    std::string file;
    ErrorCode code;
    std::string message;
  };
  const std::string order = "'fortran_order': False, ";
  for (const Row& r : {
           Row{"", ErrorCode::kParse, "not an .npy file"},
           Row{"PK\3\4", ErrorCode::kParse, "not an .npy file"},
           Row{"\x93NUMPY"s, ErrorCode::kParse, "truncated"},
           Row{"\x93NUMPY\1\0\xFF"s, ErrorCode::kParse, "truncated"},
           Row{"\x93NUMPY\2\0\xFF\xFF"s, ErrorCode::kParse, "truncated"},
           Row{"\x93NUMPY\1\0\xFF\xFF{"s, ErrorCode::kParse, "65535 bytes declared, 1 present"},
           Row{"\x93NUMPY\4\0\0\0"s, ErrorCode::kUnsupported, "version 4.0"},
           Row{"\x93NUMPY\1\1\0\0"s, ErrorCode::kUnsupported, "version 1.1"},
           Row{Npy("", ""), ErrorCode::kParse, "expected '{'"},
           Row{Npy("{}", ""), ErrorCode::kParse, "descr, fortran_order or shape is missing"},
           Row{Npy(dict("'shape': ()}"), ""), ErrorCode::kParse, "is missing"},
           Row{Npy(dict(order + "'shape': (1)}"), "1234"), ErrorCode::kParse, "not a tuple"},
           Row{Npy(dict(order + "'shape': (1 2)}"), ""), ErrorCode::kParse, "not a tuple"},
           Row{Npy(dict(order + "'shape': (-1,)}"), ""), ErrorCode::kParse, "invalid dimension"},
           Row{Npy(dict(order + "'shape': (99999999999999999999,)}"), ""), ErrorCode::kParse,
               "invalid dimension"},
           Row{Npy(dict(order + "'shape': (1,"), ""), ErrorCode::kParse, "invalid dimension"},
           Row{Npy(dict(order + "'shape': ()} x"), "1234"), ErrorCode::kParse, "text after"},
           Row{Npy(dict("'fortran_order': 0, 'shape': ()}"), ""), ErrorCode::kParse,
               "neither True nor False"},
           Row{Npy(dict(order + "'shape': (), 'x': ()}"), ""), ErrorCode::kParse, "key \"x\""},
           Row{Npy(dict("'descr': '<f4'}"), ""), ErrorCode::kParse, "duplicate key"},
           Row{Npy("{'descr", ""), ErrorCode::kParse, "unterminated string"},
           Row{Npy(Dict("f4", "()"), "1234"), ErrorCode::kParse, "malformed element type"},
           Row{Npy(Dict("<f", "()"), "1234"), ErrorCode::kParse, "malformed element type"},
           Row{Npy(Dict("<f4x", "()"), "1234"), ErrorCode::kParse, "malformed element type"},
           Row{Npy(Dict("<f16", "()"), "1234"), ErrorCode::kUnsupported, "\"<f16\""},
           Row{Npy(Dict("<c32", "()"), "1234"), ErrorCode::kUnsupported, "\"<c32\""},
           Row{Npy(Dict("|O", "()"), "1234"), ErrorCode::kUnsupported, "Python objects"},
           Row{Npy(Dict("<M8[ns]", "()"), "1234"), ErrorCode::kUnsupported, "dates"},
           Row{Npy(Dict("|V8", "()"), "12345678"), ErrorCode::kUnsupported, "\"|V8\""},
           Row{Npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", ""),
               ErrorCode::kUnsupported, "structured arrays"},
           Row{Npy(Dict("<f4", "(2,)"), "1234567"), ErrorCode::kParse, "exceed the 7 bytes"},
           Row{Npy(Dict("<f4", "(1,)"), "12345678"), ErrorCode::kParse, "4 bytes follow"},
           Row{Npy(Dict("<f4", "(4611686018427387904, 4)"), ""), ErrorCode::kParse, "overflows"},
           Row{Npy(Dict("<f8", "(4611686018427387904,)"), ""), ErrorCode::kParse,
               "exceed the 0 bytes"},
           Row{Npy(Dict("|S0", "(1099511627776,)"), ""), ErrorCode::kLimit, "width 0"},
           Row{Npy(Dict("<U1", "(1,)"), "\0\xD8\0\0"s), ErrorCode::kParse, "Unicode"},
           Row{Npy(Dict("<U1", "(1,)"), "\0\0\x11\0"s), ErrorCode::kParse, "Unicode"},
       }) {
    CAPTURE(r.message);
    const auto t = ReadNpy(BlobOf(r.file));
    REQUIRE(!t.has_value());
    CHECK(t.error().code() == r.code);
    CHECK_MESSAGE(t.error().message().find(r.message) != std::string::npos, t.error().message());
  }
  std::string deep = "(";
  for (int i = 0; i < 65; ++i) deep += "1, ";
  const auto t = ReadNpy(BlobOf(Npy(Dict("|u1", deep + ")"), "1")));
  REQUIRE(!t.has_value());
  CHECK(t.error().code() == ErrorCode::kUnsupported);
}

TEST_CASE("npy: no prefix and no changed byte of a file can do harm") {
  const std::string file = TextOf(*NpyImage(Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6})));
  for (size_t n = 0; n < file.size(); ++n) CHECK(!ReadNpy(BlobOf(file.substr(0, n))));
  size_t read = 0;
  for (size_t i = 0; i < file.size(); ++i)
    for (const char c : {'\0', '\xFF', '(', '9', '\''}) {
      std::string changed = file;
      changed[i] = c;
      read += ReadNpy(BlobOf(changed)).has_value() ? 1 : 0;
    }
  CHECK(read > 0);  // changes in the data and in the padding are allowed
}

TEST_CASE("npy: the header is NumPy's own, aligned to 64 bytes") {
  const std::string file = TextOf(*NpyImage(Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6})));
  const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  CHECK(file.size() == 128 + 24);
  CHECK(file.substr(0, 10) == "\x93NUMPY\x01\x00\x76\x00"s);
  CHECK(file.substr(10, dict.size()) == dict);
  CHECK(file.substr(10 + dict.size(), 118 - dict.size()) ==
        std::string(117 - dict.size(), ' ') + "\n");
  const auto header = [](const Tensor& t) { return TextOf(*NpyImage(t)).substr(10, 64); };
  CHECK(header(Tensor::Scalar<int64_t>(1)).find("'shape': (), }") != std::string::npos);
  CHECK(header(Tensor::Ints({1, 2})).find("'shape': (2,), }") != std::string::npos);
}

TEST_CASE("npy: written files are read back") {
  const DType types[] = {DType::kBool, DType::kI8,  DType::kI16, DType::kI32, DType::kI64,
                         DType::kU8,   DType::kU16, DType::kU32, DType::kU64, DType::kF16,
                         DType::kF32,  DType::kF64, DType::kC64, DType::kC128};
  for (const DType type : types) {
    CAPTURE(DTypeName(type));
    auto b = TensorBuilder::Create(type, {2, 3});
    for (size_t i = 0; i < ByteSize(type, 6); ++i)
      b->data()[i] = static_cast<std::byte>(type == DType::kBool ? i % 2 : i * 7);
    const Tensor t = b->Finish();
    CHECK(Read(TextOf(*NpyImage(t))).Identical(t));
  }
  const Tensor strings({3}, {"a", "", "d\xC3\xA9j\xC3\xA0"});
  CHECK(Read(TextOf(*NpyImage(strings))).Identical(strings));
  const Tensor bytes({2}, {"\xFF\xFE", "x"});
  CHECK(Read(TextOf(*NpyImage(bytes))).Identical(bytes));
  const Tensor none({0, 4}, std::vector<std::string>());
  CHECK(Read(TextOf(*NpyImage(none))).Identical(none));
  const auto nul = NpyImage(Tensor({1}, {"a\0"s}));
  REQUIRE(!nul.has_value());
  CHECK(nul.error().code() == ErrorCode::kUnsupported);
  const auto unknown = NpyImage(Tensor());
  REQUIRE(!unknown.has_value());
  CHECK(unknown.error().code() == ErrorCode::kUsage);
}

TEST_CASE("npy: types that NumPy lacks are stored as integers and restored") {
  const DType types[] = {DType::kBF16,       DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2,
                         DType::kF8E5M2FNUZ, DType::kF8E8M0,   DType::kF4E2M1,     DType::kI2,
                         DType::kI4,         DType::kU2,       DType::kU4};
  for (const DType type : types) {
    CAPTURE(DTypeName(type));
    auto b = TensorBuilder::Create(type, {5});
    for (int64_t i = 0; i < 5; ++i) b->SetDouble(i, i < 2 ? i : 1);
    const Tensor t = b->Finish();
    const Tensor stored = Read(TextOf(*NpyImage(t)));
    CHECK(stored.dtype() == StoredType(type));
    const auto back = FromStored(stored, type);
    REQUIRE_MESSAGE(back.has_value(), back.error().message());
    CHECK(back->Identical(t));
  }
  const Tensor signs = Read(
      TextOf(*NpyImage(Tensor(DType::kI4, {3}, Blob::CopyOf(std::vector<uint8_t>{0x8F, 0x07})))));
  CHECK(signs.ToInts() == std::vector<int64_t>{-1, -8, 7});
}

TEST_CASE("npy: integers that do not represent the wanted type are refused") {
  const auto large = FromStored(Tensor::Of<int8_t>({2}, {7, 8}), DType::kI4);
  REQUIRE(!large.has_value());
  CHECK(large.error().message() == "element 1 is 8, outside the range of i4");
  const auto other = FromStored(Tensor::Of<float>({1}, {1}), DType::kBF16);
  REQUIRE(!other.has_value());
  CHECK(other.error().message() == "the array has element type f32, expected bf16");
  CHECK(!FromStored(Tensor::Of<float>({1}, {1}), DType::kUnknown).has_value());
  CHECK(FromStored(Tensor::Of<float>({1}, {1}), DType::kF32)->GetDouble(0) == 1);
}

}  // namespace
}  // namespace nn::test::npy_test
