import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";

import { HAS_NO_BROWSER, openPages, type PageView } from "../../helpers/page.ts";
import { PAGE_TOKEN, startPageService } from "../../helpers/page-service.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { fillShop, makeFolders, PLAN, startShopModel } from "../../helpers/shop.ts";

/** Where the pictures go: `npm run pictures` writes those of the docs. */
const FOLDER =
  process.env["REPRISE_TEST_PICTURES"] === "docs"
    ? fileURLToPath(new URL("../../../docs/pictures", import.meta.url))
    : process.env["REPRISE_TEST_PICTURES"];
const MAX_BYTES = 150_000;

const VIEWS = {
  light: { width: 1200, height: 800, colorScheme: "light" },
  dark: { width: 1200, height: 800, colorScheme: "dark" },
  phone: { width: 390, height: 844, colorScheme: "light" },
  "phone-dark": { width: 390, height: 844, colorScheme: "dark" },
} as const satisfies Record<string, PageView>;

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly views: readonly (keyof typeof VIEWS)[];
  /** Brings a page to what is shown. */
  readonly show: (page: Page) => Promise<void>;
  readonly guest?: boolean;
}

/** A service that has answered in the sessions of a shop, and a browser. */
async function startWorld() {
  const stack = new AsyncDisposableStack();
  const model = stack.use(await startShopModel());
  const home = freshHome({ ...model.env, REPRISE_MODEL: "anthropic:claude-sonnet-5" });
  // the list shows the last two parts of a folder
  const folder = join(realpathSync(home.home), "ada");
  makeFolders(folder);
  const { service, url, client } = await startPageService(home, { folder });
  stack.defer(async () => void (await service.stop("SIGKILL")));
  const shop = await fillShop(client, folder);
  const pages = stack.use(await openPages(url));
  return {
    ...pages,
    ...shop,
    folder,
    url,
    client,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function picturesOf(session: string, question: string, share: string): readonly Picture[] {
  return [
    {
      name: "list",
      path: "/",
      views: ["light", "dark", "phone"],
      show: (page) => page.getByText("Discount for large orders").first().waitFor(),
    },
    {
      name: "session",
      path: `/sessions/${session}`,
      views: ["light", "dark", "phone"],
      show: async (page) => {
        await page.getByText("112.50").waitFor();
        await page.locator(".steps-head button").click();
        await page.locator("summary", { hasText: "Edited" }).click();
        await page.locator(".diff").first().waitFor();
        // without a key, which would draw a frame around what has the focus
        await page.locator(".transcript-scroller").evaluate((scroller) => {
          scroller.scrollTop = scroller.scrollHeight;
        });
      },
    },
    {
      name: "question",
      path: `/sessions/${question}`,
      views: ["light", "dark", "phone", "phone-dark"],
      show: async (page) => {
        await page.locator(".choices button:not([aria-disabled=true])").first().waitFor();
      },
    },
    {
      name: "plans",
      path: "/plans",
      views: ["light", "dark", "phone"],
      show: async (page) => {
        await page.locator("textarea").fill(PLAN);
        await page.getByRole("img", { name: /^Picture of the plan/ }).waitFor();
      },
    },
    {
      name: "service",
      path: "/service",
      views: ["light", "dark", "phone"],
      show: async (page) => {
        // each part is read on its own: the folders have to be there before they are replaced
        for (const text of ["in these folders", "The database can be opened", "Memory"]) {
          await page.getByText(text).first().waitFor();
        }
      },
    },
    {
      name: "login",
      path: "/login",
      views: ["light", "dark", "phone"],
      guest: true,
      show: (page) => page.getByLabel("Token").waitFor(),
    },
    {
      name: "shared",
      path: share,
      views: ["light", "dark", "phone"],
      guest: true,
      show: (page) => page.getByText("112.50").waitFor(),
    },
  ];
}

/** Shows another user's folder and the default port; no folder of this machine is left. */
async function hideMachine(page: Page, folder: string, origin: string): Promise<void> {
  const pairs = [
    [folder, "/home/ada"],
    [new URL(origin).host, "127.0.0.1:8787"],
  ] as const;
  await page.evaluate((each) => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() !== null) {
      const node = walker.currentNode as Text;
      for (const [from, to] of each) {
        node.data = node.data.replaceAll(from, to);
      }
    }
  }, pairs);
  expect(await page.evaluate(() => document.body.innerText)).not.toContain(folder);
  // the texts have moved the answers of a question: they count again after a moment
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
  await page.waitForFunction(
    () =>
      document.querySelector(".choices") === null ||
      document.querySelector(".choices button:not([aria-disabled=true])") !== null,
  );
}

describe.skipIf(HAS_NO_BROWSER)("pictures of the web page (need Chromium)", () => {
  it("[DOC-10] the docs' pictures can be made from the running page, each small and without a folder of this machine", async () => {
    await using world = await startWorld();
    const { path } = await world.client.createShare(world.session);
    const shared = new URL(path, world.url);
    for (const picture of picturesOf(world.session, world.question, shared.href)) {
      const views = FOLDER?.includes("docs") === false ? Object.keys(VIEWS) : picture.views;
      for (const view of views as (keyof typeof VIEWS)[]) {
        const token = picture.guest === true ? {} : { token: PAGE_TOKEN };
        const page = await world.openPage(picture.path, { ...VIEWS[view], ...token });
        await picture.show(page);
        await hideMachine(page, world.folder, world.url);
        const bytes = await page.screenshot({ animations: "disabled", caret: "hide" });
        expect(bytes.byteLength).toBeLessThan(MAX_BYTES);
        if (FOLDER !== undefined) {
          mkdirSync(FOLDER, { recursive: true });
          const file = `page-${picture.name}${view === "light" ? "" : `-${view}`}.png`;
          writeFileSync(join(FOLDER, file), bytes);
        }
        await page.context().close();
      }
    }
    world.expectNoProblems();
  });
});
