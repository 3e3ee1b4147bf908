"""The Python interface: what the command line does, as typed functions, offered by `import
bestresponse as br`."""
