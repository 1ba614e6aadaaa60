// Which kind of model is written.
#include "base/text/text.h"
#include "formats/coreml/coreml.h"
#include "formats/coreml/export/export.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/program/export/export.h"
#include "formats/coreml/program/spec/signature.h"
#include "formats/coreml/roles.h"

namespace nn::coreml {
namespace {

constexpr std::string_view kNetworkKind = "network", kProgramKind = "program";

bool WritesProgram(const ExportOptions& options) {
  if (!options.core_ml.empty()) return options.core_ml == kProgramKind;
  return IsPackagePath(options.path) || !options.deployment_target.empty();
}

// The newest operation set that a program may have.
program::Opset NewestOpset(const ExportOptions& options) {
  return program::OpsetOfTarget(options.deployment_target).value_or(program::Opset::kIos26);
}

}  // namespace

ExportOptions OptionsOfProgram() {
  return {.path = "m.mlmodel", .core_ml = std::string(kProgramKind)};
}

Status CoremlWriter::CheckOptions(const ExportOptions& options) const {
  const std::string& kind = options.core_ml;
  if (!kind.empty() && kind != kNetworkKind && kind != kProgramKind)
    return UsageError("--core-ml accepts {} and {}, not {}", kNetworkKind, kProgramKind,
                      Quote(kind));
  const std::string& target = options.deployment_target;
  if (target.empty()) return {};
  if (kind == kNetworkKind) return UsageError("--deployment-target is for ML Programs");
  if (!program::OpsetOfTarget(target))
    return UsageError("--deployment-target accepts iOS15 to iOS18 and iOS26, not {}",
                      Quote(target));
  return {};
}

const Target* CoremlWriter::TargetFor(const ExportOptions& options) const {
  return WritesProgram(options) ? &program::ProgramTarget(NewestOpset(options)) : nullptr;
}

bool CoremlWriter::WouldKeep(const NativeModel& native, const ExportOptions& options) const {
  const Model& model = ModelOf(native);
  if (model.has_network()) return !WritesProgram(options);
  // A file beside the model can only be in a package.
  return model.kind() != "mlProgram" || WritesProgram(options);
}

bool CoremlWriter::KeepsStates(const ExportOptions& options) const {
  return WritesProgram(options);
}

ExportOptions CoremlWriter::InOneFile(ExportOptions options) const {
  options.core_ml = WritesProgram(options) ? kProgramKind : kNetworkKind;
  options.path = "m.mlmodel";
  return options;
}

Result<FileImage> CoremlWriter::Write(const Graph& graph, const ExportOptions& options) const {
  return WritesProgram(options) ? program::WriteProgram(graph, options, NewestOpset(options))
                                : WriteNetwork(graph, options);
}

}  // namespace nn::coreml
