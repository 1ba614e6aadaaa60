// Hash tables and strings of TensorFlow Lite.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/tflite/file.h"
#include "formats/tflite/file/tensor.h"
#include "support/run_graph.h"

namespace nn::test::tflite_hash_table_test {
namespace {

namespace fb = tflite::fb;
using fb::BuiltinOperator;
using List = std::vector<std::string>;
using Numbers = std::vector<int64_t>;
using Ints = std::vector<int32_t>;

constexpr fb::TensorType kInt64 = fb::TensorType::INT64;
constexpr fb::TensorType kText = fb::TensorType::STRING;
constexpr fb::TensorType kTable = fb::TensorType::RESOURCE;

// Subgraphs whose tensors are numbered by each subgraph from 0.
class File {
 public:
  int32_t Tensor(fb::TensorType type, Ints shape, const Blob& contents = {}) {
    uint32_t buffer = 0;
    if (!contents.empty()) {
      b_.ForceVectorAlignment(contents.size(), 1, 16);
      buffer = static_cast<uint32_t>(buffers_.size());
      buffers_.push_back(fb::CreateBuffer(
          b_, b_.CreateVector(reinterpret_cast<const uint8_t*>(contents.data()), contents.size())));
    }
    tensors_.push_back(fb::CreateTensor(b_, b_.CreateVector(shape), type, buffer,
                                        b_.CreateString(fmt::format("t{}", tensors_.size())), 0,
                                        false, 0, 0, true));
    return static_cast<int32_t>(tensors_.size()) - 1;
  }
  int32_t Of(const List& strings) {
    const auto packed = tflite::PackStrings(strings);
    REQUIRE(packed.has_value());
    return Tensor(kText, {static_cast<int32_t>(strings.size())}, *packed);
  }
  int32_t Of(const Numbers& numbers) {
    return Tensor(kInt64, {static_cast<int32_t>(numbers.size())}, Blob::CopyOf(numbers));
  }
  void Op(BuiltinOperator op, const Ints& inputs, const Ints& outputs,
          fb::BuiltinOptions kind = fb::BuiltinOptions::NONE,
          flatbuffers::Offset<void> options = 0) {
    const auto from = b_.CreateVector(inputs), to = b_.CreateVector(outputs);
    operators_.push_back(
        fb::CreateOperator(b_, static_cast<uint32_t>(codes_.size()), from, to, kind, options));
    const auto code = std::min(static_cast<int>(op), 127);
    codes_.push_back(fb::CreateOperatorCode(b_, static_cast<int8_t>(code), 0, 1, op));
  }
  int32_t Table(int32_t id, fb::TensorType key, fb::TensorType value) {
    const int32_t handle = Tensor(kTable, {1});
    Op(BuiltinOperator::HASHTABLE, {}, {handle}, fb::BuiltinOptions::HashtableOptions,
       fb::CreateHashtableOptions(b_, id, key, value).Union());
    return handle;
  }
  void Fill(int32_t table, int32_t keys, int32_t values) {
    Op(BuiltinOperator::HASHTABLE_IMPORT, {table, keys, values}, {});
  }
  int32_t Find(int32_t table, int32_t x, int32_t fallback, fb::TensorType type, Ints shape) {
    const int32_t y = Tensor(type, std::move(shape));
    Op(BuiltinOperator::HASHTABLE_FIND, {table, x, fallback}, {y});
    return y;
  }
  int32_t Size(int32_t table) {
    const int32_t y = Tensor(kInt64, {1});
    Op(BuiltinOperator::HASHTABLE_SIZE, {table}, {y});
    return y;
  }
  void Once(int32_t subgraph) {
    Op(BuiltinOperator::CALL_ONCE, {}, {}, fb::BuiltinOptions::CallOnceOptions,
       fb::CreateCallOnceOptions(b_, subgraph).Union());
  }
  void If(int32_t condition, int32_t yes, int32_t no) {
    Op(BuiltinOperator::IF, {condition}, {}, fb::BuiltinOptions::IfOptions,
       fb::CreateIfOptions(b_, yes, no).Union());
  }
  // Ends a subgraph.
  void End(const Ints& inputs, const Ints& outputs) {
    const auto tensors = b_.CreateVector(tensors_);
    const auto from = b_.CreateVector(inputs), to = b_.CreateVector(outputs);
    subgraphs_.push_back(fb::CreateSubGraph(b_, tensors, from, to, b_.CreateVector(operators_)));
    tensors_.clear();
    operators_.clear();
  }
  std::string Finish() {
    b_.Finish(fb::CreateModel(b_, 3, b_.CreateVector(codes_), b_.CreateVector(subgraphs_), 0,
                              b_.CreateVector(buffers_)),
              fb::ModelIdentifier());
    return {reinterpret_cast<const char*>(b_.GetBufferPointer()), b_.GetSize()};
  }

