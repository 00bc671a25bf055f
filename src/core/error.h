// Errors that a user can cause, and the check for those only a programmer can cause.
// Every user error says what went wrong, where, what was got and expected, and how to mend it.
#pragma once

#include <stdexcept>
#include <string>

namespace locus {

// The parts of one error message; empty parts are left out of the text.
struct ErrorParts {
  std::string what = {};      // "unknown key"
  std::string where = {};     // "configs/a.toml:3:1"
  std::string got = {};       // "pe.sigm"
  std::string expected = {};  // "one of ..."
  std::string hint = {};      // "did you mean pe.sigma?"
};

class Error : public std::runtime_error {
 public:
  explicit Error(const ErrorParts& parts);
  const ErrorParts& parts() const { return parts_; }

 private:
  ErrorParts parts_;
};

// A mistake in a configuration or on the command line (exit code 2).
class ConfigError : public Error {
 public:
  using Error::Error;
};

// Data that does not mean what it should: shapes, NaN, contradictory puzzles (exit code 1).
class DataError : public Error {
 public:
  using Error::Error;
};

// A file that cannot be read or written, or is not of its format (exit code 1).
class IoError : public Error {
 public:
  using Error::Error;
};

// Training that cannot go on: NaN or Inf in loss or gradients (exit code 1).
class DivergenceError : public Error {
 public:
  using Error::Error;
};

[[noreturn]] void check_failed(const char* condition, const char* file, int line, const std::string& message);

}  // namespace locus

// A programmer's mistake: throws std::logic_error with file and line. Kept in release builds; never in an inner loop.
#define LOCUS_CHECK(condition, message)                                                 \
  do {                                                                                  \
    if (!(condition)) ::locus::check_failed(#condition, __FILE__, __LINE__, (message)); \
  } while (false)
