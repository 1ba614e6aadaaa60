// Runs the built programs.
#pragma once

#include <string>
#include <string_view>

namespace nn::test {

struct ProgramResult {
  int code = -1;
  std::string out;
  std::string err;
};

// Runs a shell command line whose first word is a program of the suite, with `input` as standard
// input. Standard output and error are pipes to the program, not a terminal.
ProgramResult RunProgram(const std::string& command, std::string_view input = {});

// Runs a shell script in a folder, with the programs of the suite first in PATH. The configuration
// of Git is that of the script alone.
ProgramResult RunScript(const std::string& folder, const std::string& script);
// Whether a command is installed.
bool HasCommand(const std::string& name);

bool Contains(std::string_view text, std::string_view part);

// Small models, in the text form.
// Conv, Relu; "x": f32[1, 3, 8, 8] -> "y": f32[1, 4, 8, 8].
std::string ConvModel();
// The same with a symbolic batch.
std::string BatchModel();
// "a", "b": f32[4] -> "sum", "product".
std::string TwoOutputsModel();
// Conv, BatchNormalization, which rounds differently if it is folded.
std::string NormModel();
// RNN whose number of steps is the symbol "length".
std::string SequenceModel();

}  // namespace nn::test
