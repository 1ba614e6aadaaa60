#include "ops/text/text.h"

#include <algorithm>

#include "base/text/text.h"
#include "formats/onnx/family.h"

namespace nn::onnx {
namespace {

// The actions by LetterCase.
constexpr std::string_view kCaseActions[] = {"NONE", "LOWER", "UPPER"};

// ==== From ONNX ==================================================================================

std::vector<std::string> TextList(const ImportContext& ctx, std::string_view name) {
  const auto* a = ctx.FindAttr(name);
  if (a == nullptr) return {};
  return {a->strings().begin(), a->strings().end()};
}

// Whether letters have other mappings than Unicode's simple ones in the locale, such as
// "tr_TR.UTF-8": those are the languages with conditions in its SpecialCasing.txt.
bool HasOwnLetters(std::string_view locale) {
  const std::string_view language = locale.substr(0, locale.find_first_of("_-.@"));
  constexpr std::string_view kLanguages[] = {"tr", "az", "lt"};
  return std::ranges::find(kLanguages, language) != std::end(kLanguages);
}

Status ImportStringNormalizer(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const std::string action = ctx.String("case_change_action", kCaseActions[0]);
  const auto known = std::ranges::find(kCaseActions, action);
  if (known == std::end(kCaseActions))
    return ModelError("unknown case_change_action {}", Quote(action));
  StringNormalizerAttrs a;
  a.to = static_cast<LetterCase>(known - std::begin(kCaseActions));
  a.case_sensitive = ctx.Int("is_case_sensitive", 0) != 0;
  a.stop_words = TextList(ctx, "stopwords");
  const std::string locale = ctx.String("locale", "");
  const bool maps = a.to != LetterCase::kNone || (!a.case_sensitive && !a.stop_words.empty());
  if (maps && HasOwnLetters(locale))
    return UnsupportedError("StringNormalizer with the case mappings of locale {}", Quote(locale));
  return ctx.Emit("string_normalizer", {x}, std::move(a));
}

Status ImportStringSplit(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  StringSplitAttrs a;
  a.delimiter = ctx.String("delimiter", "");
  a.max_splits = std::max<int64_t>(ctx.Int("maxsplit", -1), -1);
  return ctx.Emit("string_split", {x}, std::move(a));
}

Status ImportRegexFullMatch(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (!ctx.HasAttr("pattern")) return ModelError("attribute pattern is missing");
  return ctx.Emit("regex_full_match", {x}, RegexAttrs{ctx.String("pattern", "")});
}

// ==== To ONNX ====================================================================================

Status WriteStringNormalizer(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<StringNormalizerAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "StringNormalizer");
  SetString(out, "case_change_action", kCaseActions[static_cast<size_t>(a.to)]);
  SetInt(out, "is_case_sensitive", a.case_sensitive ? 1 : 0);
  if (!a.stop_words.empty()) SetStrings(out, "stopwords", a.stop_words);
  return {};
}

// Both outputs are required.
Status WriteStringSplit(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<StringSplitAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "StringSplit");
  if (node.outputs().size() < 2) out->add_output(ctx.NewName("counts"));
  if (!a.delimiter.empty()) SetString(out, "delimiter", a.delimiter);
  if (a.max_splits >= 0) SetInt(out, "maxsplit", a.max_splits);
  return {};
}

Status WriteRegexFullMatch(ExportContext& ctx, const Node& node) {
  SetString(ctx.AddNode(node, "RegexFullMatch"), "pattern", node.attrs<RegexAttrs>().pattern);
  return {};
}

constexpr ImportRow kTextImports[] = {
    {.op = "StringNormalizer", .since = 10, .import = ImportStringNormalizer, .inputs = 1},
    {.op = "StringSplit", .since = 20, .import = ImportStringSplit, .inputs = 1},
    {.op = "RegexFullMatch", .since = 20, .import = ImportRegexFullMatch, .inputs = 1}};

constexpr ExportRow kTextExports[] = {
    {.op = "string_normalizer", .write = WriteStringNormalizer, .min_opset = Since<10>},
    {.op = "string_split", .write = WriteStringSplit, .min_opset = Since<20>},
    {.op = "regex_full_match", .write = WriteRegexFullMatch, .min_opset = Since<20>}};

}  // namespace

Family TextFamily() {
  return {.imports = kTextImports, .exports = kTextExports};
}

}  // namespace nn::onnx
