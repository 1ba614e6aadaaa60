#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include <string>

#include "base/json/json.h"
#include "formats/format.h"
#include "formats/nnapi/file/native.h"
#include "formats/nnapi/roles.h"
#include "support/files.h"
#include "support/run_graph.h"

namespace nn::test::nnapi_read_test {
namespace {

Result<std::unique_ptr<NativeModel>> ReadText(const std::string& text,
                                              const ReadLimits& limits = {}) {
  return nnapi::NnapiReader().Read(Blob::Copy(std::as_bytes(std::span(text))), "m.nnapi.json",
                                   limits);
}

std::string ReadError(const std::string& text, const ReadLimits& limits = {}) {
  const auto model = ReadText(text, limits);
  return model ? std::string() : model.error().message();
}

// The error message of importing a model in JSON, or of its unsupported parts.
std::string ImportError(const Json& json) {
  const auto model = ReadText(json.dump());
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  const auto imported = FindFormat("nnapi")->importer.Import(**model);
  if (!imported) return imported.error().message();
  return imported->unsupported.empty() ? std::string() : imported->unsupported[0].reason;
}

Json Tensor(std::vector<int> dims, const std::string& lifetime) {
  return {{"type", "TENSOR_FLOAT32"}, {"dimensions", dims}, {"lifetime", lifetime}};
}
Json Scalar(int value) {
  return {{"type", "INT32"},
          {"dimensions", Json::array()},
          {"lifetime", "CONSTANT_COPY"},
          {"value", {value}}};
}

// y = relu(a + b), a and b of two elements.
Json AddModel() {
  Json b = Tensor({2}, "CONSTANT_COPY");
  b["value"] = {1.5, -3};
  return {{"operands", {Tensor({2}, "MODEL_INPUT"), b, Scalar(1), Tensor({2}, "MODEL_OUTPUT")}},
          {"operations", {{{"type", "ADD"}, {"inputs", {0, 1, 2}}, {"outputs", {3}}}}},
          {"inputIndexes", {0}},
          {"outputIndexes", {3}}};
}

const nnapi::Model& AsModel(const std::unique_ptr<NativeModel>& model) {
  return static_cast<const nnapi::Model&>(*model);
}

Result<Blob> Flatbuffer(const nnapi::Model& model) {
  NN_ASSIGN(const auto parts, nnapi::WriteFlatbuffer(model));
  return nnapi::Memory(parts).Joined();
}

bool SameBytes(const nnapi::Memory& a, const nnapi::Memory& b) {
  return std::ranges::equal(a.Joined().bytes(), b.Joined().bytes());
}

TEST_CASE("nnapi: constants in pieces") {
  const auto bytes = [](size_t count, uint8_t first) {
    std::vector<uint8_t> values(count);
    std::iota(values.begin(), values.end(), first);
    return Blob::CopyOf(values);
  };
  const Blob large = bytes(20000, 3);
  nnapi::MemoryPacker packer;
  CHECK(packer.Append(bytes(5, 1)) == 0u);
  CHECK(packer.Append(large) == 16u);
  CHECK(packer.Append(bytes(0, 0)) == 20016u);
  CHECK(packer.Append(bytes(3, 7)) == 20016u);
  CHECK(packer.size() == 20019);
  const nnapi::Memory memory = packer.Finish();
  REQUIRE(memory.size() == 20019);
  // A view of the constant.
  CHECK(memory.Slice(16, 20000).data() == large.data());
  CHECK(memory.Slice(17, 4).data() == large.data() + 1);
  CHECK(memory.Slice(20019, 0).empty());
  const Blob joined = memory.Joined();
  for (const uint64_t offset : {0, 4, 15, 16, 20014, 20016})
    for (const uint64_t length : {0, 1, 2, 3}) {
      CAPTURE(offset);
      CAPTURE(length);
      CHECK(std::ranges::equal(memory.Slice(offset, length).bytes(),
                               joined.Slice(offset, length).bytes()));
    }
  CHECK(std::to_integer<int>(joined.bytes()[4]) == 5);
  CHECK(std::to_integer<int>(joined.bytes()[15]) == 0);
  CHECK(std::to_integer<int>(joined.bytes()[16]) == 3);
  CHECK(std::to_integer<int>(joined.bytes()[20018]) == 9);
}

TEST_CASE("nnapi flatbuffer: large constants are after the tables") {
  std::vector<uint8_t> values(100001);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i % 251);
  nnapi::Model m;
  m.operand_values = nnapi::Memory({Blob::CopyOf(values), Blob::CopyOf(std::vector<uint8_t>{7})});
  m.pools = {{Blob::CopyOf(std::vector<uint8_t>{1, 2}), {}}, {Blob::CopyOf(values), {}}};
  const auto parts = nnapi::WriteFlatbuffer(m);
  REQUIRE(parts.has_value());
  // The tables; for each large memory, its length and its unchanged pieces.
  REQUIRE(parts->size() == 6);
  CHECK(parts->at(0).size() < values.size());
  CHECK(parts->at(2).data() == m.pools[1].bytes.pieces()[0].data());
  CHECK(parts->at(4).data() == m.operand_values.pieces()[0].data());
  const auto again = nnapi::ReadFlatbuffer(nnapi::Memory(*parts).Joined(), {});
  REQUIRE_MESSAGE(again.has_value(), again.error().message());
  CHECK(SameBytes((*again)->operand_values, m.operand_values));
  REQUIRE((*again)->pools.size() == 2);
  CHECK(SameBytes((*again)->pools[0].bytes, m.pools[0].bytes));
  CHECK(SameBytes((*again)->pools[1].bytes, m.pools[1].bytes));
}

TEST_CASE("nnapi: constants beyond 32 bits of an offset") {
  // Nothing reads the bytes of a view.
  const Blob huge({static_cast<const std::byte*>(nullptr), size_t{3} << 30}, nullptr);
  nnapi::MemoryPacker packer;
  CHECK(packer.Append(huge) == 0u);
  CHECK(!packer.Append(huge));
  CHECK(packer.size() == huge.size());
  nnapi::Model model;
  model.operand_values = packer.Finish();
  CHECK(nnapi::WriteFlatbuffer(model).error().code() == ErrorCode::kUnsupported);
}

TEST_CASE("nnapi json: constants are packed in operand order") {
  const auto read = ReadText(AddModel().dump());
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  const nnapi::Model& m = AsModel(*read);
  CHECK(m.operand_values.size() == 12);
  CHECK(m.operands[1].location == nnapi::DataLocation{0, 0, 8});
  CHECK(m.operands[2].location == nnapi::DataLocation{0, 8, 4});
  CHECK(nnapi::BytesOf(m, m.operands[1])->size() == 8);
  CHECK(!nnapi::BytesOf(m, m.operands[0]));
  CHECK(m.version == 0);
}

TEST_CASE("nnapi json: locations, pools and counts stay as they are given") {
  Json json = AddModel();
  json["operandValuesSize"] = 32;
  json["poolSizes"] = {64};
  json["operands"][1]["lifetime"] = "CONSTANT_REFERENCE";
  json["operands"][1]["location"] = {{"poolIndex", 0}, {"offset", 16}, {"length", 8}};
  json["operands"][2]["location"] = {{"poolIndex", 0}, {"offset", 4}, {"length", 4}};
  json["operands"][0]["numberOfConsumers"] = 7;
  const auto read = ReadText(json.dump());
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  const nnapi::Model& m = AsModel(*read);
  CHECK(m.operand_values.size() == 32);
  REQUIRE(m.pools.size() == 1);
  CHECK(m.pools[0].bytes.size() == 64);
  CHECK(m.operands[0].number_of_consumers == 7);
  float value[2];
  std::memcpy(value, m.pools[0].bytes.Slice(16, 8).data(), 8);
  CHECK(value[0] == 1.5f);
  CHECK(value[1] == -3.0f);
}

TEST_CASE("nnapi: both forms hold the same model") {
  Json json = AddModel();
  json["name"] = "m";
  json["operands"][0]["name"] = "x \"1\"";
  json["operands"][1]["type"] = 77;  // unknown codes are kept
  json["operations"][0]["type"] = 29;
  json["operands"][3]["scale"] = 0.1;
  json["operands"][3]["zeroPoint"] = -4;
  json["operands"][1]["value"] = {1, 255};
  const auto first = ReadText(json.dump());
  REQUIRE_MESSAGE(first.has_value(), first.error().message());
  const nnapi::Model& m = AsModel(*first);
  for (const auto write : {Flatbuffer, nnapi::WriteJson}) {
    const auto bytes = write(m);
    REQUIRE(bytes.has_value());
    CHECK(nnapi::NnapiReader().LikenessOf(bytes->bytes()) >= Likeness::kLikely);
    const auto second = nnapi::NnapiReader().Read(*bytes, "", {});
    REQUIRE_MESSAGE(second.has_value(), second.error().message());
    const nnapi::Model& n = AsModel(*second);
    CHECK(m.operands == n.operands);
    CHECK(m.operations == n.operations);
    CHECK(m.input_indexes == n.input_indexes);
    CHECK(m.output_indexes == n.output_indexes);
    CHECK(m.name == n.name);
    CHECK(SameBytes(m.operand_values, n.operand_values));
  }
}

TEST_CASE("nnapi json: bytes that no operand covers") {
  nnapi::Model m;
  m.operand_values = Blob::CopyOf(std::vector<uint8_t>{0, 0, 7, 0});
  m.pools = {{Blob::CopyOf(std::vector<uint8_t>{1, 2}), {}}, {Blob(), "beside.bin"}};
  const auto text = nnapi::WriteJson(m);
  REQUIRE(text.has_value());
  const auto again = nnapi::ReadJson(*text, ReadLimits{});
  REQUIRE_MESSAGE(again.has_value(), again.error().message());
  CHECK(SameBytes((*again)->operand_values, m.operand_values));
  REQUIRE((*again)->pools.size() == 2);
  CHECK(SameBytes((*again)->pools[0].bytes, m.pools[0].bytes));
  CHECK((*again)->pools[1].file == "beside.bin");
}

TEST_CASE("nnapi json: floats keep their bits") {
  nnapi::Model m;
  m.operand_values = Blob::CopyOf(std::vector<uint32_t>{0x7FC00001, 0xFFC00000, 0x80000000, 1});
  nnapi::Operand o;
  o.type = nnapi::OperandType::kTensorFloat32;
  o.dimensions = {4};
  o.lifetime = nnapi::LifeTime::kConstantCopy;
  o.location.length = 16;
  m.operands = {o};
  const auto text = nnapi::WriteJson(m);
  REQUIRE(text.has_value());
  const auto again = nnapi::ReadJson(*text, ReadLimits{});
  REQUIRE(again.has_value());
  CHECK(SameBytes((*again)->operand_values, m.operand_values));
}

TEST_CASE("nnapi json: operands that share their bytes too often are refused") {
  nnapi::Model m;
  m.operand_values = Blob::CopyOf(std::vector<uint8_t>(1 << 20));
  nnapi::Operand o;
  o.type = nnapi::OperandType::kTensorQuant8Asymm;
  o.lifetime = nnapi::LifeTime::kConstantCopy;
  o.location.length = 1 << 20;
  m.operands.assign(17, o);
  CHECK(nnapi::WriteJson(m).has_value());
  m.operands.assign(18, o);
  CHECK(nnapi::WriteJson(m).error().code() == ErrorCode::kLimit);
}

TEST_CASE("nnapi json: invalid models") {
  struct Row {
    std::string text, error;
  };
  const std::string list = R"({"operands": [], "operations": [)";
  const Row rows[] = {
      {"{", "not JSON"},
      {"[]", "not a JSON object"},
      {"{}", "the list operands is missing"},
      {R"({"operands": 3})", "the list operands is missing"},
      {R"({"operands": [3]})", "operands[0]: not a JSON object"},
      {R"({"operands": [{}]})", "operands[0]: type is missing"},
      {R"({"operands": [{"type": "FLOAT64"}]})", "operands[0]: type is \"FLOAT64\""},
      {R"({"operands": [{"type": 3, "lifetime": 1.5}]})", "lifetime is 1.5; expected an integer"},
      {R"({"operands": [{"type": 3, "lifetime": 1, "dimensions": [-1]}]})", "dimensions is -1"},
      {R"({"operands": [{"type": 3, "lifetime": 1, "dimensions": [4294967296]}]})",
       "dimensions is 4294967296; expected an integer of 32 bits"},
      {R"({"operands": [{"type": 3, "lifetime": 1, "scale": "big"}]})", "expected a number"},
      {R"({"operands": [{"type": 3, "lifetime": 3, "value": ["x"]}]})", "value is"},
      {R"({"operands": [{"type": 1, "lifetime": 3, "value": [2147483648]}]})",
       "value is 2147483648"},
      {R"({"operands": [{"type": 3, "lifetime": 4, "value": [1]}]})", "has no location"},
      {list + R"({"type": "ADD", "inputs": 3}]})", "operations[0]: inputs is not a list"},
      {R"({"operandValuesSize": 1000000000000, "operands": []})", "a pool has 1000000000000 bytes"},
      {R"({"poolSizes": [40000, 40000], "operands": []})", "a pool has 40000 bytes"},
      {R"({"version": 2, "operands": [], "operations": []})", "version 2 of NNAPI files"},
      {std::string(200, '[') + std::string(200, ']'), "JSON values are nested deeper than 100"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(ReadError(row.text).find(row.error) != std::string::npos);
  }
  ReadLimits limits;
  limits.max_items = 4;
  CHECK(ReadError("[" + std::string(200, ',') + "]", limits) == "too many JSON values (max-items)");
}

TEST_CASE("nnapi flatbuffer: every truncation and many corruptions are survived") {
  const auto model = ReadText(AddModel().dump());
  REQUIRE(model.has_value());
  const auto bytes = Flatbuffer(AsModel(*model));
  REQUIRE(bytes.has_value());
  const Format* format = FindFormat("nnapi");
  for (size_t n = 8; n < bytes->size(); ++n)
    CHECK(!nnapi::ReadFlatbuffer(Blob::Copy(bytes->bytes().first(n)), {}));
  int imported = 0;
  for (size_t at = 0; at < bytes->size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      Buffer copy(bytes->size());
      std::memcpy(copy.data(), bytes->data(), bytes->size());
      copy.data()[at] ^= static_cast<std::byte>(flip);
      const auto read = nnapi::ReadFlatbuffer(Blob(std::move(copy)), {});
      if (!read) continue;
      CHECK(nnapi::NnapiDescriber().Summarize(**read).has_value());
      if (format->importer.Import(**read)) ++imported;
    }
  }
  CHECK(imported > 0);  // some bytes are numbers that may have any value
}

TEST_CASE("nnapi flatbuffer: vectors shared by many tables do not multiply") {
  nnapi::Model model;
  nnapi::Operation operation;
  operation.inputs.assign(1000, 0);
  model.operations.assign(100, operation);
  const auto bytes = Flatbuffer(model);
  REQUIRE(bytes.has_value());
  ReadLimits limits;
  limits.max_items = 50000;
  const auto read = nnapi::ReadFlatbuffer(*bytes, limits);
  REQUIRE(!read.has_value());
  CHECK(read.error().code() == ErrorCode::kLimit);
}

TEST_CASE("nnapi import: models that break the rules that it relies on") {
  struct Row {
    std::string what;
    std::function<void(Json&)> change;
    std::string error;
  };
  const Row rows[] = {
      {"operand index", [](Json& m) { m["operations"][0]["inputs"][1] = 9; },
       "operation 0 (ADD): operand 9 does not exist; the model has 4"},
      {"output index", [](Json& m) { m["operations"][0]["outputs"][0] = 4; },
       "operation 0 (ADD): operand 4 does not exist; the model has 4"},
      {"model input index", [](Json& m) { m["inputIndexes"][0] = 4294967295U; },
       "operand 4294967295 does not exist; the model has 4"},
      {"model output index", [](Json& m) { m["outputIndexes"][0] = 17; },
       "operand 17 does not exist; the model has 4"},
      {"input that is none", [](Json& m) { m["inputIndexes"][0] = 1; },
       "operand 1 is a model input, but its lifetime is CONSTANT_COPY"},
      {"input twice",
       [](Json& m) {
         m["inputIndexes"] = {0, 0};
       },
       "occurs twice in the model inputs"},
      {"input not listed", [](Json& m) { m["inputIndexes"] = Json::array(); },
       "operand 0 (MODEL_INPUT) is read before it is written"},
      {"temporary never written",
       [](Json& m) { m["operands"][1]["lifetime"] = "TEMPORARY_VARIABLE"; },
       "operand 1 (TEMPORARY_VARIABLE) is read before it is written"},
      {"constant written", [](Json& m) { m["operands"][3]["lifetime"] = "CONSTANT_COPY"; },
       "it writes operand 3, but the lifetime is CONSTANT_COPY"},
      {"written twice", [](Json& m) { m["operations"].push_back(m["operations"][0]); },
       "operand 3 is written twice"},
      {"unknown lifetime", [](Json& m) { m["operands"][0]["lifetime"] = 12; },
       "its lifetime is 12"},
      {"unknown operand type", [](Json& m) { m["operands"][0]["type"] = 77; },
       "operand 0: type 77 is unknown in NNAPI 1.0"},
      {"unknown operation", [](Json& m) { m["operations"][0]["type"] = 29; },
       "operation 0 (29): NNAPI 1.0 has no operation of this code"},
      {"missing argument",
       [](Json& m) {
         m["operations"][0]["inputs"] = {0, 1};
       },
       "there are 2 inputs; expected 3"},
      {"absent argument", [](Json& m) { m["operands"][1]["lifetime"] = "NO_VALUE"; },
       "input 1 is missing"},
      {"two outputs",
       [](Json& m) {
         m["operations"][0]["outputs"] = {3, 3};
       },
       "there are 2 outputs; expected 1"},
      {"activation code", [](Json& m) { m["operands"][2]["value"] = {4}; },
       "unknown fused activation 4"},
      {"activation of another type", [](Json& m) { m["operands"][2]["type"] = "FLOAT32"; },
       "input 2 is f32[]; expected a scalar of i32"},
      {"constant beyond its pool",
       [](Json& m) {
         m["operands"][1]["location"] = {{"offset", 4294967295U}, {"length", 8}};
       },
       "8 bytes at 4294967295 are outside the pool"},
      {"constant of the wrong size", [](Json& m) { m["operands"][1]["dimensions"] = {3}; },
       "operand 1"},
      {"giant dimensions",
       [](Json& m) {
         m["operands"][1]["dimensions"] = {4294967295U, 4294967295U, 4294967295U, 4294967295U};
       },
       "operand 1"},
      {"declared shape", [](Json& m) { m["operands"][3]["dimensions"] = {3}; },
       "operand 3 is declared as f32[3], but is f32[2]"},
      {"scalar with dimensions", [](Json& m) { m["operands"][2]["dimensions"] = {1}; },
       "the scalar has 1 dimensions"},
      {"zero scale", [](Json& m) { m["operands"][0]["type"] = "TENSOR_QUANT8_ASYMM"; },
       "operand 0: the scale must be positive and finite, not 0"},
      {"zero point",
       [](Json& m) {
         m["operands"][0]["type"] = "TENSOR_QUANT8_ASYMM";
         m["operands"][0]["scale"] = 1;
         m["operands"][0]["zeroPoint"] = 256;
       },
       "TENSOR_QUANT8_ASYMM cannot have zero point 256"},
      {"argument that is no constant",
       [](Json& m) {
         m["operands"][2]["lifetime"] = "MODEL_INPUT";
         m["inputIndexes"] = {0, 2};
       },
       "input 2 must be constant"},
      {"vendor's operation", [](Json& m) { m["operations"][0]["type"] = "OEM_OPERATION"; },
       "OEM_OPERATION is unsupported"},
  };
  CHECK(ImportError(AddModel()) == "");
  for (const Row& row : rows) {
    Json model = AddModel();
    row.change(model);
    CAPTURE(row.what);
    const std::string error = ImportError(model);
    CAPTURE(error);
    CHECK(error.find(row.error) != std::string::npos);
  }
}

TEST_CASE("nnapi summary") {
  Json json = AddModel();
  json["name"] = "net";
  json["operands"][0]["dimensions"] = {0};
  const auto model = ReadText(json.dump());
  REQUIRE(model.has_value());
  const auto s = nnapi::NnapiDescriber().Summarize(**model);
  REQUIRE(s.has_value());
  CHECK(s->format == "NNAPI");
  CHECK(s->version == "HAL 1.0");
  CHECK(s->name == "net");
  REQUIRE(s->inputs.size() == 1);
  CHECK(s->inputs[0].name == "operand 0");
  CHECK(s->inputs[0].type == "TENSOR_FLOAT32");
  CHECK(*s->inputs[0].shape == std::vector<std::string>{"?"});
  REQUIRE(s->operators.size() == 1);
  CHECK(s->operators[0].op == "ADD");
  CHECK(s->operators[0].inputs == std::vector<std::string>{"operand 0", "operand 1"});
  CHECK(s->operators[0].attributes[0] == std::pair<std::string, std::string>("input 2", "1"));
  CHECK(s->parameter_count == 2);
  CHECK(s->parameter_bytes == 8);
}

}  // namespace
}  // namespace nn::test::nnapi_read_test
