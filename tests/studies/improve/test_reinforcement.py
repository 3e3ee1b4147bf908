"""Reinforcement in miniature: GRPO of TRL with the batch reward, as it is, raises its reward."""

import pytest

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")
pytest.importorskip("trl", reason="the extra `train` is not installed")

from tiny_networks import write_model  # noqa: E402
from tokenizers import Tokenizer, models  # noqa: E402

import bestresponse as br  # noqa: E402

REPLIES = ("ANSWER: A: 1, B: 0", "ANSWER: A: 0, B: 1", "ANSWER: A: 0.5, B: 0.5")
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


@pytest.fixture
def speaker(tmp_path):
    """A model that says one of eight things, three of which are answers."""
    words = ("what?", "maybe", "no", "<end>", *REPLIES, "never")
    tokenizer = Tokenizer(models.WordLevel({word: k for k, word in enumerate(words)}, "what?"))
    tokenizer.add_special_tokens(["<end>"])
    return write_model(tmp_path / "speaker", tokenizer, "gpt2", template=TEMPLATE)


def test_grpo_with_the_batch_reward_raises_its_reward(speaker, tmp_path):
    from datasets import load_dataset
    from trl import GRPOConfig, GRPOTrainer

    folder = tmp_path / "data"
    br.export(
        folder, purpose="rl", count=200, sizes="2", rectangular=0, formats="table", themes="neutral"
    )
    rows = load_dataset(str(folder), split="train", cache_dir=str(tmp_path / "cache"))
    trainer = GRPOTrainer(
        str(speaker),
        reward_funcs=br.rewards.reward_replies,
        args=GRPOConfig(
            output_dir=str(tmp_path / "runs"),
            max_steps=25,
            per_device_train_batch_size=16,
            num_generations=8,
            max_completion_length=1,
            learning_rate=0.005,
            lr_scheduler_type="constant",
            beta=0.0,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=rows.filter(lambda row: '"seat": 0' in row["task"]),  # who has A and B
    )
    trainer.train()
    rewards = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    assert len(rewards) == 25
    # Three of eight words are answers, which are worth 0.7 to 0.8 on average, the rest is worth 0:
    # a random model begins at about 0.3.
    assert rewards[0] < 0.5
    assert sum(rewards[-5:]) / 5 > sum(rewards[:5]) / 5 + 0.15
