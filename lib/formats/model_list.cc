#include "formats/model_list.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <system_error>

#include "base/text/text.h"
#include "formats/format.h"
#include "formats/recognize.h"

namespace nn {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAnyFolders = "**";  // in a pattern

bool IsHidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

// The readable entries of a folder that are not hidden.
std::vector<fs::directory_entry> ShownEntriesOf(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> out;
  for (auto it = fs::directory_iterator(folder.empty() ? "." : folder, error);
       !error && it != fs::directory_iterator(); it.increment(error))
    if (!IsHidden(it->path())) out.push_back(*it);
  return out;
}

bool IsFolderToSearch(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_directory(error) && !entry.is_symlink(error) &&
         FormatOfPath(entry.path().string()) == nullptr;
}

void AddFolder(const fs::path& folder, std::set<std::string>& out) {
  for (const fs::directory_entry& entry : ShownEntriesOf(folder)) {
    std::error_code error;
    const std::string path = (folder / entry.path().filename()).string();
    if (IsFolderToSearch(entry))
      AddFolder(path, out);
    else if (FormatOfPath(path) != nullptr &&
             (entry.is_regular_file(error) || entry.is_directory(error)))
      out.insert(path);
  }
}

bool HasWildcard(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

// Adds what the remaining parts of a pattern match below `at`.
void Match(const fs::path& at, std::span<const std::string> parts, std::set<std::string>& out) {
  std::error_code error;
  if (parts.empty()) {
    if (fs::is_directory(at, error) && FormatOfPath(at.string()) == nullptr)
      AddFolder(at, out);
    else if (fs::exists(at, error))
      out.insert(at.string());
    return;
  }
  const std::string& part = parts.front();
  const auto rest = parts.subspan(1);
  if (!HasWildcard(part)) return Match(at / part, rest, out);
  if (part == kAnyFolders) {
    Match(at, rest, out);
    for (const fs::directory_entry& entry : ShownEntriesOf(at))
      if (IsFolderToSearch(entry)) Match(at / entry.path().filename(), parts, out);
    return;
  }
  for (const fs::directory_entry& entry : ShownEntriesOf(at)) {
    const std::string name = entry.path().filename().string();
    if (fnmatch(part.c_str(), name.c_str(), 0) == 0) Match(at / name, rest, out);
  }
}

std::vector<std::string> PartsOf(const fs::path& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : path.relative_path())
    if (!part.empty()) parts.push_back(part.string());
  return parts;
}

// The folder before the first part of a pattern with a wildcard.
fs::path PlainPartOf(const fs::path& pattern) {
  fs::path out = pattern.root_path();
  for (const fs::path& part : pattern.relative_path()) {
    if (HasWildcard(part.string())) break;
    out /= part;
  }
  return out;
}

bool IsFolderOfFiles(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error) && FormatOfPath(path) == nullptr && !IsModel(path) &&
         KnownNonModelFolder(path).empty();
}

std::set<std::string> MatchesOf(const std::string& pattern) {
  const fs::path path(pattern);
  std::set<std::string> out;
  Match(path.root_path(), PartsOf(path), out);
  return out;
}

// Whether the parts of a pattern match the first names of a path.
bool MatchesNames(std::span<const std::string> parts, std::span<const std::string> names) {
  if (parts.empty()) return true;
  if (parts.front() == kAnyFolders) {
    for (size_t skipped = 0; skipped <= names.size(); ++skipped)
      if (MatchesNames(parts.subspan(1), names.subspan(skipped))) return true;
    return false;
  }
  return !names.empty() && fnmatch(parts.front().c_str(), names.front().c_str(), 0) == 0 &&
         MatchesNames(parts.subspan(1), names.subspan(1));
}

}  // namespace

std::string FolderOfModels(const std::string& argument) {
  if (!IsPattern(argument)) return argument;
  const std::string folder = PlainPartOf(argument).string();
  return folder.empty() ? "." : folder;
}

bool IsPattern(const std::string& argument) {
  std::error_code error;
  return HasWildcard(argument) && !fs::exists(argument, error);
}

bool StandsForModels(const std::string& argument) {
  return argument != "-" && (IsFolderOfFiles(argument) || IsPattern(argument));
}

bool MatchesPath(const std::string& pattern, const std::string& path) {
  std::vector<std::string> parts = PartsOf(pattern);
  if (parts.size() == 1 && pattern.find('/') == std::string::npos)
    parts.insert(parts.begin(), std::string(kAnyFolders));
  const std::vector<std::string> names = PartsOf(path);
  return !parts.empty() && MatchesNames(parts, names);
}

Result<std::vector<ModelFile>> ExpandModels(const std::vector<std::string>& arguments) {
  std::vector<ModelFile> out;
  std::set<std::string> seen;
  for (const std::string& argument : arguments) {
    std::error_code error;
    const bool there = argument == "-" || fs::exists(argument, error);
    std::set<std::string> found = {argument};
    const bool is_folder = there && IsFolderOfFiles(argument);
    if (is_folder) {
      found.clear();
      AddFolder(argument, found);
      if (found.empty()) return UsageError("{}: the folder has no model files", argument);
    } else if (!there && HasWildcard(argument)) {
      found = MatchesOf(argument);
      if (found.empty()) return UsageError("{}: no file matches the pattern", Quote(argument));
    }
    const fs::path base = is_folder ? fs::path(argument) : PlainPartOf(argument);
    const bool named = !is_folder && (there || !HasWildcard(argument));
    for (const std::string& path : found)
      if (seen.insert(path).second)
        out.push_back({path, named,
                       named ? fs::path(path).filename().string()
                             : fs::path(path).lexically_relative(base).generic_string()});
  }
  return out;
}

}  // namespace nn
