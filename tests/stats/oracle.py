"""Random cases with the answers of NumPy and SciPy, one JSON object a line: {"f": name, "in": {...}, "out": [...]}.

usage: oracle.py CASES OUT [SEED]    golden file: oracle.py 3 golden.jsonl 1
NaN is written as null, infinities as "inf" and "-inf".
"""
import functools
import json
import multiprocessing
import sys
import types
import warnings

import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.spatial
import scipy.special
import scipy.stats as st

warnings.simplefilter("ignore")
CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def sample(rng, low=3, high=40, ties=None):
    n = int(rng.integers(low, high))
    x = rng.normal(size=n) * 10 ** rng.uniform(-2, 2) + rng.normal()
    if ties if ties is not None else rng.random() < 0.3:
        x = rng.integers(-3, 4, n).astype(float)
    return x


def pair(rng, low=3, high=40):
    x = sample(rng, low, high)
    y = rng.uniform(-1, 1) * x + rng.normal(size=len(x)) * (x.std() + 0.1)
    if rng.random() < 0.3:
        y = np.round(y)
    return x, y


def two(rng, low=2, high=25):
    ties = rng.random() < 0.3
    return sample(rng, low, high, ties), sample(rng, low, high, ties)


def alternative(rng):
    return str(rng.choice(["two-sided", "less", "greater"]))


@case
def descriptive(rng):
    x = sample(rng, 2)
    q = rng.random()
    # SciPy's t.ppf is good to about 1e-8 only; the incomplete beta function behind the distribution is better.
    df = len(x) - 1
    tail = lambda t: scipy.special.betainc(df / 2, 0.5, df / (df + t * t)) / 2 - 0.05
    half = st.sem(x) * scipy.optimize.brentq(tail, 1, 7, xtol=1e-14)
    lo, hi = x.mean() - half, x.mean() + half
    return dict(x=x, q=q), [x.mean(), x.var(ddof=1), x.std(ddof=1), st.sem(x), np.median(x), np.quantile(x, q), lo, hi]


@case
def ranks(rng):
    x = sample(rng, 1)
    return dict(x=x), st.rankdata(x)


@case
def pearson(rng):
    x, y = pair(rng, 4)
    r = st.pearsonr(x, y)
    ci = r.confidence_interval(0.95) if np.isfinite(r[0]) else (np.nan, np.nan)
    return dict(x=x, y=y), [r[0], r[1], ci[0], ci[1]]


@case
def spearman(rng):
    x, y = pair(rng)
    return dict(x=x, y=y), list(st.spearmanr(x, y))


@case
def kendall(rng):
    x, y = pair(rng, 3, 60)
    return dict(x=x, y=y), list(st.kendalltau(x, y))


def partial(rng, rank):
    k = int(rng.integers(0, 4))
    x, y = pair(rng, k + 5)
    z = rng.normal(size=(len(x), k)) + rng.uniform(-1, 1, k) * x[:, None] / (x.std() + 0.1)
    columns = [st.rankdata(c) if rank else c for c in [x, y, *z.T]]
    x_, y_, *rest = [c - c.mean() for c in columns]
    basis = np.array(rest).T.reshape(len(x), k)
    fits = [np.linalg.lstsq(basis, v, rcond=1e-10) for v in (x_, y_)]
    e, f = (v - basis @ fit[0] for v, fit in zip((x_, y_), fits))
    df = len(x) - 2 - int(fits[0][2])
    if any(np.linalg.norm(r) <= 1e-10 * np.linalg.norm(v) for r, v in ((e, x_), (f, y_))):
        return dict(x=x, y=y, z=z), [np.nan, np.nan]
    r = st.pearsonr(e, f)[0]
    t = r * np.sqrt(df / ((1 - r) * (1 + r)))
    return dict(x=x, y=y, z=z), [r, 2 * st.t.sf(abs(t), df)]


@case
def partial_pearson(rng):
    return partial(rng, False)


@case
def partial_spearman(rng):
    return partial(rng, True)


@case
def one_sample_t(rng):
    x, mu, alt = sample(rng, 2), rng.normal(), alternative(rng)
    return dict(x=x, mu=mu, alt=alt), list(st.ttest_1samp(x, mu, alternative=alt))


@case
def paired_t(rng):
    (x, y), alt = pair(rng, 2), alternative(rng)
    return dict(x=x, y=y, alt=alt), list(st.ttest_rel(x, y, alternative=alt))


@case
def welch_t(rng):
    (x, y), alt = two(rng), alternative(rng)
    return dict(x=x, y=y, alt=alt), list(st.ttest_ind(x, y, equal_var=False, alternative=alt))


