import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { offeredChoices } from "../../../src/core/text/words.ts";
import { createFeed, type Feed } from "../../../src/exchange/live/feed.ts";
import { insertQuestion } from "../../../src/store/records/questions/ask.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { patchSession } from "../../../src/store/records/sessions/patch.ts";
import { newId } from "../../../src/core/ids.ts";
import type { Store } from "../../../src/store/store.ts";
import { phase, plan } from "../../helpers/artifacts/plans.ts";
import { PAGE_WAIT_MS } from "../../helpers/browser.ts";
import { createDatabase } from "../../helpers/database.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { HAS_NO_BROWSER, startPage } from "../../helpers/page.ts";
import { CANARY, HOSTILE_TEXTS, ORDINARY_TEXT } from "../../helpers/hostile-texts.ts";
import { createTalk, storedMessage } from "../../helpers/talk.ts";
import { tokenHolder } from "../../../src/core/principal.ts";

const TOKEN = "the-token-of-tests";
const ALL = HOSTILE_TEXTS.join("\n\n");
/** PostgreSQL stores no NUL, and no lone surrogate. */
const storable = (text: string): string => text.replaceAll("\0", "").toWellFormed();

/** Elements that no text may make, and attributes that no element of the page has. */
const FOREIGN = `[...document.querySelectorAll("#app *")].flatMap((element) => {
  const attributes = [...element.attributes].filter(
    ({ name, value }) =>
      name.startsWith("on") || /^(style|srcdoc|action|formaction|ping|srcset|background|name)$/.test(name) && /attacker|${CANARY}/.test(value) ||
      (/^(href|src)$/.test(name) && !/^(https?:|mailto:|[/#]|blob:|data:image)/i.test(value)),
  );
  const isForeign = /^(script|iframe|object|embed|base|meta|link|style|video|audio|marquee|math|template|xss|area|img|foreignobject|use|animate)$/i
    .test(element.localName) && !(element.localName === "img" && element.closest(".plan-picture, [class*=picture]"));
  return isForeign || attributes.length > 0 ? [element.outerHTML.slice(0, 200)] : [];
})`;

