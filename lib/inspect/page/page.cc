#include "inspect/page/page.h"

#include <fmt/core.h>

#include "base/json/json_writer.h"
#include "base/json/xml.h"
#include "inspect/page/page_json.h"

namespace nn::inspect {
namespace {

constexpr std::string_view kPageStyle =
#include "embed/page_style.inc"
    ;
constexpr std::string_view kPageBody =
#include "embed/page_body.inc"
    ;
constexpr std::string_view kPageScript =
#include "embed/page_script.inc"
    ;

// "<" could end the element that contains the text.
std::string ScriptJson(const Json& json) {
  const std::string text = JsonLine(json);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) c == '<' ? out.append("\\u003c") : out.append(1, c);
  return out;
}

// The policy forbids all that is not in the file.
std::string Page(const std::string& title, const Json& data) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>\n",
      EscapeXml(title));
  out.append(kPageStyle).append("</style>\n</head>\n<body>\n").append(kPageBody);
  out.append("<script type=\"application/json\" id=\"data\">").append(ScriptJson(data));
  out.append("</script>\n<script>\n").append(kPageScript).append("</script>\n</body>\n</html>\n");
  return out;
}

}  // namespace

Result<std::string> ModelPage(const LoadedModel& model, const PageNotes& notes) {
  NN_ASSIGN(Json data, PageModel(model, notes));
  const std::string title = data["title"];
  return Page(title, {{"models", Json::array({std::move(data)})}});
}

Result<std::string> DiffPage(const LoadedModel& a, const LoadedModel& b, const ModelDiff& diff) {
  NN_ASSIGN(Json model_a, PageModel(a, {}));
  NN_ASSIGN(Json model_b, PageModel(b, {}));
  return Page(a.path + " and " + b.path,
              {{"models", Json::array({std::move(model_a), std::move(model_b)})},
               {"diff", PageDiff(a, b, diff)}});
}

}  // namespace nn::inspect
