#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/json/base64.h"
#include "base/json/json.h"
#include "formats/format.h"
#include "formats/holdings.h"
#include "support/blobs.h"
#include "support/files.h"
#include "validators/runner.h"

// Core ML packages (.mlpackage), ML Programs and their weight files.
namespace nn::test::coreml_package_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWeights = "Data/com.apple.CoreML/weights/weight.bin";
constexpr const char* kModel = "Data/com.apple.CoreML/model.mlmodel";

// ---- A program and its weights ------------------------------------------------------------------

template <typename T>
std::string Raw(T v) {
  return {reinterpret_cast<const char*>(&v), sizeof(v)};
}

// A weight file of entries (data type, data), the first one's metadata at 64.
std::string WeightFile(const std::vector<std::pair<uint32_t, std::string>>& entries) {
  std::string out = Raw<uint32_t>(static_cast<uint32_t>(entries.size())) + Raw<uint32_t>(2);
  out.resize(64);
  for (const auto& [type, data] : entries) {
    const uint64_t at = out.size();
    out += Raw<uint32_t>(0xDEADBEEF) + Raw(type) + Raw<uint64_t>(data.size()) + Raw(at + 64);
    out.resize(at + 64);
    out += data;
    out.resize((out.size() + 63) / 64 * 64);
  }
  return out;
}

// At 64: 32 float16; at 192: 64 uint4; at 320: 16 float16.
std::string GoodWeights() {
  return WeightFile({{1, std::string(64, 1)}, {11, std::string(32, 2)}, {1, std::string(32, 3)}});
}

Json Tensor(const std::string& type, const std::vector<int>& dims) {
  Json list = Json::array();
  for (const int d : dims) list.push_back({{"constant", {{"size", d}}}});
  return {{"tensorType", {{"dataType", type}, {"rank", dims.size()}, {"dimensions", list}}}};
}

Json Named(const std::string& name, Json type) {
  return {{"name", name}, {"type", std::move(type)}};
}

Json Immediate(Json type, Json tensor) {
  return {{"type", std::move(type)}, {"immediateValue", {{"tensor", std::move(tensor)}}}};
}

Json Member(const std::string& key, Json value) {
  return {{"key", key}, {"value", std::move(value)}};
}

// An array, also of one element.
template <typename... Elements>
Json List(Elements... elements) {
  Json out = Json::array();
  (out.push_back(std::move(elements)), ...);
  return out;
}

Json Const(const std::string& name, const Json& value) {
  return {{"type", "const"},
          {"outputs", List(Named(name, value["type"]))},
          {"attributes", List(Member("val", value))}};
}

Json InFile(Json type, int offset, const std::string& file = "@model_path/weights/weight.bin") {
  return {{"type", std::move(type)}, {"blobFileValue", {{"fileName", file}, {"offset", offset}}}};
}

Json Input(const std::string& key, const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& n : names) list.push_back({{"name", n}});
  return Member(key, {{"arguments", list}});
}

Json Op(const std::string& type, const Json& inputs, Json output) {
  return {{"type", type}, {"inputs", inputs}, {"outputs", List(std::move(output))}};
}

Json Block(const Json& operations, const std::string& output) {
  return {{"outputs", List(output)}, {"operations", operations}};
}

Json FunctionOf(const std::string& name, const std::vector<int>& x, Json block,
                const std::string& opset = "CoreML8") {
  return Member(name, {{"inputs", List(Named("x", Tensor("FLOAT16", x)))},
                       {"opset", opset},
                       {"block_specializations", List(Member(opset, std::move(block)))}});
}

