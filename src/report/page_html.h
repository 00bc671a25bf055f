// Parts of the page, shared by the files that write it.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "report/answer.h"
#include "report/figure.h"
#include "report/page.h"
#include "report/verdict.h"

namespace locus::report {

std::string legend_html(const std::vector<LegendEntry>& legend);
std::string table_html(const Table& table, const std::string& caption);
std::string figure_html(const Figure& figure, const std::string& folder);

// What the page's script needs: values of matrices, token names.
Json figure_data(const std::vector<Figure>& figures);

std::string verdict_html(const Verdict& verdict);
std::string answer_html(const std::vector<Claim>& claims);
std::string warnings_html(const Inputs& inputs);
std::string facts_html(const Inputs& inputs);
std::string drill_down_html(const Inputs& inputs);
std::string reproduce_html(const Inputs& inputs);

}  // namespace locus::report