@case
def wilcoxon(rng):
    d, alt = sample(rng, 2, 70), alternative(rng)
    if rng.random() < 0.1:
        d[0] = 0
    if not d.any():
        return dict(d=d, alt=alt), [0, 1]
    tied = len(np.unique(np.abs(d))) < len(d)
    return dict(d=d, alt=alt), list(st.wilcoxon(d, alternative=alt, method="approx" if tied else "auto"))


@case
def mann_whitney(rng):
    (x, y), alt = two(rng, 1), alternative(rng)
    if len(np.unique(np.r_[x, y])) == 1:
        y = y + 1
    return dict(x=x, y=y, alt=alt), list(st.mannwhitneyu(x, y, alternative=alt))


@case
def exact_permutation(rng):
    """All sign patterns, and all assignments to two groups."""
    x, y, alt = np.round(rng.normal(size=5), 2) + 0.3, np.round(rng.normal(size=4), 2), alternative(rng)
    same = st.permutation_test((x,), np.mean, permutation_type="samples", n_resamples=10**6, alternative=alt)
    ind = st.permutation_test((x, y), lambda a, b, axis: a.mean(axis) - b.mean(axis), n_resamples=10**6, alternative=alt)
    # SciPy doubles the smaller tail of a two-sided test; the sign-flip null is symmetric, the other is counted here.
    null = ind.null_distribution
    p = np.mean(np.abs(null) >= abs(ind.statistic) - 1e-12) if alt == "two-sided" else ind.pvalue
    return dict(x=x, y=y, alt=alt), [same.statistic, same.pvalue, ind.statistic, p]


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(400)


@functools.lru_cache(None)
def chi_grid(df):
    """Nodes and probabilities of s = chi_df / sqrt(df)."""
    lo, hi = np.sqrt(st.chi2.ppf(1e-17, df) / df), np.sqrt(st.chi2.isf(1e-17, df) / df)
    s = 0.5 * (hi - lo) * _NODES + 0.5 * (hi + lo)
    return s, 0.5 * (hi - lo) * _WEIGHTS * 2 * s * df * st.chi2.pdf(df * s * s, df)


def noncentrality(t, df, p):
    """The delta at which P(T <= t) = E Phi(t s - delta) is p."""
    s, weight = chi_grid(df)
    f = lambda delta: weight @ scipy.special.ndtr(t * s - delta) - p
    return scipy.optimize.brentq(f, t - 10 - 5 * abs(t), t + 10 + 5 * abs(t), xtol=1e-13)


@case
def effect_sizes(rng):
    x, y = two(rng, 3, 20)
    x[0] += 0.123
    n, m = len(x), len(y)
    df = n + m - 2
    pooled = np.sqrt(((n - 1) * x.var(ddof=1) + (m - 1) * y.var(ddof=1)) / df)
    # Moderate effects: the quadrature above is not for steep integrands.
    x = (x - x.mean()) / pooled + rng.uniform(-2, 2) * x.std(ddof=1) / pooled
    y = (y - y.mean()) / pooled + x.mean() + rng.uniform(-2, 2)
    d, k = x.mean() - y.mean(), np.sqrt(n * m / (n + m))
    lo, hi = (noncentrality(d * k, df, p) / k for p in (0.975, 0.025))
    j = np.exp(scipy.special.gammaln(df / 2) - scipy.special.gammaln((df - 1) / 2)) / np.sqrt(df / 2)
    dz = x.mean() / x.std(ddof=1)
    zlo, zhi = (noncentrality(dz * np.sqrt(n), n - 1, p) / np.sqrt(n) for p in (0.975, 0.025))
    return dict(x=x, y=y), [d, lo, hi, d * j, lo * j, hi * j, dz, zlo, zhi]


@case
def cliffs_delta(rng):
    x, y = two(rng, 2, 20)
    if rng.random() < 0.1:
        x = x + np.ptp(x) + np.ptp(y) + 1
    s = np.sign(x[:, None] - y[None, :])
    n, m, d, z = len(x), len(y), s.mean(), st.norm.ppf(0.975)
    if abs(d) == 1:
        k = min(n, m)
        b = (k - z * z) / (k + z * z)
        return dict(x=x, y=y), [d, *((b, 1) if d > 0 else (-1, -b))]
    v = (m**2 * np.sum((s.mean(1) - d) ** 2) + n**2 * np.sum((s.mean(0) - d) ** 2) - np.sum((s - d) ** 2)) / (n * m * (n - 1) * (m - 1))
    v = max(v, (1 - d * d) / (n * m - 1))
    h = z * np.sqrt(v) * np.sqrt((1 - d * d) ** 2 + z * z * v)
    b = np.array([d - d**3 - h, d - d**3 + h]) / (1 - d * d + z * z * v)
    return dict(x=x, y=y), [d, max(b[0], -1), min(b[1], 1)]


