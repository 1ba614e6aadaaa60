// The rows of embedded specifications, by operator.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "formats/common/spec/reader.h"

namespace nn::spec {

// Where the rows of each operator are, for formats that read them when they need them.
class Index {
 public:
  explicit Index(std::span<const Text> texts);

  struct Place {
    const Text* text = nullptr;
    std::string_view rows;  // for a Reader
  };
  const std::map<std::string_view, Place>& operators() const { return operators_; }

 private:
  std::map<std::string_view, Place> operators_;
};

// Calls visit(row) for all rows. The build checks the texts, so they have no fault.
template <typename Visit>
void EachRow(std::string_view text, const Vocabulary& words, const Visit& visit) {
  Row row;
  for (Reader reader(text, words); reader.Next(row);) visit(std::as_const(row));
}

}  // namespace nn::spec
