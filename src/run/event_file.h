// An event file that TensorBoard reads: records (io/records.h) of Event messages, appended while training. What was written
// after the checkpoint that a run goes on from is cut off, so every step stands there once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/matrix.h"
#include "io/protobuf.h"
#include "run/files.h"

namespace locus {

// One tagged value as the message Summary.Value.
ProtoMessage scalar_value(const std::string& tag, double value);
ProtoMessage histogram_value(const std::string& tag, std::span<const double> values);  // finite ones; there may be none
ProtoMessage matrix_value(const std::string& tag, ConstMatD values, double low, double high);  // a picture in colours

class EventFile {
 public:
  static constexpr const char* kName = "events.out.tfevents.locus";

  // FOLDER/kName; both are made where absent.
  explicit EventFile(const std::filesystem::path& folder);

  // Leaves the events of steps up to `step` (-1: none), and nothing after a record that is cut or damaged.
  void keep_until(std::int64_t step);
  // With the operating system on return.
  void append(std::int64_t step, std::span<const ProtoMessage> values);
  void sync() { file_.sync(); }

 private:
  void begin();
  AppendFile file_;
};

}  // namespace locus