@case
def adjusted_p(rng):
    p = rng.random(int(rng.integers(1, 20))) ** 2
    if rng.random() < 0.3:
        p = np.round(p, 1)
    m = len(p)
    bh = [min(min(1, q * m / np.sum(p <= q)) for q in p if q >= v) for v in p]
    ordered = np.sort(p)
    holm = [min(1, max((m - i) * q for i, q in enumerate(ordered) if q <= v)) for v in p]
    return dict(p=p), [*bh, *holm]


@case
def bootstrap_interval(rng):
    x = sample(rng, 5, 25, False)
    distribution = rng.choice(x, (40, len(x))).mean(1) + x.std() * rng.uniform(-0.1, 0.1)
    out = []
    for method in ("percentile", "bca"):
        known = types.SimpleNamespace(bootstrap_distribution=distribution)
        r = st.bootstrap((x,), np.mean, n_resamples=0, confidence_level=0.9, method=method, bootstrap_result=known)
        out += [r.confidence_interval.low, r.confidence_interval.high]
    jack = np.array([np.delete(x, i).mean() for i in range(len(x))])
    return dict(distribution=distribution, estimate=x.mean(), jackknife=jack), out


def square(rng, n):
    m = rng.normal(size=(n, n))
    return (m + m.T) / 2 if rng.random() < 0.7 else m


@case
def matrix_correlation(rng):
    n = int(rng.integers(4, 9))
    a, b, c = square(rng, n), square(rng, n), square(rng, n)
    symmetric = all(np.allclose(m, m.T) for m in (a, b))
    where = np.triu_indices(n, 1) if symmetric else np.nonzero(~np.eye(n, dtype=bool))
    out = [*st.pearsonr(a[where], b[where]), *st.spearmanr(a[where], b[where])]
    off = np.nonzero(~np.eye(n, dtype=bool))
    inv = np.linalg.inv(np.corrcoef([m[off] for m in (a, b, c)]))
    return dict(a=a, b=b, c=c), [*out, -inv[0, 1] / np.sqrt(inv[0, 0] * inv[1, 1])]


def up(v):
    """Columns with their largest entry positive, and the signs."""
    sign = np.sign(v[np.abs(v).argmax(0), range(v.shape[1])])
    return v * sign, sign


@case
def decompositions(rng):
    n, m = rng.integers(2, 7, 2)
    a, sym = rng.normal(size=(n, m)), rng.normal(size=(n, n))
    sym = sym + sym.T
    values, vectors = np.linalg.eigh(sym)
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    v, sign = up(vt.T)
    out = [values[::-1], up(vectors)[0][:, ::-1].ravel(), (u * sign).ravel(), s, v.ravel()]
    return dict(a=a, sym=sym), np.concatenate(out)


@case
def maps(rng):
    n, d, k = int(rng.integers(4, 10)), int(rng.integers(2, 6)), 2
    x = rng.normal(size=(n, d))
    c = np.atleast_2d(np.cov(x.T))
    values, vectors = np.linalg.eigh(c)
    v = up(vectors[:, ::-1][:, :k])[0]
    dist = scipy.spatial.distance.squareform(scipy.spatial.distance.pdist(x))
    j = np.eye(n) - 1 / n
    mds_values, mds_vectors = np.linalg.eigh(-0.5 * j @ dist**2 @ j)
    mds = up(mds_vectors[:, ::-1][:, :k])[0] * np.sqrt(mds_values[::-1][:k])
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    out = [[values.sum() ** 2 / (values**2).sum()], ((x - x.mean(0)) @ v).ravel(), values[::-1][:k], mds.ravel()]
    return dict(x=x), np.concatenate([*out, dist.ravel(), (unit @ unit.T).ravel()])


@case
def procrustes(rng):
    n, d = int(rng.integers(3, 12)), int(rng.integers(1, 4))
    a, b = rng.normal(size=(n, d)) + 1, rng.normal(size=(n, d))
    r, s = scipy.linalg.orthogonal_procrustes(b, a)
    na, nb = np.linalg.norm(a), np.linalg.norm(b)
    matched = np.linalg.norm(a / na - b @ r / nb)
    scaled = np.linalg.norm(a - s / nb**2 * b @ r)
    disparity = scipy.spatial.procrustes(a, b)[2]
    return dict(a=a, b=b), [*r.ravel(), np.linalg.norm(a - b @ r), matched, s / nb**2, scaled, disparity]


