#include "apps/nnconvert/options.h"

namespace nn::app {

Json DecidingOptions(const ConvertArguments& o) {
  Json options = o.given;
  for (const char* name : {"--attest", "--color", "--dry-run", "--force", "--format", "--jobs",
                           "--quiet", "--report", "--threads", "--verbose"})
    options.erase(name);
  return options;
}

}  // namespace nn::app
