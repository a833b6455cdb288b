"""The values that pass between stages, one file each; problems; the plugin registry."""
