// Parts of the programs that need more than a model of one format.
#include <doctest/doctest.h>

#include <algorithm>

#include "apps/nnconvert/report/report.h"
#include "apps/nnconvert/support.h"
#include "apps/program.h"
#include "convert/verify/verify.h"
#include "formats/format.h"
#include "rewrite/interface_axes.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/run_graph.h"

namespace nn::test::parts_test {
namespace {

// The report of a conversion of `source` that wrote a model which computes `written`.
ConvertReport VerifiedReport(const Graph& source, const Graph& written) {
  ConvertReport report;
  report.input = "a";
  report.input_format = report.output_format = "ONNX";
  report.output = "b";
  auto verification =
      VerifyConversion(source.Clone(), [&] { return Result<Graph>(written.Clone()); },
                       IdentityInterface(source), {});
  REQUIRE_MESSAGE(verification.has_value(), verification.error().message());
  report.conversion.verification = *std::move(verification);
  return report;
}

TEST_CASE("conversion report: after a failed verification, it says that nothing was written") {
  const auto scale = [](const std::string& factor) {
    return Parse("graph { in %x: f32[4]  const %k: f32[4] = splat(" + factor +
                 ")  %y = mul(%x, %k)  out \"y\" = %y }");
  };
  ConvertReport report = VerifiedReport(scale("2"), scale("2.5"));
  const std::string text = app::ReportText(report);
  CHECK(Contains(text, "verification failed: 3 runs (seeds 0, 1, 2)"));
  CHECK(Contains(text, "no file was written; --rtol 2.6e-01 would accept it\n"));
  report.conversion.verification->seeds = {5, 6, 7, 8, 9, 10, 11, 12, 13};
  CHECK(Contains(app::ReportText(report), "(seeds 5 to 13)"));
  const Json json = ReportJson(report);
  CHECK(json["written"] == false);
  CHECK(json["verification"]["passed"] == false);
  CHECK(json["verification"]["outputs"][0]["agrees"] == false);
}

TEST_CASE("conversion report: integers that differ have a remedy") {
  const auto shift = [](const std::string& step) {
    return Parse("graph { in %x: i8[4]{scale=0.5}  const %k: i8[4]{scale=0.5} = splat(" + step +
                 ")  %y = add(%x, %k) @tflite : i8[*]{scale=0.5}  out \"y\" = %y }");
  };
  const ConvertReport report = VerifiedReport(shift("0"), shift("5"));
  const std::string text = app::ReportText(report);
  CHECK(Contains(text, "no file was written; --rtol "));
  CHECK(Contains(text, " would accept it; --dequantize converts the real numbers"));
}

TEST_CASE("support: SUPPORT.md is what the tables say") {
  const std::string text = app::SupportMarkdown();
  CHECK(text.find("| conv | convolution over 1 to 3 spatial axes") != std::string::npos);
  for (const Format& f : Formats()) {
    CHECK(text.find("### " + std::string(f.label) + " operators") != std::string::npos);
    const auto operators = f.operators();
    CHECK(std::any_of(operators.begin(), operators.end(),
                      [](const OperatorSupport& op) { return op.imported; }));
  }
  CHECK_MESSAGE(ReadText(SourcePath("SUPPORT.md")) == text, "run scripts/update-support");
}

}  // namespace
}  // namespace nn::test::parts_test
