#include "formats/tflite/family.h"

namespace nn::tflite {

std::span<const Family> Families() {
  static const Family families[] = {
#define NN_FAMILY(name) name##Family(),
      NN_TFLITE_FAMILIES(NN_FAMILY)
#undef NN_FAMILY
  };
  return families;
}

}  // namespace nn::tflite
