// Constant tensors as text and CSV.
#pragma once

#include <string>
#include <vector>

#include "formats/format.h"
#include "inspect/report/tensors.h"

namespace nn::app {

std::string TensorsText(const ModelSummary& summary, const std::vector<inspect::TensorRow>& rows,
                        bool histograms);
std::string TensorsCsv(const ModelSummary& summary, const std::vector<inspect::TensorRow>& rows);
// "inline", "inline, buffer 12", "w.bin at 4096".
std::string StoredText(const TensorEntry& entry);

}  // namespace nn::app
