"""Cases of predictors and scores with the answers of scikit-learn and SciPy, one JSON object a line.

    /usr/bin/python3 tests/stats/predictors_oracle.py SEED CASES > tests/stats/predictors_golden.jsonl
"""
import json
import sys
import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix, log_loss, r2_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor

warnings.filterwarnings("ignore")


def lists(**values):
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}


def samples(rng, n, d, k):
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    centres = rng.normal(size=(k, d))
    return centres[labels] + rng.normal(size=(n, d)), labels


def logistic(rng):
    x, y = samples(rng, int(rng.integers(20, 60)), int(rng.integers(1, 6)), int(rng.integers(3, 6)))
    penalty = float(10 ** rng.uniform(-1, 2))
    model = LogisticRegression(C=1 / penalty, solver="newton-cg", tol=1e-12, max_iter=20000).fit(x, y)
    return lists(x=x, labels=y, penalty=penalty), lists(weights=model.coef_.T, probabilities=model.predict_proba(x))


def ridge(rng):
    x, _ = samples(rng, 30, 4, 2)
    y = rng.normal(size=(30, 3))
    penalty = float(10 ** rng.uniform(-2, 2))
    model = Ridge(alpha=penalty).fit(x, y)
    return lists(x=x, y=y, penalty=penalty), lists(predicted=model.predict(x))


def neighbours(rng):
    x, y = samples(rng, 40, 3, 3)
    of = rng.normal(size=(11, 3))
    k = int(rng.integers(1, 9))
    model = KNeighborsClassifier(k, algorithm="brute").fit(x, y)
    return lists(x=x, of=of, k=k), lists(nearest=model.kneighbors(of, return_distance=False))


def mlp(rng):
    """Some epochs of Adam in batches without shuffling, from given weights."""
    classes = bool(rng.integers(2))
    x, labels = samples(rng, 25, 4, 3)
    y = labels if classes else rng.normal(size=(25, 2))
    outputs = 3 if classes else 2
    hidden, batch, epochs = 7, 10, int(rng.integers(1, 6))
    kind = MLPClassifier if classes else MLPRegressor
    model = kind((hidden,), alpha=0.05, learning_rate_init=0.01, batch_size=batch, shuffle=False, max_iter=1)
    model.fit(x, y)
    first, second = rng.normal(size=(4, hidden)), rng.normal(size=(hidden, outputs))
    bias1, bias2 = rng.normal(size=hidden), rng.normal(size=outputs)
    start = lists(first=first, second=second, first_bias=bias1, second_bias=bias2)
    model.coefs_, model.intercepts_ = [first.copy(), second.copy()], [bias1.copy(), bias2.copy()]
    from sklearn.neural_network._stochastic_optimizers import AdamOptimizer

    model._optimizer = AdamOptimizer(model.coefs_ + model.intercepts_, 0.01)
    model.t_ = 0
    for _ in range(epochs):
        model.partial_fit(x, y)
    target = np.eye(3)[labels] if classes else y
    given = lists(x=x, y=target, classes=classes, hidden=hidden, batch=batch, epochs=epochs, start=start)
    return given, lists(first=model.coefs_[0], second=model.coefs_[1], outputs=model.predict_proba(x) if classes else model.predict(x))


def scores(rng):
    k = int(rng.integers(2, 6))
    n = int(rng.integers(10, 50))
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    p = rng.dirichlet(np.ones(k), n)
    said = p.argmax(1)
    out = [accuracy_score(labels, said), balanced_accuracy_score(labels, said), log_loss(labels, p, labels=range(k))]
    return lists(labels=labels, probabilities=p), lists(scores=out, confusion=confusion_matrix(labels, said, labels=range(k)))


def numbers(rng):
    truth = rng.normal(size=(20, 3))
    said = truth + rng.normal(size=(20, 3))
    return lists(truth=truth, predicted=said), lists(
        r2=r2_score(truth, said, multioutput="raw_values"), mse=((truth - said) ** 2).mean(0)
    )


def assignment(rng):
    n = int(rng.integers(1, 12))
    cost = rng.normal(size=(n, n + int(rng.integers(0, 4))))
    if rng.integers(2):
        cost = np.round(cost * 2)
    rows, columns = linear_sum_assignment(cost)
    return lists(cost=cost), lists(total=float(cost[rows, columns].sum()))


def main():
    rng = np.random.default_rng(int(sys.argv[1]))
    for f in (logistic, ridge, neighbours, mlp, scores, numbers, assignment):
        for _ in range(int(sys.argv[2])):
            given, expected = f(rng)
            print(json.dumps({"f": f.__name__, "in": given, "out": expected}))


main()
