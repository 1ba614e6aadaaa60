#include "apps/inspect.h"

#include <doctest/doctest.h>

#include "apps/program.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"

namespace nn::test {

Json Inspect(const std::string& arguments) {
  const ProgramResult r = RunProgram("nninspect --format json " + arguments);
  REQUIRE_MESSAGE(r.code == 0, r.err);
  Json json = Json::parse(r.out);
  static const Json schema = Json::parse(ReadText(SourcePath("schemas/nninspect.schema.json")));
  for (const std::string& error : SchemaErrors(schema, json)) FAIL_CHECK(error);
  return json;
}

}  // namespace nn::test
