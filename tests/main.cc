#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "ops/ops.h"

int main(int argc, char** argv) {
  nn::InstallOps();
  return doctest::Context(argc, argv).run();
}
