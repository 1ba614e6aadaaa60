#include "folder/convert_one.h"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "convert/convert_options.h"
#include "nnsuite/version.h"

namespace nn {
namespace {

namespace fs = std::filesystem;

// The bytes of the model at `path` and of the files beside it; 0 if that is not known.
uint64_t SizeOfFiles(const std::string& path, const std::vector<std::string>& beside) {
  std::error_code error;
  uint64_t bytes = 0;
  const auto add = [&](const fs::path& file) {
    const auto size = fs::file_size(file, error);
    if (!error) bytes += size;
  };
  if (fs::is_directory(path, error)) {
    for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
         it.increment(error))
      if (it->is_regular_file(error)) add(it->path());
    return bytes;
  }
  if (!fs::is_regular_file(path, error)) return 0;
  add(path);
  for (const std::string& name : beside) add(fs::path(path).parent_path() / name);
  return bytes;
}

Status Convert(const ConvertJob& job, ReadModel read, const Format& format, ConvertReport& report) {
  const uint64_t before = job.quantize ? SizeOfFiles(job.input, read.model->files.Names()) : 0;
  NN_ASSIGN(report.conversion, ConvertOrCopy(std::move(read), format, job));
  const Conversion& c = report.conversion;
  report.written = c.written.has_value();
  report.copy = c.copy || c.copied;
  if (c.written) report.bytes = c.written->bytes;
  report.conversion.bytes_before = before;
  return {};
}

std::string Label(const Format& format, bool dump) {
  return dump ? fmt::format("JSON dump of {}", format.label) : std::string(format.label);
}

Status DigestWritten(const ConvertJob& job, ConvertReport& report) {
  std::vector<std::string> names;
  if (report.conversion.written)
    for (const auto& [name, bytes] : report.conversion.written->side_files) names.push_back(name);
  NN_ASSIGN(report.output_files, DigestModel(job.output, names));
  return {};
}

}  // namespace

bool HasNativeEdits(const edit::EditOptions& edits) {
  return !edits.patch.empty() || edit::HasEdits(edits);
}

ConvertJob JobOf(const FileJob& file, const Format& source) {
  ConvertJob job = {file.options, file.input, file.output, std::string(nnsuite::Version())};
  job.edited = HasNativeEdits(file.edits);
  if (file.hooks) job.hooks = file.hooks(source);
  return job;
}

Result<edit::EditReport> ApplyNativeEdits(const edit::EditOptions& edits, const ConvertJob& job,
                                          ReadModel& read) {
  edit::ApplyOptions options = {edits};
  options.limits = job.limits;
  options.verify = job.verify && !job.dry_run;
  options.verification = RunsOf(job);
  return edit::ApplyEdits(options, job.input, read);
}

Status AddDigests(const std::string& path, const std::vector<std::string>& beside,
                  std::vector<FileDigest>& files) {
  NN_ASSIGN(const std::vector<FileDigest> more, DigestBeside(path, beside));
  files.insert(files.end(), more.begin(), more.end());
  return {};
}

Status ConvertOne(const FileJob& file, ConvertReport& report) {
  report.input = file.input;
  report.output = file.output.empty() ? "-" : file.output;
  report.dry_run = file.options.dry_run;
  NN_ASSIGN(ReadModel read, ReadModelFile(file.input, file.options.limits));
  const ConvertJob job = JobOf(file, *read.format);
  report.input_format = Label(*read.format, read.from_dump);
  report.output_format =
      file.format == nullptr ? Label(*read.format, true) : Label(*file.format, false);
  report.copy = file.format == nullptr || IsCopy(read, *file.format, job);
  report.renamed = report.copy && FirstOptionWith(kChangesNames, job) != nullptr;
  report.typed = report.copy && job.infer_shapes;
  // The output may replace the model, but not the files beside it, which are known only afterwards.
  if (file.digests) {
    NN_ASSIGN(report.input_files, DigestModel(file.input));
  }
  const SideFiles files = read.model->files;
  if (job.edited) {
    NN_ASSIGN(report.native_edit, ApplyNativeEdits(file.edits, job, read));
    if (report.native_edit->verification && !report.native_edit->verification->passed) return {};
  }
  NN_RETURN_IF_ERROR(file.format == nullptr ? file.dump(read, report)
                                            : Convert(job, std::move(read), *file.format, report));
  if (!report.input_files.empty())
    NN_RETURN_IF_ERROR(AddDigests(file.input, files.Names(), report.input_files));
  return file.digests && report.written ? DigestWritten(job, report) : Status();
}

}  // namespace nn
