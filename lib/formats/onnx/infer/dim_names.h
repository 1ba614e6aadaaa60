// Shapes with named dimensions, "N C H W": a name is bound to one dimension throughout an operator;
// a number is itself.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "formats/onnx/infer/infer.h"

namespace nn::onnx {

class DimNames {
 public:
  explicit DimNames(TypeContext& context) : context_(context) {}

  // Binds the names to the dimensions of input i; kModel if its rank or an already bound dimension
  // differs. An input of unknown rank binds nothing.
  Status Match(size_t i, std::string_view names);
  // kModel if the name is bound to a different number.
  Status Bind(std::string_view name, const Dim& dim);
  // The dimensions; unbound names become unknown dimensions.
  Dims Make(std::string_view names);
  // Nullopt if it is not bound to a number.
  std::optional<int64_t> Number(std::string_view name) const;

 private:
  TypeContext& context_;
  std::map<std::string, Dim, std::less<>> dims_;
};

}  // namespace nn::onnx
