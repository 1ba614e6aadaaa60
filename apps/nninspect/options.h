// nninspect's arguments.
#pragma once

#include <string>
#include <vector>

#include "apps/common/model/many.h"
#include "apps/common/model/model.h"
#include "base/options.h"
#include "inspect/report/inspection.h"
#include "nnsuite/shapes.h"

namespace nn::app {

struct InspectOptions : inspect::Parts {
  std::string model;
  ReadLimits limits;
  std::string function;
  std::string other;              // --diff: the second model
  std::vector<std::string> rest;  // --git-diff: the arguments after these two
  std::string output = "-";
  std::string format = "text";  // json, csv, dot, svg, html, cyclonedx
  bool dump = false;
  DumpOptions dump_options;
  bool mil = false;
  bool diff = false;
  bool git_diff = false;
  bool git_text = false;
  bool expand = false;  // draw every repetition
  nnsuite::PageReports reports;
  nnsuite::InputShapes shapes;
  ManyOptions many;

  bool picture() const { return format == "dot" || format == "svg"; }
};

// What the program calls the members that are no option of the library, and what they do.
OptionTable InspectOptionTable();

}  // namespace nn::app
