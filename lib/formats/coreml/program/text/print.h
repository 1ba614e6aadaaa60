// ML Programs as text: the inverse of parse.h.
#pragma once

#include <string>

#include "base/status.h"
#include "coreml_mil.pb.h"
#include "formats/coreml/file/fields.h"

namespace nn::coreml::program {

// The text from which ParseProgram() makes the same program. `payloads`: of the model. kUnsupported
// names what the notation cannot hold: constants of less than 8 bits outside of weight files, and
// names with other characters.
Result<std::string> PrintProgram(const pb::mil::Program& program, const PayloadTable& payloads);

}  // namespace nn::coreml::program
