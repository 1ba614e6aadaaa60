#include "formats/onnx/family.h"

namespace nn::onnx {

std::span<const Family> Families() {
  static const Family families[] = {
#define NN_FAMILY(name) name##Family(),
      NN_ONNX_FAMILIES(NN_FAMILY)
#undef NN_FAMILY
  };
  return families;
}

}  // namespace nn::onnx
