// Validates a written model while it is imported, and while the source and it run.
#pragma once

#include <future>
#include <memory>
#include <mutex>

#include "base/status.h"
#include "convert/staged_model.h"
#include "convert/written.h"
#include "formats/format.h"

namespace nn {

// Reads and validates the model on another thread if `concurrent`. All arguments must outlive the
// object, whose functions may be called by one thread. Errors are those of ReadWritten,
// CheckWritten and ImportWrittenWith; that of the first of them that fails is the one that is
// returned.
class WrittenCheck {
 public:
  WrittenCheck(const StagedModel& staged, const Format& format, const SourceError& source_error,
               bool concurrent);

  // The model with its states as ports; waits until it has been read. To be called once.
  Result<ImportedModel> Import(StatePorts states);
  // Waits until the model has been validated. Calls after the first return success.
  Status Finish();

 private:
  using Model = std::shared_ptr<const ReadModel>;

  Status ReadAndCheck(const StagedModel& staged, const Format& format);

  std::mutex mutex_;  // callbacks expect one call at a time
  SourceError source_error_;
  std::promise<Model> promise_;  // null if the model could not be read
  std::future<Status> checked_;  // the last member: its destructor waits for the thread
};

}  // namespace nn
