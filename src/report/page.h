// The report page: one HTML text with everything inside, under a content security policy that allows nothing else.
#pragma once

#include <string>
#include <vector>

#include "report/figure.h"
#include "report/inputs.h"

namespace locus::report {

struct MissingFigure {
  std::string name, title, why;
};

struct PageParts {
  std::string title;
  std::string files_folder;  // relative link to the folder of SVG and CSV files; empty: no links
  std::vector<Figure> figures;
  std::vector<MissingFigure> missing;
};

std::string make_page(const Inputs& inputs, const PageParts& parts);

// Settings and runs as tables (also written as CSV).
Table settings_table(const Inputs& inputs);
Table runs_table(const Inputs& inputs);
std::string table_csv(const Table& table);

// File name of a variant's SVG without extension: "similarity_layer-1".
std::string variant_file_name(const Figure& figure, const Variant& variant);

}  // namespace locus::report
