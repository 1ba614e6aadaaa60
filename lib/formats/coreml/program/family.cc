#include "formats/coreml/program/family.h"

namespace nn::coreml::program {

std::span<const Family> Families() {
  static const Family families[] = {
#define NN_FAMILY(name) name##Family(),
      NN_PROGRAM_FAMILIES(NN_FAMILY)
#undef NN_FAMILY
  };
  return families;
}

}  // namespace nn::coreml::program
