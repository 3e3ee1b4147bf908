"""Models by name."""

import sys
from dataclasses import replace

import faulty
import pytest
from model_server import ModelServer
from plugins import lay_package

from bestresponse.core.errors import MissingKey, ModelUnavailable, UnknownModel, UsageError
from bestresponse.models import ModelSettings, ask, open_model, registry
from bestresponse.models.providers.local import LocalSettings
from bestresponse.models.registry import known_models

KEYS = {
    "OPENAI_API_KEY": "sk-hidden",
    "ANTHROPIC_API_KEY": "sk-hidden",
    "GOOGLE_API_KEY": "sk-hidden",
}


@pytest.fixture
def settings(tmp_path):
    return ModelSettings(tmp_path, KEYS, download=False)


@pytest.mark.parametrize(
    ("spec", "identity"),
    [
        (
            "openai/gpt-4o",
            {"provider": "openai", "model": "gpt-4o", "base_url": "https://api.openai.com/v1"},
        ),
        (
            "anthropic/claude-x",
            {
                "provider": "anthropic",
                "model": "claude-x",
                "base_url": "https://api.anthropic.com",
                "version": "2023-06-01",
            },
        ),
        (
            "google/gemini-x",
            {
                "provider": "google",
                "model": "gemini-x",
                "base_url": "https://generativelanguage.googleapis.com/v1beta",
            },
        ),
        (
            "http://localhost:8000/v1#org/my-model",
            {
                "provider": "openai-compatible",
                "model": "org/my-model",
                "base_url": "http://localhost:8000/v1",
            },
        ),
    ],
)
def test_a_name_opens_its_model(settings, spec, identity):
    model = open_model(spec, settings)
    assert model.id == spec
    assert model.identity == identity


@pytest.mark.parametrize(
    ("spec", "variable"),
    [
        ("openai/gpt-4o", "set OPENAI_API_KEY"),
        ("anthropic/claude-x", "set ANTHROPIC_API_KEY"),
        ("google/gemini-x", "set GEMINI_API_KEY or GOOGLE_API_KEY"),
    ],
)
def test_a_missing_key_names_its_variable(tmp_path, spec, variable):
    with pytest.raises(MissingKey, match=variable):
        open_model(spec, ModelSettings(tmp_path, {"OPENAI_API_KEY": "  "}))


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("smolm2", "Did you mean smollm2?"),
        ("qwen2.5-coder", "Did you mean qwen2.5-coder-1.5b?"),
        ("opnai/gpt-4o", "Did you mean openai/gpt-4o?"),
        ("gpt-4o", "Did you mean openai/gpt-4o?"),
        ("claude-x", "Did you mean anthropic/claude-x?"),
        ("openai/", "openai is a provider: add the name of a model, openai/MODEL."),
        ("zzz", "`bestresponse models` lists what there is"),
        ("random", "random is a player of other commands; `bestresponse models` lists models."),
        ("randm", "Did you mean random?"),
        ("http:/x/v1#m", "Did you mean the server http://x/v1#m?"),
        ("", "`bestresponse models` lists what there is"),
    ],
)
def test_an_unknown_name_gets_a_suggestion(settings, spec, says):
    with pytest.raises(UnknownModel) as caught:
        open_model(spec, settings)
    assert says in str(caught.value)


def test_weights_that_are_not_there_say_what_to_do(settings):
    with pytest.raises(ModelUnavailable, match="get it by `bestresponse models pull smollm2`"):
        open_model("smollm2", settings)


def test_without_the_engine_no_weights_are_downloaded(settings, monkeypatch):
    monkeypatch.setattr(registry, "pull", lambda *args: pytest.fail("the weights were downloaded"))
    monkeypatch.setattr(sys, "path", [])  # where packages are looked for
    with pytest.raises(
        ModelUnavailable, match=r"needs the engine xllamacpp: pip install '\.\[local\]'"
    ):
        open_model("smollm2", replace(settings, download=True))


def test_a_path_opens_a_file_and_a_file_that_is_none_is_a_sentence(settings, tmp_path):
    with pytest.raises(UnknownModel, match="there is no model file"):
        open_model("nowhere/model.gguf", settings)
    text = tmp_path / "notes"
    text.write_text("hello")
    with pytest.raises(ModelUnavailable, match="is not a GGUF file"):
        open_model(str(text), settings)


def test_an_address_without_a_name_means_the_only_model_that_the_server_lists(settings):
    server = ModelServer()
    address = server.model.removesuffix("#fake")
    try:
        assert open_model(address, settings).id == server.model
        server.names = ["first", "second"]
        with pytest.raises(UsageError, match="v1#NAME; it has first, second"):
            open_model(address, settings)
        server.names = []
        with pytest.raises(UsageError, match="it lists none"):
            open_model(address, settings)
        with pytest.raises(UnknownModel, match="is the name of the model right, and the address"):
            open_model(address.removesuffix("/v1"), settings)
    finally:
        server.close()


