#include "check/provenance.h"

#include <string_view>

#include "base/file/file.h"
#include "base/json/base64.h"
#include "base/json/json_parse.h"
#include "inspect/diff/digests.h"
#include "inspect/loaded.h"

namespace nn::provenance {
namespace {

constexpr const char* kPayload = "payload";

std::string_view TextOf(const Blob& blob) {
  return {reinterpret_cast<const char*>(blob.data()), blob.size()};
}

// The payload of an envelope, whose Base64 may have either alphabet and no padding.
Result<Json> Payload(const Json& envelope) {
  if (envelope.at("payloadType") != kPayloadType)
    return UsageError("the payload of the envelope is {}, not {}",
                      envelope.at("payloadType").dump(), kPayloadType);
  auto text = envelope.at(kPayload).get<std::string>();
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (text.size() % 4 != 0) text += '=';
  const auto bytes = FromBase64(text);
  if (!bytes) return UsageError("the payload of the envelope is not Base64");
  return Json::parse(TextOf(*bytes));
}

}  // namespace

Json HashJson(const nnsuite::ModelDigests& digests) {
  return {{"structure", digests.structure}, {"weights", digests.weights}};
}

std::optional<nnsuite::ModelDigests> HashFrom(const Json& json) {
  const auto text = [&](const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_string()
               ? json[name].get<std::string>()
               : std::string();
  };
  nnsuite::ModelDigests digests{text("structure"), text("weights")};
  if (digests.structure.empty() || digests.weights.empty()) return std::nullopt;
  return digests;
}

std::optional<nnsuite::ModelDigests> HashOf(const std::string& path, const ReadLimits& limits) {
  const auto model = inspect::Load(path, {.limits = limits, .in_full = true});
  if (!model) return std::nullopt;
  auto digests = inspect::DigestsOf(*model);
  if (!digests) return std::nullopt;
  return *std::move(digests);
}

Result<Json> ReadStatement(const std::string& path, bool& is_signed) {
  NN_ASSIGN(const Blob file, ReadFile(path));
  is_signed = false;
  try {
    Json json = Json::parse(TextOf(file));
    if (json.contains("dsseEnvelope")) json = Json(json["dsseEnvelope"]);
    if (json.contains(kPayload)) {
      is_signed = true;
      auto payload = Payload(json);
      if (!payload) return tl::unexpected(payload.error().In(path));
      json = *std::move(payload);
    }
    if (json.at("_type") != kStatementType)
      return UsageError("{}: expected an in-toto statement, \"_type\": \"{}\"", path,
                        kStatementType);
    for (const Json& subject : json.at("subject").get_ref<const Json::array_t&>())
      static_cast<void>(subject.at("digest").get_ref<const Json::object_t&>());
    static_cast<void>(json.at("predicateType").get_ref<const std::string&>());
    return json;
  } catch (const nlohmann::json::exception& e) {
    return UsageError("{}: not an in-toto statement: {}", path, JsonErrorText(e));
  }
}

}  // namespace nn::provenance
