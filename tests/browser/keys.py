"""Hands with a keyboard and nothing else: they go by Tab until what they look for has focus."""

from typing import Final

from playwright.sync_api import Locator, Page, expect

# A person gives up earlier; whatever takes more presses is out of reach.
MOST: Final = 45


class Keys:
    """The keyboard of one page. Nothing is pressed before the focus stands where it should."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, key: str) -> None:
        """Press one key, as Playwright spells it."""
        self.page.keyboard.press(key)

    def to(self, wanted: Locator, most: int = MOST, key: str = "Tab") -> None:
        """Tab until `wanted` has the focus; fails after `most` presses."""
        expect(wanted).to_have_count(1)
        seen: list[str] = []
        for _press in range(most + 1):
            if wanted.evaluate("found => found === document.activeElement"):
                return
            self.press(key)
            seen.append(self.page.evaluate("document.activeElement.textContent.slice(0, 60)"))
        raise AssertionError(f"{wanted} is not reached in {most} presses of {key}: {seen}")

    def back(self, wanted: Locator, most: int = MOST) -> None:
        """Go backwards until `wanted` has the focus."""
        self.to(wanted, most, "Shift+Tab")

    def content(self) -> None:
        """Pass over the frame of a page that has just come, by the link that stands first in it."""
        self.to(self.page.get_by_role("link", name="Skip to the content"), 1)
        self.press("Enter")
        expect(self.page.get_by_role("main")).to_be_focused()

    def follow(self, wanted: Locator, key: str = "Tab") -> None:
        """Go to a link or a button, and press Enter on it."""
        self.to(wanted, key=key)
        self.press("Enter")

    def type(self, field: Locator, words: str) -> None:
        """Go to a field and put these words in the place of what it says."""
        self.to(field)
        self.press("Control+a")
        self.page.keyboard.type(words)
        expect(field).to_have_value(words)

    def choose(self, field: Locator, words: str) -> None:
        """Go to a list and type the beginning of an option."""
        self.to(field)
        self.page.keyboard.type(words)
        expect(field.get_by_role("option", selected=True)).to_have_text(words)