Json MainOperations() {
  Json choice = Op("cond", List(Input("pred", {"yes"})), Named("y", Tensor("FLOAT16", {1, 4, 1})));
  const auto branch = [](const std::string& type, const std::string& name) {
    return Block(List(Op(type, List(Input("x", {"h"})), Named(name, Tensor("FLOAT16", {1, 4, 1})))),
                 name);
  };
  choice["blocks"] = List(branch("relu", "r"), branch("tanh", "t"));
  return List(
      Const("w", InFile(Tensor("FLOAT16", {4, 8, 1}), 64)),
      Const("b", Immediate(Tensor("FLOAT16", {4}), {{"bytes", {{"values", "ADwAPAA8ADw="}}}})),
      Const("strides", Immediate(Tensor("INT32", {1}), {{"ints", {{"values", List(1)}}}})),
      Const("yes", Immediate(Tensor("BOOL", {}), {{"bools", {{"values", List(true)}}}})),
      Op("conv",
         List(Input("weight", {"w"}), Input("strides", {"strides"}), Input("bias", {"b"}),
              Input("x", {"x"})),
         Named("h", Tensor("FLOAT16", {1, 4, 1}))),
      Const("indices", InFile(Tensor("UINT4", {8, 8}), 192)),
      Const("lut", InFile(Tensor("FLOAT16", {1, 1, 16, 1}), 320)),
      Op("constexpr_lut_to_dense", List(Input("indices", {"indices"}), Input("lut", {"lut"})),
         Named("w2", Tensor("FLOAT16", {8, 8}))),
      std::move(choice));
}

// The dump of a program with two functions that share a weight, with the weight file beside it.
Json ProgramDump(const std::string& weights) {
  const Json other = List(Const("w", InFile(Tensor("FLOAT16", {4, 8}), 64)),
                          Op("linear", List(Input("x", {"x"}), Input("weight", {"w"})),
                             Named("y", Tensor("FLOAT16", {1, 4}))));
  const auto features = [](const std::string& name) {
    const auto array = [](int size) {
      return Json{{"multiArrayType", {{"shape", List(1, size)}, {"dataType", "FLOAT16"}}}};
    };
    return Json{{"name", name},
                {"input", List(Named("x", array(8)))},
                {"output", List(Named("y", array(4)))}};
  };
  const Json model = {
      {"specificationVersion", 9},
      {"description",
       {{"functions", List(features("main"), features("other"))}, {"defaultFunctionName", "main"}}},
      {"mlProgram",
       {{"version", 1},
        {"functions", List(FunctionOf("other", {1, 8}, Block(other, "y")),
                           FunctionOf("main", {1, 8, 1}, Block(MainOperations(), "y")))}}}};
  const Json file = {{"name", "weights/weight.bin"},
                     {"bytes", Base64(std::as_bytes(std::span(weights)))}};
  return {
      {"nn_dump", 1}, {"format", "coreml"}, {"model", {{"$files", List(file)}, {"$model", model}}}};
}

// ---- Packages
// -----------------------------------------------------------------------------------

std::map<std::string, std::string> FilesOf(const FileImage& image) {
  REQUIRE(image.is_folder);
  CHECK(image.parts.empty());
  std::map<std::string, std::string> out;
  for (const auto& [name, parts, keep] : image.side_files) out[name] = Joined(parts);
  return out;
}

FileImage SavedAs(const ReadModel& read, const std::string& path) {
  auto image = read.format->writer.Save(*read.model, ExportOptions{path});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  return *std::move(image);
}

ModelSummary SummaryOf(const ReadModel& read) {
  auto summary = read.format->describer.Summarize(*read.model);
  REQUIRE(summary.has_value());
  return *std::move(summary);
}

std::string FactOf(const ModelSummary& s, const std::string& key) {
  for (const auto& [k, v] : s.metadata)
    if (k == key) return v;
  return "(absent)";
}

// A package of the program below a folder of its own.
class Package {
 public:
  explicit Package(const std::string& weights = GoodWeights()) {
    WriteText(dir_ / "m.json", ProgramDump(weights).dump());
    WriteFolder(path(), FilesOf(SavedAs(ReadOrFail(dir_ / "m.json"), path())));
  }
  std::string path() const { return dir_ / "m.mlpackage"; }
  std::string operator/(const std::string& name) const { return path() + "/" + name; }
  const TempDir& dir() const { return dir_; }

 private:
  TempDir dir_;
};

