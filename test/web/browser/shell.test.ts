import { expect, it } from "vitest";

import {
  accessibilityProblems,
  HAS_NO_BROWSER,
  keepPicture,
  startPage,
} from "../../helpers/page.ts";

it.skipIf(HAS_NO_BROWSER)(
  "[PAGE-31] [PAGE-34] the page shows the sessions, and its other pages by links (needs Chromium)",
  async () => {
    await using world = await startPage({ trustProxy: true });
    const id = await world.service.newSession();
    await world.service.post(id, "What is the rent?");
    const page = await world.openPage("/");
    await page.getByRole("link", { name: "What is the rent?" }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await keepPicture(page, "list");
    await page.getByRole("link", { name: "Plans" }).click();
    await page.getByRole("heading", { name: "Plans" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/plans");
    await page.goBack();
    await page.getByRole("link", { name: "What is the rent?" }).click();
    await page.getByRole("heading", { name: "What is the rent?" }).waitFor();

    // below a path, as a proxy passes it on; its address may be written without the slash at its end
    const proxied = await world.openPage("/livez");
    await proxied.route(/\/reprise(\/|$)/, (route) =>
      route.continue({
        url: route.request().url().replace("/reprise", ""),
        headers: { ...route.request().headers(), "x-forwarded-prefix": "/reprise" },
      }),
    );
    await proxied.goto(`${world.service.url}/reprise`);
    await proxied.getByRole("link", { name: "What is the rent?" }).click();
    await proxied.getByRole("heading", { name: "What is the rent?" }).waitFor();
    expect(new URL(proxied.url()).pathname).toBe(`/reprise/sessions/${id}`);
    world.expectNoProblems();
  },
);

it.skipIf(HAS_NO_BROWSER)(
  "[PAGE-212] follows the theme of the system, and offers the other one, the same one, and the system's again",
  async () => {
    await using world = await startPage();
    const page = await world.openPage("/", { colorScheme: "dark" });
    const scheme = () => page.evaluate(() => getComputedStyle(document.body).colorScheme);
    expect(await scheme()).toBe("light dark");
    await page.getByRole("button", { name: "Use the light theme" }).press("Enter");
    expect(await scheme()).toBe("light");
    await page.reload();
    expect(await scheme()).toBe("light");
    await page.getByRole("button", { name: "Use the dark theme" }).press("Enter");
    expect(await scheme()).toBe("dark");
    await page.getByRole("button", { name: "Use the theme of the system" }).press("Enter");
    expect(await scheme()).toBe("light dark");
    expect(await accessibilityProblems(page)).toEqual([]);
    world.expectNoProblems();
  },
);
