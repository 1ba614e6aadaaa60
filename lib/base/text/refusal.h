// The parts of a refusal: why a format cannot hold an operator, an input or an output. The grammar
// is that of docs/pages/reference/conversion.md.
#pragma once

#include <string>
#include <string_view>

namespace nn {

// How remedies begin.
inline constexpr std::string_view kRemedyVerbs[] = {"cast", "remove", "rename", "set", "use"};

// "set it with --batch" of "the batch must be constant; set it with --batch", a reason as the text
// of a refusal has it after its subject; "" if it names no remedy.
std::string_view RemedyOf(std::string_view reason);

// The reason of a refusal that has both: all clauses and the remedy of the first, because that
// alone suffices, or else that of the second.
std::string BothReasons(std::string_view first, std::string_view second);

}  // namespace nn
