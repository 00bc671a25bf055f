#: python [--test|COMMAND...] | the Python package in build/venv; without a word the script on digits, with --test its tests, else a command there
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need build python
[[ ${1:-} == --test ]] && need python-tests
venv=$PWD/build/venv
if [[ ! -x $venv/bin/python ]]; then
  say "making $venv"
  # The system's interpreter: packages of Debian are not seen by others.
  /usr/bin/python3 -m venv --system-site-packages "$venv"
fi
say "installing the package into $venv"
log=build/pip.log
"$venv/bin/python" -m pip install --no-build-isolation --no-deps --no-index --force-reinstall --disable-pip-version-check . >"$log" 2>&1 || {
  cat "$log" >&2
  fail "pip could not install the package"
}
case ${1:-} in
  --test)
    shift
    # From another folder: what is tested is what was installed.
    exec "$venv/bin/python" -m pytest --rootdir "$PWD/python" -q "$@" python/tests/package
    ;;
  "")
    export MPLBACKEND=Agg
    "$venv/bin/python" python/examples/digits.py build/digits.png
    say "the encoding: build/digits.png; from here: source build/venv/bin/activate, then python"
    ;;
  *) exec "$venv/bin/$1" "${@:2}" ;;
esac
