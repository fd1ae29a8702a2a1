import type { Page } from "playwright-core";

/**
 * Controls that reach out of the window sideways and cannot be scrolled to, or on a phone are too low for a finger: 44 pixels, and 24
 * for links beside which there is nothing to press.
 */
export function outOfReach(page: Page): Promise<string[]> {
  return page.locator(".button, summary, input, select, textarea, a").evaluateAll((controls) =>
    controls
      .filter((each) => each.checkVisibility() && !each.matches(".visually-hidden, .exchanges *"))
      .map((each) => ({ name: each.textContent, box: each.getBoundingClientRect(), each }))
      .filter(({ box, each }) => {
        const isInText = getComputedStyle(each).display === "inline";
        const min = each.matches("a:not(.button, .top a), [type=checkbox]") ? 24 : 44;
        return (
          box.left < 0 ||
          box.right > (each.closest("dialog")?.getBoundingClientRect().right ?? innerWidth) ||
          (innerWidth < 400 && box.height < min && !isInText && !each.matches("[type=checkbox]"))
        );
      })
      .map(({ name, box }) => `${name} ${box.left} to ${box.right}, ${box.height} high`),
  );
}
