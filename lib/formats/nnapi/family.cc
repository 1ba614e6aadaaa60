#include "formats/nnapi/family.h"

namespace nn::nnapi {

std::span<const Family> Families() {
  static const Family families[] = {
#define NN_FAMILY(name) name##Family(),
      NN_NNAPI_FAMILIES(NN_FAMILY)
#undef NN_FAMILY
  };
  return families;
}

}  // namespace nn::nnapi
