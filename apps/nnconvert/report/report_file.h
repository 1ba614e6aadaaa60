// The file of --report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apps/nnconvert/report/report.h"
#include "base/file/file.h"
#include "base/status.h"

namespace nn::app {

class ReportFile {
 public:
  // The extension determines the form: .json, .md or .html. kUsage for all others. No file if the
  // path is empty.
  static Result<ReportFile> At(const std::string& path);

  // Stages the file, so that a path that cannot be written fails before the conversion.
  Status Open();
  // Writes the whole file, opening it if necessary. `Report` is one of those in report.h.
  template <typename Report>
  Status Write(const Report& report) {
    switch (form_) {
      case Form::kNone:
        return {};
      case Form::kJson:
        return Commit(JsonText(ReportJson(report)));
      case Form::kMarkdown:
        return Commit(MarkdownText(ReportDocument(report)));
      case Form::kHtml:
        return Commit(HtmlText(ReportDocument(report)));
    }
    return {};
  }

 private:
  enum class Form : uint8_t { kNone, kJson, kMarkdown, kHtml };

  Status Commit(std::string_view text);

  Form form_ = Form::kNone;
  std::string path_;
  std::optional<AtomicFile> file_;
};

}  // namespace nn::app
