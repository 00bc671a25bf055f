"""The estimators as scikit-learn wants them."""
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.datasets import load_digits, make_blobs
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import locus

ESTIMATORS = [locus.LocusClassifier, locus.LocusRegressor, locus.LocusEncoder]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_scikit_learns_own_checks(estimator):
    check_estimator(estimator())


def table(n=160, seed=0):
    """Six columns; the class is the order of the first two, the number their sum."""
    X = np.random.RandomState(seed).randn(n, 6) * [1, 1, 5, 0.1, 1, 1] + 3
    return X, np.where(X[:, 0] > X[:, 1], "first", "second"), X[:, 0] + X[:, 1]


def test_the_classifier_learns_and_gives_probabilities():
    X, y, _ = table(300)
    model = locus.LocusClassifier(epochs=40).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.9
    p = model.predict_proba(X[200:])
    assert np.allclose(p.sum(axis=1), 1) and np.array_equal(model.classes_[p.argmax(axis=1)], model.predict(X[200:]))
    assert model.positions_.shape == (6, 32) and model.similarity_.shape == (6, 6)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_regressor_learns_one_and_several_numbers():
    X, _, y = table(300)
    assert locus.LocusRegressor(epochs=40).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.9
    both = np.stack([y, 100 * X[:, 2] + 7], 1)
    model = locus.LocusRegressor(epochs=40).fit(X[:200], both[:200])
    assert model.predict(X[200:]).shape == (100, 2) and model.score(X[200:], both[200:]) > 0.9


def test_the_encoder_finds_what_goes_together():
    rng = np.random.RandomState(0)
    hidden = rng.randn(400, 3)
    X = np.repeat(hidden, 4, axis=1) + 0.3 * rng.randn(400, 12)  # three groups of four columns
    model = locus.LocusEncoder(epochs=60, sigma=0.1).fit(X)
    assert model.transform(X).shape == (400, 32)
    same = np.kron(np.eye(3), np.ones((4, 4))) - np.eye(12) > 0
    assert model.similarity_[same].mean() > model.similarity_[~same & ~np.eye(12, dtype=bool)].mean() + 0.3
    assert model.score(X) > -0.4, "hidden columns are predicted from their groups"
    masked = np.zeros(X.shape, dtype=bool)
    masked[:, 5] = True
    filled = model.reconstruct(X, masked)
    assert np.array_equal(filled[~masked], X[~masked]) and np.corrcoef(filled[:, 5], X[:, 5])[0, 1] > 0.85
    assert list(model.get_feature_names_out()[:2]) == ["locusencoder0", "locusencoder1"]


def test_grid_search_over_sigma_and_pipelines():
    X, y, _ = table()
    search = GridSearchCV(locus.LocusClassifier(epochs=10), {"sigma": [0.05, 2.0]}, cv=2).fit(X, y)
    assert search.best_params_["sigma"] in (0.05, 2.0) and search.best_estimator_.sigma_ == search.best_params_["sigma"]
    pipeline = make_pipeline(SelectKBest(k=3), locus.LocusClassifier(epochs=20))
    assert cross_val_score(pipeline, X, y, cv=2).mean() > 0.8
    assert make_pipeline(locus.LocusEncoder(epochs=5), locus.LocusClassifier(epochs=5)).fit(X, y).predict(X).shape == y.shape
    parallel = GridSearchCV(locus.LocusRegressor(epochs=5), {"sigma": [0.05, 2.0]}, cv=2, n_jobs=2).fit(X, X[:, 0])
    assert np.isfinite(parallel.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_sigma_auto_takes_the_best_of_several(estimator):
    X, y, number = table(60)
    model = estimator(sigma="auto", epochs=5).fit(X, number if estimator is locus.LocusRegressor else y)
    assert model.sigma_ == min(model.sigma_errors_, key=model.sigma_errors_.get) and len(model.sigma_errors_) == 4


def test_fitting_is_the_same_training_as_the_command_line_does(tmp_path, program):
    X, y, _ = table()
    model = locus.LocusClassifier(epochs=3, out=str(tmp_path / "run")).fit(X, y)
    run = locus.Run(tmp_path / "run")
    assert run.status == "finished" and run.classes == ["0", "1"]
    assert np.array_equal(run.model().outputs(model._scaled(X)), model._engine.outputs(model._scaled(X)))
    kept = model.save_run(str(tmp_path / "kept"))
    assert np.array_equal(kept.encoding(0), model.positions_)
    program("inspect", "kept")


def test_seeds_decide(tmp_path):
    X, y = make_blobs(60, centers=3, n_features=4, random_state=0)
    one, two, other = (locus.LocusClassifier(epochs=2, random_state=s).fit(X, y).predict_proba(X) for s in (3, 3, 4))
    assert np.array_equal(one, two) and not np.array_equal(one, other)


def test_digits():
    X, y = load_digits(return_X_y=True)
    model = locus.LocusClassifier(epochs=3, threads=0).fit(X[:800], y[:800])
    assert model.score(X[1000:], y[1000:]) > 0.8
