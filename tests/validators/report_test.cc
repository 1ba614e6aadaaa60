#include "validators/report.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/json/json.h"
#include "validators/rule.h"
#include "validators/runner.h"

namespace nn::test::report_test {
namespace {

constexpr RuleInfo kRules[] = {
    {"T-001", Severity::kError, "Names are unique.", "spec 3.1", true, "Rename one."},
    {"T-002", Severity::kWarning, "Names are short.", "spec 3.2", false, ""},
};

Report MakeReport() {
  Report r;
  r.rules = {std::begin(kRules), std::end(kRules)};
  r.tool_version = "1.2.3";
  r.tool_uri = "https://example.com/tool";
  FileReport bad;
  bad.path = "dir/a b.onnx";
  bad.format = "ONNX";
  bad.findings = {
      {"T-002", Severity::kWarning, "name <\"x\"> & co is 100% long", {}, ""},
      {"T-001",
       Severity::kError,
       "two are named \"y\"",
       {"dir/a b.onnx", "graph.node[3]", 3, 1234},
       "Rename one."},
      {"T-009", Severity::kNote, "line one\nline\x1b two", {"", "", -1, 7}, ""},
  };
  FileReport clean;
  clean.path = "/abs/clean.onnx";
  clean.format = "ONNX";
  FileReport missing;
  missing.path = "missing:1,2";
  missing.failure = "No such file";
  r.files = {bad, clean, missing};
  return r;
}

TEST_CASE("reports: text") {
  CHECK(TextReport(MakeReport()) ==
        "dir/a b.onnx: warning: name <\"x\"> & co is 100% long [T-002]\n"
        "dir/a b.onnx:graph.node[3], byte 1234: error: two are named \"y\" [T-001]\n"
        "    hint: Rename one.\n"
        "dir/a b.onnx:byte 7: note: line one\n"
        "    line\\x1b two [T-009]\n"
        "missing:1,2: not checked: No such file\n"
        "3 files: 1 error, 1 warning, 1 note in 1 file; 1 not checked\n");
  const std::string colored = TextReport(MakeReport(), true);
  CHECK(colored.find("\x1b[1m\x1b[31merror:\x1b[0m") != std::string::npos);
  CHECK(colored.find("line\\x1b two") != std::string::npos);
}

TEST_CASE("reports: the summary of one file names it") {
  Report report;
  report.files.resize(1);
  report.files[0].path = "m.onnx";
  CHECK(TextReport(report) == "m.onnx: no findings\n");
  report.files[0].known = 2;
  CHECK(TextReport(report) == "m.onnx: no findings (2 known)\n");
  report.files[0].findings = {{"T-001", Severity::kError, "broken", At("a", 7), ""}};
  CHECK(TextReport(report) ==
        "m.onnx:a, operator 7: error: broken [T-001]\nm.onnx: 1 error (2 known)\n");
  CHECK(CountFailing(report) == 1);
  report.files[0].findings[0].severity = Severity::kWarning;
  CHECK(CountFailing(report) == 0);
  report.files[0].fail_on = Severity::kWarning;
  CHECK(CountFailing(report) == 1);
}

TEST_CASE("reports: findings beyond a limit are counted") {
  Report report = MakeReport();
  FileReport& file = report.files[0];
  const Finding repeated = file.findings[1];
  for (int i = 0; i < 4; ++i) file.findings.push_back(repeated);
  LimitFindings(file, 2);
  CHECK(file.findings.size() == 4);
  REQUIRE(file.rest.size() == 1);
  CHECK(file.rest[0].rule == "T-001");
  CHECK(file.rest[0].count == 3);
  CHECK(CountFindings(report, Severity::kError) == 5);
  CHECK(CountFailing(report) == 5);
  CHECK(TextReport(report).find("dir/a b.onnx: 3 more findings [T-001]\n") != std::string::npos);
  CHECK(TextReport(report).find("3 files: 5 errors, 1 warning, 1 note") != std::string::npos);
  const Json json = Json::parse(JsonReport(report));
  CHECK(json["files"][0]["more"] == Json::parse(R"({"T-001": 3})"));
  CHECK(json["summary"]["errors"] == 5);
  const Json sarif = Json::parse(SarifReport(report));
  CHECK(sarif["runs"][0]["results"].size() == 5);
  CHECK(sarif["runs"][0]["results"][4]["message"]["text"] == "3 more findings");
  CHECK(JunitReport(report).find("tests=\"5\" failures=\"3\"") != std::string::npos);
  CHECK(GithubReport(report).find("::error file=dir/a b.onnx,title=T-001::3 more findings\n") !=
        std::string::npos);
}

TEST_CASE("reports: stale entries of a baseline") {
  Report report = MakeReport();
  report.files.erase(report.files.begin() + 1, report.files.end());
  report.baseline = "known.json";
  report.stale = {{"a.onnx", "T-001", "two are named \"z\"", 2}};
  CHECK(TextReport(report).find(
            "known.json: note: a.onnx no longer has 2 findings: two are named \"z\" [T-001]\n"
            "    hint: Write the baseline again with --write-baseline.\n") != std::string::npos);
  CHECK(Json::parse(JsonReport(report))["stale"] == Json::parse(R"([{
      "file": "a.onnx", "rule": "T-001", "message": "two are named \"z\"", "count": 2}])"));
  const Json invocation = Json::parse(SarifReport(report))["runs"][0]["invocations"][0];
  CHECK(invocation["executionSuccessful"] == true);
  CHECK(invocation["toolExecutionNotifications"][0]["associatedRule"]["id"] == "T-001");
  CHECK(GithubReport(report).find("::notice file=known.json,title=T-001::a.onnx no longer has") !=
        std::string::npos);
}

TEST_CASE("reports: JSON") {
  const Json json = Json::parse(JsonReport(MakeReport()));
  CHECK(json["version"] == 1);
  CHECK(json["summary"] == Json::parse(R"({"errors": 1, "warnings": 1, "notes": 1})"));
  REQUIRE(json["files"].size() == 3);
  CHECK(json["files"][0]["findings"][1] == Json::parse(R"({
      "rule": "T-001", "severity": "error", "message": "two are named \"y\"",
      "location": {"element": "graph.node[3]", "index": 3, "offset": 1234},
      "hint": "Rename one."})"));
  CHECK(json["files"][1]["findings"].empty());
  CHECK(json["files"][2]["failure"] == "No such file");
  CHECK(!json["files"][2].contains("format"));
}

TEST_CASE("reports: SARIF 2.1.0") {
  const Json json = Json::parse(SarifReport(MakeReport()));
  CHECK(json["version"] == "2.1.0");
  CHECK(json["$schema"].get<std::string>().ends_with("sarif-schema-2.1.0.json"));
  REQUIRE(json["runs"].size() == 1);
  const Json& run = json["runs"][0];
  const Json& driver = run["tool"]["driver"];
  CHECK(driver["name"] == "nnvalidate");
  CHECK(driver["version"] == "1.2.3");
  CHECK(driver["informationUri"] == "https://example.com/tool");
  REQUIRE(driver["rules"].size() == 2);
  CHECK(driver["rules"][0]["id"] == "T-001");
  CHECK(driver["rules"][0]["shortDescription"]["text"] == "Names are unique.");
  CHECK(driver["rules"][0]["fullDescription"]["text"] == "Names are unique. (spec 3.1)");
  CHECK(driver["rules"][0]["help"]["text"] == "Rename one.");
  CHECK(driver["rules"][0]["helpUri"] == "https://example.com/tool/blob/main/validators/RULES.md");
  CHECK(driver["rules"][1]["defaultConfiguration"]["level"] == "warning");
  CHECK(driver["rules"][1]["help"]["text"] ==
        "See spec 3.2; nnvalidate --explain T-002 has an example.");
  CHECK(run["artifacts"][0]["location"]["uri"] == "dir/a%20b.onnx");
  CHECK(run["artifacts"][1]["location"]["uri"] == "file:///abs/clean.onnx");
  CHECK(run["artifacts"][2]["location"]["uri"] == "missing%3A1%2C2");
  REQUIRE(run["results"].size() == 3);
  const Json& result = run["results"][1];
  CHECK(result["ruleId"] == "T-001");
  CHECK(result["ruleIndex"] == 0);
  CHECK(result["level"] == "error");
  CHECK(result["message"]["text"] == "two are named \"y\"\nRename one.");
  const Json& location = result["locations"][0];
  CHECK(location["physicalLocation"]["artifactLocation"]["index"] == 0);
  CHECK(location["physicalLocation"]["region"]["byteOffset"] == 1234);
  CHECK(run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 1);
  CHECK(location["logicalLocations"][0]["fullyQualifiedName"] == "graph.node[3]");
  CHECK(!run["results"][2].contains("ruleIndex"));  // not among the rules
  CHECK(run["results"][2]["level"] == "note");
  CHECK(run["invocations"][0]["executionSuccessful"] == false);
  CHECK(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] ==
        "No such file");
  // Only the rules with findings are listed, and documents have addresses.
  Report one = MakeReport();
  one.rules[1].clause = "IR.md, Graphs";
  one.files[0].findings.erase(one.files[0].findings.begin() + 1, one.files[0].findings.end());
  const Json listed = Json::parse(SarifReport(one))["runs"][0]["tool"]["driver"]["rules"];
  REQUIRE(listed.size() == 1);
  CHECK(listed[0]["id"] == "T-002");
  CHECK(listed[0]["helpUri"] == "https://github.com/onnx/onnx/blob/main/docs/IR.md");
  Report clean = MakeReport();
  clean.files.resize(2);
  CHECK(Json::parse(SarifReport(clean))["runs"][0]["invocations"][0] ==
        Json::parse(R"({"executionSuccessful": true})"));
}

