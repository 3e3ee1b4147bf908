"""Games that are repeated, by what tests say of their rounds."""


def name_course(game, settings):
    """Name a game with its repetition, of which random ends, discounts and noise are no settings of
    studies; they are taken out of `settings`."""
    course = {
        name: settings.pop(name)
        for name in ("continuation", "discount", "noise")
        if name in settings
    }
    if not course:
        return game
    course["rounds"] = settings.pop("rounds", 1)
    return f"{game} with repeated({','.join(f'{name}={value}' for name, value in course.items())})"
