#include "tensorio/digest.h"

#include <doctest/doctest.h>

namespace nn::test::digest_test {
namespace {

std::string DigestOf(const std::string& name, const Tensor& t) {
  const NamedTensor named[] = {{name, t}};
  return Digest(named);
}

// Expected values: SHA-256 of the documented bytes, computed by another program.
TEST_CASE("digest: the documented bytes, hashed") {
  CHECK(Digest({}) == "sha256:fa283609b6ff817f4dc3f070b871ced7f561b51c1f64d356a23fefb4d613b605");
  CHECK(DigestOf("y", Tensor::Of<float>({1, 2}, {1.0f, -2.0f})) ==
        "sha256:f49ba3a179e2068d777acb2c1084a8680a435cc18512bdd7c4cf489ed7567c3d");
  CHECK(DigestOf("s", Tensor({2}, {"ab", ""})) ==
        "sha256:23f810f9d70ab2df2df16a49c99ae4fec6cfc424eb37cf7a12e18b0cc1375b76");
  CHECK(DigestOf("n", Tensor(DType::kU4, {3}, Blob::CopyOf(std::vector<uint8_t>{0x21, 0x03}))) ==
        "sha256:0c673ce1e0b727d6ad19e763716a9b22ea2320aa8fbb78d6b10b235060139680");
}

TEST_CASE("digest: bits after the last narrow element do not count") {
  const auto nibbles = [](uint8_t last) {
    return Tensor(DType::kU4, {3}, Blob::CopyOf(std::vector<uint8_t>{0x21, last}));
  };
  CHECK(DigestOf("n", nibbles(0x03)) == DigestOf("n", nibbles(0xF3)));
  CHECK(DigestOf("n", nibbles(0x03)) != DigestOf("n", nibbles(0x04)));
}

TEST_CASE("digest: names, types, shapes, order and bits all count") {
  const Tensor t = Tensor::Of<float>({2}, {0.0f, 1.0f});
  const std::string base = DigestOf("y", t);
  CHECK(DigestOf("z", t) != base);
  CHECK(DigestOf("y", *t.Reshaped({1, 2})) != base);
  CHECK(DigestOf("y", Tensor(DType::kI32, {2}, t.blob())) != base);
  CHECK(DigestOf("y", Tensor::Of<float>({2}, {-0.0f, 1.0f})) != base);
  const NamedTensor ab[] = {{"a", t}, {"b", t}}, ba[] = {{"b", t}, {"a", t}};
  CHECK(Digest(ab) != Digest(ba));
}

}  // namespace
}  // namespace nn::test::digest_test
