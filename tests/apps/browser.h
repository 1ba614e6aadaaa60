// Pages in a real browser.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"

namespace nn::test {

// The command of a Chromium: NN_CHROMIUM of the environment, or found by name. nullopt if there is
// none; scripts/setup browser installs one.
std::optional<std::string> FindBrowser();

// Opens a copy of the page with `script`, which runs after the page's own and sets `result`, and
// returns that; null if the page did not get there. Errors that the page reports are failed checks.
Json RunInBrowser(const std::string& browser, const std::string& page, std::string_view script);

}  // namespace nn::test
