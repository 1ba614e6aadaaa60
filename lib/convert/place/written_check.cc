#include "convert/place/written_check.h"

#include <chrono>
#include <optional>
#include <utility>

namespace nn {

WrittenCheck::WrittenCheck(ReadModel written, const SourceError& source_error, bool concurrent)
    : source_error_([&] {
        const std::lock_guard lock(mutex_);
        return source_error();
      }),
      model_(std::make_shared<const ReadModel>(std::move(written))) {
  // Without a thread, the model is checked by the first call that needs it.
  checked_ =
      std::async(concurrent ? std::launch::async | std::launch::deferred : std::launch::deferred,
                 [this, model = model_]() mutable {
                   const Model checked = std::move(model);  // freed as soon as it is checked
                   return CheckWritten(*checked, source_error_);
                 });
}

Result<ImportedModel> WrittenCheck::Import(StatePorts states) {
  if (checked_.valid() &&
      checked_.wait_for(std::chrono::seconds(0)) == std::future_status::deferred)
    NN_RETURN_IF_ERROR(Finish());
  const Model model = std::move(model_);
  auto imported = ImportWrittenWith(*model, source_error_, states);
  if (!imported) NN_RETURN_IF_ERROR(Finish());
  return imported;
}

Status WrittenCheck::Finish() {
  return checked_.valid() ? checked_.get() : Status();
}

}  // namespace nn
