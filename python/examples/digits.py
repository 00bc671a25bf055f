"""Classifies handwritten digits, pixels as tokens, and draws the encoding it learned: python digits.py [picture.png]"""
import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import locus

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
model = locus.LocusClassifier(sigma=0.1, epochs=12, threads=0).fit(X_train, y_train)
print(f"accuracy on {len(y_test)} unseen digits: {model.score(X_test, y_test):.3f}")
plt.imshow(model.similarity_, cmap="RdBu_r", vmin=-1, vmax=1)
plt.title("similarity of the 64 pixels' learned positions")
plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "digits.png")
