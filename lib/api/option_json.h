// Options as nnconvert's command line states them, in JSON.
#pragma once

#include "base/json/json.h"
#include "base/options.h"

namespace nn::api {

// true for a flag, else the list of its values.
Json OptionJson(const OptionValue& value);

// Adds the options that differ from their defaults, by "--name", without those that decide neither
// what is written nor how it is verified (kNoResult).
template <typename T>
void AddDeciding(OptionTable table, const T& options, Json& out) {
  const T defaults = {};
  for (const OptionField* field : ChangedOptions(table, &options, &defaults)) {
    const auto value = field->get(&options);
    if (value && !field->Has(kNoResult))
      out[OptionText(kOnCommandLine, field->name)] = OptionJson(*value);
  }
}

}  // namespace nn::api
