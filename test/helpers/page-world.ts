import { mkdirSync } from "node:fs";
import { join } from "node:path";

import type { Locator, Page } from "playwright-core";

import { openPages, type PageView } from "./page.ts";
import { PAGE_TOKEN, startPageService } from "./page-service.ts";
import { freshHome } from "./reprise.ts";
import { makeFolder } from "./temp.ts";
import { call, startScriptedProvider, type Step, text } from "./scripted-provider.ts";

/** What the model does for a message: its first word says it. After a result it ends. */
function stepsFor(body: string): readonly Step[] {
  const { messages, model } = JSON.parse(body) as {
    messages: { role: string; content: string }[];
    model: string;
  };
  const last = messages.at(-1);
  if (last?.role === "tool") {
    return [text("It is done.")];
  }
  const [what, path = "note.txt"] = String(last?.content).split(" ");
  switch (what) {
    case "write":
      return [call("write_file", { path, content: "one\ntwo\nthree\n" })];
    case "twice":
      return [
        call("write_file", { path: "a.txt", content: "a\n" }),
        call("write_file", { path: "b.txt", content: "b\n" }),
      ];
    case "many":
      return Array.from({ length: 201 }, (_, n) =>
        call("write_file", { path: `${n}.txt`, content: "a\n" }),
      );
    case "long":
      return [call("write_file", { path, content: "a line of the file\n".repeat(300) })];
    case "lines":
      return [call("write_file", { path, content: `${"a line\n".repeat(40)}the last line\n` })];
    case "tasks":
      return [text("- [ ] to be done\n- [x] has been done")];
    case "ask":
      return [call("ask_user", { question: "Which colour?", choices: ["red", "blue"] })];
    case "server":
      return [call("desk__act", {})];
    case "count":
      return [
        text(`Messages of a person: ${messages.filter(({ role }) => role === "user").length}`),
      ];
    case "limit":
      return model === "spare"
        ? [text("Another model answers.")]
        : [{ kind: "status", status: 429, headers: { "retry-after": "1200" } }];
    case "stall":
      return [text("The answer begins"), { kind: "stall" }];
    default:
      return [text(`You said: ${last?.content}`)];
  }
}

interface WorldOptions {
  /** Null for a service that makes its token. */
  readonly token?: string | null;
}

/** A real service that answers with a model on loopback: one for all tests of a file that do not need their own. */
export async function startPageModel({ token = PAGE_TOKEN }: WorldOptions = {}) {
  const stack = new AsyncDisposableStack();
  const provider = stack.use(await startScriptedProvider("openai", (_, body) => stepsFor(body)));
  const [folder, project] = [stack.use(makeFolder()), stack.use(makeFolder())];
  const home = freshHome(provider.env, { home: folder.path, project: project.path });
  const options = { folder: home.project, token, isShared: true };
  const { url, client, ...started } = await startPageService(home, options);
  let { service } = started;
  stack.defer(async () => void (await service.stop("SIGKILL")));
  let projects = 0;
  return {
    /** A browser, and a folder in which no other test works. It leaves its sessions to the service. */
    enter: async () => {
      const pages = await openPages(url);
      const project = join(home.project, `project-${(projects += 1)}`);
      mkdirSync(project);
      /** Opens a path in a browser that is logged in. */
      const openAs = (path: string, view: PageView = {}, token = PAGE_TOKEN): Promise<Page> =>
        pages.openPage(path, { ...view, token });
      return {
        ...pages,
        home,
        project,
        url,
        client,
        openAs,
        /** A session in the project, opened so. */
        open: async (view: PageView = {}): Promise<{ id: string; page: Page }> => {
          const { id } = await client.createSession({ repo_path: project });
          return { id, page: await openAs(`/sessions/${id}`, view) };
        },
        /** Kills the service at once. */
        kill: async () => void (await service.stop("SIGKILL")),
        /** Starts it again at its address. */
        restart: async () => {
          ({ service } = await startPageService(home, { ...options, port: new URL(url).port }));
        },
      };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** What one test has of it. */
export type PageWorld = Awaited<ReturnType<Awaited<ReturnType<typeof startPageModel>>["enter"]>>;

/** A browser with a service for one test alone. */
export async function startPageWorld(options: WorldOptions = {}) {
  const stack = new AsyncDisposableStack();
  const model = stack.use(await startPageModel(options));
  const world = stack.use(await model.enter());
  return { ...world, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Where a message is written. */
export const composerOf = (page: Page) => page.getByLabel("Message to the agent");

/** Sends a message by keyboard. */
export async function say(page: Page, words: string): Promise<void> {
  await composerOf(page).fill(words);
  // one message is sent at a time: the answer to the last one may come after what the agent says to it
  await page.locator(".composer button[type=submit]:enabled").waitFor();
  await page.keyboard.press("Enter");
}

/** Brings the end of each part of a question into view, as who reads it does: what allows something needs that. */
export async function seeAll(page: Page): Promise<void> {
  const question = page.locator(".question").first();
  await question.locator(".choices").waitFor({ state: "attached" });
  for (const end of await question.locator(".part-end").all()) {
    await end.evaluate((element) => element.scrollIntoView({ block: "nearest" }));
    await nextFrames(page);
  }
  await question.locator(".choices").scrollIntoViewIfNeeded();
}

/** Waits until the page knows what was scrolled into view: browsers report it once a frame. */
export async function nextFrames(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

/** Waits until the choice that has the focus counts. To focus it may scroll, and the page knows that a frame later. */
export async function focusedChoiceCounts(page: Page): Promise<void> {
  await nextFrames(page);
  await page.locator(".choices button[aria-disabled=false]:focus").waitFor();
}

/** How much of an element is in view, in pixels: without what the window or a part that scrolls cuts. */
export function heightInView(element: Locator): Promise<number> {
  return element.evaluate(
    (each) =>
      new Promise<number>((done) => {
        const observer = new IntersectionObserver(([entry]) => {
          observer.disconnect();
          done(entry?.intersectionRect.height ?? 0);
        });
        observer.observe(each);
      }),
  );
}
