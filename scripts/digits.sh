#: digits FOLDER | write scikit-learn's 1,797 digits as images.npy (1797 x 8 x 8) and labels.npy into FOLDER
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[[ $# -eq 1 ]] || fail "which folder? ./run digits data/digits"
need oracles
mkdir -p "$1"
/usr/bin/python3 - "$1" <<'END'
import sys

import numpy
from sklearn.datasets import load_digits

digits = load_digits()
numpy.save(sys.argv[1] + "/images.npy", digits.images.astype("u1"))
numpy.save(sys.argv[1] + "/labels.npy", digits.target.astype("u1"))
END
say "$1/images.npy and $1/labels.npy"
