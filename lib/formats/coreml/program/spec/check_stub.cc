#include "formats/coreml/program/spec/check.h"
namespace nn::coreml::program {
std::optional<std::string> WhyNotFit(const OperationView&) {
  return std::nullopt;
}
}  // namespace nn::coreml::program
