// The tolerance that accepts a difference.
#pragma once

#include <string>
#include <string_view>

namespace nn {

// "--rtol 1.5e-05 would accept it": the smallest number of two digits that is not below
// `difference`, which is positive, or infinite: no tolerance accepts that.
std::string AcceptingTolerance(std::string_view option, double difference);

}  // namespace nn
