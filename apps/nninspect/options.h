// nninspect's arguments.
#pragma once

#include <string>

#include "apps/common/many.h"
#include "apps/common/model.h"

namespace nn::app {

struct InspectOptions {
  std::string model;
  ReadLimits limits;
  std::string other;  // --diff: the second model
  std::string output = "-";
  std::string format = "text";  // json, csv, dot, svg, html, cyclonedx
  // Parts printed beside, or instead of, the summary.
  bool nodes = false;
  std::string op;    // --op: the table of operators, of this type only
  std::string node;  // --node: a name, or "#" and the number that --nodes shows
  bool tensors = false;
  bool stats = false;
  bool histogram = false;
  bool values = false;
  bool tree = false;
  bool cost = false;
  bool hash = false;
  bool dump = false;
  DumpOptions dump_options;
  bool diff = false;
  bool expand = false;   // draw every repetition
  std::string findings;  // reports of nnvalidate and nnrun for a page
  std::string times;
  std::string errors;
  ShapeOptions shapes;
  ManyOptions many;

  bool table() const { return nodes || !op.empty(); }
  bool picture() const { return format == "dot" || format == "svg"; }
  // Parts printed without the summary.
  bool parts() const {
    return !op.empty() || !node.empty() || tensors || values || tree || cost || hash;
  }
};

}  // namespace nn::app
