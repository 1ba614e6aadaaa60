// Graphs that tests write as ML Programs, read again and run.
#pragma once

#include <string>

namespace nn::test {

struct ProgramCase {
  std::string graph;
  // The types of the operations but constants, in their order, and in parentheses after an
  // operation those of its blocks; "": any.
  std::string operations = {};
  std::string target = {};  // deployment target
  double tolerance = 0;     // relative to max(1, |expected|); 0: the same numbers
  std::string opset = {};   // of the program; "": any
};

// The results of the program are those of the graph. Inputs have random numbers.
void CheckProgram(const ProgramCase& c);

// Why the graph is not written; "" if it is.
std::string WhyNotProgram(const std::string& graph, const std::string& target = {});

}  // namespace nn::test
