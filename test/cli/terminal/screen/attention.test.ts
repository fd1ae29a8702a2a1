import { describe, expect, it } from "vitest";

import { createAttention } from "../../../../src/cli/terminal/screen/attention.ts";
import type { Notifications } from "../../../../src/rules/config/user-config.ts";

const XTERM = { TERM: "xterm-256color" };

function attentive(setting: Notifications, env: Readonly<Record<string, string>> = XTERM) {
  const sent: string[] = [];
  let time = 0;
  const attention = createAttention({
    setting: () => setting,
    env,
    send: (sequence) => void sent.push(sequence),
    now: () => time,
  });
  return { attention, sent, wait: (ms: number) => void (time += ms) };
}

describe("attention", () => {
  it.each<[Notifications, Readonly<Record<string, string>>, string[]]>([
    ["off", XTERM, []],
    ["bell", XTERM, ["\u0007"]],
    ["bell", { TERM_PROGRAM: "iTerm.app", TERM: "xterm" }, ["\u0007"]],
    ["system", XTERM, ["\u0007"]],
    ["system", { TERM: "linux" }, ["\u0007"]],
    ["system", { TERM: "xterm-kitty" }, ["\u001b]9;Reprise: done; ␛]0;x␇ twice\u0007"]],
    [
      "system",
      { TERM: "xterm", VTE_VERSION: "7600" },
      ["\u001b]777;notify;Reprise;done, ␛]0,x␇ twice\u0007"],
    ],
    ["system", { TERM: "xterm-kitty", TMUX: "/tmp/tmux,1,0" }, ["\u0007"]],
  ])("[TERM-47] %s in %j", (setting, env, expected) => {
    const { attention, sent, wait } = attentive(setting, env);
    attention.began();
    wait(20_000);
    attention.stopped("done; \u001b]0;x\u0007\n twice");
    expect(sent).toEqual(expected);
  });

  it("[TERM-47] is not asked for after a short exchange, or by a terminal with the focus", () => {
    const { attention, sent, wait } = attentive("bell");
    wait(60_000);
    attention.began();
    wait(19_999);
    attention.stopped("done");
    expect(sent).toEqual([]);
    expect([attention.focus("\u001b[I"), attention.focus("y")]).toEqual([true, false]);
    wait(60_000);
    attention.stopped("done");
    expect(sent).toEqual([]);
    expect(attention.focus("\u001b[O")).toBe(true);
    attention.stopped("asks");
    expect(sent).toEqual(["\u0007"]);
  });

  it("[TERM-47] has a title that ends no sequence, and gives the old one back", () => {
    const { attention, sent } = attentive("off");
    attention.enter();
    attention.title("a\u0007b\u001b\\\u202ec\nd");
    attention.title("a\u0007b\u001b\\\u202ec d");
    attention.title("x".repeat(1000));
    attention.enter();
    attention.leave();
    const long = `\u001b]2;${"x".repeat(99)}…\u0007`;
    expect(sent).toEqual([
      "\u001b[22;2t\u001b[?1004h",
      "\u001b]2;a␇b␛\\<U+202E>c d\u0007",
      long,
      "\u001b[22;2t\u001b[?1004h",
      long,
      attention.restore,
    ]);
    expect(attention.restore).toBe("\u001b[?1004l\u001b[23;2t");
    const plain = attentive("off", { TERM: "linux" });
    plain.attention.enter();
    plain.attention.title("a");
    expect(plain.sent.join("")).toBe("");
  });
});
