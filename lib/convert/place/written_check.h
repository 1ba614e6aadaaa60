// Validates a written model while it is imported, and while the source and it run.
#pragma once

#include <future>
#include <memory>
#include <mutex>

#include "base/status.h"
#include "convert/place/written.h"
#include "formats/format.h"

namespace nn {

// Validates a model that was read back, on another thread if `concurrent`. `source_error` must
// outlive the object, whose functions may be called by one thread. Errors are those of CheckWritten
// and ImportWrittenWith; that of the first of them that fails is the one that is returned.
class WrittenCheck {
 public:
  WrittenCheck(ReadModel written, const SourceError& source_error, bool concurrent);

  // The model with its states as ports. To be called once.
  Result<ImportedModel> Import(StatePorts states);
  // Waits until the model has been validated. Calls after the first return success.
  Status Finish();

 private:
  using Model = std::shared_ptr<const ReadModel>;

  std::mutex mutex_;  // callbacks expect one call at a time
  SourceError source_error_;
  Model model_;                  // until it is imported
  std::future<Status> checked_;  // the last member: its destructor waits for the thread
};

}  // namespace nn
