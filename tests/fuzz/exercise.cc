#include "fuzz/exercise.h"

#include <optional>

#include "formats/common/dump.h"
#include "formats/common/dump_writer.h"
#include "formats/format.h"
#include "ir/verify.h"
#include "validators/runner.h"

namespace nn::test {
namespace {

// Smaller than the default, so that what is beyond them is seen, and quickly.
ReadLimits Limits() {
  ReadLimits limits;
  limits.max_items = 100'000;
  return limits;
}

Blob BlobOf(std::string_view bytes) {
  return Blob::Copy(std::as_bytes(std::span(bytes)));
}

// None if the model cannot be dumped, which is allowed.
std::optional<std::string> DumpOf(const ReadModel& model) {
  std::string text;
  DumpWriter out([&](std::string_view piece) { text += piece; }, {DumpWeights::kBase64});
  if (!WriteDump(model, out)) return std::nullopt;
  return text;
}

std::string CheckCopies(const ReadModel& model, const std::string& path, const std::string& dump) {
  auto restored = ReadModelBytes(BlobOf(dump), "m.json", Limits());
  if (!restored) {
    // The text of a model is larger than the model, and has more items.
    if (restored.error().code() == ErrorCode::kLimit) return {};
    return "a dump is not restored: " + restored.error().message();
  }
  if (DumpOf(*restored) != dump) return "a restored model is dumped otherwise";
  const std::string own = model.from_dump ? "m" + std::string(model.format->extensions[0]) : path;
  const auto image = model.format->save(*model.model, ExportOptions{own});
  if (!image) return {};  // files beside it are not there
  std::string saved;
  for (const Blob& b : image->parts)
    saved.append(reinterpret_cast<const char*>(b.data()), b.size());
  const auto again = ReadModelBytes(BlobOf(saved), own, Limits());
  if (!again) {
    if (again.error().code() == ErrorCode::kLimit) return {};
    return "a saved model is not read: " + again.error().message();
  }
  if (DumpOf(*again) != dump) return "a saved model is dumped otherwise";
  return {};
}

}  // namespace

Exercised Exercise(std::string_view bytes, const std::string& path, bool round_trip) {
  Exercised result;
  const auto model = ReadModelBytes(BlobOf(bytes), path, Limits());
  if (!model) return result;
  result.read = true;
  Validate(*model->model, *model->format, ValidateOptions{Profile::kStrict});
  if (!model->format->summarize(*model->model)) result.broken = "a model cannot be summarised";
  if (auto imported = model->format->import(*model->model)) {
    if (const auto s = Verify(imported->graph); !s && s.error().code() == ErrorCode::kInternal)
      result.broken = "an imported graph is broken: " + s.error().message();
  }
  if (!round_trip) return result;
  if (const auto dump = DumpOf(*model)) {
    if (result.broken.empty()) result.broken = CheckCopies(*model, path, *dump);
  }
  return result;
}

}  // namespace nn::test
