// Whether each option of an edit changes the model.
#pragma once

#include "base/status.h"
#include "edit/plan.h"
#include "formats/format.h"

namespace nn::edit {

// kUsage, with its name, for an option that alone would leave the model as it is. Options that are
// not possible alone count as ones that change it.
Status CheckEffects(const ReadModel& source, const NativeFlow& flow, const EditOptions& options);

}  // namespace nn::edit
