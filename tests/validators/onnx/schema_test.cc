#include "formats/onnx/spec/schema.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace nn::test::onnx_schema_test {
namespace {

TEST_CASE("onnx signatures: versions ascend, types are bound") {
  size_t count = 0;
  for (const std::string& domain : onnx::StandardDomains()) {
    for (const std::string& op : onnx::OperatorsIn(domain)) {
      CAPTURE(op);
      const auto schemas = onnx::SchemasOf(domain, op);
      count += schemas.size();
      int64_t previous = 0;
      for (const onnx::Schema& s : schemas) {
        CHECK(s.op == op);
        CHECK(previous < s.since);
        CHECK(s.since <= onnx::NewestOpset(domain));
        for (const auto* list : {&s.inputs, &s.outputs})
          for (const auto& p : *list) CHECK(s.types.contains(p.type));
        previous = s.since;
      }
    }
  }
  CHECK(count == 653);
}

TEST_CASE("onnx signatures: versions and types") {
  const onnx::Schema* conv = onnx::FindSchema("", "Conv", 21);
  REQUIRE(conv != nullptr);
  CHECK(conv->since == 11);
  CHECK(conv->min_inputs == 2);
  CHECK(conv->inputs.size() == 3);
  CHECK(conv->types.at("T") == onnx::TypeNames{"f16", "f32", "f64"});
  CHECK(conv->attributes.at("group").type == 'i');
  CHECK(onnx::FindSchema("", "Conv", 22)->types.at("T").contains("bf16"));
  for (const char* op : {"Compress", "Einsum", "ReverseSequence", "Unique"}) {
    CAPTURE(op);
    CHECK(!onnx::FindSchema("", op, 27)->types.at("T").contains("bf16"));
    CHECK(onnx::FindSchema("", op, 28)->types.at("T").contains("bf16"));
  }
  CHECK(onnx::FindSchema("", "OneHot", 28)->types.at("T3").contains("bf16"));
  CHECK(!onnx::FindSchema("", "ReduceLogSum", 28)->types.at("T").contains("i32"));
  CHECK(onnx::FindSchema("", "Gelu", 19) == nullptr);
  CHECK(onnx::FindSchema("", "Gelu", 20) != nullptr);
  CHECK(onnx::FindSchema("", "Upsample", 10)->deprecated);
  CHECK(onnx::FindSchema("", "Loop", 13)->min_inputs == 2);
  CHECK(onnx::FindSchema("", "Concat", 13)->attributes.at("axis").required);
  CHECK(onnx::FindSchema("", "SequenceAt", 11)->types.at("S").contains("seq(f32)"));
  CHECK(onnx::FindSchema("ai.onnx.ml", "ZipMap", 1)->types.at("T") ==
        onnx::TypeNames{"seq(map(i64:f32))", "seq(map(str:f32))"});
  CHECK(onnx::FindSchema("com.example", "Conv", 1) == nullptr);
  CHECK(onnx::FindSchema("", "Conv", 0) == nullptr);
}

TEST_CASE("onnx signatures: counts of outputs with gaps, attributes that are not listed") {
  const onnx::Schema* norm = onnx::FindSchema("", "BatchNormalization", 9);
  REQUIRE(norm != nullptr);
  CHECK(norm->output_counts == std::vector<int>{1, 5});
  CHECK(norm->min_outputs == 1);
  CHECK(norm->outputs.size() == 5);
  CHECK(!norm->open_attributes);
  CHECK(onnx::FindSchema("", "BatchNormalization", 15)->output_counts == std::vector<int>{1, 3});
  CHECK(onnx::FindSchema("", "Split", 13)->output_counts.empty());
  const onnx::Schema* layers = onnx::FindSchema("", "LayerNormalization", 17);
  REQUIRE(layers != nullptr);
  CHECK(layers->open_attributes);
  CHECK(layers->attributes.size() == 3);
}

}  // namespace
}  // namespace nn::test::onnx_schema_test
