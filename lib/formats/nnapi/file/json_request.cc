// Requests in the .nnapi.json form: the HAL's Request, with pool sizes instead of pools.
#include <fmt/format.h>

#include "formats/nnapi/file/json_fields.h"

namespace nn::nnapi {
namespace {

Result<RequestArgument> ReadArgument(const JsonObject& in) {
  RequestArgument a;
  if (!in.is_object()) return ParseError("not a JSON object");
  if (const JsonObject* none = Find(in, "hasNoValue")) {
    if (!none->is_boolean()) return ParseError("hasNoValue must be true or false");
    a.has_no_value = none->get<bool>();
  }
  if (const JsonObject* location = Find(in, "location"))
    NN_RETURN_IF_ERROR(ReadDataLocation(*location, a.location));
  NN_RETURN_IF_ERROR(ReadIntegers(in, "dimensions", a.dimensions));
  return a;
}

Status ReadArguments(const JsonObject& in, const char* key, std::vector<RequestArgument>& out) {
  const JsonObject* list = Find(in, key);
  if (list == nullptr || !list->is_array()) return ParseError("request has no list {}", key);
  for (const JsonObject& entry : *list) {
    auto argument = ReadArgument(entry);
    if (!argument)
      return tl::unexpected(argument.error().In(fmt::format("request.{}[{}]", key, out.size())));
    out.push_back(std::move(*argument));
  }
  return {};
}

Json ArgumentsJson(const std::vector<RequestArgument>& list) {
  Json out = Json::array();
  for (const RequestArgument& a : list)
    out.push_back({{"hasNoValue", a.has_no_value},
                   {"location", DataLocationJson(a.location)},
                   {"dimensions", a.dimensions}});
  return out;
}

}  // namespace

Result<Request> ReadRequest(const JsonObject& in) {
  Request request;
  if (!in.is_object()) return ParseError("request is not a JSON object");
  NN_RETURN_IF_ERROR(ReadArguments(in, "inputs", request.inputs));
  NN_RETURN_IF_ERROR(ReadArguments(in, "outputs", request.outputs));
  NN_RETURN_IF_ERROR(ReadIntegers(in, "poolSizes", request.pool_sizes));
  return request;
}

Json RequestJson(const Request& request) {
  return {{"inputs", ArgumentsJson(request.inputs)},
          {"outputs", ArgumentsJson(request.outputs)},
          {"poolSizes", request.pool_sizes}};
}

}  // namespace nn::nnapi
