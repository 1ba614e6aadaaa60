// What TensorFlow Lite for Microcontrollers needs, as text.
#pragma once

#include <string>

#include "base/status.h"
#include "formats/common/describe/micro.h"

namespace nn::app {

std::string MicroText(const Result<MicroModel>& micro);

}  // namespace nn::app
