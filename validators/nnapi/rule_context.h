// The context of NNAPI rules: the view of a model that its constraints have.
#pragma once

#include "formats/nnapi/file/operation.h"
#include "validators/rule.h"

namespace nn::nnapi {

using RuleContext = ModelView;

using nn::At;
inline Location At(const Site& site) {
  return nn::At(site.path, site.operation);
}

}  // namespace nn::nnapi
