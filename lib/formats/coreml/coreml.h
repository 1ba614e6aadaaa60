// The Core ML entry of the format table. Free of generated code.
#pragma once

#include "formats/format.h"

namespace nn::coreml {

const Format& CoremlFormat();

}  // namespace nn::coreml