TEST_CASE("mlpackage: written packages are read back, and copied exactly") {
  const Package p;
  const ReadModel read = ReadOrFail(p.path());
  CHECK(read.format->name == "coreml");
  const auto files = FilesOf(SavedAs(read, "copy.mlpackage"));
  CHECK(files.size() == 3);
  for (const auto& file : files) CHECK_MESSAGE(file.second == ReadText(p / file.first), file.first);
  const Json manifest = Json::parse(files.at("Manifest.json"));
  CHECK(manifest["fileFormatVersion"] == "1.0.0");
  const std::string root = manifest["rootModelIdentifier"];
  CHECK(manifest["itemInfoEntries"][root]["path"] == "com.apple.CoreML/model.mlmodel");
  CHECK(manifest["itemInfoEntries"].size() == 2);
  // The same model, written again, has the same identifiers.
  CHECK(FilesOf(SavedAs(ReadOrFail(p.dir() / "m.json"), "again.mlpackage")) == files);
  CHECK(Validate(*read.model, *read.format, {Profile::kSpec}).empty());
  const auto advice = Validate(*read.model, *read.format, {Profile::kStrict});
  REQUIRE(advice.size() == 1);
  CHECK(advice[0].message == "no output of the model depends on constexpr_lut_to_dense \"w2\"");
}

TEST_CASE("mlpackage: a package keeps all of its files") {
  const Package p;
  WriteText(p / "Data/com.apple.CoreML/notes.txt", "hello");
  fs::create_directories(p / "Data/empty/inner");
  const auto files = FilesOf(SavedAs(ReadOrFail(p.path() + "/"), "copy.mlpackage/"));
  CHECK(files.size() == 5);
  CHECK(files.at("Data/com.apple.CoreML/notes.txt") == "hello");
  CHECK(files.at("Data/empty/inner/").empty());
}

TEST_CASE("mlpackage: a dump holds the package") {
  const Package p;
  fs::create_directories(p / "Data/empty");
  const ReadModel read = ReadOrFail(p.path());
  REQUIRE(WriteDump(read, p.dir() / "copy.json").has_value());
  const ReadModel again = ReadOrFail(p.dir() / "copy.json");
  CHECK(FilesOf(SavedAs(again, "x.mlpackage")) == FilesOf(SavedAs(read, "x.mlpackage")));
}

TEST_CASE("mlpackage: dumps whose files cannot be written are refused") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"../weight.bin", "is not a path below the folder"},
      {"/weight.bin", "is not a path below the folder"},
      {"a//b", "is not a path below the folder"},
      {"", "is not a path below the folder"},
      {"weights/weight.bin", "another file has this name"},
      {"weights", "is both a file and a folder"},
      {"Manifest.json", "not a JSON object"},
      {"weights/", "expected {"},
  };
  for (const auto& c : cases) {
    const std::string &name = c.first, &message = c.second;
    CAPTURE(name);
    Json dump = ProgramDump(GoodWeights());
    Json file = {{"name", name}, {"bytes", "AAAA"}};
    if (name == "weights/") file.erase("bytes");
    dump["model"]["$files"].push_back(std::move(file));
    const TempDir dir;
    WriteText(dir / "m.json", dump.dump());
    const auto read = ReadModelFile(dir / "m.json");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code() == ErrorCode::kParse);
    CHECK_MESSAGE(read.error().message().find(message) != std::string::npos,
                  read.error().message());
  }
}

TEST_CASE("mlpackage: weights beside a model file that is named itself") {
  const Package p;
  const ReadModel read = ReadOrFail(p / kModel);
  CHECK(FactOf(SummaryOf(read), "weights").find("3 entries") != std::string::npos);
  const auto files = FilesOf(SavedAs(read, "copy.mlpackage"));
  CHECK(files.at(kWeights) == GoodWeights());
  const auto refused = read.format->writer.Save(*read.model, ExportOptions{"copy.mlmodel"});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code() == ErrorCode::kUnsupported);
  CHECK(refused.error().message().find("weights/weight.bin") != std::string::npos);
  // Without its package, it can still be inspected.
  WriteText(p.dir() / "alone.mlmodel", ReadText(p / kModel));
  const ModelSummary s = SummaryOf(ReadOrFail(p.dir() / "alone.mlmodel"));
  CHECK(s.parameter_count == 100);
  CHECK(s.parameter_bytes == 136);
  CHECK(FactOf(s, "weights").find("does not exist") != std::string::npos);
}

