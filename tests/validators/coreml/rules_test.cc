// Rules of Core ML models, each broken and nearly broken.
#include <doctest/doctest.h>

#include <filesystem>

#include "support/files.h"
#include "validators/rule_cases.h"
#include "validators/runner.h"

namespace nn::test::coreml_rules_test {
namespace {

std::string Encode(const std::string& text) {
  return EncodeProto("nn.coreml.pb.Model", text);
}

// Files with one entry of 8 bytes each: float32 in a.bin and d.bin, int32 in b.bin.
void WriteWeightFiles(const std::string& folder) {
  const auto words = [](std::initializer_list<uint32_t> list) {
    std::string out;
    for (const uint32_t w : list) out.append(reinterpret_cast<const char*>(&w), sizeof(w));
    out.resize(64);
    return out;
  };
  const auto file = [&](uint32_t type) {
    return words({1, 2}) + words({0xDEADBEEF, type, 8, 0, 128, 0}) + std::string(8, 'w');
  };
  std::filesystem::create_directory(folder + "/weights");
  WriteText(folder + "/weights/a.bin", file(2));
  WriteText(folder + "/weights/b.bin", file(14));
  WriteText(folder + "/d.bin", file(2));
}

TEST_CASE("Core ML rules") {
  CheckRuleCases({"COREML-",
                  "m.mlmodel",
                  Encode,
                  ExamplesOf("coreml"),
                  WriteWeightFiles,
                  {"COREML-PACKAGE-001", "COREML-PACKAGE-002", "COREML-TARGET-001"}});
}

}  // namespace
}  // namespace nn::test::coreml_rules_test
