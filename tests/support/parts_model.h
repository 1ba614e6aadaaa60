// A model that is imported only if some of its inputs are known.
#pragma once

#include <string_view>

namespace nn::test {

// Part "i" of "x" after it is split into parts of "n" elements.
inline constexpr std::string_view kPartsModel = R"(ir_version: 8
opset_import { version: 13 }
graph { name: "g"
  node { op_type: "SplitToSequence" input: "x" input: "n" output: "s" }
  node { op_type: "SequenceAt" input: "s" input: "i" output: "y" }
  input { name: "n" type { tensor_type { elem_type: 7 shape { } } } }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 6 } } } } }
  input { name: "i" type { tensor_type { elem_type: 7 shape { } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
})";

}  // namespace nn::test
