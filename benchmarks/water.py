"""How fast the water game is: the fast path beside games played one by one, and the grid of six
settings to disk.

    python benchmarks/water.py [games]

Wanted: 500 games of 20 days x 5 seats a second on one core in the fast path, and 10,000 games of
the six-setting grid in under a minute.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bestresponse.core.episode import play
from bestresponse.core.game import NATURE
from bestresponse.core.player import Nature
from bestresponse.games.water.bidders import BIDDERS, BidderPlayer, play_many, seat_seed
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import RESIDENTS, WaterRules
from bestresponse.runs.run import Invocation, load_run, run_study
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.study import water

FIVE = ("random", "share:0.3", "need", "myopic", "share")


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def one_by_one(names: tuple[str, ...], seeds: range) -> None:
    game = Water(WaterRules())
    for seed in seeds:
        seats = {
            role: BidderPlayer(name, seat_seed(seed, role))
            for role, name in zip(game.roles, names, strict=True)
        }
        play(game, {**seats, NATURE: Nature(seed)})


def compare(games: int) -> None:
    """The two ways in turns, medians of three."""
    print(
        f"{'bidders':12} {'fast, games/s':>14} {'(per cpu s)':>12} {'one by one':>12} {'ratio':>8}"
    )
    for names in (FIVE, *((name,) * 5 for name in BIDDERS)):
        fast, slow = [], []
        for _ in range(3):
            fast.append(seconds(lambda names=names: play_many(WaterRules(), names, range(games))))
            slow.append(seconds(lambda names=names: one_by_one(names, range(4))))
        wall = games / statistics.median(w for w, _ in fast)
        cpu = games / statistics.median(c for _, c in fast)
        single = 4 / statistics.median(w for w, _ in slow)
        label = names[0] if len(set(names)) == 1 else "all five"
        print(f"{label:12} {wall:14.0f} {cpu:12.0f} {single:12.1f} {wall / single:8.0f}")


def grid(games: int) -> None:
    """The grid of six settings, played, written to disk and measured again."""
    seats = {resident.name: bidder for resident, bidder in zip(RESIDENTS, FIVE, strict=True)}
    config = WaterConfig(seat=seats, grid=True, repeats=-(-games // 6), seed=1)
    with tempfile.TemporaryDirectory() as folder:
        began = Invocation(("water",), "")
        wall, cpu = seconds(lambda: run_study(water, config, {}, Path(folder), invocation=began))
        print(
            f"grid: {water.count(config)} games played and kept in {wall:.1f} s ({cpu:.1f} s of"
            " processor time)"
        )
        wall, cpu = seconds(lambda: load_run(folder).results)
        print(f"grid: read and measured in {wall:.1f} s ({cpu:.1f} s of processor time)")


if __name__ == "__main__":
    compare(500)
    grid(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
