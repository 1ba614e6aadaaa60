#include "ops/elementwise_impl.h"

namespace nn {

QuantisedEval FindTfliteBinary(std::string_view) { return nullptr; }

}  // namespace nn
