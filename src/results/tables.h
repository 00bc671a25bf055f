// The tables of documents, made from results that were kept.
#pragma once

#include <string>

namespace locus {

// Fills every <!-- table NAME --> ... <!-- end --> of a document from the table of that name in the TOML file beside it
// (<stem>.tables.toml). Returns the new text; DataError names what is missing.
std::string fill_tables(const std::string& document_path);

}  // namespace locus
