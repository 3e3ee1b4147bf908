"""How fast models of several sizes are trained, and how well a student plays: for one GPU.

    python benchmarks/training.py speed --data build/improve/zs --sizes smollm2,qwen3-0.6b
    python benchmarks/training.py play --student build/improve/student --games 4000

`speed` trains random weights of the sizes of well-known models, with the tokenizer of smollm2 and
batches of the data, and prints one line of JSON per model: tokens per second from step 20 on, as
the clock says and multiplied by the numbers that a token goes through. `play` prints for each size
of games how many answers of a student lose at most 0.01 of the payoff range.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path

SIZES = {
    "smollm2": {
        "model_type": "llama",
        "hidden_size": 576,
        "intermediate_size": 1536,
        "num_hidden_layers": 30,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
        "vocab_size": 49_152,
        "rope_theta": 100_000.0,
    },
    "qwen3-0.6b": {
        "model_type": "qwen3",
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151_936,
    },
    "gemma3-270m": {
        "model_type": "gemma3_text",
        "hidden_size": 640,
        "intermediate_size": 2048,
        "num_hidden_layers": 18,
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "head_dim": 256,
        "sliding_window": 512,
        "vocab_size": 262_144,
    },
    "gemma3-1b": {
        "model_type": "gemma3_text",
        "hidden_size": 1152,
        "intermediate_size": 6912,
        "num_hidden_layers": 26,
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "head_dim": 256,
        "sliding_window": 512,
        "vocab_size": 262_144,
    },
    "tiny": {  # to try this script on a processor
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 49_152,
    },
}
WARM = 20  # steps in which functions are compiled


def write_random(name: str, folder: Path) -> None:
    """Write random weights of a size, with the tokenizer of smollm2."""
    import torch
    import transformers

    from bestresponse.studies.improve.making import open_base

    sizes = dict(SIZES[name])
    config = transformers.AutoConfig.for_model(
        sizes.pop("model_type"),
        tie_word_embeddings=True,
        max_position_embeddings=8192,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=2,
        **sizes,
    )
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.save_pretrained(folder)
    base = open_base("smollm2")
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(base / file, folder / file)


def measure_speed(args: argparse.Namespace, name: str, work: Path) -> dict[str, object]:
    """Train some steps, and return tokens per second."""
    import torch
    from transformers import TrainerCallback

    from bestresponse.models.students.model import choose_device
    from bestresponse.studies.improve import training
    from bestresponse.studies.improve.data import open_data

    base = work / "base"
    write_random(name, base)
    device = choose_device()
    recipe = training.Recipe(
        seconds=3600,
        steps=args.steps,
        rate=1e-4,
        batch_tokens=args.batch_tokens,
        seed=0,
        device=device,
        held_out=1,
        optimizer="adamw" if args.lora else args.optimizer,
        keep=args.keep,
    )
    plan = training.TrainingPlan(
        base=base,
        data=open_data([str(args.data)]),
        recipe=recipe,
        work=work,
        lora=args.lora,
    )
    progress = training.TrainingProgress()
    began = time.monotonic()
    session, trainer = training.make_trainer(
        plan, progress, training.Clock(began), lambda rows: None
    )
    opened = time.monotonic()
    marks: list[tuple[float, int]] = []

    class Mark(TrainerCallback):
        """Notes when steps end, after all that was ordered is done."""

        def on_step_end(self, arguments, state, control, **others):
            if state.global_step in (1, WARM, args.steps):
                if device == "cuda":
                    torch.cuda.synchronize()
                marks.append((time.monotonic(), progress.tokens))
            if state.global_step == args.steps:
                control.should_save = False

    trainer.add_callback(Mark)
    with session.apart():
        trainer.train()
    (first, _), (warm, before), (end, after) = marks
    model = session.student.model
    numbers = sum(value.numel() for value in model.parameters())
    embedding = model.get_input_embeddings().weight.numel()
    rate = (after - before) / (end - warm)
    kept = session.rehearsal.texts.shape[1] * session.rehearsal.rows
    whole = rate + kept * (args.steps - WARM) / (end - warm)
    return {
        "model": name,
        "flat": session.shape.flat,
        "optimizer": recipe.optimizer,
        "keep": args.keep,
        "lora": args.lora,
        "tokens per second": round(rate),
        "with kept texts": round(whole),
        "numbers, millions": round(numbers / 1e6, 1),
        "whole x numbers, 1e12": round(whole * numbers / 1e12, 2),
        "whole x numbers of layers, 1e12": round(whole * (numbers - embedding) / 1e12, 2),
        "seconds to open": round(opened - began, 1),
        "to the first step": round(first - opened, 1),
        "to step 20": round(warm - opened, 1),
        "GB": round(torch.cuda.max_memory_allocated() / 1e9, 1) if device == "cuda" else None,
        "pieces": progress.pieces,
        "shape": str(session.shape),
    }


def speed(args: argparse.Namespace) -> None:
    """Print the speed of every size."""
    for name in args.sizes.split(","):
        with tempfile.TemporaryDirectory(dir=args.work) as work:
            print(json.dumps(measure_speed(args, name, Path(work))), flush=True)


def play(args: argparse.Namespace) -> None:
    """Print how many answers to fresh games are within 0.01, by size."""
    import bestresponse as br

    for side in args.sides.split(","):
        began = time.monotonic()
        run = br.bench(
            str(args.student),
            seed=args.seed,
            num_rows=int(side),
            num_cols=int(side),
            num_games=args.games,
            max_tokens=500,
            output_dir=args.work / f"play-{args.student.name}-{side}",
        )
        plays = [play for play in run.frame("plays") if play["model"] != "baseline"]
        plays = [play for play in plays if play["asked_for"] != "baseline"]
        lost = [play["exploitability_normalised"] for play in plays if play["strategy"] is not None]
        row = {
            "student": args.student.name,
            "side": int(side),
            "asked": len(plays),
            "read": round(len(lost) / len(plays), 4),
            "within 0.01": round(sum(value <= 0.01 for value in lost) / len(plays), 4),
            "within 0.05": round(sum(value <= 0.05 for value in lost) / len(plays), 4),
            "seconds": round(time.monotonic() - began),
        }
        print(json.dumps(row), flush=True)


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["speed", "play"])
    parser.add_argument("--work", type=Path, default=Path("build/training"))
    parser.add_argument("--data", type=Path, default=Path("build/improve/zs"))
    parser.add_argument("--sizes", default="smollm2")
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--batch-tokens", type=int, default=32_768)
    parser.add_argument("--optimizer", default="muon")
    parser.add_argument("--keep", type=float, default=0.0)
    parser.add_argument("--lora", type=int)
    parser.add_argument("--student", type=Path)
    parser.add_argument("--games", type=int, default=4000)
    parser.add_argument("--sides", default="3,4,5")
    parser.add_argument("--seed", type=int, default=501)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    {"speed": speed, "play": play}[args.part](args)


if __name__ == "__main__":
    main()
