#!/bin/bash
# Sixteen parts of one benchmark as a job array, and a last job that merges them.
#
#   sbatch examples/scale/slurm.sh                      # the parts: tasks 1 to 16
#   sbatch --dependency=afterok:JOB examples/scale/slurm.sh merge
#
# Every task may fail and be sent again: it plays only what is missing of its part. The budget in dollars needs the
# extra `cost`. Other numbers of parts and games: sbatch --array=1-4 --export=ALL,PARTS=4,GAMES=1000 ...
#SBATCH --job-name=bestresponse
#SBATCH --array=1-16
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --time=12:00:00
set -euo pipefail

OUTPUT=${OUTPUT:-results}
PARTS=${PARTS:-16}
GAMES=${GAMES:-100000}
BUDGET=${BUDGET:---budget 25dollars}

if [ "${1:-}" = merge ]; then
    [ "${SLURM_ARRAY_TASK_ID:-1}" = 1 ] || exit 0
    exec bestresponse merge "$OUTPUT"/part* -o "$OUTPUT/all"
fi

# The seed is part of the run: every part must draw the same games. The key is read from the node's environment.
# shellcheck disable=SC2086 - the budget is an option with its value
exec bestresponse bench --model openai/gpt-4o --num-games "$GAMES" --seed 1 \
    --shard "$SLURM_ARRAY_TASK_ID/$PARTS" --output "$OUTPUT/part$SLURM_ARRAY_TASK_ID" \
    --workers 64 $BUDGET
