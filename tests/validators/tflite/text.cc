#include "validators/tflite/text.h"

#include <doctest/doctest.h>

#include "support/run_graph.h"
#include "validators/rule_cases.h"
#include "validators/tflite/doc/example_text.h"

namespace nn::test {

Result<ImportedModel> ImportTfliteText(const std::string& text) {
  const std::string file = EncodeFlatbuffer("tflite.fbs", tflite::OperatorModel(text));
  const Format& format = *FindFormat("tflite");
  NN_ASSIGN(const auto model,
            format.reader.Read(Blob::Copy(std::as_bytes(std::span(file))), "m.tflite", {}));
  return format.importer.Import(*model);
}

std::string WhyNotImported(const std::string& text) {
  const auto imported = ImportTfliteText(text);
  if (!imported) return imported.error().message();
  return imported->unsupported.empty() ? std::string() : imported->unsupported[0].reason;
}

std::vector<std::vector<double>> OutputsOfTflite(const std::string& text,
                                                 const std::vector<std::vector<double>>& inputs) {
  CAPTURE(text);
  const auto imported = ImportTfliteText(text);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  for (const UnsupportedNode& u : imported->unsupported) FAIL(u.reason);
  std::vector<std::vector<double>> out;
  for (const Tensor& t : RunEverywhere(imported->graph, InputsOf(imported->graph, inputs)))
    out.push_back(t.ToDoubles());
  return out;
}

}  // namespace nn::test
