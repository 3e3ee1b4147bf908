"""Games that can be played: rules over immutable states, shown to any player by asks and views."""