TEST_CASE("mlpackage: the tensors of a program") {
  const Package p;
  const ReadModel read = ReadOrFail(p.path());
  const ModelSummary s = SummaryOf(read);
  const auto tensors = read.format->describer.TensorsOf(*read.model);
  REQUIRE(tensors.has_value());
  CHECK(tensors->size() == 3);
  uint64_t bytes = 0;
  for (const TensorEntry& e : *tensors) {
    CAPTURE(e.name);
    bytes += e.bytes;
    CHECK(e.external);
    CHECK(e.location.find("weight.bin at ") != std::string::npos);
    REQUIRE_FALSE(e.users.empty());
    REQUIRE(e.users.back() < s.operators.size());
    CHECK(e.name.starts_with(s.operators[e.users[0]].name));
    const auto contents = e.read();
    if (contents) CHECK(contents->byte_size() == e.bytes);
  }
  // Two floats are stored in the program itself.
  CHECK(bytes + 2 * sizeof(float) == s.parameter_bytes);
}

TEST_CASE("mlpackage: a summary of a program") {
  const Package p;
  const ReadModel read = ReadOrFail(p.path());
  const ModelSummary s = SummaryOf(read);
  CHECK(s.parameter_count == 32 + 4 + 64);
  CHECK(s.parameter_bytes == 64 + 8 + 32 + 32);
  CHECK(FactOf(s, "kind") == "mlProgram");
  CHECK(FactOf(s, "function main") == "CoreML8, 11 operations");
  CHECK(FactOf(s, "weight storage") == "3 FLOAT16 (104 B), 1 UINT4 (32 B)");
  std::vector<std::string> rows;
  for (const OperatorSummary& op : s.operators)
    rows.push_back(op.op + " " + op.name + " @" + op.scope);
  CHECK(rows == std::vector<std::string>{
                    "const w @other", "linear y @other", "const w @", "const b @",
                    "const strides @", "const yes @", "conv h @", "const indices @", "const lut @",
                    "constexpr_lut_to_dense w2 @", "cond y @", "relu r @y.0", "tanh t @y.1"});
  const OperatorSummary& conv = s.operators[6];
  CHECK(conv.inputs == std::vector<std::string>{"x", "w"});
  CHECK(conv.attributes ==
        std::vector<std::pair<std::string, std::string>>{
            {"bias", "[1.0, 1.0, 1.0, 1.0]"}, {"strides", "[1]"}, {"type", "FLOAT16[1, 4, 1]"}});
  CHECK(s.operators[10].attributes[0] == std::pair<std::string, std::string>{"pred", "true"});
  const auto imported = read.format->importer.Import(*read.model);
  CHECK_MESSAGE(imported.has_value(), imported.error().message());
}

TEST_CASE("mlpackage: what a program holds beside its graph are its other functions") {
  const Package p;
  const ReadModel read = ReadOrFail(p.path());
  const auto holdings = read.format->describer.HoldingsOf(*read.model);
  REQUIRE(holdings.size() == 1);
  CHECK(holdings[0].kind == "function");
  CHECK(holdings[0].name == "other");
}

TEST_CASE("mlpackage: packed weights count as they are unpacked, shared ones once") {
  // The form of operator sets before CoreML8: packed data is in attributes.
  const std::string lut(32, 0);
  const Json unpack = {
      {"type", "constexpr_lut_to_dense"},
      {"outputs", List(Named("w", Tensor("FLOAT16", {8, 8})))},
      {"attributes",
       List(Member("indices", InFile(Tensor("UINT4", {8, 8}), 192)),
            Member("lut",
                   Immediate(Tensor("FLOAT16", {16}),
                             {{"bytes", {{"values", Base64(std::as_bytes(std::span(lut)))}}}})))}};
  Json dump = ProgramDump(GoodWeights());
  dump["model"]["$model"]["mlProgram"]["functions"] =
      List(FunctionOf("main", {1, 8}, Block(List(unpack), "w"), "CoreML7"),
           FunctionOf("other", {1, 8}, Block(List(unpack), "w"), "CoreML7"));
  const TempDir dir;
  WriteText(dir / "m.json", dump.dump());
  const ModelSummary s = SummaryOf(ReadOrFail(dir / "m.json"));
  CHECK(s.parameter_count == 64);
  CHECK(s.parameter_bytes == 32 + 2 * 32);
  CHECK(FactOf(s, "weight storage") == "2 FLOAT16 (64 B), 1 UINT4 (32 B)");
}

