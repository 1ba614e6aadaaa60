#include "formats/coreml/family.h"

namespace nn::coreml {

std::span<const Family> Families() {
  static const Family families[] = {
#define NN_FAMILY(name) name##Family(),
      NN_COREML_FAMILIES(NN_FAMILY)
#undef NN_FAMILY
  };
  return families;
}

}  // namespace nn::coreml
