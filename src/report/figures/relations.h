// Which measures of a run go with its generalisation: rank correlations over runs, as a sortable table.
#pragma once

#include <string>
#include <vector>

#include "report/analysis.h"

namespace locus::report {

struct Relations {
  struct Row {
    std::string measure, outcome;
    int runs = 0, sigmas = 0;
    double rho = 0, p = 0, adjusted = 0, lo = 0, hi = 0;  // adjusted: Holm over the table
    double over_means = 0, within = 0, given_sigma = 0;
  };
  std::vector<Row> rows;  // strongest first
};

Found<Relations> collect_relations(const Inputs& inputs);
Figure draw_relations(const Relations& data);
// measure,outcome,runs,spearman,low,high,p,p_holm,sigmas,spearman_sigma,spearman_within,spearman_given_sigma
std::string csv_relations(const Relations& data);

}  // namespace locus::report
