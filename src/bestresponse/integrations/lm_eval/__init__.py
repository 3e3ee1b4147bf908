"""A task of lm-evaluation-harness that gives the figures of `bestresponse bench`.

lm_eval --include_path "$(python -m bestresponse.integrations.lm_eval)" --tasks
bestresponse_nash_gap --model ...
"""