@case
def readouts(rng):
    n, p, q, k = int(rng.integers(5, 12)), int(rng.integers(1, 15)), 2, int(rng.integers(1, 4))
    x, y, labels = rng.normal(size=(n, p)), rng.normal(size=(n, q)), rng.integers(0, 3, n)
    y += x[:, :1]
    scatter = np.sum((x - x.mean(0)) ** 2)
    penalty = 0.3 * scatter / min(n, p)
    prediction, near = np.zeros((n, q)), np.zeros((n, q))
    right = 0
    for i in range(n):
        rest = np.arange(n) != i
        xm, ym = x[rest].mean(0), y[rest].mean(0)
        c = x[rest] - xm
        prediction[i] = (x[i] - xm) @ np.linalg.solve(c.T @ c + penalty * np.eye(p), c.T @ (y[rest] - ym)) + ym
        order = [j for j in np.argsort(np.linalg.norm(x - x[i], axis=1), kind="stable") if j != i][:k]
        near[i] = y[order].mean(0)
        votes = np.bincount(labels[order], minlength=3)
        right += next(labels[j] for j in order if votes[labels[j]] == votes.max()) == labels[i]
    r2 = lambda guess, axis=None: 1 - np.sum((y - guess) ** 2, axis) / np.sum((y - y.mean(0)) ** 2, axis)
    out = [[r2(prediction)], r2(prediction, 0), prediction.ravel(), [r2(near), right / n]]
    return dict(x=x, y=y, labels=labels, k=k), np.concatenate(out)


@case
def graphs(rng):
    n, gamma = int(rng.integers(4, 10)), rng.uniform(0.5, 2)
    w = rng.normal(size=(n, n)) + rng.uniform(-0.3, 1)
    w = w + w.T
    labels = rng.integers(0, 3, n)
    same = labels[:, None] == labels[None, :]
    off = w * (1 - np.eye(n))
    total, terms = {}, {}
    for sign in (1, -1):
        part = np.maximum(sign * off, 0)
        total[sign] = part.sum()
        expected = np.outer(part.sum(0), part.sum(1)) / part.sum() if part.sum() > 0 else 0
        terms[sign] = ((part - gamma * expected) * same).sum()
    positive = terms[1] / total[1] if total[1] > 0 else 0
    signed = positive - terms[-1] / (total[1] + total[-1])
    above = np.triu(np.ones((n, n), bool), 1)
    within = w[above & same].mean() if (above & same).any() else np.nan
    between = w[above & ~same].mean() if (above & ~same).any() else np.nan
    segregation = (within - between) / within if within >= 0.05 else np.nan
    return dict(w=w, labels=labels, gamma=gamma), [positive, signed, within, between, segregation]


@case
def partitions(rng):
    n = int(rng.integers(4, 25))
    a = rng.integers(0, int(rng.integers(2, 5)), n)
    b = np.where(rng.random(n) < 0.5, a, rng.integers(0, 4, n))
    a[:2], b[:3] = (0, 1), (0, 1, 1)
    table = np.array([[np.sum((a == i) & (b == j)) for j in np.unique(b)] for i in np.unique(a)])
    pa, pb = (np.array([x[i] == x[j] for i in range(n) for j in range(i)]) for x in (a, b))
    chance = pa.sum() * pb.sum() / len(pa)
    ari = (np.sum(pa & pb) - chance) / (0.5 * (pa.sum() + pb.sum()) - chance)
    ra, rb = table.sum(1), table.sum(0)
    ha, hb = st.entropy(ra), st.entropy(rb)
    mi = ha + hb - st.entropy(table.ravel())
    emi, comb = 0, scipy.special.comb
    for x in ra:
        for y in rb:
            k = np.arange(1, min(x, y) + 1)
            emi += np.sum(k / n * np.log(n * k / (x * y)) * comb(x, k) * comb(n - x, y - k) / comb(n, y))
    return dict(a=a, b=b), [ari, 2 * mi / (ha + hb), (mi - emi) / (0.5 * (ha + hb) - emi)]


def plain(v):
    if isinstance(v, dict):
        return {k: plain(u) for k, u in v.items()}
    if isinstance(v, (list, tuple, np.ndarray)):
        return [plain(u) for u in v]
    if isinstance(v, str):
        return v
    v = float(v)
    return None if np.isnan(v) else v if np.isfinite(v) else "inf" if v > 0 else "-inf"


def lines(job):
    name, index, cases, seed = job
    rng = np.random.default_rng([seed, index])
    made = (CASES[name](rng) for _ in range(cases))
    return "".join(json.dumps({"f": name, "in": plain(given), "out": plain(out)}) + "\n" for given, out in made)


def main():
    cases, out = int(sys.argv[1]), sys.argv[2]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    jobs = [(name, index, cases, seed) for index, name in enumerate(sorted(CASES))]
    with open(out, "w") as file, multiprocessing.Pool(2) as pool:
        file.writelines(pool.imap(lines, jobs))


if __name__ == "__main__":
    main()
