#include "apps/nnconvert/report/report_file.h"

#include "base/text/text.h"

namespace nn::app {

Result<ReportFile> ReportFile::At(const std::string& path) {
  ReportFile out;
  out.path_ = path;
  if (path.empty()) return out;
  if (path.ends_with(".json"))
    out.form_ = Form::kJson;
  else if (path.ends_with(".md"))
    out.form_ = Form::kMarkdown;
  else if (path.ends_with(".html"))
    out.form_ = Form::kHtml;
  else
    return UsageError("--report {}: the extension must be .json, .md or .html", Quote(path));
  return out;
}

Status ReportFile::Open() {
  if (form_ == Form::kNone || file_) return {};
  NN_ASSIGN(file_, AtomicFile::Create(path_));
  return {};
}

Status ReportFile::Commit(std::string_view text) {
  NN_RETURN_IF_ERROR(Open());
  file_->Write(text);
  return file_->Commit();
}

}  // namespace nn::app
