// Conversions between the public options and results and the library's own.
#pragma once

#include <string>

#include "convert/convert.h"
#include "convert/verify/verify.h"
#include "nnsuite/convert.h"

namespace nn::api {

nnsuite::Verification WrapVerification(const Verification& verification);

}  // namespace nn::api