 private:
  flatbuffers::FlatBufferBuilder b_;
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers_ = {fb::CreateBuffer(b_)};
  std::vector<flatbuffers::Offset<fb::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<fb::Operator>> operators_;
  std::vector<flatbuffers::Offset<fb::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<fb::SubGraph>> subgraphs_;
};

std::vector<Tensor> Run(File& file, const std::vector<Tensor>& inputs) {
  const auto graph = ImportFile(file.Finish());
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  return RunEverywhere(*graph, inputs);
}

std::string ErrorOf(File& file) {
  const auto graph = ImportFile(file.Finish());
  return graph ? "" : graph.error().message();
}

Numbers NumbersOf(const Tensor& t) {
  return {t.As<int64_t>().begin(), t.As<int64_t>().end()};
}

TEST_CASE("tflite hash tables: filled by an initialization") {
  File f;
  f.Once(1);
  const int32_t to_number = f.Table(7, kText, kInt64);
  const int32_t to_text = f.Table(3, kInt64, kText);
  const int32_t x = f.Tensor(kText, {2, 2});
  const int32_t none = f.Of(Numbers{-1});
  const int32_t unknown = f.Of(List{"?", "never"});
  const int32_t y = f.Find(to_number, x, none, kInt64, {2, 2});
  const int32_t z = f.Find(to_text, y, unknown, kText, {2, 2});
  const int32_t size = f.Size(to_number);
  f.End({x}, {y, z, size});
  // Of equal keys the first counts, and of the contents of a table.
  const int32_t a = f.Table(7, kText, kInt64);
  f.Fill(a, f.Of(List{"one", "", "one", "three"}), f.Of(Numbers{1, 0, 5, 3}));
  f.Fill(a, f.Of(List{"four"}), f.Of(Numbers{4}));
  const int32_t b = f.Table(3, kInt64, kText);
  f.Fill(b, f.Of(Numbers{3, 0, 3}), f.Of(List{"III", "zero", "iii"}));
  f.End({}, {});
  const auto out = Run(f, {Tensor({2, 2}, List{"one", "", "four", "three"})});
  CHECK(NumbersOf(out[0]) == Numbers{1, 0, -1, 3});
  CHECK(out[0].dims() == std::vector<int64_t>{2, 2});
  CHECK(out[1].strings() == List{"?", "zero", "?", "III"});
  CHECK(NumbersOf(out[2]) == Numbers{3});
}

TEST_CASE("tflite hash tables: filled by the model itself") {
  File f;
  const int32_t table = f.Table(0, kInt64, kText);
  const int32_t x = f.Tensor(kInt64, {3});
  f.Fill(table, f.Of(Numbers{10, -20}), f.Of(List{"ten", "minus twenty"}));
  f.Fill(table, f.Of(Numbers{10, 5}), f.Of(List{"X", "V"}));
  // A default value that a run chooses.
  const int32_t fallback = f.Tensor(kText, {1});
  const int32_t y = f.Find(table, x, fallback, kText, {3});
  f.End({x, fallback}, {y, f.Size(table)});
  const auto out = Run(f, {Tensor::Of<int64_t>({3}, {5, 10, -20}), Tensor({1}, List{"none"})});
  CHECK(out[0].strings() == List{"none", "ten", "minus twenty"});
  CHECK(NumbersOf(out[1]) == Numbers{2});
}

TEST_CASE("tflite hash tables: refusals") {
  {
    File f;
    const int32_t table = f.Table(4, kText, kInt64);
    const int32_t x = f.Tensor(kText, {1});
    f.Fill(table, x, f.Of(Numbers{1}));
    const int32_t y = f.Find(table, x, f.Of(Numbers{0}), kInt64, {1});
    f.End({x}, {y});
    CHECK(ErrorOf(f) ==
          "hash table 4 is filled with keys that the run computes, and keeps them in later runs");
  }
  {
    File f;
    const int32_t table = f.Table(4, kText, kInt64);
    const int32_t x = f.Tensor(kText, {1});
    const int32_t y = f.Find(table, x, f.Of(Numbers{0}), kInt64, {1});
    f.Fill(table, f.Of(List{"a"}), f.Of(Numbers{1}));
    f.End({x}, {y});
    CHECK(ErrorOf(f) == "hash table 4 is used before it is filled");
  }
  {
    File f;
    f.Table(4, kText, kInt64);
    const int32_t table = f.Table(4, kInt64, kText);
    f.End({}, {f.Size(table)});
    CHECK(ErrorOf(f).ends_with("hash table 4 maps str to i64 and i64 to str"));
  }
  {
    File f;
    const int32_t table = f.Table(4, kText, kInt64);
    f.Fill(table, f.Of(Numbers{1}), f.Of(Numbers{1}));
    f.End({}, {f.Size(table)});
    CHECK(
        ErrorOf(f).ends_with("hash table 4 maps str to i64, but is filled with i64[1] and "
                             "i64[1]"));
  }
  {
    File f;
    const int32_t table = f.Table(4, kText, kInt64);
    f.Fill(table, f.Of(List{"a", "b"}), f.Of(Numbers{1}));
    f.End({}, {f.Size(table)});
    CHECK(ErrorOf(f).ends_with(
        "hash table 4 is filled with keys of shape [2] and values of shape [1]"));
  }
  // Which contents are the first is known only to a run.
  File f;
  const int32_t condition = f.Tensor(fb::TensorType::BOOL, {});
  f.If(condition, 1, 2);
  f.End({condition}, {f.Size(f.Table(4, kText, kInt64))});
  for (const char* key : {"a", "b"}) {
    f.Fill(f.Table(4, kText, kInt64), f.Of(List{key}), f.Of(Numbers{1}));
    f.End({}, {});
  }
  const std::string error = ErrorOf(f);
  CHECK_MESSAGE(error.ends_with("and hash table 4 is filled in a branch"), error);
}

TEST_CASE("tflite SKIP_GRAM: written and read") {
  const Graph graph = Parse(R"(graph { in %x: str[1]
      %y = skip_gram(%x) {words=2, max_skip=1, shorter=true}  out "y" = %y })");
  const std::string file = FileOf(graph);
  CHECK(OperatorsOf(file) == List{"SKIP_GRAM v1"});
  const auto again = ImportFile(file);
  REQUIRE_MESSAGE(again.has_value(), again.error().message());
  CHECK(RunEverywhere(*again, {Tensor({1}, List{"a b c"})})[0].strings() ==
        List{"a b", "a c", "a", "b c", "b", "c"});
}

}  // namespace
}  // namespace nn::test::tflite_hash_table_test
