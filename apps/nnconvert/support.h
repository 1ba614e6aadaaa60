// Which operators are read, written and executed.
#pragma once

#include <string>

namespace nn::app {

// SUPPORT.md: from the tables that import, export and execution work with, as Markdown.
std::string SupportMarkdown();

}  // namespace nn::app
