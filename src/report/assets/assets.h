// The page's style sheet and script, embedded at build time from report.css and report.js beside this file.
#pragma once

#include <string_view>

namespace locus::report {

extern const std::string_view kReport_css;
extern const std::string_view kReport_js;

}  // namespace locus::report