@pytest.mark.parametrize(
    ("spec", "environ", "address"),
    [
        ("vllm/org/my-model", {}, "http://localhost:8000/v1"),
        ("ollama/llama3", {}, "http://localhost:11434/v1"),
        ("lm-studio/m", {}, "http://localhost:1234/v1"),
        ("llama.cpp/m", {}, "http://localhost:8080/v1"),
        ("vllm/m", {"VLLM_BASE_URL": "http://gpu:9/v1"}, "http://gpu:9/v1"),
        ("lm-studio/m", {"LM_STUDIO_BASE_URL": "http://gpu:9/v1"}, "http://gpu:9/v1"),
    ],
)
def test_a_program_that_serves_models_is_named_as_other_tools_name_it(
    tmp_path, spec, environ, address
):
    model = open_model(spec, ModelSettings(tmp_path, environ))
    assert (model.id, model.identity["base_url"]) == (spec, address)
    assert model.identity["model"] == spec.partition("/")[2]


def test_the_variable_of_a_program_holds_no_password(tmp_path):
    environ = {"OLLAMA_BASE_URL": "http://me:pw@gpu/v1"}
    with pytest.raises(
        UsageError, match="OLLAMA_BASE_URL must not hold a name, password"
    ) as caught:
        open_model("ollama/m", ModelSettings(tmp_path, environ))
    assert "pw@" not in str(caught.value)


def test_an_address_must_hold_no_secret(settings):
    for spec in ("http://me:pw@localhost/v1#m", "http://localhost/v1?key=pw#m"):
        with pytest.raises(UsageError, match="BESTRESPONSE_API_KEY") as caught:
            open_model(spec, settings)
        assert "pw" not in str(caught.value)


def test_the_openai_key_is_not_sent_to_other_servers(tmp_path):
    with faulty.serving(faulty.answer(faulty.GOOD)) as server:
        for extra in ({}, {"BESTRESPONSE_API_KEY": "for-this-server"}):
            settings = ModelSettings(tmp_path, KEYS | extra)
            assert open_model(f"{server.url}/v1#m", settings).complete(ask("x")).text == "A"
    sent = [
        {name.casefold(): value for name, value in headers.items()} for _, headers, _ in server.seen
    ]
    assert [one.get("authorization") for one in sent] == [None, "Bearer for-this-server"]


def test_a_base_url_of_the_environment_is_followed_and_part_of_the_identity(tmp_path):
    settings = ModelSettings(tmp_path, KEYS | {"OPENAI_BASE_URL": "https://proxy.example/v1/"})
    assert open_model("openai/gpt-4o", settings).identity["base_url"] == "https://proxy.example/v1"


def test_settings_do_not_show_the_environment(settings):
    assert "hidden" not in repr(settings)


def test_a_plug_in_adds_a_provider_by_an_entry_point(settings, tmp_path, monkeypatch):
    source = "from bestresponse.models.providers.scripted import ScriptedModel\n\n\n"
    source += (
        "def open_echo(name, settings):\n    return ScriptedModel([name], name=f'echo/{name}')\n"
    )
    entry = ("bestresponse.models", "echo", "open_echo")
    monkeypatch.syspath_prepend(lay_package(tmp_path, "plugged_echo", source, entry))
    assert open_model("echo/hello", settings).complete(ask("x")).text == "hello"
    assert "echo/<model>" in [known["name"] for known in known_models(settings)]


def test_the_list_says_what_is_ready_and_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", sys)
    monkeypatch.setattr(
        "bestresponse.models.registry.find_spec", lambda name: name == "xllamacpp" or None
    )
    known = {
        one["name"]: one for one in known_models(ModelSettings(tmp_path, {"OPENAI_API_KEY": "k"}))
    }
    assert known["smollm2"]["missing"] == "bestresponse models pull smollm2 (98 MB)"
    assert known["openai/<model>"]["ready"]
    assert known["anthropic/<model>"]["missing"] == "set ANTHROPIC_API_KEY"
    assert (
        known["inspect/<provider>/<model>"]["missing"]
        == "pip install '.[inspect]' in your clone of the repository"
    )
    assert known["path/to/model.gguf"]["ready"]


@pytest.mark.model
def test_the_embedded_model_opens_by_name(smollm2_path):
    settings = ModelSettings(smollm2_path.parent.parent, local=LocalSettings(context=256))
    model = open_model("smollm2", settings)
    assert model.id == "smollm2"
    assert model.complete(ask("Hi", max_tokens=2)).text


@pytest.mark.model
def test_weights_that_were_tampered_with_are_refused(smollm2_path, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "smollm2.gguf").write_bytes(smollm2_path.read_bytes() + b"!")
    with pytest.raises(ModelUnavailable, match="delete it and pull smollm2 again"):
        open_model("smollm2", ModelSettings(tmp_path, local=LocalSettings(context=256)))


def test_without_settings_keys_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine\n")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    model = open_model("openai/gpt-4o")
    assert (model.id, model.identity["base_url"]) == ("openai/gpt-4o", "https://api.openai.com/v1")
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(MissingKey, match="set OPENAI_API_KEY"):
        open_model("openai/gpt-4o")


def test_a_key_with_a_line_break_inside_names_its_variable(settings):
    with pytest.raises(
        UsageError, match=r"the API key in OPENAI_API_KEY contains U\+000A at position 3"
    ):
        open_model("openai/gpt-4o", replace(settings, environ={"OPENAI_API_KEY": "sk\nx"}))
