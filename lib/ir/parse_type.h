// Types and dimensions of the text form (ir/text.h), within a longer text.
#pragma once

#include "base/status.h"
#include "ir/lexer.h"
#include "ir/type.h"

namespace nn {

// "[1, batch]".
Result<Dims> ParseDims(Lexer& lex);

Result<Type> ParseTypeAt(Lexer& lex);

}  // namespace nn
