import { AIMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";

import { DemoModel, demoAnswer } from "../../../src/agent/models/demo.ts";

const say = (...written: string[]) => demoAnswer({ written, first: written.length === 1 });

describe("the demo's answer", () => {
  it("names itself once, and labels every answer", () => {
    expect(say("hi")).toMatch(/^\[demo\] .*offline demo model/);
    expect(say("hi", "again")).toMatch(/^\[demo\] /);
    expect(say("hi", "again")).not.toContain("offline");
  });

  it("counts and quotes the messages", () => {
    expect(say("apples", "pears", "plums")).toBe(
      "[demo] You have sent 3 messages here. The first was: “apples”. The one before this was: “pears”.",
    );
  });

  it("ends a sentence with one mark, also after a quote that has one", () => {
    expect(say("I count.", "Why?", "plums")).toBe(
      "[demo] You have sent 3 messages here. The first was: “I count.” The one before this was: “Why?”",
    );
  });

  it.each([
    ["my name is Ada", "Ada"],
    ["Hello, my name is Ada Lovelace and I count", "Ada Lovelace"],
    ["My name's José.", "José"],
    ["my name is Ada. No, my name is Grace", "Grace"],
  ])("knows the name from %j", (text, name) => {
    expect(say(text, "and more", "What is my name?")).toBe(
      `[demo] Your name is ${name}. You wrote it in message 1 of this thread.`,
    );
  });

  it("says that it does not know the name if there was none", () => {
    expect(say("hello", "what's my name")).toContain("was not mentioned");
  });

  it("lists the last ten messages, and how many more there were", () => {
    expect(say("one", "two", "what did I say?")).toBe(
      "[demo] Before this one you wrote 2 messages here:\n1. “one”\n2. “two”",
    );
    const many = Array.from({ length: 25 }, (_, index) => `text ${index + 1}`);
    const answer = say(...many, "what do you remember?");
    expect(answer).toContain("16. “text 16”");
    expect(answer).not.toContain("15. ");
    expect(answer).toContain("and 15 before these");
  });

  it("quotes a megabyte, many lines and an unpaired surrogate within limits", () => {
    const long = `${"😀".repeat(200_000)}\u001b[2J\n`;
    const answer = say(long, "hi");
    expect(answer.length).toBeLessThan(500);
    expect(answer.isWellFormed()).toBe(true);
    expect(say("a\u001b[2Jb", "x")).not.toContain("\u001b");
  });
});

describe("DemoModel", () => {
  const thread = [
    new SystemMessage("You are helpful."),
    new HumanMessage("apples"),
    new AIMessage("noted"),
    new HumanMessage("pears"),
  ];

  it("gives the same answer whole and word by word, and reports its token usage", async () => {
    const model = new DemoModel({});
    const whole = await model.invoke(thread);
    const words: string[] = [];
    let output = 0;
    for await (const chunk of await model.stream(thread)) {
      words.push(chunk.text);
      output += chunk.usage_metadata?.output_tokens ?? 0;
    }
    expect(words.join("")).toBe(whole.text);
    expect(words.length).toBeGreaterThan(5);
    expect(whole.text).toContain("2 messages");
    expect(whole.usage_metadata).toEqual({
      input_tokens: 10,
      output_tokens: output,
      total_tokens: 10 + output,
    });
  });

  it("stops when its signal aborts", async () => {
    const stop = new AbortController();
    const read = async () => {
      for await (const _ of await new DemoModel({}).stream(thread, { signal: stop.signal })) {
        stop.abort();
      }
    };
    await expect(read()).rejects.toThrow(/abort/i);
  });
});
