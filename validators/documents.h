// Where the documents that clauses cite are published.
#pragma once

#include <string>
#include <string_view>

namespace nn {

// The address of the document that a clause names ("IR.md, Graphs"); "" for clauses that name none.
std::string DocumentUri(std::string_view clause);

}  // namespace nn
