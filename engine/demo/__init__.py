"""The sample workspace: removable content, loaded through the ordinary services."""

from engine.demo.service import Loaded, Removed, load, remove, standing

__all__ = ["Loaded", "Removed", "load", "remove", "standing"]
