#include "apps/browser.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdlib>

#include "support/files.h"

namespace nn::test {

std::optional<std::string> FindBrowser() {
  const char* given = std::getenv("NN_CHROMIUM");  // NOLINT(concurrency-mt-unsafe)
  for (const std::string name :
       {given == nullptr ? "" : given, "chromium", "chromium-browser", "google-chrome"}) {
    const std::string command = "command -v '" + name + "' >/dev/null 2>&1";
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    if (!name.empty() && std::system(command.c_str()) == 0) return name;
  }
  return std::nullopt;
}

Json RunInBrowser(const std::string& browser, const std::string& page, std::string_view script) {
  const TempDir dir;
  std::string text = ReadText(page);
  const size_t end = text.rfind("</body>");
  REQUIRE(end != std::string::npos);
  // "<" in the result would be an element.
  text.insert(end, fmt::format("<pre id=\"result\"></pre>\n<script>\n{{\nlet result = null;\n"
                               "try {{\n{}\n}} catch (e) {{ result = {{failure: String(e.stack)}}; "
                               "}}\ndocument.getElementById('result').textContent = "
                               "JSON.stringify(result).replace(/[<>&]/g, ' ');\n}}\n</script>\n",
                               script));
  WriteText(dir / "page.html", text);
  const std::string command = fmt::format(
      "HOME='{0}' timeout 120 '{1}' --headless=new --no-sandbox --disable-gpu "
      "--disable-dev-shm-usage --user-data-dir='{0}/profile' --window-size=1400,900 "
      "--enable-logging=stderr --dump-dom 'file://{0}/page.html' >'{0}/dom' 2>'{0}/log' </dev/null",
      dir.path(), browser);
  CHECK(std::system(command.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe)
  const std::string log = ReadText(dir / "log");
  // Exceptions, and what the policy of the page forbids.
  for (const char* fault : {"Uncaught", "Refused to"})
    CHECK_MESSAGE(log.find(fault) == std::string::npos, log);
  const std::string dom = ReadText(dir / "dom");
  const std::string_view open = "<pre id=\"result\">";
  const size_t from = dom.find(open), to = dom.find("</pre>", from);
  if (from == std::string::npos || to == std::string::npos) return nullptr;
  const Json result =
      Json::parse(dom.substr(from + open.size(), to - from - open.size()), nullptr, false);
  if (result.is_object() && result.contains("failure")) FAIL_CHECK(result["failure"].dump());
  return result;
}

}  // namespace nn::test
