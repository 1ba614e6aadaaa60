// The definitions of ML Program operations.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/coreml/program/spec/signature.h"
#include "formats/coreml/program/spec/words.h"

namespace nn::coreml::program::program_spec_test {
namespace {

namespace mil = pb::mil;
using Presence = spec::Operand::Presence;

const Definition& Get(std::string_view op, Opset opset) {
  const Definition* found = Find(op, opset);
  REQUIRE_MESSAGE(found != nullptr, op);
  return *found;
}

const spec::Operand& InputOf(const Definition& definition, std::string_view name) {
  const spec::Operand* found = definition.Input(name);
  REQUIRE_MESSAGE(found != nullptr, name);
  return *found;
}

bool IsRegistered(const Definition& d) {
  return d.module != kDialect && d.module != kBackend;
}

// "x, weight, bias?"
std::string InputsOf(const Definition& definition) {
  std::string text;
  for (const spec::Operand& o : definition.inputs)
    text += (text.empty() ? "" : ", ") + std::string(o.name) +
            (o.presence == Presence::kOptional && !o.repeats ? "?" : "");
  return text;
}

std::string TypesIn(const Definition& definition, const spec::Operand& operand) {
  std::string text;
  for (const TypeWord& t : kTypes)
    if (definition.Takes(operand, t.type)) text += (text.empty() ? "" : " ") + std::string(t.word);
  return text;
}

TEST_CASE("coreml programs: the numbers of operations and definitions") {
  std::map<Opset, int> counts;
  std::set<std::string_view> names;
  for (const Definition& d : Definitions()) {
    if (!IsRegistered(d)) continue;
    ++counts[d.opset];
    names.insert(d.op);
  }
  // What coremltools registers, beside dialects.
  CHECK(names.size() == 168);
  CHECK(counts[Opset::kIos15] == 152);
  CHECK(counts[Opset::kIos16] == 14);
  CHECK(counts[Opset::kIos17] == 51);
  CHECK(counts[Opset::kIos18] == 10);
  CHECK(counts[Opset::kIos26] == 0);
  // The operation of the builder's dialect, and the one that only files have.
  CHECK(Definitions().size() == 227 + 2);
  std::set<std::string_view> in_files;
  for (const Definition& d : Definitions())
    if (d.in_files()) in_files.insert(d.op);
  CHECK(in_files.size() == 168);
}

TEST_CASE("coreml programs: definitions are unique and complete") {
  std::set<std::pair<std::string_view, Opset>> seen;
  std::set<Label> labels;
  for (const Definition& d : Definitions()) {
    CAPTURE(d.op);
    CHECK(seen.emplace(d.op, d.opset).second);
    CHECK(Find(d.op, d.opset) == &d);
    for (const spec::Operand& o : d.inputs) {
      const bool typed = !d.TypesOf(o).empty() || !o.type_text.empty() || o.repeats;
      CHECK_MESSAGE((typed || d.op == "identity"), o.name);
      // Types of strings are the only ones with choices.
      if (!o.choices.empty()) CHECK(TypesIn(d, o) == "str");
    }
    for (const spec::Variable& v : d.variables) CHECK_FALSE(v.types.empty());
    for (const Constraint& c : d.constraints) labels.insert(c.label);
  }
  CHECK(labels.size() == kLabels);
}

TEST_CASE("coreml programs: the definition of an opset") {
  CHECK(Find("conv", Opset::kIos15)->opset == Opset::kIos15);
  CHECK(Find("conv", Opset::kIos16)->opset == Opset::kIos15);
  CHECK(Find("conv", Opset::kIos26)->opset == Opset::kIos17);
  CHECK(Find("topk", Opset::kIos16)->opset == Opset::kIos16);
  CHECK(Find("resize", Opset::kIos16) == nullptr);
  CHECK(Find("convolution", Opset::kIos26) == nullptr);
  CHECK(DefinitionsOf("gru").size() == 3);
  CHECK(DefinitionsOf("convolution").empty());
  CHECK(Find("conv", Opset::kIos18)->Clause() == "coremltools, iOS17/conv.py: conv");
  CHECK(Find("quantize", Opset::kIos17)->Clause() ==
        "coremltools, iOS17/quantization_ops.py: quantize");
  CHECK(Find("constexpr_cast", Opset::kIos18)->module == "compression");
}

TEST_CASE("coreml programs: names of opsets and types") {
  CHECK(NameOf(Opset::kIos17) == "iOS17");
  CHECK(FileNameOf(Opset::kIos17) == "CoreML7");
  CHECK(SpecificationVersionOf(Opset::kIos17) == 8);
  CHECK(OpsetNamed("CoreML9") == Opset::kIos26);
  CHECK_FALSE(OpsetNamed("CoreML4").has_value());
  CHECK(TypeNamed("fp16") == mil::FLOAT16);
  CHECK(TypeNamed("uint1") == mil::UINT1);
  CHECK_FALSE(TypeNamed("float").has_value());
}

TEST_CASE("coreml programs: defaults") {
  const Definition& conv = Get("conv", Opset::kIos15);
  CHECK(InputsOf(conv) == "x, weight, bias?, strides?, pad_type?, pad?, dilations?, groups?");
  CHECK(InputOf(conv, "dilations").default_text == "1...");
  CHECK(InputOf(conv, "dilations").element_rule.more == -2);
  CHECK(InputOf(conv, "pad").element_rule.times == 2);
  CHECK(InputOf(conv, "pad_type").default_text == "valid");
  CHECK(InputOf(conv, "pad_type").choices == "valid|same|same_lower|custom");
  CHECK(InputOf(conv, "bias").default_text.empty());
  CHECK(InputOf(Get("layer_norm", Opset::kIos15), "epsilon").default_text == "1e-5");
  CHECK(InputOf(Get("layer_norm", Opset::kIos15), "axes").default_text == "all_axes");
  CHECK(InputOf(Get("l2_norm", Opset::kIos18), "epsilon").default_text == "1e-6");
  CHECK(InputOf(Get("gelu", Opset::kIos15), "mode").default_text == "EXACT");
  CHECK(InputOf(Get("avg_pool", Opset::kIos15), "exclude_padding_from_average").default_text ==
        "false");
  CHECK(InputOf(Get("scatter", Opset::kIos17), "mode").default_text == "add");
  // A required string: pooling has no default for it.
  CHECK(InputOf(Get("max_pool", Opset::kIos15), "pad_type").presence == Presence::kRequired);
}

TEST_CASE("coreml programs: constants and element types") {
  const Definition& conv15 = Get("conv", Opset::kIos15);
  const Definition& conv17 = Get("conv", Opset::kIos17);
  CHECK_FALSE(InputOf(conv15, "weight").constant);
  CHECK(InputOf(conv15, "bias").constant);
  CHECK_FALSE(InputOf(conv17, "bias").constant);
  CHECK(InputOf(conv15, "weight").variable == InputOf(conv15, "x").variable);
  CHECK(InputOf(conv17, "weight").variable != InputOf(conv17, "x").variable);
  CHECK(TypesIn(conv15, InputOf(conv15, "x")) == "f16 f32");
  const Definition& cast = Get("cast", Opset::kIos17);
  CHECK(TypesIn(cast, InputOf(cast, "x")) == "f16 f32 i8 i16 i32 u8 u16 bool");
  CHECK(cast.outputs[0].giving == spec::Operand::Giving::kNamed);
  const Definition& lstm = Get("lstm", Opset::kIos16);
  CHECK(TypesIn(lstm, InputOf(lstm, "x")) == "f32");
  CHECK(InputOf(lstm, "activation").choices == "tanh|scaled_tanh|sigmoid|hard_sigmoid|relu|linear");
  const Definition& matmul = Get("matmul", Opset::kIos17);
  CHECK(TypesIn(matmul, matmul.outputs[0]) == "f16 f32 i32");
  CHECK(matmul.Find(Label::kTypeOfVariable) != nullptr);
  const Definition& linear = Get("linear", Opset::kIos18);
  CHECK(TypesIn(linear, InputOf(linear, "bias")) == "f16 f32 i32");
}

TEST_CASE("coreml programs: compressed constants") {
  const Definition& packed = Get("constexpr_lut_to_dense", Opset::kIos17);
  CHECK(InputsOf(packed) == "indices, lut, shape");
  CHECK(TypesIn(packed, InputOf(packed, "indices")) == "u8");
  CHECK(packed.Find(Label::kStoredAsAttributes) != nullptr);
  const Definition& typed = Get("constexpr_lut_to_dense", Opset::kIos18);
  CHECK(InputsOf(typed) == "indices, lut, vector_axis?");
  CHECK(TypesIn(typed, InputOf(typed, "indices")) == "u1 u2 u3 u4 u6 u8");
  CHECK(InputOf(typed, "lut").ranks.like == 0);
  CHECK(InputOf(typed, "lut").ranks.more == 2);
  CHECK(typed.Find(Label::kStoredAsAttributes) == nullptr);
  const Definition& blocks = Get("constexpr_blockwise_shift_scale", Opset::kIos18);
  CHECK(TypesIn(blocks, InputOf(blocks, "data")) == "f16 f32 i4 i8 u4 u8");
  CHECK(TypesIn(blocks, blocks.outputs[0]) == "f16 f32");
  CHECK(Get("constexpr_sparse_blockwise_shift_scale", Opset::kIos18).outputs.size() == 2);
  for (const Definition& d : Definitions()) {
    if (!d.op.starts_with("constexpr_")) continue;
    CAPTURE(d.op);
    for (const spec::Operand& o : d.inputs) CHECK(o.constant);
  }
}

TEST_CASE("coreml programs: states") {
  const Definition& read = Get("read_state", Opset::kIos18);
  CHECK(Find("read_state", Opset::kIos17) == nullptr);
  CHECK(read.outputs[0].giving == spec::Operand::Giving::kElement);
  CHECK(InputOf(read, "input").type_text == "state(ANY17)");
  const Definition& update = Get("coreml_update_state", Opset::kIos18);
  CHECK_FALSE(update.in_files());
  CHECK(InputsOf(update) == "state, value");
  const Definition& write = Get("write_state", Opset::kIos18);
  CHECK_FALSE(write.in_builder());
  CHECK(write.outputs.empty());
  CHECK(InputsOf(write) == "input, data");
}

TEST_CASE("coreml programs: tuples, blocks and numbers of results") {
  CHECK(InputOf(Get("concat", Opset::kIos15), "values").repeats);
  CHECK_FALSE(InputOf(Get("concat", Opset::kIos15), "values").own_types);
  const Definition& loop = Get("while_loop", Opset::kIos15);
  CHECK(InputOf(loop, "loop_vars").own_types);
  CHECK(loop.parameters.size() == 2);
  CHECK(loop.parameters[1].name == "body");
  CHECK(loop.parameters[1].kind == "block");
  CHECK(Get("const", Opset::kIos15).parameters[0].kind == "value");
  CHECK(Get("topk", Opset::kIos15).output_counts.empty());
  CHECK(Get("topk", Opset::kIos16).output_counts == std::vector<int>{1, 2});
  CHECK(Get("split", Opset::kIos15).outputs[0].repeats);
  CHECK(Get("non_maximum_suppression", Opset::kIos15).outputs.size() == 4);
  CHECK(Get("non_maximum_suppression", Opset::kIos17).outputs.size() == 3);
}

TEST_CASE("coreml programs: ranks and constraints") {
  const Definition& prelu = Get("prelu", Opset::kIos15);
  CHECK(InputOf(prelu, "x").ranks.range.ToString() == "3 to 5");
  CHECK(InputOf(prelu, "alpha").ranks.range.ToString() == "1");
  const Definition& norm = Get("batch_norm", Opset::kIos15);
  CHECK(InputOf(norm, "x").ranks.range.is_any());
  CHECK(InputOf(norm, "x").published_ranks.range.ToString() == "3 to 5");
  const Constraint* channels = norm.Find(Label::kChannels);
  REQUIRE(channels != nullptr);
  CHECK(channels->published);
  CHECK(channels->operands == std::vector<std::string_view>{"x", "mean"});
  CHECK(Get("add", Opset::kIos15).outputs[0].ranks.like == spec::RankRule::kLargest);
  CHECK(Get("clip", Opset::kIos16).Find(Label::kLess) == nullptr);
  CHECK(Get("clip", Opset::kIos17).Find(Label::kLess) != nullptr);
  CHECK(Get("reshape", Opset::kIos16).Find(Label::kZerosNeedRank) != nullptr);
  CHECK(Get("reshape", Opset::kIos17).Find(Label::kZerosFromTheEnd) != nullptr);
}

}  // namespace
}  // namespace nn::coreml::program::program_spec_test
