// The part of a format that changes models in its own terms.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/model/describer.h"
#include "formats/model/native_model.h"
#include "formats/model/writer.h"

namespace nn {

struct NativeEdit;
struct NativeFlow;

class ModelEditor {
 public:
  virtual ~ModelEditor() = default;

  // ModelWriter::Save with other names for the inputs and outputs, in the order of
  // ModelDescriber::PortNamesOf, and wherever the file refers to them. All names change at once, so
  // names can be swapped. kUsage, with the location, for a new name that another value of the model
  // has, and for different new names of an input and an output that are one value; kUnsupported,
  // with the reason, for names that occur where they cannot be changed.
  virtual Result<FileImage> Rename(const NativeModel& model, const PortNames& names,
                                   const ExportOptions& options) const = 0;
  // What the operators of the main graph read and write (formats/common/edit/native_edit.h),
  // unknown ones included. kModel if the file refers to what it does not have.
  virtual Result<NativeFlow> FlowOf(const NativeModel& model) const = 0;
  // The model with the edit, which refers to its flow. Operators, subgraphs, functions and
  // constants that nothing uses any more are dropped, and so are declared types of dropped values;
  // everything else stays. Weights are shared with the model, not copied. kUnsupported, with the
  // reason, for what the format has no place for, such as the type of an input or a metadata entry.
  virtual Result<std::unique_ptr<NativeModel>> Apply(const NativeModel& model,
                                                     const NativeEdit& edit) const = 0;
  // The functions of a model that a program may run in place of the default one; none if the model
  // has only one.
  virtual std::vector<std::string> FunctionsOf(const NativeModel& model) const;
  // The model with one of FunctionsOf() as the default function. Weights are shared.
  virtual std::unique_ptr<NativeModel> WithFunction(const NativeModel& model,
                                                    const std::string& name) const;
};

}  // namespace nn
