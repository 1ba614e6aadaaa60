#include "convert/outputs/tolerance.h"

#include <fmt/format.h>

#include <cmath>

namespace nn {

std::string AcceptingTolerance(std::string_view option, double difference) {
  if (!std::isfinite(difference)) return "no tolerance accepts it";
  const double unit = std::pow(10, std::floor(std::log10(difference)) - 1);
  return fmt::format("{} {:.1e} would accept it", option, unit * std::ceil(difference / unit));
}

}  // namespace nn
