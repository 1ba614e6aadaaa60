// The table of Core ML layers and its constraints: one row for each layer of the schema, one rule
// for each label, and refusals that name the constraint.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "formats/coreml/export/layer_fit.h"
#include "formats/coreml/spec/signature_constraints.h"
#include "support/run_graph.h"
#include "validators/coreml/rules.h"

namespace nn::coreml::coreml_signature_test {
namespace {

using L = pb::NeuralNetworkLayer;

TEST_CASE("coreml signatures: every layer of the schema has a row") {
  const auto* layers = L::descriptor()->FindOneofByName("layer");
  REQUIRE(layers != nullptr);
  CHECK(layers->field_count() == 158);
  for (int i = 0; i < layers->field_count(); ++i) {
    const auto* field = layers->field(i);
    CAPTURE(field->name());
    const Signature* signature = FindSignature(field->number());
    REQUIRE(signature != nullptr);
    CHECK(signature->version >= 1);
    CHECK(signature->version <= 5);
  }
  CHECK(FindSignature(0) == nullptr);
  CHECK(FindSignature(1) == nullptr);
}

TEST_CASE("coreml signatures: rows have the numbers, ranks and versions of the table") {
  const Signature& convolution = *FindSignature(L::kConvolution);
  CHECK(convolution.version == 1);
  CHECK(convolution.inputs.ToString() == "1 to 2");
  CHECK(convolution.outputs.ToString() == "1");
  CHECK(convolution.ranks.ToString() == "4 or more");
  CHECK(convolution.same_rank);
  const Signature& concat = *FindSignature(L::kConcatND);
  CHECK(concat.inputs.ToString() == "2 or more");
  CHECK(concat.output_rank == OutputRank::kFirst);
  CHECK(concat.alike == InputsAlike::kPublished);
  const Signature& top_k = *FindSignature(L::kTopK);
  CHECK(top_k.list_input == 1);
  CHECK(top_k.outputs.ToString() == "2");
  CHECK(FindSignature(L::kSlidingWindows)->output_rank == OutputRank::kFirstAnd1);
  CHECK(FindSignature(L::kUpperTriangular)->published_ranks.ToString() == "2 or more");
  CHECK(FindSignature(L::kOneHot)->version == 5);
  CHECK(FindSignature(L::kLoopBreak)->outputs.ToString() == "0");
}

TEST_CASE("coreml signatures: versions of layers with their parameters") {
  L upsample;
  upsample.mutable_upsample()->set_mode(pb::UpsampleLayerParams::BILINEAR);
  CHECK(VersionOf(upsample) == 1);
  upsample.mutable_upsample()->set_linearupsamplemode(pb::UpsampleLayerParams::ALIGN_CORNERS_FALSE);
  CHECK(VersionOf(upsample) == 5);
  CHECK(VersionOf(L()) == 1);
}

TEST_CASE("coreml signatures: each label has a name and is that of one rule") {
  CHECK(Constraints().size() == kLabels);
  std::set<std::string_view> names, rules;
  for (const Constraint& c : Constraints()) {
    CAPTURE(NameOf(c.label));
    CHECK(&ConstraintOf(c.label) == &c);
    CHECK(names.insert(NameOf(c.label)).second);
    const auto ids = RulesOf(c.label);
    REQUIRE(ids.size() == 1);
    CHECK(rules.insert(ids[0]).second);
  }
}

TEST_CASE("coreml signatures: nodes that break a constraint are refused by its label") {
  struct Row {
    const char* label;  // "": the node is accepted
    const char* graph;
  };
  for (const Row& row : {
           Row{"", R"(%y = clip(%x) {min = 0, max = 1})"},
           Row{"intervals-ordered", R"(%y = clip(%x) {min = 2, max = 1})"},
           Row{"output-count", R"(%y = split(%x) {axis = 1, sizes = [4]})"},
           Row{"", R"(%y, %z = split(%x) {axis = 1, sizes = [1, 3]})"},
           Row{"dynamic-weights",
               R"(in %w: f32[2, 4, 3, 3]  %y = conv(%x, %w) {dilations = [2, 2]})"},
           Row{"dynamic-weights-alone",
               R"(in %w: f32[2, 4, 3, 3]  const %b: f32[2] = seeded(1)  %y = conv(%x, %w, %b))"},
           Row{"", R"(in %w: f32[2, 4, 3, 3]  %y = conv(%x, %w))"},
           Row{"matrix-ranks", R"(in %w: f32[6]  %y = matmul(%x, %w))"},
           Row{"numbers-in-range", R"(%y = depth_to_space(%x) {block = 1})"},
           Row{"batch-before-sequence",
               R"(in %n: i64[4]  %y = reverse_sequence(%x, %n) {batch_axis = 1, time_axis = 0})"},
           Row{"tensors-ranked", R"(%y = expand_dims(%x) {axes = [0, 1]})"},
           Row{"weight-counts-fit",
               R"(const %w: f32[1] = seeded(1)  %y = layer_norm(%x, %w) {axis = -1})"},
           Row{"ranks-fit-layer", R"(in %v: f32[2, 3]  const %w: f32[1] = seeded(1)
                 %y = prelu(%v, %w))"},
       }) {
    CAPTURE(row.graph);
    Graph graph = test::Parse("graph { in %x: f32[2, 4, 6, 6]  " + std::string(row.graph) +
                              R"(  out "y" = %y })");
    REQUIRE_FALSE(graph.nodes().empty());
    const auto misfit = FindLayerMisfit(graph.nodes().back());
    CHECK((misfit ? misfit->label : "") == row.label);
    if (misfit) CHECK(misfit->text.find("layer ") == std::string::npos);
  }
}

}  // namespace
}  // namespace nn::coreml::coreml_signature_test
