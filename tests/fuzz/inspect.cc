#include "fuzz/inspect.h"
#include "apps/nninspect/print/print.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/nninspect/inspection.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "inspect/loaded.h"
#include "inspect/page/page.h"
#include "inspect/picture/picture.h"
#include "inspect/report/inspection.h"

namespace nn::test {
namespace {

std::string Internal(const Error& error) {
  return error.code() == ErrorCode::kInternal ? "internal error: " + error.message()
                                              : std::string();
}

std::string ControlByteIn(std::string_view what, const std::string& text) {
  const auto lines = EscapeLines(text);
  if (lines == text) return {};
  const auto [printed, escaped] = std::mismatch(text.begin(), text.end(), lines.begin());
  const auto at = static_cast<size_t>(printed - text.begin());
  return fmt::format(
      "{}: a raw control byte after {}", what,
      Quote(std::string_view(text).substr(at < 60 ? 0 : at - 60, std::min<size_t>(at, 60))));
}

std::string Tell(const std::string& path) {
  app::InspectOptions options;
  options.model = path;
  options.nodes = options.tensors = options.stats = options.tree = options.cost = true;
  const auto inspection = app::Inspect(options);
  if (!inspection) return Internal(inspection.error());
  options.format = "json";
  JsonText(inspect::InspectionJson(*inspection, options));
  if (std::string bad = ControlByteIn("text", app::InspectionText(*inspection, options));
      !bad.empty())
    return bad;
  for (const bool tensors : {true, false}) {
    app::InspectOptions one;
    one.model = path;
    one.tensors = tensors;
    one.nodes = !tensors;
    const auto table = app::Inspect(one);
    if (!table) continue;
    if (std::string bad = ControlByteIn("csv", app::InspectionCsv(*table)); !bad.empty())
      return bad;
  }
  return {};
}

std::string Draw(const std::string& path) {
  const auto model = inspect::Load(path);
  if (!model) return Internal(model.error());
  const auto picture = inspect::DrawModel(*model, false);
  if (!picture) return Internal(picture.error());
  std::string bad = ControlByteIn("dot", inspect::PictureDot(*picture));
  if (!bad.empty()) return bad;
  const auto all = inspect::DrawModel(*model, true);
  if (!all) return Internal(all.error());
  bad = ControlByteIn("svg", inspect::PictureSvg(*all, false));
  if (!bad.empty()) return bad;
  const auto page = inspect::ModelPage(*model);
  return page ? ControlByteIn("html", *page) : Internal(page.error());
}

}  // namespace

std::string ExerciseInspection(const std::string& path) {
  std::string bad = Tell(path);
  return bad.empty() ? Draw(path) : bad;
}

}  // namespace nn::test
