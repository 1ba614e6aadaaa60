#include "apps/nnrun/folder.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/common/progress.h"
#include "apps/nnrun/inputs.h"
#include "apps/nnrun/options.h"
#include "apps/nnrun/results/outputs.h"
#include "base/file/file.h"
#include "base/text/table.h"
#include "base/text/text.h"
#include "passes/core/ports.h"
#include "passes/facts/input_domains.h"
#include "tensorio/digest.h"
#include "tensorio/tensor_archive.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

// The files, in order of their names. Hidden ones are left out.
Result<std::vector<fs::path>> FilesOf(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->is_regular_file(error) && !it->path().filename().string().starts_with("."))
      files.push_back(it->path());
  if (error) return IoError("{}: {}", folder, error.message());
  if (files.empty()) return UsageError("{}: the folder has no files", folder);
  std::ranges::sort(files);
  return files;
}

// The program for the shapes of the inputs, kept as long as they stay.
class Programs {
 public:
  explicit Programs(const RunOptions& options) : options_(options) {}

  Result<const Program*> For(Graph&& graph) {
    std::vector<Type> types;
    for (const Port& p : graph.inputs()) types.push_back(p.value->type());
    if (!program_ || types != types_) {
      NN_ASSIGN(program_, Program::Compile(std::move(graph), options_.program()));
      types_ = std::move(types);
    }
    return &*program_;
  }

 private:
  const RunOptions& options_;
  std::vector<Type> types_;
  std::optional<Program> program_;
};

// One output of all runs along a new first axis.
Result<NamedTensor> StackOf(const std::string& name, std::span<const Tensor> parts) {
  std::vector<int64_t> dims = {static_cast<int64_t>(parts.size())};
  dims.insert(dims.end(), parts[0].dims().begin(), parts[0].dims().end());
  NN_ASSIGN(TensorBuilder all, TensorBuilder::Create(parts[0].dtype(), std::move(dims)));
  int64_t at = 0;
  for (const Tensor& part : parts) {
    if (part.dims() != parts[0].dims())
      return UsageError(
          "output {} is {} for one file and {} for another one, so that --output "
          "cannot hold them as one array",
          Quote(name), ToString(ToDims(parts[0].dims())), ToString(ToDims(part.dims())));
    all.Copy(at, part, 0, part.elements());
    at += part.elements();
  }
  return NamedTensor{name, all.Finish()};
}

// The single input that pictures and arrays without a name are for.
Result<size_t> OpenInput(const std::vector<PortType>& ports, const PortArrays& given) {
  std::optional<size_t> open;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (given[i]) continue;
    if (open)
      return UsageError("each file is one input, but {} and {} are not given: use --input",
                        Quote(ports[*open].name), Quote(ports[i].name));
    open = i;
  }
  if (!open) return UsageError("all inputs are given with --input, and none is left for the files");
  return *open;
}

}  // namespace

Result<std::vector<NamedTensor>> RunFolder(const Graph& graph, const ReadModel& read,
                                           const RunOptions& o, RunReport& report) {
  NN_ASSIGN(const std::vector<fs::path> files, FilesOf(o.inputs_file));
  RunOptions each = o;
  each.inputs_file.clear();
  NN_ASSIGN(const PortArrays fixed, ReadGiven(graph, each));
  const std::vector<PortType> ports = InputTypes(graph, *read.format);
  const std::vector<Domain> domains = InputDomains(graph);
  Programs programs(o);
  std::vector<std::string> names;
  std::vector<std::vector<Tensor>> results(graph.outputs().size());
  Json list = Json::array();
  Progress progress("files", files.size());
  for (const fs::path& path : files) {
    const auto run = [&]() -> Status {
      RunOptions one = each;
      if (IsTensorArchivePath(path.string())) {
        one.inputs_file = path;
      } else {
        NN_ASSIGN(const size_t open, OpenInput(ports, fixed));
        one.inputs.push_back(fmt::format("{}={}", ports[open].name, path.string()));
      }
      Graph bound = graph.Clone();
      NN_ASSIGN(PortArrays given, GivenInputs(bound, read, one));
      NN_ASSIGN(const std::vector<Tensor> inputs,
                CompleteInputs(bound, domains, std::move(given), one));
      NN_ASSIGN(const Program* const program, programs.For(std::move(bound)));
      NN_ASSIGN(std::vector<Tensor> outputs, program->Run(inputs));
      const std::vector<NamedTensor> named = NameOutputs(graph, std::move(outputs));
      RunReport part;
      if (!o.labels.empty())
        NN_RETURN_IF_ERROR(DescribeScores(graph, o.labels, named, part));
      else if (o.digest)
        DigestOutputs(named, part);
      else if (o.output.empty())
        DescribeOutputs(named, part);
      const std::string file = path.filename();
      if (!part.text.empty())
        report.text +=
            fmt::format("{}{}\n{}", report.text.empty() ? "" : "\n", Escape(file), part.text);
      part.json["file"] = file;
      list.push_back(std::move(part.json));
      names.push_back(file);
      for (size_t k = 0; k < results.size(); ++k) results[k].push_back(named[k].tensor);
      return {};
    };
    if (Status done = run(); !done) return tl::unexpected(done.error().In(path.string()));
    progress.Step();
  }
  report.json["files"] = std::move(list);
  std::vector<NamedTensor> stacked;
  if (o.output.empty()) return stacked;
  for (size_t k = 0; k < results.size(); ++k) {
    NN_ASSIGN(NamedTensor all, StackOf(graph.outputs()[k].name, results[k]));
    stacked.push_back(std::move(all));
  }
  const auto count = static_cast<int64_t>(names.size());
  stacked.push_back({"files", Tensor({count}, std::move(names))});
  return stacked;
}

}  // namespace nn::app
