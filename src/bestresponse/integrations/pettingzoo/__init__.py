"""Games as multi-agent environments of PettingZoo (extra `pettingzoo`).

    from bestresponse.integrations.pettingzoo.environments import env, parallel_env

Games of one simultaneous choice become parallel environments, once or round after round; every game
whose answers can be listed becomes an AEC environment. Infos carry regret and best response.
"""