TEST_CASE("mlpackage: a network in a package is a network") {
  const TempDir dir;
  const std::string path = dir / "net.mlpackage";
  const Format* format = FindFormat("coreml");
  WriteModel(dir / "net.mlmodel", R"(graph {
    in %x: f32[2, 3]
    %y = relu(%x)
    out "y" = %y
  })");
  const auto graph = ReadGraph(dir / "net.mlmodel");
  REQUIRE(graph.has_value());
  ExportOptions options;
  options.path = path;
  options.core_ml = "network";
  const auto image = format->writer.Write(*graph, options);
  REQUIRE(image.has_value());
  WriteFolder(path, FilesOf(*image));
  CHECK(ReadGraph(path).has_value());
  CHECK(Joined(SavedAs(ReadOrFail(path), "net.mlmodel").parts) == ReadText(dir / "net.mlmodel"));
}

// ---- Broken packages
// ----------------------------------------------------------------------------

struct BrokenCase {
  const char* name;
  std::function<void(const Package&)> damage;
  ErrorCode code;
  const char* message;
};

void EditManifest(const Package& p, const std::function<void(Json&)>& edit) {
  Json manifest = Json::parse(ReadText(p / "Manifest.json"));
  edit(manifest);
  WriteText(p / "Manifest.json", manifest.dump());
}

void SetRootPath(const Package& p, const std::string& path) {
  EditManifest(p, [&](Json& m) {
    m["itemInfoEntries"][m["rootModelIdentifier"].get<std::string>()]["path"] = path;
  });
}

void LinkTo(const fs::path& target, const std::string& place) {
  fs::remove(place);
  fs::create_symlink(target, place);
}

TEST_CASE("mlpackage: packages that cannot be read") {
  const std::vector<BrokenCase> cases = {
      {"no manifest", [](const Package& p) { fs::remove(p / "Manifest.json"); }, ErrorCode::kParse,
       "has no Manifest.json"},
      {"manifest is no JSON", [](const Package& p) { WriteText(p / "Manifest.json", "{"); },
       ErrorCode::kParse, "not a JSON object"},
      {"manifest of version 2",
       [](const Package& p) { EditManifest(p, [](Json& m) { m["fileFormatVersion"] = "2.0.0"; }); },
       ErrorCode::kUnsupported, "fileFormatVersion \"2.0.0\""},
      {"version is no version",
       [](const Package& p) { EditManifest(p, [](Json& m) { m["fileFormatVersion"] = "new"; }); },
       ErrorCode::kParse, "must have the form"},
      {"no root",
       [](const Package& p) { EditManifest(p, [](Json& m) { m.erase("rootModelIdentifier"); }); },
       ErrorCode::kParse, "rootModelIdentifier is missing"},
      {"root is not an item",
       [](const Package& p) { EditManifest(p, [](Json& m) { m["rootModelIdentifier"] = "x"; }); },
       ErrorCode::kParse, "the root model \"x\" is not an item"},
      {"root outside", [](const Package& p) { SetRootPath(p, "../../secret.mlmodel"); },
       ErrorCode::kModel, "is outside the package"},
      {"root absolute", [](const Package& p) { SetRootPath(p, "/etc/passwd"); }, ErrorCode::kModel,
       "is outside the package"},
      {"root is a folder", [](const Package& p) { SetRootPath(p, "com.apple.CoreML"); },
       ErrorCode::kModel, "not a regular file"},
      {"root does not exist",
       [](const Package& p) { SetRootPath(p, "com.apple.CoreML/x.mlmodel"); }, ErrorCode::kIo,
       "x.mlmodel"},
      {"model links outside",
       [](const Package& p) {
         WriteText(p.dir() / "outside", ReadText(p / kModel));
         LinkTo(p.dir() / "outside", p / kModel);
       },
       ErrorCode::kModel, "cp -RL"},
      {"weights link outside", [](const Package& p) { LinkTo("/etc/passwd", p / kWeights); },
       ErrorCode::kModel, "symbolic link leaves the model's folder"},
      {"a folder links outside",
       [](const Package& p) { fs::create_directory_symlink("/etc", p / "Data/more"); },
       ErrorCode::kModel, "Data/more"},
      {"model is a Git LFS pointer",
       [](const Package& p) {
         WriteText(p / kModel, "version https://git-lfs.github.com/spec/v1\n");
       },
       ErrorCode::kParse, "a Git LFS pointer"},
      {"model is no model", [](const Package& p) { WriteText(p / kModel, "\xff\xff"); },
       ErrorCode::kParse, kModel},
  };
  for (const BrokenCase& c : cases) {
    CAPTURE(c.name);
    const Package p;
    c.damage(p);
    const auto read = ReadModelFile(p.path());
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code() == c.code);
    CHECK_MESSAGE(read.error().message().find(c.message) != std::string::npos,
                  read.error().message());
  }
}