TEST_CASE("reports: JUnit XML") {
  CHECK(JunitReport(MakeReport()) ==
        R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nnvalidate">
  <testsuite name="dir/a b.onnx" tests="3" failures="1" errors="0">
    <testcase classname="ONNX" name="T-002"><system-out>warning: name &lt;&quot;x&quot;&gt; &amp; co is 100% long</system-out></testcase>
    <testcase classname="ONNX" name="T-001 at graph.node[3], byte 1234"><failure type="error" message="two are named &quot;y&quot;">two are named &quot;y&quot; (at graph.node[3], byte 1234)&#10;Rename one.</failure></testcase>
    <testcase classname="ONNX" name="T-009 at byte 7"><system-out>note: line one&#10;line\x1b two (at byte 7)</system-out></testcase>
  </testsuite>
  <testsuite name="/abs/clean.onnx" tests="1" failures="0" errors="0">
    <testcase classname="ONNX" name="all rules"/>
  </testsuite>
  <testsuite name="missing:1,2" tests="1" failures="0" errors="1">
    <testcase classname="file" name="readable"><error message="No such file"/></testcase>
  </testsuite>
</testsuites>
)");
  Report strict = MakeReport();
  strict.files[0].fail_on = Severity::kWarning;
  CHECK(JunitReport(strict).find("tests=\"3\" failures=\"2\"") != std::string::npos);
}

