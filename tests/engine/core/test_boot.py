"""A started floor keeps what it holds to its owner."""

import stat

from engine.core.settings import Settings
from engine.house import House


def test_the_data_folder_and_the_key_are_the_owner_s_alone(house: House) -> None:
    settings: Settings = house.runtime.settings
    assert stat.S_IMODE(settings.home.stat().st_mode) == 0o700
