"""Activities of the fake Discord: instances, OAuth2 codes and the entry point, as its documentation describes them."""

import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from tests.discord.validation import Refused, invalid_form

SECRET = "nZ3ySecretOfTheApplication"
CODE_SECONDS = 60.0


class OAuthError(Refused):
    """An error answer of the token endpoint (RFC 6749, section 5.2)."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(status, 0, error)
        self.body = {"error": error, "error_description": f"Invalid {error}"}


@dataclass
class Activities:
    """``is_enabled``: the host has ticked *Enable Activities* in the portal."""

    application: int
    is_enabled: bool = False
    instances: dict[str, dict[str, Any]] = field(default_factory=dict)
    codes: dict[str, tuple[int, float]] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)

    def check_commands(self, commands: list[dict[str, Any]]) -> None:
        has_entry_point = any(command.get("type") == 4 for command in commands)
        if self.is_enabled and not has_entry_point:
            raise Refused(400, 50240, "You cannot remove this app's Entry Point command in a bulk update operation.")
        if has_entry_point and not self.is_enabled:
            raise invalid_form("type: entry points are for apps with Activities")

    def launch(self, user: int, channel: int, server: int) -> str:
        """Add a user to the channel's instance, or open one for them. Return its id."""
        if not self.is_enabled:
            raise invalid_form("type: Activities are not enabled")
        location: dict[str, Any] = {"id": f"pc-{channel}", "kind": "pc", "channel_id": str(channel)}
        if server:
            location = {
                "id": f"gc-{server}-{channel}", "kind": "gc", "channel_id": str(channel), "guild_id": str(server)
            }  # fmt: skip
        for instance in self.instances.values():
            if instance["location"] == location:
                instance["users"] = sorted({*instance["users"], str(user)})
                return str(instance["instance_id"])
        launch = str(1_276_580_072_400_224_306 + len(self.instances))
        id_ = f"i-{launch}-{location['id']}"
        self.instances[id_] = {
            "application_id": str(self.application),
            "instance_id": id_,
            "launch_id": launch,
            "location": location,
            "users": [str(user)],
        }
        return id_

    def find(self, instance: str) -> dict[str, Any]:
        if instance not in self.instances:
            raise Refused(404, 0, "404: Not Found")
        return self.instances[instance]

    def authorize(self, user: int, seconds: float = CODE_SECONDS) -> str:
        """Return the code that the user's app gives to the page after their consent."""
        code = secrets.token_urlsafe(22)
        self.codes[code] = user, time.monotonic() + seconds
        return code

    def exchange(self, form: dict[str, str]) -> dict[str, Any]:
        if (form.get("client_id"), form.get("client_secret")) != (str(self.application), SECRET):
            raise OAuthError(401, "invalid_client")
        if form.get("grant_type") == "client_credentials":
            return {"access_token": "application", "token_type": "Bearer", "expires_in": 604800, "scope": form["scope"]}
        if form.get("grant_type") != "authorization_code":
            raise OAuthError(400, "unsupported_grant_type")
        user, until = self.codes.pop(form.get("code", ""), (0, 0.0))
        if time.monotonic() > until:
            raise OAuthError(400, "invalid_grant")
        token = secrets.token_urlsafe(22)
        self.tokens[token] = user
        return {"access_token": token, "token_type": "Bearer", "expires_in": 604800, "scope": "identify"}

    def user_of(self, token: str) -> int:
        if token not in self.tokens:
            raise Refused(401, 0, "401: Unauthorized")
        return self.tokens[token]