async function startWorld() {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await createDatabase());
  const store = stack.use(await openStoreAt(database.location));
  const feed = createFeed({ store });
  const world = stack.use(await startPage({ store, live: feed, token: TOKEN }));
  // high: the virtual list shows more at once
  const context = await world.newContext({ token: TOKEN, height: 4000 });
  await context.exposeFunction(CANARY, () => void world.problems.push("a text was run"));
  context.on("page", (page) => page.on("dialog", () => world.problems.push("a dialog")));
  return { ...world, store, feed, context, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** A session in which each place of text is hostile. */
async function makeHostile(store: Store, feed: Feed, text: string): Promise<string> {
  const evil = storable(text);
  const { id } = await store.write(createSession, {
    repo_path: `/home/${evil.replaceAll(/[\n\t]/g, "")}`.slice(0, 1000),
  });
  const talk = createTalk(store, feed, id);
  await talk.begin(evil);
  for (const name of ["run_command", "read_file", "edit_file", "apply_patch", "delegate", evil]) {
    const args = {
      path: evil,
      line: evil,
      argv: [evil],
      patch: `*** Add File: ${evil}\n+${evil}`,
      edits: [{ path: evil, old_text: evil, new_text: evil }],
      persona: evil,
      task: evil,
      [evil]: evil,
      constructor: { name: evil },
    };
    const call = { id: newId(), name, args };
    await talk.call(evil, [call]);
    await talk.result(call, `Error: ${evil}`, "failed");
  }
  await talk.store(storedMessage({ role: "assistant", content: evil, is_summary: true }));
  await talk.store(storedMessage({ role: "assistant", content: evil }));
  const asked = { kind: "question", text: `${evil}\n@@ -1 +1 @@\n+${evil}` } as const;
  for (const [number, choices] of [[evil, "constructor"], null].entries()) {
    await store.write((tx) => {
      const question = {
        ...asked,
        id: newId(),
        call_id: `call_${number}`,
        number: 1,
        choices: choices === null ? null : offeredChoices(choices),
        permission: null,
        shown_hash: "0".repeat(64),
        default: { choice: "1", after_ms: 3_600_000 },
      };
      return insertQuestion(tx, { session_id: id, thread_suffix: 0 }, question);
    }, null);
  }
  talk.say("answer", evil);
  talk.hear({
    type: "retry",
    message_id: "answer",
    attempt: 2,
    code: "model_rate_limited",
    reason: evil,
    delay_ms: 3_600_000,
  });
  talk.say("again", evil);
  return id;
}

describe.skipIf(HAS_NO_BROWSER)("the page with hostile texts (needs Chromium)", () => {
  let world: Awaited<ReturnType<typeof startWorld>>;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const expectNothing = async (page: Page): Promise<void> => {
    expect(await page.evaluate(FOREIGN)).toEqual([]);
    expect(world.problems).toEqual([]);
  };
  /** Shows all of a session: its calls, and its messages from the last to the first. */
  const showAll = async (page: Page): Promise<void> => {
    const scroller = page.locator(".transcript-scroller");
    let isAtTop = false;
    while (!isAtTop) {
      await page.evaluate(() => {
        for (const folded of document.querySelectorAll<HTMLElement>(
          "details:not([open]) > summary, .steps-head [aria-expanded='false']",
        )) {
          folded.click();
        }
      });
      await expectNothing(page);
      isAtTop = await scroller.evaluate((element) => {
        const { scrollTop } = element;
        element.scrollBy({ top: -element.clientHeight, behavior: "instant" });
        return scrollTop <= 0;
      });
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
    }
  };

  it("[PAGE-39] runs and loads nothing from any text of a session, and makes no element of it", async () => {
    const id = await makeHostile(world.store, world.feed, ALL);
    const page = await world.openPage(`/sessions/${id}`, { context: world.context });
    await page.locator(".question").nth(1).waitFor();
    await showAll(page);
    // a link in a message leads to another page, which learns nothing of this one
    const links = page.locator(".markdown a:not([rel='noopener noreferrer'][target=_blank])");
    expect(await links.evaluateAll((all) => all.map(({ outerHTML }) => outerHTML))).toEqual([]);
    const { id: child } = await world.store.write(createSession, {
      parent_session_id: id,
      depth: 1,
    });
    await world.store.write(patchSession, {
      reference: child,
      change: { name: HOSTILE_TEXTS[5] ?? "" },
      project_key: null,
      project_id: null,
      principal: tokenHolder("owner"),
    });
    await page.goto(world.service.url);
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
    await page.getByRole("button", { name: /^1 sub-agent of/ }).click();
    await page
      .getByRole("button", { name: /^Actions for/ })
      .first()
      .click();
    await expectNothing(page);
    // an ordinary conversation, while it is written too
    const ordinary = await world.store.write(createSession, {});
    const talk = createTalk(world.store, world.feed, ordinary.id);
    await talk.begin(ORDINARY_TEXT);
    await talk.store(storedMessage({ role: "assistant", content: ORDINARY_TEXT }));
    await page.goto(`${world.service.url}/sessions/${ordinary.id}`);
    await page.locator(".code-keyword").first().waitFor();
    talk.say("answer", ORDINARY_TEXT);
    await page.locator(".live .code-keyword").first().waitFor();
    await showAll(page);
    expect(await page.locator(".markdown input[type=checkbox]:disabled").count()).toBe(4);
    expect(await page.locator(".markdown input:not([type=checkbox])").count()).toBe(0);
    await page.close();
  });

  it("[PAGE-39] runs and loads nothing from a plan, and from names in an address", async () => {
    const page = await world.openPage("/plans", { context: world.context });
    const editor = page.getByLabel("Phase plan, as JSON or YAML");
    for (const evil of [...HOSTILE_TEXTS.slice(0, 20), ALL].map(storable)) {
      const phases = [
        phase({
          title: evil,
          instructions: `${evil} 0123456789`,
          expected_artifact: { path: evil, schema: evil },
        }),
        phase({ key: "review", title: evil, depends_on: ["build", evil] }),
      ];
      await editor.fill(
        JSON.stringify(plan({ phaseKey: evil, phases, ...(evil === ALL ? { [evil]: evil } : {}) })),
      );
    }
    await page.locator(".plan-state").getByText(/error/).waitFor();
    await expectNothing(page);
    await editor.fill(
      JSON.stringify(
        plan({ phases: [phase({ title: storable(ALL).slice(0, 5000), role: "assistant" })] }),
      ),
    );
    await page.locator("img").first().waitFor();
    await expectNothing(page);
    for (const evil of HOSTILE_TEXTS) {
      const part = encodeURIComponent(storable(evil).slice(0, 200));
      await page.evaluate((address) => {
        history.pushState(null, "", address);
        dispatchEvent(new PopStateEvent("popstate"));
      }, `/sessions/${part}?q=${part}#${part}`);
    }
    await page
      .getByText(/no such session|There is no/i)
      .first()
      .waitFor();
    await page.goto(
      `${world.service.url}/?title=${encodeURIComponent(HOSTILE_TEXTS[0] ?? "")}&folder=${encodeURIComponent(HOSTILE_TEXTS[5] ?? "")}`,
    );
    await page.getByRole("heading", { name: "Sessions" }).waitFor();
    await expectNothing(page);
    await page.close();
  });

  it("[PAGE-39] the sanitiser alone lets nothing run, also without the policy of the document", async () => {
    await using context = await world.browser.newContext({
      bypassCSP: true,
      viewport: { width: 1280, height: 4000 },
    });
    context.setDefaultTimeout(PAGE_WAIT_MS);
    const problems: string[] = [];
    await context.exposeFunction(CANARY, () => void problems.push("a text was run"));
    context.on("page", (page) => {
      page.on("dialog", () => problems.push("a dialog"));
      page.on("request", (request) => {
        if (!request.url().startsWith(world.service.url) && !request.url().startsWith("data:")) {
          problems.push(request.url());
        }
      });
    });
    const headers = { "x-reprise-page": "1", "sec-fetch-site": "same-origin" };
    await context.request.post(`${world.service.url}/page/login`, {
      data: { token: TOKEN },
      headers,
    });
    const { id } = await world.store.write(createSession, {});
    const talk = createTalk(world.store, world.feed, id);
    await talk.begin(storable(HOSTILE_TEXTS[0] ?? ""));
    for (const text of [...HOSTILE_TEXTS, ALL]) {
      await talk.store(storedMessage({ role: "assistant", content: storable(text) }));
    }
    const page = await context.newPage();
    await page.goto(`${world.service.url}/sessions/${id}`);
    await page.locator("[data-seq]").first().waitFor();
    await showAll(page);
    expect(problems).toEqual([]);
    await context.close();
  });
});
