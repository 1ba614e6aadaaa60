// Counts the work of inference on symbolic dimensions, which must be proportional to the file size,
// whatever its contents.
#include <doctest/doctest.h>

#include "formats/format.h"
#include "ir/op_def.h"
#include "support/large_models.h"

namespace nn::test::onnx_bounds_test {
namespace {

struct Counted {
  size_t bytes = 0;
  uint64_t steps = 0;
};

Counted ImportCounted(std::string_view name, size_t n) {
  const std::string file = MakeLargeModel(name, n);
  const Format* onnx = FindFormat("onnx");
  const auto model = onnx->reader.Read(Blob::Copy(std::as_bytes(std::span(file))), "m.onnx", {});
  REQUIRE(model.has_value());
  const uint64_t before = Dim::steps();
  auto imported = onnx->importer.Import(**model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  CHECK(InferGraph(imported->graph).has_value());
  return {file.size(), Dim::steps() - before};
}

TEST_CASE("onnx inference: steps on dimensions are in proportion to the file's bytes") {
  // A step compares, hashes or creates one term or factor.
  constexpr double kMaxPerByte = 2000;
  for (const char* name :
       {"products", "shape_products", "symbol_sums", "symbolic_pools", "relu_chain"}) {
    CAPTURE(name);
    const Counted small = ImportCounted(name, 500);
    const Counted large = ImportCounted(name, 2000);
    const double per_byte = static_cast<double>(small.steps) / static_cast<double>(small.bytes);
    const double per_byte_large =
        static_cast<double>(large.steps) / static_cast<double>(large.bytes);
    MESSAGE(name << ": " << per_byte << " and " << per_byte_large << " steps a byte");
    CHECK(per_byte < kMaxPerByte);
    CHECK(per_byte_large < 1.2 * per_byte + 10);
  }
}

TEST_CASE("onnx inference: a node has the same symbols each time it is inferred") {
  const std::string file = MakeLargeModel("products", 30);
  const Format* onnx = FindFormat("onnx");
  const auto model = onnx->reader.Read(Blob::Copy(std::as_bytes(std::span(file))), "m.onnx", {});
  REQUIRE(model.has_value());
  auto first = onnx->importer.Import(**model);
  const auto second = onnx->importer.Import(**model);
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  const Type type = second->graph.outputs()[0].value->type();
  CHECK(first->graph.outputs()[0].value->type() == type);
  REQUIRE(InferGraph(first->graph).has_value());
  CHECK(first->graph.outputs()[0].value->type() == type);
  const auto symbol = type.dim(0).symbol();
  REQUIRE(symbol);
  CHECK(Dim::IsOpaque(*symbol));
  CHECK(InferContext::IsNewSymbol(*symbol));
}

}  // namespace
}  // namespace nn::test::onnx_bounds_test
