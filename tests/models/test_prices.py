"""Prices from the open list, by model and by the name a user types."""

import pytest
from plugins import lay_package

from bestresponse.models import ScriptedModel, Usage, estimate_price
from bestresponse.models.wrappers.limits import find_price


def test_prices_come_from_the_open_list():
    pytest.importorskip("genai_prices")
    model = ScriptedModel([])
    model.identity = {"provider": "openai", "model": "gpt-4o"}
    assert find_price(model)(Usage(1000, 100)) == pytest.approx(0.0035)
    assert find_price(model)(Usage(1000, 100, cached=1000)) == pytest.approx(0.00225)
    assert [find_price(model)(usage) for usage in (Usage(), Usage(1000), Usage(None, 100))] == [
        None
    ] * 3
    model.identity = {"provider": "openai", "model": "no-such-model"}
    assert find_price(model)(Usage(1000, 100)) is None
    model.identity = {
        "provider": "openai-compatible",
        "model": "gpt-4o",
        "base_url": "http://localhost/v1",
    }
    assert find_price(model)(Usage(1000, 100)) is None
    model.identity = {"provider": "inspect", "model": "openai/gpt-4o"}
    assert find_price(model)(Usage(1000, 100)) == pytest.approx(0.0035)
    model.identity = {"provider": "mistral", "model": "mistral-large-latest"}
    assert find_price(model)(Usage(1000, 100)) == pytest.approx(0.0026)
    model.identity = {"provider": "local", "sha256": "00"}
    assert find_price(model)(Usage(1000, 100)) == 0.0


@pytest.mark.parametrize(
    ("name", "dollars"),
    [
        ("openai/gpt-4o", 0.0035),
        ("inspect/openai/gpt-4o", 0.0035),
        ("mistral/mistral-large-latest", 0.0026),  # 2 and 6 dollars per million tokens
        ("openai-compatible/gpt-4o", None),
        ("vllm/gpt-4o", None),
        ("openai/no-such-model", None),
        ("http://localhost:8000/v1#gpt-4o", None),
        ("mine/gpt-4o", None),
        ("nonsense", None),
        ("", None),
        ("smollm2", 0.0),
        ("path/to/openai/model.gguf", 0.0),
    ],
)
def test_the_price_of_a_number_of_tokens_by_name(name, dollars):
    pytest.importorskip("genai_prices")
    assert estimate_price(name, 1000, 100) == (None if dollars is None else pytest.approx(dollars))


def test_a_package_tells_what_its_provider_charges(tmp_path, monkeypatch):
    source = "def list_prices(model):\n    return lambda usage: len(model) * usage.prompt / 1000\n"
    entry = ("bestresponse.prices", "mine", "list_prices")
    monkeypatch.syspath_prepend(lay_package(tmp_path, "plugged_prices", source, entry))
    assert estimate_price("mine/tiny", 500, 10) == 2.0
    assert estimate_price("other/tiny", 500, 10) is None
