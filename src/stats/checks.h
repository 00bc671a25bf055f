// Preconditions shared by all statistics: data with NaN or infinity, of unlike length or of the wrong
// shape are user errors (DataError), never silently dropped.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/matrix.h"

namespace locus::stats {

void require_finite(std::span<const double> values, std::string_view function);
void require_finite(ConstMatD values, std::string_view function);
void require_same_size(std::size_t a, std::size_t b, std::string_view function);
void require_at_least(std::size_t n, std::size_t minimum, std::string_view function);
void require_square(ConstMatD m, std::string_view function);
// Square, finite and equal to its transpose to 1e-9 of its largest entry.
void require_symmetric(ConstMatD m, std::string_view function);
void require_confidence(double confidence, std::string_view function);                     // in (0, 1), else ConfigError
void require_positive(long long count, std::string_view what, std::string_view function);  // else ConfigError

}  // namespace locus::stats