TEST_CASE("mlpackage: links that stay inside are followed") {
  const Package p;
  fs::rename(p / kWeights, p / "Data/blob");
  fs::create_symlink("../../blob", p / kWeights);
  const auto files = FilesOf(SavedAs(ReadOrFail(p.path()), "x.mlpackage"));
  CHECK(files.at(kWeights) == GoodWeights());
}

// ---- Broken weights
// -----------------------------------------------------------------------------

std::string With(size_t offset, const std::string& bytes) {
  return GoodWeights().replace(offset, bytes.size(), bytes);
}

struct WeightCase {
  const char* name;
  std::string file;
  const char* rule;  // "": none is broken
  const char* message;
};

TEST_CASE("mlpackage: weight files that do not hold the weights") {
  const std::vector<WeightCase> cases = {
      {"good", GoodWeights(), "", ""},
      {"empty", "", "COREML-MIL-001", "it has 0 bytes; the header needs 64"},
      {"version 1", With(4, Raw<uint32_t>(1)), "COREML-MIL-001", "the header has version 1"},
      {"count without entries", With(0, Raw<uint32_t>(1000)), "COREML-MIL-001",
       "1000 entries, but 448 bytes have room"},
      {"Git LFS pointer", "version https://git-lfs.github.com/spec/v1\n" + std::string(64, ' '),
       "COREML-MIL-001", "a Git LFS pointer"},
      {"sentinel", With(64, Raw<uint32_t>(0xDEADBEEE)), "COREML-MIL-001",
       "no entry at 64: it begins with 0xdeadbeee"},
      {"data type", With(68, Raw<uint32_t>(18)), "COREML-MIL-001", "unknown data type 18"},
      {"size", With(72, Raw<uint64_t>(10000)), "COREML-MIL-001", "10000 bytes at 128"},
      {"size and offset wrap", With(72, Raw<uint64_t>(~uint64_t{0} - 100)), "COREML-MIL-001",
       "the file has 448"},
      {"offset", With(80, Raw<uint64_t>(417)), "COREML-MIL-001", "64 bytes at 417"},
      {"truncated", GoodWeights().substr(0, 390), "COREML-MIL-001", "32 bytes at 384"},
      {"truncated metadata", GoodWeights().substr(0, 340), "COREML-MIL-001",
       "the entry at 320 is outside the file"},
      {"not a whole number of elements", With(72, Raw<uint64_t>(63)), "COREML-MIL-001",
       "not a whole number of FLOAT16"},
      {"unused bits of bytes do not count", With(88, Raw<uint64_t>(77)), "", ""},
      {"unused bits of a sub-byte type", With(216, Raw<uint64_t>(4)), "COREML-MIL-002",
       "the value has 64 elements, but its weight entry has 63"},
      {"too many unused bits", With(216, Raw<uint64_t>(8)), "COREML-MIL-001",
       "8 bits of them unused"},
      {"another type", With(68, Raw<uint32_t>(6)), "COREML-MIL-002",
       "the value has type FLOAT16, but its weight entry has type INT16"},
      {"another size", With(72, Raw<uint64_t>(62)), "COREML-MIL-002",
       "the value has 32 elements, but its weight entry has 31"},
  };
  for (const WeightCase& c : cases) {
    CAPTURE(c.name);
    const Package p;
    WriteText(p / kWeights, c.file);
    const ReadModel read = ReadOrFail(p.path());
    CHECK(SummaryOf(read).parameter_count == 100);
    CHECK(FilesOf(SavedAs(read, "x.mlpackage")).at(kWeights) == c.file);
    const auto findings = Validate(*read.model, *read.format, {});
    if (c.rule[0] == '\0') {
      CHECK(findings.empty());
      continue;
    }
    REQUIRE_FALSE(findings.empty());
    CHECK(std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
      return f.rule == c.rule && f.message.find(c.message) != std::string::npos;
    }));
    CHECK_MESSAGE(findings[0].rule == c.rule, findings[0].message);
  }
}

