// A short notation for models of one operator.
#pragma once

#include <string>

namespace nn::tflite {

// The JSON form of
//
//   OPERATOR[/version] [Options {members}]     or CUSTOM {members of its code}
//   name type[sizes] [mark] [{members}]    an input
//   > name type[sizes] [{members}]         an output
//
// Types are written as in signature.h. Each input is also an input of the model unless a mark says
// otherwise: "=1,2" is a constant with these elements, "=" a constant with arbitrary elements,
// "var" a variable. "-" is an absent input. "graph {...}" adds a subgraph in JSON. Text that begins
// with
// '{' is already JSON.
std::string OperatorModel(const std::string& text);

}  // namespace nn::tflite
