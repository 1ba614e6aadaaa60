#include "formats/common/edit/rename.h"

namespace nn {

tl::unexpected<Error> NameIsTaken(std::string_view name, std::string_view place) {
  return UsageError("the new name {} is already used: {}", Quote(name), place);
}

}  // namespace nn
