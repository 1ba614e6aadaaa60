#include "exec/program_options.h"

#include <optional>
#include <utility>
#include <vector>

#include "nnsuite/program.h"

namespace nn {

using nnsuite::ProgramOptions;
using nnsuite::RunLimits;

OptionTable RunLimitTable() {
  // The programs have these options, with other units, for all that they run.
  static const std::vector<OptionField> fields = {
      Option<&RunLimits::max_memory>(
          "max-memory",
          {.help = "Bytes of a run", .effects = kNoResult, .surfaces = kInBindings, .least = 0}),
      Option<&RunLimits::max_work>("max-work", {.help = "Operations on elements of a run",
                                                .effects = kNoResult,
                                                .surfaces = kInBindings,
                                                .least = 0}),
      Option<&RunLimits::max_steps>("max-steps", {.help = "Iterations of a loop",
                                                  .effects = kNoResult,
                                                  .surfaces = kInBindings,
                                                  .least = 0}),
  };
  return fields;
}

OptionTable ProgramOptionTable() {
  static const std::vector<OptionField> fields = [] {
    std::vector<OptionField> out = {
        Option<&ProgramOptions::backend>(
            "backend", {.help = "simd: planned and vectorized; reference: the scalar definition. "
                                "Both give the same bits",
                        .choices = {"simd", "reference"},
                        .shows_default = true}),
        Option<&ProgramOptions::threads>(
            "threads",
            {.help = "Number of threads; 0: one per processor. The bits do not depend on it",
             .value = "N",
             .least = 0,
             .most = kMaxRunThreads}),
        ComputedOption<ProgramOptions, bool>(
            "no-fuse", {.help = "Give each operator a step of its own", .surfaces = kInBindings},
            [](const ProgramOptions& o) { return std::optional(!o.fuse); },
            [](ProgramOptions& o, const bool& off) {
              o.fuse = !off;
              return Status();
            }),
    };
    for (OptionField& field : OptionsWithin<&ProgramOptions::limits>(RunLimitTable()))
      out.push_back(std::move(field));
    return out;
  }();
  return fields;
}

}  // namespace nn
