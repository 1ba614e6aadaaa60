// Models of one operator, written in a few lines.
#pragma once

#include <string>

namespace nn::tflite {

// The JSON form of
//
//   OPERATOR[/version] [Options {members}]     or CUSTOM {members of its code}
//   name type[sizes] [mark] [{members}]    an input
//   > name type[sizes] [{members}]         an output
//
// Types are written as in signature.h. Inputs are those of the model too, unless they are marked:
// "=1,2" constants with these elements, "=" with some, "var" variables. "-" is an input left out.
// "graph {...}" is a further sub-graph in JSON. Texts that begin with '{' are JSON already.
std::string OperatorModel(const std::string& text);

}  // namespace nn::tflite
