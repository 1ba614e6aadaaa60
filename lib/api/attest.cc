#include "nnsuite/attest.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "api/access.h"
#include "api/convert.h"
#include "base/file/model_files.h"
#include "base/json/json.h"
#include "check/statement.h"
#include "folder/convert_one.h"
#include "nnsuite/inspect.h"
#include "nnsuite/version.h"
#include "tensorio/digest.h"

namespace nnsuite {
namespace {

using nn::Json;

// Of a set of tensors for all inputs, which are without names.
std::string DigestOf(const std::vector<Tensor>& set) {
  std::vector<nn::NamedTensor> named;
  named.reserve(set.size());
  for (const Tensor& t : set) named.push_back({"", Access::Of(t)});
  return nn::Digest(named);
}

void AddSets(const char* option, const std::vector<std::vector<Tensor>>& sets, Json& options) {
  for (const auto& set : sets) options[option].push_back(DigestOf(set));
}

// The options that decide what is written, or how it is verified.
Json OptionsOf(const ConvertOptions& o) {
  Json options = nn::api::DecidingOptions(o);
  for (const auto& [name, tensor] : o.fixed_inputs)
    options["--fix-input"].push_back(fmt::format("{}={}", name, DigestOf({tensor})));
  if (o.quantize) AddSets("--calibrate", o.quantize->samples, options);
  AddSets("--verify-inputs", o.verification.inputs, options);
  return options;
}

Status CheckUsage(const Model& model, const std::string& output, const ConvertOptions& o) {
  if (o.dry_run)
    return nn::UsageError("an attestation states digests of the output; a dry run writes none");
  if (Access::Of(model).edited || model.path().empty() || model.path() == "-" || output == "-")
    return nn::UsageError(
        "an attestation states digests of files; a model that was edited, or read from memory "
        "without a path, has none, and neither has a pipe");
  return {};
}

}  // namespace

Result<Conversion> ConvertAndAttest(const Model& model, const std::string& output,
                                    const std::string& statement, const ConvertOptions& options) {
  NN_RETURN_IF_ERROR(CheckUsage(model, output, options));
  const std::string& path = model.path();
  nn::ConversionFacts facts = {.source = path, .output = output, .version = Version()};
  NN_ASSIGN(facts.source_files, nn::DigestModel(path));
  if (auto hashes = DigestsOf(model)) facts.source_hashes = *std::move(hashes);
  NN_ASSIGN(Conversion done, ConvertModel(model, output, options));
  if (!done.written) return done;
  // Which files are beside the source is known when all are read.
  const std::vector<std::string> beside = Access::Of(model).read.model->files.Names();
  NN_RETURN_IF_ERROR(nn::AddDigests(path, beside, facts.source_files));
  for (const auto& [name, bytes] : done.written->side_files) facts.beside.push_back(name);
  facts.options = OptionsOf(options);
  facts.report = Json::parse(done.report);
  facts.limits = options.limits;
  NN_ASSIGN(const nn::Format* const format, nn::api::TargetOf(output, options));
  facts.output_format = format->label;
  NN_RETURN_IF_ERROR(nn::WriteStatement(statement, facts));
  return done;
}

}  // namespace nnsuite
