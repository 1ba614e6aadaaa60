#include "ops/reduce/tf_idf.h"
#include <algorithm>
#include <iterator>

#include "base/text/text.h"
#include "formats/onnx/family.h"

namespace nn::onnx {
namespace {

// The modes by TfIdfMode.
constexpr std::string_view kTfIdfModes[] = {"TF", "IDF", "TFIDF"};

// ==== From ONNX ==================================================================================

Status ImportTfIdf(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const std::string mode = ctx.String("mode", "");
  const auto known = std::ranges::find(kTfIdfModes, mode);
  if (known == std::end(kTfIdfModes)) return ModelError("unknown mode {}", Quote(mode));
  TfIdfAttrs a;
  a.mode = static_cast<TfIdfMode>(known - std::begin(kTfIdfModes));
  NN_ASSIGN(a.min_length, ctx.RequiredInt("min_gram_length"));
  NN_ASSIGN(a.max_length, ctx.RequiredInt("max_gram_length"));
  NN_ASSIGN(a.max_skip, ctx.RequiredInt("max_skip_count"));
  a.starts = ctx.Ints("ngram_counts");
  a.indexes = ctx.Ints("ngram_indexes");
  a.pool = ctx.Ints("pool_int64s");
  if (const auto* words = ctx.FindAttr("pool_strings"))
    a.words.assign(words->strings().begin(), words->strings().end());
  a.weights = ctx.Floats("weights");
  return ctx.Emit("tf_idf", {x}, std::move(a));
}

// ==== To ONNX ====================================================================================

Status WriteTfIdf(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<TfIdfAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "TfIdfVectorizer");
  SetString(out, "mode", kTfIdfModes[static_cast<size_t>(a.mode)]);
  SetInt(out, "min_gram_length", a.min_length);
  SetInt(out, "max_gram_length", a.max_length);
  SetInt(out, "max_skip_count", a.max_skip);
  SetInts(out, "ngram_counts", a.starts);
  SetInts(out, "ngram_indexes", a.indexes);
  if (a.words.empty())
    SetInts(out, "pool_int64s", a.pool);
  else
    SetStrings(out, "pool_strings", a.words);
  if (!a.weights.empty()) SetFloats(out, "weights", a.weights);
  return {};
}

constexpr ImportRow kTfIdfImports[] = {
    {.op = "TfIdfVectorizer", .since = 9, .import = ImportTfIdf, .inputs = 1}};

constexpr ExportRow kTfIdfExports[] = {
    {.op = "tf_idf", .write = WriteTfIdf, .min_opset = Since<9>}};

}  // namespace

Family TfIdfFamily() {
  return {.imports = kTfIdfImports, .exports = kTfIdfExports};
}

}  // namespace nn::onnx