TEST_CASE("mlpackage: names of weight files that lead elsewhere are not opened") {
  for (const std::string name : {"@model_path/../../../m.json", "/etc/passwd", "weights/weight.bin",
                                 "@model_path/", "@model_path/weights/../weights/weight.bin"}) {
    CAPTURE(name);
    Json dump = ProgramDump(GoodWeights());
    Json& block = dump["model"]["$model"]["mlProgram"]["functions"][0]["value"]
                      ["block_specializations"][0]["value"];
    block["operations"][0]["attributes"][0]["value"]["blobFileValue"]["fileName"] = name;
    const TempDir dir;
    WriteText(dir / "m.json", dump.dump());
    WriteFolder(dir / "m.mlpackage", FilesOf(SavedAs(ReadOrFail(dir / "m.json"), "m.mlpackage")));
    const ReadModel read = ReadOrFail(dir / ("m.mlpackage/" + std::string(kModel)));
    const auto findings = Validate(*read.model, *read.format, {});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].rule == "COREML-MIL-001");
    CHECK(findings[0].message.find("is not a path below the model's folder") != std::string::npos);
  }
}

TEST_CASE("mlpackage: rules of packages and programs") {
  const auto rules_of = [](const std::string& path) {
    const ReadModel read = ReadOrFail(path);
    std::vector<std::string> out;
    for (const Finding& f : Validate(*read.model, *read.format, {})) out.push_back(f.rule);
    return out;
  };
  {
    const Package p;
    EditManifest(p, [](Json& m) {
      for (auto& item : m["itemInfoEntries"]) item.erase("author");
    });
    CHECK(rules_of(p.path()) ==
          std::vector<std::string>{"COREML-PACKAGE-001", "COREML-PACKAGE-001"});
  }
  {
    const Package p;
    EditManifest(p, [](Json& m) {
      m["itemInfoEntries"]["more"] = {
          {"path", "a/b"}, {"name", "b"}, {"author", "a"}, {"description", ""}};
    });
    CHECK(rules_of(p.path()) == std::vector<std::string>{"COREML-PACKAGE-002"});
    fs::create_directories(p / "Data/a/b");
    CHECK(rules_of(p.path()).empty());
  }
  Json dump = ProgramDump(GoodWeights());
  dump["model"]["$model"]["mlProgram"]["functions"][0]["value"]["opset"] = "CoreML7";
  const TempDir dir;
  WriteText(dir / "m.json", dump.dump());
  CHECK(rules_of(dir / "m.json") == std::vector<std::string>{"COREML-MIL-003"});
}

// ---- Other folders
// ------------------------------------------------------------------------------

TEST_CASE("folders that are not packages") {
  const TempDir dir;
  fs::create_directories(dir / "m.mlmodelc/weights");
  fs::create_directories(dir / "other");
  WriteText(dir / "m.mlmodelc/coremldata.bin", "x");
  WriteText(dir / "m.mlmodelc/weights/weight.bin", "x");
  WriteText(dir / "model.espresso.net", "{}");
  for (const std::string name : {"m.mlmodelc", "m.mlmodelc/", "m.mlmodelc/coremldata.bin",
                                 "m.mlmodelc/weights/weight.bin", "model.espresso.net"}) {
    CAPTURE(name);
    const auto read = ReadModelFile(dir / name);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code() == ErrorCode::kUnsupported);
    CHECK(read.error().message().find("compiled Core ML model") != std::string::npos);
  }
  CHECK(ReadModelFile(dir / "other")
            .error()
            .message()
            .find("is a folder, but not an .mlpackage model") != std::string::npos);
  CHECK(ReadModelFile(dir / "none.mlmodelc").error().code() == ErrorCode::kIo);
  CHECK(ReadModelFile(dir / "none.mlpackage").error().code() == ErrorCode::kIo);
}

}  // namespace
}  // namespace nn::test::coreml_package_test
