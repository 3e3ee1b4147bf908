"""The pages of the web app."""

from bestresponse.web.pages import formalize, judge, play, seat, watch

__all__ = ["formalize", "judge", "play", "seat", "watch"]
