"""The world: command line, settings, logs, importers, provisioning, backends, audit."""
