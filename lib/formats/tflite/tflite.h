// The TensorFlow Lite entry of the format table. Free of generated code.
#pragma once

#include "formats/format.h"

namespace nn::tflite {

const Format& TfliteFormat();

}  // namespace nn::tflite
