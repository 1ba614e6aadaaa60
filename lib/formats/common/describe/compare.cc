#include "formats/common/describe/compare.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "base/text/text.h"
#include "formats/common/describe/dump.h"
#include "formats/common/describe/dump_writer.h"

namespace nn {
namespace {

using nlohmann::json;

Result<json> DocumentOf(const ReadModel& model) {
  std::string text;
  DumpWriter out([&](std::string_view piece) { text += piece; }, {DumpWeights::kDigest});
  NN_RETURN_IF_ERROR(WriteDump(model, out));
  json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return InternalError("the generated JSON cannot be parsed");
  return document;
}

// The files beside a model: digests by name.
Result<json> SideFilesOf(const ReadModel& model) {
  NN_ASSIGN(const FileImage image, model.format->writer.Save(*model.model, ExportOptions{"model"}));
  json files = json::object();
  for (const SideFile& side : image.side_files) {
    Sha256 sha;
    for (const Blob& part : side.parts) sha.Contents(part);
    files[side.name] = sha.Finish();
  }
  return files;
}

class Comparer {
 public:
  explicit Comparer(size_t limit) : limit_(limit) {}

  void Compare(const std::string& place, const json& a, const json& b) {
    if (found_.size() >= limit_ || a == b) return;
    if (a.is_object() && b.is_object()) {
      for (auto it = a.begin(); it != a.end(); ++it) {
        const auto other = b.find(it.key());
        if (other == b.end())
          Add(Member(place, it.key()), &*it, nullptr);
        else
          Compare(Member(place, it.key()), *it, *other);
      }
      for (auto it = b.begin(); it != b.end(); ++it)
        if (!a.contains(it.key())) Add(Member(place, it.key()), nullptr, &*it);
    } else if (a.is_array() && b.is_array()) {
      for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        const std::string at = place + "/" + std::to_string(i);
        if (i >= a.size() || i >= b.size())
          Add(at, i < a.size() ? &a[i] : nullptr, i < b.size() ? &b[i] : nullptr);
        else
          Compare(at, a[i], b[i]);
      }
    } else {
      Add(place, &a, &b);
    }
  }

  std::vector<FieldDifference> Take() { return std::move(found_); }

 private:
  static std::string Member(const std::string& place, const std::string& key) {
    return place + (json::json_pointer() / key).to_string();
  }

  static std::string Shown(const json* value) {
    constexpr size_t kShown = 80;
    if (value == nullptr) return {};
    std::string text = value->dump(-1, ' ', false, json::error_handler_t::replace);
    if (text.size() > kShown) text = text.substr(0, kShown) + "...";
    return EscapeControls(text);
  }

  void Add(const std::string& place, const json* a, const json* b) {
    if (found_.size() < limit_) found_.push_back({place, Shown(a), Shown(b)});
  }

  size_t limit_;
  std::vector<FieldDifference> found_;
};

}  // namespace

Result<std::vector<FieldDifference>> CompareModels(const ReadModel& a, const ReadModel& b,
                                                   size_t limit) {
  NN_ASSIGN(const json document_a, DocumentOf(a));
  NN_ASSIGN(const json document_b, DocumentOf(b));
  Comparer comparer(limit);
  comparer.Compare("", document_a, document_b);
  NN_ASSIGN(const json files_a, SideFilesOf(a));
  NN_ASSIGN(const json files_b, SideFilesOf(b));
  comparer.Compare("/side_files", files_a, files_b);
  return comparer.Take();
}

}  // namespace nn
