#include "convert/outputs/expect_options.h"

#include <vector>

namespace nn {

OptionTable ExpectOptionTable() {
  static const std::vector<OptionField> fields = {
      Option<&ExpectOptions::file>(
          "expect", {.help = "Compare the outputs with arrays by name, or out_0, out_1, ... by "
                             "position: .npz or .safetensors",
                     .value = "FILE"}),
      Option<&ExpectOptions::atol>(
          "atol", {.help = "Largest absolute difference (default 1e-6); integers must be equal",
                   .least = 0}),
      Option<&ExpectOptions::rtol>(
          "rtol", {.help = "Largest difference relative to the largest magnitude of the output "
                           "(default 1e-5)",
                   .least = 0}),
  };
  return fields;
}

}  // namespace nn
