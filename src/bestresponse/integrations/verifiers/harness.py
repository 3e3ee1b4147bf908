"""A chat without tools, inside the process of the runner: one model call for each turn of the conversation."""

from __future__ import annotations

import httpx
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

AGENT = vf.AgentConfig(runtime=vf.SubprocessConfig())
"""The default of every seat: nothing is executed, so no container is needed."""


class ChatHarnessConfig(vf.HarnessConfig):  # type: ignore[misc, unused-ignore]
    """The options that every harness has; there are none of our own."""


class ChatHarness(vf.Harness[ChatHarnessConfig]):  # type: ignore[misc, unused-ignore]
    """Send the conversation to the model and end the turn with its reply."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Ask the model once; verifiers records the call and decides what a refused one means."""
        system, prompt = self.resolve_prompt(data)
        messages = [{"role": "system", "content": system}] if system else []
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            messages.extend(message_to_wire(message) for message in prompt or [])
        async with httpx.AsyncClient(timeout=httpx.Timeout(None, connect=30), trust_env=False) as client:
            reply = await client.post(
                f"{endpoint}/chat/completions",
                json={"model": ctx.model, "messages": messages},
                headers={"Authorization": f"Bearer {secret}"},
            )
        return vf.ProgramResult(exit_code=0 if reply.is_success else 1, stdout="", stderr=reply.text)
