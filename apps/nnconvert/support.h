// Which operators are read, written and executed.
#pragma once

#include <string>

namespace nn::app {

// SUPPORT.md, generated from the tables of import, export and execution.
std::string SupportMarkdown();

}  // namespace nn::app
