// How a long call tells its caller how far it is.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace nnsuite {

// Told that `done` of `total` are done of an activity: "runs" of a verification or a benchmark,
// "bytes" of a written model, "models" of a folder, "steps" of a run, "test sets", "values" that
// are saved. False ends the call with kLimit. Called on the calling thread, except for "models".
using ProgressCallback =
    std::function<bool(std::string_view activity, uint64_t done, uint64_t total)>;

}  // namespace nnsuite
