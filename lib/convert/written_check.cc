#include "convert/written_check.h"

#include <chrono>
#include <optional>
#include <utility>

namespace nn {

WrittenCheck::WrittenCheck(const StagedModel& staged, const Format& format,
                           const SourceError& source_error, bool concurrent)
    : source_error_([&] {
        const std::lock_guard lock(mutex_);
        return source_error();
      }) {
  // Without a thread, the model is checked by the first call that needs it.
  checked_ =
      std::async(concurrent ? std::launch::async | std::launch::deferred : std::launch::deferred,
                 [&] { return ReadAndCheck(staged, format); });
}

Status WrittenCheck::ReadAndCheck(const StagedModel& staged, const Format& format) {
  Model model;
  try {
    auto read = ReadWritten(staged.Read(), format, source_error_);
    if (!read) {
      promise_.set_value(nullptr);
      return tl::unexpected(read.error());
    }
    model = std::make_shared<const ReadModel>(*std::move(read));
  } catch (...) {
    promise_.set_value(nullptr);
    throw;
  }
  promise_.set_value(model);
  return CheckWritten(*model, source_error_);
}

Result<ImportedModel> WrittenCheck::Import(StatePorts states) {
  if (checked_.valid() &&
      checked_.wait_for(std::chrono::seconds(0)) == std::future_status::deferred)
    NN_RETURN_IF_ERROR(Finish());
  Model model = promise_.get_future().get();
  if (model == nullptr) {
    NN_RETURN_IF_ERROR(Finish());
    return InternalError("the written model was not read");
  }
  auto imported = ImportWrittenWith(*model, source_error_, states);
  model.reset();
  if (!imported) NN_RETURN_IF_ERROR(Finish());
  return imported;
}

Status WrittenCheck::Finish() {
  return checked_.valid() ? checked_.get() : Status();
}

}  // namespace nn
