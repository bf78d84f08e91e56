#!/usr/bin/env bash
# Runs a command of this project on a machine that has a card, Python, NumPy and CuPy, and of the
# project nothing but its files: no environment, no network. Wheels that it lacks are in .card/,
# the work goes on where an earlier call left off, and a time limit ends it.
#   tests/card/machine.sh OUT SECONDS COMMAND…
#   tests/card/machine.sh OUT 540 python3 -m tests.card --out OUT --verify --minutes 8
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=$1 seconds=$2
shift 2
packages=$(mktemp -d)
if compgen -G '.card/*.whl' >/dev/null; then
  python3 -m pip install --quiet --no-index --no-deps --no-compile --target "$packages" .card/*.whl
fi
ln -s "$PWD" "$packages/gradstep" # the checkout is the package
export PYTHONPATH=$packages:$PWD PYTHONUNBUFFERED=1 PYTHONPYCACHEPREFIX=$packages/bytecode
export CUPY_CACHE_DIR=${CUPY_CACHE_DIR:-/tmp/cupy-kernels} CUBLAS_WORKSPACE_CONFIG=:4096:8
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 XLA_PYTHON_CLIENT_PREALLOCATE=false
mkdir -p "$out"
cp -n .card/*.jsonl "$out"/ 2>/dev/null || true # what an earlier call came to
exec timeout --kill-after=15 "$seconds" "$@"
