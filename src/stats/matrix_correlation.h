// Correlation of two square matrices over their off-diagonal entries, and Mantel's permutation test.
#pragma once

#include <span>
#include <vector>

#include "core/matrix.h"
#include "stats/correlation.h"
#include "stats/permutation.h"

namespace locus::stats {

// Entries above the diagonal, row by row: n(n-1)/2 of an n x n matrix.
std::vector<double> upper_triangle(ConstMatD m);
// All entries but the diagonal, row by row: n(n-1).
std::vector<double> off_diagonal(ConstMatD m);

// Upper triangles when both matrices are symmetric, otherwise all off-diagonal entries. Entries that share a row are
// dependent: p is descriptive only, use mantel for a test.
Correlation matrix_correlation(ConstMatD a, ConstMatD b, CorrelationKind kind = CorrelationKind::kPearson);
Correlation partial_matrix_correlation(ConstMatD a, ConstMatD b, std::span<const ConstMatD> covariates,
                                       CorrelationKind kind = CorrelationKind::kPearson);

// Mantel (1967): rows and columns of b permuted jointly. Pearson or Spearman. Constant matrices are a DataError.
PermutationResult mantel(ConstMatD a, ConstMatD b, CorrelationKind kind = CorrelationKind::kPearson,
                         const PermutationOptions& options = {});

// The cosine of every pair of rows of x (n x d); a row of zeros has cosine 0 with all, 1 with itself.
MatrixD cosine_similarity(ConstMatD x);
// Euclidean distance of every pair of rows of x.
MatrixD pairwise_distance(ConstMatD x);
// x minus the mean of its rows.
MatrixD centre_rows(ConstMatD x);

}  // namespace locus::stats
