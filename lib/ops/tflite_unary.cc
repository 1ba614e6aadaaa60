#include "ops/elementwise_impl.h"

namespace nn {

QuantisedEval FindTfliteUnary(std::string_view) { return nullptr; }

}  // namespace nn
