#include "tensorio/npz.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/file/file.h"
#include "support/files.h"
#include "tensorio/npy.h"

namespace nn::test::npz_test {
namespace {

Blob BlobOf(std::string_view text) {
  return Blob::Copy(std::as_bytes(std::span(text)));
}

std::string Number(uint32_t v, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(v >> (8 * i));
  return out;
}

struct ZipEntry {
  std::string name;
  std::string packed;
  uint32_t crc;
  uint32_t size;  // unpacked
  int method;     // 0 stored, 8 deflated
};

// An archive (APPNOTE.TXT 4.3): local headers and data, central directory, its end.
std::string Zip(const std::vector<ZipEntry>& entries) {
  std::string out, directory;
  for (const ZipEntry& e : entries) {
    const std::string common =
        Number(20, 2) + Number(0, 2) + Number(static_cast<uint32_t>(e.method), 2) + Number(0, 2) +
        Number(0x21, 2) + Number(e.crc, 4) + Number(static_cast<uint32_t>(e.packed.size()), 4) +
        Number(e.size, 4) + Number(static_cast<uint32_t>(e.name.size()), 2) + Number(0, 2);
    directory += "PK\1\2" + Number(20, 2) + common + Number(0, 2) + Number(0, 2) + Number(0, 2) +
                 Number(0, 4) + Number(static_cast<uint32_t>(out.size()), 4) + e.name;
    out += "PK\3\4" + common + e.name + e.packed;
  }
  const auto count = static_cast<uint32_t>(entries.size());
  const auto start = static_cast<uint32_t>(out.size());
  return out + directory + "PK\5\6" + Number(0, 4) + Number(count, 2) + Number(count, 2) +
         Number(static_cast<uint32_t>(directory.size()), 4) + Number(start, 4) + Number(0, 2);
}

// The resident memory of this process.
size_t ResidentBytes() {
  size_t all = 0, present = 0;
  std::ifstream("/proc/self/statm") >> all >> present;
  return present * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// CRC-32 of the ZIP format, bit by bit.
uint32_t Crc32(std::string_view data) {
  uint32_t crc = 0xFFFFFFFFu;
  for (const char c : data) {
    crc ^= static_cast<uint8_t>(c);
    for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

// Deflate's stored blocks (RFC 1951, 3.2.4): valid without compressing anything.
std::string Deflated(std::string_view data) {
  const auto n = static_cast<uint32_t>(data.size());
  return "\1" + Number(n, 2) + Number(~n & 0xFFFF, 2) + std::string(data);
}

std::string NpyOf(const Tensor& t) {
  const auto parts = NpyImage(t);
  REQUIRE(parts.has_value());
  std::string out;
  for (const Blob& b : *parts) out.append(reinterpret_cast<const char*>(b.data()), b.size());
  return out;
}

ZipEntry Stored(const std::string& name, const std::string& data) {
  return {name, data, Crc32(data), static_cast<uint32_t>(data.size()), 0};
}

const Tensor kA = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
const Tensor kB = Tensor::Ints({5, 6, 7});

TEST_CASE("npz: stored and deflated entries are read in order") {
  const std::string npy = NpyOf(kB);
  ZipEntry deflated = Stored("sub/b=1.npy", npy);
  deflated.packed = Deflated(npy);
  deflated.method = 8;
  const auto arrays = ReadNpz(BlobOf(Zip({Stored("a.npy", NpyOf(kA)), deflated})));
  REQUIRE_MESSAGE(arrays.has_value(), arrays.error().message());
  REQUIRE(arrays->size() == 2);
  CHECK((*arrays)[0].name == "a");
  CHECK((*arrays)[0].tensor.Identical(kA));
  CHECK((*arrays)[1].name == "sub/b=1");
  CHECK((*arrays)[1].tensor.Identical(kB));
  CHECK(ReadNpz(BlobOf(Zip({})))->empty());
}

TEST_CASE("npz: damaged archives are refused by name") {
  const std::string npy = NpyOf(kA);
  ZipEntry bad_crc = Stored("a.npy", npy);
  bad_crc.crc ^= 1;
  ZipEntry cut = Stored("a.npy", npy.substr(0, npy.size() - 1));
  ZipEntry method = Stored("a.npy", npy);
  method.method = 97;  // WavPack
  ZipEntry not_deflated = Stored("a.npy", std::string(50, '\x77'));
  not_deflated.method = 8;
  struct Row {
    std::string file;
    std::string message;
  };
  for (const Row& r : {
           Row{"", "not a ZIP archive"},
           Row{"PK", "not a ZIP archive"},
           Row{std::string(100, 'x'), "not a ZIP archive"},
           Row{Zip({Stored("a.txt", "hello")}), "array \"a.txt\": the name does not end in .npy"},
           Row{Zip({Stored("a.npy", "hello")}), "array \"a.npy\": not an .npy file"},
           Row{Zip({Stored("a.npy", npy), Stored("a.npy", npy)}), "duplicate name"},
           Row{Zip({bad_crc}), "array \"a.npy\": "},
           Row{Zip({cut}), "exceed the 15 bytes"},
           Row{Zip({method}), "array \"a.npy\": "},
           Row{Zip({not_deflated}), "array \"a.npy\": "},
       }) {
    CAPTURE(r.message);
    const auto arrays = ReadNpz(BlobOf(r.file));
    REQUIRE(!arrays.has_value());
    CHECK(arrays.error().code() == ErrorCode::kParse);
    CHECK_MESSAGE(arrays.error().message().find(r.message) != std::string::npos,
                  arrays.error().message());
  }
}

TEST_CASE("npz: limits hold for what is unpacked, whatever the archive claims") {
  const std::string file = Zip({Stored("a.npy", NpyOf(kA)), Stored("b.npy", NpyOf(kB))});
  NpzLimits limits;
  limits.max_entries = 1;
  CHECK(ReadNpz(BlobOf(file), limits).error().code() == ErrorCode::kLimit);
  limits = {};
  limits.max_bytes = NpyOf(kA).size() + NpyOf(kB).size();
  CHECK(ReadNpz(BlobOf(file), limits).has_value());
  --limits.max_bytes;
  CHECK(ReadNpz(BlobOf(file), limits).error().code() == ErrorCode::kLimit);
  ZipEntry claims = Stored("a.npy", NpyOf(kA));
  claims.size = 0xFFFFFFF0u;
  CHECK(!ReadNpz(BlobOf(Zip({claims}))).has_value());
  // What an entry says is too large is not unpacked to see whether it is.
  claims.size = 4096;
  claims.packed.resize(10);
  limits.max_bytes = 4000;
  CHECK(ReadNpz(BlobOf(Zip({claims})), limits).error().code() == ErrorCode::kLimit);
}

TEST_CASE("npz: entries that overlap are refused") {
  // A directory whose entries all lead to the same data: small, and large when unpacked.
  const std::string npy = NpyOf(kA);
  const std::string one = Zip({Stored("a.npy", npy)});
  const size_t directory_begin = one.size() - 22 - 46 - 5;
  const std::string entry = one.substr(directory_begin, 46 + 5);
  for (const uint32_t count : {2u, 100u}) {
    std::string directory;
    for (uint32_t i = 0; i < count; ++i) {
      std::string next = entry;
      next[46] = static_cast<char>('a' + i % 26);
      directory += next;
    }
    const std::string file = one.substr(0, directory_begin) + directory + "PK\5\6" + Number(0, 4) +
                             Number(count, 2) + Number(count, 2) +
                             Number(static_cast<uint32_t>(directory.size()), 4) +
                             Number(static_cast<uint32_t>(directory_begin), 4) + Number(0, 2);
    const auto arrays = ReadNpz(BlobOf(file));
    REQUIRE(!arrays.has_value());
    CHECK(arrays.error().code() == ErrorCode::kParse);
    CHECK_MESSAGE(arrays.error().message().find("overlap") != std::string::npos,
                  arrays.error().message());
  }
}

TEST_CASE("npz: an entry takes the memory of its contents, not of a read") {
  std::vector<ZipEntry> entries;
  const std::string npy = NpyOf(kA);
  for (int i = 0; i < 3000; ++i) entries.push_back(Stored("a" + std::to_string(i) + ".npy", npy));
  const std::string file = Zip(entries);
  const size_t before = ResidentBytes();
  const auto arrays = ReadNpz(BlobOf(file));
  REQUIRE(arrays.has_value());
  CHECK(arrays->size() == entries.size());
  CHECK(ResidentBytes() - std::min(before, ResidentBytes()) < size_t{200} << 20);
}

TEST_CASE("npz: no prefix of an archive can do harm") {
  const std::string file = Zip({Stored("a.npy", NpyOf(kA)), Stored("b.npy", NpyOf(kB))});
  for (size_t n = 0; n < file.size(); ++n) CHECK(!ReadNpz(BlobOf(file.substr(0, n))));
}

TEST_CASE("npz: written files are read back, and are deterministic") {
  const TempDir dir;
  const std::vector<NamedTensor> tensors = {
      {"z", kA}, {"a/b", kB}, {"n\xC3\xA9", Tensor({1}, {"text"})}, {"empty", Tensor::Ints({})}};
  REQUIRE(WriteNpz(dir / "one.npz", tensors).has_value());
  REQUIRE(WriteNpz(dir / "two.npz", tensors).has_value());
  CHECK(ReadText(dir / "one.npz") == ReadText(dir / "two.npz"));
  const auto arrays = ReadNpz(*ReadFile(dir / "one.npz"));
  REQUIRE_MESSAGE(arrays.has_value(), arrays.error().message());
  REQUIRE(arrays->size() == tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    CHECK((*arrays)[i].name == tensors[i].name);
    CHECK((*arrays)[i].tensor.Identical(tensors[i].tensor));
  }
  REQUIRE(WriteNpz(dir / "none.npz", {}).has_value());
  CHECK(Listing(dir.path()) == "none.npz\none.npz\ntwo.npz\n");
}

TEST_CASE("npz: entries are stored, dated 1980-01-01, with sizes in the local header") {
  const TempDir dir;
  const std::vector<NamedTensor> tensors = {{"a", kA}};
  REQUIRE(WriteNpz(dir / "a.npz", tensors).has_value());
  const std::string file = ReadText(dir / "a.npz");
  const std::string npy = NpyOf(kA);
  CHECK(file.substr(0, 4) == "PK\3\4");
  CHECK(file.substr(8, 6) == Number(0, 2) + Number(0, 2) + Number(0x21, 2));
  CHECK(file.substr(14, 12) == Number(Crc32(npy), 4) +
                                   Number(static_cast<uint32_t>(npy.size()), 4) +
                                   Number(static_cast<uint32_t>(npy.size()), 4));
  CHECK(file.find(npy) != std::string::npos);
}

TEST_CASE("npz: names that cannot be entries") {
  const TempDir dir;
  const auto write = [&](const std::vector<NamedTensor>& t) { return WriteNpz(dir / "x.npz", t); };
  CHECK(write({{"", kA}}).error().code() == ErrorCode::kUsage);
  CHECK(write({{"a", kA}, {"a", kB}}).error().code() == ErrorCode::kUsage);
  CHECK(Listing(dir.path()).empty());
  REQUIRE(write({{"bad\xFF", kA}}).has_value());
  CHECK((*ReadNpz(*ReadFile(dir / "x.npz")))[0].name == "bad\\xff");
}

}  // namespace
}  // namespace nn::test::npz_test