TEST_CASE("reports: GitHub workflow commands") {
  CHECK(GithubReport(MakeReport()) ==
        "::warning file=dir/a b.onnx,title=T-002::name <\"x\"> & co is 100%25 long\n"
        "::error file=dir/a b.onnx,title=T-001::two are named \"y\" (at graph.node[3], byte "
        "1234)%0ARename one.\n"
        "::notice file=dir/a b.onnx,title=T-009::line one%0Aline\\x1b two (at byte 7)\n"
        "::error file=missing%3A1%2C2::No such file\n");
}

TEST_CASE("reports: GitLab Code Quality") {
  Report report = MakeReport();
  report.files[0].path = "./dir/x/../a b.onnx";
  report.files[0].findings.push_back(report.files[0].findings[1]);
  report.files[0].rest.push_back({"T-001", Severity::kError, 3});
  report.baseline = "known.json";
  report.stale = {{"a.onnx", "T-001", "two are named \"z\"", 2}};
  const Json list = Json::parse(GitlabReport(report));
  struct Row {
    const char* path;
    const char* rule;
    const char* severity;
    const char* text;
  };
  const Row rows[] = {
      {"dir/a b.onnx", "T-002", "minor", "name <\"x\"> & co is 100% long"},
      {"dir/a b.onnx", "T-001", "major",
       "two are named \"y\" (at graph.node[3], byte 1234)\nRename one."},
      {"dir/a b.onnx", "T-009", "info", "line one\nline\\x1b two (at byte 7)"},
      {"dir/a b.onnx", "T-001", "major",
       "two are named \"y\" (at graph.node[3], byte 1234)\nRename one."},
      {"dir/a b.onnx", "T-001", "major", "3 more findings"},
      {"missing:1,2", "not-checked", "blocker", "No such file"},
      {"known.json", "T-001", "info", "a.onnx no longer has 2 findings: two are named \"z\""},
  };
  REQUIRE(list.size() == std::size(rows));
  std::set<std::string> fingerprints;
  for (size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    CHECK(list[i]["description"] == rows[i].text);
    CHECK(list[i]["check_name"] == rows[i].rule);
    CHECK(list[i]["severity"] == rows[i].severity);
    CHECK(list[i]["location"] == Json::parse(R"({"path": ")" + std::string(rows[i].path) +
                                             R"(", "lines": {"begin": 1}})"));
    fingerprints.insert(list[i]["fingerprint"].get<std::string>());
  }
  CHECK(fingerprints.size() == std::size(rows));
  // The text and the place of a finding do not matter, its fingerprint and file do.
  Report moved = MakeReport();
  moved.files[0].findings[1].message = "other words";
  moved.files[0].findings[1].location.offset = 99;
  CHECK(Json::parse(GitlabReport(moved))[1]["fingerprint"] == list[1]["fingerprint"]);
  moved.files[0].findings[1].fingerprint = "0123456789abcdef";
  CHECK(Json::parse(GitlabReport(moved))[1]["fingerprint"] != list[1]["fingerprint"]);
  moved = MakeReport();
  moved.files[0].path = "c.onnx";
  CHECK(Json::parse(GitlabReport(moved))[1]["fingerprint"] != list[1]["fingerprint"]);
  CHECK(GitlabReport({}) == "[]\n");
}

TEST_CASE("reports: each form by its name") {
  const Report report = MakeReport();
  const std::string want[] = {TextReport(report),  JsonReport(report),   SarifReport(report),
                              JunitReport(report), GithubReport(report), GitlabReport(report)};
  REQUIRE(ReportFormats().size() == std::size(want));
  for (size_t i = 0; i < std::size(want); ++i)
    CHECK(RenderReport(report, ReportFormats()[i]) == want[i]);
  CHECK(CountFindings(report, Severity::kError) == 1);
}

TEST_CASE("an unreadable file is a finding of a listed rule") {
  const Finding f = UnreadableFile(Error(ErrorCode::kParse, "cut off"), nullptr);
  CHECK(f.message == "cut off");
  CHECK(f.severity == Severity::kError);
  CHECK(!f.hint.empty());
  for (const Profile p : {Profile::kSpec, Profile::kVendor, Profile::kStrict}) {
    const auto rules = Rules({p});
    CHECK(
        std::any_of(rules.begin(), rules.end(), [&](const RuleInfo& r) { return r.id == f.rule; }));
  }
}

}  // namespace
}  // namespace nn::test::report_test
