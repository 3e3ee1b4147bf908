"""The Python interface: what the command line does, as typed functions.

It is offered by `import bestresponse as br`.
"""
