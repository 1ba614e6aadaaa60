// Types and dimensions of the text form (ir/text/text.h), within a longer text.
#pragma once

#include "base/status.h"
#include "ir/text/lexer.h"
#include "ir/types/type.h"

namespace nn {

// "[1, batch]".
Result<Dims> ParseDims(Lexer& lex);

Result<Type> ParseTypeAt(Lexer& lex);

}  // namespace nn
