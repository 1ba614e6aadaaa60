// Runs the tests of one folder. In addition to doctest's checks, a test case without assertions
// fails, and so does a filter that matches no test case: both would check nothing.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <iostream>

#include "base/memory.h"
#include "support/skip.h"

namespace nn::test {
namespace {

struct Verdict {
  bool skipping = false;  // the running test case called Skip()
  int empty = 0;
  int skipped = 0;
  int ran = 0;
};
Verdict verdict;

class AssertionListener : public doctest::IReporter {
 public:
  explicit AssertionListener(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& test) override {
    name_ = test.m_name;
    verdict.skipping = false;
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    ++verdict.ran;
    if (stats.numAssertsCurrentTest > 0) return;
    if (verdict.skipping) {
      ++verdict.skipped;
    } else {
      ++verdict.empty;
      std::cout << "ERROR: test case \"" << name_
                << "\" asserts nothing; where it cannot run it calls Skip() (support/skip.h)\n";
    }
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  const char* name_ = "";
};

REGISTER_LISTENER("assertions", 1, AssertionListener);

int Main(int argc, char** argv) {
  PoisonMemoryFromEnvironment();
  doctest::Context context(argc, argv);
  const int code = context.run();
  if (code != 0 || context.shouldExit()) return code;
  if (verdict.ran == 0) std::cout << "ERROR: no test case passes the filters\n";
  if (verdict.ran == 0 || verdict.empty > 0) return 1;
  if (verdict.skipped == verdict.ran) std::cout << "every test case was skipped\n";
  return 0;
}

}  // namespace

void Skip(std::string_view why) {
  verdict.skipping = true;
  std::cout << "skipped: " << why << "\n";
}

}  // namespace nn::test

int main(int argc, char** argv) {
  return nn::test::Main(argc, argv);
}
