#include "folder/plan.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "base/text/text.h"
#include "formats/model_list.h"

namespace nn {
namespace {

namespace fs = std::filesystem;

// Whether `path` is `folder` or below it. Both are canonical.
bool IsWithin(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

// The canonical path, of which the last parts need not exist.
fs::path Canonical(const std::string& path) {
  std::error_code error;
  fs::path out = fs::weakly_canonical(fs::absolute(path, error), error);
  if (!out.has_filename()) out = out.parent_path();  // "folder/"
  return out;
}

class Scan {
 public:
  explicit Scan(const std::string& root) : root_(root), canonical_(Canonical(root)) {}

  Status AddFolder(const fs::path& relative) {
    const fs::path folder = root_ / relative;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      if (!it->path().filename().string().starts_with('.'))
        NN_RETURN_IF_ERROR(Add(*it, relative / it->path().filename()));
    if (error) return IoError("{}: {}", folder.string(), error.message());
    return {};
  }

  FolderPlan plan;

 private:
  Status Add(const fs::directory_entry& entry, const fs::path& relative) {
    std::error_code error;
    const bool is_link = entry.is_symlink(error);
    if (is_link && !IsWithin(fs::weakly_canonical(entry.path(), error), canonical_)) {
      ++plan.skipped;
      return {};
    }
    if (IsModel(entry.path().string())) {
      plan.models.push_back({relative.generic_string(), entry.path().string(), {}});
      return {};
    }
    if (!is_link && entry.is_directory(error)) return AddFolder(relative);
    ++plan.skipped;
    return {};
  }

  fs::path root_;
  fs::path canonical_;
};

std::string ExtensionOf(const Format& format) {
  std::string usual = "." + std::string(format.name);
  return std::ranges::find(format.extensions, usual) != format.extensions.end()
             ? usual
             : std::string(format.extensions.front());
}

// The name without the extension of a model or dump.
std::string_view StemOf(std::string_view name) {
  constexpr std::string_view kDump = ".json";
  const size_t file = name.rfind('/') + 1;
  size_t longest = IsDumpPath(name) ? kDump.size() : 0;
  for (const Format& f : Formats())
    for (const std::string_view e : f.extensions)
      if (name.ends_with(e) && name.size() - file > e.size()) longest = std::max(longest, e.size());
  return name.substr(0, name.size() - longest);
}

// No two models may have one output, nor may one be below another.
Status CheckCollisions(const std::map<std::string, std::string>& inputs_of_outputs) {
  for (const auto& [output, input] : inputs_of_outputs)
    for (fs::path folder = fs::path(output).parent_path(); !folder.empty();
         folder = folder.parent_path())
      if (const auto it = inputs_of_outputs.find(folder.generic_string());
          it != inputs_of_outputs.end())
        return UsageError("{} would become a file, but the output of {} is below it: {}",
                          Quote(it->second), Quote(input), Quote(output));
  return {};
}

}  // namespace

Result<FolderPlan> PlanFolder(const std::string& input, const std::string& output,
                              const Format& format) {
  const fs::path source = Canonical(FolderOfModels(input));
  const fs::path target = Canonical(output);
  if (!output.empty() && IsWithin(target, source))
    return UsageError("{}: the output folder must not be the folder of the models or lie in it",
                      output);
  FolderPlan plan;
  if (IsPattern(input)) {
    NN_ASSIGN(const std::vector<ModelFile> models, ExpandModels({input}));
    for (const ModelFile& m : models) plan.models.push_back({m.name, m.path, {}});
  } else {
    Scan scan(input);
    NN_RETURN_IF_ERROR(scan.AddFolder(""));
    plan = std::move(scan.plan);
  }
  if (plan.models.empty()) return UsageError("{}: the folder has no model files", input);
  std::ranges::sort(plan.models, {}, &PlannedModel::name);
  std::map<std::string, std::string> inputs;  // by output
  for (PlannedModel& m : plan.models) {
    const std::string name = std::string(StemOf(m.name)) + ExtensionOf(format);
    const auto [it, added] = inputs.emplace(name, m.name);
    if (!added)
      return UsageError("{} and {} would both become {}; rename one of them", Quote(it->second),
                        Quote(m.name), Quote(name));
    if (output.empty()) continue;
    if (IsWithin((target / name).lexically_normal(), source))
      return UsageError("{}: the output {} would be in the folder of the models", output,
                        Quote(name));
    m.output = (fs::path(output) / name).string();
  }
  NN_RETURN_IF_ERROR(CheckCollisions(inputs));
  return plan;
}

}  // namespace nn
