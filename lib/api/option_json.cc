#include "api/option_json.h"

#include <fmt/format.h>

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "api/convert.h"
#include "convert/convert_options.h"

namespace nn::api {

Json OptionJson(const OptionValue& value) {
  return std::visit(
      [](const auto& v) -> Json {
        using T = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::vector<std::string>>) {
          return v;
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          Json list = Json::array();
          for (const double number : v) list.push_back(fmt::format("{}", number));
          return list;
        } else {
          return Json::array({fmt::format("{}", v)});
        }
      },
      value);
}

Json DecidingOptions(const nnsuite::ConvertOptions& options) {
  Json out = Json::object();
  AddDeciding(ConvertOptionTable(), options, out);
  return out;
}

}  // namespace nn::api
