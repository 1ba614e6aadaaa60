#include "folder/state.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file/file.h"
#include "base/json/json_parse.h"
#include "folder/convert_report.h"
#include "nnsuite/version.h"

namespace nn {
namespace {

constexpr uint32_t kStateVersion = 1;
constexpr const char* kVersionKey = "nnconvert_state";

// The inverse of FilesJson().
std::vector<FileDigest> FilesOf(const Json& json) {
  std::vector<FileDigest> out;
  for (const Json& f : json)
    out.push_back({f.at("name").get<std::string>(), f.at("bytes").get<uint64_t>(),
                   f.at("digest").get<std::string>()});
  return out;
}

// Throws nlohmann's exceptions for contents that the schema does not allow.
std::map<std::string, ConvertedModel> ModelsOf(const Json& json, const Json& options) {
  std::map<std::string, ConvertedModel> out;
  if (json.at(kVersionKey) != kStateVersion || json.at("version") != nnsuite::Version() ||
      json.at("options") != options)
    return out;
  for (const auto& [name, model] : json.at("models").items())
    out[name] = {model.at("format").get<std::string>(), FilesOf(model.at("source")),
                 FilesOf(model.at("written"))};
  return out;
}

}  // namespace

FolderState FolderState::Read(const std::string& output, Json options,
                              const std::function<void(const std::string&)>& warn) {
  FolderState state;
  state.path_ = (std::filesystem::path(output) / kName).string();
  state.options_ = std::move(options);
  std::error_code error;
  if (output.empty() || !std::filesystem::exists(state.path_, error)) return state;
  const auto file = ReadFile(state.path_);
  std::string why;
  if (file) {
    try {
      state.models_ = ModelsOf(
          Json::parse(std::string_view(reinterpret_cast<const char*>(file->data()), file->size())),
          state.options_);
    } catch (const Json::exception& e) {
      why = JsonErrorText(e);
    }
  } else {
    why = file.error().message();
  }
  if (!why.empty() && warn)
    warn(fmt::format("{} is not the state of a conversion, so all models are converted: {}",
                     state.path_, why));
  return state;
}

const ConvertedModel* FolderState::Find(const std::string& name) const {
  const auto it = models_.find(name);
  return it == models_.end() ? nullptr : &it->second;
}

void FolderState::Keep(const std::function<bool(const std::string& name)>& is_kept) {
  std::erase_if(models_, [&](const auto& model) { return !is_kept(model.first); });
}

Status FolderState::Write() const {
  Json models = Json::object();
  for (const auto& [name, model] : models_)
    models[name] = {{"format", model.format},
                    {"source", FilesJson(model.source)},
                    {"written", FilesJson(model.written)}};
  return WriteFile(path_, JsonText({{kVersionKey, kStateVersion},
                                    {"version", nnsuite::Version()},
                                    {"options", options_},
                                    {"models", std::move(models)}}));
}

}  // namespace nn
