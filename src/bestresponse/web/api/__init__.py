"""The JSON API of the web app."""

from bestresponse.web.api import formalize, judge, play, seat, watch

__all__ = ["formalize", "judge", "play", "seat", "watch"]
