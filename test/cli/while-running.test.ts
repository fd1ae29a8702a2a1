import { hostname } from "node:os";

import { setTimeout as sleep } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { detailOf, rowsOf } from "../helpers/sessions/seed.ts";
import { call } from "../helpers/scripted-provider.ts";
import { CTRL_C, CTRL_D, openTerminal } from "../helpers/terminal.ts";
import { heldThenFast, ID, slowThenFast, startAnswer, WORDS } from "../helpers/slow-answer.ts";

describe("while an exchange is running", () => {
  it("[CLI-38] another exchange is refused with the name of the running one; its message is not stored", async () => {
    const { home, provider } = await heldThenFast();
    const running = await startAnswer(home);
    const refused = await home.call(["--session", ID, "-p", "in between"]);
    expect(refused).toMatchObject({ code: 6, stdout: "" });
    expect(refused.stderr).toContain(`process ${running.pid} on ${hostname()}`);
    expect(refused.stderr).toMatch(
      /since \d{4}-\S+Z[^\n]* \[session_busy\]\nUse --wait [^\n]* --take-over [^\n]*\n/,
    );
    const cleared = await home.call(["--session", ID, "--json"], { input: "/clear\n" });
    expect(cleared).toMatchObject({ code: 6, stdout: "" });
    expect(JSON.parse(cleared.stderr)).toMatchObject({
      code: "session_busy",
      session_id: ID,
      detail: expect.stringContaining(`process ${running.pid}`),
    });
    expect(await home.call(["sessions", "list"])).toMatchObject({
      stdout: expect.stringContaining("running"),
    });
    const detail = await detailOf(home, ID);
    expect(detail).toMatchObject({ activity: "running" });
    expect(rowsOf(detail)).toEqual([[1, "user", "the question"]]);
    expect(provider.requests).toHaveLength(1);
  });

  it("[CLI-53] --wait starts after the running exchange is done", async () => {
    const { home, server } = await slowThenFast(WORDS.slice(0, 100));
    const running = await startAnswer(home);
    const next = home.call(["--session", ID, "-p", "the next", "--wait"]);
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(await next).toMatchObject({ code: 0, stdout: "a short one\n" });
    expect(server.requests()[1]?.map(({ content }) => content)).toEqual([
      "the question",
      WORDS.slice(0, 100),
      "the next",
    ]);
  });

  it("[CLI-200] a line in a terminal waits for its turn, or is dropped by Ctrl-C", async () => {
    const { home, release } = await heldThenFast();
    const terminal = openTerminal(home, `reprise --session ${ID}`);
    await terminal.shows(/> $/);
    const running = await startAnswer(home);
    await terminal.shows(/w0 w1/);
    terminal.type(CTRL_C);
    await terminal.shows(/The exchange continues; \/stop stops it\.\n> $/);
    terminal.type("dropped\r");
    await terminal.shows(new RegExp(`process ${running.pid} [^]*waits for its turn`));
    terminal.type(`typed ahead\rand more\r${CTRL_C}`);
    await terminal.shows(/was not sent[^]*2 lines dropped, not sent[^]*> $/);
    terminal.type("mine\r");
    await terminal.shows(/waits for its turn/);
    release();
    await terminal.shows(/a short one[^]*> $/);
    expect((await running.finished).code).toBe(0);
    expect(rowsOf(await detailOf(home, ID))).toEqual([
      [1, "user", "the question"],
      [2, "assistant", "w0 w1 and the rest"],
      [3, "user", "mine"],
      [4, "assistant", "a short one"],
    ]);
    terminal.type(CTRL_D);
    expect((await terminal.finished).code).toBe(0);
  });

  it("[CLI-221] [TERM-150] a line that waits is at the prompt again if the exchange before it asks a person", async () => {
    const { home, release } = await heldThenFast(call("ask_user", { question: "Which one?" }));
    const terminal = openTerminal(home, `reprise --session ${ID}`);
    await terminal.shows(/> $/);
    const running = await startAnswer(home);
    await terminal.shows(/w0 w1/);
    terminal.type(CTRL_C);
    await terminal.shows(/The exchange continues; \/stop stops it\.\n> $/);
    terminal.type("mine\r");
    await terminal.shows(/waits for its turn/);
    release();
    expect((await running.finished).code).toBe(7);
    await terminal.shows(/Your message was not sent; it is at the prompt again\.\n> mine$/);
    expect(rowsOf(await detailOf(home, ID)).filter(([, role]) => role === "user")).toHaveLength(1);
  });

  it("[CLI-222] send --follow names what continues an exchange that was interrupted before its own", async () => {
    const { home } = await heldThenFast();
    const running = await startAnswer(home);
    const following = home.start(["send", ID, "later", "--follow"]);
    const shown = async () => (await home.call(["sessions", "show", ID])).stdout;
    while (!/exchange {2}2 queued/.test(await shown())) {
      await sleep(20);
    }
    await running.stop("SIGKILL");
    while (!/was interrupted[^\n]* --continue-exchange\n/.test(following.stderr())) {
      await sleep(20);
    }
    expect(following.stderr().match(/was interrupted/g)).toHaveLength(1);
    await following.stop();
  });

  it("[CLI-53] [CLI-121] --take-over takes the session: the other exchange stores nothing more", async () => {
    const { home, release } = await heldThenFast();
    const running = await startAnswer(home);
    expect(await home.call(["--session", ID, "-p", "mine", "--take-over"])).toMatchObject({
      code: 0,
      stdout: "a short one\n",
    });
    release();
    const lost = await running.finished;
    expect(lost.code).toBe(1);
    expect(lost.stderr).toMatch(/^reprise: This exchange no longer holds [^\n]* \[lease_lost\]\n/);
    expect(rowsOf(await detailOf(home, ID))).toEqual([
      [1, "user", "the question"],
      [2, "user", "mine"],
      [3, "assistant", "a short one"],
    ]);
  });

  it("[CLI-121] the loss is reported on a new line of the terminal, after a part of the answer", async () => {
    const { home, release } = await heldThenFast();
    const terminal = openTerminal(home, `reprise --session ${ID} -p 'the question'`);
    await terminal.shows(/w0 w1 /);
    await home.call(["--session", ID, "-p", "mine", "--take-over"]);
    release();
    const { screen } = await terminal.finished;
    expect(screen).toMatch(/w0 w1 [^\n]*\n+reprise: This exchange no longer holds/);
  });

  it("[CLI-41] ending the session stops the exchange: it stores nothing more", async () => {
    const { home, release } = await heldThenFast();
    const running = await startAnswer(home);
    expect((await home.call(["sessions", "end", ID])).code).toBe(0);
    // noticed at the next checkpoint, at the latest when the lease is renewed
    release();
    const stopped = await running.finished;
    expect(stopped.code).toBe(5);
    expect(stopped.stderr).toMatch(/^reprise: The session was ended[^\n]* \[session_ended\]\n$/);
    const detail = await detailOf(home, ID);
    expect(detail).toMatchObject({ state: "ended", activity: "idle" });
    expect(rowsOf(detail)).toEqual([[1, "user", "the question"]]);
  });
});
