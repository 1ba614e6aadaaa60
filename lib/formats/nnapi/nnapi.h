// The NNAPI entry of the format table.
#pragma once

#include "formats/format.h"

namespace nn::nnapi {

const Format& NnapiFormat();

}  // namespace nn::nnapi
