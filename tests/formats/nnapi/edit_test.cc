// Native edits of NNAPI models.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/json/json.h"
#include "formats/native_edits.h"
#include "formats/nnapi/file/native.h"
#include "support/files.h"
#include "support/paths.h"

namespace nn::test::nnapi_edit_test {
namespace {

using nnapi::LifeTime;

TEST_CASE("edit: NNAPI, every model, cut in two") {
  CHECK(CheckCutsOfAll("nnapi") > 200);
}

ReadModel FromText(const std::string& text) {
  auto read = ReadModelBytes(Blob::CopyOf(std::span<const char>(text)), "m.nnapi.json");
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  return *std::move(read);
}

const nnapi::Model& In(const ReadModel& read) {
  return static_cast<const nnapi::Model&>(*read.model);
}

// sum = x + c; y = sum * d; c is in the first pool, d in the second one.
std::string PoolsText() {
  return ReadText(SourcePath("tests/fuzz/corpus/pools.nnapi.json"));
}

TEST_CASE("edit: NNAPI, the flow of operations") {
  const NativeFlow flow = FlowOrFail(FromText(PoolsText()));
  REQUIRE(flow.operators.size() == 2);
  CHECK(flow.operators[1].type == "MUL");
  CHECK(flow.operators[1].inputs == std::vector<size_t>{3, 4, 2});
  CHECK(flow.values[4].name == "d");
  CHECK(flow.values[4].is_constant);
  CHECK(flow.values[2].name == "operand 2");
  CHECK(flow.values[2].is_constant);
  CHECK(!flow.values[3].is_constant);
}

TEST_CASE("edit: NNAPI, pieces have their own lifetimes, uses, pools and no request") {
  const ReadModel read = FromText(PoolsText());
  const NativeFlow flow = FlowOrFail(read);
  const ReadModel same = EditOrFail(read, IdentityOf(flow));
  CHECK(DifferencesOf(read, same) == std::vector<std::string>());
  CHECK(In(same).request.has_value());

  NativeEdit edit = PieceOf(flow, {"sum"}, {"y"});
  edit.names = {{ValueAt(flow, "sum"), "s"}};
  const ReadModel tail = EditOrFail(read, edit);
  const nnapi::Model& model = In(tail);
  CHECK(PortsOf(tail) == PortNames{{"s"}, {"y"}});
  REQUIRE(model.operands.size() == 4);
  CHECK(model.operations[0].inputs == std::vector<uint32_t>{1, 2, 0});
  CHECK(model.operations[0].outputs == std::vector<uint32_t>{3});
  CHECK(model.operands[0].number_of_consumers == 1);  // the activation
  CHECK(model.operands[1].lifetime == LifeTime::kModelInput);
  CHECK(model.operands[2].location == nnapi::DataLocation{0, 8, 8});
  CHECK(model.pools.size() == 1);
  CHECK(model.pools[0].bytes.size() == 16);
  CHECK(!model.request.has_value());
  CHECK(BrokenRules(tail, &read) == std::vector<std::string>());

  const ReadModel head = EditOrFail(read, PieceOf(flow, {"x"}, {"sum"}));
  CHECK(In(head).operands[3].lifetime == LifeTime::kModelOutput);
  CHECK(In(head).operands[3].number_of_consumers == 0);
  CHECK(BrokenRules(head, &read) == std::vector<std::string>());
  const auto whole = RunModel(read);
  REQUIRE_MESSAGE(whole.has_value(), whole.error().message());
  const auto first = RunModel(head, whole->inputs);
  REQUIRE_MESSAGE(first.has_value(), first.error().message());
  const auto second = RunModel(tail, {{"s", first->outputs.at("sum")}});
  REQUIRE_MESSAGE(second.has_value(), second.error().message());
  CHECK(SameBits(second->outputs.at("y"), whole->outputs.at("y")));
}

TEST_CASE("edit: NNAPI, an output that is one no more, and refusals") {
  const ReadModel read = FromText(PoolsText());
  const NativeFlow flow = FlowOrFail(read);
  NativeEdit edit = IdentityOf(flow);
  edit.outputs = {{ValueAt(flow, "sum")}};
  const ReadModel moved = EditOrFail(read, edit);
  CHECK(In(moved).operands[5].lifetime == LifeTime::kTemporaryVariable);
  CHECK(BrokenRules(moved, &read) == std::vector<std::string>());
  const auto refused = [&](const char* output) {
    NativeEdit wrong = IdentityOf(flow);
    wrong.outputs.push_back({ValueAt(flow, output)});
    return EditError(read, wrong);
  };
  CHECK(refused("x") == "\"x\" cannot be an output: an operation must write it");
  CHECK(refused("d") == "\"d\" cannot be an output: an operation must write it");
  CHECK(refused("y") == "\"y\" would be listed twice");
  edit = IdentityOf(flow);
  edit.metadata = {{"author", "us"}};
  CHECK(EditError(read, edit) == "NNAPI models have no metadata; \"author\" cannot be set");
}

TEST_CASE("edit: NNAPI, vendor operations, names and unnamed operands") {
  std::string text = PoolsText();
  const auto replace = [&](const std::string& from, const std::string& to) {
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
  };
  replace("\"MUL\"", "\"OEM_OPERATION\"");
  const ReadModel read = FromText(text);
  NativeEdit edit = PieceOf(FlowOrFail(read), {"sum"}, {"y"});
  CHECK(In(EditOrFail(read, edit)).operations[0].type == nnapi::OperationType::kOemOperation);

  edit = IdentityOf(FlowOrFail(read));
  edit.strip.names = true;
  const ReadModel stripped = EditOrFail(read, edit);
  CHECK(In(stripped).operands[1].name.empty());
  CHECK(PortsOf(stripped) == PortNames{{"x"}, {"y"}});

  replace("\"sum\"", "\"\"");
  replace("\"y\"", "\"\"");
  const ReadModel unnamed = FromText(text);
  const NativeFlow flow = FlowOrFail(unnamed);
  CHECK(flow.values[5].name == "out_0");
  CHECK(PortsOf(EditOrFail(unnamed, PieceOf(flow, {"operand 3"}, {"out_0"}))) ==
        PortNames{{"operand 3"}, {"out_0"}});
  edit = IdentityOf(flow);
  edit.outputs.insert(edit.outputs.begin(), NativeEdit::Port{ValueAt(flow, "operand 3"), {}});
  CHECK(PortsOf(EditOrFail(unnamed, edit)).outputs ==
        std::vector<std::string>{"operand 3", "out_0"});
}

TEST_CASE("edit: NNAPI, an input that a remaining operation writes") {
  const ReadModel read = ReadOrFail(SourcePath("tests/fuzz/corpus/hashtable.nnapi.json"));
  const NativeFlow flow = FlowOrFail(read);
  const size_t hits = flow.operators[0].outputs[1];
  NativeEdit edit = IdentityOf(flow);
  std::erase_if(edit.outputs, [&](const auto& port) { return port.value == hits; });
  edit.inputs.push_back({hits});
  const ReadModel piece = EditOrFail(read, edit);
  const nnapi::Model& model = In(piece);
  const uint32_t unused = model.operations[0].outputs[1];
  CHECK(unused != model.input_indexes.back());
  CHECK(model.operands[unused].lifetime == LifeTime::kTemporaryVariable);
  CHECK(model.operands[model.input_indexes.back()].lifetime == LifeTime::kModelInput);
  CHECK(BrokenRules(piece, &read) == std::vector<std::string>());
}

TEST_CASE("edit: NNAPI, the constants of a piece are packed as views") {
  const TempDir dir;
  WriteModel(dir / "m.nnapi", R"(graph "wide" {
in %x: f32[1, 4, 4, 64]
    const %v: f32[64, 3, 3, 64] = seeded(1)  const %w: f32[64, 3, 3, 64] = seeded(2)
    const %b: f32[64] = seeded(3)
    %a = conv(%x, %v, %b) {layout = nxc, filter_layout = oxi, pads = [1, 1, 1, 1]}
    %y = conv(%a, %w, %b) {layout = nxc, filter_layout = oxi, pads = [1, 1, 1, 1]}
    out "y" = %y
  })");
  const ReadModel read = ReadOrFail(dir / "m.nnapi");
  const NativeFlow flow = FlowOrFail(read);
  REQUIRE(flow.operators.size() == 2);
  NativeEdit edit = IdentityOf(flow);
  edit.keeps[0] = false;
  edit.inputs = {{flow.operators[0].outputs[0]}};
  const ReadModel piece = EditOrFail(read, edit);
  const auto source = In(read).operand_values.pieces();
  REQUIRE(source.size() == 1);
  uint64_t copied = 0, shared = 0;
  for (const Blob& part : In(piece).operand_values.pieces()) {
    const bool is_view =
        part.data() >= source[0].data() && part.data() < source[0].data() + source[0].size();
    (is_view ? shared : copied) += part.size();
  }
  CHECK(shared == 64 * 9 * 64 * 4);
  CHECK(copied < 1000);
  CHECK(BrokenRules(piece) == std::vector<std::string>());
}

}  // namespace
}  // namespace nn::test::nnapi_edit_test
