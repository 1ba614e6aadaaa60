// Prints the operators that the library knows.
#include <iostream>

#include "convert/convert.h"
#include "exec/program.h"
#include "formats/format.h"
#include "inspect/overview.h"
#include "ir/op_def.h"
#include "tensorio/digest.h"
#include "validators/runner.h"

int main() {
  for (const nn::OpDef* op : nn::Ops().All()) std::cout << op->name << "\n";
  return nn::Formats().empty() || nn::SimdTargets().empty() || nn::inspect::FixedSize("x");
}
