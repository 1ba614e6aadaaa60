// The texts *.spec of this folder, checked by the compiler.
// Design: docs/design/066-specification-language.md.
#include "formats/common/spec/check.h"
#include "formats/nnapi/spec/words.h"

namespace nn::nnapi {

static constexpr spec::Text kSpecTexts[] = {
#include "embed/nnapi_spec.inc"
};

#ifndef NN_SPECS_ARE_CHECKED
static_assert(spec::IsValid<kSpecTexts, kWords>());
#endif

std::span<const spec::Text> SpecTexts() {
  return kSpecTexts;
}

}  // namespace nn::nnapi
