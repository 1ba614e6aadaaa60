#include "coreml_model.pb.h"
#include "formats/coreml/coreml.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/program/text/print.h"

namespace nn::coreml {

Result<std::string> ProgramText(const NativeModel& model) {
  const Model& m = ModelOf(model);
  const std::vector<const mil::Program*> programs = Programs(m);
  if (programs.size() != 1)
    return UnsupportedError("the model has {} ML Programs; the text form is that of one",
                            programs.size());
  return program::PrintProgram(*programs.front(), m.payloads);
}

}  // namespace nn::coreml
