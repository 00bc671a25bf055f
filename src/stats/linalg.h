// Linear algebra of the analyses on row-major matrices: decompositions, maps and alignments. Signs are
// fixed (largest entry of a component positive) so that results do not depend on the library behind. NaN is a DataError.
#pragma once

#include <span>
#include <vector>

#include "core/matrix.h"
#include "stats/permutation.h"

namespace locus::stats {

struct SymmetricEigen {
  std::vector<double> values;  // descending
  MatrixD vectors;             // n x n, column k belongs to values[k]
};
SymmetricEigen symmetric_eigen(ConstMatD a);

// a (n x m) = u diag(s) v^T with k = min(n, m); s descending.
struct Svd {
  MatrixD u;  // n x k
  std::vector<double> s;
  MatrixD v;  // m x k
};
Svd thin_svd(ConstMatD a);
std::vector<double> singular_values(ConstMatD a);

struct LinearFit {
  MatrixD weights;                // p x q
  std::vector<double> intercept;  // q
};
// Minimises ||y - x w - 1 c^T||^2 + lambda ||w||^2; the intercept is not penalised. lambda > 0, or full column rank.
LinearFit ridge(ConstMatD x, ConstMatD y, double lambda);

// Participation ratio (sum v)^2 / sum v^2 of non-negative eigenvalues; NaN when all are 0.
double participation_ratio(std::span<const double> values);
// The same of the covariance of the rows of x.
double effective_dimension(ConstMatD x);

struct Pca {
  MatrixD scores;                // n x k
  MatrixD components;            // d x k, orthonormal columns
  std::vector<double> variance;  // of each score, divided by n - 1
};
Pca pca(ConstMatD x, std::ptrdiff_t k);  // 1 <= k <= min(n, d)

struct Mds {
  MatrixD coordinates;              // n x k; columns of non-positive eigenvalues are 0
  std::vector<double> eigenvalues;  // all n, descending
};
Mds classical_mds(ConstMatD distance, std::ptrdiff_t k);  // Torgerson; 1 <= k <= n

struct ProcrustesOptions {
  bool centre = false;  // remove the column means of both first
  bool scale = false;   // also fit a scale: s b r
};
struct Procrustes {
  MatrixD rotation;             // r, d x d orthogonal (may reflect), minimises ||a - s b r||_F
  double scale = 1;             // s
  MatrixD aligned;              // s b r, with a's column means added back when centred
  double distance = 0;          // ||a - s b r||_F
  double matched_distance = 0;  // the same with a and b scaled to norm 1: sqrt(2 - 2 cos), 0 equal, sqrt 2 unrelated
};
Procrustes procrustes(ConstMatD a, ConstMatD b, const ProcrustesOptions& options = {});
// Is matched_distance smaller than with the rows of b permuted? One-sided p; options.alternative is not used.
PermutationResult procrustes_test(ConstMatD a, ConstMatD b, const ProcrustesOptions& options,
                                  const PermutationOptions& permutations = {});

}  // namespace locus::stats
